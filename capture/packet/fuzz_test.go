package packet

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"stormwatch/capture"
	"stormwatch/capture/packet/write"
)

// small is a capture of one exchange.
func small(f *testing.F) []byte {
	var b bytes.Buffer
	w, err := write.New(&b)
	if err != nil {
		f.Fatal(err)
	}
	c := w.Dial(base, client, server)
	c.Send(base, true, get("/"))
	c.Send(base+ms, false, reply(429, "x", "Retry-After: 1"))
	c.Close(base + 2*ms)
	if err := w.Flush(); err != nil {
		f.Fatal(err)
	}
	return b.Bytes()
}

func FuzzPcap(f *testing.F) {
	b := small(f)
	f.Add(b)
	f.Add(b[:len(b)-5])
	f.Add(asNG(binary.LittleEndian, b))
	f.Add(asNG(binary.BigEndian, b))
	f.Add(ngKinds(b))
	f.Add(old(b, 3, true))
	f.Add(variant(b, binary.BigEndian, magicModified, linkRaw, with()))
	f.Add(classicFile(linkRaw, fragmented(packets(b), func(ip []byte, _ int) [][]byte { return split4(ip, 24) }, arrangements["reversed"])...))
	f.Add(classicFile(linkEthernet, twice(packets(b), same)...))
	f.Add([]byte("\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x4d\x3c\x2b\x1a"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Open("x", bytes.NewReader(b), Options{Size: int64(len(b)), Secrets: secrets})
		if err != nil {
			return
		}
		var h *capture.Health
		err = s.Run(context.Background(), func(b *capture.Batch) error {
			if b.Health != nil {
				h = b.Health
			}
			return nil
		})
		if err != nil || h == nil {
			t.Fatalf("error %v, health %v", err, h)
		}
		if h.Used > h.Read || h.Used+h.SkippedTotal()+h.Copies < h.Read {
			t.Errorf("read %d, used %d, skipped %d, copies %d", h.Read, h.Used, h.SkippedTotal(), h.Copies)
		}
	})
}

// FuzzFrame decodes one packet of any link type. Lengths must agree with each
// other, and where gopacket sees TCP in IP on Ethernet, it must be the same TCP.
func FuzzFrame(f *testing.F) {
	_, recs := records(small(f))
	for _, r := range recs {
		f.Add(uint32(1), 0, r[16:])
	}
	ip := recs[3][30:]
	for _, c := range links {
		f.Add(c.link, 0, c.wrap(ip))
	}
	f.Add(linkRaw, 100, recs[3][30:80])
	f.Fuzz(func(t *testing.T, link uint32, cut int, b []byte) {
		p := frame{link: link, data: b, cut: cut & (maxWire - 1)}
		var d decoder
		skip := d.decode(&p, 1)
		s := &d.addressed
		if skip != "" {
			return
		}
		if s.wire < len(s.payload) || s.wire > maxWire+len(b) || len(s.payload) > len(b) {
			t.Errorf("%d bytes captured of %d, in a packet of %d", len(s.payload), s.wire, len(b))
		}
		var copied copies
		if copied.seen(s, 1) || s.id != 0 && !copied.seen(s, 2) {
			t.Errorf("the first is a copy, or the second is none: %+v", s)
		}
		if link == linkEthernet && p.cut == 0 {
			sameAsLayers(t, b, s)
		}
	})
}

func sameAsLayers(t *testing.T, b []byte, s *addressed) {
	var eth layers.Ethernet
	var tag layers.Dot1Q
	var four layers.IPv4
	var six layers.IPv6
	var tcp layers.TCP
	parser := gopacket.NewDecodingLayerParser(layers.LayerTypeEthernet, &eth, &tag, &four, &six, &tcp)
	var got []gopacket.LayerType
	if err := parser.DecodeLayers(b, &got); err != nil || len(got) < 3 || got[len(got)-1] != layers.LayerTypeTCP {
		return
	}
	ips := 0
	for _, l := range got {
		if l == layers.LayerTypeIPv4 || l == layers.LayerTypeIPv6 {
			ips++
		}
	}
	if ips > 1 { // the parser has one layer of each kind, which it overwrites
		return
	}
	other := peer{src: four.SrcIP.String(), dst: four.DstIP.String(), tcp: &tcp}
	if got[len(got)-2] == layers.LayerTypeIPv6 {
		other.src, other.dst = s.src.Addr().String(), s.dst.Addr().String() // one that holds IPv4 prints in two ways
		if !bytes.Equal(six.SrcIP, s.src.IP[:]) || !bytes.Equal(six.DstIP, s.dst.IP[:]) {
			t.Errorf("from %v to %v, gopacket %v to %v", s.src, s.dst, six.SrcIP, six.DstIP)
		}
	}
	if what := other.differ(s); what != "" {
		t.Error(what)
	}
}

