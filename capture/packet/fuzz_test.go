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

// FuzzFrame compares the decoder with gopacket's on Ethernet frames: where both
// see TCP directly in IP, they must see the same.
func FuzzFrame(f *testing.F) {
	_, recs := records(small(f))
	for _, r := range recs {
		f.Add(uint32(1), r[16:])
		f.Add(uint32(linkRaw), r[30:])
	}
	f.Fuzz(func(t *testing.T, link uint32, b []byte) {
		var s decoder
		skip := s.decode(&frame{link: link, data: b}, 1)
		if skip == "" && (s.wire < 0 || len(s.payload) > s.wire) {
			t.Errorf("%d bytes captured of %d", len(s.payload), s.wire)
		}
		if link != linkEthernet || skip != "" || len(b) < 34 {
			return
		}
		var eth layers.Ethernet
		var ip layers.IPv4
		var tcp layers.TCP
		parser := gopacket.NewDecodingLayerParser(layers.LayerTypeEthernet, &eth, &ip, &tcp)
		var got []gopacket.LayerType
		if err := parser.DecodeLayers(b, &got); err != nil || len(got) < 3 || got[2] != layers.LayerTypeTCP {
			return
		}
		if int(tcp.SrcPort) != int(s.src.Port) || int(tcp.DstPort) != int(s.dst.Port) || tcp.Seq != s.seq || tcp.Ack != s.ack {
			t.Errorf("%v %v %d %d, gopacket %v %v %d %d", s.src, s.dst, s.seq, s.ack, tcp.SrcPort, tcp.DstPort, tcp.Seq, tcp.Ack)
		}
		if !bytes.Equal(tcp.Payload, s.payload) {
			t.Errorf("payload %x, gopacket %x", s.payload, tcp.Payload)
		}
	})
}
