package detect

import (
	"math"
	"slices"
)

// queued is something that stands at a moment: what decides between those of one
// moment, and where it is kept.
type queued struct {
	t  int64
	n  uint64
	at uint32
}

// putInOrder puts a list into the order of compare, in which time comes first. Those of
// one moment mostly stand in order already: then a sort by the digits of their times
// does, which takes a third of the time that comparing takes. The scratch is returned.
func putInOrder(list, side []queued, compare func(a, b queued) int) []queued {
	if slices.IsSortedFunc(list, compare) {
		return side
	}
	if side = byTime(list, side); !slices.IsSortedFunc(list, compare) {
		slices.SortFunc(list, compare)
	}
	return side
}

const (
	fewQueued = 64 // fewer are sorted as fast by comparing
	digits    = 5  // bytes of a difference in time, 18 minutes: what is further apart is left to comparing
)

// byTime sorts by time, byte by byte from the last one on, and leaves those of one
// moment as they stand (radix sort: Knuth, TAOCP 5.2.5).
func byTime(list, side []queued) []queued {
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range list {
		low, high = min(low, list[i].t), max(high, list[i].t)
	}
	if len(list) < fewQueued || high-low >= 1<<(8*digits) {
		return side
	}
	var counts [digits][256]uint32
	for i := range list {
		for p, d := 0, uint64(list[i].t-low); p < digits; p++ {
			counts[p][byte(d)]++
			d >>= 8
		}
	}
	side = slices.Grow(side[:0], len(list))[:len(list)]
	from, to := list, side
	for p := range counts {
		c := &counts[p]
		if int(c[0]) == len(list) {
			continue
		}
		sum := uint32(0)
		for i, n := range c {
			c[i], sum = sum, sum+n
		}
		for i := range from {
			k := &c[byte(uint64(from[i].t-low)>>(8*p))]
			to[*k] = from[i]
			*k++
		}
		from, to = to, from
	}
	if &from[0] != &list[0] {
		copy(list, from)
	}
	return side
}