// FuzzIPv6 decodes what follows an IPv6 header of any kind and length.
func FuzzIPv6(f *testing.F) {
	_, recs := records(small(f))
	tcp := recs[3][50:]
	f.Add(byte(6), 0, tcp)
	f.Add(byte(0), 0, append([]byte{6, 0, 0xc2, 4, 0, 0, 0, byte(8 + len(tcp))}, tcp...))
	f.Add(byte(60), 4000, append([]byte{6, 0, 1, 4, 0, 0, 0, 0}, tcp...))
	f.Add(byte(44), 0, append([]byte{6, 0, 0, 0, 0, 0, 0, 7}, tcp...))
	f.Add(byte(51), 0, append([]byte{6, 4, 22: 0, 23: 0}, tcp...))
	f.Add(byte(43), 9, append([]byte{44, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 1, 0, 0, 0, 7}, tcp...))
	f.Add(byte(41), 0, wrap6(6, tcp))
	f.Fuzz(func(t *testing.T, next byte, length int, payload []byte) {
		b := wrap6(next, payload)
		if length != 0 {
			be.PutUint16(b[4:], uint16(length))
		}
		var d decoder
		skip := d.decode(&frame{link: linkIPv6, data: b}, 1)
		if skip == "" && (d.wire < len(d.payload) || len(d.payload) > len(payload)) {
			t.Errorf("%d bytes captured of %d", len(d.payload), d.wire)
		}
		if skip == packetHeld != (len(d.fragments.waiting) == 1) || len(d.fragments.waiting) > 1 {
			t.Errorf("%q, yet %d datagrams wait", skip, len(d.fragments.waiting))
		}
	})
}

// FuzzFragments takes fragments of a few datagrams whose bytes tell where they
// belong. What is put together must be those bytes, in full, and every fragment
// must be accounted for once.
func FuzzFragments(f *testing.F) {
	// id, offset in units of eight, length, last (1) or captured in part (2), pause
	f.Add([]byte{0, 0, 16, 0, 0, 0, 2, 9, 1, 0})
	f.Add([]byte{0, 2, 9, 1, 0, 0, 0, 16, 0, 0})
	f.Add([]byte{1, 0, 8, 0, 0, 1, 1, 8, 2, 0, 1, 2, 5, 1, 0, 1, 0, 8, 0, 0})
	f.Add([]byte{2, 0, 24, 0, 0, 2, 1, 8, 0, 0, 2, 3, 1, 1, 0})
	f.Add([]byte{0, 0, 8, 0, 0, 1, 0, 8, 0, 200, 0, 1, 3, 1, 200, 1, 1, 3, 1, 0})
	f.Fuzz(func(t *testing.T, ops []byte) {
		truth := func(id byte, i int) byte { return byte(i*7) + id*31 + byte(i>>8) }
		var fr fragments
		now := int64(base)
		total, accounted := 0, 0
		for ; len(ops) >= 5; ops = ops[5:] {
			id, from, n := ops[0]&3, int(ops[1])*8, int(ops[2])
			now += int64(ops[4]) * 20 * ms
			p := fragment{from: from, more: ops[3]&1 == 0, next: 6, wire: n}
			for i := range n {
				p.b = append(p.b, truth(id, from+i))
			}
			if ops[3]&2 != 0 {
				p.b = p.b[:n/2]
			}
			total++
			fr.begin(now, uint64(total))
			b, wire, _, state := fr.add(fragmentKey{id: uint32(id)}, p)
			switch state {
			case "":
				accounted += 1 + fr.joined
				if len(b) > wire {
					t.Fatalf("%d bytes of %d", len(b), wire)
				}
				for i := range b {
					if b[i] != truth(id, i) {
						t.Fatalf("byte %d of %d is not its own", i, len(b))
					}
				}
			case packetHeld:
			default:
				accounted++
			}
			accounted += len(fr.lost)
			fr.lost = fr.lost[:0]
			if len(fr.waiting) > maxDatagrams {
				t.Fatalf("%d datagrams wait", len(fr.waiting))
			}
		}
		fr.finish()
		if accounted += len(fr.lost); accounted != total {
			t.Errorf("%d fragments, %d accounted for", total, accounted)
		}
	})
}
