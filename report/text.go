package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"stormwatch/detect"
)

// width of the text report, in characters.
const width = 100

// Text writes the report that a person reads: the verdict and what to do first,
// then the proof.
func Text(w io.Writer, s *detect.Snapshot, o Options) error {
	b := bufio.NewWriter(w)
	p := &page{b}
	p.verdict(s)
	p.numbers(s)
	p.findings(s)
	p.clients(s, o)
	p.mitigations(s, o)
	p.sources(s)
	return b.Flush()
}

// page writes lines; errors stay in its bufio.Writer until Flush.
type page struct{ w *bufio.Writer }

func (p *page) line(format string, args ...any) {
	fmt.Fprintf(p.w, format, args...)
	p.w.WriteByte('\n')
}

// pair writes a label and a text, folded below each other.
func (p *page) pair(label, text string) {
	if text == "" {
		return
	}
	const indent = 12
	for i, l := range fold(clean(text), width-indent) {
		if i > 0 {
			label = ""
		}
		p.line("%-*s%s", indent, label, l)
	}
}

// fold breaks a text into lines of at most n characters, between words where it
// can.
func fold(s string, n int) (lines []string) {
	line := []rune{}
	for _, f := range strings.Fields(s) {
		w := []rune(f)
		if len(line) > 0 && len(line)+1+len(w) > n {
			lines, line = append(lines, string(line)), nil
		}
		if len(line) > 0 {
			line = append(line, ' ')
		}
		for len(w) > n {
			lines, w = append(lines, string(w[:n])), w[n:]
		}
		line = append(line, w...)
	}
	return append(lines, string(line))
}

// Headline is the verdict in one line.
func Headline(s *detect.Snapshot) string {
	v := &s.Verdict
	b := strings.ToUpper(v.State.String())
	if v.Cause != detect.CauseNone {
		b += "  cause " + v.Cause.String()
	}
	if v.State != detect.Unknown {
		b += fmt.Sprintf("  confidence %.2f %s", v.Confidence, word(v.Confidence))
	}
	if v.Since != 0 {
		mark := "since "
		if v.SinceCensored {
			mark = "since <= "
		}
		b += "  " + mark + utc(v.Since).Format("2006-01-02 15:04:05Z")
		if v.SinceCensored {
			b += " (input starts here)"
		}
	}
	if v.Trend != "" {
		b += "  " + v.Trend
	}
	return b
}

func (p *page) verdict(s *detect.Snapshot) {
	v := &s.Verdict
	p.line("%s", Headline(s))
	p.pair("what", v.What)
	p.pair("who", v.Who)
	p.pair("do first", v.Do)
	p.pair("do not", v.Dont)
	for _, n := range v.NextEvidence {
		p.pair("fetch next", n)
	}
	p.line("")
}

func (p *page) numbers(s *detect.Snapshot) {
	t := &s.Totals
	if s.Start != 0 {
		p.line("%-12s%s to %s", "window", utc(s.Start).Format("2006-01-02 15:04:05.000Z"), utc(s.End).Format("15:04:05.000Z"))
	}
	if t.Amplification.Known {
		p.line("%-12s%d exchanges for %d requests (%s attempts each), %d retries (%s), %d refused", "traffic",
			t.Exchanges, t.LogicalRequests, rate(t.Amplification, "x"), t.Retries, percent(t.RetryShare), t.Refused)
	} else {
		p.line("%-12s%d exchanges, %d refused; retries are not known", "traffic", t.Exchanges, t.Refused)
	}
	p.line("%-12sserved %s now, %s at best; peak %s arrivals in 50 ms", "rates",
		rate(t.GoodputPerS, "/s"), rate(t.CapacityPerS, "/s"), rate(t.Peak50ms, ""))
	p.line("")
}

func (p *page) findings(s *detect.Snapshot) {
	for i := range s.Findings {
		p.finding(&s.Findings[i])
	}
	if len(s.Findings) == 0 {
		p.line("no signature found")
	}
	for _, n := range s.NotJudged {
		p.pair("not judged", n.Signature+": "+n.Reason)
	}
	p.line("")
}

func (p *page) finding(f *detect.Finding) {
	p.line("%4.2f %-8s %s (%s)", f.Score, f.Severity, f.Signature, f.Scope)
	p.pair("  says", f.Says)
	var parts []string
	for _, q := range f.Parts {
		parts = append(parts, fmt.Sprintf("%s %.3f of %.1f", q.Name, q.Points, q.Max))
	}
	p.pair("  score", strings.Join(parts, " + "))
	p.pair("  rule", f.When)
	p.pair("  errors", f.FalsePositives)
	p.pair("  when", span(f))
	switch {
	case len(f.Clients) > 0:
		p.pair("  clients", fmt.Sprintf("%d: %s", f.ClientCount, strings.Join(f.Clients[:min(len(f.Clients), 8)], " ")))
	case f.ClientCount > 0:
		p.pair("  clients", fmt.Sprintf("%d, the whole population", f.ClientCount))
	}
	if f.Agent != "" {
		p.pair("  agent", f.Agent)
	}
	p.pair("  route", f.Route)
	p.pair("  seen at", strings.Join(f.At, ", "))
}

