package packet

import "slices"

// segment applies one segment of direction d to a connection.
func (t *table) segment(c *conn, d int, s *segment, at stamp) {
	h, peer := &c.half[d], &c.half[1-d]
	seq := s.seq
	if s.flags&flagSYN != 0 {
		if !h.begun {
			h.begun, h.syn, h.isn, h.next = true, true, seq, seq+1
		}
		seq++
	}
	if s.wire > 0 && !h.done {
		if !h.begun {
			h.begun, h.next = true, seq
		}
		t.arrive(c, d, piece{data: s.payload, wire: s.wire, seq: seq, ack: s.ack, at: at})
	}
	if s.flags&(flagACK|flagRST) == flagACK && (!peer.hasAck || span(peer.acked, s.ack) > 0) {
		peer.acked, peer.hasAck = s.ack, true
	}
	t.holes(c, t.now)
	if s.flags&flagRST != 0 {
		t.end(c, endReset)
		return
	}
	if s.flags&flagFIN != 0 && h.begun {
		h.fin, h.finSeq = true, seq+uint32(s.wire)
	}
	t.fins(c)
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

// arrive delivers a piece, or queues it when something before it is missing.
func (t *table) arrive(c *conn, d int, p piece) {
	h := &c.half[d]
	if span(h.next, p.seq) > 0 {
		t.queue(c, h, p)
		for h.queued > maxQueue || h.waiting() > maxPieces || t.buffered > maxBuffered && h.waiting() > 0 {
			t.skip(c, d)
		}
		return
	}
	t.deliver(c, d, p)
	t.drain(c, d)
}

// drain delivers what the queue holds up to the next hole.
func (t *table) drain(c *conn, d int) {
	h := &c.half[d]
	for h.waiting() > 0 && span(h.next, h.queue[h.head].seq) <= 0 {
		p := t.pop(h)
		t.deliver(c, d, p)
		t.recycle(p.data)
	}
	if c.half[0].waiting() == 0 && c.half[1].waiting() == 0 {
		t.holed.remove(c)
	}
}

// deliver hands over the new part of a piece that begins at or before next.
func (t *table) deliver(c *conn, d int, p piece) {
	h := &c.half[d]
	old := span(p.seq, h.next)
	if old < p.wire {
		seq := h.next
		h.next = p.seq + uint32(p.wire)
		if old < len(p.data) {
			c.http.data(d, chunk{b: p.data[old:], seq: seq, ack: p.ack, at: p.at})
			old = len(p.data)
		}
		if old < p.wire { // cut by the snapshot length
			t.out.health.GapBytes += uint64(p.wire - old)
			c.http.gap(d, p.wire-old, p.at.t)
		}
	}
}

// pop takes the first piece off a queue.
func (t *table) pop(h *half) piece {
	p := h.queue[h.head]
	h.queue[h.head] = piece{}
	if h.head++; h.head == len(h.queue) {
		h.queue, h.head = h.queue[:0], 0
	}
	cost := len(p.data) + pieceCost
	h.queued -= cost
	t.buffered -= cost
	return p
}

func (t *table) queue(c *conn, h *half, p piece) {
	i, found := slices.BinarySearchFunc(h.queue[h.head:], p.seq, func(q piece, seq uint32) int { return span(seq, q.seq) })
	i += h.head
	if found {
		if h.queue[i].wire >= p.wire {
			return // sent twice
		}
		i++
	}
	p.data = append(t.buffer(), p.data...)
	if h.head > 0 && len(h.queue) == cap(h.queue) {
		h.queue = slices.Delete(h.queue, 0, h.head)
		i, h.head = i-h.head, 0
	}
	h.queue = slices.Insert(h.queue, i, p)
	cost := len(p.data) + pieceCost
	h.queued += cost
	t.buffered += cost
	if !t.holed.has(c) {
		c.since = p.at.t
		t.holed.pushBack(c)
	}
}

// holes gives up the holes that the capture, not the network, has made.
func (t *table) holes(c *conn, now int64) {
	for d := range c.half {
		h := &c.half[d]
		if h.waiting() == 0 || !h.hasAck || span(h.queue[h.head].seq, h.acked) < 0 {
			h.holeSince, h.holePackets = 0, 0
			continue
		}
		if h.holePackets == 0 {
			h.holeSince = now
		}
		if h.holePackets++; h.holePackets > gapPackets || now-h.holeSince > gapWait {
			h.holePackets = 0
			t.skip(c, d)
		}
	}
}

// giveUp passes over a hole that has been open for too long in any case.
func (t *table) giveUp(c *conn) {
	for d := range c.half {
		if c.half[d].waiting() > 0 {
			t.skip(c, d)
		}
	}
	if t.holed.has(c) { // another hole is left: it gets its own time
		t.holed.remove(c)
		c.since = t.now
		t.holed.pushBack(c)
	}
	t.fins(c)
}

// skip passes over the first hole of a direction.
func (t *table) skip(c *conn, d int) {
	h := &c.half[d]
	if n := span(h.next, h.queue[h.head].seq); n > 0 {
		t.out.health.GapBytes += uint64(n)
		h.next = h.queue[h.head].seq
		c.http.gap(d, n, h.queue[h.head].at.t)
	}
	t.drain(c, d)
}

// buffer gives an empty buffer from the pool.
func (t *table) buffer() []byte {
	n := len(t.buffers)
	if n == 0 {
		return nil
	}
	b := t.buffers[n-1]
	t.buffers = t.buffers[:n-1]
	return b[:0]
}

func (t *table) recycle(b []byte) {
	if cap(b) > 0 && cap(b) <= maxFreeSize && len(t.buffers) < maxFree {
		t.buffers = append(t.buffers, b)
	}
}
