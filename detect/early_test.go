package detect_test

import (
	"context"
	"strings"
	"testing"

	"stormwatch/detect"
	"stormwatch/sim"
)

// warnings are the seconds in which a run is told to come near its limits.
func warnings(t *testing.T, res *sim.Result, o detect.Options) (seconds int, first *detect.Verdict) {
	t.Helper()
	p := recording(t, res, o)
	start, end := p.Span()
	for at := start - start%1e9; at < end+1e9; at += 1e9 {
		if err := p.RunTo(context.Background(), at); err != nil {
			t.Fatal(err)
		}
		v := p.Snapshot(detect.View{}).Verdict
		if v.State == detect.Watch && strings.Contains(v.What, "nothing fails yet") {
			if seconds++; first == nil {
				first = &v
			}
		}
	}
	return seconds, first
}

func rising(server, demand string) string {
	return "name: run\nstart: 2026-03-02T03:10:00Z\nduration: 240s\nserver: " + server + "\ngroups:\n" +
		"  - {name: app, count: 60, agent: app/1, policy: full-jitter base=1s cap=8s attempts=3, paths: [\"/a/{id}\"], demand: [" + demand + "]}"
}

const roomy = "{limiter: {limit: 500, window: 1s}}"

// Load that comes near what can be served is told before anything fails, with what to
// do; load that does not is not, nor what is no more than in calm.
func TestEarlyWarning(t *testing.T) {
	const (
		grows  = `{to: 60s, rate: 0.3}, {from: 60s, to: 120s, rate: 0.3, grow_to: 0.98}, {from: 120s, rate: 0.98}`
		steady = `{rate: 0.6}`
		// A queue that is full for half a minute tells what can be served; then calm, and
		// demand that grows to nearly so much.
		again  = `{to: 30s, rate: 0.3}, {from: 30s, to: 60s, rate: 1.2}, {from: 60s, to: 150s, rate: 0.3}, {from: 150s, to: 180s, rate: 0.3, grow_to: 0.64}, {from: 180s, rate: 0.64}`
		back   = `{to: 30s, rate: 0.3}, {from: 30s, to: 60s, rate: 1.2}, {from: 60s, rate: 0.3}`
		slowly = `{to: 30s, rate: 0.3}, {from: 30s, to: 60s, rate: 1.2}, {from: 60s, to: 100s, rate: 0.3}, {from: 100s, to: 200s, rate: 0.3, grow_to: 0.64}, {from: 200s, rate: 0.64}`
		partly = `{to: 30s, rate: 0.3}, {from: 30s, to: 60s, rate: 1.2}, {from: 60s, to: 150s, rate: 0.3}, {from: 150s, to: 180s, rate: 0.3, grow_to: 0.5}, {from: 180s, rate: 0.5}`
		busy   = `{to: 30s, rate: 0.6}, {from: 30s, to: 60s, rate: 1.2}, {from: 60s, rate: 0.6}`
		queue  = "{capacity: {rate: 40, workers: 40, queue: 60, refuse: 503}, hint: 2s..8s}"
	)
	tests := map[string]struct {
		text     string
		capacity float64
		warned   bool
	}{
		"grows to what the operator says":            {rising(roomy, grows), 62, true},
		"the operator's figure is far":               {rising(roomy, grows), 120, false},
		"nobody says what can be served":             {rising(roomy, grows), 0, false},
		"steady at its own maximum":                  {rising(roomy, steady), 0, false},
		"grows to what was served when full":         {rising(queue, again), 0, true},
		"grows slowly to what was served":            {rising(queue, slowly), 0, true},
		"was full, and goes on as before":            {rising(queue, back), 0, false},
		"was full, and grows to three fourths of it": {rising(queue, partly), 0, false},
		"was full, and is nearly so all along":       {rising(queue, busy), 0, false},
		"half of what the operator says":             {rising(roomy, steady), 72, false},
		"grows beyond what the operator says":        {rising(roomy, grows), 50, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			total, warned := seeds(2, 40), 0
			for seed := range total {
				n, v := warnings(t, play(t, tt.text, seed+1), detect.Options{Capacity: tt.capacity, MaxCheckpoints: -1})
				if n == 0 {
					continue
				}
				warned++
				if v.Cause != detect.CauseCapacity || v.Do == "" || v.Dont == "" || !strings.Contains(v.What, "/s") {
					t.Errorf("seed %d: %+v", seed+1, v)
				}
			}
			t.Logf("warned in %d of %d", warned, total)
			if tt.warned && float64(warned) < warnedOf*float64(total) || !tt.warned && warned > 0 {
				t.Errorf("warned in %d of %d runs", warned, total)
			}
		})
	}
}

// warnedOf is the share of runs in which what must be told is told, of 40: all are.
const warnedOf = .95

// Nothing is told of kinds of traffic that are quiet, whatever was told of what can be
// served, as long as that is well above what is asked.
func TestNoEarlyWarningOfQuietTraffic(t *testing.T) {
	n := 0
	for _, name := range scenarios(t) {
		res := load(t, name)
		if !res.Scenario.Expect.Quiet && res.Scenario.Expect.State != "clear" {
			continue
		}
		n++
		if seconds, v := warnings(t, res, detect.Options{MaxCheckpoints: -1}); seconds > 0 {
			t.Errorf("%s: warned for %d s: %s", name, seconds, v.What)
		}
	}
	for name, k := range kinds {
		if len(k.must) > 0 {
			continue
		}
		n++
		for seed := range seeds(1, 20) {
			if seconds, v := warnings(t, play(t, k.text, seed+1), detect.Options{MaxCheckpoints: -1}); seconds > 0 {
				t.Errorf("%s, seed %d: warned for %d s: %s", name, seed+1, seconds, v.What)
			}
		}
	}
	t.Logf("%d quiet kinds", n)
}
