package ui

import (
	"fmt"
	"strings"

	"stormwatch/capture"
	"stormwatch/detect"
	"stormwatch/report"
)

const freshChange = 2 * second // a change of state this old is still news

// PlainLine tells a Snapshot in one line, for logs, screen readers and terminals
// that cannot be drawn on: time of day (UTC), the state, or the change of state
// where there was one within two seconds of event time, the findings that hold
// with their scores, sizes, and who. Unknown numbers are left out.
//
//	03:12:40 WATCH->STORM lockstep 0.96 hint-ignored 0.91 | confidence 0.93 high | refused 79% amp 4.7x goodput 39/s | 388 of 430 clients in step
func PlainLine(s *detect.Snapshot) string {
	head := clock(s.At) + " " + change(s)
	if s.At == 0 {
		head = "--:--:-- " + change(s)
	}
	for i := range s.Findings {
		if f := &s.Findings[i]; f.Active() && f.Severity > detect.Info {
			head += " " + f.Signature + " " + score(f.Score)
		}
	}
	parts := []string{head}
	if s.Verdict.State != detect.Unknown {
		parts = append(parts, "confidence "+report.Confidence(s.Verdict.Confidence))
	} else if s.Verdict.What != "" {
		parts = append(parts, s.Verdict.What)
	}
	if age := stale(s); age != 0 {
		parts = append(parts, "last event "+ago(age))
	}
	if sizes := plainSizes(&s.Recent); sizes != "" {
		parts = append(parts, sizes)
	}
	if s.Verdict.Who != "" {
		parts = append(parts, s.Verdict.Who)
	}
	if s.Verdict.State >= detect.Watch && s.Verdict.Do != "" {
		parts = append(parts, "do: "+s.Verdict.Do)
	}
	return capture.Clean(strings.Join(parts, " | "))
}

// ChangeLines tells the changes of state after a moment, a line each, and the
// moment of the last. PlainLine tells that one where it is still news.
//
//	03:12:46 CLEAR->STORM
func ChangeLines(s *detect.Snapshot, after int64) (lines []string, last int64) {
	last = after
	for i := range s.Events {
		e := &s.Events[i]
		if e.Kind != "state" || e.At <= last {
			continue
		}
		last = e.At
		before, now, _ := strings.Cut(e.Text, " -> ")
		lines = append(lines, clock(e.At)+" "+strings.ToUpper(before)+"->"+strings.ToUpper(now))
	}
	if len(lines) > 0 && strings.Contains(change(s), "->") {
		lines = lines[:len(lines)-1]
	}
	return lines, last
}

func plainSizes(r *detect.Recent) string {
	var out []string
	for _, n := range []struct {
		known bool
		text  string
	}{
		{report.Known(r.RefusedShare), "refused " + percent(r.RefusedShare)},
		{report.Known(r.Amplification), "amp " + times(r.Amplification)},
		{report.Known(r.GoodputPerS), "goodput " + perSecond(r.GoodputPerS)},
	} {
		if n.known {
			out = append(out, n.text)
		}
	}
	return strings.Join(out, " ")
}

// change is the state's word, with the one before it if it has just changed.
func change(s *detect.Snapshot) string {
	now := s.Verdict.State.String()
	for i := len(s.Events) - 1; i >= 0; i-- {
		e := &s.Events[i]
		if e.Kind != "state" || e.At > s.At {
			continue
		}
		before, after, ok := strings.Cut(e.Text, " -> ")
		if ok && after == now && s.At-e.At <= freshChange {
			return fmt.Sprintf("%s->%s", strings.ToUpper(before), strings.ToUpper(now))
		}
		break
	}
	return strings.ToUpper(now)
}
