package packet

import (
	"encoding/binary"
	"net/netip"
)

var little = binary.LittleEndian

// classicFile writes frames as a classic capture with nanoseconds.
func classicFile(link uint32, frames ...frame) []byte {
	out := little.AppendUint32(nil, magicNanos)
	out = append(out, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0)
	out = little.AppendUint32(out, link)
	for _, f := range frames {
		out = little.AppendUint32(out, uint32(f.t/1e9))
		out = little.AppendUint32(out, uint32(f.t%1e9))
		out = little.AppendUint32(out, uint32(len(f.data)))
		out = little.AppendUint32(out, uint32(len(f.data)+f.cut))
		out = append(out, f.data...)
	}
	return out
}

// packets gives the frames of a capture, and packetsOf their IP packets.
func packets(b []byte) (out []frame) {
	_, recs := records(b)
	for _, r := range recs {
		t := int64(little.Uint32(r))*1e9 + int64(little.Uint32(r[4:]))
		out = append(out, frame{t: t, link: linkEthernet, data: r[16:]})
	}
	return out
}

// changed applies convert to the data of frames.
func changed(frames []frame, convert func([]byte) []byte) (out []frame) {
	for _, f := range frames {
		f.data = convert(f.data)
		out = append(out, f)
	}
	return out
}

// network leaves off the Ethernet header.
func network(b []byte) []byte { return b[14:] }

// ethernetOf puts an Ethernet header before an IP packet.
func ethernetOf(ip []byte) []byte {
	if ip[0]>>4 == 6 {
		return append(zeros(12, 0x86, 0xdd), ip...)
	}
	return append(zeros(12, 8, 0), ip...)
}

// wrap4 puts an IPv4 header before a payload.
func wrap4(protocol byte, payload []byte) []byte {
	n := 20 + len(payload)
	h := []byte{0x45, 0, byte(n >> 8), byte(n), 0x12, 0x34, 0, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2}
	return append(h, payload...)
}

// wrap6 puts an IPv6 header before a payload.
func wrap6(next byte, payload []byte) []byte {
	h := []byte{0x60, 0, 0, 0, byte(len(payload) >> 8), byte(len(payload)), next, 64}
	for _, a := range []string{"2001:db8::1", "2001:db8::2"} {
		b := netip.MustParseAddr(a).As16()
		h = append(h, b[:]...)
	}
	return append(h, payload...)
}

// wrapUDP puts a UDP header before a payload.
func wrapUDP(port uint16, payload []byte) []byte {
	n := 8 + len(payload)
	return append([]byte{0xc0, 0, byte(port >> 8), byte(port), byte(n >> 8), byte(n), 0, 0}, payload...)
}

func addrPort(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }
