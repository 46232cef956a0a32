package detect_test

import (
	"context"
	"math"
	"regexp"
	"strconv"
	"testing"

	"stormwatch/detect"
	"stormwatch/sim"
)

// A report on the whole input states the shares of the whole incident, not those
// of whichever second was judged with most confidence. They are counted here from
// the rows that the simulator wrote.
func TestHeadlineCountsTheWholeIncident(t *testing.T) {
	for _, name := range []string{"lockstep-bare-429", "retry-after-ignored"} {
		res := load(t, name)
		s := judged(t, res, detect.Options{})
		until := int64(0)
		for i := range s.Findings {
			if f := &s.Findings[i]; f.Severity >= detect.High {
				until = max(until, f.Ended)
				if f.Active() {
					until = s.End
				}
			}
		}
		attempts, refused := count(res, s.Verdict.Since, until)
		want := 100 * float64(refused) / float64(attempts)
		if got := percentage(t, s.Verdict.What); math.Abs(got-want) > 2 {
			t.Errorf("%s: %q, but of the %d requests from onset to end %.0f %% were refused", name, s.Verdict.What, attempts, want)
		}
	}
	s := judged(t, load(t, "healthy"), detect.Options{})
	want := 100 * float64(s.Totals.Refused) / float64(s.Totals.Exchanges)
	if got := percentage(t, s.Verdict.What); math.Abs(got-want) > .051 {
		t.Errorf("healthy: %q, but %.1f %% of all requests were refused", s.Verdict.What, want)
	}
}

// What an incident is compared with is the calm before its onset, counted here from
// the rows that the simulator wrote; without an incident there is nothing to compare.
func TestIncidentIsComparedWithTheCalmBefore(t *testing.T) {
	res := load(t, "lockstep-bare-429")
	p := recording(t, res, detect.Options{})
	runAll(t, p)
	whole := p.Snapshot(detect.View{Whole: true})
	if err := p.Seek(context.Background(), whole.Verdict.Since+20e9); err != nil {
		t.Fatal(err)
	}
	s := p.Snapshot(detect.View{})
	attempts, refused := count(res, 0, s.Verdict.Since)
	r := &s.Recent
	if want := float64(refused) / float64(attempts); !r.RefusedShareBefore.Known || math.Abs(r.RefusedShareBefore.V-want) > .02 {
		t.Errorf("%+v were refused before, of %d %d were", r.RefusedShareBefore, attempts, refused)
	}
	if r.AmplificationBefore.V < 1 || r.AmplificationBefore.V > 1.2 || r.Amplification.V <= r.AmplificationBefore.V {
		t.Errorf("amplification %.2f, was %+v", r.Amplification.V, r.AmplificationBefore)
	}
	if r := judged(t, load(t, "healthy"), detect.Options{}).Recent; r.RefusedShareBefore.Known || r.AmplificationBefore.Known {
		t.Errorf("there was no incident, yet something before it: %+v", r)
	}
}

// Where most failures are no refusals, the headline says so rather than "0 % refused".
func TestHeadlineTellsFailuresFromRefusals(t *testing.T) {
	res := play(t, `
name: faults
start: 2026-03-02T03:10:00Z
duration: 60s
server: {limiter: {limit: 200, window: 1s}, faults: [{from: 30s, share: 0.6, do: 500}]}
groups:
  - {name: app, count: 20, agent: app/1, policy: none, paths: ["/v1/items/{id}"], demand: [{rate: 0.5}]}
`, 1)
	s := judged(t, res, detect.Options{})
	if s.Verdict.State < detect.Watch {
		t.Fatalf("state %s", s.Verdict.State)
	}
	if got := percentage(t, s.Verdict.What); got == 0 || !regexp.MustCompile(`failures.* % failed`).MatchString(s.Verdict.What) {
		t.Errorf("%q", s.Verdict.What)
	}
}

func count(res *sim.Result, from, to int64) (attempts, refused int) {
	for i := range res.Rows {
		if r := &res.Rows[i]; r.Start >= from && r.Start <= to {
			attempts++
			if r.Status == 429 || r.Status == 503 {
				refused++
			}
		}
	}
	return attempts, refused
}

func percentage(t *testing.T, text string) float64 {
	t.Helper()
	m := regexp.MustCompile(`([0-9.]+) %`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("%q tells no share", text)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
