package packet

import "stormwatch/capture"

// session is a connection that was upgraded a moment ago. The exchange that did it is
// held for as long as the session may turn out to have come to nothing.
type session struct {
	c     *conn
	m     *message
	begun int64
}

const (
	maxSessions   = 4096
	boundSessions = "4,096 connections upgraded within a second: whether one more ended at once was not seen"
)

// attend tells whether there is room to wait for the end of a session.
func (s *stream) attend(m *message) bool {
	if m.orphan || s.left != 0 {
		return false
	}
	if len(s.t.sessions) == maxSessions {
		s.t.out.health.Bound(boundSessions)
		return false
	}
	s.t.sessions = append(s.t.sessions, session{s.c, m, m.x.Start})
	return true
}

// sessionEnds hands over the exchange that began a session, with how it ended if it
// did so at once.
func (s *stream) sessionEnds(why ending) {
	m := s.held.first()
	if m == nil || !m.attended {
		return
	}
	s.holding--
	s.held.pop()
	closed := why == endClosed || why == endReset || why == endAborted
	if closed && s.c.seen-m.x.Start <= capture.BriefSession {
		m.x.End = max(m.x.End, s.c.seen)
		m.x.Flags |= capture.Brief
	}
	s.emit(m)
}

// outlive lets go of sessions that have lasted.
func (t *table) outlive() {
	n := 0
	for n < len(t.sessions) && t.now-t.sessions[n].begun > capture.BriefSession {
		o := &t.sessions[n]
		if m := o.c.http.held.first(); m == o.m && m.attended && m.x.Start == o.begun { // not another's, in the same memory
			o.c.http.sessionEnds(endIdle)
		}
		n++
	}
	if n > 0 {
		t.sessions = append(t.sessions[:0], t.sessions[n:]...)
	}
}
