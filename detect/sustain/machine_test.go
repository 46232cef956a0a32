package sustain

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func seeds() uint64 {
	if os.Getenv("STORMWATCH_QUALITY") == "1" {
		return 40
	}
	return 3
}

var lengths = []int{38, 150}

func TestHarmlessKindsShowNoLoop(t *testing.T) {
	for _, c := range harmless() {
		t.Run(c.name, func(t *testing.T) {
			for seed := range seeds() {
				for _, n := range lengths {
					follow(c.run(seed, n), func(i int, r *Reading) {
						if loopFound(r, 1_700_000_000*second+int64(i+1)*second) {
							t.Errorf("seed %d, %d s: loop found in second %d: %+v", seed, n, i, *r)
						}
					})
				}
			}
		})
	}
}

func TestLoopsAreFoundSoonAfterTheBurst(t *testing.T) {
	for _, c := range loops() {
		t.Run(c.name, func(t *testing.T) {
			late := 0
			for seed := range seeds() {
				for _, n := range lengths {
					at := -1
					follow(c.run(seed, n), func(i int, r *Reading) {
						if at < 0 && loopFound(r, 1_700_000_000*second+int64(i+1)*second) {
							at = i + 1
						}
					})
					if at < 0 {
						t.Errorf("seed %d, %d s: not found", seed, n)
						continue
					}
					if after := at - c.loop; after < 3 || after > 13 {
						t.Errorf("seed %d, %d s: found %d s after the burst's end, want 3 to 13", seed, n, after)
					} else if after > 5 {
						late++
					}
				}
			}
			t.Logf("found later than 5 s after the burst's end: %d", late)
		})
	}
}

// At 5/s a deficit takes longer to show; the trial found 28 to 30 of 40.
func TestLoopAtFiveASecond(t *testing.T) {
	c := traffic{demand: between(5, 40, 12, 18), capacity: 9, cost: .06, delay: oneSecond}
	found, runs := 0, max(seeds(), 10)
	for seed := range runs {
		hit := false
		follow(c.run(seed, 60), func(i int, r *Reading) {
			hit = hit || loopFound(r, 1_700_000_000*second+int64(i+1)*second)
		})
		found += int(count(hit))
	}
	t.Logf("found %d of %d", found, runs)
	if found*10 < int(runs)*6 {
		t.Errorf("found %d of %d, want at least 60 %%", found, runs)
	}
}

func TestCapacityIsFoundOnlyWherePoliteDemandExceedsIt(t *testing.T) {
	for _, c := range append(harmless(), loops()...) {
		t.Run(c.name, func(t *testing.T) {
			for seed := range seeds() {
				whole := c.run(seed, 60)
				for _, cut := range []int{0, 26} {
					found := -1
					follow(whole[cut:], func(i int, r *Reading) {
						if found < 0 && capacityFound(r) {
							found = i + cut
						}
					})
					if c.polite != either && (found >= 0) != (c.polite == always) {
						t.Errorf("seed %d from second %d: found in second %d", seed, cut, found)
					}
				}
			}
		})
	}
}

func TestNoBaselineInsideAnIncidentJoinedMidway(t *testing.T) {
	c := loops()[0]
	for seed := range seeds() {
		whole := c.run(seed, 60)
		for cut := 13; cut < 40; cut += 2 {
			follow(whole[cut:], func(i int, r *Reading) {
				if r.Baseline || r.CalmSeconds > 0 {
					t.Fatalf("seed %d cut at %d: baseline in second %d", seed, cut, i+cut)
				}
				if i > 2 && !r.OnsetCensored {
					t.Fatalf("seed %d cut at %d: onset %d not censored in second %d", seed, cut, r.Onset, i)
				}
			})
		}
	}
}

