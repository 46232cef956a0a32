package policy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// What is scored is what is drawn: for every policy of the catalogue and one of
// each family, the share of 4,000 draws below any moment is that of the spans,
// within the bound of Dvoretzky, Kiefer and Wolfowitz for one in a million.
func TestSpansAreWhatDelayDraws(t *testing.T) {
	texts := []string{
		"equal-jitter base=1s", "hint-floor base=200ms", "hint-scaled own=linear base=1s low=1 high=2",
		"schedule waits=1s,5s,30s", "scaled-jitter base=1s low=0.5 high=1.5 floor=800ms", "decorrelated base=1s cap=20s", "square base=1s cap=5s",
	}
	for _, l := range libraries {
		texts = append(texts, l.text)
	}
	const draws = 4000
	bound := math.Sqrt(math.Log(2/1e-6) / (2 * draws))
	for _, text := range texts {
		p := mustParse(t, text)
		p.Attempts = 0
		rng := rand.New(rand.NewPCG(3, 3))
		drawn := make([][]time.Duration, 6)
		for range draws {
			var r Retry
			for r.N = 1; r.N <= len(drawn); r.N++ {
				d, again := p.Delay(r, rng)
				if !again {
					break
				}
				drawn[r.N-1] = append(drawn[r.N-1], d)
				r.Prev, r.Total = d, r.Total+d
			}
		}
		for i, ds := range drawn {
			spans := p.spans(i + 1)
			if (len(ds) == 0) != (len(spans) == 0) {
				t.Fatalf("%s, retry %d: %d draws, spans %v", text, i+1, len(ds), spans)
			}
			slices.Sort(ds)
			for j := 0; j < len(ds); j += 100 {
				at := ds[j]
				low := below(spans, at-time.Microsecond)
				high := below(spans, at+time.Microsecond)
				share := float64(j) / draws
				if share < low-bound-.01 || share > high+bound+.01 { // .01: the spans of drawn are themselves drawn
					t.Errorf("%s, retry %d: %.3f of the draws are below %s, by the spans %.3f to %.3f", text, i+1, share, at, low, high)
					break
				}
			}
		}
	}
}

func below(spans []span, at time.Duration) (share float64) {
	for _, s := range spans {
		switch {
		case at >= s.high:
			share += s.weight
		case at > s.low:
			share += s.weight * float64(at-s.low) / float64(s.high-s.low)
		}
	}
	return share
}
