package policy

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

// Where waits stop growing is told with an upper bound, which few waits of a policy
// pass whose ceiling is that high, though the network's milliseconds make full jitter
// look narrower than it is; and which is below where the ceiling is far below.
func TestCeilingHasAnUpperBound(t *testing.T) {
	runs := 200
	if os.Getenv("STORMWATCH_QUALITY") == "1" {
		runs = 2000
	}
	const bound = 2 * time.Second
	for _, tt := range []struct {
		text        string
		tick        time.Duration
		chains      int
		least, most float64 // bounds below: of the runs that show a ceiling, and of all
	}{
		{"full-jitter base=200ms cap=2s", ms, 12, 0, .01},
		{"full-jitter base=200ms cap=2s", ms, 40, 0, .01},
		{"full-jitter base=200ms cap=2s", time.Second, 40, 0, .01},
		{"exponential base=100ms cap=2s", ms, 12, 0, .01},
		{"equal-jitter base=100ms cap=2s", ms, 12, 0, .02},
		{"equal-jitter base=100ms cap=800ms", ms, 12, .95, 1},
		{"exponential base=100ms cap=1s", ms, 12, .95, 1},
		{"full-jitter base=100ms cap=1s", ms, 40, .95, 1},
	} {
		p, told, below, points := mustParse(t, tt.text), 0, 0, 0
		rng := rand.New(rand.NewPCG(7, 7))
		for range runs {
			var e Evidence
			traffic{noise: 8 * ms, tick: tt.tick, chain: 8}.observe(&e, catalogued(), &p, 8*tt.chains, rng)
			g := e.Reading().Growth
			if (g.Ceiling == 0) != (g.CeilingHigh == 0) || g.CeilingHigh < g.Ceiling {
				t.Fatalf("%s: %+v", tt.text, g)
			}
			if g.Ceiling == 0 {
				continue
			}
			if told++; g.Ceiling < bound {
				points++
			}
			if g.CeilingHigh < bound {
				below++
			}
		}
		t.Logf("%s, clock %s, %d chains: ceiling below %s in %d of %d, its bound in %d", tt.text, tt.tick, tt.chains, bound, points, told, below)
		if float64(below) < tt.least*float64(told) || float64(below) > tt.most*float64(runs) {
			t.Errorf("%s, clock %s, %d chains: %d of %d below", tt.text, tt.tick, tt.chains, below, told)
		}
	}
}
