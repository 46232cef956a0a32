package write

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var (
	client4 = netip.MustParseAddrPort("10.0.0.1:40000")
	server4 = netip.MustParseAddrPort("10.0.0.9:80")
	client6 = netip.MustParseAddrPort("[2001:db8::1]:40000")
	server6 = netip.MustParseAddrPort("[2001:db8::9]:80")
)

const start = 1_700_000_000_000_000_001

// talk makes connections that end in all ways, the later one first.
func talk(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := New(&b)
	if err != nil {
		t.Fatal(err)
	}
	late := w.Dial(start+50, client6, server6)
	late.Send(start+60, true, []byte("GET / HTTP/1.1\r\n\r\n"))
	late.Abort(start+70, false)
	c := w.Dial(start, client4, server4)
	c.Send(start+10, true, []byte("GET / HTTP/1.1\r\n\r\n"))
	c.Send(start+20, false, append([]byte("HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n"), make([]byte, 3000)...))
	c.Close(start + 55)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type packet struct {
	t    int64
	data []byte
}

func packets(b []byte) (ps []packet) {
	for b = b[24:]; len(b) > 0; {
		le := binary.LittleEndian
		n := int(le.Uint32(b[8:]))
		ps = append(ps, packet{int64(le.Uint32(b))*1e9 + int64(le.Uint32(b[4:])), b[16 : 16+n]})
		b = b[16+n:]
	}
	return ps
}

func TestOrderAndSums(t *testing.T) {
	b := talk(t)
	if magic := binary.LittleEndian.Uint32(b); magic != 0xa1b23c4d {
		t.Errorf("magic number %x", magic)
	}
	ps := packets(b)
	if len(ps) != 3+1+3+3+3+1+1 {
		t.Errorf("%d packets", len(ps))
	}
	for i, p := range ps {
		if i > 0 && p.t < ps[i-1].t {
			t.Errorf("packet %d is before the one in front of it", i)
		}
		ip := p.data[14:]
		if ip[0]>>4 == 4 {
			if sum := checksum(0, ip[:20]); sum != 0 {
				t.Errorf("packet %d: IP checksum is off by %x", i, sum)
			}
		}
	}
}

// TestSequence follows the numbers of the IPv4 connection by hand.
func TestSequence(t *testing.T) {
	var next [2]uint32
	var known [2]bool
	for i, p := range packets(talk(t)) {
		if p.data[14]>>4 != 4 {
			continue
		}
		tcp := p.data[34:]
		d := 0
		if binary.BigEndian.Uint16(tcp) == 80 {
			d = 1
		}
		seq, acked, flags := binary.BigEndian.Uint32(tcp[4:]), binary.BigEndian.Uint32(tcp[8:]), tcp[13]
		payload := len(tcp) - int(tcp[12]>>4)*4
		if known[d] && seq != next[d] {
			t.Errorf("packet %d: sequence number %d, want %d", i, seq, next[d])
		}
		if flags&ack != 0 && acked != next[1-d] {
			t.Errorf("packet %d: acknowledges %d, want %d", i, acked, next[1-d])
		}
		if payload > MSS {
			t.Errorf("packet %d: %d bytes", i, payload)
		}
		next[d], known[d] = seq+uint32(payload), true
		if flags&(syn|fin) != 0 {
			next[d]++
		}
	}
}

// A packet sent again has the bytes and numbers of the first one, and moves nothing.
func TestResend(t *testing.T) {
	for _, ends := range [][2]netip.AddrPort{{client4, server4}, {client6, server6}} {
		var b bytes.Buffer
		w, err := New(&b)
		if err != nil {
			t.Fatal(err)
		}
		c := w.Dial(start, ends[0], ends[1])
		c.Send(start+10, true, append([]byte("POST / HTTP/1.1\r\nContent-Length: 2000\r\n\r\n"), make([]byte, 2000)...))
		c.Resend(start+20, true)
		c.Send(start+30, false, []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
		c.Send(start+40, true, []byte("GET / HTTP/1.1\r\n\r\n"))
		c.Abort(start+50, false)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		ps := packets(b.Bytes())
		if len(ps) != 3+2+2+1+1+1 {
			t.Fatalf("%d packets", len(ps))
		}
		tcp := func(i int) []byte {
			ip := ps[i].data[14:]
			if ip[0]>>4 == 6 {
				return ip[40:]
			}
			return ip[20:]
		}
		for i := 3; i < 5; i++ {
			if !bytes.Equal(tcp(i), tcp(i+2)) {
				t.Errorf("segment %d differs when it is sent again", i-2)
			}
		}
		next := binary.BigEndian.Uint32(tcp(6)[4:]) + uint32(len(tcp(6))-20)
		if got := binary.BigEndian.Uint32(tcp(8)[4:]); got != next {
			t.Errorf("the next request begins at %d, want %d", got, next)
		}
		if flags := tcp(9)[13]; flags != rst|ack || binary.BigEndian.Uint16(tcp(9)) != 80 {
			t.Errorf("the last packet has flags %x from port %d", flags, binary.BigEndian.Uint16(tcp(9)))
		}
	}
}

func TestEqualCallsGiveEqualBytes(t *testing.T) {
	if !bytes.Equal(talk(t), talk(t)) {
		t.Error("two captures of the same calls differ")
	}
}

func TestMistakes(t *testing.T) {
	for want, do := range map[string]func(w *Writer){
		"one family": func(w *Writer) { w.Dial(start, client4, server6) },
		"already closed": func(w *Writer) {
			c := w.Dial(start, client4, server4)
			c.Close(start)
			c.Send(start, true, []byte("x"))
		},
		"1970 to 2106": func(w *Writer) { w.Dial(-1, client4, server4) },
	} {
		w, err := New(&bytes.Buffer{})
		if err != nil {
			t.Fatal(err)
		}
		do(w)
		if err := w.Flush(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
	if _, err := New(full{}); !errors.Is(err, errFull) {
		t.Errorf("error %v, want the writer's", err)
	}
}

type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

// TestTshark has tshark check sums, sequence numbers and the HTTP inside.
func TestTshark(t *testing.T) {
	if os.Getenv("STORMWATCH_E2E") != "1" {
		t.Skip("needs tshark: set STORMWATCH_E2E=1")
	}
	path := filepath.Join(t.TempDir(), "x.pcap")
	if err := os.WriteFile(path, talk(t), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(filter string) string {
		out, err := exec.Command("tshark", "-n", "-r", path, "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-Y", filter).Output()
		if err != nil {
			t.Fatalf("tshark: %v", err)
		}
		return strings.TrimSpace(string(out))
	}
	if bad := run("tcp.checksum.status == \"Bad\" or ip.checksum.status == \"Bad\" or tcp.analysis.flags or _ws.malformed"); bad != "" {
		t.Errorf("tshark complains:\n%s", bad)
	}
	if n := len(strings.Split(run("http"), "\n")); n != 3 {
		t.Errorf("tshark sees %d HTTP messages, want 3", n)
	}
}
