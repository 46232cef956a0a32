package packet

import (
	"fmt"
	"strings"
	"testing"

	"stormwatch/capture"
)

// lossy hands turns to a table, a segment each of at most 1,400 bytes, as a pair
// of hosts would send them; what begins with ~ is lost by the capture.
type lossy struct {
	*tap
	next [2]uint32
}

func newLossy(t *testing.T) *lossy { return &lossy{tap: dialled(t), next: [2]uint32{1001, 5001}} }

func (l *lossy) say(turns ...turn) {
	for _, turn := range turns {
		text, lost := strings.CutPrefix(turn.text, "~")
		for len(text) > 0 {
			n := min(len(text), 1400)
			d, port := 0, 1
			if !turn.fromClient {
				d, port = 1, -1
			}
			if !lost {
				l.from(port, l.next[d], l.next[1-d], ackPush, text[:n])
			}
			l.next[d] += uint32(n)
			text = text[n:]
		}
	}
	// Both sides acknowledge, and time goes by: holes are given up.
	for range gapPackets + 2 {
		l.from(1, l.next[0], l.next[1], flagACK, "")
		l.from(-1, l.next[1], l.next[0], flagACK, "")
	}
}

func (l *lossy) finished() map[string]int {
	r := l.end()
	got := map[string]int{}
	for _, x := range r.all {
		got[strings.TrimSpace(x.String())]++
	}
	return got
}

func sized(status int, body string) turn { return s(string(reply(status, body))) }

