package report

import (
	"strings"
	"unicode/utf8"
)

// wide are the ranges of characters that a terminal gives two columns (Unicode
// Standard Annex 11, East Asian Width W and F, version 15.1; gaps within a block
// are taken with it).
var wide = [...][2]rune{
	{0x1100, 0x115f},
	{0x231a, 0x231b},
	{0x2329, 0x232a},
	{0x23e9, 0x23ec},
	{0x25fd, 0x25fe},
	{0x2614, 0x2615},
	{0x2648, 0x2653},
	{0x26a1, 0x26a1},
	{0x2705, 0x2705},
	{0x274c, 0x274c},
	{0x2753, 0x2755},
	{0x2795, 0x2797},
	{0x2b1b, 0x2b1c},
	{0x2e80, 0x303e},
	{0x3041, 0xa4cf},
	{0xa960, 0xa97f},
	{0xac00, 0xd7a3},
	{0xf900, 0xfaff},
	{0xfe10, 0xfe19},
	{0xfe30, 0xfe6f},
	{0xff01, 0xff60},
	{0xffe0, 0xffe6},
	{0x16fe0, 0x18cff},
	{0x1aff0, 0x1b2ff},
	{0x1f18e, 0x1f18e},
	{0x1f191, 0x1f19a},
	{0x1f200, 0x1f64f},
	{0x1f680, 0x1f6ff},
	{0x1f7e0, 0x1f7f0},
	{0x1f90c, 0x1f9ff},
	{0x1fa70, 0x1faff},
	{0x20000, 0x3fffd},
}

// columnsOf is how many columns a character takes. Cleaned text holds none that
// take no column.
func columnsOf(r rune) int {
	for _, w := range wide {
		if r < w[0] {
			return 1
		}
		if r <= w[1] {
			return 2
		}
	}
	return 1
}

// width is how many columns a cleaned text takes.
func width(s string) (n int) {
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

// truncate shortens a cleaned text to at most n columns; one that was shortened
// ends in tail, which counts.
func truncate(s string, n int, tail string) string {
	if len(s) <= n { // no character has more columns than bytes
		return s
	}
	room := n - width(tail)
	at, fits := 0, 0
	for i, r := range s {
		c := columnsOf(r)
		if at+c <= room {
			fits = i + utf8.RuneLen(r)
		}
		if at += c; at > n {
			return strings.TrimRight(s[:fits], " ") + tail
		}
	}
	return s
}
