package packet

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// peer is what gopacket's layers make of a packet: its last TCP layer and the IP
// layer around it.
type peer struct {
	src, dst string
	tcp      *layers.TCP
	failed   bool
}

var peerLinks = map[uint32]gopacket.Decoder{
	linkEthernet: layers.LayerTypeEthernet, linkSLL: layers.LayerTypeLinuxSLL, linkNull: layers.LayerTypeLoopback,
	linkLoop: layers.LayerTypeLoopback, linkPPP: layers.LayerTypePPP, linkIPv4: layers.LayerTypeIPv4, linkIPv6: layers.LayerTypeIPv6,
}

func peerOf(link uint32, b []byte) (p peer) {
	defer func() {
		if recover() != nil { // some of its layers panic on what is damaged
			p.failed = true
		}
	}()
	first := peerLinks[link]
	if first == nil && len(b) > 0 {
		first = layers.LayerTypeIPv4
		if b[0]>>4 == 6 {
			first = layers.LayerTypeIPv6
		}
	}
	decoded := gopacket.NewPacket(b, first, gopacket.DecodeOptions{NoCopy: true})
	var src, dst string
	for _, l := range decoded.Layers() {
		switch l := l.(type) {
		case *layers.IPv4:
			src, dst = l.SrcIP.String(), l.DstIP.String()
		case *layers.IPv6:
			src, dst = l.SrcIP.String(), l.DstIP.String()
		case *layers.TCP:
			p = peer{src: src, dst: dst, tcp: l}
		}
	}
	p.failed = decoded.ErrorLayer() != nil
	return p
}

// differ compares one decoded packet with gopacket's; "" is no difference.
func (p peer) differ(s *addressed) string {
	t := p.tcp
	switch {
	case s.src.Addr().String() != p.src || s.dst.Addr().String() != p.dst:
		return fmt.Sprintf("from %v to %v, gopacket %s to %s", s.src, s.dst, p.src, p.dst)
	case s.src.Port != uint16(t.SrcPort) || s.dst.Port != uint16(t.DstPort) || s.seq != t.Seq || s.ack != t.Ack || s.sum != t.Checksum:
		return fmt.Sprintf("%v to %v, numbers %d %d, checksum %x; gopacket %v to %v, %d %d, %x", s.src, s.dst, s.seq, s.ack, s.sum, t.SrcPort, t.DstPort, t.Seq, t.Ack, t.Checksum)
	case t.FIN != (s.flags&flagFIN != 0) || t.SYN != (s.flags&flagSYN != 0) || t.RST != (s.flags&flagRST != 0) || t.ACK != (s.flags&flagACK != 0):
		return fmt.Sprintf("flags %x", s.flags)
	case !bytes.Equal(s.payload, t.Payload):
		return fmt.Sprintf("%d bytes of payload, gopacket %d", len(s.payload), len(t.Payload))
	}
	return ""
}

// compareFile reads a capture with both decoders. It returns how many packets
// were TCP for both, for this one only, and for gopacket only.
func compareFile(t *testing.T, path string, r io.Reader) (both, ours, theirs int) {
	f, err := newFile(r)
	if err != nil {
		return 0, 0, 0
	}
	var d decoder
	var p frame
	for n := uint64(1); f.next(&p) == nil; n++ {
		skip := d.decode(&p, n)
		if skip == packetHeld || skip == packetCopy || d.fragments.joined > 0 || skip == skipLink {
			continue // gopacket puts no fragments together
		}
		other := peerOf(p.link, p.data)
		switch {
		case skip == "" && other.tcp != nil && !other.failed:
			both++
			if what := other.differ(&d.addressed); what != "" {
				t.Errorf("%s, frame %d: %s", path, n, what)
			}
		case skip == "":
			ours++
		case other.tcp != nil && !other.failed:
			theirs++
			t.Errorf("%s, frame %d: gopacket sees TCP from %s to %s; passed over: %s", path, n, other.src, other.dst, skip)
		}
	}
	return both, ours, theirs
}

// TestDiffer compares the decoder with gopacket's layers, packet by packet, over
// the project's captures and, where there is one, the corpus: what is TCP for
// gopacket is the same TCP here.
func TestDiffer(t *testing.T) {
	own, err := filepath.Glob("../../testdata/pcaps/*/traffic.pcap")
	if err != nil || len(own) == 0 {
		t.Fatalf("no captures in testdata/pcaps (%v)", err)
	}
	var total [3]int
	look := func(path string) {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var in io.Reader = bufio.NewReader(f)
		if head, _ := in.(*bufio.Reader).Peek(2); string(head) == "\x1f\x8b" {
			if in, err = gzip.NewReader(in); err != nil {
				return
			}
		}
		both, ours, theirs := compareFile(t, path, in)
		if strings.HasPrefix(path, "../../testdata") && (both == 0 || ours > 0) {
			t.Errorf("%s: %d packets are the same TCP, %d are for one decoder only", path, both, ours)
		}
		total[0] += both
		total[1] += ours
		total[2] += theirs
	}
	for _, path := range own {
		look(path)
	}
	if dir := os.Getenv("STORMWATCH_CORPUS"); dir != "" {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && !strings.HasSuffix(path, ".tsv") {
				look(path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("TCP for both decoders %d, for this one only %d, for gopacket only %d", total[0], total[1], total[2])
}
