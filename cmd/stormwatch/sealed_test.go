package main

import (
	"bytes"
	"net/netip"
	"os"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"stormwatch/capture/packet/write"
)

// sealed FILE N M writes a capture of N connections that carry TLS, over ten
// seconds, and of M requests in clear text that are answered with 200.
func sealed(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	m, err := strconv.Atoi(args[2])
	ts.Check(err)
	var b bytes.Buffer
	w, err := write.New(&b)
	ts.Check(err)
	const start, second = 1_700_000_000_000_000_000, 1_000_000_000
	dial := func(at int64, i int, port uint16) *write.Conn {
		return w.Dial(at, netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(1 + i%50)}), uint16(20000+i)),
			netip.AddrPortFrom(netip.MustParseAddr("192.0.2.1"), port))
	}
	record := func(kind byte, size int) []byte {
		return append([]byte{kind, 3, 3, byte(size >> 8), byte(size)}, bytes.Repeat([]byte{0xc5}, size)...)
	}
	for i := range n {
		at := start + int64(i)*10*second/int64(n)
		c := dial(at, i, 443)
		for k, step := range []struct {
			client bool
			kind   byte
			size   int
		}{{true, 22, 300}, {false, 22, 3000}, {true, 20, 1}, {true, 23, 200}, {false, 23, 500}} {
			c.Send(at+int64(k+1)*5_000_000, step.client, record(step.kind, step.size))
		}
		c.Close(at + second)
	}
	for i := range m {
		at := start + int64(i)*10*second/int64(m)
		c := dial(at, n+i, 80)
		c.Send(at+1_000_000, true, []byte("GET /health HTTP/1.1\r\nHost: api.example\r\n\r\n"))
		c.Send(at+2_000_000, false, []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
		c.Close(at + 3_000_000)
	}
	ts.Check(w.Flush())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o600))
}
