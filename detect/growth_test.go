package detect_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"stormwatch/detect"
	"stormwatch/sim"
)

const campaign = `
name: campaign
start: 2026-03-02T03:10:00Z
duration: 120s
server: {capacity: {rate: 30, workers: 3, queue: 10, refuse: 503}, hint: 3s..8s}
groups:
  - {name: app, count: 40, agent: app/1, policy: hint-floor base=2s cap=8s attempts=3, paths: ["/a/{id}"], demand: [{rate: 0.3}]}
  - {name: new, count: 120, agent: web/2, policy: hint-floor base=2s cap=8s attempts=2, paths: ["/offer/{id}"], demand: [{from: 60s, to: 118s, rate: 0.5}]}
`

// first counts the first attempts of a group in a span of seconds.
func first(res *sim.Result, group string, from, to int64) (n float64) {
	start := res.Rows[0].Start
	for i := range res.Rows {
		if r := &res.Rows[i]; r.Attempt == 1 && res.Group(r).Name == group && r.Start >= start+from*1e9 && r.Start < start+to*1e9 {
			n++
		}
	}
	return n
}

func grownBy(s *detect.Snapshot, kind, name string) *detect.Growth {
	if i := slices.IndexFunc(s.Growth, func(g detect.Growth) bool { return g.Kind == kind && strings.Contains(g.Name, name) }); i >= 0 {
		return &s.Growth[i]
	}
	return nil
}

// A marketing burst: new clients ask for one route. A storm brings no new ones.
func TestGrowthTellsACampaignFromAStorm(t *testing.T) {
	res := play(t, campaign, 1)
	s := judged(t, res, detect.Options{})
	if s.Verdict.State < detect.Overloaded {
		t.Fatalf("%s: %s", s.Verdict.State, s.Verdict.What)
	}
	for _, kind := range []string{"route", "agent"} {
		name := map[string]string{"route": "/offer/N", "agent": "web/2"}[kind]
		g := grownBy(s, kind, name)
		if g == nil {
			t.Fatalf("%s %s did not grow: %+v", kind, name, s.Growth)
		}
		want := first(res, "new", 60, 118) / 58
		if math.Abs(g.PerS-want) > .25*want || g.Before != 0 || g.New.V < .9 {
			t.Errorf("%+v, want %.1f/s from nothing, of new clients", g, want)
		}
	}
	if g := grownBy(s, "route", "/a/N"); g != nil {
		t.Errorf("%+v did not grow", g)
	}
	if !s.Newcomers.Known || math.Abs(s.Newcomers.V-.75) > .05 { // 120 of 160
		t.Errorf("newcomers %+v, want .75", s.Newcomers)
	}
	storm := judged(t, load(t, "lockstep-bare-429"), detect.Options{})
	if storm.Newcomers.Known && storm.Newcomers.V > .5 {
		t.Errorf("a storm of known clients has %.0f %% newcomers", 100*storm.Newcomers.V)
	}
}

// One client that asks for ten times as much is named, with its rates.
func TestGrowthNamesTheClient(t *testing.T) {
	res := play(t, `
name: one
start: 2026-03-02T03:10:00Z
duration: 120s
server: {capacity: {rate: 30, workers: 3, queue: 10, refuse: 503}, hint: 3s..8s}
groups:
  - {name: app, count: 40, agent: app/1, policy: hint-floor base=2s cap=8s attempts=3, paths: ["/a/{id}"], demand: [{rate: 0.3}]}
  - {name: job, count: 1, agent: job/1, policy: hint-floor base=2s cap=8s attempts=2, paths: ["/j/{id}"], demand: [{rate: 2}, {from: 60s, to: 118s, rate: 60}]}
`, 1)
	s := judged(t, res, detect.Options{})
	if s.Verdict.State < detect.Overloaded {
		t.Fatalf("%s: %s", s.Verdict.State, s.Verdict.What)
	}
	if s.Growth == nil {
		t.Fatal("nothing grew")
	}
	var job string
	for _, c := range res.Clients {
		if res.Scenario.Groups[c.Group].Name == "job" {
			job = c.Addr.String()
		}
	}
	g := grownBy(s, "client", job)
	if g == nil {
		t.Fatalf("%s is not named: %+v", job, s.Growth)
	}
	before, after := first(res, "job", 0, 60)/60, first(res, "job", 60, 118)/58
	if math.Abs(g.Before-before) > .3*before || math.Abs(g.PerS-after) > .3*after || g.New.V != 0 {
		t.Errorf("%+v, want %.1f/s before and %.1f/s now", g, before, after)
	}
	for _, g := range s.Growth {
		if g.Kind == "client" && g.Name != job {
			t.Errorf("%+v did not grow", g)
		}
	}
}

// Where the input begins in the incident, what grew is not known.
func TestGrowthNeedsACalm(t *testing.T) {
	res := play(t, campaign, 1)
	s := judged(t, cut(res, .8), detect.Options{})
	if len(s.Growth) > 0 || s.Newcomers.Known {
		t.Errorf("%+v, %+v though no calm was seen", s.Growth, s.Newcomers)
	}
}

// The shares of a worker or a restart from a checkpoint must not show.
func TestGrowthIsTheSameWhateverTheShards(t *testing.T) {
	res := play(t, campaign, 2)
	one, many := judged(t, res, detect.Options{Shards: 1}), judged(t, res, detect.Options{Shards: 5})
	if !slices.Equal(one.Growth, many.Growth) || !slices.Equal(one.Reach, many.Reach) || one.Growth == nil {
		t.Errorf("%+v\n%+v", one.Growth, many.Growth)
	}
}
