package detect_test

import (
	"testing"

	"stormwatch/detect"
)

// A burst of 10 s at 31 s is refused and drains; how long it took is told once it is
// over, and not before, nor where the input began inside it.
func TestTimeToRecover(t *testing.T) {
	text := limited(10, "1s..3s", `
  - {name: app, count: 40, agent: app/1, policy: hint-floor base=1s cap=4s attempts=4, paths: ["/a/{id}"], demand: [{rate: 0.1}, {from: 31s, to: 41s, rate: 0.8}]}`)
	res := play(t, text, 5)
	p := recording(t, res, detect.Options{})
	start, _ := p.Span()
	for at, known := range map[int64]bool{20: false, 36: false, 70: true} {
		if err := p.Seek(t.Context(), start+at*1e9); err != nil {
			t.Fatal(err)
		}
		if r := p.Snapshot(detect.View{}).Totals.RecoverS; r.Known != known {
			t.Errorf("after %d s: %+v", at, r)
		}
	}
	runAll(t, p)
	s := p.Snapshot(detect.View{Whole: true})
	// Three waits of at most 3 s and 1, 2 and 4 s more: the last retry of the burst comes
	// 16 s after it.
	if r := s.Totals.RecoverS; !r.Known || r.V < 10 || r.V > 28 {
		t.Errorf("%+v s, want 10 to 28 (%s)", r, s.Verdict.What)
	}
	if s := judged(t, cut(res, .36), detect.Options{}); s.Totals.RecoverS.Known {
		t.Errorf("of an incident joined midway: %+v", s.Totals.RecoverS)
	}
}
