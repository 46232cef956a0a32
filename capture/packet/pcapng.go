package packet

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Block types of pcapng (draft-ietf-opsawg-pcapng, section 4).
const (
	blockInterface  = 1
	blockOldPacket  = 2
	blockSimple     = 3
	blockStatistics = 5
	blockEnhanced   = 6

	byteOrderMagic = 0x1a2b3c4d
	maxInterfaces  = 1 << 12 // far more than any host has; bounds hostile input
)

// blocks is the state of a pcapng section.
type blocks struct {
	order binary.ByteOrder
	ports []port
	last  int64  // time of the last packet, for blocks without a time
	lost  uint64 // packets that the hosts of earlier sections lost
}

// nextNG reads up to the next block that holds a packet, or to another capture.
func (f *file) nextNG(p *frame) (another bool, err error) {
	for {
		h, err := f.peek(12)
		if err != nil {
			return false, err
		}
		if binary.LittleEndian.Uint32(h) != magicNG && f.another(h) {
			return true, nil
		}
		kind, length, err := f.ng.head(h)
		if err != nil {
			return false, err
		}
		f.pending = length
		if kind == blockInterface || kind == blockStatistics || kind == blockEnhanced || kind == blockOldPacket || kind == blockSimple {
			whole := min(length, 2*maxRecord) // a packet and its comments; more is passed over
			b, err := f.peek(whole)
			if err != nil {
				return false, cut(err)
			}
			if f.block(kind, b[8:min(whole, length-4)], p) {
				return false, nil
			}
		}
		if err := f.consume(); err != nil {
			return false, err
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
		switch {
		case binary.LittleEndian.Uint32(h[8:]) == byteOrderMagic:
			s.order = binary.LittleEndian
		case binary.BigEndian.Uint32(h[8:]) == byteOrderMagic:
			s.order = binary.BigEndian
		default:
			return 0, 0, damageError{"a section begins without its byte-order magic"}
		}
		s.lost = s.dropped()
		s.ports = s.ports[:0]
	}
	n := s.order.Uint32(h[4:])
	if n < 12 || n%4 != 0 || n > math.MaxInt32 {
		return 0, 0, damageError{fmt.Sprintf("a block claims %d bytes, which no block has", n)}
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
		s.statistics(b)
	case blockEnhanced:
		if len(b) < 20 {
			return s.broken(p)
		}
		return s.enhanced(p, b)
	case blockOldPacket:
		if len(b) < 20 {
			return s.broken(p)
		}
		iface := uint32(s.order.Uint16(b))
		if n := s.order.Uint16(b[2:]); n != math.MaxUint16 && iface < uint32(len(s.ports)) { // all ones: not known
			s.ports[iface].missed(uint64(n))
		}
		return s.packet(p, iface, b[4:], b[20:])
	case blockSimple:
		if len(b) < 4 || len(s.ports) == 0 {
			return s.broken(p)
		}
		wire := s.order.Uint32(b)
		n := min(wire, uint32(len(b)-4))
		if snap := s.ports[0].snap; snap > 0 {
			n = min(n, snap)
		}
		p.t, p.link, p.cut, p.data = s.last, s.ports[0].link, cutOff(n, wire), b[4:4+n]
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
	p.t, p.link, p.cut, p.data = s.last, linkBroken, 0, nil
	return true
}

// enhanced reads an enhanced packet block, whose options may tell of losses.
func (s *blocks) enhanced(p *frame, b []byte) bool {
	iface, n := s.order.Uint32(b), uint64(s.order.Uint32(b[12:]))
	if end := 20 + (n+3)&^3; end < uint64(len(b)) && iface < uint32(len(s.ports)) {
		s.options(b[end:], func(code uint16, v []byte) {
			if code == optDropCount && len(v) >= 8 {
				s.ports[iface].missed(s.order.Uint64(v))
			}
		})
	}
	return s.packet(p, iface, b[4:], b[20:])
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
	p.t, p.link, p.cut, p.data = s.last, in.link, cutOff(n, s.order.Uint32(b[12:])), data[:n]
	return true
}

// statistics reads the counters of an interface: totals since its capture began.
func (s *blocks) statistics(b []byte) {
	if len(b) < 12 || s.order.Uint32(b) >= uint32(len(s.ports)) {
		return
	}
	in := &s.ports[s.order.Uint32(b)]
	total := uint64(0)
	s.options(b[12:], func(code uint16, v []byte) {
		if (code == optIfDrop || code == optOSDrop) && len(v) >= 8 {
			total = add(total, s.order.Uint64(v))
		}
	})
	in.total = max(in.total, total)
}

// dropped sums the losses of all interfaces of all sections so far.
func (s *blocks) dropped() uint64 {
	n := s.lost
	for i := range s.ports {
		n = add(n, max(s.ports[i].total, s.ports[i].single)) // two accounts of the same losses
	}
	return n
}
