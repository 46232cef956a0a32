package rules

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestNotJudgedSaysWhy(t *testing.T) {
	s := load(t)
	herd := map[FeatureID]float64{Jitter: .01, Z: 9, Rho: 9, Coincidences: 99, HerdClients: 50, Rounds: 9, JitterGaps: 99, WithinMs: 50, WaveBins: 1, WaveShare: 1, WaitS: 2}
	without := func(id FeatureID) *Values {
		v := values(herd)
		v.Set(id, math.NaN(), 0)
		return v
	}
	coarse := values(herd)
	coarse.Clock = 1e9
	tallies := values(herd)
	tallies.Exchanges = false
	for _, c := range []struct {
		id, want string
		scope    Scope
		v        *Values
	}{
		{"lockstep", "cannot judge: the clock of the input is coarser than 50ms", Population, coarse},
		{"lockstep", "cannot judge: the input gives counts of intervals", Population, tallies},
		{"lockstep", "too little data: jitter_gaps is below 8", Population, without(JitterGaps)},
		{"lockstep", "too little data: rho is not measured so far", Agent, without(Rho)},
		{"hint-ignored", "cannot judge: no source shows response headers", Client, &Values{Clock: 1, Exchanges: true}},
		{"capacity-not-behaviour", "cannot judge: no calm traffic", Population, values(map[FeatureID]float64{Baseline: 0})},
		{"rising-share-after-burst", "too little data: not seen so far that new demand has fallen back", Population, values(map[FeatureID]float64{Baseline: 1, CalmSeconds: 9, BurstEnded: 0})},
	} {
		ok, why := signature(t, s, c.id, c.scope).Enough(c.v)
		if ok || !strings.HasPrefix(why, c.want) {
			t.Errorf("%s: %v %q, want %q", c.id, ok, why, c.want)
		}
	}
	if ok, why := signature(t, s, "lockstep", Population).Enough(values(herd)); !ok {
		t.Errorf("a plain herd is not judged: %s", why)
	}
}

// A clock of exactly 50 ms will do; a nanosecond more will not.
func TestClockBoundary(t *testing.T) {
	s := signature(t, load(t), "lockstep", Population)
	v := values(map[FeatureID]float64{Jitter: .01, Z: 9, Rho: 9, Coincidences: 99, HerdClients: 50, Rounds: 9, JitterGaps: 99, WithinMs: 50, WaveBins: 1, WaveShare: 1, WaitS: 2})
	for clock, want := range map[int64]bool{1: true, 50e6: true, 50e6 + 1: false, 1e9: false} {
		v.Clock = clock
		if ok, _ := s.Enough(v); ok != want {
			t.Errorf("clock %d ns: judged %v", clock, ok)
		}
	}
}

// A judgement worked out by hand.
func TestJudgementOfAHerd(t *testing.T) {
	v := values(map[FeatureID]float64{Jitter: .01, Rho: 7, Coincidences: 40, HerdClients: 12, Rounds: 4, JitterGaps: 80, WithinMs: 50, WaveBins: 1, WaveShare: 1, WaitS: 2})
	v.SetP(Z, 21.5, 300, 1e-9)
	j := signature(t, load(t), "lockstep", Population).Judge(v)
	// 0.1 + 6/20 = 0.4; 0.3 x 0.04/0.05 = 0.24; 12/100 = 0.12
	want := []Part{{"coincidence", .4, .5}, {"no jitter", .24, .3}, {"herd size", .12, .2}}
	if !j.Raised || j.Score != .76 || !slices.Equal(j.Parts, want) || j.Severity != "high" {
		t.Errorf("judgement %+v", j)
	}
	if want := "up to 12 clients retry within 50 ms: 7x chance, waits spread by 1 %"; j.Says != want {
		t.Errorf("says %q, want %q", j.Says, want)
	}
	rows := map[FeatureID]Evidence{}
	for _, e := range j.Evidence {
		rows[e.Feature] = e
	}
	for _, e := range []Evidence{
		{Feature: Z, Value: 21.5, N: 300, P: 1e-9, HasP: true, Threshold: "z >= 5.21"},
		{Feature: Jitter, Value: .01, N: 100, Threshold: "jitter < 0.05"},
		{Feature: HerdClients, Value: 12, N: 100, Threshold: "herd_clients >= 5"},
	} {
		if rows[e.Feature] != e {
			t.Errorf("evidence %+v, want %+v", rows[e.Feature], e)
		}
	}
}

