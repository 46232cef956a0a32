package packet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// chain is three attempts of one request over a second, and the record of a
// genuine retransmission of the second request: 200 ms on, a packet of its own.
func chain(t *testing.T, client, server string) (frames []frame) {
	m := newMade(t)
	c := m.w.Dial(base, addrPort(client), addrPort(server))
	for i := range int64(3) {
		c.Send(base+(1+500*i)*ms, true, get("/a"))
		c.Send(base+(3+500*i)*ms, false, reply(429, "slow down", "Retry-After: 1"))
	}
	c.Close(base + 1500*ms)
	for _, f := range packets(m.bytes()) {
		frames = append(frames, f)
		if f.t == base+501*ms {
			again := frame{t: f.t + 200*ms, data: bytes.Clone(f.data)}
			if again.data[14]>>4 == 4 {
				again.data[18] ^= 0x40 // another identification
			}
			frames = append(frames, again)
		}
	}
	slices.SortStableFunc(frames, func(a, b frame) int { return int(a.t - b.t) })
	return frames
}

const attempts = "GET /a 429 answered\nGET /a 429 answered\nGET /a 429 answered"

// twice adds a copy of every packet up to 50 µs later.
func twice(frames []frame, convert func([]byte) []byte) (out []frame) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, f := range frames {
		out = append(out, f, frame{t: f.t + 1000 + rng.Int64N(49_000), data: convert(bytes.Clone(f.data))})
	}
	return out
}

// TestCopies counts packets that were captured twice once. The retransmission is
// no copy: its own copy is.
func TestCopies(t *testing.T) {
	plain := chain(t, "10.0.0.1:40000", "10.0.0.9:80")
	n := uint64(len(plain))
	for name, frames := range map[string][]frame{
		"the same":            twice(plain, same),
		"another MAC":         twice(plain, func(b []byte) []byte { b[5]++; b[11]++; return b }),
		"tagged":              twice(plain, func(b []byte) []byte { return append(append(bytes.Clone(b[:12]), 0x81, 0, 0, 7), b[12:]...) }),
		"routed":              twice(plain, func(b []byte) []byte { b[22]--; b[25]++; return b }),
		"in a tunnel":         twice(plain, func(b []byte) []byte { return ethernetOf(wrap4(47, append([]byte{0, 0, 8, 0}, b[14:]...))) }),
		"checksum not filled": twice(plain, func(b []byte) []byte { b[50], b[51] = 0, 0; return b }),
	} {
		r := readAll(t, classicFile(linkEthernet, frames...), Options{})
		h := r.health
		if got := strings.TrimSpace(r.String()); got != attempts || h.Copies != n || h.Used != n || h.SkippedTotal() != 0 {
			t.Errorf("%s: %d packets and their copies, health %+v\n%s", name, n, h, got)
		}
		for i, x := range r.all {
			if x.Start != base+int64(1+500*i)*ms {
				t.Errorf("%s: attempt %d starts at %d", name, i, x.Start-base)
			}
		}
	}
	once := readAll(t, classicFile(linkEthernet, plain...), Options{})
	if h := once.health; h.Copies != 0 || h.Used != n {
		t.Errorf("without copies: health %+v", h)
	}
	// Four interfaces: three copies of each packet.
	four := twice(twice(plain, same), same)
	slices.SortStableFunc(four, func(a, b frame) int { return int(a.t - b.t) })
	if h := readAll(t, classicFile(linkEthernet, four...), Options{}).health; h.Copies != 3*n || h.Used != n {
		t.Errorf("four times: health %+v", h)
	}
}

