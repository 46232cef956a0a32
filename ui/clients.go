package ui

import (
	"fmt"
	"strings"

	"stormwatch/detect"
	"stormwatch/report"
)

// field is a column of the client table.
type field struct {
	head  string
	width int  // least width
	right bool // numbers
	grows bool // takes what is left over
	rank  int  // columns of the highest rank go first when room is short
	order order
	text  func(*detect.Client) string
	style func(*detect.Client) style
}

func plainStyle(*detect.Client) style { return styleText }

// fields returns the columns of a table of w columns, those that fit.
func fields(w int) []field {
	early := func(c *detect.Client) style {
		if report.Known(c.EarlyShare) && c.EarlyShare.V > .5 {
			return styleRefused
		}
		return styleText
	}
	list := []field{
		{"CLIENT", 12, false, true, 0, byClient, clientName, plainStyle},
		{"AGENT", 14, false, true, 2, orders, func(c *detect.Client) string { return c.Agent }, plainStyle},
		{"ATT", 5, true, false, 1, byAttempts, func(c *detect.Client) string { return short(c.Attempts) }, plainStyle},
		{"OK", 5, true, false, 4, orders, func(c *detect.Client) string { return short(c.OK) }, plainStyle},
		{"REF", 5, true, false, 1, byRefused, func(c *detect.Client) string { return short(c.Refused) }, plainStyle},
		{"AMP", 5, true, false, 1, byAmplification, func(c *detect.Client) string { return times(c.Amplification) }, plainStyle},
		{"GAP", 13, false, false, 3, orders, func(c *detect.Client) string { return gap(c.GapMedianS, c.GapMADS) }, plainStyle},
		{"EARLY", 5, true, false, 2, byEarly, func(c *detect.Client) string { return percent(c.EarlyShare) }, early},
		{"AVOID", 7, true, false, 5, byAvoidable, func(c *detect.Client) string { return perSecond(c.AvoidablePerS) }, plainStyle},
		{"SIGN", 11, false, true, 1, orders, signOf, plainStyle},
		{"POLICY", 20, false, false, 7, orders, policyOf, plainStyle},
		{"ROUTE", 18, false, true, 8, orders, func(c *detect.Client) string { return c.Route }, plainStyle},
		{"SCORE", 5, true, false, 6, byScore, func(c *detect.Client) string { return score(c.Score) }, plainStyle},
	}
	for total(list) > w {
		worst := 0
		for i := range list {
			if list[i].rank >= list[worst].rank {
				worst = i
			}
		}
		if worst == 0 {
			break
		}
		list = append(list[:worst:worst], list[worst+1:]...)
	}
	return spread(list, w-total(list))
}

// total is the width of columns with one blank between them, after the marker.
func total(list []field) int {
	w := 2
	for i := range list {
		w += list[i].width + 1
	}
	return w - 1
}

// spread gives the columns that grow what is left over.
func spread(list []field, left int) []field {
	const most = 30 // columns a text may grow to before the others get theirs
	for ; left > 0; left-- {
		at := -1
		for i := range list {
			if list[i].grows && (at < 0 || list[i].width < list[at].width) {
				at = i
			}
		}
		if at < 0 || list[at].width >= most {
			break
		}
		list[at].width++
	}
	return list
}

func clientName(c *detect.Client) string {
	if c.Name != "" && !strings.HasPrefix(c.Label, c.Name) {
		return c.Name + " " + c.Label
	}
	return c.Label
}

// signOf names what a client is involved in.
func signOf(c *detect.Client) string {
	switch {
	case len(c.Signatures) == 1:
		return c.Signatures[0]
	case len(c.Signatures) > 1:
		return fmt.Sprintf("%s +%d", c.Signatures[0], len(c.Signatures)-1)
	case c.Victim:
		return "victim"
	}
	return ""
}

func policyOf(c *detect.Client) string { return policy(&c.Policy) }

// policy names a retry policy as what it is: a reading of timing.
func policy(p *detect.PolicyEstimate) string {
	name := p.Name
	if name == "" {
		name = p.Family
	}
	if name == "" {
		return unknown
	}
	return name + " " + score(p.Probability)
}

// drawClients draws the client table.
func drawClients(c *canvas, s *detect.Snapshot, v *view) {
	p := box(c, clientsTitle(s, v), "sort "+sortName(v)+"   / filter   enter chain", true)
	list := fields(p.w)
	drawHeads(p, list, v)
	rows := p.sub(rect{0, 1, p.w, p.h - 1})
	if v.screen == screenClients && s.ClientsOthers.Attempts > 0 && rows.h > 3 {
		o := &s.ClientsOthers
		rows.text(2, rows.h-1, fmt.Sprintf("%s: %s attempts, %s ok, %s refused", o.Label, report.Count(o.Attempts), report.Count(o.OK), report.Count(o.Refused)), styleDim)
		rows = rows.sub(rect{0, 0, rows.w, rows.h - 1})
	}
	if len(v.rows) == 0 && rows.h > 0 {
		why := "no clients yet"
		if len(s.Clients) > 0 || v.filter.text != "" {
			why = "no client passes the filter; esc clears it"
		}
		rows.text(2, 0, why, styleDim)
		return
	}
	top := min(max(v.cursor-rows.h/2, 0), max(len(v.rows)-rows.h, 0))
	for y := range min(rows.h, len(v.rows)-top) {
		drawClient(rows, y, list, v.rows[top+y], top+y == v.cursor)
	}
}

func clientsTitle(s *detect.Snapshot, v *view) string {
	if v.filter.text == "" {
		if len(v.rows) < s.ClientCount {
			return "Clients " + report.Count(len(v.rows)) + " of " + report.Count(s.ClientCount)
		}
		return "Clients " + report.Count(s.ClientCount)
	}
	matched := len(v.rows)
	if !v.waits {
		matched = max(matched, s.ClientsMatched)
	}
	return "Clients " + report.Count(matched) + " of " + report.Count(s.ClientCount) + " · filter " + fit(v.filter.text, 30)
}

func sortName(v *view) string {
	if v.reverse {
		return v.order.String() + " ↑"
	}
	return v.order.String() + " ↓"
}

func drawHeads(p *canvas, list []field, v *view) {
	x := 2
	for i := range list {
		f := &list[i]
		st := styleDim
		if f.order == v.order {
			st = styleHead
		}
		if f.right {
			p.right(x+f.width, 0, f.head, st)
		} else {
			p.text(x, 0, f.head, st)
		}
		x += f.width + 1
	}
}

func drawClient(p *canvas, y int, list []field, c *detect.Client, selected bool) {
	if selected {
		p.paint(y, styleSelected)
		p.text(0, y, ">", styleSelected)
	}
	x := 2
	for i := range list {
		f := &list[i]
		st := f.style(c)
		if c.Victim && len(c.Signatures) == 0 {
			st = styleDim
		}
		if selected {
			st = styleSelected
		}
		text := fit(f.text(c), f.width)
		if f.right {
			p.right(x+f.width, y, text, st)
		} else {
			p.text(x, y, text, st)
		}
		x += f.width + 1
	}
}
