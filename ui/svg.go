package ui

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"stormwatch/detect"
)

//go:generate go test ../cmd/stormwatch -run TestPictures -pictures

// Picture says what an SVG of the screen shows.
type Picture struct {
	W, H    int    // columns and rows; 0 is 120 and 40
	Screen  string // as typed in the command bar: "overview", "clients", "chains", "fix" ...; "" is the overview
	Theme   string // "dark", "light" or "mono"; else as the reader's system is
	ASCII   bool
	Title   string // what is watched; "" names the sources
	Version string
}

// SVG draws a Snapshot as the console shows it. The picture needs no font of its
// own: bars are shapes, and each run of text is held to its columns. The chains
// shown are those of the Snapshot.
func SVG(w io.Writer, s *detect.Snapshot, p Picture) error {
	c := &console{snap: s, v: view{screen: screenOverview, title: p.Title, version: p.Version, keys: keyMap()}}
	if p.W <= 0 || p.H <= 0 {
		p.W, p.H = 120, 40
	}
	c.w, c.h = min(p.W, 400), min(p.H, 200)
	if len(s.Chains) > 0 {
		c.v.client = s.Chains[0].Client
	}
	c.v.arrangeRows(s)
	if p.Screen != "" {
		act, ok := actionNamed(c.v.keys, p.Screen)
		if !ok {
			return fmt.Errorf("no screen %q: %s", p.Screen, strings.Join(actionNames(c.v.keys), ", "))
		}
		c.feed = still{}
		c.do(act)
		c.v.flash = ""
	}
	on := newCanvas(c.w, c.h)
	drawFrame(on, s, &c.v)
	return on.svg(w, p.Theme, p.ASCII)
}

// Screens are the names that Picture.Screen may have.
func Screens() []string {
	var out []string
	rows := keyMap()
	for i := range rows {
		if name := nameOf(&rows[i]); name != "" && draws(rows[i].act) {
			out = append(out, name)
		}
	}
	return out
}

// draws tells whether an action shows a screen or an overlay.
func draws(act action) bool {
	nothing := &detect.Snapshot{}
	c := &console{feed: still{}, snap: nothing, raw: nothing, v: view{client: "any"}}
	switch act {
	case actPause, actBack, actQuit, actExport:
		return false
	}
	c.do(act)
	return c.v.screen != 0 || c.v.overlay != overlayNone
}

// HasScreen tells whether a screen of that name can be drawn.
func HasScreen(name string) bool { return slices.Contains(Screens(), name) }

// still is a feed that nothing can be asked of.
type still struct{}

func (still) Snapshot() *detect.Snapshot { return &detect.Snapshot{} }
func (still) Want(detect.View)           {}
func (still) Transport() Transport       { return nil }
func (still) Progress() Progress         { return Progress{} }
func (still) Report() (whole, screen *detect.Snapshot, err error) {
	return &detect.Snapshot{}, &detect.Snapshot{}, nil
}

// Size of a cell in the picture. The letters of a typewriter font are 0.6 as wide
// as they are high.
const (
	cellW, cellH = 9, 18
	fontSize     = 15
	baseline     = 14
	margin       = 12
)

// ink is how a style looks in a picture.
type ink struct {
	fg, bg      string // colours as #rrggbb; "" for those of the page
	bold, faint bool
}

// ground is the paper of a theme, and what is written on it.
type ground struct{ ink, paper string }

func groundOf(theme string) ground {
	if theme == "light" || theme == "mono" {
		return ground{"#1b1f24", "#ffffff"}
	}
	return ground{"#d8dce0", "#101418"}
}

// inks are the styles of a theme.
func inks(theme string) (out [styles]ink) {
	var t [styles]lipgloss.Style
	switch theme {
	case "mono":
		t = monoTheme(lipgloss.NewStyle)
	case "light":
		t = lightTheme(lipgloss.NewStyle)
		bands(lipgloss.NewStyle, &t)
	default:
		t = darkTheme(lipgloss.NewStyle)
		bands(lipgloss.NewStyle, &t)
	}
	g := groundOf(theme)
	hex := func(c lipgloss.TerminalColor) string {
		if k, ok := c.(lipgloss.CompleteColor); ok {
			return k.TrueColor
		}
		return ""
	}
	for i := range t {
		k := ink{fg: hex(t[i].GetForeground()), bg: hex(t[i].GetBackground()), bold: t[i].GetBold(), faint: t[i].GetFaint()}
		if k.fg == "" {
			k.fg = g.ink
		}
		if t[i].GetReverse() {
			k.fg, k.bg = g.paper, g.ink
		}
		out[i] = k
	}
	return out
}

