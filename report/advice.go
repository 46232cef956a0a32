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
