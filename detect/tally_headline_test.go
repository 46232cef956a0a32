package detect_test

import (
	"math"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
)

// Metrics too: the headline's share is that of the incident, not of its worst
// interval. 29 of 30 intervals refuse 30 of 100, the last 98.
func TestMetricsHeadlineCountsTheWholeIncident(t *testing.T) {
	b := capture.Batch{Names: capture.NewInterner(4, 4)}
	for i := range int64(60) {
		refused := int64(0)
		switch {
		case i == 59:
			refused = 98
		case i >= 30:
			refused = 30
		}
		b.Tallies = append(b.Tallies, capture.Tally{
			Start: wall + i*10e9, End: wall + (i+1)*10e9,
			Attempts: capture.Count{N: 100, Known: true}, Refused: capture.Count{N: refused, Known: true}, OK: capture.Count{N: 100 - refused, Known: true},
		})
	}
	s := together(t, detect.Options{}, given{capture.Info{Name: "prom", Kind: "prometheus"}, []*capture.Batch{&b}})
	want := (29*30 + 98) / 30.0
	if got := percentage(t, s.Verdict.What); s.Verdict.State != detect.Overloaded || math.Abs(got-want) > 1 {
		t.Errorf("%s %q, want %.0f %%", s.Verdict.State, s.Verdict.What, want)
	}
}
