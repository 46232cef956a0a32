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
		return word{"■", "OVERLOAD", styleOverload, true}
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

// drawBanner draws what someone woken up reads first, on five rows:
// input and its health; the verdict; who and how big; what to do; what not.
func drawBanner(c *canvas, s *detect.Snapshot, v *view) {
	drawHeader(c, s, v)
	if opening(s, v) {
		before := *s
		before.Verdict = detect.Verdict{What: "the replay is at its start, nothing is judged yet", Do: "let it play; n goes to the next event, f to the end"}
		s = &before
	}
	drawVerdict(c, s, v.whose(s))
	drawWho(c, s)
	drawAdvice(c, s)
}

// opening tells whether a replay has not come to its first judged second yet: that
// nothing was seen so far says nothing about the input.
func opening(s *detect.Snapshot, v *view) bool {
	return v.play.replay && s.Verdict.State == detect.Unknown && s.Totals.Exchanges == 0 && s.End > s.At
}

func drawHeader(c *canvas, s *detect.Snapshot, v *view) {
	end := c.right(c.w, 0, stamp(s.At), styleText) - 2
	left := c.sub(rect{0, 0, max(end, 0), 1})
	x := left.text(0, 0, "stormwatch ", styleBold)
	x = left.text(x, 0, mode(s, &v.play)+" ", styleKey)
	notes, bad := healthNotes(s)
	side := ""
	if s.Perspective != "" && s.Start != 0 {
		side = " · " + s.Perspective + " side"
	}
	extra := ""
	if v.filter.text != "" {
		extra = "FILTER ON"
	}
	if s.Loaded > 0 && s.Loaded < 1 && !s.Live {
		extra = strings.TrimSpace(extra + fmt.Sprintf(" loading %.0f%%", 100*s.Loaded))
	}
	need := width(notes) + 3
	if extra != "" {
		need += width(extra) + 3
	}
	if left.w-x-need-width(side) < min(width(titleOf(s, v)), 12) {
		side = ""
	}
	x = left.text(x, 0, fit(titleOf(s, v), max(left.w-x-need-width(side), 8)), styleText)
	x = left.text(x, 0, side, styleDim)
	if extra != "" {
		x = left.text(x, 0, " · ", styleDim)
		x = left.text(x, 0, extra, styleRetry)
	}
	st := styleDim
	if bad {
		st = styleRetry
	}
	x = left.text(x, 0, " · ", styleDim)
	left.text(x, 0, fit(notes, left.w-x), st)
}

