package packet

// gre takes off Generic Routing Encapsulation (RFC 2784, RFC 2890), also in the
// form of PPTP (RFC 2637). NVGRE (RFC 7637) is Ethernet in it.
func (d *decoder) gre(b []byte, depth int) string {
	const checksum, routing, key, sequence, acked = 0x8000, 0x4000, 0x2000, 0x1000, 0x80
	if len(b) < 4 {
		return skipShort
	}
	flags, kind, n := be.Uint16(b), be.Uint16(b[2:]), 4
	optional := [...]uint16{checksum, key, sequence, 0}
	switch version := flags & 7; {
	case version == 1 && flags&sequence != 0: // without it, it acknowledges only
		optional[3] = acked
	case version != 0 || flags&routing != 0:
		return skipNotTCP
	}
	for _, bit := range optional {
		if flags&bit != 0 {
			n += 4
		}
	}
	switch kind { // port mirrors, draft-foschiano-erspan
	case etherSPAN2:
		if flags&sequence != 0 { // type I has neither sequence number nor header
			n += 8
		}
		kind = etherTEB
	case etherSPAN3:
		if n += 12; n <= len(b) && b[n-1]&1 != 0 {
			n += 8
		}
		kind = etherTEB
	}
	if n > len(b) {
		return skipShort
	}
	return d.ether(kind, b[n:], depth+1)
}

// UDP ports of tunnels.
const (
	portVXLAN    = 4789 // RFC 7348
	portVXLANOld = 8472 // Linux before the number was assigned
	portGeneve   = 6081 // RFC 8926
	portGRE      = 4754 // RFC 8086
	portMPLS     = 6635 // RFC 7510
	portGTP      = 2152 // 3GPP TS 29.281 section 4.4.2
)

// udp takes off the tunnels that are told by their port.
func (d *decoder) udp(b []byte, depth int) string {
	if len(b) < 8 {
		return skipShort
	}
	from, port, b := be.Uint16(b), be.Uint16(b[2:]), b[8:]
	if from == portGTP { // where the other end chose its own
		port = from
	}
	switch port {
	case portVXLAN, portVXLANOld:
		if len(b) < 8 {
			return skipShort
		}
		if b[0]&8 == 0 { // no network named
			return skipNotTCP
		}
		return d.ether(etherTEB, b[8:], depth+1)
	case portGeneve:
		if len(b) < 8 {
			return skipShort
		}
		n := 8 + int(b[0]&0x3f)*4
		if n > len(b) {
			return skipShort
		}
		return d.ether(be.Uint16(b[2:]), b[n:], depth+1)
	case portGRE:
		return d.gre(b, depth)
	case portMPLS:
		return d.mpls(b, depth+1)
	case portGTP:
		return d.gtp(b, depth)
	}
	if quic(from, port, b) {
		return skipQUIC
	}
	return skipNotTCP
}

// quic tells whether a datagram carries QUIC: to or from the port of HTTPS with
// the fixed bit set, or anywhere in a packet with the long header of version 1 or 2
// (RFC 9000 sections 17.2 and 17.3, RFC 9369 section 3).
func quic(from, to uint16, b []byte) bool {
	const https, fixed, long = 443, 0x40, 0x80
	if len(b) == 0 || b[0]&fixed == 0 {
		return false
	}
	if from == https || to == https {
		return true
	}
	if len(b) < 5 || b[0]&long == 0 {
		return false
	}
	v := be.Uint32(b[1:])
	return v == 1 || v == 0x6b3343cf
}

// gtp takes off what mobile networks carry user packets in (3GPP TS 29.281
// section 5): version 1, messages of type 255.
func (d *decoder) gtp(b []byte, depth int) string {
	const optional, extended, headers = 7, 4, 8
	if len(b) < 8 {
		return skipShort
	}
	if b[0]>>4 != 3 || b[1] != 255 {
		return skipNotTCP
	}
	n, next := 8, byte(0)
	if b[0]&optional != 0 {
		if n = 12; len(b) < n {
			return skipShort
		}
		if b[0]&extended != 0 {
			next = b[11]
		}
	}
	for range headers {
		if next == 0 {
			return d.ip(b[n:], depth+1)
		}
		if n >= len(b) || b[n] == 0 || n+int(b[n])*4 > len(b) {
			return skipShort
		}
		n += int(b[n]) * 4
		next = b[n-1]
	}
	return skipDeep
}
