package report

import (
	"io"
	"strings"

	"stormwatch/detect"
)

// Brief writes at most five lines, to be pasted into a chat: the verdict, who,
// what to do, what not to do, and the size of it or, when the verdict is unsure,
// what to fetch next.
func Brief(w io.Writer, s *detect.Snapshot, o Options) error {
	s = prepared(s, o)
	const longest = 240 // columns of a line: what a chat shows without folding
	v := &s.Verdict
	var p page
	head := glyph(v.State) + " " + strings.ToUpper(v.State.String())
	if v.State != detect.Unknown {
		head += " (cause: " + causeText(v.Cause) + "; confidence " + Confidence(v.Confidence) + lowered(s) + ")"
	}
	if v.Since != 0 {
		head += " since " + sinceText(s)
	}
	if v.What != "" {
		head += ": " + v.What
	}
	p.line(paint(clip(head, longest), v.State, o.Color))
	who := v.Who
	if sizes := Sizes(s); who != "" && sizes != "" {
		who = strings.TrimSuffix(who, ".") + "; at the end " + sizes
	}
	for _, l := range []struct{ name, text string }{{"who", who}, {"do", v.Do}, {"do not", v.Dont}} {
		if l.text != "" {
			p.line(clip(l.name+": "+l.text, longest))
		}
	}
	if len(v.NextEvidence) > 0 && v.Confidence < .8 {
		p.line(clip("next: "+v.NextEvidence[0], longest))
	} else if size := briefSize(s); size != "" {
		p.line(clip("size: "+size, longest))
	}
	return write(w, &p.Buffer, o)
}

func briefSize(s *detect.Snapshot) string {
	t := &s.Totals
	if t.Exchanges == 0 {
		return ""
	}
	size := several(t.Exchanges, "request") + ", " + Count(t.Refused) + " refused"
	if Known(t.Amplification) {
		size += ", " + Count(t.Retries) + " retries, " + times(t.Amplification) + " attempts per logical request"
	}
	return size + ", " + clock(s.Start) + " to " + until(s.Start, max(s.End, s.Start)) + " UTC"
}
