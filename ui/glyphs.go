package ui

import (
	"strings"

	"stormwatch/report"
)

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
	case report.ASCII(r) != 0:
		b.WriteByte(report.ASCII(r))
	default:
		b.WriteByte('?')
	}
}

// eighths are bars of zero to eight eighths of a cell.
func eighths() [9]rune { return [9]rune{' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'} }
