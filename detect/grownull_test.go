package detect

import (
	"math"
	"math/rand/v2"
	"testing"
)

// What does not grow is told as growing in one row of a thousand at most, however rare
// or frequent it is: counts of a minute of calm against half a minute.
func TestGrowthNull(t *testing.T) {
	const rows, calm, span = 50000, 60 * tick, 30 * tick
	worst := 0.
	for _, perS := range []float64{.1, .3, 1, 3, 10, 100, 1000} {
		rng := rand.New(rand.NewPCG(1, uint64(10*perS)))
		hits := 0
		for range rows {
			var g Growth
			if g.measure(poisson(rng, 60*perS), calm, poisson(rng, 30*perS), span) {
				hits++
			}
		}
		worst = max(worst, float64(hits)/rows)
	}
	t.Logf("at most %.5f of rows without growth are told", worst)
	if worst > 1e-3 {
		t.Errorf("%.5f of rows without growth are told, want .001 at most", worst)
	}
}

// poisson draws a count (Knuth's product below 30, a rounded normal above).
func poisson(rng *rand.Rand, mean float64) float64 {
	if mean > 30 {
		return max(0, math.Round(mean+math.Sqrt(mean)*rng.NormFloat64()))
	}
	n, p := 0., rng.Float64()
	for limit := math.Exp(-mean); p > limit; n++ {
		p *= rng.Float64()
	}
	return n
}
