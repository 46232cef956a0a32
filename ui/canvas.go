package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"stormwatch/capture"
	"stormwatch/report"
)

// cell is one column of one row: a rune and the style it is drawn in. A rune of
// 0 is the right half of a wide rune.
type cell struct {
	r rune
	s style
}

// canvas is a grid of cells that panels draw on. What is drawn outside is
// clipped, and nothing drawn can carry an escape sequence: a frame is exactly as
// many rows and columns as the canvas, whatever the texts hold. A canvas made by
// sub shares the cells of its parent.
type canvas struct {
	cells  []cell
	stride int
	rect
}

// newCanvas returns a blank canvas of w columns and h rows.
func newCanvas(w, h int) *canvas {
	w, h = max(w, 0), max(h, 0)
	c := &canvas{cells: make([]cell, w*h), stride: w, rect: rect{w: w, h: h}}
	c.clear()
	return c
}

func (c *canvas) clear() {
	for i := range c.cells {
		c.cells[i] = cell{' ', styleText}
	}
}

// sub returns the part of c inside r, in c's coordinates, clipped.
func (c *canvas) sub(r rect) *canvas {
	x0, y0 := min(max(r.x, 0), c.w), min(max(r.y, 0), c.h)
	x1, y1 := min(max(r.x+r.w, x0), c.w), min(max(r.y+r.h, y0), c.h)
	return &canvas{c.cells, c.stride, rect{c.x + x0, c.y + y0, x1 - x0, y1 - y0}}
}

// set draws one rune of width 1.
func (c *canvas) set(x, y int, r rune, s style) {
	if x < 0 || y < 0 || x >= c.w || y >= c.h {
		return
	}
	at := (c.y+y)*c.stride + c.x + x
	// Overwriting one half of a wide rune blanks the other half, or the row
	// would be a column too long or too short.
	if r != 0 && c.cells[at].r == 0 && at > 0 {
		c.cells[at-1].r = ' '
	}
	if next := at + 1; next%c.stride != 0 && c.cells[next].r == 0 {
		c.cells[next].r = ' '
	}
	c.cells[at] = cell{r, s}
}

// text draws s from column x and returns the column after it. It stops at the
// right edge.
func (c *canvas) text(x, y int, s string, st style) int {
	for _, r := range safe(s, max(c.w-x, 0)) {
		w := 1
		if r >= 0x7f && report.ASCII(r) == 0 {
			w = ansi.StringWidth(string(r))
		}
		if x+w > c.w {
			return x
		}
		if x < 0 { // a wide rune must not be cut in half
			x += w
			continue
		}
		c.set(x, y, r, st)
		if w == 2 {
			c.set(x+1, y, ' ', st)
			if y >= 0 && y < c.h {
				c.cells[(c.y+y)*c.stride+c.x+x+1].r = 0
			}
		}
		x += w
	}
	return x
}

// right draws s so that it ends before column x, and returns where it begins.
func (c *canvas) right(x, y int, s string, st style) int {
	x -= width(s)
	c.text(x, y, s, st)
	return x
}

// paint sets the style of a whole row and leaves its runes.
func (c *canvas) paint(y int, s style) {
	if y < 0 || y >= c.h {
		return
	}
	for i := range c.w {
		c.cells[(c.y+y)*c.stride+c.x+i].s = s
	}
}

// render turns the canvas into lines with the escape sequences of p, the only
// ones it can hold.
func (c *canvas) render(p *palette) string {
	var b strings.Builder
	b.Grow(c.w*c.h*2 + 64)
	for y := range c.h {
		if y > 0 {
			b.WriteByte('\n')
		}
		now := styleText
		for _, k := range c.cells[(c.y+y)*c.stride+c.x:][:c.w] {
			if k.s != now {
				if p.open[now] != "" {
					b.WriteString("\x1b[0m")
				}
				b.WriteString(p.open[k.s])
				now = k.s
			}
			p.writeRune(&b, k.r)
		}
		if p.open[now] != "" {
			b.WriteString("\x1b[0m")
		}
	}
	return b.String()
}

// safe returns s ready to be drawn in at most room columns: sanitised, and with
// a middle dot for every rune that could melt with its neighbour into one
// grapheme, so that a text is as wide as the sum of its runes.
func safe(s string, room int) string {
	if limit := 4 * (room + 1); len(s) > limit { // no rune is longer or narrower
		s = s[:limit]
	}
	s = capture.Clean(s)
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x7f {
			return strings.Map(func(r rune) rune {
				if r < 0x7f || report.ASCII(r) != 0 || solid(r) {
					return r
				}
				return '·'
			}, s)
		}
	}
	return s
}

// solid tells whether r stays a grapheme of its own, 1 or 2 columns wide, next
// to any other rune that is solid.
func solid(r rune) bool {
	one := string(r)
	w := ansi.StringWidth(one)
	if w != 1 && w != 2 {
		return false
	}
	rest := "a" + one + one + "a"
	for _, want := range []string{"a", one, one, "a"} {
		got, _ := ansi.FirstGraphemeCluster(rest, ansi.GraphemeWidth)
		if got != want {
			return false
		}
		rest = rest[len(got):]
	}
	return true
}

// widest is how far a text is measured: it is more than any terminal has columns.
const widest = 1000

// width is the number of columns s takes, told exactly up to widest.
func width(s string) int {
	s = safe(s, min(len(s), widest))
	for i := range len(s) {
		if s[i] >= 0x7f {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// fit cuts s to w columns, the last of them an ellipsis where something is lost.
func fit(s string, w int) string {
	if w <= 0 {
		return ""
	}
	return ansi.Truncate(safe(s, w+1), w, "…")
}
