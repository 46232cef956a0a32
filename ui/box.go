package ui

import (
	"strings"

	"stormwatch/report"
)

// box draws the title row of a panel and returns the rest of it. The words at
// the right fall away when there is no room for them.
func box(c *canvas, title, right string, focus bool) *canvas {
	st := styleBorder
	if focus {
		st = styleKey
	}
	for x := range c.w {
		c.set(x, 0, '─', st)
	}
	mark, head := " ", styleHead
	if focus {
		mark, head = " ▸", styleKey
	}
	x := c.text(1, 0, fit(mark+title, c.w-4)+" ", head)
	if at := c.w - 3 - width(right); right != "" && at > x+1 {
		c.text(at, 0, " "+right+" ", styleDim)
	}
	return c.sub(rect{0, 1, c.w, c.h - 1})
}

// piece is a text in one style, line a row of them, page a long text to scroll.
type (
	piece struct {
		text  string
		style style
	}
	line []piece
	page []line
)

// add appends a line of one style.
func (p *page) add(s style, text string) { *p = append(*p, line{{text, s}}) }

// gap appends an empty line.
func (p *page) gap() { *p = append(*p, nil) }

// term appends a dim label of a fixed width and a text wrapped beside it, in all
// w columns wide. A text without words is left out.
func (p *page) term(label string, indent, w int, text string, s style) {
	for i, l := range wrap(text, w-indent) {
		name := ""
		if i == 0 {
			name = label
		}
		*p = append(*p, line{{pad(name, indent), styleDim}, {l, s}})
	}
}

// draw shows a page from line top, and how much there is where it does not fit.
func (p page) draw(c *canvas, top int) {
	top = min(max(top, 0), max(len(p)-c.h, 0))
	rows := min(c.h, len(p)-top)
	if left := len(p) - top - rows + 1; left > 1 && rows > 1 {
		rows--
		c.right(c.w-1, rows, report.Count(left)+" more ↓", styleDim)
	}
	for y := range rows {
		x := 0
		for _, q := range p[top+y] {
			x = c.text(x, y, fit(q.text, c.w-x), q.style)
		}
	}
}

// pad fits s into exactly w columns.
func pad(s string, w int) string {
	s = fit(s, w)
	return s + strings.Repeat(" ", max(w-width(s), 0))
}
