package detect

import (
	"math"
	"testing"
)

func TestBitmapCounts(t *testing.T) {
	if n := bitmap(make([]uint64, 16)).count(); n != 0 {
		t.Errorf("an empty bitmap counts %v", n)
	}
	// 64 bits, 63 of them set or all: 64 ln 64 = 266.2.
	full := bitmap{math.MaxUint64}
	if n := full.count(); math.Abs(n-266.17) > .01 {
		t.Errorf("a full bitmap counts %v", n)
	}
	// The standard error is sqrt(m (e^t - t - 1)) / n with t = n/m: 1.2 % of a thousand
	// values in 4096 bits, taken four times.
	a, b := bitmap(make([]uint64, 64)), bitmap(make([]uint64, 64))
	for i := range uint64(1000) {
		h := mix(i+1, mixGolden)
		if a.set(h); i%2 == 0 {
			b.set(h)
		}
	}
	if n := a.count(); n < 950 || n > 1050 {
		t.Errorf("a thousand values count %v", n)
	}
	sum := bitmap(make([]uint64, 64))
	sum.or(b)
	sum.or(a)
	if sum.count() != a.count() {
		t.Error("a part adds to the whole")
	}
}
