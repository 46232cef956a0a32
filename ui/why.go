package ui

import (
	"strings"

	"stormwatch/detect"
	"stormwatch/report"
)

// drawWhy draws the evidence behind the verdict.
func drawWhy(c *canvas, s *detect.Snapshot, v *view) {
	p := box(c, "Why", "j/k scroll   esc close", true)
	whyPage(s, c.w).draw(p, v.scroll)
}

// whyPage explains each finding: what was measured against which threshold, how
// the score adds up, how often the rule errs; then what could not be judged.
func whyPage(s *detect.Snapshot, w int) page {
	const label = 10
	var p page
	p.term("verdict", label, w, strings.Join([]string{s.Verdict.State.String(), "cause " + s.Verdict.Cause.String(), s.Verdict.What}, "; "), styleText)
	if s.Verdict.State != detect.Unknown {
		p.term("sure", label, w, report.Confidence(s.Verdict.Confidence)+sureBecause(s), styleText)
	}
	if len(s.Verdict.NextEvidence) > 0 {
		for i, e := range s.Verdict.NextEvidence {
			name := ""
			if i == 0 {
				name = "get next"
			}
			p.term(name, label, w, e, styleText)
		}
	}
	if len(s.Findings) == 0 {
		p.gap()
		p.add(styleText, "No signature is raised.")
	}
	if len(s.Growth) > 0 {
		p.gap()
		p.add(styleHead, "What grew most since before the incident")
		for i := range s.Growth[:min(len(s.Growth), 5)] {
			p.term("", 2, w, growthText(&s.Growth[i]), styleText)
		}
	}
	for i := range s.Findings {
		p.gap()
		p.finding(&s.Findings[i], s, w)
	}
	if len(s.NotJudged) > 0 {
		p.gap()
		p.add(styleHead, "Not judged")
		for _, n := range s.NotJudged {
			p.term(n.Signature, 26, w, n.Reason, styleText)
		}
	}
	return p
}

// sureBecause says on what the confidence rests.
func sureBecause(s *detect.Snapshot) string {
	text := ": from " + report.Count(s.Totals.Exchanges) + " requests seen"
	if s.Verdict.State > detect.Recovering && len(s.Findings) > 0 {
		text = ": half for what is counted, the rest by the score of the strongest finding"
	}
	if loss := lossText(s); loss != "" {
		return text + "; lowered" + loss
	}
	return text
}

func (p *page) finding(f *detect.Finding, s *detect.Snapshot, w int) {
	const label = 10
	st := severityStyle(f)
	*p = append(*p, line{
		{score(f.Score) + " " + meter(f.Score, 5) + " ", st},
		{f.Signature, st},
		{"  " + f.Severity.String() + ", scope " + f.Scope + ", confidence " + report.Confidence(f.Confidence), styleDim},
	})
	p.term("", 2, w, f.Says, styleText)
	when := since(f.Onset, s.At, f.OnsetCensored, report.Start(s))
	if f.Detected != 0 {
		when += ", detected " + clock(f.Detected)
	}
	if !f.Active() {
		when += ", ended " + clock(f.Ended)
	}
	p.term("  when", label, w, when, styleText)
	who := "the whole population"
	if f.ClientCount > 0 {
		who = countClients(f.ClientCount)
	}
	if len(f.Clients) > 0 {
		who += ": " + strings.Join(f.Clients[:min(len(f.Clients), 6)], ", ")
	}
	for _, more := range []string{f.Agent, f.Route, f.Layer} {
		if more != "" {
			who += "; " + more
		}
	}
	p.term("  who", label, w, who, styleText)
	p.term("  rule", label, w, f.When, styleText)
	p.term("  errs", label, w, f.FalsePositives, styleDim)
	for i := range f.Evidence {
		p.evidence(&f.Evidence[i], w)
	}
	for i, part := range f.Parts {
		name := ""
		if i == 0 {
			name = "  parts"
		}
		p.term(name, label, w, score(part.Points)+" of "+score(part.Max)+" "+meter(part.Points/max(part.Max, 1e-9), 5)+" "+part.Name, styleText)
	}
	if len(f.Parts) > 1 {
		p.term("", label, w, score(f.Score)+" in all, 1.00 at most", styleDim)
	}
	p.term("  read at", label, w, strings.Join(f.At, ", "), styleDim)
}

func (p *page) evidence(e *detect.Evidence, w int) {
	text := report.Figure(e.Value, e.Unit)
	if e.Threshold != "" {
		text += " (" + e.Threshold + ")"
	}
	if e.N > 0 {
		text += ", n " + report.Count(e.N)
	}
	if report.Known(e.P) {
		text += ", p " + report.Figure(e.P.V, "")
	}
	if e.Meaning != "" {
		text += "; " + e.Meaning
	}
	p.term("  "+e.Name, max(18, min(width(e.Name)+4, w/3)), w, text, styleText)
}
