package packet

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"

	"stormwatch/capture/packet/write"
)

// links are ways to carry an IPv4 packet, by the documents named in the decoder;
// each makes the bytes of one captured packet.
var links = []struct {
	name string
	link uint32
	wrap func(ip []byte) []byte
}{
	{"Ethernet", linkEthernet, ethernetOf},
	{"802.3 with SNAP", linkEthernet, func(ip []byte) []byte {
		n := len(ip) + 8
		return append(append(zeros(12, byte(n>>8), byte(n)), 0xaa, 0xaa, 3, 0, 0, 0, 8, 0), ip...)
	}},
	{"VLAN", linkEthernet, func(ip []byte) []byte { return append(zeros(12, 0x81, 0, 0x20, 7, 8, 0), ip...) }},
	{"QinQ", linkEthernet, func(ip []byte) []byte { return append(zeros(12, 0x88, 0xa8, 0, 1, 0x81, 0, 0, 7, 8, 0), ip...) }},
	{"QinQ of old", linkEthernet, func(ip []byte) []byte { return append(zeros(12, 0x91, 0, 0, 1, 0x81, 0, 0, 7, 8, 0), ip...) }},
	{"MPLS", linkEthernet, func(ip []byte) []byte { return append(zeros(12, 0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64), ip...) }},
	{"Ethernet in MPLS", linkEthernet, func(ip []byte) []byte {
		return append(zeros(12, 0x88, 0x47, 0, 1, 1, 64), ethernetOf(ip)...)
	}},
	{"Ethernet in MPLS, control word", linkEthernet, func(ip []byte) []byte {
		return append(zeros(12, 0x88, 0x47, 0, 1, 1, 64, 0, 0, 0, 9), ethernetOf(ip)...)
	}},
	{"PPPoE", linkEthernet, func(ip []byte) []byte {
		n := len(ip) + 2
		return append(zeros(12, 0x88, 0x64, 0x11, 0, 0, 5, byte(n>>8), byte(n), 0, 0x21), ip...)
	}},
	{"cooked", linkSLL, func(ip []byte) []byte { return append(zeros(14, 8, 0), ip...) }},
	{"cooked, VLAN", linkSLL, func(ip []byte) []byte { return append(zeros(14, 0x81, 0, 0, 7, 8, 0), ip...) }},
	{"cooked v2", linkSLL2, func(ip []byte) []byte { return append(append([]byte{8, 0}, zeros(18)...), ip...) }},
	{"null, little", linkNull, func(ip []byte) []byte { return append([]byte{2, 0, 0, 0}, ip...) }},
	{"null, big", linkNull, func(ip []byte) []byte { return append([]byte{0, 0, 0, 2}, ip...) }},
	{"loop", linkLoop, func(ip []byte) []byte { return append([]byte{0, 0, 0, 2}, ip...) }},
	{"raw", linkRaw, bytes.Clone},
	{"raw, BSD", 12, bytes.Clone},
	{"raw, OpenBSD", 14, bytes.Clone},
	{"IPv4", linkIPv4, bytes.Clone},
	{"PPP", linkPPP, func(ip []byte) []byte { return append([]byte{0, 0x21}, ip...) }},
	{"PPP, short protocol", linkPPP, func(ip []byte) []byte { return append([]byte{0x21}, ip...) }},
	{"PPP as HDLC", linkPPPHDLC, func(ip []byte) []byte { return append([]byte{0xff, 3, 0, 0x21}, ip...) }},
	{"PPP with MPLS", linkPPP, func(ip []byte) []byte { return append([]byte{2, 0x81, 0, 1, 1, 64}, ip...) }},
	{"PPPoE session", linkPPPoE, func(ip []byte) []byte { return append([]byte{0x11, 0, 0, 5, 0, 0, 0, 0x21}, ip...) }},
	{"NFLOG, little", linkNFLOG, func(ip []byte) []byte {
		n := len(ip) + 4
		return append([]byte{2, 0, 0, 1, 8, 0, 1, 0, 8, 0, 1, 0, 5, 0, 10, 0, 'x', 0, 0, 0, byte(n), byte(n >> 8), 9, 0}, ip...)
	}},
	{"NFLOG, big", linkNFLOG, func(ip []byte) []byte {
		n := len(ip) + 4
		return append([]byte{2, 0, 0, 1, 0, 8, 0, 1, 8, 0, 1, 0, 0, 5, 0, 10, 'x', 0, 0, 0, byte(n >> 8), byte(n), 0, 9}, ip...)
	}},
	{"PKTAP", linkPKTAP, func(ip []byte) []byte {
		return append(append([]byte{108, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}, zeros(96)...), ethernetOf(ip)...)
	}},
	{"VXLAN", linkEthernet, func(ip []byte) []byte {
		return ethernetOf(wrap4(17, wrapUDP(4789, append([]byte{8, 0, 0, 0, 0, 0, 1, 0}, ethernetOf(ip)...))))
	}},
	{"VXLAN of old, on IPv6", linkEthernet, func(ip []byte) []byte {
		return ethernetOf(wrap6(17, wrapUDP(8472, append([]byte{8, 0, 0, 0, 0, 0, 1, 0}, ethernetOf(ip)...))))
	}},
	{"Geneve with options", linkEthernet, func(ip []byte) []byte {
		return ethernetOf(wrap4(17, wrapUDP(6081, append([]byte{1, 0, 0x65, 0x58, 0, 0, 1, 0, 1, 2, 3, 4}, ethernetOf(ip)...))))
	}},
	{"Geneve with IP", linkEthernet, func(ip []byte) []byte {
		return ethernetOf(wrap4(17, wrapUDP(6081, append([]byte{0, 0, 8, 0, 0, 0, 1, 0}, ip...))))
	}},
	{"GRE", linkRaw, func(ip []byte) []byte { return wrap4(47, append([]byte{0, 0, 8, 0}, ip...)) }},
	{"GRE, all fields", linkRaw, func(ip []byte) []byte {
		return wrap4(47, append([]byte{0xb0, 0, 8, 0, 9, 9, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2}, ip...))
	}},
	{"NVGRE", linkRaw, func(ip []byte) []byte {
		return wrap4(47, append([]byte{0x20, 0, 0x65, 0x58, 0, 0, 1, 0}, ethernetOf(ip)...))
	}},
	{"GRE in UDP", linkRaw, func(ip []byte) []byte { return wrap4(17, wrapUDP(4754, append([]byte{0, 0, 8, 0}, ip...))) }},
	{"MPLS in UDP", linkRaw, func(ip []byte) []byte { return wrap4(17, wrapUDP(6635, append([]byte{0, 1, 1, 64}, ip...))) }},
	{"PPTP", linkRaw, func(ip []byte) []byte {
		return wrap4(47, append([]byte{0x30, 0x81, 0x88, 0x0b, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0xff, 3, 0x21}, ip...))
	}},
	{"ERSPAN I", linkRaw, func(ip []byte) []byte { return wrap4(47, append([]byte{0, 0, 0x88, 0xbe}, ethernetOf(ip)...)) }},
	{"ERSPAN II", linkRaw, func(ip []byte) []byte {
		return wrap4(47, append([]byte{0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 0, 0, 0, 0, 0, 0, 0}, ethernetOf(ip)...))
	}},
	{"ERSPAN III", linkRaw, func(ip []byte) []byte {
		return wrap4(47, append(append([]byte{0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20}, zeros(11)...), ethernetOf(ip)...))
	}},
	{"ERSPAN III with a subheader", linkRaw, func(ip []byte) []byte {
		return wrap4(47, append(append(append([]byte{0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20}, zeros(10)...), append([]byte{1}, zeros(8)...)...), ethernetOf(ip)...))
	}},
	{"GTP", linkRaw, func(ip []byte) []byte {
		return wrap4(17, wrapUDP(2152, append([]byte{0x30, 255, 0, 0, 0, 0, 0, 1}, ip...)))
	}},
	{"GTP, extension headers", linkRaw, func(ip []byte) []byte {
		return wrap4(17, wrapUDP(2152, append([]byte{0x34, 255, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 9, 0xc0, 2, 0, 0, 0, 0, 0, 0, 0}, ip...)))
	}},
	{"PPPoE, padding counted in by IP", linkEthernet, func(ip []byte) []byte {
		n := len(ip) + 2
		ip = bytes.Clone(ip)
		be.PutUint16(ip[2:], uint16(len(ip)+6))
		return append(append(zeros(12, 0x88, 0x64, 0x11, 0, 0, 5, byte(n>>8), byte(n), 0, 0x21), ip...), zeros(6)...)
	}},
	{"IP in IP", linkRaw, func(ip []byte) []byte { return wrap4(4, ip) }},
	{"IPv4 in IPv6", linkRaw, func(ip []byte) []byte { return wrap6(4, ip) }},
	{"IP in IP in IP", linkRaw, func(ip []byte) []byte { return wrap6(4, wrap4(4, ip)) }},
	{"options of IPv4", linkRaw, func(ip []byte) []byte {
		out := append(bytes.Clone(ip[:20]), 1, 1, 1, 0)
		out[0], out[3] = 0x46, out[3]+4
		if out[3] < 4 {
			out[2]++
		}
		return append(out, ip[20:]...)
	}},
	{"authentication header", linkRaw, func(ip []byte) []byte {
		out := wrap4(51, append(append([]byte{6, 4}, zeros(22)...), ip[20:]...))
		copy(out[12:20], ip[12:20])
		return out
	}},
	{"padding after IP", linkEthernet, func(ip []byte) []byte { return append(ethernetOf(ip), zeros(20)...) }},
	{"length left to the card", linkEthernet, func(ip []byte) []byte {
		out := ethernetOf(ip)
		out[16], out[17] = 0, 0
		return out
	}},
}

