package report

import (
	"fmt"
	"strings"

	"stormwatch/detect"
)

func (p *page) mitigations(s *detect.Snapshot, o Options) {
	if len(s.Mitigations) == 0 {
		return
	}
	p.head("What to do", "in this order")
	for i := range s.Mitigations {
		if i > 0 {
			p.line("")
		}
		p.mitigation(i+1, &s.Mitigations[i], o.Snippets)
	}
	if !o.Snippets {
		p.line("")
		p.line("  --snippets adds the configuration for each; so does stormwatch rules show ID")
	}
}

func (p *page) mitigation(n int, m *detect.Mitigation, snippets bool) {
	const indent, label = 5, 9
	p.term(2, fmt.Sprint(n), 3, strings.ToUpper(m.When)+"  "+m.Title+"  ["+m.ID+"]")
	p.term(indent, "who", label, m.Who)
	if e := m.Effect; e != nil {
		p.term(indent, "effect", label, fmt.Sprintf("predicted: requests %s, peak in 50 ms %s, p95 %s s, goodput %s/s",
			between(e.Requests), between(e.Peak50ms), between(e.P95S), between(e.GoodputPerS)))
	}
	p.term(indent, "expect", label, m.Expect)
	p.term(indent, "risk", label, m.Risk)
	p.term(indent, "do not", label, m.Dont)
	p.term(indent, "undo", label, m.Undo)
	p.term(indent, "check", label, m.Check)
	p.term(indent, "stop", label, m.Stop)
	p.term(indent, "because", label, strings.Join(m.Because, ", "))
	if !snippets {
		return
	}
	for _, sn := range m.Snippets {
		p.line("")
		p.line("     " + clean(sn.For) + ":")
		for line := range strings.SplitSeq(strings.TrimRight(sn.Text, "\n"), "\n") {
			p.line("       " + clean(strings.ReplaceAll(line, "\t", "    ")))
		}
	}
}

func between(r [2]float64) string { return Figure(r[0], "") + " to " + Figure(r[1], "") }
