package report

import (
	"io"
	"math"
	"strconv"
	"strings"

	"stormwatch/detect"
)

// OpenMetrics writes the Snapshot as metrics in the text format of OpenMetrics 1.0
// (also that of Prometheus): the verdict, sums, rates of the last seconds,
// findings, the clients to act on first, and the health of each source. Counters
// count from the start of the input. There are no time stamps: a recording's are
// not those of the scrape. What is not known is left out.
func OpenMetrics(w io.Writer, s *detect.Snapshot, o Options) error {
	s = prepared(s, o)
	var m metrics
	m.verdict(s, o)
	m.totals(s)
	m.found(s)
	top := o.Top
	if top <= 0 {
		top = defaultTop
	}
	m.clients(topped(s, top))
	for i := range s.Sources {
		m.source(&s.Sources[i])
	}
	return m.write(w, o)
}

// family is a metric with its samples.
type family struct {
	name, kind, help string
	samples          []string
	told             map[string]int // samples by labels: no two may have the same
}

// metrics are families in the order in which they were first told: the format
// wants the samples of one together.
type metrics struct {
	list  []*family
	named map[string]*family
}

// add adds a sample; labels are names and values by turns.
func (m *metrics) add(name, kind, help string, v detect.Number, labels ...string) {
	if !Known(v) {
		return
	}
	name = "stormwatch_" + name
	f := m.named[name]
	if f == nil {
		if m.named == nil {
			m.named = map[string]*family{}
		}
		f = &family{name: name, kind: kind, help: help, told: map[string]int{}}
		m.named[name] = f
		m.list = append(m.list, f)
	}
	at := name
	if kind == "counter" {
		at += "_total"
	}
	f.samples = append(f.samples, at+braced(f.distinct(labelText(labels)))+" "+metricValue(v.V))
}

