package packet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
)

// section begins a pcapng file of one byte order.
func section(order both) []byte {
	return block(order, magicNG, append(order.AppendUint32(nil, byteOrderMagic), 0, 1, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255))
}

func iface(order both, link uint32) []byte {
	return block(order, blockInterface, append(order.AppendUint16(nil, uint16(link)), 0, 0, 0, 0, 0, 0))
}

// enhanced makes an enhanced packet block with options.
func enhanced(order both, number uint32, data []byte, options ...byte) []byte {
	body := order.AppendUint32(order.AppendUint32(order.AppendUint32(nil, number), 0), 1)
	body = order.AppendUint32(order.AppendUint32(body, uint32(len(data))), uint32(len(data)))
	body = append(append(body, data...), zeros((4-len(data)%4)%4)...)
	return block(order, blockEnhanced, append(body, options...))
}

func option(order both, code uint16, n uint64) []byte {
	return order.AppendUint64(order.AppendUint16(order.AppendUint16(nil, code), 8), n)
}

// statistics makes an interface statistics block.
func statistics(order both, number uint32, options ...byte) []byte {
	return block(order, blockStatistics, append(append(order.AppendUint32(nil, number), zeros(8)...), options...))
}

// TestKernelDrops checks the accounts of losses: totals of an interface count
// once, however often they are told; losses told packet by packet add up; of two
// accounts of one interface the greater holds; interfaces and sections add up.
func TestKernelDrops(t *testing.T) {
	arp := zeros(12, 8, 6)
	for _, order := range []both{binary.LittleEndian, binary.BigEndian} {
		join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
		old := func(n uint16) []byte {
			body := order.AppendUint16(order.AppendUint16(nil, 0), n)
			return block(order, blockOldPacket, append(append(body, zeros(16)...), arp...))
		}
		for _, c := range []struct {
			name string
			b    []byte
			want uint64
		}{
			{"none", nil, 0},
			{"interface", statistics(order, 0, option(order, optIfDrop, 42)...), 42},
			{"interface and system", statistics(order, 0, append(option(order, optIfDrop, 42), option(order, optOSDrop, 8)...)...), 50},
			{"told twice", join(statistics(order, 0, option(order, optIfDrop, 40)...), statistics(order, 0, option(order, optIfDrop, 42)...)), 42},
			{"two interfaces", join(statistics(order, 0, option(order, optIfDrop, 40)...), statistics(order, 1, option(order, optIfDrop, 2)...)), 42},
			{"packet by packet", join(enhanced(order, 0, arp, option(order, optDropCount, 3)...), enhanced(order, 0, arp, option(order, optDropCount, 4)...)), 7},
			{"both accounts", join(enhanced(order, 0, arp, option(order, optDropCount, 3)...), statistics(order, 0, option(order, optIfDrop, 5)...)), 5},
			{"old blocks", join(old(3), old(4), old(math.MaxUint16)), 7},
			{"not known", statistics(order, 0, option(order, optIfDrop, math.MaxUint64)...), 0},
			{"no such interface", statistics(order, 7, option(order, optIfDrop, 1)...), 0},
			{"two sections", join(statistics(order, 0, option(order, optIfDrop, 40)...), section(order), iface(order, 1), statistics(order, 0, option(order, optIfDrop, 2)...)), 42},
			{"more than can be", join(statistics(order, 0, option(order, optIfDrop, 1<<63)...), statistics(order, 1, option(order, optIfDrop, 1<<63)...)), math.MaxUint64 - 1},
		} {
			r := readAll(t, join(section(order), iface(order, 1), iface(order, 1), c.b), Options{})
			if r.health.Dropped != c.want || r.health.Truncated {
				t.Errorf("%s, %v: %d dropped, want %d (%+v)", c.name, order, r.health.Dropped, c.want, r.health)
			}
		}
	}
}

// TestMixedLinks checks that packets of a link that is not read are counted, and
// those of the other interfaces are read.
func TestMixedLinks(t *testing.T) {
	b := append(section(little), iface(little, 105)...)
	b = append(b, iface(little, linkRaw)...)
	for _, f := range packets(two(t)) {
		b = append(b, enhanced(little, 1, f.data[14:])...)
		b = append(b, enhanced(little, 0, f.data)...)
	}
	b = append(b, enhanced(little, 2, zeros(60))...)
	r := readAll(t, b, Options{})
	r.expect(t, "GET /a 429 answered", "GET /b 200 answered")
	if h := r.health; h.Used != 10 || len(h.Skipped) != 2 || h.Skipped[0].Reason != skipLink || h.Skipped[0].Count != 10 ||
		!strings.Contains(h.Skipped[0].Examples[0], "802.11") || h.Skipped[1].Reason != skipBroken {
		t.Errorf("health %+v", h)
	}
}

