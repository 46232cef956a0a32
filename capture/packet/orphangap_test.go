package packet

import (
	"fmt"
	"strings"
	"testing"

	"stormwatch/capture"
)

// Joined at an answer whose request was not seen, and which may have answered a
// HEAD: a hole after it may be the next answer and not its body. The requests
// after it keep their own answers, and the one whose answer was lost says so.
func TestHoleAfterAnAnswerWithoutRequest(t *testing.T) {
	m := newMade(t)
	c := m.dial()
	now := int64(base)
	send := func(fromClient bool, b []byte) {
		now += ms
		c.Send(now, fromClient, b)
	}
	send(true, []byte("HEAD /1 HTTP/1.1\r\nHost: a\r\n\r\n"))
	send(false, []byte("HTTP/1.1 201 X\r\nContent-Length: 1482\r\n\r\n"))
	for i := 2; i <= 6; i++ {
		send(true, get(fmt.Sprint("/", i)))
		send(false, reply(200+i, strings.Repeat("b", 500)))
	}
	c.Close(now + ms)
	const handshake = 3
	r := readAll(t, without(m.bytes(), 0, 1, 2, handshake, handshake+3), Options{})
	answers := map[string]uint16{}
	for _, x := range r.all {
		if x.target != "" {
			answers[x.target] = x.Status
		}
		if x.target == "/2" && (x.Outcome != capture.Truncated || x.Judged()) {
			t.Errorf("the answer that was lost: %s, judged %v", x.Outcome, x.Judged())
		}
	}
	for i, want := range map[string]uint16{"/2": 0, "/3": 203, "/4": 204, "/5": 205, "/6": 206} {
		if got, ok := answers[i]; !ok || got != want {
			t.Errorf("%s has the status %d, want %d", i, got, want)
		}
	}
}

// Answers that the capture did not get are not the server's silence; a server that
// closes without a word is.
func TestMissedAnswers(t *testing.T) {
	m := newMade(t)
	c := m.dial()
	now := int64(base)
	for i := range 4 {
		now += ms
		c.Send(now, true, get(fmt.Sprint("/", i)))
		now += ms
		c.Send(now, false, reply(200, "ok"))
	}
	c.Close(now + ms)
	all := m.bytes()
	const handshake = 3
	r := readAll(t, without(all, handshake+1, handshake+3, handshake+5, handshake+7), Options{})
	for _, x := range r.all {
		if x.Judged() || x.Failed() {
			t.Errorf("%s: %s, judged %v, failed %v, though the client acknowledged its answer", x.target, x.Outcome, x.Judged(), x.Failed())
		}
	}
	m = newMade(t)
	c = m.dial()
	c.Send(base+ms, true, get("/silence"))
	c.Acknowledge(base+2*ms, false)
	c.Close(base + 3*ms)
	for _, x := range readAll(t, m.bytes(), Options{}).all {
		if x.Outcome != capture.NoAnswer || !x.Judged() || !x.Failed() {
			t.Errorf("%s: %s, judged %v, failed %v, want no answer", x.target, x.Outcome, x.Judged(), x.Failed())
		}
	}
}
