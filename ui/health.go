package ui

import (
	"fmt"
	"strings"
	"time"

	"stormwatch/detect"
	"stormwatch/report"
)

// drawHealth draws what the sources could and could not see.
func drawHealth(c *canvas, s *detect.Snapshot, v *view) {
	p := box(c, "Health", "j/k scroll   esc close", true)
	healthPage(s, c.w).draw(p, v.scroll)
}

func healthPage(s *detect.Snapshot, w int) page {
	var p page
	if len(s.Sources) == 0 {
		p.add(styleDim, "no source has reported yet")
		return p
	}
	p.term("in short", 14, w, healthShort(s), styleText)
	for i := range s.Sources {
		p.gap()
		p.source(&s.Sources[i], w)
	}
	return p
}

// healthShort says which sources are less than whole, and what that does to the
// verdict.
func healthShort(s *detect.Snapshot) string {
	var past, ail []string
	for i := range s.Sources {
		if src := &s.Sources[i]; old(s, src) {
			past = append(past, src.Name+": last event "+ago(src.Age)+", so what holds now is not known")
		} else if state, st := sourceState(s, src); st != styleGood {
			ail = append(ail, s.Sources[i].Name+" "+state)
		}
	}
	switch {
	case len(past) > 0 && len(ail) == 0:
		return strings.Join(past, "; ")
	case len(ail) == 0:
		return "every source is up and could be read; what was passed over is listed below"
	}
	return strings.Join(append(past, strings.Join(ail, ", ")+": confidence is lowered by what is lost"), "; ")
}

func (p *page) source(src *detect.Source, w int) {
	const label = 14
	h := &src.Health
	role := "corroborates"
	if src.Primary {
		role = "primary"
	}
	*p = append(*p, line{{fit(src.Name, w*2/3), styleHead}, {"  " + src.Kind + ", seen at " + or(src.Vantage, "an unnamed hop") + ", " + role, styleDim}})
	p.term("  note", label, w, src.Note, styleText)
	for _, n := range h.Notes {
		p.term("  note", label, w, n, styleText)
	}
	if src.OffsetSeconds != 0 {
		p.term("  clock offset", label+2, w, fmt.Sprintf("%+.3f s", src.OffsetSeconds), styleText)
	}
	if h.From != 0 {
		seen := time.Unix(0, h.From).UTC().Format("2006-01-02 15:04:05") + " to " + time.Unix(0, h.To).UTC().Format("2006-01-02 15:04:05")
		if h.Silence >= int64(time.Minute) {
			seen += ", at most silent for " + time.Duration(h.Silence).Round(time.Second).String() + " from " + time.Unix(0, h.SilentAt).UTC().Format("15:04:05")
		}
		p.term("  seen", label, w, seen, styleText)
	}
	p.term("  down", label, w, h.Down, styleRetry)
	unit := or(h.Unit, "units")
	p.term("  read", label, w, fmt.Sprintf("%s %s, %s of them used", report.Count(h.Read), unit, report.Count(h.Used)), styleText)
	p.term("  dropped", label, w, report.Count(h.Dropped)+" by the kernel before they could be read", lossStyle(h.Dropped))
	p.term("  skipped", label, w, report.Count(h.SkippedTotal())+" "+unit, lossStyle(h.SkippedTotal()))
	for _, k := range h.Skipped {
		text := report.Count(k.Count) + "  " + k.Reason
		if k.Sound {
			text += " (in order: nothing is lost by it)"
		}
		p.term("", label, w, text, styleText)
		for _, e := range k.Examples {
			p.term("", label+2, w, "e.g. "+e, styleDim)
		}
	}
	for _, k := range h.Bounds {
		p.term("  bound", label, w, report.Count(k.Count)+"  "+k.Reason, styleRetry)
		for _, e := range k.Examples[:min(len(k.Examples), 1)] {
			p.term("", label+2, w, "e.g. "+e, styleDim)
		}
	}
	for _, loss := range []struct {
		name string
		n    uint64
		text string
	}{
		{"  copies", h.Copies, unit + " captured twice, counted once"},
		{"  repeated", h.Repeated, unit + " sent again, in whole or in part"},
		{"  gaps", h.GapBytes, "bytes lost inside connections"},
		{"  late", h.Late, "exchanges came after their second was judged"},
		{"  clock steps", h.ClockSteps, "times the input's clock went backwards"},
		{"  encrypted", h.Encrypted, "connections that could not be read"},
		{"  refused", h.Rejected, "connections, answered by a reset"},
		{"  cut", h.Cut, "connections of which too little was captured to read a message"},
		{"  QUIC", h.QUIC, "packets that cannot be read"},
		{"  unasked", h.Unasked, "answers by which servers closed idle connections"},
		{"  behind it", h.Retries, "attempts that the logging hop itself made, as its lines declare"},
	} {
		if loss.n > 0 {
			p.term(loss.name, label, w, report.Count(loss.n)+" "+loss.text, styleRetry)
		}
	}
	for _, remark := range []struct {
		on         bool
		name, text string
	}{
		{h.Crowded, "  crowded", "nearly all requests come from one or two addresses though another field tells clients apart: what one client did cannot be told"},
		{h.FailuresOnly, "  failures", "the input leaves successes out: shares of failures mean nothing"},
		{h.Sampled > 0, "  sampled", percent(detect.Some(h.Sampled)) + " of the exchanges are in the input"},
		{src.Unsure, "  unsure", "not counted for its name or its kind alone"},
	} {
		if remark.on {
			p.term(remark.name, label, w, remark.text, styleRetry)
		}
	}
	if h.Truncated {
		p.term("  truncated", label, w, "the input ends inside a record", styleRetry)
	}
	p.term("  sees", label, w, strings.Join(sees(src), ", "), styleText)
}

// sees lists what the source can show, and what not.
func sees(src *detect.Source) []string {
	h := &src.Health
	clock := "clock resolution unknown"
	if h.Resolution > 0 {
		clock = "clock to " + time.Duration(h.Resolution).String()
	}
	hints, ports := "no waits named by the server", "no connections"
	if h.SeesHints {
		hints = "waits named by the server"
	}
	if h.SeesPorts {
		ports = "connections"
	}
	return []string{clock, hints, ports}
}

func lossStyle(n uint64) style {
	if n > 0 {
		return styleRetry
	}
	return styleDim
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
