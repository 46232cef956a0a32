package sustain

import (
	"math"
	"slices"
	"testing"
)

// kindsOf71 are the eight kinds of detection.md 7.1: bursts and growth, with and
// without an end of retries, with refusals that cost nothing and that cost 3 %. The
// answers are those of queueing: what drains in how many seconds, what never does.
func kindsOf71() []struct {
	traffic
	from, to int    // seconds in which it is asked
	want     string // of every second of them
} {
	const start, end = 60, 70
	burst, grow := between(60, 300, start, end), between(60, 150, start, 1e6)
	type kind = struct {
		traffic
		from, to int
		want     string
	}
	return []kind{
		{traffic{name: "burst, no retries", demand: burst, capacity: 100, cost: .03, attempts: 1, delay: oneSecond}, 80, 180, "healthy"},
		{traffic{name: "burst, 3 attempts with full jitter", demand: burst, capacity: 100, cost: .03, attempts: 3, delay: fullJitter}, 90, 180, "healthy"},
		// 2,000 too many in the burst, 40/s of room: gone after 50 s.
		{traffic{name: "burst, without end at 1 s, free refusals", demand: burst, capacity: 100, delay: oneSecond}, 76, 105, "draining"},
		{traffic{name: "burst, without end at 1 s, refusals cost 3 %", demand: burst, capacity: 100, cost: .03, delay: oneSecond}, 80, 180, "loop"},
		// 2,000 come back within half a minute at most: below the tipping load.
		{traffic{name: "burst, without end, full jitter, refusals cost 3 %", demand: burst, capacity: 100, cost: .03, delay: fullJitter}, 160, 180, "healthy"},
		{traffic{name: "growth, 3 attempts with jitter", demand: grow, capacity: 100, cost: .03, attempts: 3, delay: fullJitter}, 80, 180, "capacity"},
		{traffic{name: "growth, no retries", demand: grow, capacity: 100, cost: .03, attempts: 1, delay: oneSecond}, 80, 180, "capacity"},
		{traffic{name: "growth, without end at 1 s", demand: grow, capacity: 100, delay: oneSecond}, 80, 180, "capacity, amplified"},
	}
}

// told is 7.1's conclusion with the corrections of the trial.
func told(r *Reading, now int64) string {
	switch {
	case r.FailingShare <= calmShare:
		return "healthy"
	case loopFound(r, now):
		return "loop"
	case r.HeadroomKnown && r.Headroom < 0 && r.ReproductionKnown && r.Reproduction > .67:
		return "capacity, amplified" // three attempts cannot beget that many
	case r.HeadroomKnown && r.Headroom < 0:
		return "capacity"
	case r.Phase == "after-burst" && r.Goodput >= r.Fresh:
		return "draining"
	}
	return "unknown"
}

func TestEightKinds(t *testing.T) {
	for _, k := range kindsOf71() {
		wrong, asked := 0, 0
		for seed := range seeds() {
			said := map[string]int{}
			follow(k.run(seed, 180), func(i int, r *Reading) {
				if i >= k.from && i < k.to {
					said[told(r, 1_700_000_000*second+int64(i+1)*second)]++
				}
			})
			most, n := "", 0
			for w, c := range said {
				asked += c
				if w != k.want {
					wrong += c
				}
				if c > n {
					most, n = w, c
				}
			}
			if most != k.want {
				t.Errorf("%s, seed %d: %v, want %s", k.name, seed, said, k.want)
			}
		}
		t.Logf("%-52s %-20s %d of %d seconds told otherwise", k.name, k.want, wrong, asked)
		if wrong*20 > asked {
			t.Errorf("%s: %d of %d seconds told otherwise", k.name, wrong, asked)
		}
	}
}

// An input that begins inside a loop must not be taken for want of capacity: what
// is served there is the collapse's.
func TestALoopJoinedMidwayIsNeverCapacity(t *testing.T) {
	loop := kindsOf71()[3]
	for seed := range seeds() {
		whole := loop.run(seed, 180)
		for cut := 62; cut < 130; cut += 3 {
			follow(whole[cut:], func(i int, r *Reading) {
				if capacityFound(r) {
					t.Errorf("seed %d, cut at %d: capacity in second %d", seed, cut, cut+i)
				}
			})
		}
	}
}

// The server serves (C - c*load)/(1-c), so that the fresh demand f is served at the
// load (C - (1-c)f)/c = 1,393/s for C = 100, c = .03, f = 60.
func TestTippingLoadWithinFivePerCent(t *testing.T) {
	const want = (100 - .97*60) / .03
	c := kindsOf71()[3]
	worst := 0.
	for seed := range max(seeds(), 10) {
		var got []float64
		follow(c.run(seed, 180), func(i int, r *Reading) {
			if i >= 90 && r.TippingKnown {
				got = append(got, r.Tipping)
			}
		})
		if len(got) == 0 {
			t.Errorf("seed %d: never known", seed)
			continue
		}
		off := median(slices.Clone(got))/want - 1
		worst = math.Max(worst, math.Abs(off))
	}
	t.Logf("tipping load %.0f/s, at most %.1f %% off", float64(want), 100*worst)
	if worst > .05 {
		t.Errorf("%.1f %% off", 100*worst)
	}
}

// The forecast of a drain: 2,000 too many, 40/s of room.
func TestDrainIsForecast(t *testing.T) {
	c := kindsOf71()[2]
	for seed := range seeds() {
		end, told := 0, map[int]float64{}
		follow(c.run(seed, 180), func(i int, r *Reading) {
			if r.Phase == "after-burst" {
				end = i
				if r.DrainKnown {
					told[i] = r.DrainS
				}
			}
		})
		if len(told) < (end-76)*3/4 {
			t.Errorf("seed %d: forecast in %d seconds, drained in second %d", seed, len(told), end)
		}
		for i, s := range told {
			if left := float64(end - i); i >= 80 && left > 10 && (s < left/2 || s > 2*left) {
				t.Errorf("seed %d, second %d: %.0f s forecast, it took %.0f", seed, i, s, left)
			}
		}
	}
}

// Each failed attempt of an endless policy begets one; a policy of three attempts
// begets two thirds at most.
func TestReproductionNumber(t *testing.T) {
	read := func(c traffic, at int) (last Reading) {
		follow(c.run(1, at+1), func(_ int, r *Reading) { last = *r })
		return last
	}
	kinds := kindsOf71()
	if r := read(kinds[3].traffic, 150); !r.ReproductionKnown || r.Reproduction < .9 || r.Hysteresis < .8 || !r.SlopeKnown || math.Abs(r.Slope+.03) > .01 {
		t.Errorf("loop: %+v", r.Signs)
	}
	if r := read(kinds[5].traffic, 150); r.Reproduction < .2 || r.Reproduction > .67 {
		t.Errorf("three attempts: %+v", r.Signs)
	}
	if r := read(kinds[7].traffic, 100); !r.Invariant {
		t.Errorf("free refusals: %+v", r.Signs)
	}
	if r := read(kinds[0].traffic, 50); r.Reproduction != 0 || r.Vulnerable || r.DrainKnown || r.HysteresisKnown {
		t.Errorf("calm: %+v", r.Signs)
	}
}
