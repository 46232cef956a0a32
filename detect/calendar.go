package detect

import (
	"cmp"
	"maps"
	"slices"
)

// calendar keeps the outcomes to come by their second. Nearly all come within the
// next minute, for which there is a place each.
type calendar struct {
	near [nearSeconds][]queued
	far  map[int64][]queued
	n    int
	over []queued // room of a second that is over
	side []queued // scratch
}

const (
	nearSeconds = 64      // longer than servers and proxies wait for an answer by default, 60 s
	atOnce      = 1 << 63 // of an ending's n
)

func newCalendar() calendar { return calendar{far: map[int64][]queued{}} }

// An outcome stands at its moment by its request's number, above all others where the
// request begins at that moment too; at is its flight.
func ending(t int64, seq uint64, instant bool, flight int32) queued {
	if instant {
		seq |= atOnce
	}
	return queued{t, seq, uint32(flight)}
}

func seqOf(ending *queued) uint64    { return ending.n &^ atOnce }
func endsAtOnce(ending *queued) bool { return ending.n&atOnce != 0 }

func nearSlot(second int64) int { return int(((second/tick)%nearSeconds + nearSeconds) % nearSeconds) }

// add notes an outcome for a second at or after now.
func (c *calendar) add(now, second int64, e queued) {
	c.n++
	if second-now < nearSeconds*tick {
		list := &c.near[nearSlot(second)]
		if *list == nil {
			*list, c.over = c.over, nil
		}
		*list = append(*list, e)
		return
	}
	c.far[second] = append(c.far[second], e)
}

// any tells whether there are outcomes in the present second.
func (c *calendar) any(now int64) bool { return len(c.near[nearSlot(now)]) > 0 || len(c.far[now]) > 0 }

// take removes the outcomes of the present second and returns them in order. They
// are valid until the calendar is used again.
func (c *calendar) take(now int64) []queued {
	slot := &c.near[nearSlot(now)]
	list := *slot
	if far, ok := c.far[now]; ok {
		list = append(list, far...)
		delete(c.far, now)
	}
	*slot, c.over = nil, list[:0]
	c.n -= len(list)
	c.side = putInOrder(list, c.side, func(a, b queued) int {
		if a.t != b.t {
			return cmp.Compare(a.t, b.t)
		}
		return cmp.Compare(a.n, b.n)
	})
	return list
}

// next returns the earliest second at or after now with an outcome.
func (c *calendar) next(now int64) int64 {
	next := int64(1<<63 - 1)
	for at := range c.far {
		next = min(next, at)
	}
	for i := range int64(nearSeconds) {
		if at := now + i*tick; len(c.near[nearSlot(at)]) > 0 {
			return min(next, at)
		}
	}
	return next
}

func (c *calendar) clone() calendar {
	out := *c
	out.over, out.side = nil, nil
	for i := range out.near {
		out.near[i] = slices.Clone(out.near[i])
	}
	out.far = maps.Clone(c.far)
	for at, list := range out.far {
		out.far[at] = slices.Clone(list)
	}
	return out
}
