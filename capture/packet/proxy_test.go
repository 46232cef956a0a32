package packet

import (
	"bytes"
	"strings"
	"testing"
)

// proxyV2 makes a header of version 2 with addresses and extensions.
func proxyV2(command, family byte, rest string) string {
	return proxyBinary + string([]byte{command, family, byte(len(rest) >> 8), byte(len(rest))}) + rest
}

const (
	proxy4 = "\xc0\x00\x02\x07\xc0\x00\x02\x63\xdd\xd5\x01\xbb"
	proxy6 = "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x07\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x63\xdd\xd5\x01\xbb"
)

// TestProxyHeaders reads both versions of the header, whole and byte by byte:
// every exchange of the connection has the client that it names.
func TestProxyHeaders(t *testing.T) {
	seen := client.String()
	for name, test := range map[string]struct{ header, src string }{
		"1, IPv4":               {"PROXY TCP4 192.0.2.7 192.0.2.99 56789 443\r\n", "192.0.2.7:56789"},
		"1, IPv6":               {"PROXY TCP6 2001:db8::7 2001:db8::63 56789 443\r\n", "[2001:db8::7]:56789"},
		"1, longest":            {"PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n", "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535"},
		"1, unknown":            {"PROXY UNKNOWN\r\n", seen},
		"1, unknown with more":  {"PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n", seen},
		"2, IPv4":               {proxyV2(0x21, 0x11, proxy4), "192.0.2.7:56789"},
		"2, IPv6":               {proxyV2(0x21, 0x21, proxy6), "[2001:db8::7]:56789"},
		"2, with extensions":    {proxyV2(0x21, 0x11, proxy4+"\x04\x00\x05\x00\x00\x00\x00\x00"+strings.Repeat("GET / HTTP/1.1\r\n", 200)), "192.0.2.7:56789"},
		"2, local":              {proxyV2(0x20, 0x00, ""), seen},
		"2, local with address": {proxyV2(0x20, 0x11, proxy4), seen},
		"2, unspecified":        {proxyV2(0x21, 0x00, "whatever is here"), seen},
		"2, Unix":               {proxyV2(0x21, 0x31, strings.Repeat("\x00", 216)), seen},
		"none":                  {"", seen},
		"a blank line":          {"\r\n", seen},
	} {
		for _, size := range []int{1 << 20, 16, 5, 1} {
			r := talk(t, size, c(test.header+"PUT /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"), s(okReply), c("PATCH /b HTTP/1.1\r\n\r\n"), s(okReply))
			if got := strings.TrimSpace(r.String()); got != "PUT /a 200 answered\nPATCH /b 200 answered" || r.all[0].Src.String() != test.src || r.all[1].Src.String() != test.src {
				t.Errorf("version %s in pieces of %d: %s, from %v; want %s", name, size, got, r.all, test.src)
			}
			if r.health.SkippedTotal() != 0 || r.all[0].Dst.String() != server.String() || r.all[0].ConnSeq != 1 {
				t.Errorf("version %s in pieces of %d: %+v", name, size, r.health.Skipped)
			}
		}
	}
}

