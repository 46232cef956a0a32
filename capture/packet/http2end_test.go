package packet

import (
	"testing"

	h2 "golang.org/x/net/http2"

	"stormwatch/capture"
)

// TestHTTP2Resets has the ways in which a stream ends before its time (RFC 9113
// sections 5.4.2, 7 and 8.7).
func TestHTTP2Resets(t *testing.T) {
	m := newMade(t)
	p := m.talk()
	paths := map[uint32]string{1: "/refused", 3: "/calm", 5: "/broken", 7: "/left", 9: "/left-late", 11: "/refusal-cut", 13: "/cut", 15: "/done"}
	for id := uint32(1); id <= 15; id += 2 {
		p.ask(id, paths[id])
	}
	p.send(base, toServer)
	rst := func(d int, id uint32, code h2.ErrCode) { p.check(p.fr[d].WriteRSTStream(id, code)) }
	rst(toClient, 1, h2.ErrCodeRefusedStream)
	rst(toClient, 3, h2.ErrCodeEnhanceYourCalm)
	rst(toClient, 5, h2.ErrCodeInternal)
	p.headers(toClient, 9, false, ":status", "200")
	p.headers(toClient, 11, false, ":status", "429", "retry-after", "5")
	p.headers(toClient, 13, false, ":status", "200")
	rst(toClient, 11, h2.ErrCodeInternal)
	rst(toClient, 13, h2.ErrCodeInternal)
	p.reply(15, "200")
	rst(toClient, 15, h2.ErrCodeNo) // after the whole response: the request's rest is not wanted
	p.send(base+ms, toClient)
	rst(toServer, 7, h2.ErrCodeCancel)
	rst(toServer, 9, h2.ErrCodeCancel)
	p.send(base+2*ms, toServer)
	p.reply(7, "200") // on its way when the client left
	p.send(base+3*ms, toClient)
	r := readAll(t, m.bytes(), Options{})
	r.expect(t,
		"GET /refused 0 reset",
		"GET /calm 0 reset",
		"GET /broken 0 reset",
		"GET /refusal-cut 429 answered",
		"GET /cut 200 truncated",
		"GET /done 200 answered",
		"GET /left 0 no-answer",
		"GET /left-late 200 truncated",
	)
	want := map[string]capture.Reason{"/refused": capture.Overload, "/calm": capture.Throttle, "/refusal-cut": capture.Throttle}
	for _, x := range r.all {
		if reason, ok := want[x.target]; x.Refused() != ok || ok && x.Reason != reason {
			t.Errorf("%v: %v, refused %v; want %v", x, x.Reason, x.Refused(), reason)
		}
		end := int64(base + ms)
		if x.target == "/left" || x.target == "/left-late" {
			end = base + 2*ms
		}
		if x.target != "/left-late" && x.End != end { // its last byte came before
			t.Errorf("%v ended after %d ns, want %d", x, x.End-base, end-base)
		}
	}
}

// TestHTTP2GoAway ends what the server will not look at (RFC 9113 section 6.8); the
// streams below go on.
func TestHTTP2GoAway(t *testing.T) {
	m := newMade(t)
	p := m.talk()
	for id := uint32(1); id <= 5; id += 2 {
		p.ask(id, "/"+string(rune('0'+id)))
	}
	p.send(base, toServer)
	p.check(p.fr[toClient].WriteGoAway(1<<31-1, h2.ErrCodeNo, nil)) // a warning first
	p.check(p.fr[toClient].WriteGoAway(3, h2.ErrCodeNo, []byte("bye")))
	p.send(base+ms, toClient)
	p.ask(7, "/7") // sent before the client knew
	p.send(base+2*ms, toServer)
	p.reply(3, "200")
	p.send(base+3*ms, toClient)
	p.c.Close(base + 4*ms)
	r := readAll(t, m.bytes(), Options{})
	r.expect(t, "GET /5 0 no-answer", "GET /7 0 no-answer", "GET /3 200 answered", "GET /1 0 no-answer")
	for _, x := range r.all[:3] {
		if x.End > base+3*ms {
			t.Errorf("%v ended after %d ns", x, x.End-base)
		}
	}
}

// TestHTTP2CalmDown is a connection that the server closes on a client that asks
// too much.
func TestHTTP2CalmDown(t *testing.T) {
	m := newMade(t)
	p := m.talk()
	p.ask(1, "/")
	p.send(base, toServer)
	p.check(p.fr[toClient].WriteGoAway(0, h2.ErrCodeEnhanceYourCalm, nil))
	p.send(base+ms, toClient)
	r := readAll(t, m.bytes(), Options{})
	r.expect(t, "GET / 0 no-answer")
	if x := r.all[0]; x.Reason != capture.Throttle || !x.Refused() {
		t.Errorf("%v: %v", x, x.Reason)
	}
}

// TestHTTP2Endings ends connections with a stream open.
func TestHTTP2Endings(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*peers)
		want string
		flag capture.Flags
	}{
		"closed":   {func(p *peers) { p.c.Close(base + 5*ms) }, "GET / 0 no-answer", capture.GaveUp},
		"reset":    {func(p *peers) { p.c.Abort(base+5*ms, false) }, "GET / 0 reset", 0},
		"captured": {func(*peers) {}, "GET / 0 no-answer", capture.Gap},
	} {
		m := newMade(t)
		p := m.talk()
		p.ask(1, "/")
		p.send(base, toServer)
		c.end(p)
		r := readAll(t, m.bytes(), Options{})
		r.expect(t, c.want)
		if r.all[0].Flags != c.flag {
			t.Errorf("%s: flags %b, want %b", name, r.all[0].Flags, c.flag)
		}
	}
}

// TestHTTP2Push counts what was pushed; nobody asked for it.
func TestHTTP2Push(t *testing.T) {
	m := newMade(t)
	p := m.talk()
	p.ask(1, "/page")
	p.send(base, toServer)
	p.check(p.fr[toClient].WritePushPromise(h2.PushPromiseParam{
		StreamID: 1, PromiseID: 2, EndHeaders: true, PadLength: 3,
		BlockFragment: p.block(toClient, ":method", "GET", ":path", "/style.css", ":scheme", "http", ":authority", "api.example"),
	}))
	p.headers(toClient, 2, false, ":status", "200", "server", "pusher/2")
	p.body(toClient, 2, true, "body {}")
	p.headers(toClient, 1, false, ":status", "503", "server", "pusher/2", "retry-after", "4")
	p.body(toClient, 1, true, "page")
	p.send(base+ms, toClient)
	r := readAll(t, m.bytes(), Options{})
	r.expect(t, "GET /page 503 answered")
	if r.all[0].Hint.Wait != 4e9 || r.counted(skipPush) != 1 {
		t.Errorf("hint %+v, skipped %+v", r.all[0].Hint, r.health.Skipped)
	}
}

// TestHTTP2Live announces streams that wait, like any request.
func TestHTTP2Live(t *testing.T) {
	m := newMade(t)
	p := m.talk()
	p.ask(1, "/slow")
	p.send(base, toServer)
	p.check(p.fr[toServer].WritePing(false, [8]byte{}))
	p.send(base+3e9, toServer)
	p.reply(1, "429", "retry-after", "1")
	p.send(base+4e9, toClient)
	r := readAll(t, m.bytes(), Options{Live: true})
	r.expect(t, "GET /slow 0 pending", "GET /slow 429 answered")
	if r.all[0].ID == 0 || r.all[0].ID != r.all[1].ID || r.all[1].Hint.Wait != 1e9 {
		t.Errorf("%+v, then %+v", r.all[0].Exchange, r.all[1].Exchange)
	}
}