// TestCopiesWithoutIdentification reads IPv6, and IPv4 that leaves it 0. What a
// host may well send twice within 2 ms, a bare acknowledgement, is then not told
// from a copy; it changes nothing.
func TestCopiesWithoutIdentification(t *testing.T) {
	six := chain(t, "[2001:db8::1]:40000", "[2001:db8::9]:80")
	zero := changed(chain(t, "10.0.0.1:40000", "10.0.0.9:80"), func(b []byte) []byte { b = bytes.Clone(b); b[18], b[19] = 0, 0; return b })
	for name, frames := range map[string][]frame{"IPv6": six, "IPv4": zero} {
		r := readAll(t, classicFile(linkEthernet, twice(frames, same)...), Options{})
		h := r.health
		bare := uint64(2) // of the handshake, and of the end
		if got := strings.TrimSpace(r.String()); got != attempts || h.Copies != uint64(len(frames))-bare {
			t.Errorf("%s: of %d packets, health %+v\n%s", name, len(frames), h, got)
		}
	}
}

// TestRetransmissionsAreNoCopies sends a request again at once, as when
// acknowledgements tell of a loss, and much later with all equal.
func TestRetransmissionsAreNoCopies(t *testing.T) {
	plain := packets(two(t))
	for name, c := range map[string]struct {
		after  int64
		change func(b []byte)
	}{
		"at once, another identification":                {ms / 10, func(b []byte) { b[19]++ }},
		"after 200 ms, all equal":                        {200 * ms, func([]byte) {}},
		"after 3 ms, no identification":                  {3 * ms, func(b []byte) { b[18], b[19] = 0, 0 }},
		"at once, longer (data was appended)":            {ms / 10, func(b []byte) { b[17]-- }},
		"at once, no identification, another time stamp": {ms / 10, func(b []byte) { b[18], b[19], b[50] = 0, 0, b[50]+1 }},
	} {
		frames := slices.Clone(plain)
		first := frame{t: frames[3].t, data: bytes.Clone(frames[3].data)}
		if strings.Contains(name, "no identification") {
			first.data[18], first.data[19] = 0, 0
		}
		frames[3] = first
		again := frame{t: first.t + c.after, data: bytes.Clone(first.data)}
		c.change(again.data)
		frames = append(frames, again)
		slices.SortStableFunc(frames, func(a, b frame) int { return int(a.t - b.t) })
		r := readAll(t, classicFile(linkEthernet, frames...), Options{})
		if len(r.all) != 2 || r.health.Copies != 0 {
			t.Errorf("%s: health %+v\n%s", name, r.health, r)
		}
	}
}

// translate gives a packet other addresses and ports, as a host that forwards it
// does, and a checksum that is right, or left to the card where partial.
func translate(b []byte, from, to netip.AddrPort, partial bool) []byte {
	b = bytes.Clone(b)
	ip := b[14:]
	for _, at := range []int{0, 1} { // source, destination
		a, p := ip[12+4*at:16+4*at], ip[20+2*at:22+2*at]
		if netip.AddrFrom4([4]byte(a)) == from.Addr() && be.Uint16(p) == from.Port() {
			to4 := to.Addr().As4()
			copy(a, to4[:])
			be.PutUint16(p, to.Port())
		}
	}
	ip[8]--
	return summed(b, partial)
}

