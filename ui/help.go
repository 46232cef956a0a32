package ui

// drawHelp draws the keys, the glyphs and the words, all made from the key map.
func drawHelp(c *canvas, v *view) {
	p := box(c, "Help", "j/k scroll   esc close", true)
	left, right := helpPages(v, c.w)
	if right == nil {
		left.draw(p, v.scroll)
		return
	}
	half := p.w / 2
	left.draw(p.sub(rect{0, 0, half - 1, p.h}), v.scroll)
	right.draw(p.sub(rect{half + 1, 0, p.w - half - 1, p.h}), v.scroll)
}

// helpPages is the help: keys, and beside them what glyphs and words mean where
// there is room for two columns, else below them.
func helpPages(v *view, w int) (left, right page) {
	if w < wideW {
		left = append(keysPage(v, w), nil)
		return append(left, wordsPage(v, w)...), nil
	}
	return keysPage(v, w/2-1), wordsPage(v, w-w/2-1)
}

// helpLabel is the room of a label: the longest, "  confidence", and two blanks.
const helpLabel = 14

func keysPage(v *view, w int) (p page) {
	p.add(styleHead, "Keys")
	for _, r := range v.keys {
		h := r.bind.Help()
		text := h.Desc
		if r.scope != everywhere {
			text += "  (" + r.scope.only() + ")"
		}
		st := styleText
		if !hinted(r.scope, v) {
			st = styleDim
		}
		p.term("  "+h.Key, helpLabel, w, text, st)
	}
	p.gap()
	p.add(styleHead, "Filter")
	p.term("  /", helpLabel, w, filterHelp, styleText)
	return p
}

func wordsPage(v *view, w int) (p page) {
	p.add(styleHead, "Glyphs")
	for _, g := range glyphLegend() {
		p.term("  "+g[0], helpLabel, w, g[1], styleText)
	}
	p.gap()
	p.add(styleHead, "Words")
	for _, g := range glossary() {
		p.term("  "+g[0], helpLabel, w, g[1], styleText)
	}
	if v.version != "" {
		p.gap()
		p.add(styleDim, "stormwatch "+v.version)
	}
	return p
}

func glyphLegend() [][2]string {
	return [][2]string{
		{"▲", "STORM: retries drive the load, or keep a loop alive"},
		{"■", "OVERLOAD: heavy refusals, and no sign that retries are to blame"},
		{"●", "WATCH: signs of trouble"},
		{"◌", "RECOVERING: it is over, for less than half a minute"},
		{"✓", "CLEAR: nothing found"},
		{"?", "UNKNOWN: too little was seen to judge"},
		{"█ ▒ ▓", "answered well, refused (429, 503, quota), failed otherwise; per second"},
		{"·", "above a bar: the busiest second in it, in attempts"},
		{"┄ ┆ ◆", "measured capacity, onset, event"},
		{"▼", "what you marked: events of --events, bookmarks (b)"},
		{"● ✗ ✓", "attempt, attempt sent too early, attempt answered well"},
		{"░ ▏", "wait the server named, and its end: the earliest polite retry"},
		{"· ░ ▒ ▓ █", "arrivals: few to many, of the most in one cell"},
		{"> *", "selected row; primary source"},
		{"→ ↗ ↘", "steady, growing, falling"},
		{unknown, "not known, which is not 0"},
	}
}

func glossary() [][2]string {
	return [][2]string{
		{"attempt", "(ATT) one request as sent; a retry is an attempt after a failed one"},
		{"chain", "a request and its retries"},
		{"amp", "amplification: attempts per request, 1.0x when nobody retries"},
		{"refused", "(REF) answers 429, 503, or a used-up quota, of all answers"},
		{"goodput", "requests answered well per second: the work that gets done"},
		{"floor", "the earliest moment the server asked for by Retry-After or its kin"},
		{"early", "share of a client's retries sent before that moment; \"kept\" where none is"},
		{"gap", "median wait between an answer and the next attempt, ± its median deviation"},
		{"avoid", "attempts per second that waiting, jitter and a cap would not have sent: act on the first rows first"},
		{"policy", "how a client waits, as its timing reads, and how likely that is"},
		{"lockstep", "retries of many clients return together: no jitter"},
		{"folded", "arrivals cut into rows of one period: a fleet in step is an upright bar, jitter an even field"},
		{"layer", "a place on the way that retries; layers multiply each other"},
		{"victim", "a client that is refused though it does not retry"},
		{"confidence", "how sure the verdict is: low below 0.6, high from 0.8; loss of input lowers it"},
		{"since <=", "the input starts inside the incident: it began then or earlier"},
		{"E0 to E5", "how an attempt is tied to its chain: from a guess by timing to a number it declares"},
	}
}