// TestPairingAfterLoss loses messages on a connection that goes on: what follows
// is paired again, and nothing with an answer that is not its own.
func TestPairingAfterLoss(t *testing.T) {
	a, b, d, e := c("GET /a HTTP/1.1\r\n\r\n"), c("GET /b HTTP/1.1\r\n\r\n"), c("GET /c HTTP/1.1\r\n\r\n"), c("GET /d HTTP/1.1\r\n\r\n")
	pipelined := c(a.text + b.text + d.text)
	gone := func(t turn) turn { return turn{t.fromClient, "~" + t.text} }
	continued := s("HTTP/1.1 100 Continue\r\n\r\n")
	post := c("POST /p HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
	for _, test := range []struct {
		name  string
		turns []turn
		want  []string
	}{
		{"a request", []turn{gone(a), sized(201, ""), b, sized(202, "x")}, []string{"201 answered", "GET /b 202 answered"}},
		{"an answer", []turn{a, gone(sized(201, "")), b, sized(202, "x")}, []string{"GET /a 0 truncated", "GET /b 202 answered"}},
		{"both", []turn{a, sized(200, ""), gone(b), gone(sized(201, "")), d, sized(202, "x")}, []string{"GET /a 200 answered", "GET /c 202 answered"}},
		{"an answer and the next request", []turn{a, gone(sized(201, "")), gone(b), sized(202, ""), d, sized(203, "")}, []string{"GET /a 0 truncated", "202 answered", "GET /c 203 answered"}},
		{"a message before a pipeline", []turn{gone(e), sized(200, "x"), pipelined, sized(201, "x"), sized(202, ""), sized(203, "yy")}, []string{"200 answered", "GET /a 201 answered", "GET /b 202 answered", "GET /c 203 answered"}},
		{"the first answer of a pipeline", []turn{pipelined, gone(sized(201, "x")), sized(202, ""), sized(203, "")}, []string{"GET /a 0 no-answer", "GET /b 0 no-answer", "GET /c 0 no-answer", "202 answered", "203 answered"}},
		{"a request inside a pipeline", []turn{a, gone(b), d, sized(201, "x"), sized(202, "x"), sized(203, "x")}, []string{"GET /a 201 answered", "202 answered", "203 answered", "GET /c 0 no-answer"}},
		{"before an interim answer", []turn{gone(a), sized(200, ""), post, continued, c("ok"), sized(201, "")}, []string{"200 answered", "POST /p 201 answered"}},
		{"before early hints", []turn{gone(a), sized(200, ""), b, s("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"), s("HTTP/1.1 103 Early Hints\r\nLink: y\r\n\r\n"), sized(201, "")}, []string{"200 answered", "GET /b 201 answered"}},
		{"a part of a body", []turn{a, s("HTTP/1.1 201 X\r\nContent-Length: 9\r\n\r\nabc"), s("~def"), s("ghi"), b, sized(202, "")}, []string{"GET /a 201 answered", "GET /b 202 answered"}},
		{"a part of a chunk", []turn{a, s("HTTP/1.1 201 X\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc"), s("~def"), s("ghi\r\n0\r\n\r\n"), b, sized(202, "")}, []string{"GET /a 201 answered", "GET /b 202 answered"}},
		{"a chunk's size", []turn{a, s("HTTP/1.1 201 X\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"), s("~3\r\n"), s("def\r\n0\r\n\r\n"), b, sized(202, "")}, []string{"GET /a 201 answered", "GET /b 202 answered"}},
		{"the answer to a HEAD whose request was lost", []turn{gone(c("HEAD / HTTP/1.1\r\n\r\n")), s("HTTP/1.1 200 X\r\nContent-Length: 5000\r\n\r\n"), b, sized(202, "")}, []string{"200 answered", "GET /b 202 answered"}},
		{"the same, chunked", []turn{gone(c("HEAD / HTTP/1.1\r\n\r\n")), s("HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n"), b, sized(202, "")}, []string{"200 answered", "GET /b 202 answered"}},
	} {
		l := newLossy(t)
		l.say(test.turns...)
		got, want := l.finished(), map[string]int{}
		for _, w := range test.want {
			want[w]++
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("lost %s:\n%v, want\n%v", test.name, got, want)
		}
	}
}

// TestResync loses a part of a message and sends texts behind it that look like
// messages: only a known method with a version, at the beginning of a line, and a
// whole status line are believed.
func TestResync(t *testing.T) {
	for text, want := range map[string]int{
		"ETA / HTTP/1.1\r\n\r\n":                            0,
		"uid=1000(user) HTTP/1.1\r\n\r\n":                   0,
		"say GET / HTTP/1.1\r\n\r\n":                        0,
		"GET /without-version\r\n\r\n":                      0,
		"get / HTTP/1.1\r\n\r\n":                            0,
		"GET / HTTP/2.0\r\n\r\n":                            0,
		"xxx\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n":          1,
		"xxx\nPROPFIND /dav HTTP/1.0\nHost: h\n\n":          1,
		"DELETE /a/very/long/path HTTP/1.1\r\nA: b\r\n\r\n": 1,
	} {
		l := newLossy(t)
		l.say(c("GET /first HTTP/1.1\r\nX-Half: "), c("~of a header\r\n\r\n"), c(text))
		if got := len(l.end().all) - 1; got != want {
			t.Errorf("%q: %d requests, want %d", text, got, want)
		}
	}
	for text, want := range map[string]int{
		"HTTP/1.1 20 OK\r\n\r\n":                 0,
		"HTTP/1.1 2000 OK\r\n\r\n":               0,
		"HTTP/1.1  200 OK\r\n\r\n":               0,
		"HTTP/1.x 200 OK\r\n\r\n":                0,
		"HTTP/2.0 200 OK\r\n\r\n":                0,
		"HTTP/1.1 099 OK\r\n\r\n":                0,
		"xxHTTP/1.1 200 OK\r\n\r\n":              1,
		"HTTP/1.0 429\r\nRetry-After: 1\r\n\r\n": 1,
	} {
		l := newLossy(t)
		l.say(s("HTTP/1.1 500 X\r\nX-Half: "), s("~of a header\r\n\r\n"), s(text))
		if got := len(l.end().all) - 1; got != want {
			t.Errorf("%q: %d answers, want %d", text, got, want)
		}
	}
}

// TestHintNotCaptured loses parts of answers: a wait that may have been named in
// what is missing is not observable, and never absent.
func TestHintNotCaptured(t *testing.T) {
	const head, body = "HTTP/1.1 429 X\r\nServer: x\r\n", "Content-Length: 4\r\n\r\nslow"
	for _, test := range []struct {
		name  string
		turns []turn
		state capture.HintState
	}{
		{"whole, with", []turn{s(head + "Retry-After: 1\r\n" + body)}, capture.Present},
		{"whole, without", []turn{s(head + body)}, capture.Absent},
		{"lost in front of the field", []turn{s(head), s("~Retry-After: 1\r\n"), s(body)}, capture.NotObservable},
		{"lost behind the field", []turn{s(head + "Retry-After: 1\r\n"), s("~X: y\r\n"), s(body)}, capture.Present},
		{"lost inside the value", []turn{s(head + "Retry-After: 1"), s("~0\r\n"), s(body)}, capture.NotObservable},
		{"lost inside the name", []turn{s(head + "Retry-Af"), s("~ter: 1\r\n"), s(body)}, capture.NotObservable},
		{"lost in the body", []turn{s(head + "Content-Length: 4\r\n\r\ns"), s("~lo"), s("w")}, capture.Absent},
		{"lost to the last byte", []turn{s(head), s("~" + body)}, capture.NotObservable},
		{"all lost", []turn{s("~" + head + body)}, capture.NotObservable},
		{"never sent", nil, capture.NotObservable},
	} {
		l := newLossy(t)
		l.say(append([]turn{c("GET / HTTP/1.1\r\n\r\n")}, test.turns...)...)
		r := l.end()
		if len(r.all) != 1 || r.all[0].Hint.State != test.state {
			t.Errorf("%s: %v, hint %v, want %v", test.name, r, r.all[0].Hint.State, test.state)
		}
	}
}

// TestStartLineCut cuts packets so short that a request's target is not whole:
// what is there is kept, marked so that nobody takes it for a whole one, and goes
// with its answer.
func TestStartLineCut(t *testing.T) {
	m := newMade(t)
	conn := m.dial()
	for i := range int64(3) {
		conn.Send(base+i*10*ms, true, fmt.Appendf(nil, "GET /%d/%s HTTP/1.1\r\nHost: h\r\n\r\n", i, strings.Repeat("long/", 40)))
		conn.Send(base+i*10*ms+ms, false, reply(int(200+i), strings.Repeat("y", 500)))
	}
	for name, snap := range map[string]int{"in the target": 90, "in the version": 54 + 4 + 2 + 200 + 6} {
		r := readAll(t, defect{snap: snap}.apply(m.bytes(), 0), Options{})
		if len(r.all) != 3 {
			t.Fatalf("cut %s: %v", name, r)
		}
		for i, x := range r.all {
			want := fmt.Sprintf("/%d/%s", i, strings.Repeat("long/", 40))
			if snap == 90 {
				want = want[:90-54-4] + "..."
			}
			if whole := snap != 90; whole != (x.Flags&capture.Unnamed == 0) || !whole != (told(r.health.Bounds, boundTarget) == 3) {
				t.Errorf("cut %s: flags %b, told %+v", name, x.Flags, r.health.Bounds)
			}
			if x.method != "GET" || x.target != want || int(x.Status) != 200+i || x.Flags&capture.Gap == 0 {
				t.Errorf("cut %s: %v %d, flags %b, want target %s", name, x, x.Status, x.Flags, want)
			}
		}
	}
}