// TestLinks reads the same two exchanges through every link layer and tunnel,
// whole and cut short by a snapshot length that leaves every header there.
func TestLinks(t *testing.T) {
	plain := packets(two(t))
	for _, c := range links {
		t.Run(c.name, func(t *testing.T) {
			frames := changed(plain, func(b []byte) []byte { return c.wrap(b[14:]) })
			r := readAll(t, classicFile(c.link, frames...), Options{})
			r.expect(t, "GET /a 429 answered", "GET /b 200 answered")
			if r.health.Used != 10 || r.health.SkippedTotal() != 0 || r.health.GapBytes != 0 {
				t.Errorf("health %+v", r.health)
			}
		})
	}
}

// TestLinksCut checks that a snapshot length costs no pair: what it cuts off is
// counted from the lengths in the IP header, under every link and tunnel.
func TestLinksCut(t *testing.T) {
	m := newMade(t)
	c := m.dial()
	pad := strings.Repeat("x", 900)
	for i, path := range []string{"/a", "/b", "/c"} {
		c.Send(base+int64(i)*2*ms, true, []byte("GET "+path+" HTTP/1.1\r\nHost: api.example\r\nContent-Length: 900\r\n\r\n"+pad))
		c.Send(base+int64(i)*2*ms+ms, false, reply(429, pad, "Retry-After: 1"))
	}
	c.Close(base + 9*ms)
	for _, c := range links {
		frames := changed(packets(m.bytes()), func(b []byte) []byte { return c.wrap(b[14:]) })
		for i, f := range frames {
			if n := len(f.data) - 800; n > 100 { // the headers of HTTP and of the longest tunnel stay
				frames[i].data, frames[i].cut = f.data[:n], 800
			}
		}
		r := readAll(t, classicFile(c.link, frames...), Options{})
		if got := strings.TrimSpace(r.String()); got != "GET /a 429 answered\nGET /b 429 answered\nGET /c 429 answered" {
			t.Errorf("%s: %s", c.name, got)
		}
		want := uint64(6 * 800)
		switch c.name { // some of the bytes cut off belong to nothing
		case "padding after IP":
			want = 6 * 780
		case "PPPoE, padding counted in by IP":
			want = 6 * 794
		}
		if r.health.GapBytes != want {
			t.Errorf("%s: %d bytes cut off, want %d", c.name, r.health.GapBytes, want)
		}
	}
}