func TestPhasesOfALoop(t *testing.T) {
	c := loops()[0]
	start := int64(1_700_000_000 * second)
	phases := ""
	var last Reading
	follow(c.run(1, 60), func(_ int, r *Reading) {
		phases += r.Phase[:1]
		last = *r
	})
	if want := "wwwwccccccccbbbbbbbbbbbbaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"; phases != want {
		t.Errorf("phases\n%s, want\n%s", phases, want)
	}
	if at := (last.BurstEndAt - start) / second; at != 22 {
		t.Errorf("burst ends at %d, want 22", at)
	}
	if at := (last.BurstAt - start) / second; at < 11 || at > 12 {
		t.Errorf("burst begins at %d, want 12", at)
	}
	if at := (last.Onset - start) / second; at != 12 || last.OnsetCensored {
		t.Errorf("onset %d censored %v, want 12 and false", at, last.OnsetCensored)
	}
	if !last.CapacityKnown || last.Capacity < 62 || last.Capacity > 101 {
		t.Errorf("capacity %.1f, want a lower bound of 100, above the base of 60", last.Capacity)
	}
	if !last.HeadroomKnown || last.Headroom <= 0 {
		t.Errorf("headroom %.1f known %v, want positive", last.Headroom, last.HeadroomKnown)
	}
}

// The simulated server serves (C - c*load)/(1-c), so that it serves the fresh
// demand f at load (C - (1-c)f)/c = 1,393/s for C = 100, c = .03, f = 60.
func TestTippingLoadMatchesTheServer(t *testing.T) {
	c := traffic{demand: between(60, 300, 12, 18), capacity: 100, cost: .03, attempts: 6, delay: oneSecond}
	var got []float64
	follow(c.run(5, 60), func(i int, r *Reading) {
		if i > 24 && r.TippingKnown && r.Phase == "after-burst" {
			got = append(got, r.Tipping)
		}
	})
	if len(got) == 0 {
		t.Fatal("tipping load never known")
	}
	if m := median(got); m < 1200 || m > 1600 {
		t.Errorf("tipping load %.0f, want about 1,393", m)
	}
}

func TestOutageIsAFault(t *testing.T) {
	for _, c := range harmless() {
		if c.down == nil {
			continue
		}
		for seed := range seeds() {
			faults := 0
			follow(c.run(seed, 38), func(i int, r *Reading) {
				faults += int(count(r.ServerFault))
				if r.BurstAt != 0 && i < 22 && c.demand(12) == c.demand(0) {
					t.Errorf("%s, seed %d: burst in second %d", c.name, seed, i)
				}
			})
			if faults < 8 {
				t.Errorf("%s, seed %d: fault for %d s, want 8 or more", c.name, seed, faults)
			}
		}
	}
}

func TestCalmAfterwardsEndsTheBurstAndKeepsTheBaseline(t *testing.T) {
	c := harmless()[4]
	var last Reading
	follow(c.run(2, 38), func(_ int, r *Reading) { last = *r })
	if last.Phase != "calm" || last.BurstEndAt != 0 || !last.Baseline || last.Onset != 0 {
		t.Errorf("after a drain: %+v", last)
	}
}

func TestANewLevelOfServedDemandBecomesTheBase(t *testing.T) {
	c := traffic{demand: between(40, 120, 15, 1e6), capacity: 200, attempts: 2, delay: fullJitter}
	var last Reading
	follow(c.run(3, 90), func(_ int, r *Reading) { last = *r })
	if last.Phase != "calm" || last.Base < 100 {
		t.Errorf("phase %s, base %.0f; want calm at about 120", last.Phase, last.Base)
	}
}

func TestOperatorsCapacityIsTaken(t *testing.T) {
	m := New(Options{Capacity: 40})
	for _, s := range harmless()[0].run(1, 20) {
		m.Tick(s)
	}
	if r := m.Reading(); r.Capacity != 40 || !r.HeadroomKnown || r.Headroom > -10 || r.ExceedsCapacity < 5 {
		t.Errorf("capacity 40 given, demand 60: %+v", r)
	}
}

func TestUnknownSecondsAreNotZeros(t *testing.T) {
	m := New(Options{})
	for i := range 20 {
		m.Tick(Second{At: int64(i) * second})
	}
	if r := m.Reading(); r.Seconds != 20 || r.Baseline || r.CapacityKnown || r.Phase != "warming" {
		t.Errorf("twenty unknown seconds: %+v", r)
	}
}

