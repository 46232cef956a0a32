package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

// feed is one Demand of one client as it is played: it yields the moments at
// which units of work come due, in nanoseconds since the start.
type feed struct {
	Demand
	client  *client
	left    int   // units still to come, where Units is set
	begun   int   // units drawn so far
	at      int64 // the last moment yielded
	started bool
}

// next returns the moment after the last one; ok is false at the end.
func (f *feed) next(rng *rand.Rand) (at int64, ok bool) {
	if !f.started {
		f.at = int64(f.From)
	}
	switch {
	case f.Units > 0:
		at, ok = f.nextUnit(rng)
	case f.Every > 0:
		at, ok = f.nextPace(rng), true
	default:
		at, ok = f.nextArrival(rng)
	}
	f.started, f.at = true, at
	return at, ok && (f.Units > 0 || at < int64(f.To))
}

// nextUnit draws from what is left of the interval, as the least of the moments
// still to come (order statistics of the uniform distribution), so that they
// need not be drawn and sorted beforehand.
func (f *feed) nextUnit(rng *rand.Rand) (int64, bool) {
	if f.left == 0 {
		return 0, false
	}
	f.left--
	if f.Sequential {
		return int64(f.From) + within(f.To-f.From, rng), true
	}
	least := 1 - math.Pow(rng.Float64(), 1/float64(f.left+1))
	return f.at + int64(least*float64(int64(f.To)-f.at)), true
}

func (f *feed) nextPace(rng *rand.Rand) int64 {
	if !f.started {
		return int64(f.From) + within(f.Every, rng)
	}
	return f.at + int64(f.Every)
}

// nextArrival is a Poisson process whose rate changes with time: thinning of one
// that is never slower (Lewis and Shedler 1979).
func (f *feed) nextArrival(rng *rand.Rand) (int64, bool) {
	peak := max(f.Rate, f.GrowTo)
	if f.Wave != nil {
		peak *= 1 + f.Wave.Depth
	}
	for at := f.at; ; {
		at += int64(rng.ExpFloat64() / peak * float64(time.Second))
		if at < 0 || at >= int64(f.To) {
			return 0, false
		}
		if rng.Float64()*peak <= f.rateAt(at-int64(f.From)) {
			return at, true
		}
	}
}

// rateAt goes linearly from Rate to GrowTo, and swings with Wave.
func (f *feed) rateAt(t int64) float64 {
	rate := f.Rate
	if f.GrowTo > 0 {
		rate += (f.GrowTo - f.Rate) * float64(t) / float64(f.To-f.From)
	}
	if f.Wave != nil {
		rate *= 1 + f.Wave.Depth*math.Sin(2*math.Pi*float64(t)/float64(f.Wave.Period))
	}
	return rate
}

// within draws uniformly from [0, d), 0 for an empty interval.
func within(d time.Duration, rng *rand.Rand) int64 {
	if d <= 0 {
		return 0
	}
	return rng.Int64N(int64(d))
}