// summed fills in TCP's checksum (RFC 9293 section 3.1): whole, or over the
// pseudo header only, which is what a host leaves to its card.
func summed(b []byte, partial bool) []byte {
	b = bytes.Clone(b)
	ip := b[14:]
	tcp := ip[20:be.Uint16(ip[2:])]
	tcp[16], tcp[17] = 0, 0
	sum := uint32(6 + len(tcp))
	add := func(b []byte) {
		for i, c := range b {
			sum += uint32(c) << (8 * (1 - i%2))
		}
	}
	add(ip[12:20])
	if !partial {
		add(tcp)
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	if !partial {
		sum = ^sum & 0xffff
	}
	be.PutUint16(tcp[16:], uint16(sum))
	return b
}

// TestTranslated captures both sides of a host that translates addresses. The
// connection counts once, under the addresses that were captured first.
func TestTranslated(t *testing.T) {
	host, container := addrPort("10.0.0.9:8080"), addrPort("172.17.0.2:80")
	inside, outside := addrPort("172.17.0.2:40000"), addrPort("203.0.113.1:1024")
	cases := []struct {
		name           string
		client, server string
		from, to       netip.AddrPort
		toServer       bool // requests are seen before they are translated
	}{
		{"destination", "10.0.0.1:40000", "10.0.0.9:8080", host, container, true},
		{"source", "172.17.0.2:40000", "10.0.0.9:80", inside, outside, true},
		{"destination, the server's side first", "10.0.0.1:40000", "10.0.0.9:8080", host, container, false},
	}
	for _, c := range cases {
		for _, how := range []string{"", "partial checksums", "joined midway", "request lost before"} {
			plain := changed(chain(t, c.client, c.server), func(b []byte) []byte { return summed(b, how == "partial checksums") })
			if how == "joined midway" {
				plain = plain[4:] // a response is first
			}
			var frames []frame
			for i, f := range plain {
				other := frame{t: f.t, data: translate(f.data, c.from, c.to, how == "partial checksums")}
				request := be.Uint16(f.data[34:]) == addrPort(c.client).Port()
				// Seen first is the side on which the packet comes in.
				a, b := f, other
				if request != c.toServer {
					b.data = bytes.Clone(b.data)
					a.data = bytes.Clone(a.data)
					a.data[22], b.data[22] = b.data[22], a.data[22]
					a, b = b, a
				}
				b.t += 20_000
				if how == "request lost before" && i == 3 {
					frames = append(frames, b)
					continue
				}
				frames = append(frames, a, b)
			}
			r := readAll(t, classicFile(linkEthernet, frames...), Options{})
			lines := strings.Split(strings.TrimSpace(r.String()), "\n")
			want := 3
			if how == "joined midway" {
				want = 2
			}
			whole := 0
			ends := map[string]int{}
			for _, x := range r.all {
				if x.method != "" && x.Status == 429 {
					whole++
				}
				ends[x.Src.String()+" "+x.Dst.String()]++
			}
			if how == "request lost before" { // its exchange is on one side and the next on the other
				if whole < 2 || whole > 3 || r.health.Copies == 0 {
					t.Errorf("%s, %s: %q %v", c.name, how, lines, r.health)
				}
				continue
			}
			if whole != want || len(ends) != 1 || r.health.Copies < uint64(len(plain))-4 {
				t.Errorf("%s, %s: %d exchanges of %v; %d packets, health %+v\n%q", c.name, how, whole, ends, len(plain), r.health, lines)
			}
		}
	}
}

// TestAliasEnds checks that an alias is one connection's: the next one on the
// same ends, which does not come through translation, is read.
func TestAliasEnds(t *testing.T) {
	host, container := addrPort("10.0.0.9:8080"), addrPort("172.17.0.2:80")
	var frames []frame
	for _, f := range changed(chain(t, "10.0.0.1:40000", "10.0.0.9:8080"), func(b []byte) []byte { return summed(b, false) }) {
		frames = append(frames, f, frame{t: f.t + 1000, data: translate(f.data, host, container, false)})
	}
	direct := chain(t, "10.0.0.1:40000", "172.17.0.2:80")
	for _, f := range direct {
		data := bytes.Clone(f.data)
		data[40] ^= 0x77 // other sequence numbers both ways
		data[44] ^= 0x77
		if data[47]&(flagSYN|flagACK) == flagSYN {
			copy(data[42:46], zeros(4))
		}
		frames = append(frames, frame{t: f.t + 10e9, data: data})
	}
	r := readAll(t, classicFile(linkEthernet, frames...), Options{})
	ends := map[string]int{}
	for _, x := range r.all {
		ends[x.Dst.String()]++
	}
	if ends[host.String()] != 3 || ends[container.String()] != 3 {
		t.Errorf("exchanges by server %v, want 3 each", ends)
	}
}

// TestAlike sends equal requests of many clients at the same time, from
// generators whose sequence numbers and identifications are all equal: not one is
// taken for a copy of another.
func TestAlike(t *testing.T) {
	for name, change := range map[string]func(b []byte, i int){
		"one distance":      func(b []byte, _ int) { b[18], b[19] = 0, 1 },
		"no identification": func(b []byte, i int) { b[18], b[19], b[22] = 0, 0, byte(64-i%4) },
		"small numbers": func(b []byte, i int) {
			b[18], b[19], b[22] = 0, 1, byte(64-i%4)
			b[38], b[39], b[42], b[43] = 0, 0, 0, 0
		},
	} {
		t.Run(name, func(t *testing.T) { alike(t, change) })
	}
}

func alike(t *testing.T, change func(b []byte, i int)) {
	plain := packets(two(t))
	var frames []frame
	const clients = 200
	for i := range clients {
		for _, f := range plain {
			b := bytes.Clone(f.data)
			change(b, i)
			at := 26 // source address
			if be.Uint16(b[34:]) == server.Port() {
				at = 30
			}
			b[at+2], b[at+3] = byte(i>>8), byte(i)
			frames = append(frames, frame{t: f.t, data: summed(b, false)})
		}
	}
	slices.SortStableFunc(frames, func(a, b frame) int { return int(a.t - b.t) })
	r := readAll(t, classicFile(linkEthernet, frames...), Options{})
	if len(r.all) != 2*clients || r.health.Copies != 0 {
		t.Errorf("%d exchanges of %d, health %+v", len(r.all), 2*clients, r.health)
	}
}

// TestAliasBound opens more translated connections than are kept.
func TestAliasBound(t *testing.T) {
	var c copies
	for i := range 3 * maxAliases {
		s := addressed{segment: segment{seq: 1<<20 + uint32(i)*7, ack: 1<<20 + uint32(i), wire: 10, id: 1, hops: 64, sum: 0x1234}}
		be.PutUint32(s.src.IP[12:], uint32(i))
		s.dst.Port = 80
		if c.seen(&s, int64(base+i)) {
			t.Fatalf("connection %d is taken for a copy", i)
		}
		s.dst.Port, s.hops = 81, 63
		s.sum = ^uint16(0) - (^uint16(0) - s.sum) - 1 // one more in the port
		if !c.seen(&s, int64(base+i)) {
			t.Fatalf("copy %d is not known", i)
		}
		if n := len(c.aliases[0]) + len(c.aliases[1]); n > 2*maxAliases {
			t.Fatalf("%d aliases", n)
		}
	}
}

// TestRemainder checks the arithmetic against checksums computed from scratch.
func TestRemainder(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range 2000 {
		b := packets(two(t))[3].data
		for i := 26; i < 38; i++ { // addresses and ports
			b[i] = byte(rng.Uint32())
		}
		var d, e decoder
		if skip := d.decode(&frame{link: linkEthernet, data: summed(b, false)}, 1); skip != "" {
			t.Fatal(skip)
		}
		from := netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[26:30])), be.Uint16(b[34:]))
		to := netip.AddrPortFrom(netip.AddrFrom4([4]byte{byte(rng.Uint32()), 2, 3, 4}), uint16(rng.Uint32()))
		for _, partial := range []bool{false, true} {
			e.decode(&frame{link: linkEthernet, data: translate(summed(b, partial), from, to, partial)}, 1)
			d.decode(&frame{link: linkEthernet, data: summed(b, partial)}, 1)
			a, z := &d.addressed, &e.addressed
			sumA, sumZ := a.sum, z.sum
			if !partial {
				sumA, sumZ = ^sumA, ^sumZ
			}
			if x, y := remainder(sumA, &a.src, &a.dst, !partial), remainder(sumZ, &z.src, &z.dst, !partial); x != y {
				t.Fatalf("partial %v: %s", partial, fmt.Sprintf("%x and %x", x, y))
			}
		}
	}
}
