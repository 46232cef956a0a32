package packet

import "stormwatch/capture"

// message is an exchange in the making. Many wait at a time, so that its fields
// stand where they leave no room between them.
type message struct {
	x       capture.Exchange
	target  []byte
	edge    uint32 // where a response begins; where a request's first packet says that its answer will
	breaks  uint32 // of its direction before its first byte
	peer    uint32 // a request's: of the other direction, by then
	id      uint32 // of its stream, in HTTP/2
	digest  uint64 // of the request's body so far
	orphan  bool   // a response without a request
	unasked bool   // and it answers none: the server sent it to end an idle connection
	head    bool   // HEAD: the response has no body
	connect bool   // CONNECT: after the response comes a tunnel
	named   bool   // the request's headers have been read
	done    bool   // the response has been read to its end
	queued  bool   // holds the watermark back
	// attended: an upgrade that is held to see whether its session ends at once
	attended bool
	h2       streamState
	want     int32 // bytes of the response's body that are still to be looked at
	told     capture.Settled
	body     *excerpt

	prev, next *message // in order of start
	after      *message // in a line
}

// excerpt holds those bytes of a response's body that are looked at, until enough
// have come. Most messages never need one, and those that wait for an answer have
// none yet.
type excerpt struct{ bytes []byte }

// keep adds to what has come of the body.
func (m *message) keep(b []byte) {
	if m.body == nil {
		m.body = &excerpt{}
	}
	m.body.bytes = append(m.body.bytes, b...)
}

// kept returns what has come of the body and is still held.
func (m *message) kept() []byte {
	if m.body == nil {
		return nil
	}
	return m.body.bytes
}

// drop forgets what has come of the body.
func (m *message) drop() {
	if m.body != nil {
		m.body.bytes = m.body.bytes[:0]
	}
}

// answer takes over the response that r holds.
func (m *message) answer(r *message) {
	x, y := &m.x, &r.x
	x.End, x.Status, x.Outcome, x.Hint, x.Date = max(y.End, x.Start), y.Status, y.Outcome, y.Hint, y.Date
	x.Limit, x.Advice, m.told, m.want = y.Limit, y.Advice, r.told, r.want
	if y.Reason != capture.Unjudged {
		x.Reason = y.Reason
	}
	m.body, r.body = r.body, m.body
	x.At.B = y.At.B
	x.Flags |= y.Flags & capture.Gap
	m.done = r.done
}

func (m *message) flagGap() { m.x.Flags |= capture.Gap }

// request opens the message of a request whose first byte has been seen.
func (s *stream) request(p *parser) *message {
	m := s.message(p)
	m.edge, m.peer = p.ack, s.breaks[1-s.client]
	m.x.At.A = p.first.frame
	return m
}

// response makes the message of a response that no request is known for.
func (s *stream) response(p *parser) *message {
	m := s.message(p)
	m.orphan = true
	m.x.At.A = p.first.frame // the response's own: there is no other
	m.x.Flags |= capture.Orphan
	return m
}

func (s *stream) message(p *parser) *message {
	m := s.t.out.begin(p.first.t)
	m.breaks = p.breaks
	s.t.buffered += messageCost
	m.x.Src, m.x.Dst = s.c.end(s.client), s.c.end(1-s.client)
	if s.c.mid {
		m.x.Flags |= capture.Midstream
	}
	return m
}

// unanswered ends a request whose response was not seen.
func (s *stream) unanswered(m *message, why ending) {
	if why != endLost {
		m.x.End = s.c.seen
	}
	gone := s.left != 0 && why != endEvicted && why != endLost // the wait ended when the client closed
	if gone && (why == endReset || why == endAborted) {
		why = endClosed
	}
	if s.missed(m) && why != endInput {
		why = endLost
	}
	if gone || why == endAborted || why == endCancel {
		m.x.Flags |= capture.GaveUp
	}
	switch why {
	case endReset, endAborted:
		m.x.Outcome = capture.Reset
	case endInput: // it may have been answered later
		m.x.Outcome = capture.NoAnswer
		m.x.End = s.t.now
		m.x.Flags |= capture.Gap
	case endEvicted, endLost:
		m.x.Outcome = capture.Truncated
		m.x.Flags = m.x.Flags&^capture.GaveUp | capture.Gap // it may have been answered
	default:
		m.x.Outcome = capture.NoAnswer
	}
	if gone {
		m.x.End = s.left
	}
	s.emit(m)
}

// missed tells whether the answer to m was sent and the capture did not get it: of
// the server's bytes some are missing since, or its client acknowledged some that
// were never seen. One byte may be the end of the connection.
func (s *stream) missed(m *message) bool {
	if s.client == unknownDir {
		return false
	}
	h := &s.c.half[1-s.client]
	unseen := h.hasAck && (!h.begun || span(h.next, h.acked) > 1) && span(m.edge, h.acked) > 1
	return unseen || s.breaks[1-s.client] != m.peer
}

// cutShort ends a message in its body. A refusal has reached its client all the
// same; of a success the client misses a part.
func (s *stream) cutShort(m *message, why ending) {
	switch why {
	case endClosed, endReset, endAborted, endCancel, endReused, endIdle:
		if m.x.Status < 400 {
			m.x.Outcome = capture.Truncated
		}
		if why == endAborted || why == endCancel {
			m.x.Flags |= capture.GaveUp
		}
	default:
		m.x.Flags |= capture.Gap
	}
}

// line is a line of messages. It keeps the last one, whose after is the first.
type line struct{ last *message }

func (l *line) first() *message {
	if l.last == nil {
		return nil
	}
	return l.last.after
}

// next is the message behind m, or nil.
func (l *line) next(m *message) *message {
	if m == l.last {
		return nil
	}
	return m.after
}

func (l *line) push(m *message) {
	if l.last == nil {
		m.after = m
	} else {
		m.after, l.last.after = l.last.after, m
	}
	l.last = m
}

// pop takes the first message off a line that has one.
func (l *line) pop() *message {
	m := l.last.after
	if m == l.last {
		l.last = nil
	} else {
		l.last.after = m.after
	}
	m.after = nil
	return m
}

// remove takes out the message behind another one, or the first where that is nil.
func (l *line) remove(before *message) {
	if before == nil {
		l.pop()
		return
	}
	m := before.after
	if before.after = m.after; m == l.last {
		l.last = before
	}
	m.after = nil
}
