package sustain

import (
	"math"
	"slices"
)

// window is the sum of some seconds.
type window struct {
	seconds                       int
	first, ended, failed, refused int64 // of first attempts
	attempts, retries, good       int64
	allRefused, impatient         int64
	allFailed                     int64
}

func (w *window) add(s *Second) {
	w.first += s.First
	w.ended += s.FirstEnded
	w.failed += s.FirstFailed
	w.refused += s.FirstRefused
	w.attempts += s.Attempts
	w.retries += s.Retries
	w.good += s.Good
	w.allRefused += s.Refused
	w.impatient += s.Impatient
	w.allFailed += s.Failed
}

// share is the failing share of first attempts; 0 without an outcome.
func (w *window) share() float64 { return ratio(w.failed, w.ended) }

// calm tells whether first attempts succeed; a silence is calm, requests without
// any outcome are not.
func (w *window) calm() bool {
	if w.ended == 0 {
		return w.first == 0
	}
	return w.share() <= calmShare
}

func ratio(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

func (w *window) per(n int64) float64 {
	if w.seconds == 0 {
		return 0
	}
	return float64(n) / float64(w.seconds)
}

const (
	// Limits of signatures-trial, rising-share-after-burst, step 1.
	baseSeconds = 60 // calm seconds behind the base at most
	baseFewest  = 5
)

// baseline is the demand in calm: the median of first attempts per second.
type baseline struct {
	ring       [baseSeconds]int64
	n          int // admitted, without bound
	median, sd float64
}

func (b *baseline) known() bool { return b.n >= baseFewest }
func (b *baseline) count() int  { return min(b.n, baseSeconds) }

// admit takes a calm second.
func (b *baseline) admit(first int64) {
	b.ring[b.n%baseSeconds] = first
	b.n++
	var sorted [baseSeconds]float64
	v := sorted[:b.count()]
	for i := range v {
		v[i] = float64(b.ring[i])
	}
	b.median = median(v)
	for i := range v {
		v[i] = math.Abs(v[i] - b.median)
	}
	// 1.4826 MAD estimates the sd of normal data; counts have at least sqrt(mean).
	b.sd = max(math.Sqrt(max(b.median, 1)), 1.4826*median(v))
}

// median sorts v and returns its middle.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	m := len(v) / 2
	if len(v)%2 == 1 {
		return v[m]
	}
	return (v[m-1] + v[m]) / 2
}
