package detect_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"

	"stormwatch/detect"
	"stormwatch/rules"
	"stormwatch/sim"
)

// kind is seeded traffic of which it is known which signatures it bears.
type kind struct {
	text string
	must []string // raised in every run
	may  []string // either answer is fair
}

// kinds without and with signatures. Each begins with 30 s of calm.
var kinds = merged(conductKinds, map[string]kind{
	"steady": {text: limited(20, "none", `
  - {name: app, count: 40, agent: app/1, policy: full-jitter base=500ms attempts=4, paths: ["/a/{id}"], demand: [{rate: 0.2}]}`)},
	"pollers": {text: limited(100, "none", `
  - {name: poll, count: 60, agent: poll/1, policy: none, paths: ["/p/{client}"], demand: [{every: 1s}]}`)},
	// A job that asks once and takes no for an answer.
	"burst, no retries": {text: limited(20, "1s..4s", `
  - {name: job, count: 50, agent: job/1, policy: none, paths: ["/j/{id}"], demand: [{rate: 0.1}, {from: 30s, to: 30050ms, units: 2}]}`)},
	// The burst returns spread out and drains.
	"burst, full jitter": {text: limited(20, "2s..8s", `
  - {name: job, count: 50, agent: job/1, policy: hint-floor base=4s cap=20s, paths: ["/j/{id}"], demand: [{rate: 0.1}, {from: 30s, to: 30050ms, units: 2}]}`)},
	"burst, full jitter, bare": {
		text: limited(20, "none", `
  - {name: job, count: 50, agent: job/1, policy: full-jitter base=4s cap=20s, paths: ["/j/{id}"], demand: [{rate: 0.1}, {from: 30s, to: 30050ms, units: 2}]}`),
		must: []string{"hint-missing"}, may: []string{"budget-exceeded"},
	},
	"burst, equal jitter": {text: limited(20, "1s", `
  - {name: job, count: 50, agent: job/1, policy: equal-jitter base=4s cap=20s, paths: ["/j/{id}"], demand: [{rate: 0.1}, {from: 30s, to: 30050ms, units: 2}]}`)},
	// More is wanted than can be served; everybody obeys.
	"growth": {
		text: served(`
  - {name: app, count: 60, agent: app/1, policy: hint-floor base=1s cap=8s attempts=3, paths: ["/a/{id}"], demand: [{from: 0s, to: 30s, rate: 0.1}, {from: 30s, to: 60s, rate: 0.1, grow_to: 0.3}, {from: 60s, to: 100s, rate: 0.3}]}`),
		must: []string{"capacity-not-behaviour"},
	},
	"growth, no retries": {
		text: served(`
  - {name: app, count: 60, agent: app/1, policy: none, paths: ["/a/{id}"], demand: [{from: 0s, to: 30s, rate: 0.1}, {from: 30s, to: 60s, rate: 0.1, grow_to: 0.3}, {from: 60s, to: 100s, rate: 0.3}]}`),
		must: []string{"capacity-not-behaviour"},
	},
	"lockstep": {
		text: limited(10, "none", `
  - {name: job, count: 50, agent: job/1, policy: fixed base=2s, paths: ["/j/{id}"], demand: [{from: 0s, to: 30s, units: 3}, {from: 31s, to: 31050ms, units: 2}]}`),
		must: []string{"hint-missing", "lockstep", "budget-exceeded"}, may: []string{"rising-share-after-burst", "uncapped-attempts"}, // nothing ends it but success
	},
	"lockstep by hint": {
		text: limited(10, "2s", `
  - {name: job, count: 50, agent: job/1, policy: hint-exact base=2s, paths: ["/j/{id}"], demand: [{from: 0s, to: 30s, units: 3}, {from: 31s, to: 31050ms, units: 2}]}`),
		must: []string{"lockstep"}, may: []string{"rising-share-after-burst", "uncapped-attempts"},
	},
	"deaf": {
		text: limited(20, "4s..8s", `
  - {name: job, count: 30, agent: job/1, policy: full-jitter base=300ms cap=2s attempts=8, paths: ["/j/{id}"], demand: [{rate: 0.2}, {from: 30s, to: 70s, rate: 1}]}`),
		must: []string{"hint-ignored", "budget-exceeded"}, may: []string{"rising-share-after-burst"},
	},
	"loop": {
		text: looping(`
  - {name: app, count: 80, agent: app/1, policy: full-jitter base=300ms cap=1s, paths: ["/a/{id}"], demand: [{rate: 0.2}, {from: 30s, to: 36s, rate: 1.2}]}`),
		must: []string{"hint-missing", "rising-share-after-burst", "uncapped-attempts", "budget-exceeded"},
	},
})

// merged joins kinds of different names.
func merged(a, b map[string]kind) map[string]kind {
	maps.Copy(b, a)
	return b
}

