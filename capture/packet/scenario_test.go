package packet

import (
	"os"
	"testing"

	"stormwatch/capture"
)

// TestScenarioLimits reads what the servers of the recorded scenarios say of
// waits and limits, as their scenario.yaml has it.
func TestScenarioLimits(t *testing.T) {
	within := func(ns, low, high int64) bool { return ns >= low*1e9 && ns <= high*1e9 }
	for name, right := range map[string]func(x *seen) bool{
		"reset-only": func(x *seen) bool { // 2 to 6 s, told as a Unix time rounded up
			return x.Hint.Kind == capture.ResetEpoch && within(x.Hint.Wait, 2, 7) && x.Limit.Reset == x.Hint.Wait
		},
		"unit-confusion": func(x *seen) bool { // Retry-After beside the seconds left
			return x.Hint.Kind == capture.RetryAfterSeconds && within(x.Hint.Wait, 3, 6) && x.Limit.Form == capture.ResetSeconds && x.Limit.Reset == 3e9
		},
		"hints-disagree": func(x *seen) bool {
			return x.Hint.Kind == capture.RetryAfterSeconds && x.Hint.Wait == 2e9 && x.Limit.Form == capture.ResetSeconds && x.Limit.Reset == 33e9
		},
		"limit-known-ignored": func(x *seen) bool {
			return x.Hint.Kind == capture.RetryAfterSeconds && x.Limit.Form == capture.ResetSeconds && within(x.Limit.Reset, 0, 4) && x.Limit.Exhausted()
		},
		"parked-clients": func(x *seen) bool {
			return x.Hint.Kind == capture.RetryAfterSeconds && x.Hint.Wait == 3e9 && x.Limit.Form == capture.ResetEpoch && within(x.Limit.Reset, 3, 4)
		},
		"clock-skew": func(x *seen) bool { // right by the server's clock, which is 5 s slow
			return x.Hint.Kind == capture.RetryAfterDate && within(x.Hint.Wait, 6, 9) && x.Limit == (capture.Limit{}) && within(x.End-x.Date*1e9, 5, 6)
		},
	} {
		b, err := os.ReadFile("../../testdata/pcaps/" + name + "/traffic.pcap")
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		for _, x := range readAll(t, b, Options{}).all {
			switch {
			case x.Refused():
				refused++
				if !right(&x) {
					t.Errorf("%s: %v: %s", name, x.At, said(&x))
				}
			case x.Hint.State != capture.Absent:
				t.Errorf("%s: %v: a wait on a success", name, x.At)
			case name == "limit-known-ignored" && (x.Limit.Left == 0 || x.Limit.Left > 5):
				t.Errorf("%s: %v: %d left of 4", name, x.At, int(x.Limit.Left)-1)
			}
		}
		if refused == 0 {
			t.Errorf("%s: nothing was refused", name)
		}
	}
}

// Each request of past-deadline says when its caller stops waiting: 3 s after its
// first attempt, in whole seconds, which later attempts may lie beyond.
func TestScenarioDeadlines(t *testing.T) {
	b, err := os.ReadFile("../../testdata/pcaps/past-deadline/traffic.pcap")
	if err != nil {
		t.Fatal(err)
	}
	beyond := 0
	for _, x := range readAll(t, b, Options{}).all {
		left := x.Deadline - x.Start
		if x.Attempt.N == 1 && (left < 2e9 || left > 4e9) || x.Deadline == 0 {
			t.Errorf("%v: attempt %d may take %d ns", x.At, x.Attempt.N, left)
		}
		if left < 0 {
			beyond++
		}
	}
	if beyond == 0 {
		t.Error("no attempt lies beyond its deadline")
	}
}
