package packet

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// split4 cuts an IPv4 packet into fragments of at most n bytes of payload
// (RFC 791 section 3.2).
func split4(ip []byte, n int) (out [][]byte) {
	payload := ip[20:]
	for from := 0; from < len(payload); from += n {
		to := min(from+n, len(payload))
		b := append(bytes.Clone(ip[:20]), payload[from:to]...)
		be.PutUint16(b[2:], uint16(len(b)))
		field := uint16(from / 8)
		if to < len(payload) {
			field |= 0x2000
		}
		be.PutUint16(b[6:], field)
		out = append(out, b)
	}
	return out
}

// split6 does the same for IPv6 (RFC 8200 section 4.5).
func split6(ip []byte, id uint32, n int) (out [][]byte) {
	payload := ip[40:]
	for from := 0; from < len(payload); from += n {
		to := min(from+n, len(payload))
		field := uint16(from)
		if to < len(payload) {
			field |= 1
		}
		b := append(bytes.Clone(ip[:40]), ip[6], 0)
		b = be.AppendUint32(be.AppendUint16(b, field), id)
		b = append(b, payload[from:to]...)
		b[6] = 44
		be.PutUint16(b[4:], uint16(len(b)-40))
		out = append(out, b)
	}
	return out
}

// fragmented replaces each frame by its fragments, in the order that rearrange
// makes of them.
func fragmented(frames []frame, split func(ip []byte, i int) [][]byte, rearrange func([][]byte) [][]byte) (out []frame) {
	for i, f := range frames {
		for _, b := range rearrange(split(f.data[14:], i)) {
			out = append(out, frame{t: f.t, data: b})
		}
	}
	return out
}

var arrangements = map[string]func([][]byte) [][]byte{
	"in order":  func(b [][]byte) [][]byte { return b },
	"reversed":  func(b [][]byte) [][]byte { slices.Reverse(b); return b },
	"last, all": func(b [][]byte) [][]byte { return append(b[len(b)-1:], b[:len(b)-1]...) },
	"shuffled": func(b [][]byte) [][]byte {
		r := rand.New(rand.NewPCG(5, uint64(len(b))))
		r.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
		return b
	},
}

func TestFragments(t *testing.T) {
	plain := packets(two(t))
	m := newMade(t)
	exchange(m.w.Dial(base, addrPort("[2001:db8::a]:40000"), addrPort("[2001:db8::b]:80")))
	six := packets(m.bytes())
	ways := map[string]struct {
		frames []frame
		split  func(ip []byte, i int) [][]byte
	}{
		"IPv4":        {plain, func(ip []byte, _ int) [][]byte { return split4(ip, 24) }},
		"IPv6":        {six, func(ip []byte, i int) [][]byte { return split6(ip, uint32(i), 16) }},
		"IPv6 in few": {six, func(ip []byte, i int) [][]byte { return split6(ip, uint32(i), 1200) }},
		"GRE in fragments": {plain, func(ip []byte, i int) [][]byte {
			return split4(withID(wrap4(47, append([]byte{0, 0, 8, 0}, ip...)), i), 32)
		}},
		"VXLAN in fragments of IPv6": {plain, func(ip []byte, i int) [][]byte {
			return split6(wrap6(17, wrapUDP(4789, append([]byte{8, 0, 0, 0, 0, 0, 1, 0}, ethernetOf(ip)...))), uint32(i), 32)
		}},
		"fragments in GRE": {plain, func(ip []byte, _ int) (out [][]byte) {
			for _, b := range split4(ip, 24) {
				out = append(out, wrap4(47, append([]byte{0, 0, 8, 0}, b...)))
			}
			return out
		}},
		"fragments in fragments": {plain, func(ip []byte, i int) (out [][]byte) {
			for j, b := range split4(ip, 48) {
				out = append(out, split4(withID(wrap4(47, append([]byte{0, 0, 8, 0}, b...)), 100*i+j), 32)...)
			}
			return out
		}},
	}
	for name, way := range ways {
		for order, rearrange := range arrangements {
			frames := fragmented(way.frames, way.split, rearrange)
			r := readAll(t, classicFile(linkRaw, frames...), Options{})
			if got := strings.TrimSpace(r.String()); got != "GET /a 429 answered\nGET /b 200 answered" {
				t.Errorf("%s, %s: %s", name, order, got)
			}
			if h := r.health; h.Used != uint64(len(frames)) || h.SkippedTotal() != 0 {
				t.Errorf("%s, %s: %d packets, health %+v", name, order, len(frames), h)
			}
		}
	}
}