// TestBadProxyHeaders counts what begins as a header and is none, and keeps the
// address that was seen; the request behind it is read where it can be.
func TestBadProxyHeaders(t *testing.T) {
	for name, header := range map[string]string{
		"no such family":         "PROXY UDP4 192.0.2.7 192.0.2.99 56789 443\r\n",
		"address too large":      "PROXY TCP4 192.0.2.256 192.0.2.99 56789 443\r\n",
		"leading zero":           "PROXY TCP4 192.0.02.7 192.0.2.99 56789 443\r\n",
		"IPv6 as IPv4":           "PROXY TCP4 2001:db8::7 192.0.2.99 56789 443\r\n",
		"IPv4 as IPv6":           "PROXY TCP6 192.0.2.7 192.0.2.99 56789 443\r\n",
		"three numbers":          "PROXY TCP4 192.0.2 192.0.2.99 56789 443\r\n",
		"port too large":         "PROXY TCP4 192.0.2.7 192.0.2.99 65536 443\r\n",
		"negative port":          "PROXY TCP4 192.0.2.7 192.0.2.99 -1 443\r\n",
		"port missing":           "PROXY TCP4 192.0.2.7 192.0.2.99 56789\r\n",
		"a word more":            "PROXY TCP4 192.0.2.7 192.0.2.99 56789 443 x\r\n",
		"LF alone":               "PROXY TCP4 192.0.2.7 192.0.2.99 56789 443\n",
		"two spaces":             "PROXY  TCP4 192.0.2.7 192.0.2.99 56789 443\r\n",
		"too long":               "PROXY UNKNOWN " + strings.Repeat("x", 200) + "\r\n",
		"2, no such version":     proxyV2(0x11, 0x11, proxy4),
		"2, no such command":     proxyV2(0x22, 0x11, proxy4),
		"2, no such family":      proxyV2(0x21, 0x41, proxy4),
		"2, addresses cut short": proxyV2(0x21, 0x11, proxy4[:11]),
		"2, IPv6 cut short":      proxyV2(0x21, 0x21, proxy6[:35]),
	} {
		for _, size := range []int{1 << 20, 7} {
			r := talk(t, size, c(header), c("GET /a HTTP/1.1\r\n\r\n"), s(okReply))
			if told(r.health.Skipped, skipBadProxy) == 0 {
				t.Errorf("%s in pieces of %d: not told: %+v", name, size, r.health.Skipped)
			}
			for _, x := range r.all {
				if x.Src != endpointOf(client) {
					t.Errorf("%s in pieces of %d: from %v", name, size, x.Src)
				}
			}
			if size > 100 && len(header) < maxProxyText && strings.TrimSpace(r.String()) != "GET /a 200 answered" {
				t.Errorf("%s: %v", name, r)
			}
		}
	}
}

// TestProxyOnlyAtTheStart sends headers where they mean nothing.
func TestProxyOnlyAtTheStart(t *testing.T) {
	const header = "PROXY TCP4 192.0.2.7 192.0.2.99 56789 443\r\n"
	req := c("GET /a HTTP/1.1\r\n\r\n")
	for name, turns := range map[string][]turn{
		"after a request":        {req, s(okReply), c(header + "GET /b HTTP/1.1\r\n\r\n"), s(okReply)},
		"from the server":        {req, s(header), s(okReply)},
		"in a body":              {c("POST /a HTTP/1.1\r\nContent-Length: 43\r\n\r\n" + header), s(okReply)},
		"behind a mail greeting": {s("220 mail\r\n"), c(header), req, s(okReply)},
	} {
		r := talk(t, 1<<20, turns...)
		if len(r.all) == 0 {
			t.Errorf("%s: nothing read", name)
		}
		for _, x := range r.all {
			if x.Src != endpointOf(client) {
				t.Errorf("%s: from %v", name, x.Src)
			}
		}
	}
	// A connection joined midway has no start.
	p := newTap(t)
	p.from(1, 1001, 5001, ackPush, header+"GET /a HTTP/1.1\r\n\r\n")
	r := p.end()
	if len(r.all) != 1 || r.all[0].Src.Port != 1 {
		t.Errorf("joined midway: %v", r.all)
	}
}

// TestProxyHeadersInARow reads the headers of several proxies one behind another:
// the last one is the outermost proxy's, and names the client. It is counted.
func TestProxyHeadersInARow(t *testing.T) {
	first, last := proxyV2(0x21, 0x11, proxy4), "PROXY TCP4 198.51.100.3 192.0.2.99 1234 443\r\n"
	for name, test := range map[string]struct {
		headers, src string
		n            uint64
	}{
		"2 then 1":           {first + last, "198.51.100.3:1234", 1},
		"1 then 2":           {last + first, "192.0.2.7:56789", 1},
		"three":              {first + last + first, "192.0.2.7:56789", 2},
		"then unknown":       {last + "PROXY UNKNOWN\r\n", "198.51.100.3:1234", 1},
		"local, then one":    {proxyV2(0x20, 0x00, "") + last, "198.51.100.3:1234", 1},
		"with extensions":    {proxyV2(0x21, 0x11, proxy4+"\x04\x00\x05\x00\x00\x00\x00\x00"+strings.Repeat("x", 300)) + last, "198.51.100.3:1234", 1},
		"one, then a P":      {last, "198.51.100.3:1234", 0},
		"more than are read": {strings.Repeat(last, maxProxies), "198.51.100.3:1234", maxProxies - 1},
	} {
		for _, size := range []int{1 << 20, 16, 5, 1} {
			r := talk(t, size, c(test.headers+"PUT /a HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"), s(okReply))
			if strings.TrimSpace(r.String()) != "PUT /a 200 answered" || r.all[0].Src.String() != test.src {
				t.Errorf("%s in pieces of %d: %v, want it from %s", name, size, r.all, test.src)
			}
			if n := told(r.health.Bounds, boundProxy); n != test.n || r.health.SkippedTotal() != 0 {
				t.Errorf("%s in pieces of %d: counted %d times, want %d; %+v", name, size, n, test.n, r.health.Skipped)
			}
		}
	}
}