// TestEnds cuts captures at every byte: at the end of a record they have ended,
// within one they were cut off. What is whole is read.
func TestEnds(t *testing.T) {
	plain := first(two(t), 4)
	for name, b := range map[string][]byte{"pcap": plain, "pcapng, little": asNG(binary.LittleEndian, plain), "pcapng, big": asNG(binary.BigEndian, plain)} {
		whole := map[int]uint64{} // packets before an end
		n, at := uint64(0), 24
		if name == "pcap" {
			whole[at] = 0
			_, recs := records(b)
			for _, r := range recs {
				at, n = at+len(r), n+1
				whole[at] = n
			}
		} else {
			order := binary.ByteOrder(binary.LittleEndian)
			if b[8] == 0x1a {
				order = binary.BigEndian
			}
			for at = 0; at < len(b); whole[at] = n {
				if order.Uint32(b[at:]) == blockEnhanced {
					n++
				}
				at += int(order.Uint32(b[at+4:]))
			}
		}
		read := uint64(0)
		for i := 24; i <= len(b); i++ {
			f, err := newFile(bytes.NewReader(b[:i]))
			if err != nil {
				t.Fatal(err)
			}
			var p frame
			n := uint64(0)
			for err = f.next(&p); err == nil; err = f.next(&p) {
				n++
			}
			want := errCut
			if ended, ok := whole[i]; ok {
				read, want = ended, io.EOF
			}
			if !errors.Is(err, want) || n != read {
				t.Fatalf("%s cut after %d of %d bytes: %d packets and %v, want %d and %v", name, i, len(b), n, err, read, want)
			}
		}
	}
}

// TestDamagedBlocks checks that lengths nobody writes end the reading with a
// reason, and that none makes the reader take memory for it.
func TestDamagedBlocks(t *testing.T) {
	le := binary.LittleEndian
	good := append(section(le), iface(le, 1)...)
	good = append(good, enhanced(le, 0, zeros(14))...)
	raw := func(v ...uint32) []byte {
		var b []byte
		for _, n := range v {
			b = le.AppendUint32(b, n)
		}
		return b
	}
	longest := enhanced(le, 0, zeros(maxRecord), zeros(3*maxRecord)...)
	for _, c := range []struct {
		name, says string
		b          []byte
		read       uint64
	}{
		{"block of 8 bytes", "claims 8 bytes", raw(blockEnhanced, 8, 0), 1},
		{"block of 33 bytes", "claims 33 bytes", raw(blockEnhanced, 33, 0), 1},
		{"block of 4 GiB", "claims 4294967292 bytes", raw(blockEnhanced, math.MaxUint32-3, 0), 1},
		{"block of 1 GiB that is not there", "", raw(blockEnhanced, 1<<30, 0), 1},
		{"unknown block of 1 GiB", "", raw(77, 1<<30, 0), 1},
		{"section without its magic", "byte-order magic", raw(magicNG, 28, 0x12345678, 1, 0, 0, 28), 1},
		{"packet longer than its block", skipBroken, block(le, blockEnhanced, raw(0, 0, 1, 5000, 5000, 1)), 2},
		{"packet longer than any", skipBroken, block(le, blockEnhanced, append(raw(0, 0, 1, maxRecord+1, maxRecord+1), zeros(maxRecord+4)...)), 2},
		{"packet cut before its lengths", skipBroken, block(le, blockEnhanced, raw(0, 0)), 2},
		{"longest packet, endless comments", skipNotIP, longest, 2},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f, err := newFile(bytes.NewReader(append(bytes.Clone(good), c.b...)))
		if err != nil {
			t.Fatal(err)
		}
		var p frame
		n := uint64(0)
		for err = f.next(&p); err == nil; err = f.next(&p) {
			n++
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 8*maxRecord {
			t.Errorf("%s: %d bytes allocated", c.name, got)
		}
		if n != c.read {
			t.Errorf("%s: %d packets, want %d", c.name, n, c.read)
		}
		var broken damageError
		if c.says != "" && !errors.As(err, &broken) && err != io.EOF || c.says == "" && err != errCut {
			t.Errorf("%s: ended by %v", c.name, err)
		}
		r := readAll(t, append(bytes.Clone(good), c.b...), Options{})
		if told := describe(r); !strings.Contains(told, c.says) {
			t.Errorf("%s: told %q, want %q", c.name, told, c.says)
		}
	}
}

func describe(r result) string {
	var b strings.Builder
	for _, k := range r.health.Skipped {
		b.WriteString(k.Reason + " " + strings.Join(k.Examples, " ") + "\n")
	}
	return b.String()
}

// TestRecordLengths checks the classic format's bound, and that no record is
// believed to be longer on the wire than can be.
func TestRecordLengths(t *testing.T) {
	head, _ := records(two(t))
	record := func(captured, wire uint32, data []byte) []byte {
		return append(little.AppendUint32(little.AppendUint32(zeros(8), captured), wire), data...)
	}
	longest := append(bytes.Clone(head), record(maxRecord, maxRecord, zeros(maxRecord))...)
	if r := readAll(t, longest, Options{}); r.health.Read != 1 || r.health.Truncated {
		t.Errorf("a packet of %d bytes: %+v", maxRecord, r.health)
	}
	tooLong := append(bytes.Clone(head), record(maxRecord+1, maxRecord+1, zeros(maxRecord+1))...)
	if r := readAll(t, tooLong, Options{}); r.health.Read != 0 || !r.health.Truncated || !strings.Contains(describe(r), "262145") {
		t.Errorf("a packet of %d bytes: %+v", maxRecord+1, r.health)
	}
	for _, c := range []struct {
		captured, wire uint32
		want           int
	}{{10, 10, 0}, {10, 12, 2}, {10, 5, 0}, {10, maxWire, maxWire - 10}, {10, maxWire + 1, 0}, {0, math.MaxUint32, 0}} {
		if got := cutOff(c.captured, c.wire); got != c.want {
			t.Errorf("%d of %d bytes captured: %d cut off, want %d", c.captured, c.wire, got, c.want)
		}
	}
}
