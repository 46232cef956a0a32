package packet

import "bytes"

// Reasons to pass over a packet that is TCP.
const (
	skipUnknown  = "TCP control packet of a connection not seen"
	skipTLS      = "TLS: encrypted"
	skipOther    = "TCP that is not HTTP"
	skipMidway   = "joined midway, before its first HTTP message"
	skipUpgraded = "tunnel after CONNECT or upgrade"
	skipStray    = "TCP packet that fits no connection seen"
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

// heard tells whether messages are read from it.
func (k kind) heard() bool { return k == http1 || k == http2 }

// ending is why a connection ended.
type ending uint8

const (
	endClosed  ending = iota
	endReset          // by the server
	endAborted        // reset by the client
	endCancel         // the client gave up this request, the connection goes on
	endReused         // a new connection took its addresses and ports
	endIdle           // silent for idleWait
	endEvicted        // for want of room
	endLost           // a part of it was lost by the capture
	endInput          // the capture ended first
)

const unknownDir = -1

// stream pairs the messages of one connection.
type stream struct {
	t       *table
	c       *conn
	kind    kind
	preface preface
	lost    bool      // bytes are missing and messages may be
	holding uint8     // messages in held
	waiting uint16    // messages in open
	proxies uint8     // PROXY headers read
	piped   bool      // the client sends requests without waiting for answers
	client  int       // direction of the requests
	breaks  [2]uint32 // how often bytes were lost that may have been messages, by direction
	count   uint32    // requests so far
	aligned alignment
	left    int64      // when the client closed; 0 not yet
	parser  [2]*parser // nil between messages
	open    line       // requests without a response, in order
	held    line       // responses without a request, in order
	h2      *http2conn
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
	*s = stream{t: t, c: c, client: unknownDir, aligned: alignment{next: 1}}
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
	if s.preface != prefacePast && s.unwrap(d, &c) {
		return
	}
	switch s.kind {
	case undecided:
		s.decide(d, c.b)
	case other, tls, tunnel:
		s.reconsider(d, c.b)
	}
	if s.c.half[d].reading != legible && s.kind != undecided {
		if s.kind != http1 {
			s.c.read(s.t, d)
		} else if s.c.mid && s.contradicts(d, c.b) {
			s.swap()
		}
	}
	switch s.kind {
	case http1:
		s.parse(d, c)
		s.rest(d)
		if s.holding > 0 {
			s.expireHeld()
		}
	case http2:
		s.h2.data(d, c)
	}
}

// decide finds out what the connection carries and who sends requests. Where
// its beginning was not seen, it goes on looking.
func (s *stream) decide(d int, b []byte) {
	search := s.c.mid || s.lost
	request, response := parser{request: true, searching: search}, parser{searching: search}
	text := bytes.TrimLeft(b, "\r\n") // blank lines before a request mean nothing (RFC 9112 section 2.2)
	switch {
	case len(text) == 0:
	case isPreface(b):
		s.speak(d, true)
	case startsTLS(b, search):
		s.seal()
	case len(b) > 1 && response.starts(b): // one byte may begin HEAD as well
		s.roles(1 - d)
	case request.starts(text):
		s.roles(d)
	case !search && beginsHTTP2(b):
		s.speak(1-d, true)
	case !search:
		s.kind = other
	case s.joins(d, b):
	case s.likely(1-d) && response.find(b) >= 0:
		s.guess(1 - d)
	case s.likely(d) && request.find(b) >= 0:
		s.guess(d)
	}
}

// reconsider takes a connection for HTTP after all when a whole start line
// begins a packet: after the handshake of a SOCKS proxy, in the answer to a
// request that is broken or in TLS where none was expected, or where bytes in its
// middle looked like TLS. And it notices TLS inside a tunnel.
func (s *stream) reconsider(d int, b []byte) {
	p := parser{}
	switch {
	case s.kind != tls && isPreface(b):
		s.speak(d, true)
	case s.kind != tls && startsTLS(b, true):
		s.seal()
	case s.kind == tunnel:
	case p.strictStatus(b):
		s.roles(1 - d)
	case bytes.IndexByte(b, '\n') > 0 && startsRequest(b, true):
		s.roles(d)
	}
}

func (s *stream) roles(client int) {
	if s.kind == tls {
		s.t.out.health.Encrypted--
	}
	s.kind, s.client = http1, client
	for d := range s.parser {
		if s.c.mid || s.lost {
			s.reading(d).searching = true
		} else if p := s.parser[d]; p != nil {
			p.searching = false
		}
		if p := s.parser[d]; p != nil {
			p.request = d == client
		}
	}
}

// reading gives the parser of direction d.
func (s *stream) reading(d int) *parser {
	if p := s.parser[d]; p != nil {
		return p
	}
	p := s.t.parser()
	p.request = d == s.client
	s.parser[d] = p
	return p
}

// rest gives back the parser of direction d where it is between two messages, and
// has nothing to remember.
func (s *stream) rest(d int) {
	p := s.parser[d]
	if p == nil || p.state != atStart || p.buf != nil || p.msg != nil || p.searching || p.gapped || p.interim {
		return
	}
	s.parser[d] = nil
	s.t.park(p)
}

// gap tells that n bytes of direction d are missing.
func (s *stream) gap(d, n int, t int64) {
	if s.kind == http2 {
		s.h2.gap(d, n, t)
		return
	}
	if s.kind == undecided {
		s.lost = true
		s.breaks[d]++
		s.cutPreface(d)
	}
	if s.kind != http1 {
		return
	}
	if p := s.reading(d); !p.absorb(n) {
		s.breakOff(d)
	} else if p.remain == 0 {
		s.bodyEnd(d, t)
	}
}

// emit hands an exchange over; the parsers forget it.
func (s *stream) emit(m *message) {
	for _, p := range s.parser {
		if p != nil && p.msg == m {
			p.msg = nil
		}
	}
	s.judge(m)
	s.t.buffered -= messageCost + len(m.target)
	s.t.out.emit(m)
}

// discard takes back a message that comes to nothing.
func (s *stream) discard(m *message) {
	s.t.buffered -= messageCost + len(m.kept())
	s.t.out.free(m)
}

// closed takes the orderly end of a direction. A server that has closed will
// not answer any more; a client that has may still be waiting for its answer.
func (s *stream) closed(d int) {
	s.sessionEnds(endClosed)
	if s.kind == http2 {
		if d == s.client {
			s.left = s.c.seen
		}
		s.h2.closed(d)
	}
	if s.kind != http1 {
		return
	}
	s.shut(d, endClosed)
	if d == s.client {
		s.left = s.c.seen
	} else {
		s.giveUp(endClosed)
	}
}

// end takes the end of both directions.
func (s *stream) end(why ending) {
	s.sessionEnds(why)
	if s.kind == http1 {
		if s.client != unknownDir {
			s.shut(s.client, why)
			s.shut(1-s.client, why)
		}
		s.giveUp(why)
		s.release(why == endAborted)
	}
	if s.kind == http2 {
		s.h2.end(why)
	}
	for d, p := range s.parser {
		if p != nil {
			s.clear(p)
			s.parser[d] = nil
			s.t.park(p)
		}
	}
}

func (s *stream) giveUp(why ending) {
	for s.waiting > 0 {
		s.waiting--
		s.unanswered(s.open.pop(), why)
	}
}
