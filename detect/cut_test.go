package detect_test

import (
	"fmt"
	"testing"

	"stormwatch/detect"
)

// Input usually starts inside the incident. What was before is not known then,
// and nothing may be said that rests on it.
func TestInputThatBeginsInTheIncident(t *testing.T) {
	// within tells whether an incident is under way at the cut; where it begins a
	// few seconds after, either answer is fair, since no calm could be measured.
	within := map[string]map[float64]bool{
		"capacity-growth":     {.5: false, .65: true, .75: true, .85: true},
		"healthy":             {.5: false, .75: false},
		"lockstep-bare-429":   {.5: false, .6: true, .65: true, .7: true},
		"retry-after-ignored": {.3: true, .5: true, .65: true},
	}
	for _, name := range captures {
		res := load(t, name)
		for share, inside := range within[name] {
			t.Run(fmt.Sprintf("%s from %.2f", name, share), func(t *testing.T) {
				p := recording(t, cut(res, share), detect.Options{})
				start, end := p.Span()
				for at := start; at < end+2e9; at += 1e9 {
					if err := p.RunTo(t.Context(), at); err != nil {
						t.Fatal(err)
					}
					if v := p.Snapshot(detect.View{}).Verdict; v.Cause == detect.CauseCapacity {
						t.Fatalf("%d s after the start the cause is capacity, though no calm was seen", (at-start)/1e9)
					}
				}
				runAll(t, p)
				v := p.Snapshot(detect.View{Whole: true}).Verdict
				t.Logf("%s, %s, since %d ms after the start, censored %v", v.State, v.Cause, (v.Since-start)/1e6, v.SinceCensored)
				if inside && v.State < detect.Watch {
					t.Errorf("%s, though an incident is under way", v.State)
				}
				if inside && !v.SinceCensored {
					t.Errorf("the incident is said to begin %d ms after the input's start, though it is older", (v.Since-start)/1e6)
				}
			})
		}
	}
}

// The operator may know what the server can do; then the cause can be told.
func TestCapacityGivenReplacesTheBaseline(t *testing.T) {
	res := cut(load(t, "capacity-growth"), .65)
	s := judged(t, res, detect.Options{Capacity: 5})
	if s.Verdict.Cause != detect.CauseCapacity {
		t.Errorf("cause %s with the capacity given, want capacity; findings %v, not judged %v", s.Verdict.Cause, raised(s), s.NotJudged)
	}
}