// labelText joins names and values by turns.
func labelText(labels []string) string {
	var b strings.Builder
	for i := 0; i+1 < len(labels); i += 2 {
		if labels[i+1] == "" {
			continue // an empty label is none
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(labels[i] + `="` + escLabel(labels[i+1]) + `"`)
	}
	return b.String()
}

// distinct numbers the second sample with the same labels, and those after it: two
// clients or sources may look alike once their names are cut and made clean, and
// OpenMetrics takes no two samples of a family with one set of labels.
func (f *family) distinct(labels string) string {
	f.told[labels]++
	n := f.told[labels]
	if n == 1 {
		return labels
	}
	return strings.TrimPrefix(labels+`,namesake="`+strconv.Itoa(n)+`"`, ",")
}

func braced(labels string) string {
	if labels == "" {
		return ""
	}
	return "{" + labels + "}"
}

// metricValue rounds as the JSON report does, so that the last bits of a sum do
// not show.
func metricValue(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	if math.Abs(v) < 1e12 {
		v = math.Round(v*1e6) / 1e6
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// escLabel escapes a label's value (OpenMetrics 1.0, "escaped-string").
func escLabel(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(clip(s, longest))
}

func (m *metrics) gauge(name, help string, v detect.Number, labels ...string) {
	m.add(name, "gauge", help, v, labels...)
}

func (m *metrics) counter(name, help string, n uint64, labels ...string) {
	m.add(name, "counter", help, detect.Some(float64(n)), labels...)
}

func (m *metrics) verdict(s *detect.Snapshot, o Options) {
	v := &s.Verdict
	for state := detect.Unknown; state <= detect.Storm; state++ {
		m.gauge("state", "1 for the state of the verdict, 0 for the others", detect.Some(float64(btoi(state == v.State))), "state", state.String())
	}
	m.gauge("verdict", "1, with what the verdict says in labels", detect.Some(1),
		"state", v.State.String(), "cause", v.Cause.String(), "trend", v.Trend, "perspective", s.Perspective, "version", o.Version)
	if v.State != detect.Unknown {
		m.gauge("confidence", "confidence of the verdict, 0 to 1", detect.Some(v.Confidence))
	}
	for _, t := range []struct {
		name, help string
		ns         int64
	}{
		{"since_seconds", "onset of what the verdict names, Unix time; the input's start where it began earlier", v.Since},
		{"judged_until_seconds", "time of the input up to which was judged, Unix time", s.At},
	} {
		m.gauge(t.name, t.help, detect.Number{V: float64(t.ns) / 1e9, Known: t.ns != 0})
	}
}

func (m *metrics) totals(s *detect.Snapshot) {
	t, r := &s.Totals, &s.Recent
	count := func(name, help string, n int64) { m.counter(name, help, uint64(max(n, 0))) }
	count("exchanges", "requests seen, with or without an answer", t.Exchanges)
	count("refused", "requests refused: 429, 503, a used-up quota", t.Refused)
	count("failed", "requests that failed, the refused among them", t.Failed)
	count("succeeded", "requests answered well", t.Succeeded)
	if t.Amplification.Known {
		count("logical_requests", "requests without their retries", t.LogicalRequests)
		count("retries", "attempts after the first", t.Retries)
	}
	m.gauge("clients", "clients seen", detect.Some(float64(s.ClientCount)))
	for _, g := range []struct {
		name, help string
		n          detect.Number
	}{
		{"amplification_ratio", "attempts per logical request, over all of the input", t.Amplification},
		{"goodput_per_second", "requests answered well per second, over all of the input", t.GoodputPerS},
		{"capacity_per_second", "what the server can serve", t.CapacityPerS},
		{"headroom_per_second", "capacity that is left", t.HeadroomPerS},
		{"tipping_load_per_second", "demand from which retries sustain themselves", t.TippingPerS},
		{"peak_50ms_requests", "most arrivals in 50 ms", t.Peak50ms},
		{"recent_attempts_per_second", "attempts per second, over the last seconds judged", r.AttemptsPerS},
		{"recent_first_per_second", "first attempts per second, over the last seconds judged", r.FirstPerS},
		{"recent_goodput_per_second", "requests answered well per second, over the last seconds judged", r.GoodputPerS},
		{"recent_refused_ratio", "share of answers that refuse, over the last seconds judged", r.RefusedShare},
		{"recent_retry_ratio", "share of attempts that are retries, over the last seconds judged", r.RetryShare},
		{"incident_amplification_ratio", "attempts per logical request since the onset, else of the last seconds", r.Amplification},
	} {
		m.gauge(g.name, g.help, g.n)
	}
}

// found tells the findings that hold at the end of the input.
func (m *metrics) found(s *detect.Snapshot) {
	for i := range s.Findings {
		f := &s.Findings[i]
		if !f.Active() {
			continue
		}
		labels := []string{"signature", f.Signature, "scope", f.Scope, "severity", f.Severity.String(), "route", f.Route, "agent", f.Agent, "layer", f.Layer}
		m.gauge("finding_score", "score of a signature that is raised, 0 to 1", detect.Some(f.Score), labels...)
		m.gauge("finding_clients", "clients a raised signature is about; 0 is all", detect.Some(float64(f.ClientCount)), labels...)
	}
	m.gauge("not_judged", "signatures that could not be judged", detect.Some(float64(len(s.NotJudged))))
}

func (m *metrics) clients(s *detect.Snapshot) {
	for i := range s.Clients {
		c := &s.Clients[i]
		labels := []string{"client", c.Label, "name", c.Name, "agent", c.Agent}
		m.counter("client_attempts", "attempts of those clients that sent most for nothing", uint64(max(c.Attempts, 0)), labels...)
		m.counter("client_refused", "of these, refused", uint64(max(c.Refused, 0)), labels...)
		m.gauge("client_avoidable_per_second", "attempts per second that waiting, jitter and a cap would not have sent", c.AvoidablePerS, labels...)
	}
}

func (m *metrics) source(src *detect.Source) {
	h := &src.Health
	unit := h.Unit
	if unit == "" {
		unit = "units"
	}
	labels := []string{"source", src.Name, "kind", src.Kind, "unit", unit}
	m.counter("source_read", "packets, lines or samples read", h.Read, labels...)
	m.counter("source_used", "of these, used", h.Used, labels...)
	m.counter("source_dropped", "packets that the kernel dropped", h.Dropped, labels...)
	m.counter("source_late", "exchanges that came after their second was judged", h.Late, labels...)
	m.counter("source_gap_bytes", "bytes lost inside connections", h.GapBytes, labels...)
	for _, k := range h.Skipped {
		m.counter("source_skipped", "passed over, by reason", k.Count, append(labels, "reason", k.Reason)...)
	}
	for _, k := range h.Bounds {
		m.counter("source_bound", "bounds that were reached, by what was given up", k.Count, append(labels, "reason", k.Reason)...)
	}
	m.gauge("source_up", "0 while the source gives nothing", detect.Some(float64(btoi(h.Down == ""))), labels...)
}

func (m *metrics) write(w io.Writer, o Options) error {
	var p page
	for _, f := range m.list {
		p.line("# HELP " + f.name + " " + f.help)
		p.line("# TYPE " + f.name + " " + f.kind)
		for _, line := range f.samples {
			p.line(line)
		}
	}
	p.line("# EOF")
	return write(w, &p.Buffer, o)
}
