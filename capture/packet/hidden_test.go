package packet

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestRejectedConnections counts attempts to connect that are answered by a reset,
// each once however often the client repeats its SYN; a connection that is reset
// later, and a reset that answers another one, are none.
func TestRejectedConnections(t *testing.T) {
	p := newTap(t)
	for port := 1; port <= 5; port++ {
		p.from(port, 100, 0, flagSYN, "")
		p.from(-port, 0, 101, flagRST|flagACK, "")
		p.from(port, 100, 0, flagSYN, "") // Windows asks again
		p.from(-port, 0, 101, flagRST|flagACK, "")
	}
	p.from(6, 100, 0, flagSYN, "")
	p.from(-6, 0, 7_000_000, flagRST|flagACK, "") // acknowledges what was not sent
	p.from(7, 100, 0, flagSYN, "")
	p.from(-7, 500, 101, flagSYN|flagACK, "")
	p.from(7, 101, 501, ackPush, "GET /a HTTP/1.1\r\n\r\n")
	p.from(-7, 501, 120, flagRST|flagACK, "")
	p.from(8, 100, 0, flagSYN, "")
	p.from(8, 101, 0, flagRST, "") // the client itself gives up
	r := p.end()
	r.expect(t, "GET /a 0 reset")
	if p.out.health.Rejected != 5 {
		t.Errorf("%d attempts rejected, want 5", p.out.health.Rejected)
	}
}

// TestQUICIsCounted tells HTTP/3 from other datagrams: by the port of HTTPS and the
// fixed bit, or by the long header of a known version.
func TestQUICIsCounted(t *testing.T) {
	long := append([]byte{0xc3, 0, 0, 0, 1, 8}, zeros(30)...)
	second := append([]byte{0xd3, 0x6b, 0x33, 0x43, 0xcf, 8}, zeros(30)...)
	short := append([]byte{0x41}, zeros(30)...)
	for _, test := range []struct {
		name string
		port uint16
		text []byte
		want uint64
	}{
		{"port 443, long header", 443, long, 1},
		{"port 443, short header", 443, short, 1},
		{"port 8443, version 1", 8443, long, 1},
		{"port 8443, version 2", 8443, second, 1},
		{"port 8443, short header", 8443, short, 0},
		{"port 443, DTLS", 443, append([]byte{0x16, 0xfe, 0xfd}, zeros(30)...), 0},
		{"port 443, nothing", 443, nil, 0},
		{"DNS", 53, append([]byte{0x12, 0x34, 1, 0, 0, 1}, zeros(20)...), 0},
	} {
		r := readAll(t, classicFile(linkRaw, frame{t: base, data: wrap4(protoUDP, wrapUDP(test.port, test.text))}), Options{})
		if r.health.QUIC != test.want || r.health.SkippedTotal() != 1 {
			t.Errorf("%s: %d packets of QUIC, want %d; %v", test.name, r.health.QUIC, test.want, r.health.Skipped)
		}
	}
}

// TestCutConnections cuts packets so short that no message can be read: each such
// connection is counted; one of which something could be read is not, though most
// of it is missing.
func TestCutConnections(t *testing.T) {
	m := newMade(t)
	for i := range 4 {
		c := m.w.Dial(base, addrPort(fmt.Sprintf("10.0.0.1:%d", 1000+i)), server)
		c.Send(base+ms, true, get("/"+strings.Repeat("x", 100)))
		c.Send(base+2*ms, false, reply(200, strings.Repeat("y", 3000)))
		c.Close(base + 3*ms)
	}
	whole := bytes.Clone(m.bytes())
	const headers = 14 + 20 + 20
	for _, test := range []struct {
		snaplen int
		want    uint64
	}{{headers, 4}, {headers + 3, 4}, {headers + 60, 0}, {1 << 16, 0}} {
		head, recs := records(bytes.Clone(whole))
		cut := bytes.Clone(head)
		for _, r := range recs {
			n := min(len(r)-16, test.snaplen)
			little.PutUint32(r[8:], uint32(n))
			cut = append(cut, r[:16+n]...)
		}
		if r := readAll(t, cut, Options{}); r.health.Cut != test.want {
			t.Errorf("snapshot length %d: %d connections cut, want %d; %v", test.snaplen, r.health.Cut, test.want, r)
		}
	}
}
