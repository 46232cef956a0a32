package ui

import (
	"fmt"
	"slices"
	"strconv"
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

// fields returns the columns of a table of w columns, those that fit; name is the
// width of the longest client.
func fields(s *detect.Snapshot, w, name int) []field {
	wide := w >= wideW
	gapWidth, policyWidth, signWidth := 7, 11, 8
	if wide {
		gapWidth, policyWidth, signWidth = 13, 17, 12
	}
	list := []field{
		{"CLIENT", min(max(name, 8), w/5), false, true, 0, byClient, clientName, plainStyle},
		{"AGENT", 14, false, true, 2, orders, func(c *detect.Client) string { return c.Agent }, plainStyle},
		{"ATT", 5, true, false, 1, byAttempts, func(c *detect.Client) string { return short(c.Attempts) }, plainStyle},
		{"OK", 5, true, false, 6, orders, func(c *detect.Client) string { return short(c.OK) }, plainStyle},
		{"REF", 5, true, false, 4, byRefused, func(c *detect.Client) string { return short(c.Refused) }, plainStyle},
		{"AMP", 5, true, false, 1, byAmplification, func(c *detect.Client) string { return times(c.Amplification) }, plainStyle},
		{"AVOID", 6, true, false, 1, byAvoidable, avoidText, avoidStyle},
		{"GAP", gapWidth, true, false, 5, orders, func(c *detect.Client) string { return gapOf(c, wide) }, plainStyle},
		{"EARLY", 5, true, false, 1, byEarly, earlyText, earlyStyle},
		{"POLICY", policyWidth, false, false, 3, orders, func(c *detect.Client) string { return policyOf(c, wide) }, plainStyle},
		{"SIGN", signWidth, false, true, 1, orders, func(c *detect.Client) string { return signOf(s, c, wide) }, plainStyle},
		{"SCORE", 5, true, false, 7, byScore, func(c *detect.Client) string { return score(c.Score) }, plainStyle},
		{"ROUTE", 18, false, true, 8, orders, func(c *detect.Client) string { return c.Route }, plainStyle},
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

// signOf names what a client is involved in, the gravest first, and counts the
// others if asked.
func signOf(s *detect.Snapshot, c *detect.Client, count bool) string {
	if len(c.Signatures) == 0 {
		if c.Victim {
			return "victim"
		}
		return ""
	}
	name := c.Signatures[0]
	for i := range s.Findings {
		if slices.Contains(c.Signatures, s.Findings[i].Signature) {
			name = s.Findings[i].Signature
			break
		}
	}
	if count && len(c.Signatures) > 1 {
		return fmt.Sprintf("%s +%d", name, len(c.Signatures)-1)
	}
	return name
}

// avoidText prints rates below ten with a decimal, all of them, so that they stand
// below each other.
func avoidText(c *detect.Client) string {
	if n := c.AvoidablePerS; report.Known(n) && n.V < 9.95 && n.V > -9.95 {
		return strconv.FormatFloat(n.V, 'f', 1, 64) + "/s"
	}
	return perSecond(c.AvoidablePerS)
}

func avoidStyle(c *detect.Client) style {
	if report.Known(c.AvoidablePerS) && c.AvoidablePerS.V > 0 {
		return styleRetry
	}
	return styleDim
}

func earlyStyle(c *detect.Client) style {
	if report.Known(c.EarlyShare) && c.EarlyShare.V > .5 {
		return styleRefused
	}
	return styleText
}

// earlyText tells how a client treats the waits the server names: the share of its
// retries that came before, or that it keeps them.
func earlyText(c *detect.Client) string {
	if report.Known(c.EarlyShare) && c.EarlyShare.V < .005 {
		return "kept"
	}
	return percent(c.EarlyShare)
}

func gapOf(c *detect.Client, spread bool) string {
	if spread {
		return gap(c.GapMedianS, c.GapMADS)
	}
	return seconds(c.GapMedianS)
}

// policyOf names the policy, and where there is room how likely it is.
func policyOf(c *detect.Client, likely bool) string {
	text := report.Policy(&c.Policy)
	if !likely {
		text = or(c.Policy.Name, c.Policy.Family)
	}
	return or(text, unknown)
}

// drawClients draws the client table.
func drawClients(c *canvas, s *detect.Snapshot, v *view) {
	foot := clientsFoot(s, v)
	room := max(c.h-2, 0) // title and heads
	if room < len(foot)+5 {
		foot = nil
	}
	room -= len(foot)
	top := min(max(v.cursor-room/2, 0), max(len(v.rows)-room, 0))
	title := clientsTitle(s, v) + more(top, len(v.rows)-top-room)
	right := "sort " + sortName(v) + "   / filter   enter chain"
	if width(title)+width(right)+8 > c.w {
		right = "sort " + sortName(v)
	}
	p := box(c, title, right, v.holds(panelClients))
	list := fields(s, p.w, v.longest())
	if tenants(s) {
		list[0].head = "TENANT"
	}
	drawHeads(p, list, v)
	rows := p.sub(rect{0, 1, p.w, p.h - 1})
	for i, text := range foot {
		rows.text(2, rows.h-len(foot)+i, fit(text, rows.w-3), styleDim)
	}
	rows = rows.sub(rect{0, 0, rows.w, room})
	if len(v.rows) == 0 && rows.h > 0 {
		rows.text(2, 0, fit(noClients(s, v), rows.w-3), styleDim)
		return
	}
	for y := range min(rows.h, len(v.rows)-top) {
		drawClient(rows, y, list, v.rows[top+y], top+y == v.cursor)
	}
}

// more tells how many rows there are above and below those shown.
func more(above, below int) (text string) {
	if above > 0 {
		text = " · " + report.Count(above) + " more ↑"
	}
	if below > 0 {
		text += " · " + report.Count(below) + " more ↓"
	}
	return text
}

func noClients(s *detect.Snapshot, v *view) string {
	switch {
	case len(s.Clients) > 0 || v.filter.text != "":
		return "no client passes the filter; esc clears it"
	case s.Totals.Exchanges > 0:
		return "the input tells counts, not clients: a capture or an access log shows who it is"
	}
	return "no clients yet"
}

// clientsFoot sums up what the rows do not show: how far acting on few clients
// goes, what is not listed, and what grew. Under a filter it says whether that is of
// all clients.
func clientsFoot(s *detect.Snapshot, v *view) (foot []string) {
	ofAll := v.unfiltered(s)
	if ofAll == "" && len(s.Reach) > 0 {
		foot = append(foot, report.Reach(s.Reach, percent))
	}
	if v.screen != screenClients {
		return foot
	}
	if len(s.Growth) > 0 {
		foot = append(foot, "grew most"+ofAll+": "+growthText(&s.Growth[0]))
	}
	if o := &s.ClientsOthers; o.Attempts > 0 {
		foot = append(foot, fmt.Sprintf("%s%s: %s attempts, %s ok, %s refused", or(o.Label, "others"), ofAll, report.Count(o.Attempts), report.Count(o.OK), report.Count(o.Refused)))
	}
	return foot
}

func growthText(g *detect.Growth) string {
	text := g.Kind + " " + g.Name + ": " + perSecond(detect.Some(g.Before)) + " before, now " + perSecond(detect.Some(g.PerS)) + " first attempts"
	if report.Known(g.New) {
		text += ", " + percent(g.New) + " of its clients new"
	}
	return text
}

// longest is the width of the longest client among the first rows of the table.
func (v *view) longest() (w int) {
	const looked, most = 60, 40
	for _, c := range v.rows[:min(len(v.rows), looked)] {
		name := clientName(c)
		w = max(w, width(name[:min(len(name), most)]))
	}
	return w
}

// tenants tells whether the rows are named by whom they belong to.
func tenants(s *detect.Snapshot) bool {
	for i := range s.Clients {
		if s.Clients[i].Name != "" {
			return true
		}
	}
	return false
}

func clientsTitle(s *detect.Snapshot, v *view) string {
	name := "Clients "
	if tenants(s) {
		name = "Tenants "
	}
	if v.filter.text == "" {
		if len(v.rows) < s.ClientCount {
			return name + report.Count(len(v.rows)) + " of " + report.Count(s.ClientCount)
		}
		return name + report.Count(s.ClientCount)
	}
	matched, of := len(v.rows), s.ClientCount
	if !v.waits {
		matched = max(matched, s.ClientsMatched)
	}
	if v.filter.answered(s) {
		of = s.Filtered.Of
	}
	return name + report.Count(matched) + " of " + report.Count(of) + " · filter " + fit(v.filter.text, 30)
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
