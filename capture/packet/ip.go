package packet

import (
	"encoding/binary"

	"stormwatch/capture"
)

// TCP flags (RFC 9293 section 3.1).
const (
	flagFIN = 1
	flagSYN = 2
	flagRST = 4
	flagACK = 16
)

// addressed is a segment and the ends between which it was sent.
type addressed struct {
	src, dst capture.Endpoint
	segment
}

// segment is one TCP segment.
type segment struct {
	seq, ack uint32
	flags    byte
	hops     byte   // time to live, or hop limit
	id       uint16 // of its IPv4 packet; IPv6 has none
	sum      uint16 // TCP's checksum
	payload  []byte // what was captured of it
	wire     int    // payload bytes on the wire: more than captured where the snapshot length cut
}

// IP protocols.
const (
	protoIPv4    = 4 // RFC 2003
	protoTCP     = 6
	protoUDP     = 17
	protoIPv6    = 41 // RFC 4213
	protoGRE     = 47
	protoAH      = 51 // RFC 4302
	protoOptions = 60 // for the destination (RFC 8200 section 4.6)
)

// ip decodes an IP packet. Lengths come from the IP header, so that a short
// snapshot leaves the byte stream countable.
func (d *decoder) ip(b []byte, depth int) string {
	if depth > maxTunnels {
		return skipDeep
	}
	if len(b) < 20 {
		return skipShort
	}
	switch b[0] >> 4 {
	case 4:
		return d.ip4(b, depth)
	case 6:
		return d.ip6(b, depth)
	}
	return skipNotIP
}

func (d *decoder) ip4(b []byte, depth int) string {
	header, total := int(b[0]&15)*4, int(be.Uint16(b[2:]))
	if total == 0 || d.ends && total > len(b)+d.cut { // the card splits what the host captured whole
		total = len(b) + d.cut
	}
	if header < 20 || total < header {
		return skipNotIP
	}
	if header > len(b) {
		return skipShort
	}
	mapped(&d.src.IP, b[12:16])
	mapped(&d.dst.IP, b[16:20])
	d.id, d.hops = be.Uint16(b[4:]), b[8]
	wire := total - header
	next, part := b[9], be.Uint16(b[6:])
	b = d.clip(b[header:], wire)
	if part&0x3fff == 0 {
		return d.inner(next, b, wire, depth)
	}
	k := fragmentKey{d.src.IP, d.dst.IP, uint32(d.id), next}
	return d.part(k, fragment{from: int(part&0x1fff) * 8, more: part&0x2000 != 0, next: next, b: b, wire: wire}, depth)
}

// mapped puts an IPv4 address into 16 bytes (RFC 4291 section 2.5.5.2), in two
// stores.
func mapped(ip *[16]byte, b []byte) {
	le := binary.LittleEndian
	le.PutUint64(ip[:], 0)
	le.PutUint64(ip[8:], 0xffff<<16|uint64(le.Uint32(b))<<32)
}

// part takes a fragment, and decodes what it makes whole.
func (d *decoder) part(k fragmentKey, p fragment, depth int) string {
	switch p.next {
	case protoTCP, protoUDP, protoIPv4, protoIPv6, protoGRE, protoAH, protoOptions:
	default:
		return skipNotTCP
	}
	b, wire, next, state := d.fragments.add(k, p)
	if state != "" {
		return state
	}
	d.cut = wire - len(b)
	return d.extensions(next, b, wire, depth+1)
}

func (d *decoder) ip6(b []byte, depth int) string {
	if len(b) < 40 {
		return skipShort
	}
	copy(d.src.IP[:], b[8:24])
	copy(d.dst.IP[:], b[24:40])
	d.id, d.hops = 0, b[7]
	next, wire := b[6], int(be.Uint16(b[4:]))
	b = b[40:]
	if wire == 0 {
		wire = d.jumbo(next, b)
	} else if d.ends {
		wire = min(wire, len(b)+d.cut)
	}
	return d.extensions(next, d.clip(b, wire), wire, depth)
}

// jumbo is the length of a packet whose header gives none: a jumbogram's option
// tells it (RFC 2675; Linux writes it for packets above 64 KB that the card
// splits), or else the packet is as long as its frame.
func (d *decoder) jumbo(next byte, b []byte) int {
	if next == 0 && len(b) >= 8 && b[2] == 0xc2 && b[3] == 4 {
		if n := be.Uint32(b[4:]); n <= maxWire {
			return int(n)
		}
	}
	return len(b) + d.cut
}

// extensions passes over the headers between IPv6 and what it carries.
func (d *decoder) extensions(next byte, b []byte, wire, depth int) string {
	if depth > maxTunnels {
		return skipDeep
	}
	const maxHeaders = 8 // each kind may come once, destination options twice (RFC 8200 section 4.1)
	for range maxHeaders {
		n := 0
		switch next {
		case 0, 43, protoOptions, 135, 139, 140: // hop by hop, routing, destination, mobility, host identity, shim
			if len(b) >= 8 {
				n = int(b[1])*8 + 8
			}
		case protoAH:
			if len(b) >= 8 {
				n = (int(b[1]) + 2) * 4
			}
		case 44: // fragment
			if n = 8; len(b) < 8 {
				return skipShort
			}
			if part := be.Uint16(b[2:]); part&0xfff9 != 0 {
				k := fragmentKey{src: d.src.IP, dst: d.dst.IP, id: be.Uint32(b[4:])}
				return d.part(k, fragment{from: int(part &^ 7), more: part&1 != 0, next: b[0], b: b[8:], wire: wire - 8}, depth)
			}
		default:
			return d.inner(next, b, wire, depth)
		}
		if n == 0 || n > len(b) {
			return skipShort
		}
		next, b, wire = b[0], b[n:], wire-n
	}
	return skipDeep
}

// clip leaves off what follows the wire bytes of a packet, such as padding, and
// notes how many of them were not captured.
func (d *decoder) clip(b []byte, wire int) []byte {
	d.ends = false
	if len(b) >= wire {
		d.cut = 0
		return b[:wire]
	}
	d.cut = wire - len(b)
	return b
}

func clip(b []byte, n int) []byte { return b[:min(n, len(b))] }

// inner decodes TCP, or one level of the tunnels that container networks use.
func (d *decoder) inner(protocol byte, b []byte, wire, depth int) string {
	switch protocol {
	case protoTCP:
		return d.tcp(b, wire)
	case protoIPv4, protoIPv6:
		return d.ip(b, depth+1)
	case protoGRE:
		return d.gre(b, depth)
	case protoUDP:
		return d.udp(b, depth)
	case protoAH: // of IPv4
		return d.extensions(protocol, b, wire, depth)
	}
	return skipNotTCP
}

func (s *addressed) tcp(b []byte, wire int) string {
	if len(b) < 20 {
		return skipShort
	}
	header := int(b[12]>>4) * 4
	if header < 20 || header > wire {
		return skipNotTCP
	}
	s.src.Port, s.dst.Port = be.Uint16(b), be.Uint16(b[2:])
	s.seq, s.ack, s.flags, s.sum = be.Uint32(b[4:]), be.Uint32(b[8:]), b[13], be.Uint16(b[16:])
	s.wire = wire - header
	s.payload = b[min(header, len(b)):]
	return ""
}