func TestSilentInputAndEmptyMachine(t *testing.T) {
	m := New(Options{})
	r := m.Reading()
	if r.Baseline || r.Phase != "warming" || r.Hold != 3 {
		t.Errorf("empty machine: %+v", r)
	}
	for i := range 100 {
		m.Tick(Second{At: int64(i) * second, Known: true})
	}
	r = m.Reading()
	if r.CapacityKnown || r.ServerFault || r.BurstAt != 0 || r.ExceedsCapacity != 0 {
		t.Errorf("silence: %+v", r)
	}
}

func TestSkipEndsAnIncidentAndKeepsTheBaseline(t *testing.T) {
	m := New(Options{})
	for _, s := range loops()[0].run(1, 40) {
		m.Tick(s)
	}
	before := m.Reading()
	m.Skip(3600)
	r := m.Reading()
	if before.Phase != "after-burst" || r.Phase != "calm" || !r.Baseline || r.Onset != 0 || r.BurstEndAt != 0 {
		t.Errorf("before %s, after the silence: %+v", before.Phase, r)
	}
	if r.Capacity > before.Capacity/3 {
		t.Errorf("capacity %.1f an hour later, want a quarter of %.1f", r.Capacity, before.Capacity)
	}
}

func TestCloneRunsOnAsTheOriginal(t *testing.T) {
	for _, c := range append(harmless(), loops()...) {
		seconds := c.run(4, 60)
		for cut := 3; cut < 60; cut += 11 {
			straight, first := New(Options{}), New(Options{})
			for _, s := range seconds[:cut] {
				first.Tick(s)
			}
			restored := first.Clone()
			for _, s := range seconds[cut:] {
				first.Tick(Second{At: s.At, Known: true}) // must not reach the clone
				restored.Tick(s)
			}
			for _, s := range seconds {
				straight.Tick(s)
			}
			if d := cmp.Diff(straight.Reading(), restored.Reading()); d != "" {
				t.Errorf("%s cut at %d: %s", c.name, cut, d)
			}
		}
	}
}

func TestHostileCountsNeitherPanicNorLeaveTheRange(t *testing.T) {
	m := New(Options{})
	for i, v := range []int64{0, 1 << 40, 0, 0, 1 << 50, 3, 1 << 40, 0, 0, 0, 7} {
		m.Tick(Second{
			At: int64(i) * second, Known: true, First: v, FirstEnded: v / 2, FirstFailed: v / 3, FirstRefused: v / 4,
			Attempts: v, Retries: v / 2, Refused: v / 4, Failed: v / 3, Good: v / 8, Impatient: v / 9, MedianGap: v,
		})
		r := m.Reading()
		for name, x := range map[string]float64{"share": r.FailingShare, "refused": r.FirstRefusedShare, "retries": r.RetryShare} {
			if !(x >= 0 && x <= 1) {
				t.Errorf("second %d: %s %v", i, name, x)
			}
		}
	}
}

func BenchmarkTickAndReading(b *testing.B) {
	seconds := loops()[0].run(1, 150)
	m := New(Options{})
	b.ReportAllocs()
	b.ResetTimer()
	sink := 0.0
	for i := range b.N {
		s := seconds[i%len(seconds)]
		s.At = int64(i) * second
		m.Tick(s)
		r := m.Reading()
		sink += r.Fresh
	}
	if sink < 0 {
		b.Fatal(sink)
	}
}

// One error in some hundred requests is no sign of how much can be served, however few
// requests there are: of a dozen in five seconds it would be a large share.
func TestFewErrorsAreNoSaturation(t *testing.T) {
	c := traffic{demand: func(t int) float64 { return 1 + 3*float64(t)/7200 }, capacity: 1000, attempts: 4, delay: fullJitter, errors: .002}
	for seed := range max(seeds(), 10) {
		told := false
		follow(c.run(seed, 7200), func(i int, r *Reading) {
			if r.HeadroomKnown && !told {
				told = true
				t.Errorf("seed %d: headroom %.1f of %.1f/s told in second %d", seed, r.Headroom, r.Capacity, i)
			}
		})
	}
}
