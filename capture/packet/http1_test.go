package packet

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"stormwatch/capture"
)

// turn is one thing that a side sends.
type turn struct {
	fromClient bool
	text       string
}

func c(text string) turn { return turn{true, text} }
func s(text string) turn { return turn{false, text} }

// talk makes a connection of turns a millisecond apart, each in pieces of at
// most size bytes.
func talk(t *testing.T, size int, turns ...turn) result {
	t.Helper()
	m := newMade(t)
	conn := m.dial()
	at := int64(base)
	for _, turn := range turns {
		at += ms
		for text := turn.text; text != ""; {
			n := min(size, len(text))
			conn.Send(at, turn.fromClient, []byte(text[:n]))
			text = text[n:]
		}
	}
	conn.Close(at + ms)
	return readAll(t, m.bytes(), Options{})
}

// TestMessages reads messages whole and byte by byte: it must not matter how
// they were cut into packets.
func TestMessages(t *testing.T) {
	const req = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
	for _, test := range []struct {
		name  string
		turns []turn
		want  []string
	}{
		{
			"HEAD with a length",
			[]turn{c("HEAD /h HTTP/1.1\r\n\r\n"), s("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"), c(req), s("HTTP/1.1 429 X\r\nContent-Length: 0\r\n\r\n")},
			[]string{"HEAD /h 200 answered", "GET / 429 answered"},
		},
		{
			"interim responses",
			[]turn{c("POST /p HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"), s("HTTP/1.1 100 Continue\r\n\r\n"), c("ok"), s("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")},
			[]string{"POST /p 201 answered"},
		},
		{
			"no content",
			[]turn{c(req), s("HTTP/1.1 204 No Content\r\n\r\n"), c(req), s("HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n"), c(req), s("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")},
			[]string{"GET / 204 answered", "GET / 304 answered", "GET / 200 answered"},
		},
		{
			"chunked with trailers",
			[]turn{c(req), s("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5;x=y\r\nhello\r\nA\r\nHTTP/1.1 5\r\n0\r\nX-Sum: 1\r\n\r\n"), c(req), s("HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n")},
			[]string{"GET / 200 answered", "GET / 503 answered"},
		},
		{
			"chunked request",
			[]turn{c("PUT /u HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" + req), s("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 404 X\r\nContent-Length: 0\r\n\r\n")},
			[]string{"PUT /u 200 answered", "GET / 404 answered"},
		},
		{
			"pipelined",
			[]turn{c("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\nGET /3 HTTP/1.1\r\n\r\n"), s("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 429 X\r\nContent-Length: 1\r\n\r\nyHTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n")},
			[]string{"GET /1 200 answered", "GET /2 429 answered", "GET /3 500 answered"},
		},
		{
			"lines end in LF",
			[]turn{c("GET /lf HTTP/1.1\nHost: h\n\n"), s("HTTP/1.1 429 X\nRetry-After: 1\nContent-Length: 2\n\nok"), c(req), s("HTTP/1.0 200 OK\n\nrest")},
			[]string{"GET /lf 429 answered", "GET / 200 answered"},
		},
		{
			"blank lines between messages",
			[]turn{c(req + "\r\n"), s("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), c("\r\n" + req), s("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")},
			[]string{"GET / 200 answered", "GET / 200 answered"},
		},
		{
			"unknown method",
			[]turn{c("BREW /pot HTTP/1.1\r\n\r\n"), s("HTTP/1.1 418 X\r\nContent-Length: 0\r\n\r\n")},
			[]string{"BREW /pot 418 answered"},
		},
		{
			"early refusal of an upload",
			[]turn{c("POST /up HTTP/1.1\r\nContent-Length: 6\r\n\r\nabc"), s("HTTP/1.1 429 X\r\nContent-Length: 0\r\n\r\n"), c("def" + req), s("HTTP/1.1 200 X\r\nContent-Length: 0\r\n\r\n")},
			[]string{"POST /up 429 answered", "GET / 200 answered"},
		},
		{
			"upgrade",
			[]turn{c("GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"), s("HTTP/1.1 101 Switching Protocols\r\n\r\nGET / HTTP/1.1\r\n\r\n")},
			[]string{"GET /ws 101 answered"},
		},
	} {
		for _, size := range []int{1 << 20, 7, 1} {
			if size < 18 && test.name == "unknown method" {
				continue // it is believed only with its whole line
			}
			t.Run(fmt.Sprint(test.name, " in ", size), func(t *testing.T) { talk(t, size, test.turns...).expect(t, test.want...) })
		}
	}
}

func TestTimesOfLongMessages(t *testing.T) {
	r := talk(t, 1<<20, c("GET /x HT"), c("TP/1.1\r\n\r\n"), s("HTTP/1.1 200 OK\r\nContent-Le"), s("ngth: 4\r\n\r\nab"), s("cd"))
	x := r.all[0]
	if x.Start != base+1*ms || x.End != base+5*ms || x.At != (capture.Provenance{A: 4, B: 6}) {
		t.Errorf("from %d to %d at %v", x.Start-base, x.End-base, x.At)
	}
}

// TestLongHeaders sends a header block beyond the bound: what was before it
// counts, and the connection goes on.
func TestLongHeaders(t *testing.T) {
	long := "X-Long: " + strings.Repeat("a", 70<<10) + "\r\n"
	r := talk(t, 1<<20,
		c("GET /long HTTP/1.1\r\nUser-Agent: u\r\n"+long+"\r\n"), s("HTTP/1.1 431 X\r\nContent-Length: 0\r\n\r\n"),
		c("GET /next HTTP/1.1\r\n\r\n"), s("HTTP/1.1 429 X\r\n"+long+"Retry-After: 1\r\n\r\n"))
	r.expect(t, "GET /long 431 answered", "GET /next 429 answered")
	if r.all[0].agent != "u" || r.all[0].Flags&capture.Gap == 0 || r.all[1].Hint.State != capture.NotObservable {
		t.Errorf("agent %q, flags %b, hint %v", r.all[0].agent, r.all[0].Flags, r.all[1].Hint.State)
	}
}

// TestHostileText checks that a text is handed on as it was: Clean is the
// business of whoever shows it.
func TestHostileText(t *testing.T) {
	r := talk(t, 1<<20, c("GET /\x1b]0;owned\x07\xff HTTP/1.1\r\nUser-Agent: \x1b[2J\r\n\r\n"), s("HTTP/1.1 429 X\r\nRetry-After: \x1b[1m\r\nContent-Length: 0\r\n\r\n"))
	if x := r.all[0]; x.target != "/\x1b]0;owned\x07\xff" || x.agent != "\x1b[2J" || x.raw != "\x1b[1m" || x.Hint.Kind != capture.Malformed {
		t.Errorf("target %q, agent %q, hint %q", x.target, x.agent, x.raw)
	}
}

func TestBodyDigest(t *testing.T) {
	post := func(body string) turn {
		return c(fmt.Sprintf("POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
	}
	ok := s("HTTP/1.1 200 X\r\nContent-Length: 0\r\n\r\n")
	r := talk(t, 10, post("one and the same"), ok, post("one and the same"), ok, post("another"), ok, post(""), ok,
		c("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none \r\nc\r\nand the same\r\n0\r\n\r\n"), ok)
	b := [5]uint64{}
	for i := range b {
		b[i] = r.all[i].Body
	}
	if b[0] == 0 || b[0] != b[1] || b[0] != b[4] || b[0] == b[2] || b[3] != 0 {
		t.Errorf("digests %x", b)
	}
}

func FuzzHTTP1(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\nHost: h\r\n\r\n"), []byte("HTTP/1.1 429 X\r\nRetry-After: 1\r\nContent-Length: 1\r\n\r\nx"), uint8(3), uint8(0))
	f.Add([]byte("PUT /u HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"), []byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x\r\nhello\r\n0\r\nT: 1\r\n\r\n"), uint8(5), uint8(9))
	f.Add([]byte("HEAD / HTTP/1.1\n\nCONNECT a:1 HTTP/1.1\n\n"), []byte("HTTP/1.1 100 C\n\nHTTP/1.1 200 OK\nContent-Length: 7\n\nHTTP/1.1 200 OK\n\n"), uint8(200), uint8(4))
	f.Fuzz(func(t *testing.T, request, response []byte, size, lose uint8) {
		var r result
		out := newOutput(Options{Secrets: secrets}, collect(&r))
		tab := newTable(out, newSecret())
		out.table, out.done = tab, func() float64 { return 0 }
		p := pourer{tab: tab, size: int(size) + 1, lose: int(lose)}
		p.pour(true, request)
		p.pour(false, response)
		p.pour(true, request)
		p.pour(false, response)
		tab.finish(endInput)
		out.flush(true)
		if tab.buffered != 0 || out.first != nil || tab.conns.n != 0 {
			t.Errorf("%d bytes, %d connections and message %v are left behind", tab.buffered, tab.conns.n, out.first)
		}
		if n := bytes.Count(request, []byte(" ")); len(r.all) > 2*n+2*len(response)/8+2 {
			t.Errorf("%d exchanges out of so little", len(r.all))
		}
		for _, x := range r.all {
			if x.End < x.Start && x.Outcome != capture.Pending {
				t.Errorf("%v ends before it starts", x)
			}
		}
	})
}

var secrets = capture.NewSecrets()

// pourer makes segments of two byte streams, and loses some.
type pourer struct {
	tab       *table
	seq       [2]uint32
	size, n   int
	lose      int
	timestamp int64
}

func (p *pourer) pour(fromClient bool, b []byte) {
	d := dir(!fromClient)
	for len(b) > 0 {
		n := min(p.size, len(b))
		seg := addressed{segment: segment{seq: p.seq[d], ack: p.seq[1-d], flags: flagACK, payload: b[:n], wire: n}}
		seg.src.Port, seg.dst.Port = uint16(1+d), uint16(2-d)
		p.seq[d] += uint32(n)
		p.n++
		p.timestamp += ms
		if p.lose == 0 || p.n%p.lose != 0 {
			p.tab.advance(p.timestamp)
			p.tab.packet(&seg, stamp{p.timestamp, uint64(p.n)})
		}
		b = b[n:]
	}
}