// TestNotRead checks what is passed over, and why.
func TestNotRead(t *testing.T) {
	ip := network(packets(two(t))[3].data)
	deep := ip
	for range maxTunnels + 1 {
		deep = wrap4(4, deep)
	}
	tagged := ip
	for range maxTags + 1 {
		tagged = append([]byte{0, 7, 0x81, 0}, tagged...)
	}
	reset := func(b []byte, at int, v ...byte) []byte {
		b = bytes.Clone(b)
		copy(b[at:], v)
		return b
	}
	for _, c := range []struct {
		name string
		link uint32
		b    []byte
		want string
	}{
		{"nothing", linkEthernet, nil, skipShort},
		{"Ethernet cut", linkEthernet, zeros(13), skipShort},
		{"ARP", linkEthernet, zeros(12, 8, 6, 0, 1), skipNotIP},
		{"spanning tree", linkEthernet, zeros(12, 0, 38, 0x42, 0x42, 3, 0, 0, 0, 0, 0), skipNotIP},
		{"IP cut", linkRaw, ip[:19], skipShort},
		{"options cut", linkRaw, reset(ip[:24], 0, 0x4f), skipShort},
		{"header of 16 bytes", linkRaw, reset(ip, 0, 0x44), skipNotIP},
		{"shorter than its header", linkRaw, reset(ip, 2, 0, 19), skipNotIP},
		{"IP version 5", linkRaw, reset(ip, 0, 0x55), skipNotIP},
		{"ICMP", linkRaw, reset(ip, 9, 1), skipNotTCP},
		{"TCP cut", linkRaw, ip[:39], skipShort},
		{"TCP header longer than its packet", linkRaw, reset(ip[:40], 2, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0), skipNotTCP},
		{"TCP header of 16 bytes", linkRaw, reset(ip, 32, 0x40), skipNotTCP},
		{"DNS", linkRaw, wrap4(17, wrapUDP(53, zeros(20))), skipNotTCP},
		{"VXLAN without a network", linkRaw, wrap4(17, wrapUDP(4789, append(zeros(8), ethernetOf(ip)...))), skipNotTCP},
		{"Geneve cut in its options", linkRaw, wrap4(17, wrapUDP(6081, append([]byte{0x3f, 0, 8, 0, 0, 0, 1, 0}, zeros(100)...))), skipShort},
		{"GRE, source routes", linkRaw, wrap4(47, append([]byte{0x40, 0, 8, 0}, ip...)), skipNotTCP},
		{"GRE of version 2", linkRaw, wrap4(47, append([]byte{0, 2, 8, 0}, ip...)), skipNotTCP},
		{"PPTP, acknowledgement", linkRaw, wrap4(47, []byte{0x20, 0x81, 0x88, 0x0b, 0, 0, 0, 1, 0, 0, 0, 1}), skipNotTCP},
		{"GTP of version 2", linkRaw, wrap4(17, wrapUDP(2152, append([]byte{0x50, 255}, zeros(60)...))), skipNotTCP},
		{"GTP, no user packet", linkRaw, wrap4(17, wrapUDP(2152, append([]byte{0x30, 1}, zeros(60)...))), skipNotTCP},
		{"GTP, extension of no length", linkRaw, wrap4(17, wrapUDP(2152, append([]byte{0x34, 255}, bytes.Repeat([]byte{0, 1}, 30)...))), skipShort},
		{"tunnels in tunnels", linkRaw, deep, skipDeep},
		{"tags in tags", linkEthernet, append(zeros(12, 0x81, 0), tagged...), skipDeep},
		{"labels without end", linkEthernet, append(zeros(12, 0x88, 0x47), zeros(400)...), skipDeep},
		{"LCP", linkPPP, []byte{0xff, 3, 0xc0, 0x21, 1, 1, 0, 4}, skipNotIP},
		{"PPP cut", linkPPP, []byte{0xff, 3}, skipShort},
		{"NFLOG without a packet", linkNFLOG, []byte{2, 0, 0, 1, 8, 0, 1, 0, 8, 0, 1, 0}, skipShort},
		{"NFLOG, length below its header", linkNFLOG, []byte{2, 0, 0, 1, 3, 0, 1, 0, 8, 0, 1, 0}, skipBroken},
		{"PKTAP in PKTAP", linkPKTAP, bytes.Repeat([]byte{12, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0}, 9), skipShort},
		{"PKTAP, length beyond its end", linkPKTAP, append([]byte{255, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}, ip...), skipShort},
		{"802.11", 105, ip, skipLink},
		{"IPv6 cut", linkRaw, wrap6(6, nil)[:39], skipShort},
		{"IPv6, nothing follows", linkRaw, wrap6(59, zeros(8)), skipNotTCP},
		{"IPv6, header cut", linkRaw, wrap6(0, []byte{6}), skipShort},
		{"IPv6, headers without end", linkRaw, wrap6(60, bytes.Repeat([]byte{60, 0, 0, 0, 0, 0, 0, 0}, 40)), skipDeep},
		{"IPv6, header longer than the packet", linkRaw, append(wrap6(60, []byte{6, 1, 0, 0, 0, 0, 0, 0}), zeros(99)...), skipShort},
	} {
		var d decoder
		if got := d.decode(&frame{link: c.link, data: c.b}, 1); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestExtensions reads IPv6 through each kind of extension header, and lengths
// that no header of 16 bits can tell.
func TestExtensions(t *testing.T) {
	m := newMade(t)
	a, b := netip.MustParseAddrPort("[2001:db8::a]:40000"), netip.MustParseAddrPort("[2001:db8::b]:80")
	c := m.w.Dial(base, a, b)
	exchange(c)
	head := func(kind byte, n int) func([]byte) []byte { // n bytes
		return func(ip []byte) []byte {
			out := append(bytes.Clone(ip[:40]), ip[6], byte(n/8-1))
			out = append(append(out, zeros(n-2)...), ip[40:]...)
			out[6] = kind
			be.PutUint16(out[4:], be.Uint16(out[4:])+uint16(n))
			return out
		}
	}
	jumbo := func(ip []byte) []byte {
		out := head(0, 8)(ip)
		copy(out[42:], []byte{0xc2, 4})
		be.PutUint32(out[44:], uint32(len(ip)-40+8))
		out[4], out[5] = 0, 0
		return out
	}
	for name, wrap := range map[string]func([]byte) []byte{
		"none":               bytes.Clone,
		"hop by hop":         head(0, 8),
		"routing":            head(43, 24),
		"destination, long":  head(60, 264),
		"mobility":           head(135, 16),
		"all":                func(ip []byte) []byte { return head(0, 8)(head(43, 24)(head(60, 8)(ip))) },
		"atomic fragment":    func(ip []byte) []byte { return head(44, 8)(ip) }, // offset and more are 0
		"authentication":     func(ip []byte) []byte { out := head(51, 24)(ip); out[41] = 4; return out },
		"jumbogram":          jumbo,
		"left to the card":   func(ip []byte) []byte { out := bytes.Clone(ip); out[4], out[5] = 0, 0; return out },
		"in IPv4":            func(ip []byte) []byte { return wrap4(41, ip) },
		"in IPv6":            func(ip []byte) []byte { return wrap6(41, ip) },
		"in GRE":             func(ip []byte) []byte { return wrap4(47, append([]byte{0, 0, 0x86, 0xdd}, ip...)) },
		"in Geneve and GRE6": func(ip []byte) []byte { return wrap6(47, append([]byte{0, 0, 0x86, 0xdd}, ip...)) },
	} {
		frames := changed(packets(m.bytes()), func(b []byte) []byte { return wrap(b[14:]) })
		for _, link := range []uint32{linkRaw, linkIPv6} {
			r := readAll(t, classicFile(link, frames...), Options{})
			if got := strings.TrimSpace(r.String()); got != "GET /a 429 answered\nGET /b 200 answered" {
				t.Errorf("%s: %s\n%+v", name, got, r.health)
			} else if r.all[0].Src.String() != a.String() || r.health.Used != r.health.Read {
				t.Errorf("%s: from %v, health %+v", name, r.all[0].Src, r.health)
			}
		}
	}
}

// exchange sends what two sends.
func exchange(c *write.Conn) {
	c.Send(base+1*ms, true, get("/a"))
	c.Send(base+2*ms, false, reply(429, "slow down", "Retry-After: 1"))
	c.Send(base+3*ms, true, get("/b"))
	c.Send(base+4*ms, false, reply(200, "fine"))
	c.Close(base + 5*ms)
}
