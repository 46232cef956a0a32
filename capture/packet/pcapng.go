package packet

import (
	"encoding/binary"
	"io"
	"math"
	"math/bits"
)

// Block types and options of pcapng (draft-ietf-opsawg-pcapng sections 4 and 3.5).
const (
	blockInterface  = 1
	blockOldPacket  = 2
	blockSimple     = 3
	blockStatistics = 5
	blockEnhanced   = 6

	optResolution = 9
	optOffset     = 14
	optIfDrop     = 5
	optOSDrop     = 7

	byteOrderMagic = 0x1a2b3c4d
	maxInterfaces  = 1 << 12 // far more than any host has; bounds hostile input
	maxOffset      = 4e9     // seconds: 126 years; keeps sums in range
)

// port is a capturing interface.
type port struct {
	link    uint32
	snap    uint32
	decimal bool
	power   uint8 // a time stamp counts 10^-power or 2^-power seconds
	offset  int64 // seconds
}

// blocks is the state of a pcapng section.
type blocks struct {
	order binary.ByteOrder
	ports []port
	last  int64 // time of the last packet, for blocks without a time
}

// nextNG reads up to the next block that holds a packet.
func (f *file) nextNG(p *frame) error {
	for {
		h, err := f.peek(12)
		if err != nil {
			return err
		}
		kind, length, err := f.ng.head(h)
		if err != nil {
			return err
		}
		packet := kind == blockEnhanced || kind == blockOldPacket || kind == blockSimple
		if packet && length > maxRecord+4096 { // options may follow the packet
			return damaged(uint64(length))
		}
		f.pending = length
		if length <= 2*maxRecord && (packet || kind == blockInterface || kind == blockStatistics) {
			b, err := f.peek(length)
			if err != nil {
				return cut(err)
			}
			if f.block(kind, b[8:length-4], p) {
				return nil
			}
		}
		if err := f.consume(); err != nil {
			return err
		}
	}
}

func cut(err error) error {
	if err == io.EOF {
		return errCut
	}
	return err
}

// head reads a block's type and length; a section header sets the byte order.
func (s *blocks) head(h []byte) (kind uint32, length int, err error) {
	kind = binary.LittleEndian.Uint32(h)
	if kind == magicNG { // the same in both orders
		s.order = binary.LittleEndian
		if binary.BigEndian.Uint32(h[8:]) == byteOrderMagic {
			s.order = binary.BigEndian
		}
		s.ports = s.ports[:0]
	}
	n := s.order.Uint32(h[4:])
	if n < 12 || n%4 != 0 || n > math.MaxInt32 {
		return 0, 0, damaged(uint64(n))
	}
	return s.order.Uint32(h), int(n), nil
}

// block takes a block's body and tells whether it gave a packet.
func (f *file) block(kind uint32, b []byte, p *frame) bool {
	s := f.ng
	switch kind {
	case blockInterface:
		s.port(b)
		f.refine()
	case blockStatistics:
		if len(b) >= 12 {
			f.drops += s.drops(b[12:])
		}
	case blockEnhanced:
		if len(b) < 20 {
			return s.broken(p)
		}
		return s.packet(p, s.order.Uint32(b), b[4:], b[20:])
	case blockOldPacket:
		if len(b) < 20 {
			return s.broken(p)
		}
		return s.packet(p, uint32(s.order.Uint16(b)), b[4:], b[20:])
	case blockSimple:
		if len(b) < 4 || len(s.ports) == 0 {
			return s.broken(p)
		}
		n := min(s.order.Uint32(b), uint32(len(b)-4))
		if snap := s.ports[0].snap; snap > 0 {
			n = min(n, snap)
		}
		p.t, p.link, p.data = s.last, s.ports[0].link, b[4:4+n]
		return true
	}
	return false
}

// refine notes the finest clock among the interfaces.
func (f *file) refine() {
	for _, p := range f.ng.ports {
		if p.decimal && p.power > 6 || !p.decimal && p.power > 20 {
			f.unit = 1
		}
	}
}

// broken gives a packet that cannot be decoded, so that it is counted.
func (s *blocks) broken(p *frame) bool {
	p.t, p.link, p.data = s.last, linkBroken, nil
	return true
}

// packet reads what enhanced and old packet blocks share: two halves of a time
// stamp, the captured length and the length on the wire, then the data.
func (s *blocks) packet(p *frame, iface uint32, b, data []byte) bool {
	n := s.order.Uint32(b[8:])
	if n > uint32(len(data)) || n > maxRecord || iface >= uint32(len(s.ports)) {
		return s.broken(p)
	}
	in := &s.ports[iface]
	s.last = in.time(uint64(s.order.Uint32(b))<<32 | uint64(s.order.Uint32(b[4:])))
	p.t, p.link, p.data = s.last, in.link, data[:n]
	return true
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

func (s *blocks) drops(b []byte) (n uint64) {
	s.options(b, func(code uint16, v []byte) {
		if (code == optIfDrop || code == optOSDrop) && len(v) >= 8 {
			n += s.order.Uint64(v)
		}
	})
	return n
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
	hi, lo := bits.Mul64(count, 1e9)
	var ns uint64
	switch {
	case !p.decimal && p.power < 64:
		if hi>>p.power != 0 {
			return 0
		}
		ns = lo>>p.power | hi<<(64-p.power)
	case p.decimal && p.power <= 19:
		div := uint64(1)
		for range p.power {
			div *= 10
		}
		if hi >= div {
			return 0
		}
		ns, _ = bits.Div64(hi, lo, div)
	}
	if ns > math.MaxInt64/2 || p.offset > maxOffset || p.offset < -maxOffset {
		return 0
	}
	return int64(ns) + p.offset*1e9
}
