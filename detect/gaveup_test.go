package detect_test

import (
	"strconv"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
	"stormwatch/sim"
)

// An answer that came when its client had stopped waiting is a failure, whatever its
// status: the work was in vain.
func TestAnswerAfterTheClientLeftIsAFailure(t *testing.T) {
	xs := calls(300, func(int) bool { return true })
	for i := range xs {
		xs[i].RPC = capture.NoRPC
		if i%2 == 0 {
			xs[i].Outcome, xs[i].Flags = capture.Truncated, capture.GaveUp
		}
	}
	p := sealed(t, detect.Options{}, hostileInfo, deliver(xs, func(i int) string { return "/" + strconv.Itoa(i) }))
	runAll(t, p)
	if s := p.Snapshot(detect.View{Whole: true}); s.Verdict.State != detect.Overloaded || s.Totals.Failed != 150 {
		t.Errorf("%v, %d failed; want overload and 150", s.Verdict.State, s.Totals.Failed)
	}
}

// Who gave up in a short recording is told, and nobody else: as many as the
// simulator's requests whose last attempt failed, but for a part that may still wait.
func TestGaveUpInAShortRecording(t *testing.T) {
	for _, name := range []string{"outage", "past-deadline", "polite-backoff", "hint-absurd"} {
		res := load(t, name)
		last := map[uint64]*sim.Row{}
		for i := range res.Rows {
			last[res.Rows[i].Chain] = &res.Rows[i]
		}
		failed := 0.
		for _, r := range last {
			if r.Status == 0 || r.Status == 429 || r.Status >= 500 {
				failed++
			}
		}
		if got := judged(t, res, detect.Options{}).Totals.GaveUp.V; got > failed || got < .6*failed && failed > 5 {
			t.Errorf("%s: %.0f are said to have given up, of %.0f that failed at last", name, got, failed)
		}
	}
}
