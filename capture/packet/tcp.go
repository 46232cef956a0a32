package packet

import "stormwatch/capture"

// Bounds and times of reassembly, in bytes and nanoseconds of capture time.
// The gap rule is Zeek's (a hole that the peer has acknowledged was lost by the
// capture), with slack for packets that several queues of a card reorder. What
// one connection can hold follows from its parts: two queues, two header blocks,
// maxPipeline requests and maxHeld answers.
const (
	maxConns    = 1 << 18
	maxBuffered = 192 << 20 // of all connections together, unfinished messages included
	maxQueue    = 1 << 20   // out of order in one direction
	maxPieces   = 1024      // out of order in one direction
	gapWait     = 100e6     // an acknowledged hole is given up after this
	gapPackets  = 24        // or after this many packets on its connection
	holeWait    = 2e9       // any hole is given up after this
	idleWait    = 300e9     // a silent connection is forgotten
	rankEvery   = 10e9      // how exactly connections are in order of their last packet
	closedWait  = 5e9       // how long a closed connection still swallows stragglers
	maxJump     = 64 << 20  // sequence numbers further apart belong to another connection
	straggle    = 1 << 20   // what may follow the end of a closed connection
	pieceCost   = 128       // bookkeeping of a queued piece, in bytes
	messageCost = 512       // of an unfinished message
	maxFree     = 16 << 20  // of all pooled buffers
	maxFreeSize = 128 << 10 // a larger buffer is not kept
)

// What is given up where a bound is reached.
const (
	boundConns  = "262,144 connections: forgot the one silent longest"
	boundQuiet  = "262,144 connections: forgot the one without requests that was silent longest"
	boundBytes  = "192 MiB of unfinished data: gave up what had waited longest"
	boundQueue  = "1 MiB or 1,024 pieces out of order in one direction: passed over a hole"
	boundOpen   = "256 requests waiting on one connection: gave up the oldest"
	boundHeld   = "16 answers without a request on one connection: gave up the oldest"
	boundProxy  = "PROXY header behind another one: took the client that the last one names"
	boundTarget = "request target cut off, by the capture or after 8 KiB: marked with ..., matched with no other"
	boundHeader = "64 KiB of header: read as far as that"
)

// table holds the connections. One goroutine uses it.
type table struct {
	conns    index
	open     list // with messages, by last packet
	quiet    list // without any so far, by last packet: the first to go
	closed   list // by the time they closed
	holed    list // by the time their oldest hole appeared
	buffered int
	now      int64 // newest capture time
	reason   string
	warmed   uint32
	pipers   map[[16]byte]bool // clients that send requests without waiting for answers
	spare    []*conn
	buffers  [][]byte
	free     int // bytes in buffers
	idle     parked
	sessions []session // begun of late, oldest first
	out      *output
	http2    http2pool
}

// parked is what connections need only for a while, and give back.
type parked struct {
	parsers   []*parser
	disorders []*disorder
}

func newTable(out *output, s secret) *table {
	t := &table{conns: newIndex(s), pipers: map[[16]byte]bool{}, out: out}
	t.holed.which = byHole
	return t
}

// conn is one TCP connection; direction 0 is that of its first packet. There are
// many, and each packet waits for the one it belongs to: what most of them do not
// need at a time stands elsewhere, and the rest fills four lines of a cache.
type conn struct {
	key     key
	flip    bool // direction 0 goes from key.high to key.low
	dead    bool
	mid     bool // joined after it began
	heard   bool // it carries messages
	half    [2]half
	old     [2]uint32 // where the connection before it on these addresses had got to, as half.old tells
	last    int64     // the table's time at its newest packet
	seen    int64     // capture time of that packet
	ranked  int64     // last, when it was put in its place by it
	link    link
	late    *disorder            // nil unless pieces wait
	proxied *[2]capture.Endpoint // the ends that a PROXY header names; nil without
	http    stream
}

// end is where direction d comes from.
func (c *conn) end(d int) capture.Endpoint {
	switch {
	case c.proxied != nil:
		return c.proxied[d]
	case c.flip == (d == 0):
		return c.key.high
	}
	return c.key.low
}

// from sets where direction d comes from, as a PROXY header tells it.
func (c *conn) from(d int, e capture.Endpoint) {
	if c.proxied == nil {
		c.proxied = &[2]capture.Endpoint{c.end(0), c.end(1)}
	}
	c.proxied[d] = e
}

