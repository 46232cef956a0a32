package detect

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// What counting digits puts in order is what comparing does, whatever there is: few
// and many, with all at one moment, in order, in no order, and ages apart.
func TestPutInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	compare := func(a, b queued) int { return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(a.n, b.n)) }
	var side []queued
	for _, n := range []int{0, 1, 63, 64, 65, 3000} {
		for _, span := range []int64{1, 3, 1000, 1e9, 1 << 39, 1 << 40, 1 << 41, 8e18} {
			for _, mixed := range []bool{false, true} {
				list := make([]queued, n)
				for i := range list {
					list[i] = queued{-1e17 + rng.Int64N(span), uint64(i), uint32(i)}
					if mixed && i%2 == 1 {
						list[i].n |= atOnce
					}
				}
				want := slices.Clone(list)
				slices.SortFunc(want, compare)
				side = putInOrder(list, side, compare)
				if !slices.Equal(list, want) {
					t.Errorf("%d over %d ns, mixed %v: out of order", n, span, mixed)
				}
			}
		}
	}
}
