package packet

import (
	"bytes"
	"encoding/binary"
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

var little = binary.LittleEndian

func zeros(n int, tail ...byte) []byte { return append(make([]byte, n), tail...) }

func TestFormats(t *testing.T) {
	b := two(t)
	vlan := func(b []byte) []byte {
		return append(append(bytes.Clone(b[:12]), 0x88, 0xa8, 0, 1, 0x81, 0, 0, 7), b[12:]...)
	}
	vxlan := func(b []byte) []byte {
		n := len(b)
		ip := []byte{0x45, 0, byte((n + 36) >> 8), byte(n + 36), 0, 0, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2}
		udp := []byte{0x10, 0, 0x12, 0xb5, byte((n + 16) >> 8), byte(n + 16), 0, 0, 8, 0, 0, 0, 0, 0, 1, 0}
		return append(append(append(zeros(12, 8, 0), ip...), udp...), b...)
	}
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
		{"VLAN in VLAN", variant(b, binary.LittleEndian, magicNanos, linkEthernet, vlan), 1},
		{"cooked", variant(b, binary.LittleEndian, magicNanos, linkSLL, with(zeros(14, 8, 0)...)), 1},
		{"cooked v2", variant(b, binary.LittleEndian, magicNanos, linkSLL2, with(append([]byte{8, 0}, zeros(18)...)...)), 1},
		{"null", variant(b, binary.LittleEndian, magicNanos, linkNull, with(2, 0, 0, 0)), 1},
		{"raw", variant(b, binary.LittleEndian, magicNanos, linkRaw, with()), 1},
		{"VXLAN", variant(b, binary.LittleEndian, magicNanos, linkEthernet, vxlan), 1},
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
		{port{decimal: true, power: 127}, 1, 0},
		{port{power: 127}, 1, 0},
		{port{decimal: true, power: 0}, 1 << 63, 0},
	} {
		if got := c.port.time(c.count); got != c.want {
			t.Errorf("%+v count %d: %d, want %d", c.port, c.count, got, c.want)
		}
	}
}

func TestKernelDrops(t *testing.T) {
	le := binary.LittleEndian
	body := le.AppendUint16(zeros(12), optIfDrop)
	body = le.AppendUint16(body, 8)
	body = le.AppendUint64(body, 42)
	if r := readAll(t, append(asNG(le, two(t)), block(le, blockStatistics, body)...), Options{}); r.health.Dropped != 42 {
		t.Errorf("dropped %d, want 42", r.health.Dropped)
	}
}
