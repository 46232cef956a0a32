package report

import (
	"io"
	"strings"

	"stormwatch/detect"
)

// Text writes the report that someone woken at night reads: the verdict and what
// to do first, then the proof, what could not be judged, who, the mitigations,
// and how far the input can be trusted. It is 100 columns wide.
func Text(w io.Writer, s *detect.Snapshot, o Options) error {
	s = prepared(s, o)
	var p page
	p.verdict(s, o)
	p.totals(s)
	p.marks(s)
	p.findings(s)
	p.notJudged(s)
	p.clients(s, o)
	p.reach(s)
	p.growth(s)
	p.layers(s)
	p.habits(s)
	p.mitigations(s, o)
	p.input(s, o)
	return write(w, &p.Buffer, o)
}

const labels = 10 // columns of the labels

func (p *page) verdict(s *detect.Snapshot, o Options) {
	v := &s.Verdict
	line := glyph(v.State) + " " + strings.ToUpper(v.State.String())
	if v.What != "" {
		line += "  " + clean(v.What)
	}
	for i, part := range wrap(line, columns-2) {
		if i > 0 {
			part = "  " + part
		}
		p.line(paint(part, v.State, o.Color))
	}
	p.line("")
	if v.State != detect.Unknown {
		p.term(0, "cause", labels, causeText(v.Cause)+"; confidence "+Confidence(v.Confidence)+lowered(s)+ofWhat(v))
	}
	if v.Since != 0 {
		p.term(0, "since", labels, sinceText(s))
	}
	p.term(0, "filter", labels, filterText(s, o))
	p.term(0, "who", labels, v.Who)
	p.term(0, "do first", labels, v.Do)
	p.term(0, "do not", labels, v.Dont)
	for i, e := range v.NextEvidence {
		label := ""
		if i == 0 {
			label = "get next"
		}
		p.term(0, label, labels, e)
	}
}

// ofWhat says what a confidence is of where it could be taken for that of a cause.
func ofWhat(v *detect.Verdict) string {
	if v.Cause != detect.CauseUnknown {
		return ""
	}
	return " (of the word; the cause is not known)"
}

// causeText is the cause in words.
func causeText(c detect.Cause) string {
	switch c {
	case detect.CauseUnknown:
		return "not known"
	case detect.CauseClients:
		return "the clients' behaviour"
	case detect.CauseLoop:
		return "a loop that sustains itself"
	case detect.CauseDraining:
		return "a backlog that drains"
	case detect.CauseCapacity:
		return "capacity, not behaviour"
	case detect.CauseServer:
		return "the server's own faults"
	case detect.CauseMixed:
		return "behaviour and capacity, mixed"
	case detect.CauseNone:
	}
	return "none"
}

// paint colours a line by state: SGR of the 16 standard colours (ECMA-48).
func paint(line string, s detect.State, on bool) string {
	if !on {
		return line
	}
	code := "1"
	switch s {
	case detect.Storm:
		code = "1;31"
	case detect.Overloaded, detect.Watch, detect.Recovering:
		code = "1;33"
	case detect.Clear:
		code = "1;32"
	case detect.Unknown:
	}
	return "\x1b[" + code + "m" + line + "\x1b[0m"
}

func (p *page) totals(s *detect.Snapshot) {
	t := &s.Totals
	if s.Start == 0 {
		return
	}
	p.head("Seen", date(s.Start)+" to "+until(s.Start, max(s.End, s.Start))+" UTC, "+span(max(s.End-s.Start, 0)))
	text := several(t.Exchanges, "request")
	if s.ClientCount > 0 {
		text += " of " + several(s.ClientCount, "client")
	}
	text += ", " + Count(t.Refused) + " refused, " + Count(max(t.Failed-t.Refused, 0)) + " failed otherwise"
	if t.ClientErrors > 0 {
		text += ", " + Count(t.ClientErrors) + " other 4xx (no refusals)"
	}
	p.term(2, "requests", labels, text)
	if s.Perspective == detect.PerspectiveClient {
		p.term(2, "view", labels, "from the client's side: a client here is a host that is called, and the credential it is called by")
	}
	if Known(t.Amplification) {
		text = Count(t.Retries) + " (" + percent(t.RetryShare) + " of the traffic); " + times(t.Amplification) + " attempts per logical request"
		if Known(t.PerSuccess) {
			text += ", " + times(t.PerSuccess) + " per success"
		}
		if Known(t.GaveUp) {
			text += "; " + Count(int64(t.GaveUp.V)) + " gave up"
		}
		p.term(2, "retries", labels, text)
	}
	p.behind(s)
	p.term(2, "limit", labels, limitText(&s.Limit))
	var rates []string
	for _, r := range []struct {
		name, when string
		n          detect.Number
	}{
		{"goodput", " on average", t.GoodputPerS},
		{"capacity", "", t.CapacityPerS},
		{"headroom", " at the end", t.HeadroomPerS},
		{"tipping load", "", t.TippingPerS},
	} {
		if Known(r.n) {
			rates = append(rates, r.name+" "+perSecond(r.n)+r.when)
		}
	}
	if Known(t.Peak50ms) {
		rates = append(rates, "peak "+Count(int64(t.Peak50ms.V))+" in 50 ms")
	}
	p.term(2, "rates", labels, strings.Join(rates, ", "))
	if Known(t.DetectS) {
		p.term(2, "detected", labels, gap(t.DetectS)+" after the onset")
	}
}
