package detect_test

import (
	"strings"
	"testing"

	"stormwatch/detect"
)

// One client that is refused again and again is no storm, but "clear" it is not.
func TestMostlyInVainIsNotClear(t *testing.T) {
	res := play(t, `
name: vain
start: 2026-03-02T03:10:00Z
duration: 120s
server: {limiter: {limit: 200, window: 1s}, faults: [{from: 0s, do: 503}]}
groups:
  - {name: job, count: 1, agent: job/1, policy: none, paths: ["/j/{id}"], demand: [{every: 2s}]}
`, 1)
	s := judged(t, res, detect.Options{})
	if s.Verdict.State != detect.Watch || !strings.Contains(s.Verdict.What, "in vain") {
		t.Errorf("%s: %s", s.Verdict.State, s.Verdict.What)
	}
}

// Without time stamps nothing can be judged, and that is said.
func TestNoTimeStampsNoVerdict(t *testing.T) {
	res := play(t, `
name: timeless
start: 2026-03-02T03:10:00Z
duration: 60s
server: {limiter: {limit: 200, window: 1s}}
groups:
  - {name: app, count: 20, agent: app/1, policy: none, paths: ["/a/{id}"], demand: [{rate: 0.5}]}
`, 1)
	at := res.Rows[0].Start
	for i := range res.Rows {
		res.Rows[i].Start, res.Rows[i].End = at, at
	}
	s := judged(t, res, detect.Options{})
	if s.Verdict.State != detect.Unknown || !strings.Contains(s.Verdict.What, "time stamps") {
		t.Errorf("%s: %s", s.Verdict.State, s.Verdict.What)
	}
}
