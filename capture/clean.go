package capture

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes a text that came from traffic safe to show: control characters,
// bytes that are no UTF-8, and characters that hide or reorder text become a
// middle dot, so that an attempt to repaint the screen stays visible as such.
// It is the one sanitiser of every output.
func Clean(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c >= 0x7f {
			return clean(s, i)
		}
	}
	return s
}

func clean(s string, from int) string {
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:from])
	for i := from; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if r == utf8.RuneError && n == 1 || hides(r) {
			r = '·'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// hides tells whether a character moves the cursor, is invisible, or changes the
// order of what follows: C0, DEL, C1, zero width, bidirectional controls, line
// and paragraph separators, tags and private use.
func hides(r rune) bool {
	if r < 0x20 || r >= 0x7f && r < 0xa0 {
		return true
	}
	return r > 0x7f && unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs, unicode.Mn, unicode.Me, unicode.Other_Default_Ignorable_Code_Point)
}
