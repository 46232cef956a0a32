package packet

import (
	"bytes"
	"math"
	"net/netip"

	"stormwatch/capture"
)

// preface is how far the PROXY protocol header has been read, which may be the
// first thing on a connection (https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt).
type preface uint8

const (
	prefaceOpen preface = iota // nothing has been read yet
	prefaceText                // it may be a header, of which parser.buf holds the beginning
	prefaceRest                // parser.remain bytes of a binary header are still to be passed over
	prefaceMore                // one has been read, and each proxy on the way may have put one in front
	prefacePast                // it has been read, or there is none
)

const (
	proxyText     = "PROXY "
	proxyBinary   = "\r\n\r\n\x00\r\nQUIT\n"
	maxProxies    = 8   // on the way to one server; more are none
	maxProxyText  = 107 // section 2.1, with its line end
	proxyHead     = len(proxyBinary) + 4
	skipBadProxy  = "PROXY protocol header malformed"
	proxyAddress4 = 12 // two addresses and two ports, section 2.2
	proxyAddress6 = 36
)

// unwrap takes a PROXY header off the bytes that begin a connection. It returns
// true when nothing is left to read of c.
func (s *stream) unwrap(d int, c *chunk) bool {
	p := s.reading(d)
	switch s.preface {
	case prefaceOpen, prefaceMore:
		if s.kind != undecided || s.c.mid || s.lost || s.proxies == maxProxies || !mayBeProxy(c.b) {
			s.preface = prefacePast
			return false
		}
		s.preface, s.client = prefaceText, d
		p.first, p.seq, p.ack = c.at, c.seq, c.ack
	case prefaceText, prefaceRest:
		if d != s.client { // an answer before the header has ended: there is none
			s.refill(s.client)
			return false
		}
	}
	if s.preface == prefaceText {
		s.collect(d, c)
	}
	if s.preface == prefaceRest {
		n := min(p.remain, int64(len(c.b)))
		c.take(int(n))
		if p.remain -= n; p.remain == 0 {
			s.preface, s.client = prefaceMore, unknownDir
		}
	}
	if s.preface == prefaceMore && len(c.b) > 0 {
		return s.unwrap(d, c)
	}
	return len(c.b) == 0
}

// mayBeProxy tells whether b begins as a header does, as far as it goes.
func mayBeProxy(b []byte) bool {
	return bytes.HasPrefix(b, []byte(proxyText)[:min(len(b), len(proxyText))]) ||
		bytes.HasPrefix(b, []byte(proxyBinary)[:min(len(b), len(proxyBinary))])
}

// collect gathers a header and reads it once it is whole.
func (s *stream) collect(d int, c *chunk) {
	p := s.reading(d)
	old := len(p.buf)
	s.keep(p, clip(c.b, maxProxyText-old))
	n, bad := 0, false
	switch b := p.buf; {
	case !mayBeProxy(b):
		c.take(len(b) - old)
		s.refill(d)
		return
	case b[0] == proxyText[0]:
		if n = bytes.IndexByte(b, '\n') + 1; n == 0 && len(b) < maxProxyText {
			c.take(len(c.b))
			return
		}
		bad = n == 0 || !s.proxyLine(d, b[:n])
	default:
		n = proxyHead
		if len(b) >= proxyHead {
			n += min(int(be.Uint16(b[proxyHead-2:])), proxyAddress6)
		}
		if len(b) < n {
			c.take(len(c.b))
			return
		}
		bad = !s.proxyRecord(d, b)
		p.remain = int64(int(be.Uint16(b[proxyHead-2:])) + proxyHead - n)
	}
	s.drop(p)
	s.client = unknownDir
	if bad {
		s.preface, s.kind, s.t.reason = prefacePast, other, skipBadProxy
		c.take(min(max(n-old, 0), len(c.b)))
		return
	}
	c.take(n - old)
	if s.proxies++; s.proxies > 1 {
		s.t.out.health.Bound(boundProxy)
	}
	if p.remain > 0 {
		s.preface, s.client = prefaceRest, d
		return
	}
	s.preface = prefaceMore
}

