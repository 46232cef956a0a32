package detect_test

import (
	"strings"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
)

// with changes the batches of a run and the health they come with.
func with(g given, keep func(i int, x *capture.Exchange) bool, change func(*capture.Health)) given {
	n := 0
	for _, b := range g.all {
		kept := b.Exchanges[:0]
		for _, x := range b.Exchanges {
			if n++; keep(n, &x) {
				kept = append(kept, x)
			}
		}
		b.Exchanges = kept
		if b.Health != nil {
			change(b.Health)
		}
	}
	return g
}

// A log that leaves successes out cannot tell how much is refused: no share is
// stated, no overload called, and nothing is clear.
func TestLogOfFailuresOnly(t *testing.T) {
	for _, name := range []string{"capacity-growth", "shared-quota", "lockstep-bare-429"} {
		g := with(from(t, load(t, name), "a", "a"), func(_ int, x *capture.Exchange) bool { return x.Failed() },
			func(h *capture.Health) { h.FailuresOnly = true })
		s := together(t, detect.Options{}, g)
		if v := s.Verdict; v.State == detect.Clear || v.State == detect.Overloaded || strings.Contains(v.What, "%") {
			t.Errorf("%s: %s %q", name, v.State, v.What)
		}
		for _, id := range []string{"rising-share-after-burst", "capacity-not-behaviour"} {
			if why := reason(s, id); !strings.Contains(why, "leaves successes out") {
				t.Errorf("%s: %s: %q", name, id, why)
			}
		}
	}
}

// In a sample the retries of what is there are missing: what rests on chains is
// not judged, and said so.
func TestSampledLog(t *testing.T) {
	for _, name := range []string{"retry-after-ignored", "lockstep-bare-429"} {
		g := with(from(t, load(t, name), "a", "a"), func(i int, _ *capture.Exchange) bool { return i%2 == 0 },
			func(h *capture.Health) { h.Sampled = .5 })
		s := together(t, detect.Options{}, g)
		for _, id := range []string{"lockstep", "hint-ignored", "rising-share-after-burst", "capacity-not-behaviour"} {
			if why := reason(s, id); !strings.Contains(why, "sample") {
				t.Errorf("%s: %s: %q, findings %v", name, id, why, raised(s))
			}
		}
	}
}

func reason(s *detect.Snapshot, signature string) string {
	for _, n := range s.NotJudged {
		if n.Signature == signature {
			return n.Reason
		}
	}
	return ""
}
