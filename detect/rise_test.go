package detect

import (
	"testing"

	"stormwatch/detect/sustain"
)

// A rise is held against the calm before it, though what is calm follows; it ends when
// demand has fallen back, and after five minutes, when what it rose to is calm itself.
func TestRise(t *testing.T) {
	at := func(base, demand float64) *sustain.Reading {
		return &sustain.Reading{Baseline: true, Base: base, FreshMedian10: demand}
	}
	steps := []struct {
		second       int64
		base, demand float64
		want         bool
	}{
		{1, 20, 23, false},
		{2, 20, 24, true},
		{60, 38, 38, true},
		{120, 38, 23, false},
		{121, 30, 36, true},
		{421, 36, 36, true},
		{422, 36, 36, false},
		{423, 36, 44, true},
	}
	var g rise
	for _, s := range steps {
		if got := g.follow(at(s.base, s.demand), s.second*tick); got != s.want {
			t.Errorf("at %d s: %v, want %v", s.second, got, s.want)
		}
	}
	if g = (rise{}); g.follow(&sustain.Reading{FreshMedian10: 40}, tick) {
		t.Error("grown without a calm to grow from")
	}
}
