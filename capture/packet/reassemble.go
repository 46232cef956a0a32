package packet

// segment applies one segment of direction d to a connection.
func (t *table) segment(c *conn, d int, s *segment, at stamp) {
	h, peer := &c.half[d], &c.half[1-d]
	seq := s.seq
	if s.flags&flagSYN != 0 {
		c.synchronise(h, seq)
		seq++
	}
	if s.wire > 0 && !h.done {
		h.begin(seq)
		t.arrive(c, d, piece{data: s.payload, wire: s.wire, seq: seq, ack: s.ack, at: at})
	}
	if s.flags&(flagACK|flagRST) == flagACK {
		peer.acknowledge(s.ack)
	}
	if c.late != nil {
		t.holes(c, t.now)
	}
	if s.flags&flagRST != 0 {
		if c.rejects(d) {
			t.out.health.Rejected++
		}
		why := endReset
		if d == c.http.client {
			why = endAborted
		}
		t.end(c, why)
		return
	}
	if s.flags&flagFIN != 0 {
		h.begin(seq)
		end := seq + uint32(s.wire)
		if span(h.next, end) >= 0 && (!h.fin || span(end, h.finSeq) > 0) {
			h.fin, h.finSeq = true, end
		}
	}
	t.fins(c)
}

// synchronise takes a SYN; one that comes after the data it precedes shows that
// the connection was seen from its start after all.
func (c *conn) synchronise(h *half, seq uint32) {
	switch {
	case !h.begun:
		h.begun, h.syn, h.isn, h.next = true, true, seq, seq+1
	case !h.syn && h.isn == seq:
		h.syn, c.mid = true, false
	}
}

// rejects tells whether a reset of direction d answers an attempt to connect
// (RFC 9293 section 3.10.7.1).
func (c *conn) rejects(d int) bool { return c.half[1-d].syn && !c.half[d].begun }

// begin sets where a direction begins that was joined midway: at its first
// segment, or at the hole in front of it that the peer's acknowledgement shows.
func (h *half) begin(seq uint32) {
	if h.begun {
		return
	}
	h.begun, h.next = true, seq
	if hole := span(h.isn+1, seq); h.hasAck && hole > 0 && hole <= straggle {
		h.next = h.isn + 1
	}
	h.isn = h.next - 1
}

// acknowledge notes the peer's highest acknowledgement, and before anything of
// the direction was seen the lowest: there it begins.
func (h *half) acknowledge(ack uint32) {
	if h.begun && (span(h.next, ack) > maxJump || span(h.next, ack) < -maxJump) {
		return
	}
	if !h.begun && (!h.hasAck || span(ack, h.isn+1) > 0) {
		h.isn = ack - 1
	}
	if !h.hasAck || span(h.acked, ack) > 0 {
		h.acked, h.hasAck = ack, true
	}
}

// fins closes the directions whose last byte has been delivered.
func (t *table) fins(c *conn) {
	for d := range c.half {
		if h := &c.half[d]; h.fin && !h.done && span(h.next, h.finSeq) <= 0 {
			h.done = true
			c.http.closed(d)
		}
	}
	if c.half[0].done && c.half[1].done {
		t.end(c, endClosed)
	}
}

// arrive delivers a piece, or queues it when something before it is missing. Of
// bytes that come more than once the first copy counts.
func (t *table) arrive(c *conn, d int, p piece) {
	h := &c.half[d]
	if old := span(p.seq, h.next); old > 0 {
		if p.wire > 1 { // one byte is a probe whether the peer is there
			t.out.health.Repeated++
		}
		if old >= p.wire {
			return
		}
		p = p.from(old)
	}
	if c.waiting(d) == 0 && p.seq == h.next {
		t.deliver(c, d, p)
		return
	}
	t.queue(c, d, p)
	t.drain(c, d)
	for c.waiting(d) > 0 && (c.late.half[d].size > maxQueue || c.waiting(d) > maxPieces) {
		t.out.health.Bound(boundQueue)
		t.skip(c, d)
	}
}

// drain delivers what the queue holds up to the next hole.
func (t *table) drain(c *conn, d int) {
	h := &c.half[d]
	if c.waiting(d) == 0 || span(h.next, c.late.half[d].first().seq) > 0 {
		return
	}
	for q := &c.late.half[d]; q.waiting() > 0 && span(h.next, q.first().seq) <= 0; {
		p := t.pop(q)
		t.deliver(c, d, p)
		t.recycle(p.data)
	}
	t.rank(c)
}

// deliver hands over a piece that begins at next.
func (t *table) deliver(c *conn, d int, p piece) {
	c.half[d].next = p.seq + uint32(p.wire)
	if len(p.data) > 0 {
		c.http.data(d, chunk{b: p.data, seq: p.seq, ack: p.ack, at: p.at})
	}
	if cut := p.wire - len(p.data); cut > 0 { // by the snapshot length
		t.out.health.GapBytes += uint64(cut)
		c.shorten(t, d)
		c.http.gap(d, cut, p.at.t)
	}
}

// holes gives up the holes that the capture, not the network, has made.
func (t *table) holes(c *conn, now int64) {
	for d := range c.half {
		h := &c.half[d]
		if c.late == nil {
			return
		}
		q := &c.late.half[d]
		if q.waiting() == 0 || !h.hasAck || span(q.first().seq, h.acked) < 0 {
			q.holeSince, q.holePackets = 0, 0
			continue
		}
		if q.holePackets == 0 {
			q.holeSince = now
		}
		if q.holePackets++; q.holePackets > gapPackets || now-q.holeSince > gapWait {
			q.holePackets = 0
			t.skip(c, d)
		}
	}
}

// giveUp passes over holes that have been open for too long in any case.
func (t *table) giveUp(c *conn) {
	for d := range c.half {
		if c.waiting(d) > 0 {
			t.skip(c, d)
		}
	}
	t.fins(c)
}

// skip passes over the first hole of a direction.
func (t *table) skip(c *conn, d int) {
	h, p := &c.half[d], c.late.half[d].first()
	if n := span(h.next, p.seq); n > 0 {
		t.out.health.GapBytes += uint64(n)
		h.next = p.seq
		c.http.gap(d, n, p.at.t)
	}
	t.drain(c, d)
}
