package detect

import "testing"

// A client's waits are called even by the table of random arrivals (detection.md 2.2:
// of five waits one set in 1,000 varies by less than .167), and not at all where the
// clock's steps would make them even.
func TestEvenWaits(t *testing.T) {
	for name, tt := range map[string]struct {
		waits []float32
		clock int64
		want  Number
	}{
		"a timer":               {[]float32{2, 2.01, 1.99, 2, 2}, 1e6, Some(1e-4)},
		"a fifth of jitter":     {[]float32{1.7, 2.2, 2, 1.8, 2.3}, 1e6, Some(1e-3)}, // varies by .127
		"growing":               {[]float32{1, 2, 4, 8, 16}, 1e6, Some(1)},
		"two":                   {[]float32{2, 2}, 1e6, Number{V: 1}},
		"a clock of one second": {[]float32{2, 2, 2, 2, 2}, 1e9, Number{}},
		"long waits by it":      {[]float32{60, 60, 61, 60, 60}, 1e9, Some(1e-4)},
	} {
		var h history
		h.ngaps = uint32(copy(h.gaps[:], tt.waits))
		median, _, _ := h.gapStats()
		if got := h.even(median, tt.clock); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
