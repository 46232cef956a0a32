package packet

import "bytes"

// Reasons to pass over a packet that is TCP.
const (
	skipUnknown  = "TCP control packet of a connection not seen"
	skipTLS      = "TLS: encrypted"
	skipOther    = "TCP that is not HTTP"
	skipMidway   = "joined midway, before its first HTTP message"
	skipEvicted  = "connection given up for want of memory"
	skipUpgraded = "tunnel after CONNECT or upgrade"
)

// kind is what a connection carries.
type kind uint8

const (
	undecided kind = iota
	http1
	tls
	http2
	other
	tunnel
)

// ending is why a connection ended.
type ending uint8

const (
	endClosed ending = iota
	endReset
	endReused  // a new connection took its addresses and ports
	endIdle    // silent for idleWait
	endEvicted // for want of room
	endInput   // the capture ended first
)

const (
	maxPipeline = 256 // requests waiting on one connection
	maxHeld     = 16  // responses waiting for a request that was captured late
	heldWait    = 1e9 // how long they wait
	unknownDir  = -1
)

// stream pairs the messages of one connection.
type stream struct {
	t      *table
	c      *conn
	kind   kind
	client int    // direction of the requests
	lost   bool   // bytes are missing and messages may be
	count  uint32 // requests so far
	parser [2]parser
	open   []*message // requests without a response, in order
	held   []*message // responses without a request, in order
	h2     *http2conn
}

// chunk is a run of consecutive bytes out of one packet.
type chunk struct {
	b        []byte
	seq, ack uint32
	at       stamp
}

func (c *chunk) take(n int) {
	c.b = c.b[n:]
	c.seq += uint32(n)
}

func (s *stream) begin(t *table, c *conn) {
	s.t, s.c, s.kind, s.client, s.lost, s.count = t, c, undecided, unknownDir, false, 0
	s.open, s.held = s.open[:0], s.held[:0]
	for d := range s.parser {
		s.parser[d] = parser{}
	}
}

// skip says why packets of this connection do not count as used.
func (s *stream) skip() string {
	switch s.kind {
	case tls:
		return skipTLS
	case other:
		return skipOther
	case tunnel:
		return skipUpgraded
	case undecided:
		if s.c.mid {
			return skipMidway
		}
	}
	return ""
}

// data takes the next bytes of direction d.
func (s *stream) data(d int, c chunk) {
	switch s.kind {
	case undecided:
		s.decide(d, c.b)
	case other:
		s.reconsider(d, c.b)
	}
	switch s.kind {
	case http1:
		if len(s.held) > 0 {
			s.expireHeld()
		}
		s.parse(d, c)
	case http2:
		s.h2.data(d, c)
	}
}

// decide finds out what the connection carries and who sends requests. Where
// its beginning was not seen, it goes on looking.
func (s *stream) decide(d int, b []byte) {
	search := s.c.mid || s.lost
	request, response := parser{request: true, searching: search}, parser{searching: search}
	switch {
	case isPreface(b):
		s.speak(d, true)
	case len(b) >= 3 && b[0] >= 0x14 && b[0] <= 0x17 && b[1] == 3 && b[2] <= 4: // a TLS record (RFC 8446 section 5.1)
		s.kind = tls
		s.t.out.health.Encrypted++
	case len(b) > 1 && response.starts(b): // one byte may begin HEAD as well
		s.roles(1 - d)
	case request.starts(b):
		s.roles(d)
	case !search && beginsHTTP2(b):
		s.speak(1-d, true)
	case !search:
		s.kind = other
	case s.joins(d, b):
	case response.find(b) >= 0:
		s.roles(1 - d)
	case request.find(b) >= 0:
		s.roles(d)
	}
}

// reconsider takes a connection for HTTP after all when a whole start line
// begins a packet: after the handshake of a SOCKS proxy, or in the answer to a
// request that is broken.
func (s *stream) reconsider(d int, b []byte) {
	p := parser{}
	switch {
	case isPreface(b):
		s.speak(d, true)
	case p.strictStatus(b):
		s.roles(1 - d)
	case bytes.IndexByte(b, '\n') > 0 && startsRequest(b, true):
		s.roles(d)
	}
}

