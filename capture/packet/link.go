package packet

import (
	"encoding/binary"
	"fmt"

	"github.com/google/gopacket/layers"
)

// Link types (https://www.tcpdump.org/linktypes.html). gopacket's type holds
// eight bits, so the newer ones have to be written out.
const (
	linkNull     = uint32(layers.LinkTypeNull)
	linkEthernet = uint32(layers.LinkTypeEthernet)
	linkRaw      = uint32(layers.LinkTypeRaw)
	linkLoop     = uint32(layers.LinkTypeLoop)
	linkSLL      = uint32(layers.LinkTypeLinuxSLL)
	linkIPv4     = 228
	linkIPv6     = 229
	linkSLL2     = 276
	linkBroken   = 1 << 31 // no type: a packet whose framing is broken
)

// Why a packet was passed over.
const (
	skipShort    = "headers cut off"
	skipNotIP    = "not IP"
	skipNotTCP   = "not TCP"
	skipFragment = "IP fragment"
	skipLink     = "link type not read"
	skipBroken   = "broken packet record"
)

// Ether types.
const (
	etherIPv4  = uint16(layers.EthernetTypeIPv4)
	etherIPv6  = uint16(layers.EthernetTypeIPv6)
	etherVLAN  = uint16(layers.EthernetTypeDot1Q)
	etherQinQ  = uint16(layers.EthernetTypeQinQ)
	etherQinQ1 = 0x9100 // used before IEEE 802.1ad was written
	etherMPLS  = uint16(layers.EthernetTypeMPLSUnicast)
	etherPPPoE = uint16(layers.EthernetTypePPPoESession)
	etherTEB   = uint16(layers.EthernetTypeTransparentEthernetBridging) // Ethernet in GRE and Geneve (RFC 8926)
)

var be = binary.BigEndian

// decode takes the link layer, IP and TCP off a packet. It returns why not when
// the packet is no TCP segment.
func (s *segment) decode(link uint32, b []byte) (skip string) {
	switch link {
	case linkEthernet:
		if len(b) < 14 {
			return skipShort
		}
		return s.ether(be.Uint16(b[12:]), b[14:], 0)
	case linkSLL:
		if len(b) < 16 {
			return skipShort
		}
		return s.ether(be.Uint16(b[14:]), b[16:], 0)
	case linkSLL2:
		if len(b) < 20 {
			return skipShort
		}
		return s.ether(be.Uint16(b), b[20:], 0)
	case linkNull, linkLoop:
		if len(b) < 4 {
			return skipShort
		}
		return s.ip(b[4:], 0)
	case linkRaw, 12, 14, linkIPv4, linkIPv6: // 12 and 14: raw IP as some BSDs number it
		return s.ip(b, 0)
	case linkBroken:
		return skipBroken
	}
	return skipLink
}

// ether decodes what follows an Ethernet type: tags are taken off.
func (s *segment) ether(kind uint16, b []byte, depth int) string {
	for range 4 {
		switch kind {
		case etherIPv4, etherIPv6:
			return s.ip(b, depth)
		case etherVLAN, etherQinQ, etherQinQ1:
			if len(b) < 4 {
				return skipShort
			}
			kind, b = be.Uint16(b[2:]), b[4:]
		case etherMPLS:
			for bottom := false; !bottom; b = b[4:] {
				if len(b) < 4 {
					return skipShort
				}
				bottom = b[2]&1 == 1
			}
			if len(b) < 18 || b[0]>>4 != 0 {
				return s.ip(b, depth)
			}
			kind, b = be.Uint16(b[16:]), b[18:] // Ethernet after a control word (RFC 4448)
		case etherPPPoE:
			if len(b) < 8 {
				return skipShort
			}
			if p := be.Uint16(b[6:]); p != 0x21 && p != 0x57 { // RFC 1332, RFC 5072
				return skipNotIP
			}
			return s.ip(b[8:], depth)
		case etherTEB:
			if len(b) < 14 {
				return skipShort
			}
			kind, b = be.Uint16(b[12:]), b[14:]
		default:
			return skipNotIP
		}
	}
	return skipNotIP
}

// linkError tells what to do about a capture whose link layer is not read.
func linkError(link uint32) error {
	switch link {
	case linkEthernet, linkSLL, linkSLL2, linkNull, linkLoop, linkRaw, 12, 14, linkIPv4, linkIPv6:
		return nil
	}
	name, do := "", "capture on one interface, for example with tcpdump -i eth0"
	switch link {
	case 105, 127, 163, 192:
		name, do = " (802.11)", "capture on the wired side or on the server"
	case 149, 258:
		name, do = " (PKTAP)", "capture on one interface: tcpdump -i en0"
	case 220, 189:
		name = " (USB)"
	case 239:
		name = " (NFLOG)"
	case 9, 50:
		name = " (PPP)"
	}
	return fmt.Errorf("link type %d%s is not read; want Ethernet, Linux cooked (v1, v2), loopback or raw IP: %s", link, name, do)
}
