package policy

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

const ms = time.Millisecond

func mustParse(t *testing.T, text string) Policy {
	t.Helper()
	p, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Known delays, worked out by hand from the formulas.
func TestFixedDelays(t *testing.T) {
	tests := []struct {
		text string
		hint time.Duration // 0: none
		want []time.Duration
	}{
		{"immediate attempts=3", 0, []time.Duration{0, 0}},
		{"fixed base=1s attempts=4", 0, []time.Duration{1000 * ms, 1000 * ms, 1000 * ms}},
		{"fixed base=1s attempts=3", time.Minute, []time.Duration{1000 * ms, 1000 * ms}},
		{"exponential base=1s attempts=8", 0, []time.Duration{1000 * ms, 2000 * ms, 4000 * ms, 8000 * ms, 16000 * ms, 30000 * ms, 30000 * ms}},
		{"exponential base=300ms cap=1s attempts=5", 0, []time.Duration{300 * ms, 600 * ms, 1000 * ms, 1000 * ms}},
		{"exponential base=500ms multiplier=1.5 attempts=4", 0, []time.Duration{500 * ms, 750 * ms, 1125 * ms}},
		{"hint-exact base=1s attempts=3", 3 * time.Second, []time.Duration{3000 * ms, 3000 * ms}},
		{"hint-exact base=1s attempts=2", 999_999_999 * time.Second, []time.Duration{5 * time.Minute}},
		{"none", time.Second, nil},
		{"linear base=2s cap=5s attempts=5", 0, []time.Duration{2000 * ms, 4000 * ms, 5000 * ms, 5000 * ms}},
		{"immediate-then-backoff base=500ms attempts=5", 0, []time.Duration{0, 1000 * ms, 2000 * ms, 4000 * ms}},
		{"schedule waits=1s,5s,30s attempts=6", 0, []time.Duration{1000 * ms, 5000 * ms, 30000 * ms, 30000 * ms, 30000 * ms}},
		{"exponential base=1s growth=less-one attempts=5", 0, []time.Duration{1000 * ms, 3000 * ms, 7000 * ms, 15000 * ms}},
		{"exponential base=500ms growth=quadratic attempts=5", 0, []time.Duration{500 * ms, 1000 * ms, 2500 * ms, 5000 * ms}},
		{"exponential base=20s cap=none attempts=6", 0, []time.Duration{20000 * ms, 40000 * ms, 80000 * ms, 160000 * ms, 320000 * ms}},
		// A hint between, below and above what the policy would wait, and too long.
		{"hint-max own=exponential base=1s attempts=4", 2500 * ms, []time.Duration{2500 * ms, 2500 * ms, 4000 * ms}},
		{"hint-exact own=exponential base=1s longest=1m over=own attempts=4", 61 * time.Second, []time.Duration{1000 * ms, 2000 * ms, 4000 * ms}},
		{"hint-exact own=exponential base=1s longest=1m attempts=3", 61 * time.Second, []time.Duration{60000 * ms, 60000 * ms}},
		{"hint-exact own=exponential base=1s longest=1m over=stop", 61 * time.Second, nil},
		{"hint-exact own=exponential base=1s longest=none attempts=2", 9000 * time.Hour, []time.Duration{9000 * time.Hour}},
		{"hint-exact own=none attempts=3", 2 * time.Second, []time.Duration{2000 * ms, 2000 * ms}},
		{"hint-exact own=none attempts=3", 0, nil},
		{"hint-exact own=immediate attempts=3", 0, []time.Duration{0, 0}},
		{"hint-scaled own=fixed base=1s low=1.5 high=1.5 attempts=3", 2 * time.Second, []time.Duration{3000 * ms, 3000 * ms}},
	}
	for _, tt := range tests {
		p := mustParse(t, tt.text)
		rng := rand.New(rand.NewPCG(1, 1))
		for n := 1; ; n++ {
			d, again := p.Delay(Retry{N: n, Hint: tt.hint, HasHint: tt.hint > 0}, rng)
			if !again {
				if n != len(tt.want)+1 {
					t.Errorf("%s: gave up before retry %d, want %d retries", tt.text, n, len(tt.want))
				}
				break
			}
			if n > len(tt.want) {
				t.Errorf("%s: retry %d, want %d retries", tt.text, n, len(tt.want))
				break
			}
			if d != tt.want[n-1] {
				t.Errorf("%s: delay before retry %d is %s, want %s", tt.text, n, d, tt.want[n-1])
			}
		}
	}
}

// The jittered families are uniform on the interval of their formula: least,
// most and mean of 20,000 draws, and no lump in any tenth of it.
func TestJitterIsUniformOnItsInterval(t *testing.T) {
	tests := []struct {
		text      string
		n         int
		hint      time.Duration
		low, high time.Duration
	}{
		{"full-jitter base=200ms cap=20s", 1, 0, 0, 200 * ms},
		{"full-jitter base=200ms cap=20s", 4, 0, 0, 1600 * ms},
		{"full-jitter base=200ms cap=20s", 60, 0, 0, 20000 * ms},
		{"equal-jitter base=1s cap=20s", 3, 0, 2000 * ms, 4000 * ms},
		{"hint-floor base=500ms", 2, 3 * time.Second, 3000 * ms, 4000 * ms},
		{"hint-floor base=500ms", 2, 0, 0, 1000 * ms},
		{"hint-exact base=500ms", 2, 0, 0, 1000 * ms},
		{"scaled-jitter base=1s cap=20s low=0.75 high=1", 3, 0, 3000 * ms, 4000 * ms},
		{"scaled-jitter base=1s multiplier=1 low=0.5 high=1.5", 9, 0, 500 * ms, 1500 * ms},
		{"additive-jitter base=1s add=100ms", 3, 0, 4000 * ms, 4100 * ms},
		{"decorrelated base=1s cap=30s", 1, 0, 1000 * ms, 3000 * ms}, // the delay before counts as the base
		{"hint-scaled base=1s low=1 high=1.2", 1, 10 * time.Second, 10000 * ms, 12000 * ms},
		{"hint-max own=fixed base=1s low=1 high=1.2", 1, 10 * time.Second, 10000 * ms, 12000 * ms},
		{"hint-exact own=scaled-jitter base=500ms cap=8s low=0.75 high=1 longest=1m over=own", 2, 90 * time.Second, 750 * ms, 1000 * ms},
	}
	const draws = 20_000
	for _, tt := range tests {
		p := mustParse(t, tt.text)
		rng := rand.New(rand.NewPCG(7, uint64(tt.n)))
		var tenths [10]int
		var sum float64
		for range draws {
			d, again := p.Delay(Retry{N: tt.n, Hint: tt.hint, HasHint: tt.hint > 0}, rng)
			if !again || d < tt.low || d > tt.high {
				t.Fatalf("%s retry %d: %s, %v outside %s to %s", tt.text, tt.n, d, again, tt.low, tt.high)
			}
			tenths[min(9, int(10*(d-tt.low)/(tt.high-tt.low)))]++
			sum += float64(d)
		}
		// The mean of a uniform sample strays by width/sqrt(12 n); 5 of these.
		width := float64(tt.high - tt.low)
		if mean, want := sum/draws, float64(tt.low+tt.high)/2; math.Abs(mean-want) > 5*width/math.Sqrt(12*draws) {
			t.Errorf("%s retry %d: mean %.0f, want %.0f", tt.text, tt.n, mean, want)
		}
		for i, c := range tenths { // binomial, sd 42
			if c < draws/10-215 || c > draws/10+215 {
				t.Errorf("%s retry %d: %d draws in tenth %d, want about %d", tt.text, tt.n, c, i, draws/10)
			}
		}
	}
}

// Decorrelated delays lie between the base and three times the one before, and
// never above the cap; their mean from a delay of 4 s is (1 + 12) / 2 s.
func TestDecorrelatedGrowsFromTheDelayBefore(t *testing.T) {
	p := mustParse(t, "decorrelated base=1s cap=10s")
	rng := rand.New(rand.NewPCG(5, 5))
	capped, sum := 0, 0.0
	const draws = 20_000
	for range draws {
		d, _ := p.Delay(Retry{N: 3, Prev: 4 * time.Second}, rng)
		if d < time.Second || d > 10*time.Second {
			t.Fatalf("%s", d)
		}
		if d == 10*time.Second {
			capped++
		} else {
			sum += d.Seconds()
		}
	}
	// U(1, 12) is above 10 in 2 of 11 draws, and else has the mean 5.5.
	if share := float64(capped) / draws; math.Abs(share-2.0/11) > .015 {
		t.Errorf("%.3f of the delays at the cap, want %.3f", share, 2.0/11)
	}
	if mean := sum / float64(draws-capped); math.Abs(mean-5.5) > .1 {
		t.Errorf("mean %.2f s below the cap, want 5.5 s", mean)
	}
}

// What the libraries wait before their first three retries, least and most, as
// their sources have it; 0 retries: they give up.
func TestLibraries(t *testing.T) {
	type span struct{ low, high time.Duration }
	tests := []struct {
		name string
		hint time.Duration
		want []span
	}{
		{"openai", 0, []span{{375 * ms, 500 * ms}, {750 * ms, 1000 * ms}}},
		{"openai", 119 * time.Second, []span{{119 * time.Second, 119 * time.Second}, {119 * time.Second, 119 * time.Second}}},
		{"openai", 121 * time.Second, nil},
		{"anthropic", 61 * time.Second, []span{{375 * ms, 500 * ms}, {750 * ms, 1000 * ms}}},
		{"aws-standard", time.Minute, []span{{0, 1000 * ms}, {0, 2000 * ms}}},
		{"azcore", 0, []span{{640 * ms, 1040 * ms}, {1920 * ms, 3120 * ms}, {4480 * ms, 7280 * ms}}},
		{"envoy", 0, []span{{0, 25 * ms}}},
		{"go-retryablehttp", 0, []span{{1000 * ms, 1000 * ms}, {2000 * ms, 2000 * ms}, {4000 * ms, 4000 * ms}}},
		{"urllib3", 0, []span{{0, 0}, {0, 0}, {0, 0}}},
		{"axios-retry-exponential", 0, []span{{200 * ms, 240 * ms}, {400 * ms, 480 * ms}, {800 * ms, 960 * ms}}},
		{"axios-retry-exponential", 10 * time.Second, []span{{10 * time.Second, 12 * time.Second}, {10 * time.Second, 12 * time.Second}, {10 * time.Second, 12 * time.Second}}},
		{"got", 0, []span{{1000 * ms, 1100 * ms}, {2000 * ms, 2100 * ms}}},
		{"ky", 0, []span{{300 * ms, 300 * ms}, {600 * ms, 600 * ms}}},
		{"cenkalti", 0, []span{{250 * ms, 750 * ms}, {375 * ms, 1125 * ms}, {562 * ms, 1688 * ms}}},
		{"stripe-go", 0, []span{{375 * ms, 500 * ms}, {750 * ms, 1000 * ms}}},
		{"kiota", 0, []span{{3000 * ms, 4000 * ms}, {6000 * ms, 7000 * ms}, {12000 * ms, 13000 * ms}}},
		{"client-go", 0, nil},
	}
	rng := rand.New(rand.NewPCG(2, 2))
	for _, tt := range tests {
		p, ok := Library(tt.name)
		if !ok || p.Name != tt.name {
			t.Fatalf("%s: %+v %v", tt.name, p, ok)
		}
		for n := 1; n <= 3; n++ {
			for range 200 {
				d, again := p.Delay(Retry{N: n, Hint: tt.hint, HasHint: tt.hint > 0}, rng)
				if again != (n <= len(tt.want)) {
					t.Fatalf("%s, hint %s: retry %d: %v", tt.name, tt.hint, n, again)
				}
				if again && (d < tt.want[n-1].low || d > tt.want[n-1].high) {
					t.Fatalf("%s, hint %s: retry %d after %s, want %s to %s", tt.name, tt.hint, n, d, tt.want[n-1].low, tt.want[n-1].high)
				}
			}
		}
	}
	for _, name := range Libraries() {
		if _, ok := Library(name); !ok {
			t.Errorf("the text of %s is wrong", name)
		}
	}
	if _, ok := Library("fixed base=1s"); ok {
		t.Error("a text is no library")
	}
}

func TestSameSeedSameDelays(t *testing.T) {
	p := mustParse(t, "hint-floor base=500ms")
	a, b := rand.New(rand.NewPCG(3, 4)), rand.New(rand.NewPCG(3, 4))
	for n := 1; n < 50; n++ {
		r := Retry{N: n, Hint: time.Second, HasHint: n%2 == 0}
		da, _ := p.Delay(r, a)
		if db, _ := p.Delay(r, b); da != db {
			t.Fatalf("retry %d: %s and %s from one seed", n, da, db)
		}
	}
}

// A policy made in code may hold anything; its delay is still a wait.
func TestDelayOfOddPolicies(t *testing.T) {
	odd := []Policy{
		{},
		{Family: "unheard-of"},
		{Family: FullJitter, Base: math.MaxInt64, Cap: math.MaxInt64, Multiplier: math.Inf(1)},
		{Family: FullJitter, Base: -5, Cap: -5},
		{Family: EqualJitter, Base: -time.Hour},
		{Family: Fixed, Base: -1},
		{Family: Exponential, Base: 0, Multiplier: math.NaN()},
		{Family: HintFloor, Base: 1, Multiplier: 1e300},
		{Family: ScaledJitter, Base: math.MaxInt64, Cap: NoLimit, Low: -3, High: math.Inf(1)},
		{Family: ScaledJitter, Base: time.Second, Low: math.NaN(), High: math.NaN()},
		{Family: AdditiveJitter, Base: math.MaxInt64, Cap: NoLimit, Add: NoLimit},
		{Family: Decorrelated, Base: math.MaxInt64, Cap: math.MaxInt64},
		{Family: Decorrelated, Base: -1, Cap: -1},
		{Family: Schedule},
		{Family: Schedule, Waits: [MaxWaits]time.Duration{-1}},
		{Family: HintMax, Own: Decorrelated, Longest: -1, Low: -1, High: -1},
		{Family: HintExact, Own: "unheard-of", Growth: "unheard-of"},
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, p := range odd {
		for _, n := range []int{-1, 0, 1, 2, 1 << 30} {
			for _, hint := range []time.Duration{-time.Hour, math.MaxInt64} {
				if d, _ := p.Delay(Retry{N: n, Prev: hint, Hint: hint, HasHint: true}, rng); d < 0 {
					t.Errorf("%+v retry %d, hint %s: negative delay %s", p, n, hint, d)
				}
			}
		}
	}
}

func BenchmarkDelay(b *testing.B) {
	p := Policy{Family: HintFloor, Base: 500 * ms}
	rng := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for i := range b.N {
		p.Delay(Retry{N: 1 + i%6, Hint: time.Second, HasHint: true}, rng)
	}
}
