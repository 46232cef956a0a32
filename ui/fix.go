package ui

import (
	"fmt"
	"strings"

	"stormwatch/detect"
	"stormwatch/report"
)

// drawFix lists what to do, most urgent first, and the selected of them in full.
func drawFix(c *canvas, s *detect.Snapshot, v *view) {
	focus := v.screen == screenFix
	hint := "y copy snippet   tab next product"
	if !focus {
		hint = "6 fix"
	}
	p := box(c, "Fix", hint, focus)
	if len(s.Mitigations) == 0 {
		why := "nothing found that calls for a mitigation"
		if s.Verdict.State == detect.Unknown {
			why = "no verdict yet, so nothing to recommend"
		}
		p.text(2, 0, why, styleDim)
		return
	}
	at := min(max(v.fix, 0), len(s.Mitigations)-1)
	index, rest := fixRects(rect{w: p.w, h: p.h}, len(s.Mitigations))
	top := min(max(at-index.h/2, 0), len(s.Mitigations)-index.h)
	for y := range index.h {
		drawMitigation(p, y, top+y, &s.Mitigations[top+y], top+y == at && focus)
	}
	fixPage(&s.Mitigations[at], v, rest.w).draw(p.sub(rest), v.scroll)
}

// fixRects parts the panel: the list of n mitigations above, one in full below.
func fixRects(r rect, n int) (index, rest rect) {
	rows := min(n, max(r.h/3, 1))
	return rect{0, 0, r.w, rows}, rect{2, rows + 1, max(r.w-3, 0), max(r.h-rows-1, 0)}
}

func drawMitigation(p *canvas, y, i int, m *detect.Mitigation, selected bool) {
	st := styleText
	if selected {
		st = styleSelected
		p.paint(y, st)
		p.text(0, y, ">", st)
	}
	x := p.text(2, y, fmt.Sprintf("%d ", i+1), st)
	x = p.text(x, y, pad(strings.ToUpper(m.When), 8), st)
	p.text(x, y, fit(m.Title, p.w-x), st)
}

// fixPage is one mitigation in full, w columns wide.
func fixPage(m *detect.Mitigation, v *view, w int) page {
	if m == nil {
		return nil
	}
	const label = 8
	var p page
	p.term("who", label, w, m.Who, styleText)
	p.term("expect", label, w, expected(m), styleText)
	p.term("risk", label, w, m.Risk, styleText)
	p.term("don't", label, w, m.Dont, styleRefused)
	p.term("undo", label, w, m.Undo, styleText)
	p.term("check", label, w, m.Check, styleText)
	p.term("because", label, w, strings.Join(m.Because, ", "), styleText)
	sn := v.snippet(m)
	if sn == nil {
		return p
	}
	p.gap()
	row := line{}
	for i := range m.Snippets {
		st, open, shut := styleDim, " ", " "
		if &m.Snippets[i] == sn {
			st, open, shut = styleKey, "[", "]"
		}
		row = append(row, piece{open + fit(m.Snippets[i].For, 20) + shut, st})
	}
	p = append(p, row)
	for _, l := range strings.Split(strings.TrimRight(sn.Text, "\n"), "\n") {
		p.add(styleText, "  "+strings.ReplaceAll(l, "\t", "    "))
	}
	return p
}

// expected is the effect in words, or as predicted ranges once there are some.
func expected(m *detect.Mitigation) string {
	e := m.Effect
	if e == nil {
		return m.Expect
	}
	return fmt.Sprintf("predicted: requests %s, peak per 50 ms %s, p95 %s s, goodput %s/s",
		between(e.Requests), between(e.Peak50ms), between(e.P95S), between(e.GoodputPerS))
}

func between(r [2]float64) string {
	if r[0] == r[1] {
		return report.Figure(r[0], "")
	}
	return report.Figure(r[0], "") + " to " + report.Figure(r[1], "")
}
