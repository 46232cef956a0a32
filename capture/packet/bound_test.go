package packet

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"stormwatch/capture"
)

// address is the n-th of many clients.
func address(n int) capture.Endpoint {
	e := capture.Endpoint{Port: 1}
	be.PutUint32(e.IP[12:], uint32(n))
	e.IP[10], e.IP[11] = 0xff, 0xff
	return e
}

func (p *tap) client(n int, seq, ack uint32, flags byte, payload string) {
	p.segment(&addressed{
		src: address(n), dst: capture.Endpoint{IP: server.Addr().As16(), Port: 80},
		segment: segment{seq: seq, ack: ack, flags: flags, payload: []byte(payload), wire: len(payload)},
	})
}

func (p *tap) answer(n int, seq, ack uint32, payload string) {
	p.segment(&addressed{
		dst: address(n), src: capture.Endpoint{IP: server.Addr().As16(), Port: 80},
		segment: segment{seq: seq, ack: ack, flags: ackPush, payload: []byte(payload), wire: len(payload)},
	})
}

// TestManyConnections opens more connections with a request each than are kept:
// those silent longest are given up, and the number is told.
func TestManyConnections(t *testing.T) {
	p := newTap(t)
	n := 0
	const over = 5000
	p.out.sink = func(b *capture.Batch) error {
		for _, x := range b.Exchanges {
			if n < over && (x.Outcome != capture.Truncated || x.Src != address(n)) {
				t.Fatalf("exchange %d is %v from %v, want the oldest, given up", n, x.Outcome, x.Src)
			}
			n++
		}
		return nil
	}
	for i := range maxConns + over {
		p.client(i, 1, 1, ackPush, "GET / HTTP/1.1\r\n\r\n")
		if p.tab.conns.n > maxConns || p.tab.buffered > maxBuffered {
			t.Fatalf("%d connections, %d bytes", p.tab.conns.n, p.tab.buffered)
		}
	}
	if got := p.bounded(boundConns); got != over {
		t.Errorf("told %d times, want %d", got, over)
	}
	if p.end(); n != maxConns+over {
		t.Errorf("%d exchanges of %d", n, maxConns+over)
	}
}

// TestFlood sends half-open connections, and others that carry nothing that is
// HTTP, in numbers beyond what is kept, while live connections wait for their
// answers: not one of those is given up.
func TestFlood(t *testing.T) {
	const live = 1000
	req := fmt.Sprintf(ask, "live")
	for name, flood := range map[string]func(p *tap, n int){
		"SYN":     func(p *tap, n int) { p.client(n, 1, 0, flagSYN, "") },
		"SYN ACK": func(p *tap, n int) { p.answer(n, 1, 2, ""); p.client(n, 1, 0, flagSYN, "") },
		"noise":   func(p *tap, n int) { p.client(n, 1, 1, ackPush, "\x00\x01\x02") },
		"TLS":     func(p *tap, n int) { p.client(n, 1, 1, ackPush, "\x16\x03\x01\x02\x00") },
	} {
		if !thorough() && name != "SYN" && name != "TLS" {
			continue
		}
		p := newTap(t)
		for i := range live {
			p.client(i, 0, 0, flagSYN, "")
			p.client(i, 1, 1, ackPush, req)
		}
		for i := range maxConns + 10_000 {
			flood(p, live+i)
			if p.tab.conns.n > maxConns {
				t.Fatalf("%s: %d connections", name, p.tab.conns.n)
			}
		}
		for i := range live {
			p.answer(i, 1, 1+uint32(len(req)), okReply)
		}
		r := p.end()
		if len(r.all) != live {
			t.Fatalf("%s: %d exchanges of %d", name, len(r.all), live)
		}
		for _, x := range r.all {
			if x.String() != "GET /live 200 answered" || x.Flags != 0 {
				t.Fatalf("%s: %v, flags %b", name, x, x.Flags)
			}
		}
		if got := p.bounded(boundQuiet); got != live+10_000 || p.bounded(boundConns) != 0 {
			t.Errorf("%s: bounds %+v, want %d half-open connections given up and no other", name, p.out.health.Bounds, live+10_000)
		}
	}
}

// TestOutOfOrderBound sends what never becomes whole, in one direction: bytes and
// pieces waiting stay bounded, holes are passed over, and that is told.
func TestOutOfOrderBound(t *testing.T) {
	for name, size := range map[string]int{"large pieces": 60_000, "small pieces": 1} {
		p := dialled(t)
		n := uint64(0)
		for i := range 5000 {
			p.from(1, uint32(1003+i*(size+1)), 5001, ackPush, strings.Repeat("x", size))
			for c := range p.tab.conns.all() {
				if c.late == nil {
					continue
				}
				if q := &c.late.half[0]; q.size > maxQueue+2*size+pieceCost || q.waiting() > maxPieces {
					t.Fatalf("%s: %d bytes in %d pieces", name, q.size, q.waiting())
				}
			}
			n = p.bounded(boundQueue)
		}
		if p.end(); n < 1000 || p.out.health.GapBytes == 0 {
			t.Errorf("%s: told %d times, %d bytes lost", name, n, p.out.health.GapBytes)
		}
	}
}

