package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// unknown are policies that the catalogue does not have, none of them with a base
// within a fifth of a catalogued policy of its family and growth.
var unknown = []string{
	"fixed base=700ms", "fixed base=1300ms", "fixed base=10s", "linear base=3s cap=none",
	"exponential base=700ms cap=none", "exponential base=400ms multiplier=3 cap=none", "exponential base=5s multiplier=1.5 cap=none",
	"scaled-jitter base=700ms cap=none low=0.8 high=1.2", "scaled-jitter base=1600ms multiplier=1 low=0.7 high=1.3", "equal-jitter base=4s cap=none",
	"full-jitter base=5s cap=none", "full-jitter base=400ms cap=none", "full-jitter base=8s multiplier=1", "additive-jitter base=6s add=3s cap=none",
	"hint-exact own=additive-jitter base=500ms cap=none add=200ms", "decorrelated base=1s cap=20s", "schedule waits=2s,7s,20s",
}

// claims counts what readings claim.
type claims struct{ runs, sure, wrong, named int }

func (c claims) String() string {
	f := func(n int) float64 { return float64(n) / float64(c.runs) }
	return fmt.Sprintf("sure %.3f, of a wrong family %.4f, named %.4f (95 %% below %.4f, %.4f; %d runs)",
		f(c.sure), f(c.wrong), f(c.named), upper(c.wrong, c.runs), upper(c.named, c.runs), c.runs)
}

// Policies outside the catalogue: no library is named, and no wrong family is
// claimed, in more than 1 % of the runs. Equal jitter is a scaled jitter, and a
// family without a general model may at best be unknown.
func TestUncataloguedPolicies(t *testing.T) {
	s := catalogued()
	for _, n := range []int{3, 6, 12, 30, 100} {
		var all claims
		for i, text := range unknown {
			p := mustParse(t, text)
			one := claims{}
			for run := range quality() {
				rng := rand.New(rand.NewPCG(uint64(i), uint64(n*1000+run)))
				var e Evidence
				traffic{noise: 8 * ms, tick: ms, chain: 3}.observe(&e, s, &p, n, rng)
				r := e.read(s)
				one.runs++
				if r.Sure {
					one.sure++
					if f := familyOf(&p); r.Family != f && !(f == EqualJitter && r.Family == ScaledJitter) {
						one.wrong++
					}
				}
				if r.Named {
					one.named++
				}
			}
			if one.wrong > 0 || one.named > 0 {
				log(t, "  %3d waits of %s: %s", n, text, one)
			}
			all.runs, all.sure, all.wrong, all.named = all.runs+one.runs, all.sure+one.sure, all.wrong+one.wrong, all.named+one.named
		}
		log(t, "%3d waits of uncatalogued policies: %s", n, all)
		checkRate(t, fmt.Sprintf("%d waits of uncatalogued policies: wrong and sure", n), all.wrong, all.runs)
		checkRate(t, fmt.Sprintf("%d waits of uncatalogued policies: named", n), all.named, all.runs)
	}
}

func checkRate(t *testing.T, what string, hits, runs int) {
	t.Helper()
	if share := float64(hits) / float64(runs); share > .01+3*math.Sqrt(.01/float64(runs)) {
		t.Errorf("%s in %.3f of %d runs", what, share, runs)
	}
}

// Half the clients of a group follow one policy, half another: no third is named
// or claimed, in more than 1 % of the runs.
func TestMixtures(t *testing.T) {
	s := catalogued()
	pairs := [][2]string{
		{"openai", "aws-standard"},
		{"p-retry", "openai"},
		{"fetch-retry", "polly"},
		{"curl", "ky"},
		{"cenkalti", "azcore"},
		{"urllib3", "p-retry"},
		{"aws-sdk-go-v2", "kiota"},
		{"got", "stripe-python"},
		{"wget", "octokit"},
		{"resilience4j", "grpc"},
		{"dotnet-resilience", "feign"},
	}
	for _, n := range []int{6, 12, 30, 100} {
		var all claims
		for i, pair := range pairs {
			one := claims{}
			for run := range quality() {
				rng := rand.New(rand.NewPCG(uint64(i), uint64(n*1000+run)))
				var e Evidence
				var families []string
				for _, name := range pair {
					p, _ := Library(name)
					p.Attempts = 0
					families = append(families, familyOf(&p))
					traffic{noise: 8 * ms, tick: ms, chain: 3}.observe(&e, s, &p, n/2, rng)
				}
				r := e.read(s)
				one.runs++
				if r.Sure {
					one.sure++
					if !slices.Contains(families, r.Family) {
						one.wrong++
					}
				}
				if r.Named && !slices.Contains(r.Names, pair[0]) && !slices.Contains(r.Names, pair[1]) {
					one.named++
				}
			}
			if one.wrong > 0 || one.named > 0 {
				log(t, "  %3d waits of %s: %s", n, strings.Join(pair[:], " and "), one)
			}
			all.runs, all.sure, all.wrong, all.named = all.runs+one.runs, all.sure+one.sure, all.wrong+one.wrong, all.named+one.named
		}
		log(t, "%3d waits of mixtures: %s", n, all)
		checkRate(t, fmt.Sprintf("%d waits of mixtures: wrong and sure", n), all.wrong, all.runs)
		checkRate(t, fmt.Sprintf("%d waits of mixtures: a third named", n), all.named, all.runs)
	}
}

