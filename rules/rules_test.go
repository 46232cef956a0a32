package rules

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func load(t testing.TB) *Set {
	t.Helper()
	s, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func signature(t testing.TB, s *Set, id string, scope Scope) *Signature {
	t.Helper()
	for _, sig := range s.Signatures() {
		if sig.ID == id && sig.Scope == scope {
			return sig
		}
	}
	t.Fatalf("no signature %s of scope %s", id, scope)
	return nil
}

func values(pairs map[FeatureID]float64) *Values {
	v := &Values{Clock: 1, Exchanges: true, SeesHints: true}
	for id, x := range pairs {
		v.Set(id, x, 100)
	}
	return v
}

func TestEmbeddedRulesAreWhole(t *testing.T) {
	s := load(t)
	for i, f := range Features() {
		if int(f.ID) != i || f.Name == "" || f.Meaning == "" {
			t.Errorf("feature %d is not whole: %+v", i, f)
		}
	}
	for _, id := range []string{"lockstep", "hint-missing", "rising-share-after-burst", "capacity-not-behaviour"} {
		signature(t, s, id, Population)
	}
	signature(t, s, "hint-ignored", Client)
	signature(t, s, "lockstep", Agent)
	used := map[string]bool{}
	for _, sig := range s.Signatures() {
		if len(sig.Mitigations) == 0 {
			t.Errorf("%s calls for nothing", sig.ID)
		}
		for _, m := range sig.Mitigations {
			used[m] = true
		}
	}
	for _, m := range s.Mitigations() {
		if !used[m.ID] {
			t.Errorf("mitigation %s is called for by no signature", m.ID)
		}
		has := map[string]bool{}
		for _, sn := range m.Snippets {
			has[sn.For] = sn.Text != ""
		}
		for _, product := range []string{"nginx", "envoy", "haproxy"} {
			if !has[product] {
				t.Errorf("mitigation %s has no snippet for %s", m.ID, product)
			}
		}
	}
}

// Each threshold at its border: the values of the first column hold, and each
// single change of the others does not.
func TestThresholds(t *testing.T) {
	type change map[FeatureID]float64
	for _, c := range []struct {
		id    string
		scope Scope
		holds change
		not   []change
	}{
		{"lockstep", Population, change{Jitter: .049, Z: 5, Rho: 2.5, Coincidences: 10, HerdClients: 5, Rounds: 2, JitterGaps: 8},
			[]change{{Jitter: .05}, {Z: 4.99}, {Rho: 2.49}, {Coincidences: 9}, {HerdClients: 4}, {Rounds: 1}, {JitterGaps: 7}}},
		{"hint-missing", Population, change{Refusals: 20, RefusedClients: 3, MissingLow: .51, MissingShare: .8},
			[]change{{Refusals: 19}, {RefusedClients: 2}, {MissingLow: .5}}},
		{"hint-ignored", Client, change{EarlyRetries: 3, EarlyShare: .5, HintedRetries: 6},
			[]change{{EarlyRetries: 2}, {EarlyShare: .49}}},
		{"rising-share-after-burst", Population, change{Baseline: 1, CalmSeconds: 5, BurstEnded: 1, SinceEndS: 3, HoldS: 3, FreshServed: 1, DeficitZ: 2.33, AttemptsPerS: 111, CapacityPerS: 100, FailingShare: .9, FailingRiseZ: 0, FailingRise: 0},
			[]change{{Baseline: 0}, {CalmSeconds: 4}, {BurstEnded: 0}, {SinceEndS: 2.9}, {FreshServed: 0}, {DeficitZ: 2.32}, {AttemptsPerS: 110}, {FailingShare: .89}}},
		{"rising-share-after-burst", Population, change{Baseline: 1, CalmSeconds: 5, BurstEnded: 1, SinceEndS: 3, HoldS: 3, FreshServed: 1, DeficitZ: 2.33, AttemptsPerS: 111, CapacityPerS: 100, FailingShare: .3, FailingRiseZ: 3.29, FailingRise: .05},
			[]change{{FailingShare: .29}, {FailingRiseZ: 3.28}, {FailingRise: .04}}},
		{"capacity-not-behaviour", Population, change{Baseline: 1, Seconds: 10, Refusals: 20, FirstRefusedShare: .05, RefusalShareOfFailures: .8, ExceedsCapacity: 2, GoodputPerS: 70, CapacityPerS: 100, RetryShare: .33, ImpatientShare: .1, FreshMedian10: 130},
			[]change{{Baseline: 0}, {Seconds: 9}, {Refusals: 19}, {FirstRefusedShare: .04}, {RefusalShareOfFailures: .79}, {ExceedsCapacity: 1.99}, {GoodputPerS: 69}, {RetryShare: .34}, {ImpatientShare: .11}}},
	} {
		s := signature(t, load(t), c.id, c.scope)
		judge := func(v *Values) bool {
			ok, _ := s.Enough(v)
			return ok && s.Raised(v)
		}
		if v := values(c.holds); !judge(v) {
			_, why := s.Enough(v)
			t.Errorf("%s does not hold at its border: %s", c.id, why)
		}
		for _, n := range c.not {
			v := values(c.holds)
			for id, x := range n {
				v.Set(id, x, 100)
			}
			if judge(v) {
				t.Errorf("%s holds though %v", c.id, n)
			}
		}
	}
}

func TestNotJudgedSaysWhy(t *testing.T) {
	s := load(t)
	for _, c := range []struct {
		id, want string
		scope    Scope
		v        *Values
	}{
		{"lockstep", "coarser than 50ms", Population, &Values{Clock: 1e9, Exchanges: true}},
		{"lockstep", "not single attempts", Population, &Values{Clock: 1}},
		{"lockstep", "too little data", Population, &Values{Clock: 1, Exchanges: true}},
		{"hint-ignored", "no source shows response headers", Client, &Values{Clock: 1, Exchanges: true}},
		{"capacity-not-behaviour", "no calm traffic", Population, values(map[FeatureID]float64{Baseline: 0})},
	} {
		ok, why := signature(t, s, c.id, c.scope).Enough(c.v)
		if ok || !strings.Contains(why, c.want) {
			t.Errorf("%s: %v %q, want %q", c.id, ok, why, c.want)
		}
	}
}

// The parts that are shown are the score, whatever the features are.
func TestPartsSumToScore(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range load(t).Signatures() {
		for range 500 {
			v := &Values{Clock: 1, Exchanges: true, SeesHints: true}
			for id := range featureCount {
				v.Set(id, math.Exp(8*rng.NormFloat64())*float64(1-2*rng.IntN(2)), 10)
			}
			j := s.Judge(v)
			sum := 0.0
			for _, p := range j.Parts {
				if p.Points < 0 || p.Points > p.Max {
					t.Fatalf("%s: part %+v is out of its bounds", s.ID, p)
				}
				sum += p.Points
			}
			if math.Abs(sum-j.Score) > 1e-9 || j.Score > 1 {
				t.Fatalf("%s: parts sum to %v, score %v", s.ID, sum, j.Score)
			}
		}
	}
}

func TestOverrideAndErrors(t *testing.T) {
	write := func(text string) string {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "mine.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	const good = `signature: hint-missing
scope: population
when: missing_low > 0.9
parts: [{name: share, points: "missing_share", max: 1}]
severity: low
false_positive_rate: mine
says: "{missing_share%} missing"
mitigations: [send-hint]
`
	s, err := Load(write(good))
	if err != nil {
		t.Fatal(err)
	}
	if sig := signature(t, s, "hint-missing", Population); sig.Severity != "low" {
		t.Errorf("the embedded rule was not replaced: %+v", sig)
	}
	for name, c := range map[string]struct{ text, want string }{
		"typo in a feature":    {strings.Replace(good, "missing_low >", "mising_low >", 1), "mising_low"},
		"unknown key":          {good + "sevrity: low\n", "sevrity"},
		"unknown mitigation":   {strings.Replace(good, "send-hint", "sendhint", 1), "sendhint"},
		"bad severity":         {strings.Replace(good, "low\nfalse", "bad\nfalse", 1), "severity"},
		"twice":                {good + "---\n" + good, "twice"},
		"no condition":         {strings.Replace(good, "when: missing_low > 0.9\n", "", 1), "when"},
		"not a boolean":        {strings.Replace(good, "missing_low > 0.9", "missing_low", 1), "when"},
		"alias":                {"a: &x [1]\nb: *x\n", "alias"},
		"not YAML":             {"signature: [", "mine.yaml"},
		"too large":            {strings.Repeat("#", maxFile+1), "larger"},
		"very deep":            {"a: " + strings.Repeat("[", 20000), "mine.yaml"},
		"a sentence cut short": {strings.Replace(good, "{missing_share%} missing", "{missing_share", 1), "says"},
	} {
		_, err := Load(write(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", name, err, c.want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("signature: x\nscope: client\nwhen: z > 1\n")
	f.Add("mitigation: x\ntitle: y\n")
	f.Add("a: &b [*b]\n")
	f.Fuzz(func(_ *testing.T, text string) {
		s := &Set{}
		_ = s.parse([]byte(text), "fuzz.yaml", map[string]string{})
	})
}

func BenchmarkRaised(b *testing.B) {
	s := signature(b, load(b), "hint-ignored", Client)
	v := values(map[FeatureID]float64{EarlyRetries: 3, EarlyShare: .5, HintedRetries: 6})
	b.ReportAllocs()
	for b.Loop() {
		if ok, _ := s.Enough(v); ok {
			_ = s.Raised(v)
		}
	}
}