func mode(s *detect.Snapshot, p *playback) string {
	switch {
	case p.frozen:
		return "FROZEN +" + span(p.behind)
	case p.replay && p.paused:
		return "PAUSED"
	case p.replay:
		return "REPLAY"
	case s.Live && stale(s) != 0:
		return "STALE"
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

// healthNotes sums up what the sources could not see, worst first; bad when it
// matters.
func healthNotes(s *detect.Snapshot) (text string, bad bool) {
	var read, dropped, skipped, sealed, late float64
	var parts []string
	for i := range s.Sources {
		src := &s.Sources[i]
		h := &src.Health
		read += float64(h.Read)
		dropped += float64(h.Dropped)
		skipped += float64(h.SkippedTotal())
		sealed += float64(h.Encrypted)
		late += float64(h.Late)
		if state, st := sourceState(s, src); st != styleGood && state != "empty" {
			bad = true
			note := state
			if old(s, src) {
				note = "last event " + ago(src.Age)
			}
			if len(s.Sources) > 1 {
				note = fit(src.Name, 16) + " " + note
			}
			if h.Down != "" {
				parts = append([]string{note}, parts...)
			} else {
				parts = append(parts, note)
			}
		}
	}
	if len(parts) > 2 {
		parts = append(parts[:1], fmt.Sprintf("%d more ail", len(parts)-1))
	}
	parts = append(parts, "drop "+percent(detect.Number{V: dropped / (read + dropped), Known: read+dropped > 0}))
	parts = append(parts, "skipped "+short(int64(skipped)))
	if sealed > 0 {
		parts = append(parts, "encrypted "+short(int64(sealed)))
	}
	if late > 0 {
		parts = append(parts, "late "+short(int64(late)))
	}
	return strings.Join(parts, " · "), bad || sealed > 0
}

// lossText tells how much of the input is missing, where that matters for how
// sure the verdict can be.
func lossText(s *detect.Snapshot) string {
	if lost := report.Lost(s); report.Known(lost) {
		return ": " + percent(lost) + " lost"
	}
	return ""
}

// drawVerdict draws the verdict's row; of whom it is, where a filter is on.
func drawVerdict(c *canvas, s *detect.Snapshot, of string) {
	v := &s.Verdict
	w := wordOf(v.State)
	plain := styleText
	if w.filled {
		c.paint(1, w.style)
		plain = w.style
	}
	whole := what(v)
	if age := stale(s); age != 0 {
		whole = ago(age) + ": " + whole
	}
	if of != "" {
		whole = of + ": " + whole
	}
	says := whole
	head := 1 + width(w.glyph+" "+w.text) + 2
	room := c.w - 1 - head - 2
	facts := ""
	tell := func(detail int) bool {
		facts = strings.Join(verdictFacts(s, detail), " · ")
		return width(says)+width(facts) <= room
	}
	if !tell(0) && !tell(1) && !tell(2) { // words go before the sentence is cut, and that before the time
		if first, _, more := strings.Cut(whole, ", "); more {
			says = first + " …"
		}
		if !tell(2) {
			tell(shortFacts)
		}
		says = clause(whole, max(room-width(facts), 0))
		for detail := 0; detail < shortFacts && !tell(detail); detail++ { // what a clause left is room for the facts
			tell(shortFacts)
		}
	}
	facts = fit(facts, c.w-head-1)
	edge := c.right(c.w-1, 1, facts, plain) - 2
	x := c.text(1, 1, w.glyph+" "+w.text+"  ", w.style)
	c.text(x, 1, fit(says, edge-x), plain)
}

// what is the verdict's sentence without the sizes, which have a row of their own.
func what(v *detect.Verdict) string {
	if names, rest, ok := strings.Cut(v.What, "; "); ok && v.State >= detect.Watch && strings.Contains(rest, " %") {
		return names
	}
	return v.What
}

const shortFacts = 3 // of the details of verdictFacts, the one of fewest words

// verdictFacts are how sure, since when, and where it is going; in full words (0) and
// in ever fewer, down to shortFacts.
func verdictFacts(s *detect.Snapshot, detail int) (facts []string) {
	v := &s.Verdict
	if v.State != detect.Unknown {
		label := "conf "
		if detail == 0 {
			label = "confidence "
		}
		facts = append(facts, label+report.Confidence(v.Confidence)+lossText(s))
	}
	if stale(s) != 0 { // how long it has lasted is not known
		if v.Since != 0 && detail < shortFacts {
			facts = append(facts, "since "+clock(v.Since))
		}
		return facts
	}
	if v.Since != 0 {
		start := ""
		if detail < shortFacts {
			start = report.Start(s)
		}
		facts = append(facts, since(v.Since, s.At, v.SinceCensored, start))
	}
	if t := trend(v.Trend, detail < 2); t != "" {
		facts = append(facts, t)
	}
	return facts
}

// since tells when something began, at length where start words what stands at the
// beginning. An onset before that is only bounded.
func since(at, now int64, censored bool, start string) string {
	switch {
	case censored && start != "":
		return "since <= " + clock(at) + ", " + start
	case censored:
		return "since <= " + clock(at)
	case start != "":
		return "since " + clock(at) + " (" + span(now-at) + ")"
	}
	return "for " + span(now-at)
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

// drawLine draws all there is room for on a terminal too small for panels.
func drawLine(c *canvas, s *detect.Snapshot) {
	w := wordOf(s.Verdict.State)
	x := c.text(0, 0, w.glyph+" "+w.text, w.style)
	if s.Verdict.State != detect.Unknown {
		x = c.text(x+1, 0, score(s.Verdict.Confidence), styleText)
	}
	help := fmt.Sprintf("%dx%d needed, or `stormwatch report`", leastW, leastH)
	if width(help) <= c.w-x-2 || c.h < 2 {
		c.text(x+2, 0, help, styleDim)
		return
	}
	for y, l := range wrap(help, c.w) {
		c.text(0, y+1, l, styleDim)
	}
}