func limited(limit int, hint, groups string) string {
	return fmt.Sprintf("name: run\nstart: 2026-03-02T03:10:00Z\nduration: 100s\nserver: {limiter: {limit: %d, window: 1s}, hint: %s}\ngroups:%s", limit, hint, groups)
}

func served(groups string) string {
	return "name: run\nstart: 2026-03-02T03:10:00Z\nduration: 100s\nserver: {capacity: {rate: 10, workers: 2, queue: 6, refuse: 503}, hint: 2s..5s}\ngroups:" + groups
}

func looping(groups string) string {
	return "name: run\nstart: 2026-03-02T03:10:00Z\nduration: 120s\nserver: {limiter: {limit: 30, window: 1s, count_refused: true}, hint: none}\ngroups:" + groups
}

func TestLockstepNull(t *testing.T)    { null(t, "lockstep") }
func TestHintMissingNull(t *testing.T) { null(t, "hint-missing") }
func TestHintIgnoredNull(t *testing.T) { null(t, "hint-ignored") }
func TestAfterBurstNull(t *testing.T)  { null(t, "rising-share-after-burst") }
func TestCapacityNull(t *testing.T)    { null(t, "capacity-not-behaviour") }
func TestBudgetNull(t *testing.T)      { null(t, "budget-exceeded") }
func TestHintSharesNull(t *testing.T) {
	null(t, "hint-malformed", "hint-absurd", "hint-zero", "hints-disagree", "hint-too-short")
}

func TestConductNull(t *testing.T) {
	null(t, "immediate-retry", "uncapped-attempts", "non-retryable-retried", "body-error-retried", "credential-rotation",
		"unsafe-write-retried", "past-deadline", "limit-known-ignored", "hint-overwaited", "client-parked",
		"hint-unit-confusion", "clock-skew-early",
		"redirect-unfollowed", "session-dies", "repeated-calls", "hot-poll", "sequence-restarted")
}

// recall is the least share of the runs with a signature in which it is raised.
const recall = .95

// null tells in how many seeded runs a signature was raised: never where the
// traffic does not bear it, nearly always where it does.
func null(t *testing.T, signatures ...string) {
	runs, raisedIn, err := nullRuns()
	if err != nil {
		t.Fatal(err)
	}
	for _, signature := range signatures {
		t.Run(signature, func(t *testing.T) { compare(t, signature, runs, raisedIn) })
	}
}

func compare(t *testing.T, signature string, runs int, raisedIn map[string]map[string]int) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		k, hits := kinds[name], raisedIn[name][signature]
		t.Logf("%-26s %d of %d", name, hits, runs)
		switch {
		case slices.Contains(k.may, signature):
		case slices.Contains(k.must, signature):
			if float64(hits) < recall*float64(runs) {
				t.Errorf("%s: %s raised in %d of %d runs, want %.0f %%", name, signature, hits, runs, 100*recall)
			}
		case hits > 0:
			t.Errorf("%s: %s raised in %d of %d runs, want none", name, signature, hits, runs)
		}
	}
}

// nullRuns plays each kind under a number of seeds, once for all tests, and
// counts the runs in which a signature was raised.
func nullRuns() (runs int, hits map[string]map[string]int, err error) {
	played.once.Do(func() { played.runs, played.hits, played.err = playKinds() })
	return played.runs, played.hits, played.err
}

// played is shared by the null tests: the runs take most of their time.
var played struct {
	once sync.Once
	runs int
	hits map[string]map[string]int
	err  error
}

func playKinds() (runs int, hits map[string]map[string]int, err error) {
	runs = 3
	if os.Getenv("STORMWATCH_QUALITY") == "1" {
		runs = 60
	}
	set, err := rules.Load()
	if err != nil {
		return 0, nil, err
	}
	hits = map[string]map[string]int{}
	for name, k := range kinds {
		hits[name] = map[string]int{}
		for seed := range runs {
			names, err := conclude(k.text, seed+1, set)
			if err != nil {
				return 0, nil, fmt.Errorf("%s, seed %d: %w", name, seed+1, err)
			}
			for _, s := range names {
				hits[name][s]++
			}
		}
	}
	return runs, hits, nil
}

// conclude tells which signatures a run raises above info.
func conclude(text string, seed int, set *rules.Set) ([]string, error) {
	sc, err := sim.Parse([]byte(text + "\nseed: " + strconv.Itoa(seed) + "\n"))
	if err != nil {
		return nil, err
	}
	rec := detect.NewRecording(detect.Options{Rules: set, MaxCheckpoints: -1})
	src := sim.Run(sc).Source("sim")
	if err := src.Run(context.Background(), rec.Inlet(src.Info()).Take); err != nil {
		return nil, err
	}
	if err := rec.Seal(); err != nil {
		return nil, err
	}
	p, err := detect.NewReplay(rec)
	if err != nil {
		return nil, err
	}
	if err := p.RunAll(context.Background()); err != nil {
		return nil, err
	}
	return raised(p.Snapshot(detect.View{Whole: true})), rec.Close()
}
