package packet

import "slices"

// from is what is left of a piece without its first n bytes; to are its first n.
func (p piece) from(n int) piece {
	p.data = p.data[min(n, len(p.data)):]
	p.seq += uint32(n)
	p.wire -= n
	return p
}

func (p piece) to(n int) piece {
	p.data, p.wire = clip(p.data, n), n
	return p
}

func (p *piece) end() uint32 { return p.seq + uint32(p.wire) }

// queue keeps those bytes of a piece that are not queued yet.
func (t *table) queue(c *conn, h *half, p piece) {
	i, _ := slices.BinarySearchFunc(h.queue[h.head:], p.seq, func(q piece, seq uint32) int {
		if span(seq, q.end()) > 0 {
			return 1
		}
		return -1
	})
	repeated := false
	for i += h.head; p.wire > 0; i++ {
		n := p.wire
		if i < len(h.queue) {
			n = min(n, max(span(p.seq, h.queue[i].seq), 0))
		}
		if n > 0 {
			i = t.insert(h, i, p.to(n))
			t.wait(c, p.at.t)
			if p = p.from(n); p.wire == 0 {
				break
			}
		}
		repeated = true
		p = p.from(min(span(p.seq, h.queue[i].end()), p.wire))
	}
	if repeated {
		t.out.health.Repeated++
	}
}

// insert puts a copy of a piece before place i, and returns the place after it.
func (t *table) insert(h *half, i int, p piece) int {
	p.data = append(t.buffer(), p.data...)
	if h.head > 0 && len(h.queue) == cap(h.queue) {
		h.queue = slices.Delete(h.queue, 0, h.head)
		i, h.head = i-h.head, 0
	}
	h.queue = slices.Insert(h.queue, i, p)
	h.queued += p.cost()
	t.buffered += p.cost()
	return i + 1
}

func (p *piece) cost() int { return cap(p.data) + pieceCost }

// pop takes the first piece off a queue.
func (t *table) pop(h *half) piece {
	p := h.queue[h.head]
	h.queue[h.head] = piece{}
	if h.head++; h.head == len(h.queue) {
		h.queue, h.head = h.queue[:0], 0
	}
	h.queued -= p.cost()
	t.buffered -= p.cost()
	return p
}

// wait puts a connection on the list of those with holes.
func (t *table) wait(c *conn, at int64) {
	if !t.holed.has(c) {
		c.since = max(at, t.now-backStep) // where the clock was set back, the hole still has its time
		t.holed.pushBack(c)
	}
}

// rank finds the place of a connection among those with holes, after pieces of
// it have been delivered.
func (t *table) rank(c *conn) {
	if !t.holed.has(c) {
		return
	}
	since, waiting := t.now, false
	for d := range c.half {
		h := &c.half[d]
		for i := h.head; i < len(h.queue); i++ {
			since, waiting = min(since, h.queue[i].at.t), true
		}
	}
	since = max(since, c.since) // never older than it was
	if waiting && since == c.since {
		return
	}
	t.holed.remove(c)
	if !waiting {
		return
	}
	c.since = since
	after := t.holed.last
	for n := 0; n < maxWalk && after != nil && after.since > since; n++ {
		after = after.links[byHole].prev
	}
	t.holed.insert(c, after)
}

// buffer gives an empty buffer from the pool.
func (t *table) buffer() []byte {
	n := len(t.buffers)
	if n == 0 {
		return nil
	}
	b := t.buffers[n-1]
	t.buffers = t.buffers[:n-1]
	t.free -= cap(b)
	return b[:0]
}

func (t *table) recycle(b []byte) {
	if cap(b) > 0 && cap(b) <= maxFreeSize && t.free+cap(b) <= maxFree {
		t.buffers = append(t.buffers, b)
		t.free += cap(b)
	}
}
