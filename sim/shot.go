package sim

import (
	"slices"

	"stormwatch/capture"
)

// shot is a request on a connection to the server.
type shot struct {
	call    *call
	try     uint32
	conn    int
	ordinal int // among those of its unit
	key     string
	nth     int    // which of its owner's credentials key is
	asked   string // further header lines
	copied  bool   // a hedge
	dead    bool   // nobody waits for it any more
	arrived bool
	row     int // index of Result.Rows, once it has arrived
	answer  answer
}

// shoot puts a request on a connection to the server.
func (w *world) shoot(at int64, c *call, copied bool) {
	s := &shot{call: c, try: c.try, copied: copied}
	if !copied {
		c.unit.sent++
	}
	s.ordinal = c.unit.sent
	s.key, s.nth = c.unit.client.keys.key()
	s.asked = w.asked(c, s.key)
	conn, fresh := w.connect(at, c.hop)
	s.conn = conn
	w.Conns[conn].busy = true
	arrival := at + c.hop.travel()
	if fresh { // the handshake takes a round trip before the request can leave
		arrival += 2 * int64(c.hop.Latency)
	}
	c.shots = append(c.shots, s)
	w.events.push(event{at: arrival, what: arrive, shot: s})
}

// hedge sends the copies of an attempt that has not been answered yet.
func (w *world) hedge(at int64, c *call) {
	for range c.hop.Hedge.Copies {
		w.shoot(at, c, true)
	}
}

// arrive lets the server answer, and notes what the tap sees of it.
func (w *world) arrive(at int64, s *shot) {
	c := s.call
	u := c.unit
	s.answer = w.server.answer(&request{at: at, key: s.key, nth: s.nth, addr: c.hop.addr, route: u.route})
	a := &s.answer
	conn := &w.Conns[s.conn]
	conn.requests++
	row := Row{
		Start: w.base + at, End: w.base + a.done,
		Client: u.client.id, Conn: s.conn, ConnSeq: conn.requests, Path: u.path,
		Status: a.status, Chain: u.chain, Attempt: s.ordinal, Copy: s.copied, Layers: c.layers(),
		Asked: s.asked, Fields: a.fields, Body: a.body, BodyError: a.bodyError,
		Wait: a.wait, Hinted: a.hinted, Key: uint8(s.nth),
	}
	if p := u.client.group.Repeated; p > 0 {
		row.Repeated = u.client.rng.Float64() < p
	}
	s.row, s.arrived = len(w.Rows), true
	if len(w.Rows) == cap(w.Rows) { // append grows large slices by a quarter only
		w.Rows = slices.Grow(w.Rows, max(len(w.Rows), 1024))
	}
	w.Rows = append(w.Rows, row)
	switch {
	case a.silent:
		w.Rows[s.row].Outcome, w.Rows[s.row].End = capture.NoAnswer, w.base+max(w.end, at)
	case a.reset:
		w.Rows[s.row].Outcome = capture.Reset
		conn.Closed, conn.Aborted, conn.ByServer = w.base+a.done, true, true
	}
	back := a.done + c.hop.travel()
	switch {
	case s.dead: // those who sent it left while it was on its way
		w.abort(at+1, s)
	case !a.silent:
		w.events.push(event{at: back, what: answered, shot: s})
	}
}

// layers are the attempts of the hops on the way, the client's first.
func (c *call) layers() (n Layers) {
	if c.outer == nil {
		return n
	}
	depth := 0
	for o := c.outer; o != nil; o = o.outer {
		depth++
	}
	for o := c; o != nil; o = o.outer {
		n[depth] = uint16(min(o.attempt, 1<<16-1))
		depth--
	}
	return n
}

// abort resets the connection of a request that nobody waits for any more: left
// is when the reset reaches the server. The work is done all the same.
func (w *world) abort(left int64, s *shot) {
	s.dead = true
	conn := &w.Conns[s.conn]
	if !s.arrived || conn.Closed != 0 {
		return
	}
	conn.Closed, conn.Aborted = w.base+left, true
	row := &w.Rows[s.row]
	if s.answer.silent || row.End > conn.Closed {
		row.Status, row.Outcome, row.End = 0, capture.Reset, conn.Closed
		row.Fields, row.Body, row.BodyError, row.Wait, row.Hinted = "", "", false, 0, false
	}
}

// cancel drops what a call has under way.
func (w *world) cancel(at int64, c *call) {
	for _, s := range c.shots {
		w.abort(at+int64(c.hop.Latency), s)
	}
	c.shots = c.shots[:0]
	inner := c.inner
	if c.inner = nil; inner == nil || inner.over || inner.hop.layer.Detached {
		return
	}
	inner.over = true
	inner.try++
	w.cancel(at+int64(c.hop.Latency), inner)
	inner.hop.budget.end(inner.retried)
}

// answered takes an answer from the server; the first one counts.
func (w *world) answered(at int64, s *shot) {
	if s.dead {
		return
	}
	c, conn := s.call, &w.Conns[s.conn]
	conn.busy, conn.lastUse = false, at
	if conn.Closed == 0 {
		c.hop.idle = append(c.hop.idle, s.conn)
	}
	for i, o := range c.shots {
		if o == s {
			c.shots = append(c.shots[:i], c.shots[i+1:]...)
			break
		}
	}
	if c.over || s.try != c.try {
		return
	}
	w.settle(at, c, &s.answer.outcome)
}