// TestBufferedBound fills many connections with what never becomes whole: the
// oldest holes are passed over, and a connection that waits for its answer stays.
func TestBufferedBound(t *testing.T) {
	p := newTap(t)
	req := fmt.Sprintf(ask, "live")
	p.client(0, 1, 1, ackPush, req)
	piece := strings.Repeat("x", 60_000)
	for i := range 2 * maxBuffered / (15 * 60_000) {
		p.client(1+i, 0, 0, flagSYN, "")
		for k := range 15 {
			p.client(1+i, uint32(2+k*60_001), 1, ackPush, piece)
		}
		if p.tab.buffered > maxBuffered+2*maxFreeSize {
			t.Fatalf("%d bytes", p.tab.buffered)
		}
	}
	p.answer(0, 1, 1+uint32(len(req)), okReply)
	r := p.end()
	r.expect(t, "GET /live 200 answered")
	if p.bounded(boundBytes) == 0 {
		t.Error("the bound was reached, and is not told")
	}
	if p.tab.free > maxFree {
		t.Errorf("%d bytes are kept in the pool", p.tab.free)
	}
}

// TestPipelineBounds sends requests without end and answers without requests.
func TestPipelineBounds(t *testing.T) {
	p := dialled(t)
	req := fmt.Sprintf(ask, "p")
	const n = 1000
	for i := range n {
		p.from(1, uint32(1001+i*len(req)), 5001, ackPush, req)
	}
	if got := p.bounded(boundOpen); got != n-maxPipeline {
		t.Errorf("told %d times, want %d", got, n-maxPipeline)
	}
	if r := p.end(); len(r.all) != n {
		t.Errorf("%d exchanges of %d", len(r.all), n)
	}

	p = dialled(t)
	for i := range n {
		p.from(-1, uint32(5001+i*len(okReply)), 1001, ackPush, okReply)
	}
	if got := p.bounded(boundHeld); got != n-maxHeld {
		t.Errorf("told %d times, want %d", got, n-maxHeld)
	}
	if r := p.end(); len(r.all) != n {
		t.Errorf("%d exchanges of %d", len(r.all), n)
	}
}

// TestHeaderBound sends header blocks beyond the bound, both ways.
func TestHeaderBound(t *testing.T) {
	long := "X-Long: " + strings.Repeat("a", maxHeaders) + "\r\n"
	r := talk(t, 1400, c("GET /long HTTP/1.1\r\nUser-Agent: u\r\n"+long+"\r\n"), s("HTTP/1.1 429 X\r\nRetry-After: 3\r\n"+long+"\r\n"))
	r.expect(t, "GET /long 429 answered")
	if x := r.all[0]; x.agent != "u" || x.raw != "3" || x.Flags&capture.Gap == 0 {
		t.Errorf("agent %q, hint %q, flags %b", x.agent, x.raw, x.Flags)
	}
	if n := told(r.health.Bounds, boundHeader); n != 2 {
		t.Errorf("told %d times, want 2", n)
	}
}

// TestSilence forgets what has been silent for five minutes of capture time, and
// nothing that has not; what waited without an answer is told.
func TestSilence(t *testing.T) {
	p := newTap(t)
	req := fmt.Sprintf(ask, "a")
	p.client(1, 1, 1, ackPush, req)
	p.client(2, 1, 1, ackPush, req)
	p.pass(idleWait - 1e9)
	p.client(2, 1+uint32(len(req)), 1, flagACK, "") // alive
	p.pass(2e9)
	p.client(3, 1, 1, ackPush, req)
	if p.tab.conns.n != 2 {
		t.Errorf("%d connections, want 2", p.tab.conns.n)
	}
	p.answer(2, 1, 1+uint32(len(req)), okReply)
	r := p.end()
	r.expect(t, "GET /a 0 no-answer", "GET /a 200 answered", "GET /a 0 no-answer")
}

// TestOpenRequests holds 200,000 connections with a request each: the reader must
// leave room for judging them within 300 MB, all told.
func TestOpenRequests(t *testing.T) {
	if !thorough() {
		t.Skip("a long run: set STORMWATCH_QUALITY=1")
	}
	const n = 200_000
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	p := newTap(t)
	got := 0
	p.out.sink = func(b *capture.Batch) error {
		got += len(b.Exchanges)
		return nil
	}
	for i := range n {
		p.client(i, 1000, 0, flagSYN, "")
		p.client(i, 1001, 5001, ackPush, fmt.Sprintf("GET /x/%d HTTP/1.1\r\nHost: a\r\nUser-Agent: synth\r\n\r\n", i))
	}
	used := heap() - before
	t.Logf("%d MB, %d bytes a connection", used>>20, used/n)
	if used > 130e6 {
		t.Errorf("%d bytes", used)
	}
	if p.end(); got != n {
		t.Errorf("%d exchanges of %d", got, n)
	}
}
