package detect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
)

// A load generator whose output names no client asks ten times a second whatever it is
// answered: nothing that single clients do is found in it, nor any retry, and it is
// said why. The same requests of one client that has a name are retries.
func TestNamelessInputAccusesNobody(t *testing.T) {
	var all []hand
	for i := range 200 {
		all = append(all, hand{at: float64(i) / 10, path: "/down", status: 429, change: func(x *capture.Exchange) {
			x.Hint = capture.Hint{State: capture.Present, Wait: 30e9}
		}})
	}
	named := seen(t, byHand(tap, all...), detect.Options{})
	if got := raised(named); !slices.Contains(got, "hint-ignored") {
		t.Fatalf("of one named client: %v", got)
	}
	g := byHand(tap, all...)
	g.all[0].Health.Nameless = true
	s := seen(t, g, detect.Options{})
	if got := raised(s); len(got) != 0 {
		t.Errorf("raised %v", got)
	}
	if s.Verdict.State != detect.Overloaded || s.Verdict.Party.Clients != 0 {
		t.Errorf("%s, who: %s", s.Verdict.State, s.Verdict.Who)
	}
	for _, id := range []string{"hint-ignored", "immediate-retry", "uncapped-attempts", "budget-exceeded"} {
		if !slices.ContainsFunc(s.NotJudged, func(n detect.NotJudged) bool {
			return n.Signature == id && strings.Contains(n.Reason, "tells no client from another")
		}) {
			t.Errorf("%s: not said why it is not judged: %s", id, fmt.Sprint(s.NotJudged))
		}
	}
}