// span tells when a finding began, was detected, and ended.
func span(f *detect.Finding) string {
	mark := ""
	if f.OnsetCensored {
		mark = "<= "
	}
	text := fmt.Sprintf("onset %s%s, detected %s", mark, clock(f.Onset), clock(f.Detected))
	if f.Ended != 0 {
		text += ", ended " + clock(f.Ended)
	}
	return text
}

func (p *page) clients(s *detect.Snapshot, o Options) {
	if len(s.Clients) == 0 {
		return
	}
	top := o.Top
	if top <= 0 {
		top = 10
	}
	p.line("clients (%d), by what could have been avoided", s.ClientCount)
	p.line("  %-24s %-20s %6s %6s %6s %6s %8s %6s %s", "client", "agent", "att", "ok", "429", "amp", "gap", "early", "signatures")
	for i := range s.Clients[:min(top, len(s.Clients))] {
		c := &s.Clients[i]
		signs := strings.Join(c.Signatures, ",")
		if c.Victim {
			signs = "victim"
		}
		p.line("  %-24s %-20s %6d %6d %6d %6s %8s %6s %s", clip(c.Label, 24), clip(c.Agent, 20), c.Attempts, c.OK, c.Refused,
			rate(c.Amplification, "x"), gap(c.GapMedianS), percent(c.EarlyShare), clip(signs, 40))
	}
	if n := s.ClientCount - min(top, len(s.Clients)); n > 0 {
		p.line("  and %d more", n)
	}
	p.line("")
}

func gap(n detect.Number) string {
	if !n.Known {
		return "–"
	}
	return fmt.Sprintf("%.3fs", n.V)
}

func (p *page) mitigations(s *detect.Snapshot, o Options) {
	for i := range s.Mitigations {
		m := &s.Mitigations[i]
		p.line("%d. [%s] %s", i+1, m.When, m.Title)
		p.pair("   who", m.Who)
		p.pair("   expect", m.Expect)
		p.pair("   risk", m.Risk)
		p.pair("   do not", m.Dont)
		p.pair("   undo", m.Undo)
		p.pair("   check", m.Check)
		p.pair("   because", strings.Join(m.Because, ", "))
		for _, sn := range m.Snippets {
			if !o.Snippets {
				break
			}
			p.line("   -- %s", sn.For)
			for l := range strings.Lines(sn.Text) {
				p.line("   %s", strings.TrimRight(l, "\n"))
			}
		}
	}
	if len(s.Mitigations) > 0 {
		p.line("")
	}
}

func (p *page) sources(s *detect.Snapshot) {
	for i := range s.Sources {
		p.source(&s.Sources[i])
	}
}

func (p *page) source(src *detect.Source) {
	h := &src.Health
	text := fmt.Sprintf("%s (%s): %d of %d %s used", src.Name, src.Kind, h.Used, h.Read, h.Unit)
	for _, c := range []struct {
		n    uint64
		what string
	}{
		{h.Dropped, "dropped by the kernel"}, {h.GapBytes, "bytes lost in gaps"}, {h.Late, "late"},
		{h.ClockSteps, "steps back of the clock"}, {h.Encrypted, "encrypted connections"},
	} {
		if c.n > 0 {
			text += fmt.Sprintf(", %d %s", c.n, c.what)
		}
	}
	if h.Truncated {
		text += ", cut off inside a record"
	}
	p.pair("source", text)
	for _, k := range h.Skipped {
		example := ""
		if len(k.Examples) > 0 {
			example = ", e.g. " + clip(k.Examples[0], 100)
		}
		p.pair("  skipped", fmt.Sprintf("%d: %s%s", k.Count, k.Reason, example))
	}
	p.pair("  note", src.Note)
}

// Brief writes the verdict in at most five lines, to be pasted into a chat.
func Brief(w io.Writer, s *detect.Snapshot, _ Options) error {
	b := bufio.NewWriter(w)
	v := &s.Verdict
	fmt.Fprintln(b, clip(Headline(s), 200))
	for _, l := range [][2]string{{"what: ", v.What}, {"who: ", v.Who}, {"do first: ", v.Do}, {"do not: ", v.Dont}} {
		if l[1] != "" {
			fmt.Fprintln(b, l[0]+clip(l[1], 200))
		}
	}
	return b.Flush()
}
