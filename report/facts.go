package report

import (
	"strconv"
	"strings"

	"stormwatch/detect"
)

// What the written reports say, in words that are not yet made safe for either.

// fact is a label and its text, neither made safe.
type fact struct{ label, text string }

// verdictFacts are what is told of a verdict.
func verdictFacts(s *detect.Snapshot) []fact {
	v := &s.Verdict
	facts := []fact{{"verdict", glyph(v.State) + " " + strings.ToUpper(v.State.String())}}
	if v.State != detect.Unknown {
		facts = append(facts, fact{"cause", causeText(v.Cause)}, fact{"confidence", score(v.Confidence) + ", " + Sure(v.Confidence)})
	}
	if v.Since != 0 {
		text := since(v.Since, v.SinceCensored, date)
		if v.Trend != "" {
			text += "; " + v.Trend
		}
		facts = append(facts, fact{"since", text})
	}
	facts = append(facts, fact{"who", v.Who}, fact{"do first", v.Do}, fact{"do not", v.Dont})
	for _, e := range v.NextEvidence {
		facts = append(facts, fact{"get next", e})
	}
	if s.Start != 0 {
		facts = append(facts, fact{"seen", date(s.Start) + " to " + until(s.Start, max(s.End, s.Start)) + " UTC, " + span(max(s.End-s.Start, 0)) + "; from the " + s.Perspective + "'s side"})
		if s.At != 0 && s.At < s.End-1e9 {
			facts = append(facts, fact{"judged", "up to " + date(s.At) + " UTC, not to the end"})
		}
	}
	return facts
}

// filterFact tells what a report leaves out.
func filterFact(o Options) fact {
	if o.Filter == "" {
		return fact{}
	}
	return fact{"filter", o.Filter + ": clients, findings and chains are those that pass; sums and the timeline are of all"}
}

// totalFacts are the sums over the input.
func totalFacts(s *detect.Snapshot) (facts []fact) {
	t := &s.Totals
	add := func(label, text string) { facts = append(facts, fact{label, text}) }
	add("requests", Count(t.Exchanges))
	if s.ClientCount > 0 {
		add("clients", Count(s.ClientCount))
	}
	add("refused", Count(t.Refused)+" ("+percent(partOf(t.Refused, t.Exchanges))+")")
	add("failed otherwise", Count(max(t.Failed-t.Refused, 0)))
	if Known(t.Amplification) {
		add("logical requests", Count(t.LogicalRequests))
		add("retries", Count(t.Retries)+" ("+percent(t.RetryShare)+" of the traffic)")
		add("attempts per logical request", times(t.Amplification))
	}
	for _, n := range []struct {
		label string
		n     detect.Number
		show  func(detect.Number) string
	}{
		{"attempts per success", t.PerSuccess, times},
		{"requests given up", t.GaveUp, whole},
		{"goodput on average", t.GoodputPerS, perSecond},
		{"capacity", t.CapacityPerS, perSecond},
		{"headroom at the end", t.HeadroomPerS, perSecond},
		{"tipping load", t.TippingPerS, perSecond},
		{"peak in 50 ms", t.Peak50ms, whole},
		{"detected after the onset", t.DetectS, gap},
		{"recovered after", t.RecoverS, gap},
	} {
		if Known(n.n) {
			add(n.label, n.show(n.n))
		}
	}
	for _, f := range []fact{{"refused by", RefusedBy(s)}, {"layers", Layers(&s.Matcher)}, {"evidence of chains", Evidence(&s.Matcher)}, {"limit", limitText(&s.Limit)}} {
		if f.text != "" {
			facts = append(facts, f)
		}
	}
	return facts
}

func whole(n detect.Number) string { return Count(int64(n.V)) }

func partsText(f *detect.Finding) string {
	var parts []string
	for _, part := range f.Parts {
		parts = append(parts, part.Name+" "+score(part.Points)+" of "+score(part.Max))
	}
	return strings.Join(parts, ", ")
}

func signs(c *detect.Client) string {
	if len(c.Signatures) == 0 && c.Victim {
		return "victim"
	}
	return strings.Join(c.Signatures, ", ")
}

// policyText tells a policy as what it is, a reading of timing.
func policyText(e detect.PolicyEstimate) string {
	name := e.Name
	if name == "" {
		name = e.Family
	}
	if name == "" {
		return ""
	}
	return "timing of " + name + ", " + score(e.Probability)
}

func reachText(r detect.Reach) string {
	return Count(r.Clients) + " of " + several(r.Of, "client") + " make " + percent(detect.Some(r.Share)) + " of what need not have been sent"
}

func layersNote(l *detect.Layers) string {
	text := ""
	if l.Proof != "" {
		text = ", told by " + clip(clean(l.Proof), 40)
	}
	if Known(l.Multiplier) {
		text += ", " + times(l.Multiplier) + " in all"
	}
	if Known(l.Worst) {
		text += ", " + times(l.Worst) + " at worst"
	}
	if l.Inferred {
		return text + " (inferred)"
	}
	return text
}

func mostText(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func layerText(l *detect.Layer) string {
	switch {
	case l.Pressure:
		return "the pressure arrives here"
	case !l.Seen:
		return "concluded, not seen"
	}
	return ""
}
