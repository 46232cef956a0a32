package packet

import "slices"

// disorder is what a connection needs while pieces of it wait for what comes
// before them.
type disorder struct {
	half  [2]queue
	since int64 // when the oldest of them was captured
	link  link
}

// queue holds the pieces of one direction, by sequence number, without overlap.
type queue struct {
	list        []piece
	head        int   // the first one still in use
	size        int   // bytes
	holeSince   int64 // when the peer acknowledged the hole
	holePackets int
}

func (q *queue) waiting() int { return len(q.list) - q.head }

func (q *queue) first() *piece { return &q.list[q.head] }

// waiting is how many pieces of direction d wait.
func (c *conn) waiting(d int) int {
	if c.late == nil {
		return 0
	}
	return c.late.half[d].waiting()
}

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
func (t *table) queue(c *conn, d int, p piece) {
	if c.late == nil {
		c.late = t.disorder()
	}
	h := &c.late.half[d]
	i, _ := slices.BinarySearchFunc(h.list[h.head:], p.seq, func(q piece, seq uint32) int {
		if span(seq, q.end()) > 0 {
			return 1
		}
		return -1
	})
	repeated := false
	for i += h.head; p.wire > 0; i++ {
		n := p.wire
		if i < len(h.list) {
			n = min(n, max(span(p.seq, h.list[i].seq), 0))
		}
		if n > 0 {
			i = t.insert(h, i, p.to(n))
			t.wait(c, p.at.t)
			if p = p.from(n); p.wire == 0 {
				break
			}
		}
		repeated = true
		p = p.from(min(span(p.seq, h.list[i].end()), p.wire))
	}
	if repeated {
		t.out.health.Repeated++
	}
}

// insert puts a copy of a piece before place i, and returns the place after it.
func (t *table) insert(h *queue, i int, p piece) int {
	p.data = append(t.buffer(), p.data...)
	if h.head > 0 && len(h.list) == cap(h.list) {
		h.list = slices.Delete(h.list, 0, h.head)
		i, h.head = i-h.head, 0
	}
	h.list = slices.Insert(h.list, i, p)
	h.size += p.cost()
	t.buffered += p.cost()
	return i + 1
}

func (p *piece) cost() int { return cap(p.data) + pieceCost }

// pop takes the first piece off a queue.
func (t *table) pop(h *queue) piece {
	p := h.list[h.head]
	h.list[h.head] = piece{}
	if h.head++; h.head == len(h.list) {
		h.list, h.head = h.list[:0], 0
	}
	h.size -= p.cost()
	t.buffered -= p.cost()
	return p
}

// wait puts a connection on the list of those with holes.
func (t *table) wait(c *conn, at int64) {
	if !t.holed.has(c) {
		c.late.since = max(at, t.now-backStep) // where the clock was set back, the hole still has its time
		t.holed.pushBack(c)
	}
}

// rank finds the place of a connection among those with holes, after pieces of
// it have been delivered.
func (t *table) rank(c *conn) {
	late := c.late
	since, waiting := t.now, false
	for d := range late.half {
		q := &late.half[d]
		for i := q.head; i < len(q.list); i++ {
			since, waiting = min(since, q.list[i].at.t), true
		}
	}
	since = max(since, late.since) // never older than it was
	if waiting && since == late.since {
		return
	}
	t.holed.remove(c)
	if !waiting {
		t.settle(c)
		return
	}
	late.since = since
	after := t.holed.last
	for n := 0; n < maxWalk && after != nil && after.late.since > since; n++ {
		after = after.late.link.prev
	}
	t.holed.insert(c, after)
}

// disorder takes one out of the pool.
func (t *table) disorder() *disorder {
	n := len(t.idle.disorders)
	if n == 0 {
		return &disorder{}
	}
	l := t.idle.disorders[n-1]
	t.idle.disorders = t.idle.disorders[:n-1]
	return l
}

// settle gives back what a connection needed while pieces of it waited.
func (t *table) settle(c *conn) {
	const few, small = 1 << 10, 64 // as many are kept, of that many pieces at most
	l := c.late
	c.late = nil
	if len(t.idle.disorders) == few {
		return
	}
	for d := range l.half {
		q := &l.half[d]
		*q = queue{list: q.list[:0]}
		if cap(q.list) > small {
			q.list = nil
		}
	}
	t.idle.disorders = append(t.idle.disorders, l)
}

// parser takes one out of the pool.
func (t *table) parser() *parser {
	n := len(t.idle.parsers)
	if n == 0 {
		return &parser{}
	}
	p := t.idle.parsers[n-1]
	t.idle.parsers = t.idle.parsers[:n-1]
	return p
}

// park takes a parser back.
func (t *table) park(p *parser) {
	const few = 1 << 12 // as many are kept
	if *p = (parser{}); len(t.idle.parsers) < few {
		t.idle.parsers = append(t.idle.parsers, p)
	}
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
