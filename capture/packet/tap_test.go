package packet

import (
	"testing"

	"stormwatch/capture"
)

// tap hands segments to a table as they are given, a microsecond apart.
type tap struct {
	t   testing.TB
	tab *table
	out *output
	r   result
	at  int64
	n   uint64
}

func newTap(t testing.TB) *tap {
	p := &tap{t: t, at: base}
	p.out = newOutput(Options{Secrets: secrets}, collect(&p.r))
	p.tab = newTable(p.out, newSecret())
	p.out.table, p.out.done = p.tab, func() float64 { return 0 }
	return p
}

// pass lets time go by.
func (p *tap) pass(ns int64) { p.at += ns }

// from sends a segment from a port of the client's to the server's or, where the
// port is negative, back.
func (p *tap) from(port int, seq, ack uint32, flags byte, payload string) {
	seg := addressed{segment: segment{seq: seq, ack: ack, flags: flags, payload: []byte(payload), wire: len(payload)}}
	here, there := capture.Endpoint{IP: client.Addr().As16(), Port: uint16(port)}, capture.Endpoint{IP: server.Addr().As16(), Port: 80}
	if port < 0 {
		here.Port = uint16(-port)
		here, there = there, here
	}
	seg.src, seg.dst = here, there
	p.segment(&seg)
}

func (p *tap) segment(seg *addressed) {
	p.at += 1000
	p.n++
	p.tab.advance(p.at)
	p.out.newest = p.tab.now
	p.tab.reason = ""
	p.tab.packet(seg, stamp{p.at, p.n})
}

func (p *tap) end() result {
	p.tab.finish(endInput)
	p.out.flush(true)
	if p.tab.buffered != 0 || p.tab.conns.n != 0 || p.out.first != nil || p.tab.holed.front() != nil {
		p.t.Errorf("left behind: %d bytes, %d connections, message %v", p.tab.buffered, p.tab.conns.n, p.out.first)
	}
	return p.r
}

// bounded is how often a bound was reached.
func (p *tap) bounded(what string) uint64 { return told(p.out.health.Bounds, what) }

func told(list []capture.Skip, what string) uint64 {
	for _, k := range list {
		if k.Reason == what {
			return k.Count
		}
	}
	return 0
}

const (
	ackPush = flagACK | 8
	okReply = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
)

// packet hands a segment over as the intake does.
func (t *table) packet(s *addressed, at stamp) {
	p := decoded{segment: s.segment, t: at.t, n: at.frame}
	p.swapped = p.key.name(s)
	p.tag = t.conns.secret.tag(&p.key)
	t.take(&p)
}

// newTestSource is a source whose packets the test hands over by itself.
func newTestSource(sink capture.Sink) *Source {
	s := newSource("x", nil, Options{Secrets: secrets})
	s.intake.file = &file{}
	s.attach(sink)
	return s
}

// attach makes what Run makes.
func (s *Source) attach(sink capture.Sink) {
	s.out = newOutput(s.opt, sink)
	s.table = newTable(s.out, s.intake.secret)
	s.out.table, s.out.done = s.table, s.done
}

// feed takes a frame all the way.
func (s *Source) feed(f *frame) {
	s.intake.packet(f, false)
	s.drain()
}
