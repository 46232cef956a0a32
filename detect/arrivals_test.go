package detect_test

import (
	"math"
	"slices"
	"testing"

	"stormwatch/detect"
)

func arrivalsOf(t *testing.T, text string, period int64) (detect.Arrivals, *detect.Snapshot) {
	t.Helper()
	p := recording(t, play(t, text, 7), detect.Options{})
	runAll(t, p)
	s := p.Snapshot(detect.View{Arrivals: true, Period: period})
	return s.Arrivals, s
}

// fifty workers fail at 31 s and retry by a policy; some requests of others go on.
func fleet(policy string) string {
	return limited(10, "none", `
  - {name: job, count: 50, agent: job/1, policy: `+policy+`, paths: ["/j/{id}"], demand: [{from: 0s, to: 30s, units: 1}, {from: 31s, to: 31020ms, units: 3}]}`)
}

// A fixed timer of 2 s folds to an upright bar, in the middle, at the period that
// the clients keep: the timer and the time that a request takes.
func TestAFleetInStepFoldsToABar(t *testing.T) {
	a, _ := arrivalsOf(t, fleet("fixed base=2s"), 0)
	if p := float64(a.Period) / 1e9; math.Abs(p-2.005) > .02 {
		t.Errorf("folded at %.3f s, want a little above 2 s", p)
	}
	if a.Strength.V < .9 || a.PeakOverMean.V < 10 || a.Slots.V > 12 {
		t.Errorf("R %.2f, peak over mean %.1f, slots %.1f: want a bar", a.Strength.V, a.PeakOverMean.V, a.Slots.V)
	}
	if !a.Coincidence.Known || a.Coincidence.V < 5 || a.Excess.V < 2.5 || !a.Jitter.Known || a.Jitter.V > .05 || a.Peak50ms.V < 20 {
		t.Errorf("z %v, rho %v, J %v, peak %v", a.Coincidence, a.Excess, a.Jitter, a.Peak50ms)
	}
	if a.Spread > 20e6 {
		t.Errorf("spread %d ns", a.Spread)
	}
	if len(a.Rows) < 5 || len(a.Rows) > 40 {
		t.Fatalf("%d rows", len(a.Rows))
	}
	for i, row := range a.Rows {
		if len(row) > 120 || len(row) == 0 {
			t.Fatalf("%d cells", len(row))
		}
		middle, sum := int32(0), int32(0)
		for c, n := range row {
			sum += n
			if 5*c >= 2*len(row) && 5*c <= 3*len(row) {
				middle += n
			}
		}
		if sum > 0 && float64(middle) < .7*float64(sum) {
			t.Errorf("row %d: %d of %d retries in the middle fifth", i, middle, sum)
		}
	}
}

// What is folded is all retries of the span: nothing is lost, nothing counted
// twice; so it is unfolded by client.
func TestFoldedRetriesAreAllThere(t *testing.T) {
	a, s := arrivalsOf(t, fleet("fixed base=2s attempts=6"), 0)
	folded, unfolded := int64(0), int64(0)
	for _, row := range a.Rows {
		for _, n := range row {
			folded += int64(n)
		}
	}
	for _, c := range a.Clients {
		for _, n := range c.Cells {
			unfolded += int64(n)
		}
	}
	if folded != s.Totals.Retries {
		t.Errorf("%d retries folded, of %d", folded, s.Totals.Retries)
	}
	if len(a.Clients) != 40 || unfolded < folded*3/4 || unfolded > folded {
		t.Errorf("%d clients with %d retries, of %d", len(a.Clients), unfolded, folded)
	}
	if !slices.IsSortedFunc(a.Clients, func(x, y detect.ClientArrivals) int { return int(total(y.Cells) - total(x.Cells)) }) {
		t.Error("the busiest clients do not come first")
	}
}

func total(cells []int32) (n int32) {
	for _, c := range cells {
		n += c
	}
	return n
}

// Full jitter is an even field by whichever period.
func TestJitterFoldsToAnEvenField(t *testing.T) {
	for _, period := range []int64{0, 2e9, 700e6} {
		a, _ := arrivalsOf(t, limited(10, "none", `
  - {name: job, count: 80, agent: job/1, policy: full-jitter base=4s cap=8s, paths: ["/j/{id}"], demand: [{from: 0s, to: 70s, rate: 0.25}]}`), period)
		if a.Strength.V > .3 || a.PeakOverMean.V > 5 {
			t.Errorf("period %d: R %.2f, peak over mean %.1f: want an even field", period, a.Strength.V, a.PeakOverMean.V)
		}
	}
}

// Any period may be asked for, and none makes the picture larger than it may be.
func TestPicturesAreBounded(t *testing.T) {
	res := load(t, "lockstep-bare-429")
	p := recording(t, res, detect.Options{})
	runAll(t, p)
	for _, period := range []int64{-1, 1, 1e6, 50e6, 1e9, 60e9, 7200e9, math.MaxInt64} {
		a := p.Snapshot(detect.View{Arrivals: true, Period: period}).Arrivals
		if len(a.Rows) == 0 || len(a.Rows) > 40 || len(a.Rows[0]) == 0 || len(a.Rows[0]) > 120 || len(a.Clients) > 40 || a.Width <= 0 {
			t.Errorf("period %d: %d rows of %d cells, %d clients, width %d", period, len(a.Rows), len(a.Rows[0]), len(a.Clients), a.Width)
		}
	}
	if a := p.Snapshot(detect.View{}).Arrivals; a.Rows != nil || a.Period != 0 {
		t.Errorf("arrivals that nobody asked for: %+v", a)
	}
}

// Traffic without retries has no picture.
func TestNoRetriesNoArrivals(t *testing.T) {
	a, _ := arrivalsOf(t, limited(100, "none", `
  - {name: job, count: 5, agent: job/1, policy: none, paths: ["/j/{id}"], demand: [{rate: 0.2}]}`), 0)
	if a.Rows != nil || a.Candidates != nil || a.Strength.Known {
		t.Errorf("%+v", a)
	}
}
