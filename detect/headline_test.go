package detect_test

import (
	"fmt"
	"strings"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
)

// Twenty clients ask once each within a tenth of a second, are refused, and come back
// every second until they have tried 25 times: 25 attempts for each of 20 requests,
// and the headline may not say more, though the first attempts lie before most of what
// it counts.
func TestHeadlineCountsRequestsBegunBefore(t *testing.T) {
	var all []hand
	for i := range 60 { // calm before
		all = append(all, hand{at: float64(i) / 2, path: fmt.Sprintf("/calm/%d", i), status: 200})
	}
	for k := range 25 {
		for c := range 20 {
			all = append(all, hand{at: 30.9 + float64(k) + float64(c)/1000, path: fmt.Sprintf("/r/%d", c), status: 429, change: func(x *capture.Exchange) {
				x.Src.IP[15] = byte(100 + c)
			}})
		}
	}
	s := seen(t, byHand(tap, all...), detect.Options{})
	_, rest, ok := strings.Cut(s.Verdict.What, "refused, ")
	var got float64
	if _, err := fmt.Sscanf(rest, "%f attempts per request", &got); !ok || err != nil || got > 25.05 || got < 10 {
		t.Errorf("%q: each request was tried 25 times", s.Verdict.What)
	}
}
