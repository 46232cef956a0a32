package packet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"stormwatch/capture"
	"stormwatch/capture/packet/write"
)

// two makes a connection with two exchanges, whose records are: 0-2 handshake,
// 3 /a, 4 its answer, 5 /b, 6 its answer, 7-9 the end.
func two(t *testing.T) []byte {
	m := newMade(t)
	c := m.dial()
	c.Send(base+1*ms, true, get("/a"))
	c.Send(base+2*ms, false, reply(429, "slow down", "Retry-After: 1"))
	c.Send(base+3*ms, true, get("/b"))
	c.Send(base+4*ms, false, reply(200, "fine"))
	c.Close(base + 5*ms)
	return m.bytes()
}

func TestReordered(t *testing.T) {
	b := two(t)
	want := []string{"GET /a 429 answered", "GET /b 200 answered"}
	for _, order := range [][]int{
		{0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
		{0, 1, 2, 4, 3, 5, 6, 7, 8, 9},
		{0, 1, 2, 3, 5, 4, 6, 7, 8, 9},
		{0, 1, 2, 3, 4, 6, 5, 7, 8, 9},
		{0, 1, 2, 3, 4, 5, 7, 6, 8, 9},
		{0, 1, 3, 2, 5, 4, 6, 8, 7, 9},
		{0, 1, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9}, // all sent twice
		{0, 1, 2, 3, 4, 5, 3, 6, 4, 7, 8, 9, 3, 6}, // stragglers
		{0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 0}, // a late SYN
	} {
		r := readAll(t, ordered(b, order...), Options{})
		got := map[string]bool{}
		for _, x := range r.all {
			got[x.String()] = true
		}
		if len(r.all) != 2 || !got[want[0]] || !got[want[1]] {
			t.Errorf("order %v: %v", order, r)
		}
	}
}

func TestLoss(t *testing.T) {
	b := two(t)
	for _, c := range []struct {
		drop []int
		want []string
	}{
		{[]int{0}, []string{"GET /a 429 answered", "GET /b 200 answered"}},
		{[]int{0, 1, 2}, []string{"GET /a 429 answered", "GET /b 200 answered"}},
		{[]int{3}, []string{"GET /b 200 answered", "  429 answered"}},
		{[]int{4}, []string{"GET /a 0 truncated", "GET /b 200 answered"}},
		{[]int{5}, []string{"GET /a 429 answered", "  200 answered"}},
		{[]int{6}, []string{"GET /a 429 answered", "GET /b 0 no-answer"}},
		{[]int{0, 1, 2, 3}, []string{"GET /b 200 answered", "  429 answered"}},
		{[]int{4, 5}, []string{"GET /a 0 no-answer", "  200 answered"}},
	} {
		r := readAll(t, without(b, c.drop...), Options{})
		t.Run(fmt.Sprint(c.drop), func(t *testing.T) { r.expect(t, c.want...) })
		for _, x := range r.all {
			if x.method == "" && x.Flags&capture.Orphan == 0 {
				t.Errorf("without %v: a response alone must be marked", c.drop)
			}
		}
	}
}

func TestMidstreamIsMarked(t *testing.T) {
	r := readAll(t, without(two(t), 0, 1, 2), Options{})
	if r.all[0].Flags&capture.Midstream == 0 {
		t.Error("a connection joined after it began must be marked")
	}
}

// TestSnapshotLength cuts every packet short: the lengths on the wire are known,
// so that pairing does not suffer, and hints that were cut off are not "absent".
func TestSnapshotLength(t *testing.T) {
	m := newMade(t)
	c := m.dial()
	for i := range int64(5) {
		c.Send(base+i*ms, true, get("/"+fmt.Sprint(i)+"?"+string(bytes.Repeat([]byte("x"), 200))))
		c.Send(base+i*ms+1, false, reply(429, string(bytes.Repeat([]byte("y"), 5000)), "X-Filler: "+string(bytes.Repeat([]byte("z"), 200)), "Retry-After: 3"))
	}
	head, recs := records(m.bytes())
	cut := bytes.Clone(head)
	for _, r := range recs {
		n := min(len(r)-16, 128)
		binary.LittleEndian.PutUint32(r[8:], uint32(n))
		cut = append(cut, r[:16+n]...)
	}
	r := readAll(t, cut, Options{})
	if len(r.all) != 5 {
		t.Fatalf("%v", r)
	}
	for _, x := range r.all {
		if x.Status != 429 || x.method != "GET" || x.Hint.State != capture.NotObservable || x.Flags&capture.Gap == 0 {
			t.Errorf("%v: hint %v, flags %b", x, x.Hint.State, x.Flags)
		}
	}
}

// TestOverlap sends bytes 2 to 10 of a request again together with what follows.
func TestOverlap(t *testing.T) {
	m := newMade(t)
	c := m.dial()
	req := get("/overlap")
	c.Send(base, true, req[:10])
	c.Send(base, true, req[2:])
	c.Send(base, false, reply(200, ""))
	b := m.bytes()
	_, recs := records(b)
	seq := recs[4][16+14+20+4:]
	be.PutUint32(seq, be.Uint32(seq)-8)
	r := readAll(t, b, Options{})
	if len(r.all) != 1 || r.all[0].String() != "GET /overlap 200 answered" {
		// the answer acknowledges eight bytes more than there are: only its pairing matters here
		t.Errorf("%v", r)
	}
}

func TestEndings(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(c *write.Conn)
		want string
		end  int64
	}{
		{"client resets", func(c *write.Conn) { c.Abort(base+9*ms, true) }, "GET / 0 reset", base + 9*ms},
		{"server resets", func(c *write.Conn) { c.Abort(base+9*ms, false) }, "GET / 0 reset", base + 9*ms},
		{"closed without answer", func(c *write.Conn) { c.Close(base + 9*ms) }, "GET / 0 no-answer", base + 9*ms},
		{"refusal cut short", func(c *write.Conn) {
			c.Send(base+3*ms, false, cutBody(503))
			c.Abort(base+9*ms, false)
		}, "GET / 503 answered", base + 3*ms},
		{"success cut short", func(c *write.Conn) {
			c.Send(base+3*ms, false, cutBody(200))
			c.Abort(base+9*ms, false)
		}, "GET / 200 truncated", base + 3*ms},
		{"body up to the end of the connection", func(c *write.Conn) {
			c.Send(base+3*ms, false, []byte("HTTP/1.0 200 OK\r\n\r\nsome"))
			c.Send(base+4*ms, false, []byte(" HTTP/1.1 500 more\r\n\r\n"))
			c.Close(base + 9*ms)
		}, "GET / 200 answered", base + 4*ms},
	} {
		m := newMade(t)
		conn := m.dial()
		conn.Send(base, true, get("/"))
		c.do(conn)
		r := readAll(t, m.bytes(), Options{})
		if len(r.all) != 1 || r.all[0].String() != c.want || r.all[0].End != c.end {
			t.Errorf("%s: %v ends at %d, want %s at %d", c.name, r, r.all[0].End-base, c.want, c.end-base)
		}
	}
}

