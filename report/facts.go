package report

import (
	"strconv"
	"strings"

	"stormwatch/capture"
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
		facts = append(facts, fact{"cause", causeText(v.Cause)}, fact{"confidence", Confidence(v.Confidence) + lowered(s)})
	}
	if v.Since != 0 {
		facts = append(facts, fact{"since", sinceText(s)})
	}
	facts = append(facts, fact{"who", v.Who}, fact{"at the end", Sizes(s)}, fact{"do first", v.Do}, fact{"do not", v.Dont})
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

// sinceText tells the onset, how long it has lasted where it goes on, and the trend.
func sinceText(s *detect.Snapshot) string {
	v := &s.Verdict
	text := since(v.Since, v.SinceCensored, Start(s), date)
	if lasted := s.At - v.Since; lasted > 0 && !v.SinceCensored && v.Trend != "ended" {
		text += " (" + span(lasted) + ")"
	}
	if v.Trend != "" {
		text += ", " + v.Trend
	}
	return text
}

// Confidence tells how sure something is, in a number and a word: "0.93 high".
func Confidence(c float64) string { return score(c) + " " + Sure(c) }

// Lossy is the share of units lost from which a loss is worth a word.
const Lossy = 0.01

// LossOf is the share of a source's units that were dropped or could not be read,
// and whether there are any.
func LossOf(h *capture.Health) (lost detect.Number, any bool) {
	n := float64(h.Dropped) + float64(h.Unreadable())
	all := float64(h.Read) + float64(h.Dropped)
	if all == 0 {
		return detect.Number{}, false
	}
	return detect.Some(min(n/all, 1)), n > 0
}

// Lost is how much is missing of the primary source that misses most; unknown where
// that is too little to matter.
func Lost(s *detect.Snapshot) (worst detect.Number) {
	for i := range s.Sources {
		lost, _ := LossOf(&s.Sources[i].Health)
		if s.Sources[i].Primary && lost.V > max(worst.V, Lossy) {
			worst = lost
		}
	}
	return worst
}

// lowered says what lowers a confidence.
func lowered(s *detect.Snapshot) string {
	if lost := Lost(s); Known(lost) {
		return ": " + percent(lost) + " of the input lost"
	}
	return ""
}

// Sizes tells how big it was in the seconds judged last, and how much real work got
// through, with what that was before; "" where the input does not tell.
func Sizes(s *detect.Snapshot) string {
	r := &s.Recent
	var parts []string
	add := func(n, before detect.Number, show func(detect.Number) string, what, was string) {
		if !Known(n) {
			return
		}
		text := show(n) + what
		if Known(before) {
			text += was + show(before)
		}
		parts = append(parts, text)
	}
	add(r.Amplification, r.AmplificationBefore, times, " attempts per request", ", before ")
	add(r.RefusedShare, r.RefusedShareBefore, percent, " refused", ", before ")
	add(r.GoodputPerS, s.Totals.CapacityPerS, perSecond, " served well", " of ")
	return strings.Join(parts, "; ")
}

// filterFact tells what a report leaves out.
func filterFact(s *detect.Snapshot, o Options) fact {
	text := filterText(s, o)
	if text == "" {
		return fact{}
	}
	return fact{"filter", text}
}

// filterText says what the filter leaves of a report; "" where none is on.
func filterText(s *detect.Snapshot, o Options) string {
	switch f := &s.Filtered; {
	case f.Whole:
		text := f.Name + ": the verdict and all below are of " + Count(f.Clients) + " of " + several(f.Of, "client") + ", judged as if there were no others"
		if f.From != 0 {
			text += ", from " + date(f.From) + " UTC" + " on: what came before was no longer kept"
		}
		return text
	case o.Filter != "":
		return o.Filter + ": clients, findings and chains are those that pass; verdict, sums and the timeline are of all"
	}
	return ""
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
	if t.ClientErrors > 0 {
		add("other 4xx", Count(t.ClientErrors)+" ("+percent(partOf(t.ClientErrors, t.Exchanges))+"), no refusals: 404 and the like")
	}
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

// Policy tells a retry policy as what it is, a reading of timing: its name and how
// likely it is. "" where none was read.
func Policy(e *detect.PolicyEstimate) string {
	name := e.Name
	if name == "" {
		name = e.Family
	}
	if name == "" {
		return ""
	}
	return name + " " + score(e.Probability)
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
