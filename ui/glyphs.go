package ui

import "strings"

// asciiFor returns the stand-in of a rune the console itself draws, for
// terminals without these glyphs; 0 for any other rune. All of them are one
// column wide.
func asciiFor(r rune) byte {
	switch r {
	case '█', '▇', '■':
		return '#'
	case '▆', '▅', '▄':
		return '='
	case '▃', '▂', '▁', '·', '░':
		return '.'
	case '▒':
		return '%'
	case '▓', '✗':
		return 'x'
	case '─', '━', '┄', '–', '—':
		return '-'
	case '┆', '▏', '│':
		return '|'
	case '▲':
		return '!'
	case '●', '◆':
		return '*'
	case '◌':
		return 'o'
	case '✓':
		return '+'
	case '▸', '▶', '→':
		return '>'
	case '←':
		return '<'
	case '‖', '≤':
		return '='
	case '↗', '↑':
		return '^'
	case '↘', '▼', '↓':
		return 'v'
	case '±', '…':
		return '~'
	case 'µ':
		return 'u'
	case '•':
		return '*'
	}
	return 0
}

// writeRune writes one cell.
func (p *palette) writeRune(b *strings.Builder, r rune) {
	switch {
	case r == 0:
		if p.ascii {
			b.WriteByte('?')
		}
	case r < 0x80:
		b.WriteByte(byte(r))
	case !p.ascii:
		b.WriteRune(r)
	case asciiFor(r) != 0:
		b.WriteByte(asciiFor(r))
	default:
		b.WriteByte('?')
	}
}

// eighths are bars of zero to eight eighths of a cell.
func eighths() [9]rune { return [9]rune{' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'} }
