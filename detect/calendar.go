package detect

import (
	"cmp"
	"maps"
	"slices"
)

// calendar keeps the outcomes to come by their second. Nearly all come within the
// next minute, for which there is a place each.
type calendar struct {
	near [nearSeconds][]ending
	far  map[int64][]ending
	n    int
	over []ending // room of a second that is over
}

// ending is an outcome as far as its place in order goes.
type ending struct {
	at     int64
	place  uint64 // the request's number; above all others where it both begins and ends at that moment
	flight int32
}

const (
	nearSeconds = 64      // longer than servers and proxies wait for an answer by default, 60 s
	atOnce      = 1 << 63 // of ending.place
)

func newCalendar() calendar { return calendar{far: map[int64][]ending{}} }

func (e *ending) seq() uint64   { return e.place &^ atOnce }
func (e *ending) instant() bool { return e.place&atOnce != 0 }

func nearSlot(second int64) int { return int(((second/tick)%nearSeconds + nearSeconds) % nearSeconds) }

// add notes an outcome for a second at or after now.
func (c *calendar) add(now, second int64, e ending) {
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
func (c *calendar) take(now int64) []ending {
	slot := &c.near[nearSlot(now)]
	list := *slot
	if far, ok := c.far[now]; ok {
		list = append(list, far...)
		delete(c.far, now)
	}
	*slot, c.over = nil, list[:0]
	c.n -= len(list)
	slices.SortFunc(list, func(a, b ending) int {
		if a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		return cmp.Compare(a.place, b.place)
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
	out.over = nil
	for i := range out.near {
		out.near[i] = slices.Clone(out.near[i])
	}
	out.far = maps.Clone(c.far)
	for at, list := range out.far {
		out.far[at] = slices.Clone(list)
	}
	return out
}
