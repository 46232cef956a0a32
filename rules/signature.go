package rules

import (
	"fmt"
	"math"
	"strings"
)

// Signature is one sign of a retry storm, as data.
type Signature struct {
	ID             string
	Scope          Scope
	About          string // what it is, for people
	Needs          Needs
	When           string // the condition, as written
	Severity       string
	FalsePositives string // the error rate, and the test that measures it
	Says           string
	Mitigations    []string

	when  *condition
	parts []part
	says  []word
	min   []minimum
}

// part is one summand of the score.
type part struct {
	name   string
	points *condition
	max    float64
}

// minimum is a least value that is checked before any expression runs.
type minimum struct {
	id    FeatureID
	least float64
}

// Part is one summand of a judgement's score.
type Part struct {
	Name        string
	Points, Max float64
}

// Evidence is a feature behind a judgement.
type Evidence struct {
	Feature   FeatureID
	Value     float64
	N         int64
	P         float64
	HasP      bool
	Threshold string
}

// Judgement is what a signature says of some features.
type Judgement struct {
	Raised   bool
	Score    float64 // the sum of the parts
	Parts    []Part
	Severity string
	Says     string
	Evidence []Evidence
}

// Enough tells whether the features suffice to judge, and if not, why.
func (s *Signature) Enough(v *Values) (ok bool, why string) {
	switch {
	case s.Needs.Evidence == "exchanges" && !v.Exchanges:
		return false, "cannot judge: the input gives counts of intervals, not single attempts"
	case s.Needs.Hints && !v.SeesHints:
		return false, "cannot judge: no source shows response headers; capture the traffic, or log the Retry-After header"
	case s.Needs.Clock > 0 && v.Clock > int64(s.Needs.Clock):
		return false, "cannot judge: the clock of the input is coarser than " + s.Needs.Clock.String()
	case s.Needs.Baseline && v.known[Baseline] && v.x[Baseline] == 0:
		return false, "cannot judge: no calm traffic before the incident; add an earlier recording, or give --capacity"
	}
	for _, m := range s.min {
		if !v.known[m.id] || v.x[m.id] < m.least {
			return false, s.tooLittle(m, v)
		}
	}
	if id, ok := s.when.known(v); !ok {
		return false, "not measured: " + features[id].Name + " (" + features[id].Meaning + ")"
	}
	return true, ""
}

func (s *Signature) tooLittle(m minimum, v *Values) string {
	f := features[m.id]
	return fmt.Sprintf("too little data: %s is %s, %s needed", f.Meaning, number(v.x[m.id]), number(m.least))
}

// Raised tells whether the signature holds. Enough must have said yes.
func (s *Signature) Raised(v *Values) bool { return s.when.bool(v) }

// Judge tells all of a judgement. Enough must have said yes.
func (s *Signature) Judge(v *Values) Judgement {
	j := Judgement{Raised: s.Raised(v), Severity: s.Severity, Says: s.fill(v)}
	for _, p := range s.parts {
		x := 0.0
		if _, ok := p.points.known(v); ok {
			x = min(max(p.points.number(v), 0), p.max, 1-j.Score)
		}
		x = math.Round(x*1000) / 1000
		j.Parts = append(j.Parts, Part{p.name, x, p.max})
		j.Score = math.Round((j.Score+x)*1000) / 1000
	}
	seen := [featureCount]bool{}
	show := func(id FeatureID, threshold string) {
		if !seen[id] && v.known[id] {
			seen[id] = true
			j.Evidence = append(j.Evidence, Evidence{Feature: id, Value: v.x[id], N: v.n[id], Threshold: threshold})
		}
	}
	for _, id := range s.when.uses {
		show(id, s.threshold(id))
	}
	for _, m := range s.min {
		show(m.id, features[m.id].Name+" >= "+number(m.least))
	}
	return j
}

// threshold is the part of the condition that speaks of a feature.
func (s *Signature) threshold(id FeatureID) string {
	name := features[id].Name
	for clause := range strings.SplitSeq(s.When, "&&") {
		clause = strings.TrimSpace(clause)
		if after, ok := strings.CutPrefix(clause, name); ok && after != "" && strings.ContainsRune(" <>=!", rune(after[0])) {
			return clause
		}
	}
	return ""
}

// word is literal text, or a feature to be written in its place.
type word struct {
	text    string
	feature FeatureID
	isValue bool
	percent bool
}

// parseSays reads a sentence in which {name} stands for a feature's value, and
// {name%} for the same in per cent.
func parseSays(text string) ([]word, error) {
	var out []word
	for text != "" {
		open := strings.IndexByte(text, '{')
		if open < 0 {
			return append(out, word{text: text}), nil
		}
		end := strings.IndexByte(text[open:], '}')
		if end < 0 {
			return nil, fmt.Errorf("says: a { without its }")
		}
		name, percent := strings.CutSuffix(text[open+1:open+end], "%")
		id, ok := featureByName(name)
		if !ok {
			return nil, fmt.Errorf("says: unknown feature %q", name)
		}
		out = append(out, word{text: text[:open]}, word{feature: id, isValue: true, percent: percent})
		text = text[open+end+1:]
	}
	return out, nil
}

func (s *Signature) fill(v *Values) string {
	var b strings.Builder
	for _, w := range s.says {
		switch {
		case !w.isValue:
			b.WriteString(w.text)
		case !v.known[w.feature]:
			b.WriteString("–")
		case w.percent:
			b.WriteString(number(100*v.x[w.feature]) + " %")
		default:
			b.WriteString(number(v.x[w.feature]) + unit(features[w.feature].Unit))
		}
	}
	return b.String()
}

func unit(u string) string {
	switch u {
	case "", "clients", "sd":
		return ""
	}
	return u
}

// number writes a value with as many digits as a reader can use.
func number(x float64) string {
	switch a := math.Abs(x); {
	case a >= 100 || x == math.Trunc(x):
		return fmt.Sprintf("%.0f", x)
	case a >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}
