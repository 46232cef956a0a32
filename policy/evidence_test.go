package policy

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"
)

func TestEvidenceFitsIn256Bytes(t *testing.T) {
	if size := unsafe.Sizeof(Evidence{}); size > 256 {
		t.Errorf("%d bytes", size)
	}
	if n := catalogued().size(); n > maxModels {
		t.Errorf("%d models, room for %d", n, maxModels)
	}
}

func TestCatalogue(t *testing.T) {
	if n := len(Libraries()); n < 35 {
		t.Errorf("%d libraries", n)
	}
	scored := 0
	for _, m := range catalogued().models {
		scored += len(m.members)
	}
	if scored != len(libraries)-1 { // client-go never waits by itself
		t.Errorf("%d of %d libraries are scored", scored, len(libraries))
	}
	for _, name := range Libraries() {
		if Source(name) == "" {
			t.Errorf("%s has no source", name)
		}
	}
}

// However the same waits and chains are ordered, split and merged, the evidence
// is the same, to the bit.
func TestEvidenceIsTheSameInAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	waits := make([]Wait, 500)
	for i := range waits {
		waits[i] = Wait{
			Retry: 1 + rng.IntN(9), Wait: time.Duration(rng.Int64N(int64(20 * time.Second))), Prev: time.Duration(rng.Int64N(int64(20 * time.Second))),
			Resolution: []time.Duration{1, ms, 10 * ms, time.Second, time.Minute}[rng.IntN(5)], Slack: time.Duration(rng.IntN(2)) * 100 * ms,
			Hint: time.Duration(rng.IntN(3)) * 4 * time.Second, HasHint: rng.IntN(3) == 0,
		}
	}
	ends := []struct {
		n   int
		how Ending
	}{{3, GaveUp}, {4, GaveUp}, {4, GaveUp}, {2, Succeeded}, {4, Cut}, {1, GaveUp}}
	var whole Evidence
	for _, w := range waits {
		whole.Observe(w)
	}
	for _, e := range ends {
		whole.End(e.n, e.how)
	}
	for parts := range 8 {
		rng.Shuffle(len(waits), func(i, j int) { waits[i], waits[j] = waits[j], waits[i] })
		rng.Shuffle(len(ends), func(i, j int) { ends[i], ends[j] = ends[j], ends[i] })
		shards := make([]Evidence, parts+1)
		for i, w := range waits {
			shards[i%len(shards)].Observe(w)
		}
		for i, e := range ends {
			shards[i%len(shards)].End(e.n, e.how)
		}
		rng.Shuffle(len(shards), func(i, j int) { shards[i], shards[j] = shards[j], shards[i] })
		var merged Evidence
		for i := range shards {
			merged.Merge(&shards[i])
		}
		if merged != whole {
			t.Fatalf("%d parts: %+v, want %+v", parts+1, merged, whole)
		}
	}
}

// chains observes chains of exact waits.
func chains(e *Evidence, n int, waits ...time.Duration) {
	for range n {
		var prev time.Duration
		for i, w := range waits {
			e.Observe(Wait{Retry: i + 1, Wait: w + 5*ms, Prev: prev, Resolution: ms})
			prev = w + 5*ms
		}
		e.End(len(waits)+1, GaveUp)
	}
}

// Saturation neither wraps nor favours anyone: evidence doubled until every
// counter is full reads as nothing rather than as something else.
func TestFullEvidenceDoesNotLie(t *testing.T) {
	var e Evidence
	chains(&e, 4, 2*time.Second, 2*time.Second, 2*time.Second)
	for range 40 {
		o := e
		e.Merge(&o)
		if r := e.Reading(); r.Sure && r.Family != Fixed {
			t.Fatalf("%d waits: %s", r.N, r.Sentence())
		}
	}
}

// A wait that keeps to the hint, or is longer, says nothing of the client's own
// policy; one that ends before the hint does.
func TestHonouredHintsAreNoEvidence(t *testing.T) {
	var e Evidence
	for i := range 50 {
		e.Observe(Wait{Retry: 1 + i%3, Wait: 2*time.Second + time.Duration(i)*ms, Hint: 2 * time.Second, HasHint: true, Resolution: ms})
	}
	r := e.Reading()
	if r.N != 0 || r.Sure || r.Honoured != 50 || r.Family != "" || !strings.Contains(r.Sentence(), "kept to the server's hint") {
		t.Errorf("%+v: %s", r, r.Sentence())
	}
	for i := range 30 {
		n := 1 + i%3
		e.Observe(Wait{Retry: n, Wait: time.Second<<(n-1) + 4*ms, Hint: time.Minute, HasHint: true, Resolution: ms})
	}
	if r = e.Reading(); r.N != 30 || r.Ignored != 30 || !r.Sure || r.Family != Exponential {
		t.Errorf("%+v: %s", r, r.Sentence())
	}
}

