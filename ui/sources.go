package ui

import (
	"fmt"
	"strings"
	"time"

	"stormwatch/capture"
	"stormwatch/detect"
	"stormwatch/report"
)

// drawSources draws every input: when it saw what, and what it lost.
func drawSources(c *canvas, s *detect.Snapshot, v *view) {
	p := box(c, "Sources "+report.Count(len(s.Sources)), "j/k scroll   H all that was counted", true)
	sourcesPage(s, p.w).draw(p, v.scroll)
}

// sourcesPage has a row of figures for each source and, below it, what it is.
func sourcesPage(s *detect.Snapshot, w int) (p page) {
	if len(s.Sources) == 0 {
		p.add(styleDim, "  no source has reported yet")
		return p
	}
	name := 12
	for i := range s.Sources {
		name = max(name, width(s.Sources[i].Name))
	}
	name = min(name, max(w-68, 12))
	p.sourceRow(name, styleDim, "", "SOURCE", "FROM – TO UTC", "OFFSET", "READ", "USED", "GAP B", "DROP", "SKIP", piece{"STATE", styleDim})
	for i := range s.Sources {
		src := &s.Sources[i]
		h := &src.Health
		text, st := sourceState(s, src)
		mark, offset := " ", unknown
		if src.Primary {
			mark = "*"
		}
		if src.OffsetSeconds != 0 {
			offset = offsetText(src.OffsetSeconds)
		}
		p.sourceRow(name, styleText, mark, src.Name, spanText(h), offset, count(h.Read), count(h.Used), count(h.GapBytes), count(h.Dropped), count(h.SkippedTotal()), piece{text, st})
		if old(s, src) {
			p.term("", 4, w, "last event "+ago(src.Age)+", by this machine's clock: nothing of it is known to hold now", styleRetry)
		}
		p.term("", 4, w, sourceNote(src), styleDim)
		p.term("", 4, w, h.Down, styleRefused)
		p.term("", 4, w, src.Note, styleText)
		for _, n := range h.Notes {
			p.term("", 4, w, n, styleRetry)
		}
	}
	p.gap()
	p.term("*", 4, w, "primary: its requests make the totals; the others corroborate", styleDim)
	p.term("", 4, w, "OFFSET is how far its clock is ahead of the primary's; GAP B are bytes lost inside connections; READ, DROP and SKIP count its own units", styleDim)
	return p
}

func (p *page) sourceRow(name int, st style, mark, source, seen, offset, read, used, gaps, drop, skip string, state piece) {
	cell := func(s string, w int) string { return strings.Repeat(" ", max(w-width(s), 0)) + fit(s, w) }
	text := pad(mark, 2) + pad(source, name) + " " + pad(seen, 17) + " " + cell(offset, 8)
	for _, n := range []string{read, used, gaps, drop, skip} {
		text += " " + cell(n, 5)
	}
	*p = append(*p, line{{text + " ", st}, state})
}

func count(n uint64) string { return short(int64(min(n, 1<<62))) }

func offsetText(v float64) string {
	if v < 1000 && v > -1000 {
		return fmt.Sprintf("%+.3fs", v)
	}
	return fmt.Sprintf("%+.0fs", v)
}

// spanText is when a source saw its first and its last exchange.
func spanText(h *capture.Health) string {
	if h.From == 0 {
		return "nothing yet"
	}
	return clock(h.From) + "–" + clock(h.To)
}

// sourceNote says what a source is and what it can show.
func sourceNote(src *detect.Source) string {
	h := &src.Health
	text := or(src.Kind, "source") + " seen at " + or(src.Vantage, "an unnamed hop")
	if src.Unsure {
		by := "name"
		if src.Vantage == src.Kind {
			by = "kind"
		}
		text += " (by its " + by + " alone)"
	}
	text += "; counts " + or(h.Unit, "units") + "; " + strings.Join(sees(src), ", ")
	if h.Silence >= int64(time.Minute) {
		text += "; silent for " + span(h.Silence) + " from " + clock(h.SilentAt)
	}
	if report.Known(src.PerRequest) {
		text += "; " + times(src.PerRequest) + " of the primary's requests"
	}
	return text
}

const idleAfter = 10 * second // a live source silent for this long is told

// sourceState says whether a source can be relied on now.
func sourceState(s *detect.Snapshot, src *detect.Source) (string, style) {
	h := &src.Health
	lost, _ := report.LossOf(h)
	switch {
	case h.Down != "":
		return "DOWN", styleRefused
	case old(s, src):
		return "OLD " + span(src.Age), styleRetry
	case s.Live && src.Quiet > idleAfter:
		return "IDLE " + span(src.Quiet), styleRetry
	case report.Known(lost) && lost.V > report.Lossy:
		return "LOSSY " + percent(lost), styleRetry
	case h.Encrypted > 0 && h.Used == 0:
		return "SEALED", styleRetry
	case h.Read == 0:
		return "empty", styleRetry
	}
	return "ok", styleGood
}
