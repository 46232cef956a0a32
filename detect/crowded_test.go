package detect_test

import (
	"slices"
	"strings"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
)

// While it is not known which client did what, no finding on single clients is
// made and all of them are told as not judged; that it was otherwise before, or is
// later, leaves nothing wrong.
func TestCrowdedInput(t *testing.T) {
	res := load(t, "retry-after-ignored")
	of := func(s *detect.Snapshot) (hidden bool) {
		return slices.ContainsFunc(s.NotJudged, func(n detect.NotJudged) bool {
			return strings.Contains(n.Reason, "one or two addresses")
		})
	}
	run := func(from, to float64) (s *detect.Snapshot, hid int) {
		l := live(t, detect.Options{})
		in := l.Inlet(capture.Info{Name: "sim", Kind: "capture", Vantage: "sim", Live: true})
		now := wall
		all := small(batches(t, res))
		for i, b := range all {
			if at := float64(i) / float64(len(all)); b.Health != nil && at >= from && at < to {
				b.Health = b.Health.Clone()
				b.Health.Crowded = true
			}
			take(t, in, b)
			now += 1e8
			advance(t, l, now)
			if i%50 == 0 && of(l.Snapshot(detect.View{})) {
				hid++
			}
		}
		l.Finish()
		return l.Snapshot(detect.View{Whole: true}), hid
	}
	open, hid := run(1, 1)
	if !slices.Contains(raised(open), "hint-ignored") || hid > 0 {
		t.Fatalf("in the open: %v, hidden %d times", raised(open), hid)
	}
	if s, _ := run(0, 2); slices.Contains(raised(s), "hint-ignored") || !of(s) {
		t.Errorf("hidden: %v, %v", raised(s), s.NotJudged)
	}
	for name, span := range map[string][2]float64{"later": {0.7, 2}, "at first": {0, 0.5}} {
		s, hid := run(span[0], span[1])
		if !slices.Contains(raised(s), "hint-ignored") || hid == 0 {
			t.Errorf("hidden %s: %v, hidden %d times", name, raised(s), hid)
		}
		for _, f := range s.Findings {
			if name == "later" && f.Signature == "hint-ignored" && f.Active() {
				t.Errorf("hidden %s: %s still holds at the end", name, f.Signature)
			}
			if i := slices.IndexFunc(open.Findings, func(g detect.Finding) bool { return g.Signature == f.Signature }); i >= 0 && f.ClientCount > open.Findings[i].ClientCount {
				t.Errorf("hidden %s: %s of %d clients, of %d in the open", name, f.Signature, f.ClientCount, open.Findings[i].ClientCount)
			}
		}
	}
}
