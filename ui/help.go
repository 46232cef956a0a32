package ui

// drawHelp draws the keys, the glyphs and the words.
func drawHelp(c *canvas, v *view) {
	p := box(c, "Help", "j/k scroll   esc close", true)
	helpPage(v, c.w).draw(p, v.scroll)
}

func helpPage(v *view, w int) page {
	const label = 12
	var p page
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
		p.term("  "+h.Key, label, w, text, st)
	}
	p.gap()
	p.add(styleHead, "Filter")
	p.term("  /", label, w, filterHelp, styleText)
	p.gap()
	p.add(styleHead, "Glyphs")
	for _, g := range glyphLegend() {
		p.term("  "+g[0], label, w, g[1], styleText)
	}
	p.gap()
	p.add(styleHead, "Words")
	for _, g := range glossary() {
		p.term("  "+g[0], label, w, g[1], styleText)
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
		{"●", "OVERLOAD: heavy refusals, and no sign that retries are to blame; WATCH: signs of trouble"},
		{"◌", "RECOVERING: it is over, for less than half a minute"},
		{"✓", "CLEAR: nothing found"},
		{"?", "UNKNOWN: too little was seen to judge"},
		{"█ ▒ ▓", "answered well, refused (429, 503, quota), failed otherwise; per second"},
		{"┄ ┆ ◆", "measured capacity, onset, event"},
		{"▼", "what you marked: events of --events, bookmarks (b)"},
		{"● ✗ ░ ▏", "attempt, attempt sent too early, wait the server named, earliest polite retry"},
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
		{"early", "share of retries sent before that moment"},
		{"gap", "median wait between an answer and the next attempt, ± its median deviation"},
		{"avoid", "attempts per second that waiting, jitter and a cap would not have sent"},
		{"lockstep", "retries of many clients return together: no jitter"},
		{"victim", "a client that is refused though it does not retry"},
		{"confidence", "how sure the verdict is: low below 0.6, high from 0.85; loss of input lowers it"},
		{"since <=", "the input starts inside the incident: it began then or earlier"},
		{"E0 to E5", "how an attempt is tied to its chain: from a guess by timing to a number it declares"},
	}
}
