package packet

import (
	"encoding/binary"
	"fmt"
)

// Link types (https://www.tcpdump.org/linktypes.html).
const (
	linkNull     = uint32(0)
	linkEthernet = uint32(1)
	linkPPP      = uint32(9)
	linkPPPHDLC  = uint32(50)
	linkPPPoE    = uint32(51)
	linkRaw      = uint32(101)
	linkRawBSD   = 12 // raw IP as some BSDs number it
	linkRawOpen  = 14 // the same on OpenBSD
	linkLoop     = uint32(108)
	linkSLL      = uint32(113)
	linkUser2    = 149 // what macOS numbered PKTAP first
	linkIPv4     = 228
	linkIPv6     = 229
	linkNFLOG    = 239
	linkPKTAP    = 258
	linkSLL2     = 276
	linkBroken   = 1 << 31 // no type: a packet whose framing is broken
)

// Why a packet was passed over.
const (
	skipShort    = "headers cut off"
	skipNotIP    = "not IP"
	skipNotTCP   = "not TCP"
	skipQUIC     = "QUIC: encrypted"
	skipFragment = "IP fragment, others of its packet missing"
	skipDeep     = "tunnels nested too deep"
	skipLink     = "link type not read"
	skipBroken   = "broken packet record"
)

const maxTunnels = 4

var be = binary.BigEndian

// decoder takes packets apart, down to TCP. Its segment is that of the packet
// decoded last.
type decoder struct {
	addressed
	cut       int  // bytes of what is being decoded that were not captured
	ends      bool // it ends there, whatever IP says
	fragments fragments
}

// decode takes the link layer, IP and TCP off packet n. Where it is no TCP
// segment it returns why not: a reason to skip it, or what became of a fragment.
func (d *decoder) decode(f *frame, n uint64) (skip string) {
	d.cut, d.ends = f.cut, false
	d.fragments.begin(f.t, n)
	return d.frame(f.link, f.data, 0)
}

func (d *decoder) frame(link uint32, b []byte, depth int) string {
	switch link {
	case linkEthernet:
		return d.ethernet(b, depth)
	case linkSLL:
		if len(b) < 16 {
			return skipShort
		}
		return d.ether(be.Uint16(b[14:]), b[16:], depth)
	case linkSLL2:
		if len(b) < 20 {
			return skipShort
		}
		return d.ether(be.Uint16(b), b[20:], depth)
	case linkNull, linkLoop: // the family's number depends on system and byte order: IP tells its version itself
		if len(b) < 4 {
			return skipShort
		}
		return d.ip(b[4:], depth)
	case linkRaw, linkRawBSD, linkRawOpen, linkIPv4, linkIPv6:
		return d.ip(b, depth)
	case linkPPP, linkPPPHDLC:
		return d.ppp(b, depth)
	case linkPPPoE:
		return d.pppoe(b, depth)
	case linkNFLOG:
		return d.nflog(b, depth)
	case linkPKTAP, linkUser2:
		return d.pktap(b, depth)
	case linkBroken:
		return skipBroken
	}
	return skipLink
}

// nflog finds the packet among the attributes of Linux's packet log
// (https://www.tcpdump.org/linktypes/LINKTYPE_NFLOG.html). They are in the byte
// order of the capturing host: types are small, so the first one shows which.
func (d *decoder) nflog(b []byte, depth int) string {
	const payload = 9
	if len(b) < 8 {
		return skipShort
	}
	var order binary.ByteOrder = binary.LittleEndian
	if b[6] == 0 && b[7] != 0 {
		order = be
	}
	for b = b[4:]; len(b) >= 4; {
		n, kind := int(order.Uint16(b)), order.Uint16(b[2:])
		if n < 4 {
			return skipBroken
		}
		if kind == payload {
			return d.ip(b[4:max(4, min(n, len(b)))], depth)
		}
		b = b[min((n+3)&^3, len(b)):]
	}
	return skipShort
}

// pktap takes off what macOS puts before packets of several interfaces: a header
// that names its own length and the link type (bsd/net/pktap.h of XNU).
func (d *decoder) pktap(b []byte, depth int) string {
	le := binary.LittleEndian
	if len(b) < 12 {
		return skipShort
	}
	n, link := le.Uint32(b), le.Uint32(b[8:])
	if n < 12 || n > uint32(len(b)) || depth >= maxTunnels {
		return skipShort
	}
	return d.frame(link, b[n:], depth+1)
}

// linkError tells what to do about a capture whose link layer is not read.
func linkError(link uint32) error {
	name, do := "", "capture on one interface, for example with tcpdump -i eth0"
	switch link {
	case linkEthernet, linkSLL, linkSLL2, linkNull, linkLoop, linkRaw, linkRawBSD, linkRawOpen, linkIPv4, linkIPv6,
		linkPPP, linkPPPHDLC, linkPPPoE, linkNFLOG, linkPKTAP, linkUser2:
		return nil
	case 105, 119, 127, 163, 192:
		name, do = " (802.11)", "capture on the wired side or on the server"
	case 189, 220:
		name = " (USB)"
	}
	return fmt.Errorf("link type %d%s is not read; want Ethernet, Linux cooked (v1, v2), loopback, raw IP, PPP or NFLOG: %s", link, name, do)
}