func (s *stream) roles(client int) {
	s.kind, s.client = http1, client
	s.parser[client].request = true
	for d := range s.parser {
		s.parser[d].searching = s.c.mid || s.lost
	}
}

// gap tells that n bytes of direction d are missing.
func (s *stream) gap(d, n int, t int64) {
	if s.kind == http2 {
		s.h2.gap(d, n, t)
		return
	}
	if s.kind == undecided {
		s.lost = true
	}
	if s.kind == http1 && !s.parser[d].absorb(n) {
		s.breakOff(d)
	} else if p := &s.parser[d]; s.kind == http1 && p.remain == 0 {
		s.bodyEnd(d, t)
	}
}

// match finds the request that a response at seq answers, and takes it off the
// open ones. Without losses that is the oldest one, unless it acknowledges bytes
// beyond the response's first: then it was sent after it. After a loss only a
// request that acknowledges everything before the response will do, and older
// ones lost their response.
func (s *stream) match(seq uint32) *message {
	if len(s.open) == 0 || span(seq, s.open[0].ack) > 0 {
		return nil
	}
	i := 0
	if s.lost {
		for i < len(s.open) && s.open[i].ack != seq {
			i++
		}
		if i == len(s.open) {
			return nil
		}
	}
	m := s.open[i]
	kept := s.open[:0]
	for j, o := range s.open {
		switch {
		case j == i:
		case j < i && span(o.ack, m.ack) > 0:
			s.unanswered(o, endEvicted)
		default:
			kept = append(kept, o)
		}
	}
	s.open = kept
	return m
}

// asked takes a request whose headers have been read.
func (s *stream) asked(m *message) {
	for i, r := range s.held {
		if r.seq != m.ack {
			continue
		}
		m.answer(r)
		s.held = append(s.held[:i], s.held[i+1:]...)
		if p := &s.parser[1-s.client]; p.msg == r {
			p.msg = m
		}
		s.discard(r)
		if m.done {
			s.emit(m)
		}
		return
	}
	if len(s.open) == maxPipeline {
		s.unanswered(s.open[0], endEvicted)
		s.open = append(s.open[:0], s.open[1:]...)
	}
	s.open = append(s.open, m)
}

// hold keeps a response without a request: the request may be captured late.
func (s *stream) hold(m *message) {
	if len(s.held) == maxHeld {
		s.emit(s.held[0])
		s.held = append(s.held[:0], s.held[1:]...)
	}
	s.held = append(s.held, m)
}

// answered takes a response that has been read to its end.
func (s *stream) answered(m *message) {
	if m.done = true; !m.orphan {
		s.emit(m)
	}
}

// emit hands an exchange over; the parsers forget it.
func (s *stream) emit(m *message) {
	for d := range s.parser {
		if s.parser[d].msg == m {
			s.parser[d].msg = nil
		}
	}
	s.t.buffered -= messageCost + len(m.target)
	s.t.out.emit(m)
}

// discard takes back a message that comes to nothing.
func (s *stream) discard(m *message) {
	s.t.buffered -= messageCost
	s.t.out.free(m)
}

// expireHeld gives up waiting for the requests of responses.
func (s *stream) expireHeld() {
	for len(s.held) > 0 && s.held[0].done && s.t.now-s.held[0].x.End > heldWait {
		s.emit(s.held[0])
		s.held = append(s.held[:0], s.held[1:]...)
	}
}

// closed takes the orderly end of a direction. A server that has closed will
// not answer any more.
func (s *stream) closed(d int) {
	if s.kind == http2 {
		s.h2.closed(d)
	}
	if s.kind != http1 {
		return
	}
	s.shut(d, endClosed)
	if d != s.client {
		s.giveUp(endClosed)
	}
}

// end takes the end of both directions.
func (s *stream) end(why ending) {
	if s.kind == http1 {
		if s.client != unknownDir {
			s.shut(s.client, why)
			s.shut(1-s.client, why)
		}
		s.giveUp(why)
		for _, m := range s.held {
			s.emit(m)
		}
		s.held = s.held[:0]
	}
	if s.kind == http2 {
		s.h2.end(why)
	}
	for d := range s.parser {
		s.clear(&s.parser[d])
	}
}

func (s *stream) giveUp(why ending) {
	for _, m := range s.open {
		s.unanswered(m, why)
	}
	s.open = s.open[:0]
}
