package ui

import (
	"fmt"
	"strings"

	"stormwatch/detect"
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
		switch {
		case s.Verdict.State == detect.Unknown:
			why = "no verdict yet, so nothing to recommend"
		case v.filter.text != "":
			why = "nothing found that concerns the clients the filter keeps"
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
	words, snippet := fixPages(&s.Mitigations[at], v, rest.w)
	if snippet == nil {
		words.draw(p.sub(rest), v.scroll)
		return
	}
	left, right := fixColumns(rest)
	words.draw(p.sub(left), v.scroll)
	snippet.draw(p.sub(right), v.scroll)
}

const fixWide = 150 // columns from which the snippet stands beside the words

func fixColumns(r rect) (left, right rect) {
	w := r.w * 9 / 20
	return rect{r.x, r.y, w, r.h}, rect{r.x + w + 3, r.y, r.w - w - 3, r.h}
}

// fixRects parts the panel: the list of n mitigations above, one in full below.
func fixRects(r rect, n int) (index, rest rect) {
	rows := min(n, max(r.h/4, 1))
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
	x = p.text(x, y, pad(strings.ToUpper(firstWord(m.When)), 7), st)
	title := fit(m.Title, p.w-x)
	x = p.text(x, y, title, st)
	note := fixNote(m)
	if width(note)+3 <= p.w-x {
		if !selected {
			st = styleDim
		}
		p.right(p.w-1, y, note, st)
	}
}

// firstWord is "client" of "client release": the list has no room for all, and the
// text below tells when.
func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

// fixNote tells what calls for it.
func fixNote(m *detect.Mitigation) string {
	if len(m.Because) == 0 {
		return ""
	}
	return "for " + strings.Join(m.Because[:min(len(m.Because), 2)], ", ")
}

// fixPages is one mitigation in full, w columns wide: its words, and beside them
// its snippet. Where both do not fit beside each other, the snippet comes after
// what must be known before it is used, and the second page is nil.
func fixPages(m *detect.Mitigation, v *view, w int) (words, snippet page) {
	if m == nil {
		return nil, nil
	}
	code := snippetPage(m, v)
	wide := w >= fixWide && code != nil
	if wide {
		left, _ := fixColumns(rect{w: w})
		w = left.w
	}
	const label = 8
	p := &words
	if width(m.Title) > w-9 { // the list above had to cut it
		for _, l := range wrap(m.Title, w) {
			p.add(styleBold, l)
		}
	}
	if m.When != firstWord(m.When) {
		p.term("when", label, w, m.When, styleText)
	}
	p.term("expect", label, w, m.Expect, styleGood)
	p.term("risk", label, w, m.Risk, styleRetry)
	p.term("not", label, w, strings.TrimPrefix(lower(m.Dont), "do not "), styleRefused)
	if !wide && code != nil {
		p.gap()
		*p = append(*p, code...)
		p.gap()
	}
	p.term("who", label, w, m.Who, styleText)
	p.term("undo", label, w, m.Undo, styleText)
	p.term("check", label, w, m.Check, styleText)
	p.term("because", label, w, strings.Join(m.Because, ", "), styleText)
	if !wide {
		return words, nil
	}
	return words, code
}

// snippetPage is the snippet in the chosen language below the names of all.
func snippetPage(m *detect.Mitigation, v *view) (p page) {
	sn := v.snippet(m)
	if sn == nil {
		return nil
	}
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
