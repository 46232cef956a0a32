package packet

import "bytes"

// A connection joined in the middle of a body may show, in that body, what looks like
// a message: a log that is uploaded, a page about HTTP. Its direction is then taken
// for the other one, until a message begins a packet where none could.

// guess sets the client by what stands in the middle of a packet.
func (s *stream) guess(client int) {
	s.roles(client)
	s.c.half[client].doubted = true
}

// likely tells whether direction d may be the client's by the ports: where one is of
// those that systems give to clients (Linux from 32768, others from 49152: RFC 6335
// section 6), the lower one is the server's, most times.
func (s *stream) likely(d int) bool {
	const given = 32768
	own, other := s.c.end(d).Port, s.c.end(1-d).Port
	return own >= other || other < given
}

// contradicts tells whether a packet of direction d, in which no message has been read,
// begins with one that only the other side would send, so that it is likelier that the
// sides were confused than that this is part of a body: where they were guessed, where
// their ports say so too, or where it happens again.
func (s *stream) contradicts(d int, b []byte) bool {
	client := &s.c.half[s.client]
	if d == s.client {
		p := parser{}
		if !p.strictStatus(b) {
			return false
		}
	} else if bytes.IndexByte(b, '\n') < 0 || !startsRequest(b, true) {
		return false
	}
	sure := client.doubted || !s.likely(s.client)
	client.doubted = true
	return sure
}

// swap makes the other side the client. What was read so far was part of a body: of
// one direction only, so that no request has found its answer.
func (s *stream) swap() {
	for s.open.last != nil {
		if m := s.open.pop(); m.x.ID != 0 { // it has been announced
			s.unanswered(m, endLost)
		} else {
			s.t.buffered -= len(m.target)
			s.discard(m)
		}
	}
	for s.held.last != nil {
		s.discard(s.held.pop())
	}
	s.waiting, s.holding, s.count, s.aligned = 0, 0, 0, alignment{next: 1}
	for d, p := range s.parser {
		if p != nil {
			s.clear(p)
			s.parser[d] = nil
			s.t.park(p)
		}
		h := &s.c.half[d]
		h.doubted = false
		if h.reading == legible {
			h.reading = unread
		}
	}
	s.roles(1 - s.client)
}
