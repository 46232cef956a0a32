package report

import (
	"cmp"
	"slices"

	"stormwatch/detect"
)

// Kinds of the events that people add to those the engine finds.
const (
	Mark     = "mark"     // of an events file: a deploy, a change of a limit
	Bookmark = "bookmark" // set in the console
)

// WithMarks returns s with events of people among its own, in order of time. s
// itself stays as it is.
func WithMarks(s *detect.Snapshot, marks []detect.Event) *detect.Snapshot {
	if len(marks) == 0 {
		return s
	}
	out := *s
	out.Events = slices.Concat(s.Events, marks)
	slices.SortStableFunc(out.Events, func(a, b detect.Event) int { return cmp.Compare(a.At, b.At) })
	return &out
}

func marked(e *detect.Event) bool { return e.Kind == Mark || e.Kind == Bookmark }

// eventText tells an event without its time.
func eventText(e *detect.Event) string {
	switch {
	case e.Text == "":
		return e.Kind
	case e.Kind == Mark:
		return e.Text
	}
	return e.Kind + ": " + e.Text
}

// fromOnset tells how far an event is from the verdict's onset; "" where that is
// not known.
func fromOnset(e *detect.Event, v *detect.Verdict) string {
	switch d := e.At - v.Since; {
	case v.Since == 0 || v.SinceCensored:
		return ""
	case d < 0:
		return span(-d) + " before the onset"
	case d > 0:
		return span(d) + " after the onset"
	}
	return "at the onset"
}

// marks writes what people marked, beside when it all began.
func (p *page) marks(s *detect.Snapshot) {
	told := false
	for i := range s.Events {
		e := &s.Events[i]
		if !marked(e) {
			continue
		}
		if !told {
			told = true
			p.head("Marks", "")
		}
		text := eventText(e)
		if d := fromOnset(e, &s.Verdict); d != "" {
			text += "  (" + d + ")"
		}
		p.term(2, date(e.At), 21, text)
	}
}

type jsonEvent struct {
	At   moment `json:"at"`
	Kind text   `json:"kind"`
	Text text   `json:"text"`
}

func eventOf(e *detect.Event) jsonEvent { return jsonEvent{moment(e.At), text(e.Kind), text(e.Text)} }
