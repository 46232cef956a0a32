package ui

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"stormwatch/detect"
)

// luminance is the relative luminance of WCAG 2.2.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	var r, g, b int
	if _, err := fmt.Sscanf(hex, "#%02x%02x%02x", &r, &g, &b); err != nil {
		t.Fatalf("%q is no colour: %v", hex, err)
	}
	part := func(v int) float64 {
		c := float64(v) / 255
		if c <= .04045 {
			return c / 12.92
		}
		return math.Pow((c+.055)/1.055, 2.4)
	}
	return .2126*part(r) + .7152*part(g) + .0722*part(b)
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + .05) / (min(x, y) + .05)
}

// shades are the colours of a style, as true ones and as the nearest of 256.
func shades(c lipgloss.TerminalColor) (list []string) {
	k, ok := c.(lipgloss.CompleteColor)
	if !ok {
		return nil
	}
	return []string{k.TrueColor, termenv.ConvertToRGB(termenv.ANSI256.Color(k.TrueColor)).Hex()}
}

// Contrasts as WCAG 2.2 asks for: 4.5 for text (1.4.3), 3 for charts (1.4.11). The
// lines of the frame carry no meaning.
func TestContrast(t *testing.T) {
	r := lipgloss.NewRenderer(nil)
	dark, light := darkTheme(r.NewStyle), lightTheme(r.NewStyle)
	bands(r.NewStyle, &dark)
	bands(r.NewStyle, &light)
	for _, theme := range []struct {
		name, ground string
		styles       [styles]lipgloss.Style
	}{{"dark", "#101418", dark}, {"light", "#ffffff", light}} {
		for s := range styles {
			least := 4.5
			switch {
			case s == styleBorder:
				continue
			case s >= styleHeat1 && s <= styleHeat5, s == styleFloor:
				least = 3
			}
			paper := []string{theme.ground, theme.ground}
			if p := shades(theme.styles[s].GetBackground()); p != nil {
				paper = p
			}
			for i, ink := range shades(theme.styles[s].GetForeground()) {
				if got := contrast(t, ink, paper[i]); got < least {
					t.Errorf("%s, style %d: %s on %s is %.1f:1, less than %.1f", theme.name, s, ink, paper[i], got, least)
				}
			}
		}
		for s := styleHeat1; s < styleHeat5; s++ { // more stands out more, also in grey
			a, b := shades(theme.styles[s].GetForeground()), shades(theme.styles[s+1].GetForeground())
			if contrast(t, a[0], theme.ground) >= contrast(t, b[0], theme.ground) {
				t.Errorf("%s: step %d of the ramp does not stand out more than the one before", theme.name, s-styleHeat1+2)
			}
		}
	}
}

// The figures that the comment of the themes and the documentation name.
func TestNamedContrasts(t *testing.T) {
	for _, c := range []struct {
		ink, paper string
		want       float64
	}{
		{"#E69F00", "#101418", 8.2},
		{"#56B4E9", "#101418", 8.0},
		{"#CC79A7", "#101418", 6.0},
		{"#009E73", "#101418", 5.4},
		{"#D55E00", "#101418", 4.8},
		{"#8a8a8a", "#101418", 5.4},
		{"#B34A00", "#ffffff", 5.4},
		{"#9A6700", "#ffffff", 4.9},
		{"#00735C", "#ffffff", 5.8},
		{"#0072B2", "#ffffff", 5.2},
		{"#005F87", "#ffffff", 7.0},
		{"#6c6c6c", "#ffffff", 5.3},
	} {
		if got := contrast(t, strings.ToLower(c.ink), strings.ToLower(c.paper)); math.Abs(got-c.want) > .06 {
			t.Errorf("%s on %s is %.2f:1, said to be %.1f", c.ink, c.paper, got, c.want)
		}
	}
}

// Each state has a word, a glyph and a style of its own, also in ASCII.
func TestStatesDiffer(t *testing.T) {
	glyphs, words, looks, plain := map[string]bool{}, map[string]bool{}, map[style]bool{}, map[string]bool{}
	for s := detect.Unknown; s <= detect.Storm; s++ {
		w := wordOf(s)
		var b strings.Builder
		(&palette{ascii: true}).writeRune(&b, []rune(w.glyph)[0])
		if b.String() == "?" && s != detect.Unknown {
			t.Errorf("%s has no glyph in ASCII", w.text)
		}
		glyphs[w.glyph], words[w.text], looks[w.style], plain[b.String()] = true, true, true, true
	}
	for name, n := range map[string]int{"glyphs": len(glyphs), "words": len(words), "styles": len(looks), "ASCII glyphs": len(plain)} {
		if n != 6 {
			t.Errorf("%d %s for 6 states", n, name)
		}
	}
}

// Without any colour or attribute the selection, the panel at hand and the state
// are still seen, and no escape sequence is sent.
func TestWithoutColour(t *testing.T) {
	for _, theme := range []string{"dark", "light", "mono"} {
		t.Setenv("NO_COLOR", "1")
		v := open(replay(stormSnapshot()), Options{Theme: theme, Color: "auto"}, 120, 40, "j").View()
		if strings.Contains(v, "\x1b") {
			t.Errorf("%s sends escape sequences despite NO_COLOR", theme)
		}
		for _, want := range []string{"▲ STORM", "▸Clients", "\n> 10.42.2.20"} {
			if !strings.Contains(v, want) {
				t.Errorf("%s lacks %q:\n%s", theme, want, v)
			}
		}
	}
}

// In ASCII no byte is beyond it, on any screen, and what is drawn is not all
// question marks.
func TestASCII(t *testing.T) {
	s := arrivalsSnapshot()
	s.Layers, s.Chains = layersSnapshot().Layers, chainSnapshot().Chains
	for _, key := range []string{"1", "2", "3", "4", "5", "6", "7", "w", "H", "?"} {
		v := open(replay(s), Options{ASCII: true}, 200, 60, key).View()
		for i := range len(v) {
			if v[i] >= 0x7f {
				t.Fatalf("screen %s: byte %x in\n%s", key, v[i], v)
			}
		}
		if n := strings.Count(v, "?"); n > 8 {
			t.Errorf("screen %s: %d question marks in\n%s", key, n, v)
		}
	}
}
