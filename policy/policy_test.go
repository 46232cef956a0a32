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
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, p := range odd {
		for _, n := range []int{-1, 0, 1, 2, 1 << 30} {
			if d, _ := p.Delay(Retry{N: n, Hint: -time.Hour, HasHint: true}, rng); d < 0 {
				t.Errorf("%+v retry %d: negative delay %s", p, n, d)
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
