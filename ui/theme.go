package ui

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// style names an entry of a palette.
type style uint8

// Styles. Each of them is also told by a glyph or a word, for terminals and eyes
// without colour.
const (
	styleText style = iota
	styleDim
	styleBold
	styleHead
	styleStorm
	styleOverload
	styleWatch
	styleRecovering
	styleClear
	styleUnknown
	styleGood
	styleRefused
	styleFailed
	styleRetry
	styleSelected
	styleKey
	styleFloor
	styleBorder
	styleInvalid
	styleHeat1 // of five steps, rising in lightness away from the background
	styleHeat2
	styleHeat3
	styleHeat4
	styleHeat5
	styles
)

// palette holds the escape sequence that opens each style, resolved once.
type palette struct {
	open  [styles]string
	ascii bool
}

// tone is a colour with its stand-in of the 16-colour terminals, where the
// nearest match of a library would be misleading (orange becomes olive).
func tone(hex, ansi16 string) lipgloss.TerminalColor {
	return lipgloss.CompleteColor{TrueColor: hex, ANSI256: hex256(hex), ANSI: ansi16}
}

// hex256 leaves the choice among 256 colours to the nearest match, which is good
// enough there.
func hex256(hex string) string {
	c, ok := termenv.ANSI256.Color(hex).(termenv.ANSI256Color)
	if !ok {
		return ""
	}
	return fmt.Sprint(int(c))
}

// The colours are those of Okabe and Ito (Color Universal Design, 2008), which
// stay apart for colour-blind eyes; the light theme darkens them so that each
// has a contrast of at least 4.9:1 on white, the dark one has 4.8:1 on #101418
// (WCAG 2.2, computed). White on #B34A00 is 5.4:1.
func darkTheme(n func() lipgloss.Style) [styles]lipgloss.Style {
	fg := func(hex, ansi16 string) lipgloss.Style { return n().Foreground(tone(hex, ansi16)) }
	return [styles]lipgloss.Style{
		styleText: n(), styleDim: fg("#8a8a8a", "7"), styleBold: n().Bold(true),
		styleHead: fg("#87afd7", "12").Bold(true), styleKey: fg("#56B4E9", "14").Bold(true),
		styleRecovering: fg("#56B4E9", "14").Bold(true), styleClear: fg("#009E73", "10").Bold(true), styleUnknown: n().Bold(true),
		styleGood: fg("#009E73", "10"), styleRefused: fg("#D55E00", "9"), styleFailed: fg("#CC79A7", "13"), styleRetry: fg("#E69F00", "11"),
		styleFloor: fg("#a8842c", "3"), styleBorder: fg("#5f5f5f", "8"),
		styleHeat1: fg("#8a6a4a", "8"), styleHeat2: fg("#c0603a", "3"), styleHeat3: fg("#E07B39", "9"), styleHeat4: fg("#F3B04C", "11"), styleHeat5: fg("#FBEFA9", "15"),
	}
}

func lightTheme(n func() lipgloss.Style) [styles]lipgloss.Style {
	fg := func(hex, ansi16 string) lipgloss.Style { return n().Foreground(tone(hex, ansi16)) }
	return [styles]lipgloss.Style{
		styleText: n(), styleDim: fg("#6c6c6c", "8"), styleBold: n().Bold(true),
		styleHead: fg("#005f87", "4").Bold(true), styleKey: fg("#005f87", "4").Bold(true),
		styleRecovering: fg("#0072B2", "4").Bold(true), styleClear: fg("#00735c", "2").Bold(true), styleUnknown: n().Bold(true),
		styleGood: fg("#00735c", "2"), styleRefused: fg("#b34a00", "1"), styleFailed: fg("#8f3f6f", "5"), styleRetry: fg("#9a6700", "3"),
		styleFloor: fg("#9a6700", "3"), styleBorder: fg("#9e9e9e", "7"),
		styleHeat1: fg("#a0764a", "3"), styleHeat2: fg("#a4581f", "1"), styleHeat3: fg("#8a3a14", "1"), styleHeat4: fg("#66240f", "5"), styleHeat5: fg("#3a0f08", "0"),
	}
}

// bands are the filled rows of both coloured themes.
func bands(n func() lipgloss.Style, t *[styles]lipgloss.Style) {
	on := func(ink, hex, ink16, ansi16 string) lipgloss.Style {
		return n().Bold(true).Foreground(tone(ink, ink16)).Background(tone(hex, ansi16))
	}
	t[styleStorm] = on("#ffffff", "#B34A00", "15", "1")
	t[styleOverload] = on("#000000", "#CC79A7", "0", "5")
	t[styleWatch] = on("#000000", "#E69F00", "0", "3")
	t[styleInvalid] = on("#ffffff", "#B34A00", "15", "1")
	t[styleSelected] = n().Reverse(true)
}

// monoTheme uses weight and reverse video only.
func monoTheme(n func() lipgloss.Style) [styles]lipgloss.Style {
	t := [styles]lipgloss.Style{}
	for i := range t {
		t[i] = n()
	}
	for _, s := range []style{styleBold, styleHead, styleKey, styleRecovering, styleClear, styleUnknown, styleRefused} {
		t[s] = n().Bold(true)
	}
	for _, s := range []style{styleDim, styleBorder, styleFloor} {
		t[s] = n().Faint(true)
	}
	for _, s := range []style{styleStorm, styleOverload, styleWatch, styleInvalid, styleSelected} {
		t[s] = n().Reverse(true).Bold(s != styleSelected)
	}
	return t
}

// newPalette resolves a theme ("dark", "light", "mono"; anything else asks the
// terminal for its background, which Bubble Tea has done at start) for an output
// and a colour mode ("always", "never"; anything else obeys NO_COLOR,
// CLICOLOR_FORCE and what the terminal can do).
func newPalette(w io.Writer, theme, color string, ascii bool) *palette {
	if w == nil {
		w = io.Discard
	}
	r := lipgloss.NewRenderer(w)
	switch color {
	case "never":
		r.SetColorProfile(termenv.Ascii)
	case "always":
		r.SetColorProfile(forced(w))
	}
	light := theme == "light"
	if theme != "light" && theme != "dark" && theme != "mono" {
		light = !lipgloss.HasDarkBackground()
	}
	var t [styles]lipgloss.Style
	switch {
	case theme == "mono":
		t = monoTheme(r.NewStyle)
	case light:
		t = lightTheme(r.NewStyle)
		bands(r.NewStyle, &t)
	default:
		t = darkTheme(r.NewStyle)
		bands(r.NewStyle, &t)
	}
	p := &palette{ascii: ascii}
	for i := range t {
		open, _, _ := strings.Cut(t[i].Render("§"), "§")
		p.open[i] = open
	}
	return p
}

// forced is the best profile the environment names, at least 256 colours.
func forced(w io.Writer) termenv.Profile {
	p := termenv.NewOutput(w, termenv.WithTTY(true)).ColorProfile()
	if p == termenv.Ascii || p == termenv.ANSI {
		p = termenv.ANSI256
	}
	return p
}
