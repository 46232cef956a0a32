package detect_test

import (
	"fmt"
	"testing"

	"stormwatch/detect"
)

// A restart of twenty seconds. All ask for one thing, so that a client's requests
// that are under way at one time make a chain longer than any of them now and then.
const restarted = `
name: restarted
start: 2026-03-02T03:10:00Z
duration: 150s
server: {capacity: {rate: 4000, workers: 50, queue: 500}, faults: [{from: 60s, to: 80s, do: 502}]}
groups:
  - {name: app, count: %d, agent: app/1, policy: %s, paths: ["/v1/orders"], demand: [{from: 0s, to: 150s, rate: %g}]}
`

// Of clients that give up as they should, what a few seem to do is no storm of all;
// where all of them never give up, it is one.
func TestFewMakeNoStormOfARestart(t *testing.T) {
	for _, c := range []struct {
		policy  string
		clients int
		rate    float64
		want    detect.State
	}{
		{"full-jitter base=1s cap=30s attempts=5", 200, 0.05, detect.Overloaded},
		{"full-jitter base=1s cap=30s attempts=5", 6000, 0.015, detect.Overloaded},
		{"full-jitter base=500ms cap=1s attempts=100", 200, 0.05, detect.Storm},
		{"full-jitter base=500ms cap=1s attempts=100", 2000, 0.015, detect.Storm},
	} {
		for seed := 1; seed <= 3; seed++ {
			res := play(t, fmt.Sprintf(restarted, c.clients, c.policy, c.rate), seed)
			if v := judged(t, res, detect.Options{}).Verdict; v.State != c.want {
				t.Errorf("%d clients, %s, seed %d: %s of %s (%s)", c.clients, c.policy, seed, v.State, v.Cause, v.What)
			}
		}
	}
}