func TestReadingsOfExactClients(t *testing.T) {
	s := func(f ...float64) (d []time.Duration) {
		for _, x := range f {
			d = append(d, seconds(x))
		}
		return d
	}
	tests := []struct {
		what     string
		chains   int
		waits    []time.Duration
		says     string
		name     string // among the names; "": none
		attempts int
	}{
		{"go-retryablehttp", 5, s(1, 2, 4, 8), "doubles from 1 s to 30 s, no jitter, gives up after 5 attempts: like go-retryablehttp", "go-retryablehttp", 5},
		{"polly", 5, s(2, 2, 2), "waits 2 s, no jitter, gives up after 4 attempts: like polly", "polly", 4},
		{"urllib3", 5, s(-.004, -.004, -.004), "retries at once, gives up after 4 attempts: like", "urllib3", 4},
		{"octokit", 5, s(1, 4, 9), "grows as 1, 4, 9 times 1 s to 30 s, no jitter, gives up after 4 attempts: like octokit", "octokit", 4},
		{"uncatalogued timer", 5, s(.7, .7, .7), "waits about 710 ms, no jitter, gives up after 4 attempts: like no catalogued policy", "", 4},
		{"uncatalogued doubling", 5, s(.7, 1.4, 2.8), "waits about 710 ms, then 2.0 times as long each time, no jitter, gives up after 4 attempts: like no catalogued policy", "", 4},
		{"two waits", 1, s(1.2, 3.1), "cannot tell", "", 0},
	}
	for _, tt := range tests {
		var e Evidence
		chains(&e, tt.chains, tt.waits...)
		r := e.Reading()
		if !strings.HasPrefix(r.Sentence(), tt.says) {
			t.Errorf("%s: %q, want %q", tt.what, r.Sentence(), tt.says)
		}
		if tt.name == "" && r.Named || tt.name != "" && !slices.Contains(r.Names, tt.name) || r.Attempts != tt.attempts {
			t.Errorf("%s: %+v", tt.what, r)
		}
	}
}

// What grows is measured whatever the policy: bases, multipliers, ceilings and
// jitter of policies that no catalogue has.
func TestGrowthOfUncatalogued(t *testing.T) {
	tests := []struct {
		text                       string
		first, ceiling             time.Duration
		multiplier, jitter, within float64
	}{
		{"exponential base=700ms cap=3s", 715 * ms, 3 * time.Second, 2, 0, .08},
		{"exponential base=400ms multiplier=3 cap=none", 410 * ms, 0, 3, 0, .08},
		{"fixed base=1300ms", 1310 * ms, 0, 1, 0, .05},
		{"scaled-jitter base=2s cap=none low=0.8 high=1.2", 2 * time.Second, 0, 2, .20, .1},
		{"equal-jitter base=4s cap=none", 2950 * ms, 0, 2, .30, .1},
		{"full-jitter base=6s cap=none", 2200 * ms, 0, 2, 1, .15},
	}
	for _, tt := range tests {
		p := mustParse(t, tt.text)
		var e Evidence
		traffic{noise: 8 * ms, tick: ms, chain: 5}.observe(&e, catalogued(), &p, 600, rand.New(rand.NewPCG(1, 1)))
		g := e.Reading().Growth
		near := func(got, want float64) bool { return got >= want*(1-tt.within) && got <= want*(1+tt.within) }
		if !near(g.First.Seconds(), tt.first.Seconds()) || !near(g.Multiplier, tt.multiplier) || g.Jitter < 0 || g.Jitter < tt.jitter*.85-.005 || g.Jitter > tt.jitter*1.15+.05 {
			t.Errorf("%s: %+v", tt.text, g)
		}
		if (tt.ceiling == 0) != (g.Ceiling == 0) || tt.ceiling > 0 && !near(g.Ceiling.Seconds(), tt.ceiling.Seconds()) {
			t.Errorf("%s: ceiling %s, want %s", tt.text, g.Ceiling, tt.ceiling)
		}
	}
}

// On a one-second clock a jitter of milliseconds is unknown, not none.
func TestCoarseClockKnowsNoJitter(t *testing.T) {
	var e Evidence
	for i := range 60 {
		e.Observe(Wait{Retry: 1 + i%3, Wait: time.Second, Resolution: time.Second})
	}
	if r := e.Reading(); r.Jitter >= 0 {
		t.Errorf("jitter %g", r.Jitter)
	}
	e = Evidence{}
	e.Observe(Wait{Retry: 1, Wait: time.Minute, Resolution: time.Minute})
	if r := e.Reading(); r.N != 0 || r.Unscored != 1 || !strings.Contains(r.Sentence(), "too coarse") {
		t.Errorf("%+v: %s", r, r.Sentence())
	}
}

func TestAttemptCap(t *testing.T) {
	var e Evidence
	for range 9 {
		e.End(4, GaveUp)
	}
	e.End(2, Succeeded)
	e.End(3, Cut)
	if got := e.Reading().Attempts; got != 4 {
		t.Errorf("nine of four attempts gave up: cap %d", got)
	}
	e.End(5, Succeeded) // so 4 was no cap
	if r := e.Reading(); r.Attempts != 0 || r.Chain != 5 {
		t.Errorf("%+v", r)
	}
}

func FuzzEvidence(f *testing.F) {
	f.Add(1, int64(time.Second), int64(0), int64(0), false, int64(1e6), int64(0))
	f.Add(3, int64(-1), int64(1<<62), int64(1<<62), true, int64(0), int64(1e9))
	f.Fuzz(func(t *testing.T, retry int, wait, prev, hint int64, has bool, resolution, slack int64) {
		var e Evidence
		for range 3 {
			e.Observe(Wait{retry, time.Duration(wait), time.Duration(prev), time.Duration(hint), has, time.Duration(resolution), time.Duration(slack)})
		}
		e.End(retry, GaveUp)
		if r := e.Reading(); r.N+r.Unscored+r.Honoured != 3 || r.Sentence() == "" {
			t.Errorf("%+v", r)
		}
	})
}
