package packet

import "stormwatch/capture"

// Bounds and times of reassembly, in bytes and nanoseconds of capture time.
// The gap rule is Zeek's (a hole that the peer has acknowledged was lost by the
// capture), with slack for packets that several queues of a card reorder.
const (
	maxConns    = 1 << 17
	maxBuffered = 128 << 20 // of all connections together, unfinished messages included
	maxQueue    = 1 << 20   // out of order in one direction
	maxPieces   = 1024      // out of order in one direction
	gapWait     = 100e6     // an acknowledged hole is given up after this
	gapPackets  = 24        // or after this many packets on its connection
	holeWait    = 2e9       // any hole is given up after this
	idleWait    = 300e9     // a silent connection is forgotten
	closedWait  = 5e9       // how long a closed connection still swallows stragglers
	maxJump     = 64 << 20  // sequence numbers further apart belong to another connection
	straggle    = 1 << 20   // what may follow the end of a closed connection
	pieceCost   = 128       // bookkeeping of a queued piece, in bytes
	messageCost = 512       // of an unfinished message
	maxFree     = 1 << 10   // pooled buffers kept
	maxFreeSize = 128 << 10 // a larger buffer is not kept
)

type key struct{ low, high capture.Endpoint }

// table holds the connections. One goroutine uses it.
type table struct {
	conns    map[key]*conn
	open     list // by last packet
	closed   list // by the time they closed
	holed    list // by the time their oldest hole appeared
	buffered int
	now      int64 // newest capture time
	reason   string
	spare    []*conn
	buffers  [][]byte
	out      *output
	http2    http2pool
}

func newTable(out *output) *table {
	t := &table{conns: map[key]*conn{}, out: out}
	t.holed.which = byHole
	return t
}

// conn is one TCP connection; direction 0 is that of its first packet.
type conn struct {
	key   key
	flip  bool // direction 0 goes from key.high to key.low
	dead  bool
	mid   bool // joined after it began
	half  [2]half
	last  int64 // the table's time at its newest packet
	seen  int64 // capture time of that packet
	since int64 // when the oldest hole appeared
	ends  [2]capture.Endpoint
	http  stream
	links [2]link
}

// half is one direction.
type half struct {
	next, isn, finSeq, acked      uint32
	begun, syn, fin, done, hasAck bool
	queue                         []piece // out of order, by sequence number
	head                          int     // first piece of queue still in use
	queued                        int
	holeSince                     int64 // when the peer acknowledged the hole
	holePackets                   int
}

// piece is a segment that waits for what comes before it.
type piece struct {
	data     []byte
	wire     int
	seq, ack uint32
	at       stamp
}

// stamp says where and when bytes were captured.
type stamp struct {
	t     int64
	frame uint64
}

// span is the distance from sequence number a to b.
func span(a, b uint32) int { return int(int32(b - a)) }

func (h *half) waiting() int { return len(h.queue) - h.head }

// packet takes one segment.
func (t *table) packet(s *segment, at stamp) {
	t.makeRoom()
	k, swapped := key{s.src, s.dst}, false
	if less(&s.dst, &s.src) {
		k, swapped = key{s.dst, s.src}, true
	}
	c := t.conns[k]
	if c != nil && c.another(s, dir(swapped != c.flip)) {
		t.remove(c, endReused)
		c = nil
	}
	if c == nil {
		if s.flags&flagRST != 0 || s.flags&flagSYN == 0 && s.wire == 0 {
			t.reason = skipUnknown
			return
		}
		c = t.create(k, s, swapped)
	}
	if c.dead {
		t.reason = c.http.skip()
		return
	}
	c.last, c.seen = t.now, at.t
	t.open.toBack(c)
	t.segment(c, dir(swapped != c.flip), s, at)
	if t.reason == "" {
		t.reason = c.http.skip()
	}
}

func dir(second bool) int {
	if second {
		return 1
	}
	return 0
}

func less(a, b *capture.Endpoint) bool {
	for i := range a.IP {
		if a.IP[i] != b.IP[i] {
			return a.IP[i] < b.IP[i]
		}
	}
	return a.Port < b.Port
}

// another tells whether a segment of direction d belongs to a new connection on
// the same addresses and ports.
func (c *conn) another(s *segment, d int) bool {
	h := &c.half[d]
	if s.flags&flagRST != 0 {
		return false
	}
	if s.flags&flagSYN != 0 {
		if !h.begun {
			return c.dead && s.flags&flagACK == 0
		}
		if h.syn {
			return h.isn != s.seq
		}
		behind := span(s.seq, h.next) // the late original of a connection joined midway
		return behind <= 0 || behind > straggle
	}
	if !h.begun || s.wire == 0 {
		return false
	}
	ahead := span(h.next, s.seq)
	if c.dead {
		return ahead > straggle || ahead < -maxJump
	}
	return ahead > maxJump || ahead < -maxJump
}

func (t *table) create(k key, s *segment, swapped bool) *conn {
	var c *conn
	if n := len(t.spare); n > 0 {
		c, t.spare = t.spare[n-1], t.spare[:n-1]
	} else {
		c = &conn{}
	}
	c.key, c.flip = k, swapped
	c.ends = [2]capture.Endpoint{s.src, s.dst}
	c.mid = s.flags&flagSYN == 0
	c.http.begin(t, c)
	t.conns[k] = c
	t.open.pushBack(c)
	return c
}

// advance moves the clock on, forgets what has been silent, and gives up holes
// that nobody fills.
func (t *table) advance(now int64) {
	t.now = max(t.now, now)
	for c := t.open.front(); c != nil && t.now-c.last > idleWait; c = t.open.front() {
		t.remove(c, endIdle)
	}
	for c := t.closed.front(); c != nil && t.now-c.last > closedWait; c = t.closed.front() {
		t.forget(c)
	}
	for c := t.holed.front(); c != nil && t.now-c.since > holeWait; c = t.holed.front() {
		t.giveUp(c)
	}
}

func (t *table) makeRoom() {
	for len(t.conns) >= maxConns || t.buffered > maxBuffered {
		if !t.evict() {
			return
		}
	}
}

// evict makes room: first what is closed, then what has been silent longest.
func (t *table) evict() bool {
	if c := t.closed.front(); c != nil && t.buffered <= maxBuffered {
		t.forget(c)
		return true
	}
	c := t.open.front()
	if c == nil {
		return false
	}
	t.out.health.Skip(skipEvicted, "")
	t.remove(c, endEvicted)
	return true
}

// end closes a connection and keeps it for a while, so that stragglers do not
// begin it anew.
func (t *table) end(c *conn, why ending) {
	if c.dead {
		return
	}
	for d := range c.half {
		for c.half[d].waiting() > 0 {
			t.skip(c, d)
		}
	}
	c.dead = true
	c.http.end(why)
	t.holed.remove(c)
	t.open.remove(c)
	t.closed.pushBack(c)
}

func (t *table) remove(c *conn, why ending) {
	t.end(c, why)
	t.forget(c)
}

func (t *table) forget(c *conn) {
	t.closed.remove(c)
	delete(t.conns, c.key)
	for d := range c.half {
		c.half[d] = half{queue: c.half[d].queue[:0]}
	}
	c.dead, c.last, c.seen, c.since = false, 0, 0, 0
	if len(t.spare) < maxConns/16 {
		t.spare = append(t.spare, c)
	}
}

// finish closes everything at the end of the input.
func (t *table) finish(why ending) {
	for c := t.open.front(); c != nil; c = t.open.front() {
		t.remove(c, why)
	}
	for c := t.closed.front(); c != nil; c = t.closed.front() {
		t.forget(c)
	}
}
