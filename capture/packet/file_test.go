package packet

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

// variant writes a capture again with another magic number, byte order and link.
func variant(b []byte, order binary.ByteOrder, magic uint32, link uint32, convert func([]byte) []byte) []byte {
	_, recs := records(b)
	out := make([]byte, 24)
	order.PutUint32(out, magic)
	order.PutUint16(out[4:], 2)
	order.PutUint16(out[6:], 4)
	order.PutUint32(out[20:], link)
	for _, r := range recs {
		data := convert(r[16:])
		h := make([]byte, 16)
		order.PutUint32(h, binary.LittleEndian.Uint32(r))
		fraction := binary.LittleEndian.Uint32(r[4:])
		if magic != magicNanos {
			fraction /= 1000
		}
		order.PutUint32(h[4:], fraction)
		order.PutUint32(h[8:], uint32(len(data)))
		order.PutUint32(h[12:], uint32(len(data)))
		if magic == magicModified {
			h = append(h, make([]byte, 8)...)
		}
		out = append(append(out, h...), data...)
	}
	return out
}

// both is a byte order that reads, writes and appends.
type both interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// block makes a pcapng block.
func block(order both, kind uint32, body []byte) []byte {
	body = append(bytes.Clone(body), make([]byte, (4-len(body)%4)%4)...)
	n := uint32(12 + len(body))
	return order.AppendUint32(append(order.AppendUint32(order.AppendUint32(nil, kind), n), body...), n)
}

// asNG converts a capture to pcapng (draft-ietf-opsawg-pcapng): a section, an
// unknown block, an interface whose clock counts nanoseconds, packets.
func asNG(order both, b []byte) []byte {
	out := block(order, magicNG, append(order.AppendUint32(nil, byteOrderMagic), 0, 1, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255))
	out = append(out, block(order, 0xbad, []byte("unknown"))...)
	iface := order.AppendUint16(nil, uint16(linkEthernet))
	iface = append(iface, 0, 0, 0, 0, 0, 0)
	iface = order.AppendUint16(order.AppendUint16(iface, optResolution), 1)
	out = append(out, block(order, blockInterface, append(iface, 9, 0, 0, 0))...)
	_, recs := records(b)
	for _, r := range recs {
		t := uint64(binary.LittleEndian.Uint32(r))*1e9 + uint64(binary.LittleEndian.Uint32(r[4:]))
		body := order.AppendUint32(nil, 0)
		body = order.AppendUint32(order.AppendUint32(body, uint32(t>>32)), uint32(t))
		body = order.AppendUint32(order.AppendUint32(body, uint32(len(r)-16)), uint32(len(r)-16))
		out = append(out, block(order, blockEnhanced, append(body, r[16:]...))...)
	}
	return out
}

func same(b []byte) []byte { return b }

// with replaces the Ethernet header.
func with(head ...byte) func([]byte) []byte {
	return func(b []byte) []byte { return append(bytes.Clone(head), b[14:]...) }
}

func zeros(n int, tail ...byte) []byte { return append(make([]byte, n), tail...) }

func TestFormats(t *testing.T) {
	b := two(t)
	for _, c := range []struct {
		name string
		file []byte
		unit int64
	}{
		{"nanoseconds, little", b, 1},
		{"nanoseconds, big", variant(b, binary.BigEndian, magicNanos, 1, same), 1},
		{"microseconds, little", variant(b, binary.LittleEndian, magicMicros, 1, same), 1000},
		{"microseconds, big", variant(b, binary.BigEndian, magicMicros, 1, same), 1000},
		{"modified", variant(b, binary.LittleEndian, magicModified, 1, same), 1000},
		{"frame check sequence noted", variant(b, binary.LittleEndian, magicMicros, 0x24000001, same), 1000},
		{"pcapng, little", asNG(binary.LittleEndian, b), 1},
		{"pcapng, big", asNG(binary.BigEndian, b), 1},
		{"modified, big", variant(b, binary.BigEndian, magicModified, 1, same), 1000},
		{"version 2.3", old(b, 3, false), 1},
		{"version 2.3, lengths in the other order", old(b, 3, true), 1},
		{"version 2.2", old(b, 2, true), 1},
		{"snapshot length that lies", lying(b), 1},
		{"pcapng, packets of all kinds", ngKinds(b), 1},
		{"pcapng, sections in both byte orders", append(asNG(binary.LittleEndian, first(b, 5)), asNG(binary.BigEndian, rest(b, 5))...), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := readAll(t, c.file, Options{})
			r.expect(t, "GET /a 429 answered", "GET /b 200 answered")
			if want := (base + 1*ms) / c.unit * c.unit; len(r.all) > 0 && r.all[0].Start != want {
				t.Errorf("starts at %d, want %d", r.all[0].Start, want)
			}
			if r.health.Resolution != c.unit {
				t.Errorf("resolution %d ns, want %d", r.health.Resolution, c.unit)
			}
		})
	}
}

