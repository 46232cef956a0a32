package herd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The table of critical values, measured on random arrivals.
func TestRegularityTable(t *testing.T) {
	draws := runs(20_000, 400_000)
	for _, row := range regular {
		r := rand.New(rand.NewPCG(uint64(row.n), 22))
		var hits [3]int
		waits := make([]float32, row.n)
		for range draws {
			for i := range waits {
				waits[i] = float32(r.ExpFloat64())
			}
			cv := variation(waits)
			for i, c := range row.critical {
				hits[i] += btoi(cv <= c)
			}
		}
		for i, want := range regularChance {
			got := float64(hits[i]) / float64(draws)
			// Five standard errors, and a tenth for the three digits of the table.
			if allowed := 5*math.Sqrt(want/float64(draws)) + .1*want; math.Abs(got-want) > allowed {
				t.Errorf("n = %d: %.5f of random waits at or below %.3f, want %g within %.5f", row.n, got, row.critical[i], want, allowed)
			}
		}
		t.Logf("n = %2d: CV <= %v by chance in %.4f, %.5f, %.6f", row.n, row.critical,
			float64(hits[0])/float64(draws), float64(hits[1])/float64(draws), float64(hits[2])/float64(draws))
	}
}

// How often a client is called regular at one in a thousand (detection.md 2.2).
func TestRegularityPower(t *testing.T) {
	tests := []struct {
		name      string
		n         int
		wait      func(r *rand.Rand, k int) float64
		low, high float64
	}{
		{"fixed timer, 10 ms of noise", 3, func(r *rand.Rand, _ int) float64 { return 1 + .01*r.NormFloat64() }, .95, 1},
		{"fixed 1 s, 100 ms of noise", 5, func(r *rand.Rand, _ int) float64 { return 1 + .1*r.NormFloat64() }, .9, 1},
		{"20 % either way", 5, func(r *rand.Rand, _ int) float64 { return 1 + .2*(2*r.Float64()-1) }, .9, 1},
		{"equal jitter", 8, func(r *rand.Rand, _ int) float64 { return .5 + .5*r.Float64() }, .95, 1},
		{"full jitter", 10, func(r *rand.Rand, _ int) float64 { return r.Float64() }, 0, .12},
		{"doubling, no jitter", 6, func(_ *rand.Rand, k int) float64 { return math.Pow(2, float64(k)) }, 0, 0},
		{"random", 12, func(r *rand.Rand, _ int) float64 { return r.ExpFloat64() }, 0, .003},
	}
	for _, tt := range tests {
		r := rand.New(rand.NewPCG(1, uint64(tt.n)))
		hits, total := 0, runs(2000, 20_000)
		waits := make([]float32, tt.n)
		for range total {
			for k := range waits {
				waits[k] = float32(tt.wait(r, k))
			}
			p, known := Regular(waits)
			hits += btoi(known && p <= 1e-3)
		}
		got := float64(hits) / float64(total)
		t.Logf("%-28s n = %2d: %.3f", tt.name, tt.n, got)
		if got < tt.low || got > tt.high {
			t.Errorf("%s, n = %d: %.3f, want %.2f to %.2f", tt.name, tt.n, got, tt.low, tt.high)
		}
	}
	if _, known := Regular([]float32{1, 1}); known {
		t.Error("two waits tell nothing")
	}
	if p, _ := Regular([]float32{0, 0, 0}); p != 1 {
		t.Errorf("waits of no length: %v", p)
	}
}
