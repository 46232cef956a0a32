package detect

import (
	"maps"
	"math"
	"slices"

	"stormwatch/capture"
	"stormwatch/detect/herd"
)

// Why an exchange is set aside: one line of a broken clock would stretch the
// recording by years, and every rate with it.
const (
	absurdTime = "dated before 1938 or after 2220: a broken clock or line"
	farTime    = "dated far from all others: a broken clock or line"
	leapTime   = "dated far ahead of those before and after: a broken clock or line"
)

// aside counts an exchange that is not judged for its time.
func (in *Inlet) aside(reason string, at capture.Provenance) {
	in.asides.Skip(reason, at.String())
}

// within sets an exchange aside that does not start from a moment on and before
// another, and brings an end as broken as such a start within bounds.
func (in *Inlet) within(x *record, from, to int64) bool {
	if x.Start < from || x.Start >= to {
		in.aside(farTime, x.At)
		return false
	}
	if to < latest && x.End > to+anHour {
		x.End = to + anHour
	}
	return true
}

// hours counts exchanges by the hour of their start.
type hours struct {
	n    map[int64]int64
	hour int64 // the one being counted
	here int64
}

const (
	anHour   = 3600 * tick
	maxHours = 1 << 14 // nearly two years; an input with more tells nothing about its bulk
)

func (h *hours) count(t int64) {
	if hour := floorTo(t, anHour); hour != h.hour {
		h.close()
		h.hour = hour
	}
	h.here++
}

func (h *hours) close() {
	if h.here == 0 || len(h.n) > maxHours {
		return
	}
	if h.n == nil {
		h.n = map[int64]int64{}
	}
	h.n[h.hour] += h.here
	h.here = 0
}

func floorTo(t, unit int64) int64 { return herd.BinOf(t, unit) * unit }

// A few exchanges at one end are set aside when they lie further from the others
// than all of these last, tenfold: a sleepy service with a request a week keeps
// all of them, a log of a day loses a line dated next month.
const (
	farTimes = 10
	fewOf    = 200 // at most one in so many at either end, or three: half of a hundredth of a log is no slip of a clock
	farNeeds = 100 // exchanges below which none is called far
)

// bulk returns the span of time, from inclusive, to exclusive, in which the
// exchanges of some inlets lie, but for a few far from all others. It grows from
// the fullest hour.
func bulk(ins []*Inlet) (from, to int64) {
	all := map[int64]int64{}
	total := int64(0)
	for _, in := range ins {
		in.hours.close()
		for hour, n := range in.hours.n {
			all[hour] += n
			total += n
		}
	}
	if total < farNeeds || len(all) > maxHours {
		return math.MinInt64, math.MaxInt64
	}
	few := max(3, total/fewOf)
	at := slices.Sorted(maps.Keys(all))
	lo := 0
	for i := range at {
		if all[at[i]] > all[at[lo]] {
			lo = i
		}
	}
	left, right := int64(0), int64(0) // exchanges outside lo..hi
	for i, hour := range at {
		if i < lo {
			left += all[hour]
		} else if i > lo {
			right += all[hour]
		}
	}
	for hi := lo; ; {
		near := farTimes * (at[hi] - at[lo] + anHour)
		switch {
		case lo > 0 && (left > few || at[lo]-at[lo-1] <= near):
			lo--
			left -= all[at[lo]]
		case hi+1 < len(at) && (right > few || at[hi+1]-at[hi] <= near):
			hi++
			right -= all[at[hi]]
		default:
			return at[lo], at[hi] + anHour
		}
	}
}
