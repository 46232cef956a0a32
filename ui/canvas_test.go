package ui

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"stormwatch/report"
)

func plainPalette() *palette { return newPalette(io.Discard, "dark", "never", false) }

func TestCanvasKeepsItsSize(t *testing.T) {
	for _, s := range []string{
		"GET /a\x1b]52;c;ZWNobw==\x07\x1b[2J\x9b31m", "日本語日本語日本語日本語日本語", "\u202eevil\u202c", "e\u0301\u0301\u0301", "👩‍👩‍👧‍👦👍🏽🇩🇪🇩",
		"\u1100\u1161\u11a8각", "कि", "ำำ", strings.Repeat("\xff", 90), "a\tb\nc\rd", "\U000e0041\ufeff\u200b\u2028",
	} {
		for x := -3; x < 12; x++ {
			c := newCanvas(10, 2)
			c.text(x, 0, s, styleText)
			c.text(3, 0, "日", styleText)
			c.set(4, 0, '█', styleText)
			c.right(10, 1, s, styleText)
			out := c.render(plainPalette())
			for _, line := range strings.Split(out, "\n") {
				if w := ansi.StringWidth(line); w != 10 {
					t.Errorf("%q at %d: %d columns: %q", s, x, w, line)
				}
			}
			if strings.ContainsFunc(out, func(r rune) bool { return r != '\n' && (r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x202e) }) {
				t.Errorf("%q at %d: a control character passes: %q", s, x, out)
			}
		}
	}
}

func TestCanvasClips(t *testing.T) {
	c := newCanvas(6, 3)
	in := c.sub(rect{1, 1, 3, 1})
	in.text(-1, 0, "abcdef", styleText)
	in.text(0, 1, "below", styleText)
	in.text(0, -1, "above", styleText)
	c.sub(rect{5, 0, 9, 9}).text(0, 0, "zz", styleText)
	c.sub(rect{9, 9, 9, 9}).text(0, 0, "q", styleText)
	if got, want := c.render(plainPalette()), "     z\n bcd  \n      "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Every glyph of the console is one column wide and has an ASCII stand-in.
func TestGlyphsAreNarrow(t *testing.T) {
	var drawn strings.Builder
	for _, f := range []*fakeFeed{replay(chainSnapshot()), replay(overloadSnapshot()), live(clearSnapshot()), live(unknownSnapshot())} {
		for _, keys := range [][]string{nil, {"3"}, {"6"}, {"w"}, {"?"}, {"?", "G"}, {"H"}, {"space"}} {
			drawn.WriteString(open(f, Options{}, 130, 50, keys...).View())
			ascii := open(f, Options{ASCII: true}, 130, 50, keys...).View()
			if i := strings.IndexFunc(ascii, func(r rune) bool { return r > 0x7e || r < 0x20 && r != '\n' }); i >= 0 {
				t.Errorf("keys %v: %q is not ASCII", keys, ascii[i:i+4])
			}
			checkSize(t, ascii, 130, 50)
		}
	}
	for _, r := range drawn.String() {
		if r < 0x7f {
			continue
		}
		if ansi.StringWidth(string(r)) != 1 {
			t.Errorf("%q is not one column wide", r)
		}
		if report.ASCII(r) == 0 {
			t.Errorf("%q has no ASCII stand-in", r)
		}
	}
}

var ownSequence = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// Colour adds escape sequences and nothing else; every theme has its own.
func TestThemes(t *testing.T) {
	plain := open(replay(stormSnapshot()), Options{}, 120, 40).View()
	seen := map[string]bool{}
	for _, theme := range []string{"dark", "light", "mono"} {
		colour := open(replay(stormSnapshot()), Options{Theme: theme, Color: "always"}, 120, 40).View()
		if ownSequence.ReplaceAllString(colour, "") != plain {
			t.Errorf("%s: the text differs from that without colour", theme)
		}
		if colour == plain || seen[colour] {
			t.Errorf("%s: has no look of its own", theme)
		}
		seen[colour] = true
	}
}

// The word is told by glyph, word and style; overload never looks like clear or
// like storm.
func TestVerdictWords(t *testing.T) {
	for _, theme := range []string{"dark", "light"} {
		p := newPalette(io.Discard, theme, "always", false)
		look := map[string]string{}
		for s := range 6 {
			w := wordOf(stateOf(s))
			for other, open := range look {
				if open == p.open[w.style] {
					t.Errorf("%s: %s looks like %s", theme, w.text, other)
				}
			}
			look[w.text] = p.open[w.style]
		}
	}
	if wordOf(stateOf(4)).glyph == wordOf(stateOf(5)).glyph {
		t.Error("overload and storm share a glyph")
	}
}

func BenchmarkFrame200x60(b *testing.B) {
	m := open(replay(stormSnapshot()), Options{Color: "always", Theme: "dark"}, 200, 60)
	b.ReportAllocs()
	for b.Loop() {
		m.c.dirty = true
		_ = m.View()
	}
}

func BenchmarkIdleTick(b *testing.B) {
	m := open(replay(stormSnapshot()), Options{}, 200, 60)
	b.ReportAllocs()
	for b.Loop() {
		m.c.refresh()
		_ = m.View()
	}
}
