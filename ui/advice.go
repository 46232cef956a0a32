package ui

import (
	"fmt"
	"strings"

	"stormwatch/detect"
	"stormwatch/report"
)

// size is a figure of the third row.
type size struct {
	label, value string
	style        style
}

// drawWho tells who, and how big it is: words are cut before numbers.
func drawWho(c *canvas, s *detect.Snapshot) {
	sizes := sizesOf(s, c.w >= wideW)
	x := c.w - 1
	for i := len(sizes) - 1; i >= 0; i-- {
		p := sizes[i]
		x = c.right(x, 2, p.value, p.style)
		x = c.right(x-1, 2, p.label, styleDim) - 2
	}
	at := c.text(1, 2, "who ", styleDim)
	c.text(at, 2, who(s, x-at), styleText)
}

// sizesOf are how big it is and how much real work gets through, with what that
// was before; of an input that cannot be judged, the raw rates.
func sizesOf(s *detect.Snapshot, long bool) []size {
	r := &s.Recent
	if s.Verdict.State == detect.Unknown {
		return []size{
			{"seen", perSecond(r.AttemptsPerS), styleText},
			{"refused", percent(r.RefusedShare), styleText},
			{"answered well", perSecond(r.GoodputPerS), styleText},
		}
	}
	names := [3]string{"amp", "ref", "good"}
	if long {
		names = [3]string{"amp", "refused", "goodput"}
	}
	list := []size{
		{names[0], times(r.Amplification), styleRetry},
		{names[1], percent(r.RefusedShare), styleRefused},
		{names[2], perSecond(r.GoodputPerS), styleGood},
	}
	if s.Verdict.State <= detect.Recovering {
		list[0].style, list[1].style = styleText, styleText
	}
	if !long {
		return list
	}
	if n := r.AmplificationBefore; report.Known(n) {
		list[0].value += " was " + times(n)
	}
	if n := r.RefusedShareBefore; report.Known(n) {
		list[1].value += " was " + percent(n)
	}
	if n := s.Totals.CapacityPerS; report.Known(n) {
		list[2].value += " of " + perSecond(n)
	}
	return list
}

// who tells the party in w columns: what can be guessed goes first, and the route
// only at the very end.
func who(s *detect.Snapshot, w int) string {
	p := s.Verdict.Party
	full := s.Verdict.Who
	if full == "" {
		return fit(seenClients(s), w)
	}
	if width(full) <= w || p == (detect.Party{}) {
		return clause(full, w)
	}
	path := p.Route
	if method, rest, ok := strings.Cut(p.Route, " "); ok {
		if slash := strings.IndexByte(rest, '/'); slash > 0 {
			path = method + " " + rest[slash:]
		}
	}
	few := func(does, agent, route string) string {
		text := fmt.Sprintf("%d/%d", p.Clients, p.Of)
		if p.Clients == 0 {
			text = ""
		}
		for _, t := range []string{does, agent} {
			if t != "" {
				text += " " + t
			}
		}
		if route != "" {
			text += " → " + route
		}
		return strings.TrimSpace(text)
	}
	for _, text := range []string{
		few("clients "+p.Does, p.Agent, p.Route), few("clients "+p.Does, p.Agent, path), few(p.Does, p.Agent, path),
		few("", p.Agent, path), few("", product(p.Agent), path), few("clients", "", path),
	} {
		if width(text) <= w {
			return text
		}
	}
	return fit(few("", "", path), w)
}

// product is an agent without its version.
func product(agent string) string {
	name, _, _ := strings.Cut(agent, "/")
	return name
}

func seenClients(s *detect.Snapshot) string {
	if s.ClientCount == 0 && s.Totals.Exchanges > 0 {
		return "clients are not told apart by this input"
	}
	return countClients(s.ClientCount)
}

func countClients(n int) string {
	if n == 1 {
		return "1 client"
	}
	return report.Count(n) + " clients"
}

// drawAdvice tells what to do first and what not to do; without a verdict what to
// fetch next, and without an incident what could not be judged.
func drawAdvice(c *canvas, s *detect.Snapshot) {
	do, label, second := advice(s)
	x := c.text(1, 3, "do  ", styleDim)
	how := ""
	if len(s.Mitigations) > 0 && width(do)+9 <= c.w-x {
		how = "[6] how"
	}
	x = c.text(x, 3, clause(do, c.w-x-1), styleText)
	c.text(x+1, 3, how, styleKey)
	x = c.text(1, 4, pad(label, 4), styleDim)
	c.text(x, 4, clause(second, c.w-x-1), styleText)
}

// clause cuts s to w columns, where it can at the end of a clause: half a sentence
// may say the contrary of the whole.
func clause(s string, w int) string {
	if width(s) <= w {
		return s
	}
	cut := fit(s, w-1)
	if at := max(strings.LastIndex(cut, "; "), strings.LastIndex(cut, ", ")); at > len(cut)/3 {
		return cut[:at] + " …"
	}
	return fit(s, w)
}

func advice(s *detect.Snapshot) (do, label, second string) {
	v := &s.Verdict
	do, label, second = lower(v.Do), "not", strings.TrimPrefix(lower(v.Dont), "do not ")
	if second == "" {
		label = "get"
		second = strings.Join(v.NextEvidence, "; ")
	}
	switch {
	case v.State == detect.Unknown && second == "":
		second = "more of the traffic, or other sources; H tells what this input could not show"
	case v.State == detect.Clear && second == "" && len(s.NotJudged) > 0:
		label, second = "but", fmt.Sprintf("%d signatures could not be judged: w tells why", len(s.NotJudged))
		if len(s.NotJudged) == 1 {
			second = s.NotJudged[0].Signature + " could not be judged: w tells why"
		}
	}
	switch {
	case do != "":
	case v.State == detect.Unknown:
		do = "wait for traffic"
	case v.State == detect.Clear:
		do = "nothing: no retry storm here"
	default:
		do = "see what was found: w"
	}
	if second == "" {
		label = ""
	}
	return do, label, second
}

// lower begins a sentence in lower case, for it follows a label, and takes its
// full stop away.
func lower(s string) string {
	s = strings.TrimSuffix(s, ".")
	if len(s) > 1 && s[0] >= 'A' && s[0] <= 'Z' && s[1] >= 'a' && s[1] <= 'z' {
		s = string(s[0]+'a'-'A') + s[1:]
	}
	return s
}
