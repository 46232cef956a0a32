package packet

import "stormwatch/capture"

const (
	maxPipeline = 256 // requests waiting on one connection
	maxHeld     = 16  // responses waiting for a request that was captured late
	heldWait    = 1e9 // how long they wait
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
// will do, and older ones lost their response.
func (s *stream) match(seq, breaks uint32) *message {
	if len(s.open) == 0 || span(seq, s.open[0].ack) > 0 {
		return nil
	}
	i, first := 0, s.open[0]
	if s.sync != (alignment{first.x.ConnSeq, [2]uint32{first.breaks, breaks}}) {
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
		case j < i && span(o.ack, m.ack) > 0: // its answer was lost, but had come when the client went on
			o.x.End = s.open[j+1].x.Start
			s.unanswered(o, endLost)
		default:
			kept = append(kept, o)
		}
	}
	s.open = kept
	s.paired(m, breaks)
	return m
}

// paired notes that a request has found its response.
func (s *stream) paired(m *message, response uint32) {
	s.sync = alignment{m.x.ConnSeq + 1, [2]uint32{m.breaks, response}}
}

// asked takes a request whose headers have been read.
func (s *stream) asked(m *message) {
	if i := s.heldFor(m); i >= 0 {
		r := s.held[i]
		m.answer(r)
		s.held = append(s.held[:i], s.held[i+1:]...)
		if p := &s.parser[1-s.client]; p.msg == r {
			p.msg = m
		}
		s.paired(m, r.breaks)
		s.discard(r)
		if m.done {
			s.emit(m)
		}
		return
	}
	if len(s.open) == maxPipeline {
		s.t.out.health.Bound(boundOpen)
		s.unanswered(s.open[0], endEvicted)
		s.open = append(s.open[:0], s.open[1:]...)
	}
	s.open = append(s.open, m)
}

// heldFor finds the response, captured before its request, that answers m: it
// begins where m acknowledges, or it is the next one behind that place and m the
// next request.
func (s *stream) heldFor(m *message) int {
	for i, r := range s.held {
		switch {
		case m.x.Start-r.x.Start > heldWait: // so late no request is captured
		case r.seq == m.ack:
			return i
		case span(m.ack, r.seq) > 0:
			if s.sync == (alignment{m.x.ConnSeq, [2]uint32{m.breaks, r.breaks}}) && len(s.open) == 0 {
				return i
			}
			return -1
		}
	}
	return -1
}

// hold keeps a response without a request: the request may be captured late.
func (s *stream) hold(m *message) {
	if len(s.held) == maxHeld {
		s.t.out.health.Bound(boundHeld)
		s.emit(s.held[0])
		s.held = append(s.held[:0], s.held[1:]...)
	}
	s.held = append(s.held, m)
}

// answered takes a response that has been read to its end. Whether it reached a
// client that has closed shows only at the end of the connection.
func (s *stream) answered(m *message) {
	switch m.done = true; {
	case m.orphan:
	case s.left != 0:
		s.hold(m)
	default:
		s.emit(m)
	}
}

// expireHeld gives up waiting for the requests of responses, unless they may be
// behind a hole.
func (s *stream) expireHeld() {
	if s.c.half[s.client].waiting() > 0 {
		return
	}
	for len(s.held) > 0 && s.held[0].done && s.t.now-s.held[0].x.End > heldWait {
		s.emit(s.held[0])
		s.held = append(s.held[:0], s.held[1:]...)
	}
}

// release hands over what was held. A client that had closed and then refused
// the answer has not got it.
func (s *stream) release(refused bool) {
	for _, m := range s.held {
		if refused && s.left != 0 && !m.orphan {
			m.x.Outcome = capture.Truncated
		}
		s.emit(m)
	}
	s.held = s.held[:0]
}