func TestNotRaisedSaysNothing(t *testing.T) {
	v := values(map[FeatureID]float64{Jitter: .5, Z: 0, Rho: 1, Coincidences: 40, HerdClients: 12, Rounds: 4, JitterGaps: 80, WithinMs: 50, WaveBins: 1, WaveShare: 1, WaitS: 2})
	if j := signature(t, load(t), "lockstep", Population).Judge(v); j.Raised || j.Score != 0 || j.Says != "" || len(j.Parts) > 0 {
		t.Errorf("judgement of no herd: %+v", j)
	}
}

// The thresholds shown come from the condition itself, also from inside brackets.
func TestThresholdsShown(t *testing.T) {
	s := signature(t, load(t), "rising-share-after-burst", Population)
	got := map[FeatureID]string{}
	for _, e := range s.shown {
		got[e.Feature] = e.Threshold
	}
	for id, want := range map[FeatureID]string{
		SinceEndS: "since_end_s >= hold_s", FreshServed: "fresh_served", FailingShare: "failing_share >= 0.3", FailingRiseZ: "failing_rise_z >= 3.29",
		AttemptsPerS: "attempts_per_s > 1.1 * capacity_per_s", CapacityPerS: "", CalmSeconds: "calm_seconds >= 5", BurstEnded: "burst_ended",
	} {
		if shown, ok := got[id]; !ok || shown != want {
			t.Errorf("threshold of %s is %q, want %q", features[id].Name, shown, want)
		}
	}
}

// The parts that are shown are the score, in thousandths, whatever the features
// are, and no part leaves its bounds.
func TestPartsSumToScore(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	thousandths := func(x float64) int { return int(math.Round(1000 * x)) }
	for _, s := range load(t).Signatures() {
		for range 2000 {
			v := &Values{Clock: 1, Exchanges: true, SeesHints: true}
			for id := range featureCount {
				if rng.IntN(10) > 0 {
					v.Set(id, math.Exp(8*rng.NormFloat64())*float64(1-2*rng.IntN(2)), 10)
				}
			}
			parts, score := s.score(v)
			sum := 0
			for _, p := range parts {
				if p.Points < 0 || p.Points > p.Max {
					t.Fatalf("%s: part %+v is out of its bounds", s.ID, p)
				}
				if p.Points != float64(thousandths(p.Points))/1000 {
					t.Fatalf("%s: part %+v has more digits than are shown", s.ID, p)
				}
				sum += thousandths(p.Points)
			}
			if float64(sum)/1000 != score || score > 1 {
				t.Fatalf("%s: parts sum to %d thousandths, score %v", s.ID, sum, score)
			}
		}
	}
}

func TestValuesKnowOnlyNumbers(t *testing.T) {
	var v Values
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if v.Set(Rho, x, 3); v.known[Rho] {
			t.Errorf("%v counts as measured", x)
		}
	}
	v.SetP(Rho, 2, 3, .5)
	v.Set(Rho, 2.5, 4)
	if x, n, ok := v.Get(Rho); x != 2.5 || n != 4 || !ok || v.hasP[Rho] {
		t.Errorf("got %v of %d, known %v, with an old p-value: %v", x, n, ok, v.hasP[Rho])
	}
	v.Reset()
	if _, _, ok := v.Get(Rho); ok {
		t.Error("a value outlives Reset")
	}
}

// Judging a client each second allocates nothing, whether there is enough to
// judge it by or not.
func TestNoAllocation(t *testing.T) {
	s := signature(t, load(t), "hint-ignored", Client)
	few := values(map[FeatureID]float64{EarlyRetries: 1, EarlyShare: 1, HintedRetries: 1})
	many := values(map[FeatureID]float64{EarlyRetries: 9, EarlyShare: .4, HintedRetries: 20})
	v := &Values{}
	if n := testing.AllocsPerRun(100, func() {
		for _, v := range []*Values{few, many} {
			if ok, _ := s.Enough(v); ok && s.Raised(v) {
				t.Error("raised at 0.4")
			}
		}
		v.Reset()
		v.Set(Rho, 1, 1)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRaised(b *testing.B) {
	v := values(map[FeatureID]float64{EarlyRetries: 3, EarlyShare: .5, HintedRetries: 6})
	for id := range featureCount {
		if !v.known[id] {
			v.Set(id, 99, 100)
		}
	}
	for _, s := range load(b).Signatures() {
		b.Run(s.ID+"/"+string(s.Scope), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if ok, _ := s.Enough(v); ok {
					_ = s.Raised(v)
				}
			}
		})
	}
}
