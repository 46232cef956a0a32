package packet

import (
	"math"
	"math/bits"
)

// Options of pcapng blocks (draft-ietf-opsawg-pcapng, sections 4.2, 4.3, 4.6).
const (
	optResolution = 9
	optOffset     = 14
	optDropCount  = 4
	optIfDrop     = 5
	optOSDrop     = 7

	maxOffset = 4e9 // seconds: 126 years; keeps sums in range
)

// port is a capturing interface.
type port struct {
	link    uint32
	snap    uint32
	decimal bool
	power   uint8  // a time stamp counts 10^-power or 2^-power seconds
	offset  int64  // seconds
	total   uint64 // packets lost, as its statistics tell
	single  uint64 // packets lost, as told packet by packet
}

func (s *blocks) port(b []byte) {
	if len(b) < 8 || len(s.ports) == maxInterfaces {
		return
	}
	p := port{link: uint32(s.order.Uint16(b)), snap: s.order.Uint32(b[4:]), decimal: true, power: 6}
	s.options(b[8:], func(code uint16, v []byte) {
		switch {
		case code == optResolution && len(v) >= 1:
			p.decimal, p.power = v[0]&0x80 == 0, v[0]&0x7f
		case code == optOffset && len(v) >= 8:
			p.offset = int64(s.order.Uint64(v))
		}
	})
	s.ports = append(s.ports, p)
}

// missed counts packets lost before one that was captured.
func (p *port) missed(n uint64) { p.single = add(p.single, n) }

// add sums counters; all ones, which some programs write for "not known", is 0.
func add(a, b uint64) uint64 {
	if b == math.MaxUint64 {
		return a
	}
	if a > math.MaxUint64-1-b {
		return math.MaxUint64 - 1
	}
	return a + b
}

func (s *blocks) options(b []byte, each func(code uint16, v []byte)) {
	for len(b) >= 4 {
		code, n := s.order.Uint16(b), int(s.order.Uint16(b[2:]))
		if code == 0 || 4+n > len(b) {
			return
		}
		each(code, b[4:4+n])
		b = b[min(4+(n+3)&^3, len(b)):]
	}
}

// time converts a count of the interface's clock to Unix nanoseconds; a count
// that does not fit is 0.
func (p *port) time(count uint64) int64 {
	ns, ok := p.nanos(count)
	if !ok || ns > math.MaxInt64/2 || p.offset > maxOffset || p.offset < -maxOffset {
		return 0
	}
	return int64(ns) + p.offset*1e9
}

// nanos is count * 10^9 / 10^power or / 2^power, in 128 bits.
func (p *port) nanos(count uint64) (ns uint64, ok bool) {
	hi, lo := bits.Mul64(count, 1e9)
	if !p.decimal {
		if p.power >= 64 {
			return hi >> (p.power - 64), true
		}
		return lo>>p.power | hi<<(64-p.power), hi>>p.power == 0
	}
	if p.power > 9 { // 10^9 and 10^power have 10^9 in common
		return count / tenTo(p.power-9), true
	}
	div := tenTo(p.power)
	if hi >= div {
		return 0, false
	}
	ns, _ = bits.Div64(hi, lo, div)
	return ns, true
}

// tenTo is 10^n; beyond 64 bits it is the largest number, which divides every
// count of a clock to 0.
func tenTo(n uint8) uint64 {
	if n > 19 {
		return math.MaxUint64
	}
	x := uint64(1)
	for range n {
		x *= 10
	}
	return x
}
