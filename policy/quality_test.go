package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"
)

// table25 are the twenty policies over which the identification table was first
// measured.
var table25 = []library{
	{"fixed-1s", "fixed base=1s", ""},
	{"fixed-5s", "fixed base=5s", ""},
	{"immediate", "immediate", ""},
	{"stainless", "scaled-jitter base=500ms cap=8s low=0.75 high=1", ""},
	{"aws", "full-jitter base=1s cap=20s", ""},
	{"aws-2026", "full-jitter base=50ms cap=20s", ""},
	{"azcore", "scaled-jitter growth=less-one base=800ms cap=1m low=0.8 high=1.3", ""},
	{"grpc", "scaled-jitter base=100ms cap=1s low=0.8 high=1.2", ""},
	{"retryablehttp", "exponential base=1s cap=30s", ""},
	{"ky", "exponential base=300ms cap=none", ""},
	{"got", "additive-jitter base=1s cap=none add=100ms", ""},
	{"axios", "scaled-jitter base=200ms cap=none low=1 high=1.2", ""},
	{"urllib3", "immediate-then-backoff base=500ms", ""},
	{"cenkalti", "scaled-jitter base=500ms multiplier=1.5 cap=none low=0.5 high=1.5", ""},
	{"kiota", "additive-jitter base=3s cap=none add=1s", ""},
	{"envoy", "full-jitter growth=less-one base=25ms cap=250ms", ""},
	{"stripe-go", "scaled-jitter growth=quadratic base=500ms cap=5s low=0.75 high=1 floor=500ms", ""},
	{"equal", "equal-jitter base=1s cap=none", ""},
	{"decorrelated", "decorrelated base=1s cap=20s", ""},
	{"linear", "linear base=2s cap=none", ""},
}

// traffic draws chains of a policy as an observer sees them.
type traffic struct {
	noise  time.Duration // mean of an exponential delay
	offset time.Duration // on every wait
	tick   time.Duration // the clock truncates to it
	chain  int           // retries of a chain
	stray  float64       // share of waits that are anything
	slack  time.Duration // as told to the observer
}

func (tr traffic) observe(e *Evidence, s *scorer, p *Policy, n int, rng *rand.Rand) {
	for n > 0 && p.spans(1) != nil {
		var r Retry
		var seen time.Duration
		at := time.Duration(rng.Int64N(int64(time.Hour)))
		for r.N = 1; r.N <= tr.chain && n > 0; r.N++ {
			d, again := p.Delay(r, rng)
			if !again {
				break
			}
			r.Prev, r.Total = d, r.Total+d
			end := at + d + tr.offset + time.Duration(rng.ExpFloat64()*float64(tr.noise))
			if rng.Float64() < tr.stray {
				end = at + time.Duration(math.Exp(rng.Float64()*math.Log(120e3))*1e6)
			}
			w := Wait{Retry: r.N, Wait: end.Truncate(tr.tick) - at.Truncate(tr.tick), Prev: seen, Resolution: tr.tick, Slack: tr.slack}
			class, _ := classOf(w.Resolution, w.Slack)
			e.observe(s, class, w)
			seen, at, n = w.Wait, end, n-1
		}
	}
}

// bestOf is the catalogued model that costs least.
func bestOf(e *Evidence, s *scorer) int {
	best := 0
	for i := range s.models {
		if e.costs[i] < e.costs[best] {
			best = i
		}
	}
	return best
}

func modelOf(s *scorer, name string) int {
	return slices.IndexFunc(s.models, func(m model) bool {
		return slices.ContainsFunc(m.members, func(p Policy) bool { return p.Name == name })
	})
}

// familyOf is the family a reading should name.
func familyOf(p *Policy) string {
	if f := p.waitFamily(); f != SmoothJitter {
		return f
	}
	return Decorrelated
}

type score struct{ runs, exact, family, guess, sure, wrong, named, misnamed int }

func (c *score) add(o score) {
	c.runs += o.runs
	c.exact += o.exact
	c.family += o.family
	c.guess += o.guess
	c.sure += o.sure
	c.wrong += o.wrong
	c.named += o.named
	c.misnamed += o.misnamed
}

func (c score) String() string {
	f := func(n int) float64 { return float64(n) / float64(c.runs) }
	return fmt.Sprintf("exact %.3f family %.3f, by posterior %.3f | sure %.3f wrong and sure %.4f | named %.3f misnamed %.4f", f(c.exact), f(c.family), f(c.guess), f(c.sure), f(c.wrong), f(c.named), f(c.misnamed))
}