// numbered gives an IPv4 packet an identification.
func withID(ip []byte, id int) []byte {
	be.PutUint16(ip[4:], uint16(id))
	return ip
}

// TestFragmentsCut checks that a snapshot length that cuts fragments leaves the
// stream countable: what follows the first hole is not captured.
func TestFragmentsCut(t *testing.T) {
	m := newMade(t)
	c := m.dial()
	body := strings.Repeat("x", 1000)
	c.Send(base+1*ms, true, get("/a"))
	c.Send(base+2*ms, false, reply(429, body, "Retry-After: 1"))
	c.Send(base+3*ms, true, get("/b"))
	c.Send(base+4*ms, false, reply(200, body))
	frames := fragmented(packets(m.bytes()), func(ip []byte, _ int) [][]byte { return split4(ip, 400) }, arrangements["shuffled"])
	for i := range frames {
		if n := len(frames[i].data); n > 200 {
			frames[i].data, frames[i].cut = frames[i].data[:200], n-200
		}
	}
	r := readAll(t, classicFile(linkRaw, frames...), Options{})
	r.expect(t, "GET /a 429 answered", "GET /b 200 answered")
	if r.health.Used != r.health.Read || r.health.GapBytes < 1600 || r.health.GapBytes > 2000 {
		t.Errorf("health %+v", r.health)
	}
}

// TestFragmentsMissing checks that fragments whose packet never becomes whole are
// counted each, with the frame where their packet began.
func TestFragmentsMissing(t *testing.T) {
	plain := packets(two(t))
	get := split4(plain[3].data[14:], 24)
	n := len(get)
	in := func(at int64, parts ...[]byte) (out []frame) {
		for _, b := range parts {
			out = append(out, frame{t: at, data: b})
		}
		return out
	}
	other := func(b []byte, change func(b []byte)) []byte {
		b = bytes.Clone(b)
		change(b)
		return b
	}
	late := base + int64(10e9)
	for _, c := range []struct {
		name    string
		frames  []frame
		lost    int
		example string
	}{
		{"first", in(base, get[1:]...), n - 1, "frame 1"},
		{"last", in(base, get[:n-1]...), n - 1, "frame 1"},
		{"one between", in(base, append(slices.Clone(get[:2]), get[3:]...)...), n - 1, "frame 1"},
		{"the last one comes too late", append(in(base, get[:n-1]...), in(late, get[n-1])...), n, "frame 1"},
		{"the clock is set back", append(in(late, get[:n-1]...), in(base, get[n-1])...), n, "frame 1"},
		{"another identification", append(in(base, get[:n-1]...), in(base, other(get[n-1], func(b []byte) { b[5] ^= 1 }))...), n, "frame 1"},
		{"another source", append(in(base, get[:n-1]...), in(base, other(get[n-1], func(b []byte) { b[15] ^= 1 }))...), n, "frame 1"},
		{"overlap", append(in(base, get[:2]...), in(base, other(get[1], func(b []byte) { b[7]-- }))...), 3, "frame 1"},
		{"two ends", append(in(base, get[0], get[n-1]), in(base, other(get[1], func(b []byte) { b[6] = 0 }))...), 3, "frame 1"},
		{"beyond the end", in(base, other(get[1], func(b []byte) { b[6] = 0 }), get[2]), 2, "frame 1"},
	} {
		r := readAll(t, classicFile(linkRaw, c.frames...), Options{})
		h := r.health
		if len(h.Skipped) != 1 || h.Skipped[0].Reason != skipFragment || h.Skipped[0].Count != uint64(c.lost) || h.Read != uint64(c.lost) ||
			!slices.Contains(h.Skipped[0].Examples, c.example) {
			t.Errorf("%s: %+v, want %d fragments lost", c.name, h, c.lost)
		}
	}
	// A fragment beyond the end of a packet that was just put together is no copy.
	last := other(get[1], func(b []byte) { b[6] = 0 })
	r := readAll(t, classicFile(linkRaw, in(base, get[0], last, last, get[2])...), Options{})
	if h := r.health; h.Copies != 1 || h.SkippedTotal() != 1 || h.Skipped[0].Reason != skipFragment {
		t.Errorf("a fragment beyond the end: %+v", h)
	}
	// What cannot be a fragment: lengths that are no multiple of eight, and an end
	// beyond 64 KB (the ping of death).
	odd := other(get[0][:len(get[0])-3], func(b []byte) { b[3] -= 3 })
	far := other(get[1], func(b []byte) { b[6], b[7] = 0x1f, 0xff })
	r = readAll(t, classicFile(linkRaw, in(base, odd, far)...), Options{})
	if h := r.health; len(h.Skipped) != 1 || h.Skipped[0].Reason != skipNotIP || h.Skipped[0].Count != 2 {
		t.Errorf("impossible fragments: %+v", h)
	}
}