func cutBody(status int) []byte {
	b := reply(status, "long body")
	return b[:len(b)-3]
}

// TestPortReuse opens the same addresses and ports again and again, after every
// kind of end, also without one.
func TestPortReuse(t *testing.T) {
	m := newMade(t)
	want := []string{}
	for i := range int64(30) {
		at := base + i*10*ms
		c := m.w.Dial(at, client, server)
		path := fmt.Sprint("/", i)
		c.Send(at+ms, true, get(path))
		if i%5 == 4 {
			want = append(want, "GET "+path+" 0 no-answer") // the next SYN ends it
			if i == 29 {
				c.Close(at + 2*ms)
			}
			continue
		}
		c.Send(at+2*ms, false, reply(int(200+i), ""))
		want = append(want, fmt.Sprint("GET ", path, " ", 200+i, " answered"))
		switch i % 3 {
		case 0:
			c.Close(at + 3*ms)
		case 1:
			c.Abort(at+3*ms, i%2 == 0)
		}
	}
	r := readAll(t, m.bytes(), Options{})
	r.expect(t, want...)
	for _, x := range r.all {
		if x.ConnSeq != 1 {
			t.Errorf("%v: request %d of its connection", x, x.ConnSeq)
		}
	}
}

func TestOtherTraffic(t *testing.T) {
	m := newMade(t)
	dial := func(port uint16) *write.Conn {
		return m.w.Dial(base, netip.AddrPortFrom(client.Addr(), port), server)
	}
	dial(1).Send(base, true, []byte("\x16\x03\x01\x02\x00\x01\x00"))
	dial(2).Send(base, true, []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
	dial(3).Send(base, false, []byte("220 mail.example ESMTP\r\n"))
	tun := dial(4)
	tun.Send(base, true, []byte("CONNECT far.example:443 HTTP/1.1\r\n\r\n"))
	tun.Send(base+ms, false, []byte("HTTP/1.1 200 OK\r\n\r\n"))
	tun.Send(base+2*ms, true, []byte("\x16\x03\x01\x02\x00\x01\x00GET / HTTP/1.1\r\n\r\n"))
	r := readAll(t, m.bytes(), Options{})
	r.expect(t, "CONNECT far.example:443 200 answered")
	if r.health.Encrypted != 2 || r.health.Read != r.health.Used+r.health.SkippedTotal() {
		t.Errorf("health %+v", r.health)
	}
	for _, reason := range []string{skipTLS, skipOther, skipUpgraded} {
		found := false
		for _, k := range r.health.Skipped {
			found = found || k.Reason == reason && k.Count > 0 && len(k.Examples) > 0
		}
		if !found {
			t.Errorf("nothing counted as %q: %+v", reason, r.health.Skipped)
		}
	}
}

// TestIdleHole checks that a hole nobody acknowledges is given up by the clock
// of other traffic, and holds the watermark back until then.
func TestIdleHole(t *testing.T) {
	m := newMade(t)
	c := m.dial()
	c.Send(base, true, get("/a")[:10])
	c.Send(base, true, get("/a")[10:])
	c.Send(base+ms, true, get("/b"))
	o := m.w.Dial(base, netip.AddrPortFrom(client.Addr(), 2), server)
	for i := range int64(40) {
		o.Send(base+100*i*ms, true, get(fmt.Sprint("/o", i)))
		o.Send(base+100*i*ms+1, false, reply(200, ""))
	}
	b := m.bytes()
	_, recs := records(b)
	for i, rec := range recs {
		if bytes.HasSuffix(rec, get("/a")[10:]) {
			b = without(b, i)
			break
		}
	}
	r := readAll(t, b, Options{})
	if len(r.all) != 42 || r.health.GapBytes != uint64(len(get("/a"))-10) || r.health.Late != 0 {
		t.Errorf("%d exchanges, health %+v", len(r.all), r.health)
	}
}

// TestHoles says when a hole is given up: one that the peer has acknowledged
// after 24 more packets or 100 ms, any other after two seconds.
func TestHoles(t *testing.T) {
	req := fmt.Sprintf(ask, "a")
	after := 1001 + uint32(len(req)) // the request before is lost
	for _, c := range []struct {
		name         string
		acknowledged bool
		packets      int
		wait         int64
		given        bool
	}{
		{"acknowledged, at once", true, 0, 0, false},
		{"acknowledged, few packets", true, gapPackets - 2, 0, false},
		{"acknowledged, many packets", true, gapPackets + 1, 0, true},
		{"acknowledged, short", true, 1, 90 * ms, false},
		{"acknowledged, long", true, 1, 110 * ms, true},
		{"not acknowledged, many packets", false, 100, 0, false},
		{"not acknowledged, long", false, 1, 1900 * ms, false},
		{"not acknowledged, very long", false, 1, 2100 * ms, true},
	} {
		p := dialled(t)
		if c.acknowledged {
			p.from(-1, 5001, after+uint32(len(req)), flagACK, "")
		}
		p.from(1, after, 5001, ackPush, req)
		p.pass(c.wait)
		for range c.packets {
			p.from(1, after+uint32(len(req)), 5001, flagACK, "")
		}
		if got := p.out.health.GapBytes == uint64(len(req)); got != c.given {
			t.Errorf("%s: given up is %v, want %v", c.name, got, c.given)
		}
		if r := p.end(); len(r.all) != 1 {
			t.Errorf("%s: %v", c.name, r)
		}
	}
}

// fleet makes conns connections of n exchanges each. The hint of every answer
// repeats the number in its request's path, so that wrong pairs show.
func fleet(t testing.TB, conns, n int) (total int, b []byte) {
	m := newMade(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range conns {
		at := base + int64(i)*3*ms
		c := m.w.Dial(at, netip.AddrPortFrom(client.Addr(), uint16(10000+i)), server)
		for range n {
			total++
			at += 1 + rng.Int64N(20*ms)
			c.Send(at, true, get(fmt.Sprint("/", total)))
			at += 1 + rng.Int64N(20*ms)
			c.Send(at, false, reply(429, fmt.Sprintf("%0*d", rng.IntN(4000), 1), fmt.Sprint("Retry-After: ", total)))
		}
		c.Close(at + ms)
	}
	return total, m.bytes()
}
