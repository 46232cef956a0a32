package detect_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
)

// layered is a client that tries every request four times, a second apart, through a
// proxy that tries each of those three times, 20 ms apart: twelve requests for one. Both
// say so where counted, and the client's only try each 20 ms where not.
func layered(counted bool) (all []hand) {
	for i := range 12 {
		for a := range 4 {
			for p := range 3 {
				h := hand{at: 6*float64(i) + 1.1*float64(a) + .04*float64(p), path: fmt.Sprintf("/v1/call/%d", i), status: 503}
				if counted {
					h.fields = []string{"x-stainless-retry-count", strconv.Itoa(a), "x-envoy-attempt-count", strconv.Itoa(p + 1)}
				}
				all = append(all, h)
			}
		}
	}
	return all
}

// A proxy's burst within one attempt of the client is not the client's haste, and
// twelve attempts at a server are four of the client: the layers tell of both. Where
// nobody says that a proxy is there, the bursts within bursts do.
func TestBurstsOfALayer(t *testing.T) {
	s := judgedByHand(t, layered(true))
	for _, not := range []string{"immediate-retry", "uncapped-attempts"} {
		if slices.Contains(raised(s), not) {
			t.Errorf("%s is raised of the client, it is the proxy's burst", not)
		}
	}
	if m := s.Matcher; m.ClientAttempts != 4 || m.ProxyAttempts != 3 {
		t.Errorf("%d attempts of the client and %d of the proxy, want 4 and 3", m.ClientAttempts, m.ProxyAttempts)
	}
	bare := judgedByHand(t, layered(false))
	if r := raised(bare); !slices.Contains(r, "layered-retries") || slices.Contains(r, "uncapped-attempts") {
		t.Errorf("without counters: %v", raised(bare))
	}
	// A client that counts its own attempts, at once after each other, is in haste.
	var hasty []hand
	for i := range 12 {
		for a := range 6 {
			hasty = append(hasty, hand{at: 6*float64(i) + .04*float64(a), path: fmt.Sprintf("/v1/call/%d", i), status: 503, fields: []string{"x-stainless-retry-count", strconv.Itoa(a)}})
		}
	}
	if s := judgedByHand(t, hasty); !slices.Contains(raised(s), "immediate-retry") {
		t.Errorf("a hasty client: %v", raised(s))
	}
}
