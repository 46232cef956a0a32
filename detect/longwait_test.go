package detect_test

import (
	"testing"

	"stormwatch/detect"
)

// Who keeps to a wait of many minutes has not given up, and its retries are found.
func TestLongWaitsAreKeptTo(t *testing.T) {
	// Of waits beyond some minutes a part is taken for new requests: what is asked so
	// rarely says little about who asks how often.
	for wait, least := range map[string]int{"100s": 95, "130s": 95, "600s": 80, "1500s": 80} {
		res := play(t, `
name: long
start: 2026-03-02T03:10:00Z
duration: 7200s
server: {limiter: {limit: 6, window: 1s}, hint: `+wait+`}
groups:
  - {name: app, count: 30, agent: app/1, policy: hint-floor base=2s cap=8s attempts=4, paths: ["/i/{id}"], demand: [{rate: 0.005}, {from: 30s, to: 30500ms, units: 2}]}
`, 1)
		retries := 0
		for i := range res.Rows {
			if res.Rows[i].Attempt > 1 {
				retries++
			}
		}
		s := judged(t, res, detect.Options{})
		if got := int(s.Totals.Retries); retries < 20 || got < retries*least/100 || got > retries*105/100 {
			t.Errorf("%s: %d retries found of %d", wait, got, retries)
		}
		if least > 90 && s.Totals.GaveUp.V > 2 {
			t.Errorf("%s: %.0f gave up", wait, s.Totals.GaveUp.V)
		}
	}
}