// TestNGTimes checks clocks of interfaces (if_tsresol, if_tsoffset of the pcapng
// draft, section 4.2) by hand.
func TestNGTimes(t *testing.T) {
	for _, c := range []struct {
		port  port
		count uint64
		want  int64
	}{
		{port{decimal: true, power: 6}, 1_700_000_000_123_456, 1_700_000_000_123_456_000},
		{port{decimal: true, power: 9}, 1_700_000_000_123_456_789, 1_700_000_000_123_456_789},
		{port{decimal: true, power: 12}, 5_000, 5},
		{port{decimal: true, power: 0}, 7, 7e9},
		{port{power: 10}, 3 << 9, 1_500_000_000},
		{port{power: 0}, 7, 7e9},
		{port{decimal: true, power: 3, offset: 10}, 1, 10_001_000_000},
		{port{decimal: true, power: 3, offset: -10}, 20_001, 10_001_000_000},
		{port{decimal: true, power: 20}, 18_000_000_000_000_000_000, 180_000_000}, // above 10^19, which 64 bits do not hold
		{port{decimal: true, power: 28}, 18_000_000_000_000_000_000, 1},
		{port{power: 64}, 1 << 63, 500_000_000},
		{port{power: 65}, 1 << 63, 250_000_000},
		{port{decimal: true, power: 6, offset: 1 << 62}, 1, 0}, // no such time
		{port{decimal: true, power: 6, offset: -1 << 62}, 1, 0},
		{port{decimal: true, power: 127}, 1, 0},
		{port{power: 127}, 1, 0},
		{port{decimal: true, power: 0}, 1 << 63, 0},
	} {
		if got := c.port.time(c.count); got != c.want {
			t.Errorf("%+v count %d: %d, want %d", c.port, c.count, got, c.want)
		}
	}
}

// old makes a file of version 2.minor; before 2.3 the length on the wire stood
// first. Every packet is one byte longer on the wire than captured.
func old(b []byte, minor byte, swapped bool) []byte {
	head, recs := records(b)
	out := bytes.Clone(head)
	out[6] = minor
	for _, r := range recs {
		r = bytes.Clone(r)
		n := little.Uint32(r[8:])
		captured, wire := n, n+1
		if swapped {
			captured, wire = wire, captured
		}
		little.PutUint32(r[8:], captured)
		little.PutUint32(r[12:], wire)
		out = append(out, r...)
	}
	return out
}

// lying makes a file whose snapshot length is less than what was captured.
func lying(b []byte) []byte {
	b = bytes.Clone(b)
	little.PutUint32(b[16:], 40)
	return b
}

func first(b []byte, n int) []byte {
	head, recs := records(b)
	return append(bytes.Clone(head), bytes.Join(recs[:n], nil)...)
}

func rest(b []byte, n int) []byte {
	head, recs := records(b)
	return append(bytes.Clone(head), bytes.Join(recs[n:], nil)...)
}

