package detect_test

import (
	"strconv"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
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
