package packet

import "bytes"

// maxHeaders bounds a header block; a longer one is read as far as that.
const maxHeaders = 64 << 10

// state is what a parser expects next.
type state uint8

const (
	atStart state = iota
	inLength
	inChunkSize
	inChunk
	atChunkEnd
	inTrailer
	untilClose
	shut // nothing more to read
)

// parser reads the HTTP/1 messages (RFC 9112) of one direction, as their bytes
// come. It keeps no body.
type parser struct {
	state     state
	request   bool
	searching bool   // the next message may begin anywhere, and only with a known method
	gapped    bool   // bytes before the next message are missing
	torn      bool   // bytes of the body are missing
	buf       []byte // an unfinished header block or line
	remain    int64  // bytes left of the body or chunk
	whole     bool   // nothing of the body has been read
	msg       *message
	first     stamp // of the message's first byte
	seq, ack  uint32
	breaks    uint32 // of the direction before that byte
	interim   bool   // an interim response has been read,
	answer    uint32 // which began here
	last      int64  // time of the newest byte
	lines     int    // bytes of chunk framing lines in a row
}

// parse reads the bytes of direction d.
func (s *stream) parse(d int, c chunk) {
	p := s.reading(d)
	if p.state != shut && p.state != atStart {
		p.last = c.at.t
	}
	for len(c.b) > 0 {
		switch p.state {
		case shut, untilClose:
			if p.msg != nil && !p.request {
				s.peek(p.msg, c.b, false)
			}
			if s.kind == http2 { // the response that switched to it
				s.h2.data(d, c)
			}
			return
		case atStart:
			if !s.start(d, &c) {
				return
			}
		case inLength, inChunk:
			s.body(d, &c)
		default:
			if !s.framing(d, &c) {
				return
			}
		}
	}
}

// body passes over body bytes; those of a request are digested.
func (s *stream) body(d int, c *chunk) {
	p := s.reading(d)
	if p.state == inLength && p.bodiless(c.b) {
		s.finish(d, p.last)
		return
	}
	p.whole = false
	n := int(min(int64(len(c.b)), p.remain))
	if p.request && p.msg != nil && !p.torn {
		p.msg.digest = fnv(p.msg.digest, c.b[:n])
	}
	if !p.request && p.msg != nil {
		s.peek(p.msg, c.b[:n], p.state == inLength && int64(n) == p.remain)
	}
	c.take(n)
	if p.remain -= int64(n); p.remain == 0 {
		s.bodyEnd(d, c.at.t)
	}
}

// bodiless tells whether, where a body should begin, the next response does: then
// this one answered a HEAD that was not seen.
func (p *parser) bodiless(b []byte) bool {
	return p.whole && !p.request && (p.msg == nil || p.msg.orphan) && p.strictStatus(b)
}

func (s *stream) bodyEnd(d int, t int64) {
	switch p := s.reading(d); p.state {
	case inLength:
		s.finish(d, t)
	case inChunk:
		p.state = atChunkEnd
	}
}

// start reads up to the end of a header block. It returns false when it needs
// more bytes.
func (s *stream) start(d int, c *chunk) bool {
	p := s.reading(d)
	if len(p.buf) > 0 {
		return s.resume(d, c)
	}
	for len(c.b) > 0 && (c.b[0] == '\r' || c.b[0] == '\n') {
		c.take(1)
	}
	if len(c.b) == 0 {
		return false
	}
	if !p.starts(c.b) {
		i := p.find(c.b)
		if p.request { // what is passed over may be a request that is not understood
			s.breaks[d]++
		}
		if i < 0 {
			p.searching = true
			return false
		}
		c.take(i)
	}
	p.first, p.seq, p.ack, p.last = c.at, c.seq, c.ack, c.at.t
	p.breaks = s.breaks[d]
	if p.request {
		p.msg = s.request(p)
	}
	n := headersEnd(c.b, 0)
	if n < 0 && p.request && simple(c.b) {
		n = len(c.b)
	}
	if n > 0 && n <= maxHeaders {
		h := c.b[:n]
		c.take(n)
		s.headers(d, h, true)
		return true
	}
	s.keep(p, c.b[:min(len(c.b), maxHeaders)])
	c.take(len(c.b))
	return s.bounded(d)
}

