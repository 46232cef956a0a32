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
	drawVerdict(c, s)
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
			if len(s.Sources) > 1 {
				note = fit(src.Name, 16) + " " + state
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
	worst := 0.0
	for i := range s.Sources {
		if lost, _ := lossOf(&s.Sources[i].Health); report.Known(lost) && s.Sources[i].Primary {
			worst = max(worst, lost.V)
		}
	}
	if worst <= lossy {
		return ""
	}
	return ": " + percent(detect.Some(worst)) + " lost"
}

func drawVerdict(c *canvas, s *detect.Snapshot) {
	v := &s.Verdict
	w := wordOf(v.State)
	plain := styleText
	if w.filled {
		c.paint(1, w.style)
		plain = w.style
	}
	says := what(v)
	head := 1 + width(w.glyph+" "+w.text) + 2
	room := c.w - 1 - head - 2
	facts := ""
	tell := func(detail int) bool {
		facts = strings.Join(verdictFacts(s, detail), " · ")
		return width(says)+width(facts) <= room
	}
	if !tell(0) && !tell(1) && !tell(2) { // words go before the sentence is cut, and that before the time
		first, _, _ := strings.Cut(says, ", ")
		says = clause(says, max(room-width(facts), width(first)))
		if !tell(2) && !tell(shortFacts) {
			says = fit(says, max(room-width(facts), 0))
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
		facts = append(facts, label+score(v.Confidence)+" "+sure(v.Confidence)+lossText(s))
	}
	if v.Since != 0 {
		facts = append(facts, since(v.Since, s.At, v.SinceCensored, detail < shortFacts))
	}
	if t := trend(v.Trend, detail < 2); t != "" {
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

// drawLine draws all there is room for on a terminal too small for panels.
func drawLine(c *canvas, s *detect.Snapshot) {
	w := wordOf(s.Verdict.State)
	x := c.text(0, 0, w.glyph+" "+w.text, w.style)
	if s.Verdict.State != detect.Unknown {
		x = c.text(x+1, 0, score(s.Verdict.Confidence), styleText)
	}
	c.text(x+2, 0, fmt.Sprintf("%dx%d needed, or `stormwatch report`", leastW, leastH), styleDim)
}
