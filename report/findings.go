package report

import (
	"strings"

	"stormwatch/detect"
)

func (p *page) findings(s *detect.Snapshot) {
	p.head("Findings", "")
	if len(s.Findings) == 0 {
		p.line("  no signature is raised")
	}
	for i := range s.Findings {
		if i > 0 {
			p.line("")
		}
		p.finding(&s.Findings[i])
	}
}

func (p *page) finding(f *detect.Finding) {
	const indent, label = 6, 10
	p.term(2, score(f.Score), 6, f.Signature+"  "+f.Severity.String()+", scope "+f.Scope+
		", confidence "+Confidence(f.Confidence))
	p.term(indent, "", 2, f.Says)
	p.term(indent, "when", label, findingTimes(f))
	p.term(indent, "who", label, findingWho(f))
	p.term(indent, "rule", label, f.When)
	for i := range f.Evidence {
		name := ""
		if i == 0 {
			name = "measured"
		}
		p.term(indent, name, label, evidenceText(&f.Evidence[i]))
	}
	var parts []string
	for _, part := range f.Parts {
		parts = append(parts, part.Name+" "+score(part.Points)+" of "+score(part.Max))
	}
	p.term(indent, "score", label, strings.Join(parts, ", "))
	p.term(indent, "errs", label, f.FalsePositives)
	p.term(indent, "read at", label, strings.Join(f.At, ", "))
	p.term(indent, "see", label, strings.Join(f.Mitigations, ", "))
}

func findingTimes(f *detect.Finding) string {
	text := "since " + since(f.Onset, f.OnsetCensored, inputStarts, clock)
	if f.Detected != 0 {
		text += ", detected " + clock(f.Detected)
		if d := f.Detected - f.Onset; d > 0 && f.Onset != 0 && !f.OnsetCensored {
			text += " (" + span(d) + " later)"
		}
	}
	if f.Active() {
		return text + ", still holds at the end"
	}
	return text + ", ended " + clock(f.Ended)
}

const maxNamed = 8 // clients named under a finding; the table tells more

func findingWho(f *detect.Finding) string {
	who := "the whole population"
	if f.ClientCount > 0 {
		who = several(f.ClientCount, "client")
	}
	if n := min(len(f.Clients), maxNamed); n > 0 {
		named := make([]string, n)
		for i := range named {
			named[i] = clip(f.Clients[i], 40)
		}
		who += ": " + strings.Join(named, ", ")
		if more := f.ClientCount - n; more > 0 {
			who += " and " + Count(more) + " more"
		}
	}
	for _, more := range []struct{ name, text string }{{"agent", f.Agent}, {"route", f.Route}, {"layer", f.Layer}} {
		if more.text != "" {
			who += "; " + more.name + " " + clip(more.text, 120)
		}
	}
	return who
}

func evidenceText(e *detect.Evidence) string {
	text := e.Name + " " + Figure(e.Value, e.Unit)
	if e.Threshold != "" {
		text += " (" + e.Threshold + ")"
	}
	if e.N > 0 {
		text += ", n " + Count(e.N)
	}
	if Known(e.P) {
		text += ", p " + Figure(e.P.V, "")
	}
	if e.Meaning != "" {
		text += ": " + e.Meaning
	}
	return text
}

func (p *page) notJudged(s *detect.Snapshot) {
	if len(s.NotJudged) == 0 {
		return
	}
	p.head("Not judged", "")
	var missing []string // what more data may bring: their reasons in full are in the JSON
	shared := map[string][]string{}
	for _, n := range s.NotJudged {
		shared[n.Reason] = append(shared[n.Reason], n.Signature)
	}
	width := 0
	var own []detect.NotJudged
	for _, n := range s.NotJudged {
		switch all := shared[n.Reason]; {
		case strings.HasPrefix(n.Reason, tooLittle):
			missing = append(missing, n.Signature)
		case len(all) < manyAlike:
			own = append(own, n)
			width = max(width, min(len(n.Signature), 30))
		}
	}
	for _, n := range own {
		p.term(2, n.Signature, width+2, n.Reason)
	}
	for _, n := range s.NotJudged {
		all := shared[n.Reason]
		if len(all) >= manyAlike && n.Signature == all[0] && !strings.HasPrefix(n.Reason, tooLittle) {
			p.term(2, cannotJudge, len(cannotJudge)+2, strings.Join(all, ", ")+": "+strings.TrimPrefix(n.Reason, cannotJudge+": "))
		}
	}
	if len(missing) > 0 {
		p.term(2, tooLittle, len(tooLittle)+2, strings.Join(missing, ", "))
	}
}

const (
	cannotJudge = "cannot judge"
	manyAlike   = 4 // signatures whose common reason is told once
)

// tooLittle begins the reasons that more of the same input may remove.
const tooLittle = "too little data"