// TestFragmentsTwice reads a doubled capture of fragments.
func TestFragmentsTwice(t *testing.T) {
	frames := fragmented(packets(two(t)), func(ip []byte, _ int) [][]byte { return split4(ip, 24) }, func(b [][]byte) (out [][]byte) {
		for _, p := range b {
			out = append(out, p, p)
		}
		return out
	})
	r := readAll(t, classicFile(linkRaw, frames...), Options{})
	r.expect(t, "GET /a 429 answered", "GET /b 200 answered")
	if h := r.health; h.Used*2 != h.Read || h.Copies*2 != h.Read || h.SkippedTotal() != 0 {
		t.Errorf("health %+v", h)
	}
}

// TestFragmentBounds sends the beginnings of packets that never end.
func TestFragmentBounds(t *testing.T) {
	var f fragments
	lost, held := 0, 0
	for i := range 20_000 {
		f.begin(base+int64(i), uint64(i))
		_, _, _, state := f.add(fragmentKey{id: uint32(i / 2)}, fragment{from: i % 2 * 32768, more: true, b: zeros(32760), wire: 32760})
		if state == packetHeld {
			held++
		}
		lost += len(f.lost)
		f.lost = f.lost[:0]
		if len(f.waiting) > maxDatagrams {
			t.Fatalf("%d datagrams wait", len(f.waiting))
		}
	}
	f.finish()
	if lost += len(f.lost); held != 20_000 || lost != held {
		t.Errorf("%d held, %d lost, want all 20000", held, lost)
	}
	bytes := 0
	for _, d := range f.spare {
		bytes += cap(d.data)
	}
	if bytes > maxDatagrams*2*maxDatagram {
		t.Errorf("%d bytes kept", bytes)
	}
	// Tiny pieces of one packet are bounded as well.
	f = fragments{}
	for i := range maxFragments + 1 {
		f.begin(base, 1)
		_, _, _, state := f.add(fragmentKey{}, fragment{from: i * 8, more: true, b: zeros(8), wire: 8})
		if want := i < maxFragments; (state == packetHeld) != want {
			t.Errorf("piece %d: %q", i, state)
		}
	}
	if len(f.lost) != maxFragments || len(f.waiting) != 0 {
		t.Errorf("%d lost, %d wait", len(f.lost), len(f.waiting))
	}
}
