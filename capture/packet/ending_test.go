package packet

import (
	"fmt"
	"strings"
	"testing"

	"stormwatch/capture"
)

// step is what one side does: text, or a flag of its own.
type step struct {
	fromClient bool
	flags      byte
	text       string
}

// play hands steps to a table, ten milliseconds apart.
func play(t *testing.T, steps ...step) (*tap, result) {
	t.Helper()
	l := newLossy(t)
	for _, st := range steps {
		l.pass(10*ms - 1000)
		d, port := 0, 1
		if !st.fromClient {
			d, port = 1, -1
		}
		l.from(port, l.next[d], l.next[1-d], flagACK|st.flags, st.text)
		l.next[d] += uint32(len(st.text))
		if st.flags&flagFIN != 0 {
			l.next[d]++
		}
	}
	l.pass(100 * ms)
	return l.tap, l.end()
}

// TestWhoEndsIt ends connections in all the ways that leave a request without a
// whole answer. What nginx logs as 499 is a client that closed before its answer:
// its wait ended when it closed, whatever came later.
func TestWhoEndsIt(t *testing.T) {
	const up, down = true, false
	get := step{up, 8, "GET / HTTP/1.1\r\n\r\n"}
	ok := step{down, 8, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"}
	refusal := step{down, 8, "HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n"}
	fin := func(client bool) step { return step{client, flagFIN, ""} }
	rst := func(client bool) step { return step{client, flagRST, ""} }
	ack := func(client bool) step { return step{client, 0, ""} }
	for _, test := range []struct {
		name  string
		steps []step
		want  string
		end   int64 // in steps of ten milliseconds, where the request is the first
		gone  bool  // it was the client that ended the wait
	}{
		{"client closes, server closes", []step{get, fin(up), fin(down), ack(up)}, "GET / 0 no-answer", 2, true},
		{"client closes, server resets", []step{get, fin(up), ack(down), rst(down)}, "GET / 0 no-answer", 2, true},
		{"client closes, nothing more", []step{get, fin(up), ack(down), ack(down)}, "GET / 0 no-answer", 2, true},
		{"client closes and refuses the answer", []step{get, fin(up), ok, rst(up)}, "GET / 200 truncated", 3, true},
		{"client closes and refuses the refusal", []step{get, fin(up), refusal, rst(up)}, "GET / 503 truncated", 3, true},
		{"client has said all and takes the answer", []step{get, fin(up), ok, ack(up), fin(down), ack(up)}, "GET / 200 answered", 3, false},
		{"the same, to the end of the connection", []step{get, fin(up), {down, 8, "HTTP/1.0 200 OK\r\n\r\nbody"}, fin(down), ack(up)}, "GET / 200 answered", 3, false},
		{"client resets", []step{get, ack(down), rst(up)}, "GET / 0 reset", 3, true},
		{"server resets", []step{get, ack(down), rst(down)}, "GET / 0 reset", 3, false},
		{"server closes", []step{get, ack(down), fin(down), fin(up)}, "GET / 0 no-answer", 3, false},
		{"half a request, client closes", []step{{up, 8, "GET / HTTP/1.1\r\nHost:"}, fin(up), fin(down)}, "GET / 0 no-answer", 2, true},
		{"half a request, server refuses", []step{{up, 8, "GET / HTTP/1.1\r\nHost:"}, {down, 8, "HTTP/1.1 408 X\r\nContent-Length: 0\r\n\r\n"}, fin(down), fin(up)}, "GET / 408 answered", 2, false},
		{"half a body, server refuses", []step{{up, 8, "POST / HTTP/1.1\r\nContent-Length: 99\r\n\r\nabc"}, {down, 8, "HTTP/1.1 413 X\r\nContent-Length: 0\r\n\r\n"}, fin(down), {up, 8, "def"}, rst(down)}, "POST / 413 answered", 2, false},
		{"half a body, client goes away", []step{{up, 8, "POST / HTTP/1.1\r\nContent-Length: 99\r\n\r\nabc"}, rst(up)}, "POST / 0 reset", 2, true},
	} {
		_, r := play(t, test.steps...)
		got := strings.TrimSpace(r.String())
		if got != test.want || r.all[0].End != r.all[0].Start+(test.end-1)*10*ms {
			t.Errorf("%s: %s, end %d ms after its start; want %s, %d ms", test.name, got, (r.all[0].End-r.all[0].Start)/ms, test.want, (test.end-1)*10)
		}
		if got := r.all[0].Flags&capture.GaveUp != 0; got != test.gone {
			t.Errorf("%s: the client gave up: %v, want %v", test.name, got, test.gone)
		}
	}
}

// TestUnsolicited408 lets a server time out a connection nobody asked anything
// on: its 408 (RFC 9110 section 15.5.9) answers no request, not the next one either,
// unless that was sent before the client had seen it. It is no exchange, but counted.
// Where a request may have been lost it is an answer whose request was not seen.
func TestUnsolicited408(t *testing.T) {
	const timeout = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
	const up, down = true, false
	for _, test := range []struct {
		name  string
		steps []step
		want  []string
	}{
		{"idle from the start", []step{{down, 8, timeout}, {down, flagFIN, ""}, {up, flagFIN, ""}}, nil},
		{"idle after an answer", []step{{up, 8, "GET /a HTTP/1.1\r\n\r\n"}, {down, 8, okReply}, {down, 8, timeout}, {down, flagFIN, ""}, {up, flagFIN, ""}}, []string{"GET /a 200 answered"}},
		{"the client sees it and goes on", []step{{down, 8, timeout}, {up, 8, "GET /b HTTP/1.1\r\n\r\n"}, {down, 8, okReply}}, []string{"GET /b 200 answered"}},
	} {
		_, r := play(t, test.steps...)
		r.expect(t, test.want...)
		if r.health.Unasked != 1 {
			t.Errorf("%s: %d answers that nobody asked for, want 1", test.name, r.health.Unasked)
		}
	}
	// Both are on their way at once: the client takes the 408 for its answer.
	l := newLossy(t)
	req := "GET /c HTTP/1.1\r\n\r\n"
	l.from(-1, 5001, 1001, ackPush, timeout)
	l.from(1, 1001, 5001, ackPush, req)
	l.end().expect(t, "GET /c 408 answered")
	for name, lose := range map[string]func(l *lossy){
		"seen as a hole":         func(l *lossy) { l.say(c("~GET /d HTTP/1.1\r\n\r\n")) },
		"seen by its answer":     func(l *lossy) { l.next[0] += uint32(len(req)) },
		"only the server's side": func(l *lossy) { l.tap = newTap(t) },
	} {
		l := newLossy(t)
		lose(l)
		l.from(-1, l.next[1], l.next[0], ackPush, timeout)
		r := l.end()
		if r.expect(t, "  408 answered"); r.health.Unasked != 0 || r.all[0].Flags&capture.Orphan == 0 {
			t.Errorf("%s: %d answers that nobody asked for, flags %b", name, r.health.Unasked, r.all[0].Flags)
		}
	}
}

// TestTunnels ends the reading of HTTP where it ends, and notices what of it is
// encrypted.
func TestTunnels(t *testing.T) {
	hello := "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
	for _, test := range []struct {
		name   string
		turns  []turn
		want   []string
		sealed uint64
	}{
		{"CONNECT, then TLS", []turn{c("CONNECT far:443 HTTP/1.1\r\nHost: far\r\n\r\n"), s("HTTP/1.1 200 Connection established\r\n\r\n"), c(hello)}, []string{"CONNECT far:443 200 answered"}, 1},
		{"CONNECT, then mail", []turn{c("CONNECT far:25 HTTP/1.1\r\n\r\n"), s("HTTP/1.1 200 OK\r\n\r\n"), s("220 far ESMTP\r\n"), c("GET / HTTP/1.1\r\n\r\n")}, []string{"CONNECT far:25 200 answered"}, 0},
		{"CONNECT refused, then allowed", []turn{c("CONNECT far:443 HTTP/1.1\r\n\r\n"), s("HTTP/1.1 407 X\r\nContent-Length: 2\r\n\r\nno"), c("CONNECT far:443 HTTP/1.1\r\nProxy-Authorization: x\r\n\r\n"), s("HTTP/1.1 200 OK\r\n\r\n"), c(hello)}, []string{"CONNECT far:443 407 answered", "CONNECT far:443 200 answered"}, 1},
		{"websocket", []turn{c("GET /ws HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"), s("HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\x81\x05hello"), c("\x81\x85abcdhello")}, []string{"GET /ws 101 answered"}, 0},
		{"upgrade not taken", []turn{c("GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"), s("HTTP/1.1 426 X\r\nContent-Length: 0\r\n\r\n"), c("GET /2 HTTP/1.1\r\n\r\n"), s(okReply)}, []string{"GET / 426 answered", "GET /2 200 answered"}, 0},
		{"TLS at once", []turn{c(hello), s("\x16\x03\x03\x00\x7a\x02\x00"), c("\x17\x03\x03\x00\x20abc")}, nil, 1},
		{"TLS to a server of plain HTTP", []turn{c(hello), s("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")}, []string{"  400 answered"}, 0},
		{"TLS behind SOCKS", []turn{c("\x05\x01\x00"), s("\x05\x00"), c("\x05\x01\x00\x01\x0a\x00\x00\x01\x01\xbb"), s("\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"), c(hello)}, nil, 1},
	} {
		r := talk(t, 1<<20, test.turns...)
		r.expect(t, test.want...)
		if r.health.Encrypted != test.sealed {
			t.Errorf("%s: %d connections encrypted, want %d", test.name, r.health.Encrypted, test.sealed)
		}
	}
}

// TestSealedMidway joins TLS in its middle: a record begins a packet now and
// then, and shows it; but what only looks like one does not hide HTTP.
func TestSealedMidway(t *testing.T) {
	p := newTap(t)
	p.from(1, 1000, 1, ackPush, strings.Repeat("\xab", 100))
	p.from(1, 1100, 1, ackPush, "\x17\x03\x03\x00\x20"+strings.Repeat("\xab", 32))
	if p.out.health.Encrypted != 1 {
		t.Errorf("%d connections encrypted, want 1", p.out.health.Encrypted)
	}
	p.from(-1, 1, 1137, ackPush, "\x17\x03\x03\x00\x20"+strings.Repeat("\xab", 32))
	if p.out.health.Encrypted != 1 {
		t.Error("counted twice")
	}
	p = newTap(t)
	p.from(-1, 1, 1, ackPush, "\x16\x03\x01\x10\x00 in the middle of a picture")
	p.from(1, 1, 33, ackPush, fmt.Sprintf(ask, "a"))
	p.from(-1, 33, 1+uint32(len(fmt.Sprintf(ask, "a"))), ackPush, okReply)
	r := p.end()
	if r.expect(t, "GET /a 200 answered"); p.out.health.Encrypted != 0 {
		t.Errorf("%d connections encrypted, want none", p.out.health.Encrypted)
	}
}

// TestOldAndOdd reads request lines without a version, folded fields, and lengths
// in odd forms.
func TestOldAndOdd(t *testing.T) {
	for _, test := range []struct {
		name  string
		turns []turn
		want  []string
	}{
		{"HTTP/0.9", []turn{c("GET /old\r\n"), s("<html>")}, []string{"GET /old 0 no-answer"}},
		{"a version that is none", []turn{c("GET /x HTTP/1.\r\nHost: h\r\n\r\n"), s("HTTP/1.1 400 X\r\nContent-Length: 0\r\n\r\n")}, []string{"GET /x 400 answered"}},
		{"no target", []turn{c("GET HTTP/1.1\r\n\r\n"), s("HTTP/1.1 400 X\r\nContent-Length: 0\r\n\r\n")}, []string{"GET HTTP/1.1 400 answered"}},
		{"not Redis", []turn{c("GET key\r\n"), s("$1\r\nx\r\n")}, nil},
		{"the same length twice", []turn{c("GET / HTTP/1.1\r\n\r\n"), s("HTTP/1.1 200 X\r\nContent-Length: 2, 2\r\n\r\nok"), c("GET /2 HTTP/1.1\r\n\r\n"), s(okReply)}, []string{"GET / 200 answered", "GET /2 200 answered"}},
		{"chunked wins over a length", []turn{c("POST / HTTP/1.1\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /2 HTTP/1.1\r\n\r\n"), s(okReply + okReply)}, []string{"POST / 200 answered", "GET /2 200 answered"}},
		{"folded", []turn{c("POST / HTTP/1.1\r\nTransfer-Encoding:\r\n chunked\r\n\r\n3\r\nGET\r\n0\r\n\r\nGET /2 HTTP/1.1\r\n\r\n"), s(okReply + okReply)}, []string{"POST / 200 answered", "GET /2 200 answered"}},
		{"early answer, then the rest", []turn{c("PUT /u HTTP/1.1\r\nContent-Length: 10\r\n\r\n01234"), s("HTTP/1.1 429 X\r\nContent-Length: 0\r\n\r\n"), c("56789GET /2 HTTP/1.1\r\n\r\n"), s(okReply)}, []string{"PUT /u 429 answered", "GET /2 200 answered"}},
		{"HEAD refused with a length", []turn{c("HEAD / HTTP/1.1\r\n\r\n"), s("HTTP/1.1 429 X\r\nContent-Length: 300\r\nRetry-After: 1\r\n\r\n"), c("HEAD / HTTP/1.1\r\n\r\n"), s("HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n"), c("GET / HTTP/1.1\r\n\r\n"), s(okReply)}, []string{"HEAD / 429 answered", "HEAD / 200 answered", "GET / 200 answered"}},
	} {
		r := talk(t, 1<<20, test.turns...)
		t.Run(test.name, func(t *testing.T) { r.expect(t, test.want...) })
	}
	r := talk(t, 1<<20, c("GET / HTTP/1.1\r\n\r\n"), s("HTTP/1.1 429 X\r\nRetry-After:\r\n\t7\r\nContent-Length: 0\r\n\r\n"))
	if r.all[0].raw != "7" || r.all[0].Hint.Wait != 7e9 {
		t.Errorf("folded hint %q, %d", r.all[0].raw, r.all[0].Hint.Wait)
	}
}
