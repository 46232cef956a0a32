package detect_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
)

// TestHiddenIsNotClear puts calm traffic beside what could not be read, of each kind.
// Some of it lowers the confidence in step, more than a third of the whole leaves no
// verdict, and both are told; an alarm stays one.
func TestHiddenIsNotClear(t *testing.T) {
	kinds := map[string]struct {
		set  func(h *capture.Health, n uint64)
		told string
	}{
		"encrypted": {func(h *capture.Health, n uint64) { h.Encrypted = n }, "<n> connections are encrypted"},
		"refused":   {func(h *capture.Health, n uint64) { h.Rejected = n }, "<n> connections refused"},
		"cut":       {func(h *capture.Health, n uint64) { h.Cut = n }, "<n> connections were cut short"},
		"QUIC":      {func(h *capture.Health, n uint64) { h.QUIC, h.Used = n, 400 }, "QUIC, <n> packets: cannot be read"},
		"damage":    {func(h *capture.Health, n uint64) { h.Unread = float64(n) / float64(n+400) }, "% of an input lie behind a damaged record"},
		"orphans":   {nil, "<n> of <all> answers were captured without their request"},
	}
	for name, kind := range kinds {
		for _, n := range []int{0, 100, 190, 210, 390} { // beside 400
			seen := 400
			xs := calls(seen, func(int) bool { return true })
			if kind.set == nil {
				xs = calls(seen+n, func(int) bool { return true })
				for i := range n {
					xs[i*len(xs)/n].Flags |= capture.Orphan
				}
			}
			p := sealed(t, detect.Options{}, hostileInfo, func(take capture.Sink) error {
				return deliver(xs, func(i int) string { return "/" + fmt.Sprint(i) })(func(b *capture.Batch) error {
					if kind.set != nil && b.Health != nil {
						kind.set(b.Health, uint64(n))
					}
					return take(b)
				})
			})
			runAll(t, p)
			v := p.Snapshot(detect.View{Whole: true}).Verdict
			state := detect.Clear
			if n > 200 {
				state = detect.Unknown
			}
			if v.State != state {
				t.Errorf("%s: %d beside %d: %v, want %v", name, n, seen, v.State, state)
			}
			said := strings.Join(v.NextEvidence, "\n")
			told := strings.NewReplacer("<n>", fmt.Sprint(n), "<all>", fmt.Sprint(n+seen)).Replace(kind.told)
			if state == detect.Unknown {
				if said = v.What; !strings.Contains(v.What, "cannot judge") || v.Do == "" {
					t.Errorf("%s: %q, do %q", name, v.What, v.Do)
				}
			}
			if n > 0 != strings.Contains(said, told) {
				t.Errorf("%s: %d hidden, and said is %q", name, n, said)
			}
			all := float64(len(xs))
			want := all / (all + 50) * float64(seen) / float64(seen+n)
			if state == detect.Clear && math.Abs(v.Confidence-want) > .011 {
				t.Errorf("%s: %d beside %d: confidence %.2f, want %.2f", name, n, seen, v.Confidence, want)
			}
		}
	}
}
