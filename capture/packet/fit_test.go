package packet

import (
	"fmt"
	"strings"
	"testing"

	"stormwatch/capture"
)

// dialled makes a tap with one connection whose handshake has been seen: the
// client's first byte is number 1001, the server's 5001.
func dialled(t *testing.T) *tap {
	p := newTap(t)
	p.from(1, 1000, 0, flagSYN, "")
	p.from(-1, 5000, 1001, flagSYN|flagACK, "")
	p.from(1, 1001, 5001, flagACK, "")
	return p
}

const ask = "GET /%s HTTP/1.1\r\nHost: h\r\n\r\n"

// TestStrangersDoNotEndAConnection sends packets of the same addresses and ports
// that belong to no or to another connection, while a request waits: its answer
// must still be its own.
func TestStrangersDoNotEndAConnection(t *testing.T) {
	req := fmt.Sprintf(ask, "a")
	far := uint32(1 << 30)
	for name, disturb := range map[string]func(p *tap){
		"nothing":                        func(*tap) {},
		"RST far from the window":        func(p *tap) { p.from(-1, 5001+far, 0, flagRST, "") },
		"RST far from the client's":      func(p *tap) { p.from(1, 1001+far, 0, flagRST, "") },
		"FIN far ahead":                  func(p *tap) { p.from(-1, 5001+far, 1001, flagFIN|flagACK, "") },
		"FIN far behind":                 func(p *tap) { p.from(-1, 5001-far, 1001, flagFIN|flagACK, "") },
		"old FIN of the client":          func(p *tap) { p.from(1, 1000, 5001, flagFIN|flagACK, "") },
		"acknowledgement of what is far": func(p *tap) { p.from(1, 1001+uint32(len(req)), 5001+far, flagACK, "") },
		"keep-alive probe":               func(p *tap) { p.from(1, 1000+uint32(len(req)), 5001, flagACK, "") },
		"keep-alive probe with a byte":   func(p *tap) { p.from(1, 1000+uint32(len(req)), 5001, flagACK, "x") },
		"the same SYN again":             func(p *tap) { p.from(1, 1000, 0, flagSYN, "") },
		"the same SYN of the server":     func(p *tap) { p.from(-1, 5000, 1001, flagSYN|flagACK, "") },
		"the request again":              func(p *tap) { p.from(1, 1001, 5001, ackPush, req) },
	} {
		p := dialled(t)
		p.from(1, 1001, 5001, ackPush, req)
		disturb(p)
		p.from(-1, 5001, 1001+uint32(len(req)), ackPush, okReply)
		r := p.end()
		if got := strings.TrimSpace(r.String()); got != "GET /a 200 answered" || r.all[0].Flags != 0 {
			t.Errorf("%s: %s, flags %b", name, got, r.all[0].Flags)
		}
	}
}

// TestOldGeneration reuses a port at once: what is left of the old connection
// comes after the new one's SYN, and must not disturb it.
func TestOldGeneration(t *testing.T) {
	p := dialled(t)
	req := fmt.Sprintf(ask, "old")
	p.from(1, 1001, 5001, ackPush, req)
	next, far := 1001+uint32(len(req)), uint32(1<<31)
	p.from(1, far, 0, flagSYN, "")
	p.from(-1, 5001, next, ackPush, okReply)                         // the old one's answer
	p.from(1, next, 5001+uint32(len(okReply)), flagACK, "")          // its acknowledgement
	p.from(-1, far+7000, far+1, flagSYN|flagACK, "")                 //
	p.from(-1, 5001+uint32(len(okReply)), next, flagFIN|flagACK, "") // its end
	p.from(1, far+1, far+7001, ackPush, fmt.Sprintf(ask, "new"))     //
	p.from(1, next, 5001, flagRST, "")                               // and what the client makes of it
	p.from(-1, far+7001, far+1+uint32(len(fmt.Sprintf(ask, "new"))), ackPush, okReply)
	r := p.end()
	r.expect(t, "GET /old 0 no-answer", "GET /new 200 answered")
	if r.all[1].ConnSeq != 1 || r.all[1].Flags != 0 {
		t.Errorf("request %d of its connection, flags %b", r.all[1].ConnSeq, r.all[1].Flags)
	}
}

