package packet

// Ether types (https://www.iana.org/assignments/ieee-802-numbers). Written out, like
// the link types: the tables that come with gopacket's take 6 MB from the start.
const (
	etherIPv4  = uint16(0x0800)
	etherIPv6  = uint16(0x86dd)
	etherVLAN  = uint16(0x8100)
	etherQinQ  = uint16(0x88a8)
	etherQinQ1 = 0x9100 // used before IEEE 802.1ad was written
	etherMPLS  = uint16(0x8847)
	etherPPPoE = uint16(0x8864)
	etherPPP   = uint16(0x880b) // in GRE (RFC 2637)
	etherTEB   = uint16(0x6558) // Ethernet in GRE and Geneve (RFC 8926)
	etherSPAN2 = uint16(0x88be) // mirrored frames in GRE
	etherSPAN3 = 0x22eb

	// etherLength: below that the field is a length, and LLC follows (IEEE 802.3).
	etherLength = 0x600
)

func (d *decoder) ethernet(b []byte, depth int) string {
	if len(b) < 14 {
		return skipShort
	}
	return d.ether(be.Uint16(b[12:]), b[14:], depth)
}

// maxTags bounds the tags, labels and frames within frames of one packet.
const maxTags = 8

// ether decodes what follows an Ethernet type: tags are taken off.
func (d *decoder) ether(kind uint16, b []byte, depth int) string {
	for range maxTags {
		if kind == etherIPv4 || kind == etherIPv6 {
			return d.ip(b, depth)
		}
		n := 4 // bytes before what is tagged
		switch kind {
		case etherVLAN, etherQinQ, etherQinQ1:
		case etherMPLS:
			return d.mpls(b, depth)
		case etherPPPoE:
			return d.pppoe(b, depth)
		case etherPPP:
			return d.ppp(b, depth)
		case etherTEB:
			n = 14
		default:
			if kind >= etherLength {
				return skipNotIP
			}
			if n = 8; len(b) >= n && [6]byte(b) != snapIP {
				return skipNotIP
			}
		}
		if len(b) < n {
			return skipShort
		}
		kind, b = be.Uint16(b[n-2:]), b[n:]
	}
	return skipDeep
}

// snapIP is LLC and SNAP before an Ethernet type (RFC 1042).
var snapIP = [6]byte{0xaa, 0xaa, 3, 0, 0, 0}

// mpls takes labels off (RFC 3032). What follows is not told: IP, or Ethernet
// after a control word (RFC 4448), or without one.
func (d *decoder) mpls(b []byte, depth int) string {
	bottom := false
	for n := 0; !bottom; b = b[4:] {
		if len(b) < 4 {
			return skipShort
		}
		if n++; n > maxTags {
			return skipDeep
		}
		bottom = b[2]&1 == 1
	}
	switch {
	case depth >= maxTunnels:
		return skipDeep
	case len(b) == 0:
		return skipShort
	case b[0]>>4 == 4 || b[0]>>4 == 6:
		if skip := d.ip(b, depth); skip != skipNotIP {
			return skip
		}
	case len(b) >= 4 && b[0]>>4 == 0:
		if skip := d.ethernet(b[4:], depth+1); skip != skipNotIP {
			return skip
		}
	}
	return d.ethernet(b, depth+1)
}

// pppoe takes off the header of a session (RFC 2516). Its length is believed
// where IP claims more: some modems count the padding of Ethernet in.
func (d *decoder) pppoe(b []byte, depth int) string {
	if len(b) < 6 {
		return skipShort
	}
	n, b := int(be.Uint16(b[4:])), b[6:]
	if n > 0 {
		d.ends, d.cut = true, max(0, n-len(b))
		b = clip(b, n)
	}
	return d.ppp(b, depth)
}

// ppp takes off PPP, with or without the address and control bytes of HDLC
// (RFC 1662) and with a protocol of one byte or two (RFC 1661 section 6.5).
func (d *decoder) ppp(b []byte, depth int) string {
	if len(b) >= 2 && b[0] == 0xff && b[1] == 3 {
		b = b[2:]
	}
	if len(b) < 2 {
		return skipShort
	}
	protocol, b := uint16(b[0]), b[1:]
	if protocol&1 == 0 {
		protocol, b = protocol<<8|uint16(b[0]), b[1:]
	}
	switch protocol {
	case 0x21, 0x57: // RFC 1332, RFC 5072
		return d.ip(b, depth)
	case 0x281: // RFC 3032 section 4.3
		return d.mpls(b, depth)
	}
	return skipNotIP
}
