package ui

import (
	"fmt"
	"strings"

	"stormwatch/detect"
	"stormwatch/report"
)

// word is how a state is told three times over: glyph, word and colour.
type word struct {
	glyph, text string
	style       style
	filled      bool // the whole row takes the style
}

func wordOf(s detect.State) word {
	switch s {
	case detect.Storm:
		return word{"▲", "STORM", styleStorm, true}
	case detect.Overloaded:
		return word{"●", "OVERLOAD", styleOverload, true}
	case detect.Watch:
		return word{"●", "WATCH", styleWatch, true}
	case detect.Recovering:
		return word{"◌", "RECOVERING", styleRecovering, false}
	case detect.Clear:
		return word{"✓", "CLEAR", styleClear, false}
	case detect.Unknown:
	}
	return word{"?", "UNKNOWN", styleUnknown, false}
}

// drawBanner draws what someone woken up reads first, on four rows or five:
// input and its health; the verdict; who and how big; what to do; what not.
func drawBanner(c *canvas, s *detect.Snapshot, v *view) {
	drawHeader(c, s, v)
	drawVerdict(c, s)
	drawWho(c, s)
	drawAdvice(c, s)
}

func drawHeader(c *canvas, s *detect.Snapshot, v *view) {
	end := c.right(c.w, 0, stamp(s.At), styleText) - 2
	left := c.sub(rect{0, 0, max(end, 0), 1})
	x := left.text(0, 0, "stormwatch ", styleBold)
	x = left.text(x, 0, mode(s, &v.play)+" ", styleKey)
	notes, bad := healthNotes(s)
	room := left.w - x - 3 - width(notes)
	x = left.text(x, 0, fit(titleOf(s, v), max(room, 12)), styleText)
	if v.filter.text != "" {
		x = left.text(x, 0, " · ", styleDim)
		x = left.text(x, 0, "FILTER ON", styleRetry)
	}
	if s.Loaded > 0 && s.Loaded < 1 && !s.Live {
		x = left.text(x, 0, fmt.Sprintf(" · loading %.0f%%", 100*s.Loaded), styleRetry)
	}
	st := styleDim
	if bad {
		st = styleRetry
	}
	left.text(x, 0, " · "+notes, st)
}

func mode(s *detect.Snapshot, p *playback) string {
	switch {
	case p.frozen:
		return "FROZEN +" + span(p.behind)
	case p.replay && p.paused:
		return "PAUSED"
	case p.replay:
		return "REPLAY"
	case s.Live:
		return "LIVE"
	}
	return "RECORDED"
}

// titleOf names what is watched.
func titleOf(s *detect.Snapshot, v *view) string {
	switch {
	case v.title != "":
		return v.title
	case len(s.Sources) == 0:
		return "no source"
	case len(s.Sources) > 1:
		return fmt.Sprintf("%s +%d", s.Sources[0].Name, len(s.Sources)-1)
	}
	return s.Sources[0].Name
}

const lossy = 0.01 // share of units lost from which the notes are coloured

// healthNotes sums up what the sources could not see; bad when it matters.
func healthNotes(s *detect.Snapshot) (text string, bad bool) {
	var read, dropped, skipped, sealed, late float64
	for i := range s.Sources {
		h := &s.Sources[i].Health
		read += float64(h.Read)
		dropped += float64(h.Dropped)
		skipped += float64(h.SkippedTotal())
		sealed += float64(h.Encrypted)
		late += float64(h.Late)
	}
	parts := []string{"drop " + percent(detect.Number{V: dropped / (read + dropped), Known: read+dropped > 0})}
	parts = append(parts, "skipped "+short(int64(skipped)))
	if sealed > 0 {
		parts = append(parts, "encrypted "+short(int64(sealed)))
	}
	if late > 0 {
		parts = append(parts, "late "+short(int64(late)))
	}
	return strings.Join(parts, " · "), dropped+skipped > lossy*(read+dropped) || sealed > 0
}

func drawVerdict(c *canvas, s *detect.Snapshot) {
	v := &s.Verdict
	w := wordOf(v.State)
	plain := styleText
	if w.filled {
		c.paint(1, w.style)
		plain = w.style
	}
	facts := verdictFacts(s, c.w >= wideW)
	for len(facts) > 1 && width(strings.Join(facts, " · ")) > c.w-20 {
		facts = facts[:len(facts)-1]
	}
	edge := c.right(c.w-1, 1, strings.Join(facts, " · "), plain) - 2
	x := c.text(1, 1, w.glyph+" "+w.text+"  ", w.style)
	c.text(x, 1, fit(v.What, edge-x), plain)
}

