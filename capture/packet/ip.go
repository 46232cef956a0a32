package packet

import "stormwatch/capture"

// TCP flags (RFC 9293 section 3.1).
const (
	flagFIN = 1
	flagSYN = 2
	flagRST = 4
	flagACK = 16
)

// segment is one TCP segment.
type segment struct {
	src, dst capture.Endpoint
	seq, ack uint32
	flags    byte
	payload  []byte // what was captured of it
	wire     int    // payload bytes on the wire: more than captured where the snapshot length cut
}

const maxTunnels = 4

// ip decodes an IP packet. Lengths come from the IP header, so that a short
// snapshot leaves the byte stream countable.
func (s *segment) ip(b []byte, depth int) string {
	if len(b) < 20 || depth > maxTunnels {
		return skipShort
	}
	switch b[0] >> 4 {
	case 4:
		return s.ip4(b, depth)
	case 6:
		return s.ip6(b, depth)
	}
	return skipNotIP
}

func (s *segment) ip4(b []byte, depth int) string {
	header, total := int(b[0]&15)*4, int(be.Uint16(b[2:]))
	if total == 0 { // the card splits what the host captured whole
		total = len(b)
	}
	if header < 20 || total < header {
		return skipNotIP
	}
	if header > len(b) {
		return skipShort
	}
	if be.Uint16(b[6:])&0x3fff != 0 {
		return skipFragment
	}
	s.src.IP = [16]byte{10: 0xff, 11: 0xff, 12: b[12], 13: b[13], 14: b[14], 15: b[15]}
	s.dst.IP = [16]byte{10: 0xff, 11: 0xff, 12: b[16], 13: b[17], 14: b[18], 15: b[19]}
	wire := total - header
	next := b[9]
	return s.inner(next, clip(b[header:], wire), wire, depth)
}

func (s *segment) ip6(b []byte, depth int) string {
	if len(b) < 40 {
		return skipShort
	}
	copy(s.src.IP[:], b[8:24])
	copy(s.dst.IP[:], b[24:40])
	next, wire := b[6], int(be.Uint16(b[4:]))
	b = b[40:]
	if wire == 0 { // a jumbogram, or split by the card
		wire = len(b)
	}
	b = clip(b, wire)
	for range 8 {
		n := 0
		switch next {
		case 0, 43, 60, 135: // hop by hop, routing, destination, mobility
			if len(b) >= 8 {
				n = int(b[1])*8 + 8
			}
		case 51: // authentication
			if len(b) >= 8 {
				n = (int(b[1]) + 2) * 4
			}
		case 44: // fragment
			if len(b) >= 8 && be.Uint16(b[2:])&0xfff9 != 0 {
				return skipFragment
			}
			n = 8
		default:
			return s.inner(next, b, wire, depth)
		}
		if n == 0 || n > len(b) {
			return skipShort
		}
		next, b, wire = b[0], b[n:], wire-n
	}
	return skipNotTCP
}

func clip(b []byte, n int) []byte { return b[:min(n, len(b))] }

// inner decodes TCP, or one level of the tunnels that container networks use.
func (s *segment) inner(protocol byte, b []byte, wire, depth int) string {
	switch protocol {
	case 6:
		return s.tcp(b, wire)
	case 4, 41: // IP in IP (RFC 2003, RFC 4213)
		return s.ip(b, depth+1)
	case 47:
		return s.gre(b, depth)
	case 17:
		return s.udp(b, depth)
	}
	return skipNotTCP
}

func (s *segment) tcp(b []byte, wire int) string {
	if len(b) < 20 {
		return skipShort
	}
	header := int(b[12]>>4) * 4
	if header < 20 || header > wire {
		return skipNotTCP
	}
	s.src.Port, s.dst.Port = be.Uint16(b), be.Uint16(b[2:])
	s.seq, s.ack, s.flags = be.Uint32(b[4:]), be.Uint32(b[8:]), b[13]
	s.wire = wire - header
	s.payload = b[min(header, len(b)):]
	return ""
}

// gre takes off Generic Routing Encapsulation (RFC 2784, RFC 2890).
func (s *segment) gre(b []byte, depth int) string {
	if len(b) < 4 {
		return skipShort
	}
	flags, kind, n := be.Uint16(b), be.Uint16(b[2:]), 4
	if flags&7 != 0 {
		return skipNotTCP
	}
	for _, bit := range [...]uint16{0x8000, 0x2000, 0x1000} { // checksum, key, sequence number
		if flags&bit != 0 {
			n += 4
		}
	}
	if n > len(b) {
		return skipShort
	}
	return s.ether(kind, b[n:], depth+1)
}

// udp takes off VXLAN (RFC 7348) and Geneve (RFC 8926).
func (s *segment) udp(b []byte, depth int) string {
	if len(b) < 16 {
		return skipNotTCP
	}
	switch be.Uint16(b[2:]) {
	case 4789, 8472: // 8472: Linux before the number was assigned
		if len(b) < 30 {
			return skipShort
		}
		return s.ether(be.Uint16(b[28:]), b[30:], depth+1)
	case 6081:
		n := 16 + int(b[8]&0x3f)*4
		if n > len(b) {
			return skipShort
		}
		return s.ether(be.Uint16(b[10:]), b[n:], depth+1)
	}
	return skipNotTCP
}
