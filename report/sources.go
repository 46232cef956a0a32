package report

import (
	"fmt"
	"strings"

	"stormwatch/capture"
	"stormwatch/detect"
)

// sources writes the table of several sources: what each of them read, and when it
// saw something. Its columns come to 100.
func (p *page) sources(s *detect.Snapshot) {
	if len(s.Sources) < 2 {
		return
	}
	row := func(name, role, read, from, to, clock, offset, silence, lost string) {
		if name = clean(name); width(name) > sourceColumn {
			p.line("  " + truncate(name, columns-2, "…"))
			name = ""
		}
		p.line("  " + strings.Join([]string{
			cell(name, sourceColumn), cell(role, 7), cell(read, -9), cell(from, 10), cell(to, 10), cell(clock, -5), cell(offset, -8), cell(silence, 14), cell(lost, -7),
		}, " "))
	}
	row("SOURCE", "", "READ", "FROM", "TO", "CLOCK", "OFFSET", "SILENT", "LOST")
	for i := range s.Sources {
		src := &s.Sources[i]
		h := &src.Health
		role, clock, offset := "beside", "–", "–"
		if src.Primary {
			role = "counted"
		}
		if h.Resolution > 0 {
			clock = span(h.Resolution)
		}
		if src.OffsetSeconds != 0 {
			offset = fmt.Sprintf("%+.3fs", src.OffsetSeconds)
		}
		from, to := "–", "–"
		if h.From != 0 {
			from, to = sourceTime(h.From, s.Start), sourceTime(h.To, s.Start)
		}
		row(src.Name, role, Count(h.Read), from, to, clock, offset, silence(h, s.Start), Count(h.Dropped+h.Unreadable()))
	}
	p.line("")
}

const sourceColumn = 20

// sourceTime is a time of day, or the day where it is not that of the whole.
func sourceTime(t, day int64) string {
	text, of := date(t), date(day)
	if len(text) >= 16 && len(of) >= 10 && text[:10] == of[:10] {
		return text[11:]
	}
	if len(text) >= 16 {
		return text[5:16]
	}
	return text
}

// silence tells of the longest time in which a source saw nothing, where that is
// long for it: a minute, and a tenth of all.
func silence(h *capture.Health, day int64) string {
	if h.Silence < 60e9 || 10*h.Silence < h.To-h.From {
		return "–"
	}
	return span(h.Silence) + " " + sourceTime(h.SilentAt, day)
}