// TestProxyHeaderLost loses a part of a header: the address stays the one seen,
// and what follows is read.
func TestProxyHeaderLost(t *testing.T) {
	header := proxyV2(0x21, 0x11, proxy4)
	for n := range len(header) {
		l := newLossy(t)
		l.say(c(header[:n]), c("~"+header[n:n+1]), c(header[n+1:]), c("GET /a HTTP/1.1\r\n\r\n"), s(okReply))
		r := l.end()
		if got := strings.TrimSpace(r.String()); got != "GET /a 200 answered" || r.all[0].Src.Port != 1 {
			t.Errorf("byte %d lost: %s", n, got)
		}
	}
}

// TestProxyAnsweredEarly lets the server speak before the header is whole.
func TestProxyAnsweredEarly(t *testing.T) {
	r := talk(t, 1<<20, c("PROXY TCP4 192"), s("HTTP/1.1 400 X\r\nContent-Length: 0\r\n\r\n"))
	r.expect(t, "  400 answered")
}

func FuzzProxy(f *testing.F) {
	f.Add([]byte("PROXY TCP4 192.0.2.7 192.0.2.99 56789 443\r\nGET / HTTP/1.1\r\n\r\n"), uint8(9))
	f.Add([]byte("PROXY TCP6 ::1 ::2 1 2\r\n"), uint8(0))
	f.Add([]byte("PROXY UNKNOWN \r\n\r\n"), uint8(200))
	f.Add([]byte(proxyV2(0x21, 0x11, proxy4+"\x04\x00\x01\x00")), uint8(15))
	f.Add([]byte(proxyV2(0x21, 0x21, proxy6)), uint8(1))
	f.Add([]byte(proxyV2(0x20, 0xff, "\xff\xff")), uint8(17))
	f.Fuzz(func(t *testing.T, b []byte, size uint8) {
		whole, pieces := newTap(t), newTap(t)
		for p, n := range map[*tap]int{whole: len(b) + 1, pieces: int(size) + 1} {
			p.from(1, 1000, 0, flagSYN, "")
			seq := uint32(1001)
			for rest := b; len(rest) > 0; {
				k := min(n, len(rest), 60_000)
				p.from(1, seq, 5001, ackPush, string(rest[:k]))
				for c := range p.tab.conns.all() {
					if r := c.http.parser[0]; r != nil && c.http.preface != prefacePast && len(r.buf) > maxProxyText {
						t.Errorf("%d bytes are kept of a header", len(r.buf))
					}
				}
				seq, rest = seq+uint32(k), rest[k:]
			}
		}
		a, z := addresses(whole), addresses(pieces)
		if a != z {
			t.Errorf("client %s when sent whole, %s in pieces of %d", a, z, int(size)+1)
		}
		if len(b) > 0 && !bytes.HasPrefix(b, []byte("PROXY TCP")) && !bytes.HasPrefix(b, []byte(proxyBinary)) && a != "10.0.0.1:1" {
			t.Errorf("%q names %s", b, a)
		}
		whole.end()
		pieces.end()
	})
}

// addresses is the client's end of the only connection.
func addresses(p *tap) string {
	for c := range p.tab.conns.all() {
		return c.end(0).String()
	}
	return "none"
}