// verdictFacts are how sure, since when, and where it is going.
func verdictFacts(s *detect.Snapshot, long bool) (facts []string) {
	v := &s.Verdict
	if v.State != detect.Unknown {
		label := "conf "
		if long {
			label = "confidence "
		}
		facts = append(facts, label+score(v.Confidence)+" "+sure(v.Confidence))
	}
	if v.Since != 0 {
		facts = append(facts, since(v.Since, s.At, v.SinceCensored, long))
	}
	if t := trend(v.Trend, long); t != "" {
		facts = append(facts, t)
	}
	return facts
}

// since tells when something began. A start before the input's is only bounded.
func since(at, now int64, censored, long bool) string {
	switch {
	case censored && long:
		return "since <= " + clock(at) + ", input starts here"
	case censored:
		return "since <= " + clock(at)
	case long:
		return "since " + clock(at) + " (" + span(now-at) + ")"
	}
	return span(now - at)
}

func trend(t string, long bool) string {
	arrow := ""
	switch t {
	case "":
		return ""
	case "growing":
		arrow = "↗"
	case "steady":
		arrow = "→"
	case "falling":
		arrow = "↘"
	}
	switch {
	case arrow == "":
		return t
	case long:
		return t + " " + arrow
	}
	return arrow
}

// drawWho tells who, and how big it is: words are cut before numbers.
func drawWho(c *canvas, s *detect.Snapshot) {
	type piece struct {
		label, value string
		style        style
	}
	r := &s.Recent
	pieces := []piece{
		{"amp", times(r.Amplification) + before(r.AmplificationBefore, times, c.w), styleRetry},
		{"refused", percent(r.RefusedShare) + before(r.RefusedShareBefore, percent, c.w), styleRefused},
		{"goodput", perSecond(r.GoodputPerS) + capacity(s, c.w), styleGood},
	}
	if calm := s.Verdict.State <= detect.Recovering; calm {
		pieces[0].style, pieces[1].style = styleText, styleText
	}
	x := c.w - 1
	for i := len(pieces) - 1; i >= 0; i-- {
		p := pieces[i]
		x = c.right(x, 2, p.value, p.style)
		x = c.right(x-1, 2, p.label, styleDim) - 2
	}
	at := c.text(1, 2, "who ", styleDim)
	who := s.Verdict.Who
	if who == "" {
		who = countClients(s.ClientCount)
	}
	c.text(at, 2, fit(who, x-at), styleText)
}

func countClients(n int) string {
	if n == 1 {
		return "1 client"
	}
	return report.Count(n) + " clients"
}

// before tells what a figure was before the incident, where there is room.
func before(n detect.Number, show func(detect.Number) string, w int) string {
	if !report.Known(n) || w < wideW {
		return ""
	}
	return " was " + show(n)
}

// capacity sets the goodput against what the server can do.
func capacity(s *detect.Snapshot, w int) string {
	if !report.Known(s.Totals.CapacityPerS) || w < wideW {
		return ""
	}
	return " of " + perSecond(s.Totals.CapacityPerS)
}

// drawAdvice tells what to do first and what not to do.
func drawAdvice(c *canvas, s *detect.Snapshot) {
	do, dont := s.Verdict.Do, s.Verdict.Dont
	x := c.text(1, 3, "do  ", styleDim)
	room := c.w - x - 1
	if do == "" && len(s.Verdict.NextEvidence) > 0 {
		do = s.Verdict.NextEvidence[0]
	}
	switch {
	case do != "":
	case s.Verdict.State == detect.Unknown:
		do = "wait for traffic; H tells what the input could not show"
	default:
		do = "nothing"
	}
	if len(s.Mitigations) > 0 && width(do)+10 <= room {
		x = c.text(x, 3, do, styleText)
		x = c.text(x+1, 3, "[6] how", styleKey)
	} else {
		x = c.text(x, 3, fit(do, room), styleText)
	}
	if dont == "" {
		return
	}
	if c.h >= 5 {
		at := c.text(1, 4, "not ", styleDim)
		c.text(at, 4, fit(dont, c.w-at-1), styleText)
		return
	}
	if room := c.w - x - 7; width(dont) <= room {
		x = c.text(x+2, 3, "not ", styleDim)
		c.text(x, 3, dont, styleText)
	}
}

// drawLine draws all there is room for on a terminal too small for panels.
func drawLine(c *canvas, s *detect.Snapshot) {
	w := wordOf(s.Verdict.State)
	x := c.text(0, 0, w.glyph+" "+w.text, w.style)
	if s.Verdict.State != detect.Unknown {
		x = c.text(x+1, 0, score(s.Verdict.Confidence), styleText)
	}
	c.text(x+2, 0, fmt.Sprintf("%dx%d needed, or `stormwatch report`", leastW, leastH), styleDim)
}
