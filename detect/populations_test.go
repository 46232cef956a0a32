package detect_test

import (
	"maps"
	"slices"
	"testing"

	"stormwatch/detect"
)

// crowdKinds are traffic of many clients of which it is known whether it bears a
// signature of populations.
type crowdKind struct {
	text string
	has  bool
}

// measure plays each kind under a number of seeds and tells in how many a signature
// was raised, at whatever severity: never where the traffic does not bear it, nearly
// always where it does.
func measure(t *testing.T, signature string, kinds map[string]crowdKind, fast, long int) {
	t.Helper()
	nulls, false1 := 0, 0
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		k, n := kinds[name], seeds(fast, long)
		hits := 0
		for seed := range n {
			s := judged(t, play(t, k.text, seed+1), detect.Options{MaxCheckpoints: -1})
			if slices.ContainsFunc(s.Findings, func(f detect.Finding) bool { return f.Signature == signature }) {
				hits++
			}
		}
		t.Logf("%-34s %d of %d", name, hits, n)
		if !k.has {
			nulls, false1 = nulls+n, false1+hits
		}
		switch {
		case !k.has && hits > 0:
			t.Errorf("%s: raised in %d of %d runs, want none", name, hits, n)
		case k.has && float64(hits) < recall*float64(n):
			t.Errorf("%s: raised in %d of %d runs, want %.0f %%", name, hits, n, 100*recall)
		}
	}
	t.Logf("%s: %d of %d runs without it, so at most %.4f at 95 %%", signature, false1, nulls, upperBound(false1, nulls))
}

const restarts = `[/v1/config, /v1/session, /v1/flags]`

// Clients that begin together, and those that do not.
func TestStartsNull(t *testing.T) {
	kinds := map[string]crowdKind{
		"restart of 40, refused": {limited(25, "2s..6s", `
  - {name: pod, count: 40, agent: pod/1, policy: hint-floor base=2s cap=8s attempts=6, paths: ["/c/{id}"], idle: 60s, demand: [{rate: 0.08}, {from: 31s, to: 31400ms, units: 3, sequential: true, in_order: true, restart: true, paths: `+restarts+`}]}`), true},
		"restart of 40, over a whole second": {limited(200, "none", `
  - {name: pod, count: 40, agent: pod/1, policy: none, paths: ["/c/{id}"], idle: 60s, demand: [{rate: 0.08}, {from: 30600ms, to: 31400ms, units: 3, sequential: true, in_order: true, restart: true, paths: `+restarts+`}]}`), true},
		"restart of half of 60": {limited(200, "none", `
  - {name: pod, count: 30, agent: pod/1, policy: none, paths: ["/c/{id}"], idle: 60s, demand: [{rate: 0.08}, {from: 31s, to: 31400ms, units: 3, sequential: true, in_order: true, restart: true, paths: `+restarts+`}]}
  - {name: app, count: 30, agent: app/1, policy: none, paths: ["/c/{id}"], idle: 60s, demand: [{rate: 0.08}]}`), true},
		"restart one after the other": {limited(200, "none", `
  - {name: pod, count: 40, agent: pod/1, policy: none, paths: ["/c/{id}"], idle: 60s, demand: [{rate: 0.08}, {from: 31s, to: 61s, units: 3, sequential: true, in_order: true, restart: true, paths: `+restarts+`}]}`), false},
		"restart of a few": {limited(200, "none", `
  - {name: pod, count: 6, agent: pod/1, policy: none, paths: ["/c/{id}"], idle: 60s, demand: [{rate: 0.08}, {from: 31s, to: 31400ms, units: 3, sequential: true, in_order: true, restart: true, paths: `+restarts+`}]}
  - {name: app, count: 30, agent: app/1, policy: none, paths: ["/c/{id}"], idle: 60s, demand: [{rate: 0.08}]}`), false},
		"a connection for each request": {limited(500, "none", `
  - {name: app, count: 80, agent: app/1, policy: none, paths: [/v1/list, /v1/me], idle: 1ms, demand: [{rate: 0.5}]}`), false},
		"demand grows tenfold": {limited(500, "none", `
  - {name: app, count: 80, agent: app/1, policy: none, paths: [/v1/list, /v1/me], idle: 1ms, demand: [{to: 40s, rate: 0.1}, {from: 40s, to: 55s, rate: 0.1, grow_to: 1}, {from: 55s, rate: 1}]}`), false},
		"a burst of many different calls": {limited(500, "none", `
  - {name: job, count: 50, agent: job/1, policy: none, paths: ["/j/{id}"], demand: [{rate: 0.1}, {from: 31s, to: 31050ms, units: 2}]}`), false},
		"a burst on open connections": {limited(10, "2s..8s", `
  - {name: job, count: 50, agent: job/1, policy: hint-floor base=2s cap=8s attempts=4, idle: 90s, paths: [/j/a, /j/b], demand: [{from: 0s, to: 28s, units: 3}, {from: 31s, to: 31050ms, units: 1}]}`), false},
		"the input begins with them": {limited(500, "none", `
  - {name: pod, count: 40, agent: pod/1, policy: none, paths: `+restarts+`, idle: 60s, demand: [{from: 0s, to: 300ms, units: 1}, {rate: 0.3}]}`), false},
		"pollers": {limited(500, "none", `
  - {name: poll, count: 60, agent: poll/1, policy: none, paths: [/state], idle: 1ms, demand: [{every: 5s}]}`), false},
	}
	measure(t, "sync-start", kinds, 1, 60)
	null(t, "sync-start")
}

