package rules

import (
	"math"
	"slices"
	"time"
)

// Signature is one sign of a retry storm, as data. A file that lists several
// scopes makes one Signature of each.
type Signature struct {
	ID             string
	Scope          Scope
	About          string // what it is, for people
	Needs          Needs
	When           string // the condition, as written
	Parts          []PartRule
	Severity       string // "info", "low", "medium", "high" or "critical"
	FalsePositives string // the error rate, and the test that measures it
	Says           string // the sentence, with {feature} in place of values
	Mitigations    []string
	Does           string // of clients: what those who show it do, as in "12 clients retry at once"
	Storm          bool   // where it holds while much is refused and retries are impatient, clients make a storm
	From           string // the file it was read from

	when    condition
	uses    []FeatureID // what when reads
	missing []string    // why it is not judged while one of those has no value
	parts   []quantity
	minima  []minimum
	shown   []Evidence // the rows of a judgement, still without values
	says    []word
	aside   []FeatureID // mentioned only where there is something to tell of them
}

// Needs are the conditions under which a signature can be judged at all.
type Needs struct {
	Clock    time.Duration // the coarsest clock that can show it; 0 takes any
	Evidence string        // "exchanges", or "" where counts of intervals do
	Hints    bool          // response headers must be visible
	Baseline bool          // calm traffic before the incident must have been seen
	Complete string        // "chains": no exchange may be missing, as in a sample; "all": nor successes be left out
	Min      []Minimum     // in the order written
}

// Values of Complete.
const (
	completeChains = "chains"
	completeAll    = "all"
)

// Minimum is a least value, checked before any expression runs.
type Minimum struct {
	Feature string
	Least   float64
}

// PartRule is one summand of a score, as written.
type PartRule struct {
	Name, Points string
	Max          float64
}

// minimum is a Minimum made ready, with the reason to give when it is not met.
type minimum struct {
	id    FeatureID
	least float64
	why   string
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
	Threshold string // the rule's condition on it, as text; "" if none
}

// Judgement is what a signature says of some features.
type Judgement struct {
	Raised   bool
	Score    float64 // 0..1, the sum of the parts
	Parts    []Part
	Severity string
	Says     string
	Evidence []Evidence
}

// Reasons for which no input of this kind will ever do.
const (
	noExchanges = "cannot judge: the input gives counts of intervals, not single attempts"
	noHints     = "cannot judge: no source shows response headers; capture the traffic"
	isSample    = "cannot judge: the input is a sample, in which retries and what they retry are missing"
	noSuccesses = "cannot judge: the log leaves successes out, so that shares mean nothing; log all requests"
	noBaseline  = "cannot judge: no calm traffic was seen before the incident; add an earlier recording, or give --capacity"
)

// Enough tells whether the features suffice to judge, and if not, why: "cannot
// judge" means that this kind of input never will, "too little data" that more
// of it may. It allocates nothing.
func (s *Signature) Enough(v *Values) (ok bool, why string) {
	switch {
	case s.Needs.Evidence == evidenceExchanges && !v.Exchanges:
		return false, noExchanges
	case s.Needs.Hints && !v.SeesHints:
		return false, noHints
	case s.Needs.Complete != "" && v.Sampled:
		return false, isSample
	case s.Needs.Complete == completeAll && v.FailuresOnly:
		return false, noSuccesses
	case s.Needs.Clock > 0 && v.Clock > int64(s.Needs.Clock):
		return false, coarse(s.Needs.Clock)
	case s.Needs.Baseline && (!v.known[Baseline] || v.x[Baseline] == 0):
		return false, noBaseline
	}
	for i := range s.minima {
		if m := &s.minima[i]; !v.known[m.id] || v.x[m.id] < m.least {
			return false, m.why
		}
	}
	for i, id := range s.uses {
		if !v.known[id] {
			return false, s.missing[i]
		}
	}
	return true, ""
}

// coarse gives the reason for the clock. Few clocks occur, so it is built of
// constants where it matters.
func coarse(need time.Duration) string {
	if need == 50*time.Millisecond {
		return "cannot judge: the clock of the input is coarser than 50ms"
	}
	return "cannot judge: the clock of the input is coarser than " + need.String()
}

// Reads tells whether the condition depends on a feature.
func (s *Signature) Reads(id FeatureID) bool { return slices.Contains(s.uses, id) }

// Raised tells whether the signature holds. Enough must have said yes. It
// allocates nothing and runs in tens of nanoseconds (BenchmarkRaised).
func (s *Signature) Raised(v *Values) bool { return s.when(v) }

// Judge tells all of a judgement; its parts, words and evidence are there only
// if the signature holds. Enough must have said yes.
func (s *Signature) Judge(v *Values) Judgement {
	if !s.Raised(v) {
		return Judgement{}
	}
	j := Judgement{Raised: true, Severity: s.Severity, Says: fill(s.says, v)}
	j.Parts, j.Score = s.score(v)
	for _, e := range s.shown {
		if v.known[e.Feature] && (v.x[e.Feature] != 0 || !slices.Contains(s.aside, e.Feature)) {
			e.Value, e.N = v.x[e.Feature], v.n[e.Feature]
			if v.hasP[e.Feature] {
				e.P, e.HasP = v.p[e.Feature], true
			}
			j.Evidence = append(j.Evidence, e)
		}
	}
	return j
}

// score computes the parts. They count in thousandths, so that the sum of what
// is shown is the score and not nearly the score.
func (s *Signature) score(v *Values) (parts []Part, score float64) {
	left := 1000
	parts = make([]Part, 0, len(s.parts))
	for i, points := range s.parts {
		p := Part{Name: s.Parts[i].Name, Max: s.Parts[i].Max}
		if x := points(v); x > 0 { // false for NaN
			n := min(int(math.Round(1000*min(x, p.Max))), left)
			left -= n
			p.Points = float64(n) / 1000
		}
		parts = append(parts, p)
	}
	return parts, float64(1000-left) / 1000
}

// evidence lists what a judgement shows: what the condition compares, what must
// be there at least, what the sentence mentions, and more that the rule names.
func (s *Signature) evidence(clauses []clause, more []FeatureID) {
	show := func(id FeatureID, threshold string) {
		if !slices.ContainsFunc(s.shown, func(e Evidence) bool { return e.Feature == id }) {
			s.shown = append(s.shown, Evidence{Feature: id, Threshold: threshold})
		}
	}
	for _, c := range clauses {
		show(c.feature, c.text)
	}
	for _, m := range s.minima {
		if features[m.id].Boolean {
			show(m.id, features[m.id].Name)
			continue
		}
		show(m.id, features[m.id].Name+" >= "+number(m.least))
	}
	for _, id := range s.uses {
		show(id, "")
	}
	for _, w := range s.says {
		if w.isValue {
			if w.part != 0 && !slices.ContainsFunc(s.shown, func(e Evidence) bool { return e.Feature == w.feature }) {
				s.aside = append(s.aside, w.feature)
			}
			show(w.feature, "")
		}
	}
	for _, id := range more {
		show(id, "")
	}
}
