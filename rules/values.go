package rules

import "math"

// Values are the features of one subject at one moment. The zero Values know
// nothing. They are dense, so that setting and reading them allocates nothing.
type Values struct {
	Clock     int64 // clock resolution in nanoseconds
	Exchanges bool  // single exchanges are known, not only counts of intervals
	SeesHints bool  // response headers are visible

	Sampled      bool // exchanges are missing from the input
	FailuresOnly bool // successes are

	x, p        [featureCount]float64
	n           [featureCount]int64
	known, hasP [featureCount]bool
}

// Reset forgets all features; the context stays.
func (v *Values) Reset() { v.known = [featureCount]bool{} }

// Set gives a feature its value, measured on n. A value that is not a finite
// number counts as not measured: no rule may be decided by a division by zero.
func (v *Values) Set(id FeatureID, x float64, n int64) {
	v.x[id], v.n[id], v.hasP[id] = x, n, false
	v.known[id] = !math.IsNaN(x) && !math.IsInf(x, 0)
}

// SetP gives a feature its value, measured on n, and the probability of a value
// as extreme by chance alone.
func (v *Values) SetP(id FeatureID, x float64, n int64, p float64) {
	v.Set(id, x, n)
	v.p[id], v.hasP[id] = p, p >= 0 && p <= 1
}

// Get returns a feature's value and what it was measured on.
func (v *Values) Get(id FeatureID) (x float64, n int64, known bool) {
	return v.x[id], v.n[id], v.known[id]
}