// sheet writes the rules of a theme.
func sheet(b *bytes.Buffer, theme string) {
	fmt.Fprintf(b, ".p{fill:%s}", groundOf(theme).paper)
	for i, k := range inks(theme) {
		fmt.Fprintf(b, ".f%d{fill:%s", i, k.fg)
		if k.bold {
			b.WriteString(";font-weight:700")
		}
		if k.faint {
			b.WriteString(";opacity:.6")
		}
		b.WriteString("}")
		if k.bg != "" {
			fmt.Fprintf(b, ".b%d{fill:%s}", i, k.bg)
		}
	}
}

// svg writes the canvas as a picture.
func (c *canvas) svg(w io.Writer, theme string, ascii bool) error {
	var b bytes.Buffer
	wide, tall := c.w*cellW+2*margin, c.h*cellH+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" xml:space="preserve" role="img" aria-label="stormwatch">`+"\n<style>", wide, tall, wide, tall)
	fmt.Fprintf(&b, "text{font:%dpx ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}", fontSize)
	switch theme {
	case "dark", "light", "mono":
		sheet(&b, theme)
	default:
		sheet(&b, "dark")
		b.WriteString("@media (prefers-color-scheme:light){")
		sheet(&b, "light")
		b.WriteString("}")
	}
	fmt.Fprintf(&b, "</style>\n<rect class=\"p\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n", wide, tall)
	filled := inks("dark") // the same styles have a ground in every theme
	if theme == "mono" {
		filled = inks(theme)
	}
	for y := range c.h {
		c.svgRow(&b, y, &filled, ascii)
	}
	b.WriteString("</svg>\n")
	_, err := w.Write(b.Bytes())
	return err
}

func (c *canvas) svgRow(b *bytes.Buffer, y int, looks *[styles]ink, ascii bool) {
	row := c.cells[(c.y+y)*c.stride+c.x:][:c.w]
	top := margin + y*cellH
	same := func(from int, is func(cell) bool) int {
		to := from + 1
		for to < len(row) && is(row[to]) {
			to++
		}
		return to
	}
	for x := 0; x < len(row); {
		k := row[x]
		to := same(x, func(o cell) bool { return o.s == k.s })
		if looks[k.s].bg != "" {
			fmt.Fprintf(b, "<rect class=\"b%d\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", k.s, margin+x*cellW, top, (to-x)*cellW, cellH)
		}
		x = to
	}
	for x := 0; x < len(row); {
		k := row[x]
		if s, ok := shapeOf(k.r); ok && !ascii {
			to := same(x, func(o cell) bool { return o == k })
			s.write(b, k.s, margin+x*cellW, top, (to-x)*cellW)
			x = to
			continue
		}
		to := same(x, func(o cell) bool {
			_, shaped := shapeOf(o.r)
			return o.s == k.s && (ascii || !shaped)
		})
		svgText(b, row[x:to], margin+x*cellW, top+baseline, ascii)
		x = to
	}
}

// svgText writes a run of cells of one style, each of its words at its place: not
// every program that draws it keeps blanks.
func svgText(b *bytes.Buffer, run []cell, x, y int, ascii bool) {
	for from := 0; from < len(run); {
		if run[from].r == ' ' {
			from++
			continue
		}
		to := from + 1
		for to < len(run) && (run[to].r != ' ' || to+1 < len(run) && run[to+1].r != ' ') {
			to++
		}
		svgWords(b, run[from:to], x+from*cellW, y, ascii)
		from = to
	}
}

func svgWords(b *bytes.Buffer, run []cell, x, y int, ascii bool) {
	var text strings.Builder
	p := palette{ascii: ascii}
	for _, k := range run {
		p.writeRune(&text, k.r)
	}
	fmt.Fprintf(b, "<text class=\"f%d\" x=\"%d\" y=\"%d\" textLength=\"%d\" lengthAdjust=\"spacingAndGlyphs\">%s</text>\n",
		run[0].s, x, y, len(run)*cellW, html.EscapeString(text.String()))
}

// shape is a glyph that is drawn: from top to top+tall eighths of a cell.
type shape struct {
	top, tall float64
	opacity   string
}

func shapeOf(r rune) (shape, bool) {
	for n, bar := range eighths() {
		if r == bar && n > 0 {
			return shape{top: float64(8 - n), tall: float64(n)}, true
		}
	}
	switch r {
	case '░':
		return shape{0, 8, ".3"}, true
	case '▒':
		return shape{0, 8, ".55"}, true
	case '▓':
		return shape{0, 8, ".8"}, true
	case '─':
		return shape{3.75, .5, ""}, true
	case '━':
		return shape{3.4, 1.2, ""}, true
	}
	return shape{}, false
}

func (s shape) write(b *bytes.Buffer, st style, x, y, wide int) {
	fmt.Fprintf(b, "<rect class=\"f%d\" x=\"%d\" y=\"%g\" width=\"%d\" height=\"%g\"", st, x, float64(y)+s.top*cellH/8, wide, s.tall*cellH/8)
	if s.opacity != "" {
		fmt.Fprintf(b, " opacity=\"%s\"", s.opacity)
	}
	b.WriteString("/>\n")
}