// half is one direction.
type half struct {
	next, isn, finSeq, acked      uint32
	begun, syn, fin, done, hasAck bool
	old                           bool
	doubted                       bool // that it is the client's is concluded from what another explains better
	reading                       reading
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

// take takes one segment.
func (t *table) take(p *decoded) {
	for t.buffered > maxBuffered && t.unload() {
	}
	s, swapped := &p.segment, p.swapped
	c := t.conns.find(&p.key, p.tag)
	var old [2]half
	if c != nil {
		switch d := dir(swapped != c.flip); c.fit(s, d) {
		case strays:
			t.reason = skipStray
			return
		case renews:
			old = [2]half{c.half[d], c.half[1-d]}
			t.remove(c, endReused)
			c = nil
		}
	}
	if c == nil {
		if s.flags&flagRST != 0 || s.flags&flagSYN == 0 && s.wire == 0 {
			t.reason = skipUnknown
			return
		}
		c = t.create(p.key, s, swapped)
		for d := range old {
			c.half[d].old, c.old[d] = old[d].begun, old[d].next
		}
	}
	if c.dead {
		t.reason = c.http.skip()
		return
	}
	c.last, c.seen = t.now, p.t
	if t.now-c.ranked > rankEvery {
		t.byUse(c).toBack(c)
		c.ranked = t.now
	}
	t.segment(c, dir(swapped != c.flip), s, stamp{p.t, p.n})
	if !c.heard && !c.dead && c.http.kind.heard() {
		t.quiet.remove(c)
		c.heard, c.ranked = true, t.now
		t.open.pushBack(c)
	}
	if t.reason == "" {
		t.reason = c.http.skip()
	}
}

// byUse is the list that an open connection is on.
func (t *table) byUse(c *conn) *list {
	if c.heard {
		return &t.open
	}
	return &t.quiet
}

func dir(second bool) int {
	if second {
		return 1
	}
	return 0
}

func less(a, b *capture.Endpoint) bool {
	for i := 0; i < len(a.IP); i += 8 {
		if m, n := be.Uint64(a.IP[i:]), be.Uint64(b.IP[i:]); m != n {
			return m < n
		}
	}
	return a.Port < b.Port
}

func (t *table) create(k key, s *segment, swapped bool) *conn {
	for t.conns.n >= maxConns {
		t.evict()
	}
	var c *conn
	if n := len(t.spare); n > 0 {
		c, t.spare = t.spare[n-1], t.spare[:n-1]
	} else {
		c = &conn{}
	}
	c.key, c.flip = k, swapped
	c.ranked = t.now
	c.mid = s.flags&flagSYN == 0
	c.http.begin(t, c)
	t.conns.insert(c)
	t.quiet.pushBack(c)
	return c
}

// advance moves the clock on, forgets what has been silent, and gives up holes
// that nobody fills.
func (t *table) advance(now int64) {
	t.now = max(t.now, now)
	for _, l := range [...]*list{&t.open, &t.quiet} {
		for c := l.front(); c != nil && t.now-c.last > idleWait; c = l.front() {
			t.remove(c, endIdle)
		}
	}
	for c := t.closed.front(); c != nil && t.now-c.last > closedWait; c = t.closed.front() {
		t.forget(c)
	}
	for c := t.holed.front(); c != nil && t.now-c.late.since > holeWait; c = t.holed.front() {
		t.giveUp(c)
	}
	t.outlive()
}

// evict makes room for a connection: first what is closed, then what has not
// carried a message (a flood of half-open connections pushes out itself), then
// what has been silent longest.
func (t *table) evict() {
	if c := t.closed.front(); c != nil {
		t.forget(c)
		return
	}
	c, bound := t.quiet.front(), boundQuiet
	if c == nil {
		c, bound = t.open.front(), boundConns
	}
	t.out.health.Bound(bound)
	t.remove(c, endEvicted)
}

// unload makes room for data: it passes over the oldest hole, or gives up the
// connection silent longest. It returns false when nothing is left to give up.
func (t *table) unload() bool {
	switch c := t.holed.front(); {
	case c != nil:
		t.giveUp(c)
	case t.open.front() != nil:
		t.remove(t.open.front(), endEvicted)
	case t.quiet.front() != nil:
		t.remove(t.quiet.front(), endEvicted)
	default:
		return false
	}
	t.out.health.Bound(boundBytes)
	return true
}

// end closes a connection and keeps it for a while, so that stragglers do not
// begin it anew.
func (t *table) end(c *conn, why ending) {
	if c.dead {
		return
	}
	for d := range c.half {
		for c.waiting(d) > 0 {
			t.skip(c, d)
		}
	}
	c.dead = true
	c.http.end(why)
	t.byUse(c).remove(c)
	t.closed.pushBack(c)
}

func (t *table) remove(c *conn, why ending) {
	t.end(c, why)
	t.forget(c)
}

func (t *table) forget(c *conn) {
	t.closed.remove(c)
	t.conns.remove(c)
	*c = conn{}
	if len(t.spare) < maxConns/16 {
		t.spare = append(t.spare, c)
	}
}

// finish closes everything at the end of the input.
func (t *table) finish(why ending) {
	for _, l := range [...]*list{&t.open, &t.quiet} {
		for c := l.front(); c != nil; c = l.front() {
			t.remove(c, why)
		}
	}
	for c := t.closed.front(); c != nil; c = t.closed.front() {
		t.forget(c)
	}
	t.conns, t.idle, t.spare, t.buffers, t.free, t.sessions = index{}, parked{}, nil, nil, 0, nil // whoever keeps the source need not keep its memory
	t.out.spare = nil
}