// Those who start together once a minute keep a schedule: from the third time on
// nothing is said of it.
func TestStartsOnAScheduleAreToldTwice(t *testing.T) {
	text := "name: run\nstart: 2026-03-02T03:10:00Z\nduration: 330s\nserver: {limiter: {limit: 500, window: 1s}, hint: none}\ngroups:\n" +
		"  - {name: app, count: 20, agent: app/1, policy: none, paths: [\"/c/{id}\"], idle: 90s, demand: [{rate: 0.05}]}\n" +
		"  - {name: cron, count: 30, agent: cron/1, policy: none, paths: [/v1/sync], idle: 20s, demand: ["
	for i, at := range []string{"60s, to: 60300ms", "120s, to: 120300ms", "180s, to: 180300ms", "240s, to: 240300ms", "300s, to: 300300ms"} {
		if i > 0 {
			text += ", "
		}
		text += "{from: " + at + ", units: 1}"
	}
	s := judged(t, play(t, text+"]}", 4), detect.Options{})
	n := 0
	for _, f := range s.Findings {
		if f.Signature == "sync-start" {
			n++
		}
	}
	if n != 2 {
		t.Errorf("told of %d times of five, want twice: then it is a schedule", n)
	}
}

// wave is a fleet that is refused together and comes back by a policy, again and
// again.
func wave(count, limit int, hint, policy string) string {
	return "name: run\nstart: 2026-03-02T03:10:00Z\nduration: 100s\nserver: {limiter: {limit: " + itoa(limit) + ", window: 1s}, hint: " + hint + "}\ngroups:\n" +
		"  - {name: worker, count: " + itoa(count) + ", agent: worker/1, policy: " + policy + ", paths: [\"/w/{id}\"], idle: 60s, demand: [{from: 0s, to: 28s, units: 2}, {from: 31s, to: 31050ms, units: 1}]}"
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

// slowWave is a fleet whose members come back after half a minute to a minute and a half.
func slowWave(count int, server, demand string) string {
	return "name: run\nstart: 2026-03-02T03:10:00Z\nduration: 240s\nserver: {" + server + ", hint: none}\ngroups:\n" +
		"  - {name: worker, count: " + itoa(count) + ", agent: worker/1, policy: scaled-jitter base=60s cap=60s low=0.5 high=1.5, paths: [\"/w/{client}\"], demand: [" + demand + "]}"
}

// Jitter that is too narrow for the fleet, and jitter that is not.
func TestSpreadNull(t *testing.T) {
	kinds := map[string]crowdKind{
		"70 in 1 s after 4 s, 6/s served":   {wave(70, 6, "4s", "hint-floor base=1s cap=1s"), true},
		"120 in 2 s after 6 s, 5/s served":  {wave(120, 5, "6s", "hint-floor base=2s cap=2s"), true},
		"40 in 1 s after 3 s, 3/s served":   {wave(40, 3, "3s", "hint-floor base=1s cap=1s"), true},
		"70 in 16 s after 4 s, 6/s served":  {wave(70, 6, "4s", "hint-floor base=16s cap=16s"), false},
		"30 in 4 s after 4 s, 12/s served":  {wave(30, 12, "4s", "hint-floor base=4s cap=4s"), false},
		"70, full jitter":                   {wave(70, 6, "none", "full-jitter base=2s cap=20s attempts=8"), false},
		"70, full jitter that stays narrow": {wave(70, 6, "none", "full-jitter base=1s cap=1s attempts=12"), false},
		"70, none at all":                   {wave(70, 6, "4s", "hint-exact base=1s"), false},
		"5 in 1 s after 4 s, 1/s served":    {wave(5, 1, "4s", "hint-floor base=1s cap=1s"), false},
		"70, hints that differ":             {wave(70, 6, "2s..14s", "hint-floor base=1s cap=1s"), false},
		// Where waits are long, many were served before the third attempt of the last.
		"300 in a minute, 1/s served":          {slowWave(300, "limiter: {limit: 1, window: 1s, refuse: 503}", "{from: 5s, to: 6s, units: 1}"), true},
		"100 in a minute, 3/s served":          {slowWave(100, "limiter: {limit: 3, window: 1s, refuse: 503}", "{from: 5s, to: 6s, units: 1}"), false},
		"100 in a minute, three of five fail":  {slowWave(100, "limiter: {limit: 20, window: 1s}, faults: [{from: 20s, to: 160s, paths: [/w], do: 503, share: 0.6}]", "{rate: 0.02}"), false},
		"100 in a minute, now and then served": {slowWave(100, "limiter: {limit: 20, window: 1s}, faults: [{from: 20s, to: 60s, paths: [/w], do: 503}, {from: 70s, to: 110s, paths: [/w], do: 503}]", "{rate: 0.02}"), false},
	}
	measure(t, "insufficient-spread", kinds, 1, 60)
	null(t, "insufficient-spread")
}

// Clients without jitter that are refused one by one, and those with jitter.
func TestArmedNull(t *testing.T) {
	alone := func(policy, hint string) string {
		return "name: run\nstart: 2026-03-02T03:10:00Z\nduration: 120s\nserver: {limiter: {limit: 3, window: 1s}, hint: " + hint + "}\ngroups:\n" +
			"  - {name: worker, count: 16, agent: worker/1, policy: " + policy + ", paths: [\"/w/{id}\"], idle: 40s, demand: [{rate: 0.12}]}"
	}
	kinds := map[string]crowdKind{
		"fixed 2 s":          {alone("fixed base=2s attempts=5", "1s"), true},
		"exactly as hinted":  {alone("hint-exact base=1s attempts=5", "3s"), true},
		"full jitter":        {alone("full-jitter base=2s cap=8s attempts=5", "none"), false},
		"equal jitter":       {alone("equal-jitter base=2s cap=8s attempts=5", "none"), false},
		"25 %":               {alone("scaled-jitter base=2s low=0.75 high=1.25 attempts=5", "none"), false},
		"floor and jitter":   {alone("hint-floor base=1s cap=8s attempts=5", "2s"), false},
		"decorrelated":       {alone("decorrelated base=1s cap=8s attempts=5", "none"), false},
		"hints that differ":  {alone("hint-exact base=1s attempts=5", "1s..5s"), false},
		"no retries at all":  {alone("none", "none"), false},
		"openai, three each": {alone("openai", "none"), false},
	}
	measure(t, "armed", kinds, 1, 60)
}

// Instances that share a quota, and those that do not.
func TestQuotaNull(t *testing.T) {
	quota := func(scope, groups string) string {
		return "name: run\nstart: 2026-03-02T03:10:00Z\nduration: 110s\nserver: {limiter: {limit: 5, window: 1s" + scope + "}, hint: 2s..6s}\ngroups:" + groups
	}
	const (
		modest = `policy: hint-floor base=1s cap=8s attempts=2, paths: ["/v1/c/{id}"], idle: 30s`
		one    = `identity: {key: one}, `
		each   = `identity: {key: each}, `
	)
	kinds := map[string]crowdKind{
		"30 instances, one key": {quota(", scope: key", `
  - {name: old, count: 8, agent: e/1, `+one+modest+`, demand: [{rate: 0.2}]}
  - {name: new, count: 22, agent: e/1, `+one+modest+`, demand: [{from: 30s, rate: 0.33}]}`), true}, // an excess of a fifth only takes a minute to show: 14 of 15
		"30 instances, one key, others beside": {quota(", scope: key", `
  - {name: new, count: 30, agent: e/1, `+one+modest+`, demand: [{to: 30s, rate: 0.05}, {from: 30s, rate: 0.27}]}
  - {name: app, count: 10, agent: a/1, `+each+modest+`, demand: [{rate: 0.2}]}`), true},
		"a key each, one server's limit": {quota("", `
  - {name: app, count: 30, agent: a/1, `+each+modest+`, demand: [{to: 30s, rate: 0.05}, {from: 30s, rate: 0.27}]}`), false},
		"one key, one busy instance": {quota(", scope: key", `
  - {name: busy, count: 1, agent: e/1, `+one+modest+`, demand: [{to: 30s, rate: 0.2}, {from: 30s, rate: 7}]}
  - {name: app, count: 9, agent: e/1, `+one+modest+`, demand: [{rate: 0.05}]}`), false},
		"one key, within it": {quota(", scope: key", `
  - {name: app, count: 30, agent: e/1, `+one+modest+`, demand: [{rate: 0.08}]}`), false},
		"one key, one burst": {quota(", scope: key", `
  - {name: app, count: 30, agent: e/1, `+one+modest+`, demand: [{rate: 0.08}, {from: 40s, to: 40100ms, units: 1}]}`), false},
		"no key": {quota("", `
  - {name: app, count: 30, agent: e/1, `+modest+`, demand: [{to: 30s, rate: 0.05}, {from: 30s, rate: 0.27}]}`), false},
		"one key, impatient": {quota(", scope: key", `
  - {name: app, count: 30, agent: e/1, identity: {key: one}, policy: full-jitter base=200ms cap=1s attempts=8, paths: ["/v1/c/{id}"], idle: 30s, demand: [{to: 30s, rate: 0.05}, {from: 30s, rate: 0.27}]}`), false},
		"one key, the server is down": {"name: run\nstart: 2026-03-02T03:10:00Z\nduration: 110s\nserver: {limiter: {limit: 500, window: 1s}, hint: 2s..6s, faults: [{from: 30s, to: 70s, do: 503}]}\ngroups:" + `
  - {name: app, count: 30, agent: e/1, ` + one + modest + `, demand: [{rate: 0.2}]}`, false},
	}
	measure(t, "shared-quota", kinds, 1, 60)
	null(t, "shared-quota")
}
