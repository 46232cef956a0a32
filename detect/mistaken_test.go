package detect_test

import (
	"fmt"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
)

// Answers of 4xx that are no refusals have a sum of their own: with it the sums are
// all there is.
func TestOther4xxAreSummed(t *testing.T) {
	status := []uint16{200, 404, 429, 401, 503, 500, 408, 410, 404, 301}
	var all []hand
	for i, s := range status {
		all = append(all, hand{at: float64(i), path: fmt.Sprintf("/%d", i), status: s})
	}
	s := seen(t, byHand(capture.Info{Name: "hand", Kind: "capture", Vantage: "edge"}, all...), detect.Options{})
	if n := &s.Totals; n.ClientErrors != 4 || n.Refused != 2 || n.Failed != 4 || n.Succeeded != 2 || n.Exchanges != 10 {
		t.Errorf("%d other 4xx, %d refused, %d failed, %d succeeded of %d; want 4, 2, 4 (429, 503, 500, 408), 2 of 10", n.ClientErrors, n.Refused, n.Failed, n.Succeeded, n.Exchanges)
	}
}
