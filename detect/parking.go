package detect

import (
	"slices"

	"stormwatch/capture"
)

// parking follows a client that was refused with a wait which may be misread, to
// see whether it ever comes back. It is a link in one of the lists of a lot.
type parking struct {
	refused int64 // end of the refusal
	where   capture.Provenance
	source  uint8
	next    uint32 // client in the same list
	listed  bool
	parked  bool
}

// lot holds the clients whose return is due, by the second in which it is looked
// for.
type lot struct {
	due    [lotSpan]uint32
	parked []uint32 // those that did not come back, as long as they do not
	looked int64    // clients whose return was due
	left   int64    // times one that did not come back was not judged, for want of room
	until  int64    // second up to which lists were looked through
}

const (
	lotSpan     = 4096      // seconds ahead that can be listed; longer ones are looked for then
	leastParked = 30 * tick // shorter absences are any client's pauses
	maxParked   = 4096      // parked clients that are judged
	usualPauses = 4         // of an arrival process without memory, e^-4 are longer: 1.8 %
	knownAfter  = 2         // requests before a client's pace is known
)

// park notes a client that was refused for the first time at what it asked, with
// a wait that reads differently in another unit or is beyond reason.
func (e *engine) park(d *delta, c *client, f *flight) {
	x := &f.rec.Exchange
	if f.link.Attempt > 1 || f.noChain || c.attempts < knownAfter || !misreadable(x) {
		return
	}
	c.count(d, warned, 1)
	p := &d.history(c).parking
	p.refused, p.where, p.source = x.End, x.At, f.rec.source
	if p.listed {
		return // its return is looked for later
	}
	d.parkings = append(d.parkings, f.rec.client)
}

// misreadable tells whether the wait that an answer names can park a client: a
// moment taken for a length of time, or a wait beyond reason.
func misreadable(x *capture.Exchange) bool {
	return x.Limit.Form != capture.NoHint || x.Hint.Kind == capture.RetryAfterDate || x.Hint.Kind == capture.Malformed ||
		x.Hint.Usable() && x.Hint.Wait > maxHint
}

// enlist lists the clients refused in this second, and looks for those whose
// return is due.
func (e *engine) enlist() {
	for s := range e.deltas {
		for _, id := range e.deltas[s].parkings {
			e.list(id)
		}
	}
	from := e.lot.until + tick
	if e.lot.until == 0 || e.now-from > (lotSpan-1)*tick {
		from = max(e.now-(lotSpan-1)*tick, e.first-tick)
	}
	for t := from; t <= e.now; t += tick { // more than one after a silence that was jumped over
		e.lookFor(berth(t))
	}
	e.lot.until = e.now
}

// berth is the list of the second that holds t.
func berth(t int64) int64 { return ((t/tick)%lotSpan + lotSpan) % lotSpan }

func (e *engine) list(id uint32) {
	p := &e.history(id).parking
	if p.listed {
		return
	}
	due := e.clients.at(id).expected(p)
	slot := berth(min(max(due+tick, e.now+tick), e.now+(lotSpan-1)*tick))
	p.listed, p.next = true, e.lot.due[slot]
	e.lot.due[slot] = id
}

// park takes in a client that did not come back.
func (l *lot) park(p *parking, id uint32) {
	if len(l.parked) >= maxParked {
		l.left++
		return
	}
	p.parked = true
	l.parked = append(l.parked, id)
}

// expected is when a client that was refused should have been heard of again.
func (c *client) expected(p *parking) int64 {
	pace := (c.lastSeen - c.firstSeen) / int64(max(c.attempts-1, 1))
	return p.refused + max(leastParked, usualPauses*pace)
}

// lastOf tells where the refusals were read that parked some clients.
func (e *engine) lastOf(clients []uint32) (at []string) {
	for _, id := range clients[max(len(clients)-maxProvenance, 0):] {
		p := &e.history(id).parking
		at = append(at, e.at(&p.where, p.source))
	}
	return at
}

// lookFor takes the clients of one list: who has not been heard of since its
// refusal is parked.
func (e *engine) lookFor(slot int64) {
	id := e.lot.due[slot]
	e.lot.due[slot] = 0
	before := len(e.lot.parked)
	for id != 0 {
		c, p := e.clients.at(id), &e.history(id).parking
		p.listed = false
		next := p.next
		if back := c.lastSeen > p.refused; !back && c.expected(p) > e.now {
			e.list(id) // it was refused anew
		} else if e.lot.looked++; !back {
			e.lot.park(p, id)
		}
		id = next
	}
	back := 0
	for _, id := range e.lot.parked {
		p := &e.history(id).parking
		if e.clients.at(id).lastSeen > p.refused {
			p.parked = false
			continue
		}
		e.lot.parked[back] = id
		back++
	}
	e.lot.parked = e.lot.parked[:back]
	slices.Sort(e.lot.parked) // lists are in the order of shards
	if len(e.lot.parked) != before {
		e.judge.again = append(e.judge.again, e.lot.parked...)
	}
}
