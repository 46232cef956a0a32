package packet

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"stormwatch/capture"
	"stormwatch/capture/packet/write"
)

// base is the time of every test's first packet.
const base = 1_700_000_000_123_456_789

const ms = 1_000_000

var (
	client = netip.MustParseAddrPort("10.0.0.1:40000")
	server = netip.MustParseAddrPort("10.0.0.9:80")
)

// made is a capture under construction.
type made struct {
	t   testing.TB
	buf bytes.Buffer
	w   *write.Writer
}

func newMade(t testing.TB) *made {
	m := &made{t: t}
	w, err := write.New(&m.buf)
	if err != nil {
		t.Fatal(err)
	}
	m.w = w
	return m
}

func (m *made) dial() *write.Conn { return m.w.Dial(base, client, server) }

func (m *made) bytes() []byte {
	if err := m.w.Flush(); err != nil {
		m.t.Fatal(err)
	}
	return m.buf.Bytes()
}

// records cuts a capture into its header and its records.
func records(b []byte) (head []byte, recs [][]byte) {
	head, b = b[:24], b[24:]
	for len(b) > 0 {
		n := 16 + int(uint32(b[8])|uint32(b[9])<<8|uint32(b[10])<<16|uint32(b[11])<<24)
		recs, b = append(recs, b[:n]), b[n:]
	}
	return head, recs
}

// without leaves records out.
func without(b []byte, drop ...int) []byte {
	head, recs := records(b)
	out := bytes.Clone(head)
	for i, r := range recs {
		gone := false
		for _, d := range drop {
			gone = gone || i == d
		}
		if !gone {
			out = append(out, r...)
		}
	}
	return out
}

// ordered puts records in another order.
func ordered(b []byte, order ...int) []byte {
	head, recs := records(b)
	out := bytes.Clone(head)
	for _, i := range order {
		out = append(out, recs[i]...)
	}
	return out
}

// seen is one exchange with its texts.
type seen struct {
	capture.Exchange
	method, target, host, agent, raw string
}

// String gives what most tests compare.
func (s seen) String() string {
	return fmt.Sprintf("%s %s %d %v", s.method, s.target, s.Status, s.Outcome)
}

// result is all that a source said.
type result struct {
	all    []seen
	health capture.Health
	marks  []int64
}

func (r result) String() string {
	var b strings.Builder
	for _, x := range r.all {
		fmt.Fprintln(&b, x)
	}
	return b.String()
}

func collect(r *result) capture.Sink {
	return func(b *capture.Batch) error {
		for _, x := range b.Exchanges {
			r.all = append(r.all, seen{
				x, b.Names.Text(x.Method), string(b.Bytes(x.Target)), b.Names.Text(x.Host), b.Names.Text(x.Agent), b.Names.Text(x.Hint.Raw),
			})
		}
		if b.Health != nil {
			r.health = *b.Health
		}
		r.marks = append(r.marks, b.Watermark)
		return nil
	}
}

func readAll(t *testing.T, b []byte, opt Options) result {
	t.Helper()
	s, err := Open("test.pcap", bytes.NewReader(b), opt)
	if err != nil {
		t.Fatal(err)
	}
	var r result
	if err := s.Run(context.Background(), collect(&r)); err != nil {
		t.Fatal(err)
	}
	return r
}

// expect compares the exchanges with lines of "METHOD target status outcome".
func (r result) expect(t *testing.T, want ...string) {
	t.Helper()
	if got := strings.TrimSuffix(r.String(), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("exchanges:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}

func get(path string) []byte {
	return []byte("GET " + path + " HTTP/1.1\r\nHost: api.example\r\nUser-Agent: probe/1\r\n\r\n")
}

func reply(status int, body string, fields ...string) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 %d X\r\nContent-Length: %d\r\n%s\r\n%s", status, len(body), strings.Join(append(fields, ""), "\r\n"), body)
}

func endpointOf(a netip.AddrPort) capture.Endpoint {
	return capture.Endpoint{IP: a.Addr().As16(), Port: a.Port()}
}
