package report

import (
	"strings"

	"stormwatch/capture"
	"stormwatch/detect"
)

// input tells what was read, and what of it could not be used.
func (p *page) input(s *detect.Snapshot, o Options) {
	note := ""
	if o.Version != "" {
		note = "stormwatch " + o.Version
	}
	p.head("Input", note)
	if len(s.Sources) == 0 {
		p.line("  no source")
	}
	p.sources(s)
	for i := range s.Sources {
		src := &s.Sources[i]
		h := &src.Health
		p.term(2, clip(src.Name, 40), 0, "("+src.Kind+"): "+healthText(h))
		p.term(4, "down", 6, h.Down)
		p.term(4, "note", 6, src.Note)
		for _, n := range h.Notes {
			p.term(4, "note", 6, n)
		}
		for _, k := range h.Skipped {
			text := Count(k.Count) + "  " + k.Reason
			if len(k.Examples) > 0 {
				text += ", e.g. " + clip(k.Examples[0], 160)
			}
			p.term(4, "skipped", 9, text)
		}
		for _, k := range h.Bounds {
			p.term(4, "bound", 9, Count(k.Count)+"  "+k.Reason)
		}
	}
}

func healthText(h *capture.Health) string {
	unit := h.Unit
	if unit == "" {
		unit = "units"
	}
	parts := []string{Count(h.Read) + " " + unit + " read, " + Count(h.Used) + " used"}
	for _, loss := range []struct {
		n    uint64
		text string
	}{
		{h.Dropped, "dropped by the kernel"},
		{h.Copies, "captured twice, counted once"},
		{h.Repeated, "sent again"},
		{h.GapBytes, "bytes lost inside connections"},
		{h.Late, "came late"},
		{h.ClockSteps, "steps of the clock"},
		{h.Encrypted, "connections encrypted"},
		{h.Rejected, "connections refused"},
		{h.Cut, "connections cut too short to be read"},
		{h.QUIC, "packets of QUIC: cannot be read"},
		{h.Unasked, "answers that nobody asked for"},
		{h.Retries, "retries by the logging hop itself"},
	} {
		if loss.n > 0 {
			parts = append(parts, Count(loss.n)+" "+loss.text)
		}
	}
	if h.Truncated {
		parts = append(parts, "ends inside a record")
	}
	if h.Resolution > 0 {
		parts = append(parts, "clock "+span(h.Resolution))
	}
	switch {
	case h.Used == 0: // nothing was seen at all
	case h.SeesHints:
		parts = append(parts, "sees Retry-After")
	default:
		parts = append(parts, "cannot see Retry-After")
	}
	return strings.Join(parts, "; ")
}
