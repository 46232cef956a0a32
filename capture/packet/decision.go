package packet

import "stormwatch/capture"

// peek looks at bytes of a response's body, as far as they may say why the
// answer is what it is. last tells that no more will come. They are kept only
// until enough have come.
func (s *stream) peek(m *message, b []byte, last bool) {
	if m.want == 0 || len(b) == 0 {
		return
	}
	b = b[:min(len(b), m.want)]
	m.want -= len(b)
	if len(m.body) == 0 && (last || m.want == 0) {
		m.want = 0
		s.decided(m, b)
		return
	}
	m.body = append(m.body, b...)
	s.t.buffered += len(b)
	if last || m.want == 0 {
		s.judge(m)
	}
}

// judge reads the bytes that have come, and forgets them.
func (s *stream) judge(m *message) {
	m.want = 0
	if len(m.body) > 0 {
		s.decided(m, m.body)
		s.t.buffered -= len(m.body)
		m.body = m.body[:0]
	}
}

// decided takes what a body says. A wait in it counts where the headers name
// none.
func (s *stream) decided(m *message, b []byte) {
	x := &m.x
	d := capture.Decide(x.Status, b)
	if d.Wait.State == capture.Present && x.Hint.State != capture.Present {
		x.Hint = d.Wait
		x.Hint.Raw = s.t.out.names.Intern(clip(d.Raw, maxHint))
		if x.Status == 403 && d.Reason == capture.Unjudged {
			d.Reason = capture.Throttle
		}
	}
	switch {
	case d.Reason == capture.Unjudged:
	case x.Status < 400: // the status says that all is well
		x.Reason = d.Reason
	default:
		m.told.Mark = d.Reason
	}
}