// resume goes on with a header block that began in an earlier packet.
func (s *stream) resume(d int, c *chunk) bool {
	p := s.reading(d)
	p.last = c.at.t
	old := len(p.buf)
	s.keep(p, c.b[:min(len(c.b), maxHeaders-old)])
	n := headersEnd(p.buf, max(old-3, 0))
	if n < 0 {
		c.take(len(c.b))
		return s.bounded(d)
	}
	c.take(n - old)
	h := p.buf[:n]
	if p.request && !startsRequest(h, p.searching) { // its beginning alone could have been one
		s.breaks[d]++
		s.drop(p)
		s.clear(p)
		p.searching = true
		return true
	}
	s.headers(d, h, true)
	return true
}

// bounded reads what it has of a header block that is too long.
func (s *stream) bounded(d int) bool {
	if p := s.reading(d); len(p.buf) >= maxHeaders {
		s.t.out.health.Bound(boundHeader)
		s.breaks[d]++
		s.headers(d, p.buf, false)
	}
	return false
}

// finish ends a message.
func (s *stream) finish(d int, t int64) {
	p := s.reading(d)
	m := p.msg
	p.msg, p.state, p.lines = nil, atStart, 0
	switch {
	case m == nil:
	case p.request:
		if !p.torn {
			m.x.Body = m.digest
		}
	default:
		m.x.End = t
		s.judge(m)
		s.answered(m)
	}
}

// absorb takes a gap of n bytes; ok tells whether the parser still knows where
// the next message begins.
func (p *parser) absorb(n int) (ok bool) {
	switch p.state {
	case shut:
		return true
	case untilClose:
		p.tear()
		return true
	case inLength, inChunk:
		if p.whole && !p.request && (p.msg == nil || p.msg.orphan) {
			return false // it may have answered a HEAD, and what is missing be the next one
		}
		if int64(n) <= p.remain {
			p.tear()
			p.whole = false
			p.remain -= int64(n)
			return true
		}
	}
	return false
}

func (p *parser) tear() {
	p.torn = true
	if p.msg != nil {
		p.msg.flagGap()
		p.msg.want = 0
	}
}

// breakOff gives up the message being read; the next one may begin anywhere.
func (s *stream) breakOff(d int) {
	p := s.reading(d)
	if p.state == shut {
		return
	}
	s.lost = true
	s.breaks[d]++
	p.tear()
	switch {
	case p.state == atStart && len(p.buf) > 0:
		s.headers(d, p.buf, false)
	case p.msg != nil && !p.request:
		s.finish(d, p.last)
	}
	s.clear(p)
	p.state, p.searching, p.gapped, p.interim = atStart, true, true, false
}

// shut ends a direction.
func (s *stream) shut(d int, why ending) {
	p := s.reading(d)
	if p.state == shut {
		return
	}
	switch m := p.msg; {
	case p.state == atStart && len(p.buf) > 0:
		s.headers(d, p.buf, false)
	case m != nil && !p.request:
		if p.state != untilClose || why != endClosed {
			s.cutShort(m, why)
		}
		s.finish(d, p.last)
	}
	s.clear(p)
	p.state = shut
}

// clear forgets what a parser holds, and a request that has no name yet.
func (s *stream) clear(p *parser) {
	s.drop(p)
	if m := p.msg; m != nil && p.request && !m.named {
		s.discard(m)
	}
	p.msg = nil
}

// keep adds to a parser's buffer, which comes from the pool.
func (s *stream) keep(p *parser, b []byte) {
	if p.buf == nil {
		p.buf = s.t.buffer()
	}
	p.buf = append(p.buf, b...)
	s.t.buffered += len(b)
}

// drop gives the buffer back. Its bytes stay as they are until the next keep.
func (s *stream) drop(p *parser) {
	s.t.buffered -= len(p.buf)
	s.t.recycle(p.buf)
	p.buf = nil
}

// headersEnd finds the end of a header block, looking from an offset on; lines
// may end in LF alone. It is -1 when there is none.
func headersEnd(b []byte, from int) int {
	for {
		i := bytes.IndexByte(b[from:], '\n')
		if i < 0 {
			return -1
		}
		from += i + 1
		switch rest := b[from:]; {
		case len(rest) > 0 && rest[0] == '\n':
			return from + 1
		case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
			return from + 2
		}
	}
}

// simple tells whether b is a request of HTTP/0.9: a line without a version, and
// nothing behind it.
func simple(b []byte) bool {
	end := len(b) - 1
	return end >= 0 && bytes.IndexByte(b, '\n') == end && !versioned(b[:end])
}

// fnv continues an FNV-1a digest of 64 bits
// (http://www.isthe.com/chongo/tech/comp/fnv/); 0 begins one.
func fnv(sum uint64, b []byte) uint64 {
	if sum == 0 {
		sum = 14695981039346656037
	}
	for _, c := range b {
		sum = (sum ^ uint64(c)) * 1099511628211
	}
	return sum
}