// refill reads what was taken for the beginning of a header as what it is.
func (s *stream) refill(d int) {
	p := s.reading(d)
	held := chunk{b: p.buf, seq: p.seq, ack: p.ack, at: p.first}
	s.t.buffered -= len(p.buf)
	p.buf, p.remain = nil, 0
	s.preface, s.client = prefacePast, unknownDir
	if len(held.b) > 0 {
		s.data(d, held)
		s.t.recycle(held.b)
	}
}

// cutPreface gives up a header that the capture lost a part of.
func (s *stream) cutPreface(d int) {
	if (s.preface == prefaceText || s.preface == prefaceRest) && d == s.client {
		p := s.reading(d)
		s.drop(p)
		p.remain = 0
		s.client = unknownDir
		s.t.reason = skipBadProxy
	}
	s.preface = prefacePast
}

// proxyLine reads version 1: PROXY TCP4|TCP6 source destination port port.
func (s *stream) proxyLine(d int, line []byte) bool {
	if len(line) < 2 || line[len(line)-2] != '\r' {
		return false
	}
	family, rest := word(line[len(proxyText) : len(line)-2])
	from, rest := word(rest)
	to, rest := word(rest)
	port, rest := word(rest)
	n, ok := length(port)
	m, ok2 := length(rest)
	ok = ok && ok2 && n <= math.MaxUint16 && m <= math.MaxUint16
	end := capture.Endpoint{Port: uint16(n)}
	switch string(family) {
	case "UNKNOWN":
		return true
	case "TCP4":
		a, good := address4(from)
		_, good2 := address4(to)
		end.IP, ok = a, ok && good && good2
	case "TCP6":
		a, err := netip.ParseAddr(string(from))
		b, err2 := netip.ParseAddr(string(to))
		end.IP, ok = a.As16(), ok && err == nil && err2 == nil && a.Is6() && b.Is6()
	default:
		return false
	}
	if ok {
		s.c.from(d, end)
	}
	return ok
}

// word cuts b at its first space.
func word(b []byte) (first, rest []byte) {
	first, rest, _ = bytes.Cut(b, []byte(" "))
	return first, rest
}

// address4 reads an IPv4 address in decimals.
func address4(b []byte) (a [16]byte, ok bool) {
	a[10], a[11] = 0xff, 0xff
	for i := 12; i < len(a); i++ {
		part, rest, more := bytes.Cut(b, []byte("."))
		n, ok := length(part)
		if !ok || n > math.MaxUint8 || len(part) > 1 && part[0] == '0' || more != (i < len(a)-1) {
			return a, false
		}
		a[i], b = byte(n), rest
	}
	return a, true
}

// proxyRecord reads version 2, whose length has been checked against b.
func (s *stream) proxyRecord(d int, b []byte) bool {
	const local, proxied, unspecified, tcp4, tcp6 = 0x20, 0x21, 0x00, 0x11, 0x21
	length := int(be.Uint16(b[proxyHead-2:]))
	command, family, b := b[proxyHead-4], b[proxyHead-3], b[proxyHead:]
	switch {
	case command == local || command == proxied && family == unspecified:
	case command != proxied:
		return false
	case family == tcp4 && length >= proxyAddress4:
		s.c.from(d, capture.Endpoint{IP: [16]byte{10: 0xff, 11: 0xff, 12: b[0], 13: b[1], 14: b[2], 15: b[3]}, Port: be.Uint16(b[8:])})
	case family == tcp6 && length >= proxyAddress6:
		s.c.from(d, capture.Endpoint{IP: [16]byte(b[:16]), Port: be.Uint16(b[32:])})
	case family>>4 == 3 || family&15 == 2: // Unix sockets and datagrams name no client
	default:
		return false
	}
	return true
}