// TestReuseWithoutSYN reuses a port after a connection has ended in one way or
// another, and loses the new one's handshake in part or in whole.
func TestReuseWithoutSYN(t *testing.T) {
	for _, end := range []string{"closed", "reset", "open"} {
		for lost := range 8 {
			p := dialled(t)
			a, b := fmt.Sprintf(ask, "a"), fmt.Sprintf(ask, "b")
			c, s := 1001+uint32(len(a)), 5001+uint32(len(okReply))
			p.from(1, 1001, 5001, ackPush, a)
			p.from(-1, 5001, c, ackPush, okReply)
			switch end {
			case "closed":
				p.from(1, c, s, flagFIN|flagACK, "")
				p.from(-1, s, c+1, flagFIN|flagACK, "")
				p.from(1, c+1, s+1, flagACK, "")
			case "reset":
				p.from(1, c, s, flagRST|flagACK, "")
			}
			const newC, newS = 3_000_000_000, 1_000_000_000
			p.pass(1e6)
			for i, send := range []func(){
				func() { p.from(1, newC, 0, flagSYN, "") },
				func() { p.from(-1, newS, newC+1, flagSYN|flagACK, "") },
				func() { p.from(1, newC+1, newS+1, flagACK, "") },
			} {
				if lost&(1<<i) == 0 {
					send()
				}
			}
			p.from(1, newC+1, newS+1, ackPush, b)
			p.from(-1, newS+1, newC+1+uint32(len(b)), ackPush, okReply)
			r := p.end()
			if got := strings.TrimSpace(r.String()); got != "GET /a 200 answered\nGET /b 200 answered" || r.all[1].ConnSeq != 1 {
				t.Errorf("after a connection %s, handshake lost %03b:\n%s", end, lost, got)
			}
		}
	}
}

// TestLateSYN captures a SYN after the request it precedes: the connection was
// seen from its start, and is not told as joined midway.
func TestLateSYN(t *testing.T) {
	p := newTap(t)
	req := fmt.Sprintf(ask, "a")
	p.from(1, 1001, 5001, ackPush, req)
	p.from(1, 1000, 0, flagSYN, "")
	p.from(-1, 5001, 1001+uint32(len(req)), ackPush, okReply)
	p.from(-1, 5000, 1001, flagSYN|flagACK, "")
	c, s := 1001+uint32(len(req)), 5001+uint32(len(okReply))
	p.from(1, c, s, ackPush, fmt.Sprintf(ask, "b"))
	r := p.end()
	r.expect(t, "GET /a 200 answered", "GET /b 0 no-answer")
	if r.all[1].Flags&capture.Midstream != 0 {
		t.Error("a connection whose SYN came late is told as joined midway")
	}
}

// TestFirstAnswerLost joins a connection midway and loses the first answer: what
// the client acknowledges shows that there was one, so that the second answer
// does not go with the first request.
func TestFirstAnswerLost(t *testing.T) {
	for _, acks := range []bool{false, true} {
		p := newTap(t)
		a, b := fmt.Sprintf(ask, "a"), fmt.Sprintf(ask, "b")
		p.from(1, 1001, 5001, ackPush, a)
		if acks {
			p.from(1, 1001+uint32(len(a)), 5001+uint32(len(okReply)), flagACK, "")
		}
		p.from(1, 1001+uint32(len(a)), 5001+uint32(len(okReply)), ackPush, b)
		p.from(-1, 5001+uint32(len(okReply)), 1001+uint32(len(a)+len(b)), ackPush, "HTTP/1.1 429 X\r\nContent-Length: 0\r\n\r\n")
		r := p.end()
		got := map[string]bool{}
		for _, x := range r.all {
			got[x.String()] = true
		}
		if !got["GET /b 429 answered"] || got["GET /a 429 answered"] {
			t.Errorf("%v", r)
		}
	}
}
