package report

// ASCII returns the stand-in of a character that reports and the console draw themselves, for
// terminals without these glyphs; 0 for any other rune. All of them are one
// column wide.
func ASCII(r rune) byte {
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
	case '←', '≤':
		return '<'
	case '‖':
		return '='
	case '↗', '↑':
		return '^'
	case '↘', '▼', '↓':
		return 'v'
	case '±', '…', '≈':
		return '~'
	case 'µ':
		return 'u'
	case '×':
		return 'x'
	case '•':
		return '*'
	}
	return 0
}

// plain spells a report in ASCII; characters of the traffic become a question
// mark for each column.
func plain(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range string(text) {
		switch c := ASCII(r); {
		case r < 0x80:
			out = append(out, byte(r))
		case c != 0:
			out = append(out, c)
		default:
			out = append(out, "??"[:columnsOf(r)]...)
		}
	}
	return out
}