// ngKinds writes packets in turn as enhanced, old and simple blocks of interfaces
// with different links and clocks; all but the first have comments. A simple
// block has no time: it takes that of the packet before.
func ngKinds(b []byte) []byte {
	out := block(little, magicNG, append(little.AppendUint32(nil, byteOrderMagic), 0, 1, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255))
	iface := func(link uint32, resolution byte, offset uint64) {
		body := append(little.AppendUint16(nil, uint16(link)), 0, 0, 0, 0, 0, 0)
		body = append(body, optResolution, 0, 1, 0, resolution, 0, 0, 0)
		body = little.AppendUint64(append(body, optOffset, 0, 8, 0), offset)
		out = append(out, block(little, blockInterface, append(body, 0, 0, 0, 0))...)
	}
	iface(linkEthernet, 9, 0)
	begun := uint64(base) / 1e9
	iface(linkSLL2, 9, begun)  // counts from the test's begin on
	iface(linkRaw, 0x80|30, 0) // 2^-30 s is below a nanosecond
	_, recs := records(b)
	for i, r := range recs {
		t := uint64(little.Uint32(r))*1e9 + uint64(little.Uint32(r[4:]))
		data := r[16:]
		var body []byte
		kind := uint32(blockEnhanced)
		switch i % 4 {
		case 0:
			body = little.AppendUint32(nil, 0)
		case 1:
			kind, t = blockOldPacket, t-begun*1e9
			body = append(little.AppendUint16(nil, 1), 255, 255)
			data = append(append([]byte{8, 0}, zeros(18)...), data[14:]...)
		case 3:
			body = little.AppendUint32(nil, 2)
			t = (t/1e9)<<30 | ((t%1e9)<<30+1e9-1)/1e9
			data = data[14:]
		case 2:
			body = append(little.AppendUint32(nil, uint32(len(data))), data...)
			out = append(out, block(little, blockSimple, body)...)
			continue
		}
		body = little.AppendUint32(little.AppendUint32(body, uint32(t>>32)), uint32(t))
		body = little.AppendUint32(little.AppendUint32(body, uint32(len(data))), uint32(len(data)))
		body = append(body, data...)
		if i > 0 {
			body = append(append(body, zeros((4-len(body)%4)%4)...), 1, 0, 3, 0, 'h', 'e', 'y', 0, 0, 0, 0, 0)
		}
		out = append(out, block(little, kind, body)...)
	}
	return out
}

// TestCapturesInARow reads captures that were put one behind another, of any two
// formats, from first to last; what is no further capture is told.
func TestCapturesInARow(t *testing.T) {
	one := two(t)
	later := func(b []byte, order binary.ByteOrder) []byte { // an hour later
		head, recs := records(b)
		out := bytes.Clone(head)
		for _, r := range recs {
			r = bytes.Clone(r)
			order.PutUint32(r, order.Uint32(r)+3600)
			out = append(out, r...)
		}
		return out
	}
	ng := slices.Concat(section(little), iface(little, linkEthernet))
	for _, f := range packets(later(one, little)) {
		ng = append(ng, block(little, blockEnhanced, slices.Concat(
			little.AppendUint32(nil, 0), little.AppendUint32(nil, uint32(f.t/1000>>32)), little.AppendUint32(nil, uint32(f.t/1000)),
			little.AppendUint32(nil, uint32(len(f.data))), little.AppendUint32(nil, uint32(len(f.data))), f.data))...)
	}
	want := []string{"GET /a 429 answered", "GET /b 200 answered"}
	for name, test := range map[string]struct {
		in   []byte
		runs int
	}{
		"classic twice":          {slices.Concat(one, later(one, little)), 2},
		"three times":            {slices.Concat(one, later(one, little), later(later(one, little), little)), 3},
		"classic, then pcapng":   {slices.Concat(one, ng), 2},
		"pcapng, then classic":   {slices.Concat(ng, later(later(one, little), little)), 2},
		"one without a packet":   {slices.Concat(one, one[:24], later(one, little)), 2},
		"the later one at first": {slices.Concat(later(one, little), one), 2},
	} {
		r := readAll(t, test.in, Options{})
		var all []string
		for range test.runs {
			all = append(all, want...)
		}
		t.Run(name, func(t *testing.T) { r.expect(t, all...) })
		if len(r.health.Notes) != 1 || r.health.Truncated || r.health.SkippedTotal() != 0 {
			t.Errorf("%s: %q, truncated %v, skipped %v", name, r.health.Notes, r.health.Truncated, r.health.Skipped)
		}
	}
	broken := slices.Concat(one, one[:20], []byte{147, 0, 0, 0}) // USB traffic follows
	s, err := Open("test.pcap", bytes.NewReader(broken), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var r result
	if err = s.Run(context.Background(), collect(&r)); err == nil || !strings.Contains(err.Error(), "further capture") {
		t.Errorf("%v", err)
	}
}

// TestBehindDamage tells how much of a capture lies behind a record that no program
// writes, from where on nothing can be found.
func TestBehindDamage(t *testing.T) {
	b := two(t)
	r := readAll(t, slices.Concat(b, bytes.Repeat([]byte{0xff}, len(b)*3)), Options{})
	if h := r.health; len(r.all) != 2 || !h.Truncated || h.Unread < .749 || h.Unread > .751 {
		t.Errorf("%d exchanges, truncated %v, unread %.3f; want 2, and three quarters", len(r.all), h.Truncated, h.Unread)
	}
	if r := readAll(t, b[:len(b)-5], Options{}); r.health.Unread != 0 {
		t.Errorf("an end inside a record: unread %.3f", r.health.Unread)
	}
}