func identify(s *scorer, l library, tr traffic, n, runs int, seed uint64) (c score) {
	p, _ := Parse(l.text)
	p.Attempts = 0
	truth := modelOf(s, l.name)
	if truth < 0 {
		return c
	}
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	for range runs {
		var e Evidence
		tr.observe(&e, s, &p, n, rng)
		best := bestOf(&e, s)
		c.runs++
		if e.costs[best] == e.costs[truth] {
			c.exact++
		}
		if s.family(best) == familyOf(&p) {
			c.family++
		}
		r := e.read(s)
		if r.Family == familyOf(&p) {
			c.guess++
		}
		if r.Sure {
			c.sure++
			if r.Family != familyOf(&p) {
				c.wrong++
			}
		}
		if r.Named {
			c.named++
			if !slices.Contains(r.Names, l.name) {
				c.misnamed++
			}
		}
	}
	return c
}

// quality is how many runs a cell of a table has: few in every test, many where
// STORMWATCH_QUALITY=1 asks for them.
func quality() (runs int) {
	if os.Getenv("STORMWATCH_QUALITY") != "" {
		return 100
	}
	return 5
}

func log(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("STORMWATCH_QUALITY") != "" {
		t.Logf(format, args...)
	}
}

// upper is the upper end of the 95 % confidence interval of a rate (Clopper and
// Pearson, by bisection of the binomial's tail).
func upper(hits, runs int) float64 {
	low, high := 0., 1.
	for range 50 {
		p := (low + high) / 2
		tail, term := 0., math.Pow(1-p, float64(runs))
		for k := 0; k <= hits; k++ {
			tail += term
			term *= float64(runs-k) / float64(k+1) * p / (1 - p)
		}
		if tail > .025 {
			low = p
		} else {
			high = p
		}
	}
	return high
}

// The identification table: chains of three retries, as many waits as said, by
// the twenty policies it was first measured with (whose figures, exact and by
// family, are the least allowed, less three standard errors of the runs made),
// and by the catalogue. Wrong and sure: at most 1 %.
func TestIdentificationTable(t *testing.T) {
	short := os.Getenv("STORMWATCH_QUALITY") == ""
	waits := []int{2, 3, 5, 12, 20, 50}
	least := [][][2]float64{
		{{.89, .92}, {.94, .97}, {.96, .98}, {.97, 1}, {.98, 1}, {.98, 1}},
		{{.80, .86}, {.88, .92}, {.90, .94}, {.93, .97}, {.93, .97}, {.93, .98}},
		{{.42, .48}, {.59, .63}, {.63, .67}, {.80, .84}, {.84, .88}, {.91, .94}},
	}
	scorers := []*scorer{newScorer(table25), catalogued()}
	for i, tr := range []traffic{
		{noise: 8 * ms, tick: ms, chain: 3}, {noise: 50 * ms, tick: ms, chain: 3}, {noise: 20 * ms, tick: time.Second, chain: 3},
	} {
		for j, n := range waits {
			if short && n != 3 && n != 20 {
				continue
			}
			for k, of := range [][]library{table25, libraries} {
				all := cellOf(scorers[k], of, tr, n)
				log(t, "%2d policies, clock %-3s noise %-4s %2d waits: %s", len(of), tr.tick, tr.noise, n, all)
				if share := float64(all.wrong) / float64(all.runs); share > .01+3*math.Sqrt(.01/float64(all.runs)) {
					t.Errorf("%d policies, clock %s, noise %s, %d waits: wrong and sure in %.3f of %d runs", len(of), tr.tick, tr.noise, n, share, all.runs)
				}
				if k > 0 {
					continue
				}
				for what, got := range []int{all.exact, all.family} {
					want := least[i][j][what]
					if share := float64(got) / float64(all.runs); share < want-.005-3*math.Sqrt(max(want*(1-want), .02)/float64(all.runs)) {
						t.Errorf("clock %s, noise %s, %d waits: right (exact, family)[%d] in %.3f, want %.2f", tr.tick, tr.noise, n, what, share, want)
					}
				}
			}
		}
	}
}

func cellOf(s *scorer, of []library, tr traffic, n int) (all score) {
	for i, l := range of {
		all.add(identify(s, l, tr, n, quality(), uint64(i)))
	}
	return all
}
