package detect_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
)

// told has an answer name a wait, and the request bear a credential.
func told(seconds float64, key uint64) func(*capture.Exchange) {
	return func(x *capture.Exchange) {
		x.Credential = key
		if seconds > 0 {
			x.Hint = capture.Hint{State: capture.Present, Kind: capture.RetryAfterSeconds, Wait: int64(seconds * 1e9)}
		}
		if x.Status == 403 {
			x.Reason = capture.Throttle // a secondary limit: its body says so
		}
	}
}

func judgedByHand(t *testing.T, all []hand) *detect.Snapshot {
	t.Helper()
	slices.SortStableFunc(all, func(a, b hand) int { return compareFloat(a.at, b.at) })
	g := byHand(tap, all...)
	p := sealed(t, detect.Options{}, g.info, func(take capture.Sink) error { return take(g.all[0]) })
	runAll(t, p)
	return p.Snapshot(detect.View{Whole: true})
}

func compareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// One client asks every second, and the wait grows from 5 s to two hours: it ignores
// the wait, and the growth is its penalty. The server is at no fault.
func TestPenalty(t *testing.T) {
	steps := []float64{5, 5, 10, 10, 30, 30, 120, 120, 900, 900, 7200}
	var all []hand
	for i := range 40 {
		all = append(all, hand{at: float64(i), path: "/v1/me", status: 429, change: told(steps[min(i, len(steps)-1)], 7)})
	}
	s := judgedByHand(t, all)
	for _, want := range []string{"hint-ignored", "hint-penalty"} {
		if !slices.Contains(raised(s), want) {
			t.Errorf("%s is not raised: %v", want, raised(s))
		}
	}
	for _, not := range []string{"hint-absurd", "hint-too-short", "hint-scope"} {
		if slices.Contains(raised(s), not) {
			t.Errorf("%s is raised", not)
		}
	}
	for _, f := range s.Findings {
		if f.Signature == "hint-penalty" && f.Evidence[0].Value != 5 {
			t.Errorf("%v rises, the wait grew 5 times", f.Evidence[0].Value)
		}
	}
}

// Waits that count down to one moment, stay the same, or are drawn at random are no
// penalty, whoever ignores them.
func TestPenaltyNull(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	runs := 12
	for name, wait := range map[string]func(i int) float64{
		"one moment":     func(i int) float64 { return float64(60 - i) },
		"five seconds":   func(int) float64 { return 5 },
		"random, narrow": func(int) float64 { return 1 + 4*rng.Float64() },
		"random, wide":   func(int) float64 { return 1 + 29*rng.Float64() },
		"window":         func(i int) float64 { return float64(10 - i%10) },
	} {
		raisedIn := 0
		for range runs {
			var all []hand
			for i := range 40 {
				all = append(all, hand{at: float64(i), path: "/v1/me", status: 429, change: told(wait(i), 7)})
			}
			if slices.Contains(raised(judgedByHand(t, all)), "hint-penalty") {
				raisedIn++
			}
		}
		if raisedIn > 0 {
			t.Errorf("%s: a penalty in %d of %d runs", name, raisedIn, runs)
		}
	}
}

// siblings is a credential whose /a is told to wait for 60 s and does, while 20 other
// paths are asked once each: they get the given status.
func siblings(status uint16, hint float64) (all []hand) {
	all = append(all,
		hand{at: 0, path: "/a", status: 403, change: told(60, 7)},
		hand{at: 60.4, path: "/a", status: 200, change: told(0, 7)},
	)
	for i := range 20 {
		all = append(all, hand{at: 2 + 2.8*float64(i), path: fmt.Sprintf("/%c", 'b'+i), status: status, change: told(hint, 7)})
	}
	return all
}

// The refused request waits as told, and 20 others by the same token are sent and
// refused meanwhile: the limit is wider than the client takes it for. Nobody else is
// accused, and the siblings are no retries.
func TestHintScope(t *testing.T) {
	s := judgedByHand(t, siblings(403, 30))
	if got := raised(s); !slices.Equal(got, []string{"hint-scope"}) {
		t.Errorf("raised %v, want hint-scope", got)
	}
	if s.Totals.Retries > 1 {
		t.Errorf("%d retries, want at most that of /a", s.Totals.Retries)
	}
	if c := s.Clients[0].Hints; c.Use == detect.HintIgnored {
		t.Errorf("the wait of /a is %v of %d", c.Use, c.N)
	}
	// Siblings that are served, or that come after the wait, prove nothing.
	if got := raised(judgedByHand(t, siblings(200, 0))); len(got) > 0 {
		t.Errorf("siblings are served: %v", got)
	}
	late := siblings(403, 5)
	for i := range late[2:] {
		late[2+i].at += 62
	}
	if got := raised(judgedByHand(t, late)); slices.Contains(got, "hint-scope") {
		t.Errorf("siblings come later: %v", got)
	}
}

// Where everybody is refused, that new requests are is no sign of whose limit it is.
func TestHintScopeOfAll(t *testing.T) {
	for seed := range 3 {
		s := judged(t, play(t, limited(6, "10s..30s", `
  - {name: app, count: 30, agent: app/1, policy: hint-floor base=1s cap=8s attempts=4, identity: {key: each}, paths: ["/i/{id}"], demand: [{rate: 0.1}, {from: 30s, to: 60s, rate: 2}]}`), seed), detect.Options{})
		if slices.Contains(raised(s), "hint-scope") {
			t.Errorf("seed %d: %v", seed, raised(s))
		}
	}
}