// People who click again, with medians from half a second to twenty, at a
// deviation of .8: no policy is claimed in more than 1 % of the runs.
func TestPeople(t *testing.T) {
	s := catalogued()
	for _, n := range []int{2, 3, 5, 12, 30} {
		c := claims{}
		families := map[string]int{}
		for run := range 20 * quality() {
			rng := rand.New(rand.NewPCG(9, uint64(n*100_000+run)))
			var e Evidence
			median := math.Exp(math.Log(.5) + rng.Float64()*math.Log(40))
			var prev time.Duration
			for i := range n {
				w := seconds(median * math.Exp(.8*rng.NormFloat64()))
				if i%3 == 0 {
					prev = 0
				}
				e.observe(s, 0, Wait{Retry: 1 + i%3, Wait: w, Prev: prev})
				prev = w
			}
			r := e.read(s)
			c.runs++
			if r.Sure {
				c.sure++
				families[r.Family]++
			}
		}
		log(t, "%2d waits of people: claimed a policy %s %v", n, c, families)
		checkRate(t, fmt.Sprintf("%d waits of people: sure", n), c.sure, c.runs)
	}
}

// Delays of the network that nobody subtracted, strays among the waits, vague
// service times: verdicts become fewer, never wrong.
func TestDelaysAndStrays(t *testing.T) {
	for _, tr := range []traffic{
		{noise: 8 * ms, offset: 40 * ms, tick: ms, chain: 3},
		{noise: 20 * ms, offset: 150 * ms, tick: ms, chain: 3, slack: 200 * ms},
		{noise: 8 * ms, tick: ms, chain: 3, stray: .05},
		{noise: 8 * ms, tick: ms, chain: 3, stray: .15},
		{noise: 8 * ms, tick: 10 * ms, chain: 3},
		{noise: 8 * ms, tick: 100 * ms, chain: 3},
		{noise: 1, tick: time.Microsecond, chain: 8},
	} {
		for _, n := range []int{3, 12, 50} {
			all := score{}
			for i, l := range libraries {
				all.add(identify(catalogued(), l, tr, n, max(2, quality()/3), uint64(i)))
			}
			log(t, "offset %s, slack %s, noise %s, strays %.2f, clock %s, chains of %d, %2d waits: %s", tr.offset, tr.slack, tr.noise, tr.stray, tr.tick, tr.chain, n, all)
			checkRate(t, fmt.Sprintf("%+v, %d waits: wrong and sure", tr, n), all.wrong, all.runs)
		}
	}
}

// The same traffic through a microsecond, a millisecond and a second clock: what
// the coarser clock claims, the finer one does not contradict.
func TestCoarserClocksClaimLess(t *testing.T) {
	s := catalogued()
	var claimed [3]int
	for i, l := range libraries {
		p, _ := Parse(l.text)
		if p.Attempts = 0; p.spans(1) == nil {
			continue
		}
		for run := range quality() {
			var families [3]string
			for j, tick := range []time.Duration{time.Microsecond, ms, time.Second} {
				var e Evidence
				traffic{noise: 10 * ms, tick: tick, chain: 4}.observe(&e, s, &p, 40, rand.New(rand.NewPCG(uint64(i), uint64(run))))
				if r := e.read(s); r.Sure {
					families[j] = r.Family
					claimed[j]++
				}
			}
			for j := 1; j < 3; j++ {
				if families[j] != "" && families[j-1] != "" && families[j] != families[j-1] {
					t.Errorf("%s, run %d: %q", l.name, run, families)
				}
			}
		}
	}
	log(t, "claimed at 1 us, 1 ms, 1 s: %d", claimed)
	if claimed[2] > claimed[1] {
		t.Errorf("claimed at 1 us, 1 ms, 1 s: %d, want fewer on the coarse clock", claimed)
	}
}
