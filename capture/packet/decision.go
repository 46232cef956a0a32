package packet

import "stormwatch/capture"

// peek looks at bytes of a response's body, as far as they may say why the
// answer is what it is. last tells that no more will come. They are kept only
// until enough have come.
func (s *stream) peek(m *message, b []byte, last bool) {
	if m.want == 0 || len(b) == 0 {
		return
	}
	b = b[:min(len(b), int(m.want))]
	m.want -= int32(len(b))
	if len(m.kept()) == 0 && (last || m.want == 0) {
		m.want = 0
		s.decided(m, b)
		return
	}
	m.keep(b)
	s.t.buffered += len(b)
	if last || m.want == 0 {
		s.judge(m)
	}
}

// judge reads the bytes that have come, and forgets them.
func (s *stream) judge(m *message) {
	m.want = 0
	if b := m.kept(); len(b) > 0 {
		s.decided(m, b)
		s.t.buffered -= len(b)
		m.drop()
	}
}

// decided takes what a body says.
func (s *stream) decided(m *message, b []byte) {
	d := capture.Decide(m.x.Status, b)
	d.Apply(&m.x, &m.told, s.t.out.names)
}
