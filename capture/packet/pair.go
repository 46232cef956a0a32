package packet

import "stormwatch/capture"

const (
	maxPipeline = 256 // requests waiting on one connection
	maxHeld     = 16  // responses waiting for a request that was captured late
	heldWait    = 1e9 // how long they wait
	maxPipers   = 1 << 12
)

// alignment says up to where requests and responses are known to go together: the
// next response answers request number next, as long as neither direction has
// lost bytes that may have been a message.
type alignment struct {
	next   uint32
	breaks [2]uint32 // of the request's direction, of the response's
}

// match finds the request that a response at seq answers, and takes it off the
// open ones. Where nothing was lost that is the oldest one, unless it
// acknowledges bytes beyond the response's first: then it was sent after it.
// After a loss only a request that acknowledges everything before the response
// will do, and older ones lost their response. Where a client sends several
// requests in one go, that is not enough; see certain.
func (s *stream) match(seq, breaks uint32) *message {
	m := s.open.first()
	if m == nil || span(seq, m.edge) > 0 {
		return nil
	}
	if s.aligned != (alignment{m.x.ConnSeq, [2]uint32{m.breaks, breaks}}) {
		for m != nil && m.edge != seq {
			m = s.open.next(m)
		}
		if m == nil || !s.certain(m) {
			return nil
		}
	}
	var before *message // stays open
	for o := s.open.first(); ; {
		next := s.open.next(o)
		if o == m || span(o.edge, m.edge) > 0 {
			s.open.remove(before)
			s.waiting--
		} else {
			before = o
		}
		if o == m {
			break
		}
		if o != before { // its answer was lost, but had come when the client went on
			o.x.End = next.x.Start
			s.unanswered(o, endLost)
		}
		o = next
	}
	s.paired(m, breaks)
	return m
}

// certain tells, after a loss, whether the response that begins where m
// acknowledges answers m. Where the client does not wait for answers, several
// requests may acknowledge the same: then none may be missing, and no older one
// wait, or a single one: since an answer was lost, it was that one's.
func (s *stream) certain(m *message) bool {
	first := s.open.first()
	return !s.pipes() || m.breaks == 0 && (m == first || m == s.open.next(first))
}

// another tells whether a request that waits behind a hole acknowledges what m does.
func (s *stream) another(m *message) bool {
	if s.c.waiting(s.client) == 0 {
		return false
	}
	p := s.c.late.half[s.client].first()
	return p.ack == m.edge && startsRequest(p.data, true)
}

// pipe notes that a client sends requests without waiting for answers: the program
// that does it once does so on other connections too.
func (s *stream) pipe() {
	if s.piped {
		return
	}
	s.piped = true
	if ip := s.c.end(s.client).IP; len(s.t.pipers) < maxPipers {
		s.t.pipers[ip] = true
	}
}

// pipes tells whether the client is known not to wait for answers.
func (s *stream) pipes() bool {
	return s.piped || len(s.t.pipers) > 0 && s.t.pipers[s.c.end(s.client).IP]
}

// paired notes that a request has found its response.
func (s *stream) paired(m *message, response uint32) {
	s.aligned = alignment{m.x.ConnSeq + 1, [2]uint32{m.breaks, response}}
}

// asked takes a request whose headers have been read.
func (s *stream) asked(m *message) {
	if o := s.open.last; o != nil && o.edge == m.edge || s.another(m) {
		s.pipe()
	}
	if r := s.heldFor(m); r != nil {
		m.answer(r)
		if p := s.parser[1-s.client]; p != nil && p.msg == r {
			p.msg = m
		}
		s.paired(m, r.breaks)
		s.discard(r)
		if m.done {
			s.emit(m)
		}
		return
	}
	if s.waiting == maxPipeline {
		s.t.out.health.Bound(boundOpen)
		s.waiting--
		s.unanswered(s.open.pop(), endEvicted)
	}
	s.open.push(m)
	s.waiting++
}

// heldFor finds the response, captured before its request, that answers m, and
// takes it out: it begins where m acknowledges, or it is the next one behind that
// place and m the next request.
func (s *stream) heldFor(m *message) *message {
	var before *message
	for r := s.held.first(); r != nil; before, r = r, s.held.next(r) {
		if m.x.Start-r.x.Start > heldWait { // so late no request is captured
			continue
		}
		behind := span(m.edge, r.edge)
		if behind == 0 && (m.breaks == 0 && s.open.first() == nil || !s.pipes()) || behind > 0 && s.open.first() == nil && s.aligned == (alignment{m.x.ConnSeq, [2]uint32{m.breaks, r.breaks}}) {
			s.held.remove(before)
			s.holding--
			return r
		}
		if behind > 0 {
			return nil
		}
	}
	return nil
}

// hold keeps a response without a request: the request may be captured late.
func (s *stream) hold(m *message) {
	if s.holding == maxHeld {
		s.t.out.health.Bound(boundHeld)
		s.letGo()
	}
	s.held.push(m)
	s.holding++
}

// letGo hands over the response held longest.
func (s *stream) letGo() {
	s.holding--
	m := s.held.pop()
	if !m.unasked {
		s.emit(m)
		return
	}
	s.t.out.health.Unasked++
	if p := s.parser[1-s.client]; p != nil && p.msg == m {
		p.msg = nil
	}
	s.discard(m)
}

// answered takes a response that has been read to its end. Whether it reached a
// client that has closed shows only at the end of the connection.
func (s *stream) answered(m *message) {
	switch m.done = true; {
	case m.orphan, m.attended:
	case s.left != 0:
		s.hold(m)
	default:
		s.emit(m)
	}
}

// expireHeld gives up waiting for the requests of responses, unless they may be
// behind a hole.
func (s *stream) expireHeld() {
	if s.c.waiting(s.client) > 0 {
		return
	}
	for m := s.held.first(); m != nil && m.done && s.t.now-m.x.End > heldWait; m = s.held.first() {
		s.letGo()
	}
}

// release hands over what was held. A client that had closed and then refused
// the answer has not got it.
func (s *stream) release(refused bool) {
	for m := s.held.first(); m != nil; m = s.held.first() {
		if refused && s.left != 0 && !m.orphan {
			m.x.Outcome = capture.Truncated
			m.x.Flags |= capture.GaveUp
		}
		s.letGo()
	}
}
