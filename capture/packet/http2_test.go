package packet

import (
	"bytes"
	fnvhash "hash/fnv"
	"net/netip"
	"strings"
	"testing"

	h2 "golang.org/x/net/http2"

	"stormwatch/capture"
)

func digest(text string) uint64 {
	h := fnvhash.New64a()
	_, _ = h.Write([]byte(text))
	return h.Sum64()
}

// TestHTTP2Exchange has all that a header block may be wrapped in: padding, a
// priority, three frames; and a padded body in two.
func TestHTTP2Exchange(t *testing.T) {
	m := newMade(t)
	p := m.talk()
	block := p.block(toServer, ":method", "POST", ":scheme", "http", ":path", "/v1/charge?api_key=hush&n=1", ":authority", "api.example",
		"user-agent", "probe/1", "authorization", "Bearer hush", "idempotency-key", "k-1", "x-forwarded-for", "192.0.2.7", "x-stainless-retry-count", "2")
	p.check(p.fr[toServer].WriteHeaders(h2.HeadersFrameParam{
		StreamID: 1, BlockFragment: block[:10], PadLength: 7, Priority: h2.PriorityParam{StreamDep: 0, Weight: 15},
	}))
	p.send(base+1*ms, toServer)
	p.check(p.fr[toServer].WriteContinuation(1, false, block[10:12]))
	p.check(p.fr[toServer].WriteContinuation(1, true, block[12:]))
	p.send(base+2*ms, toServer)
	p.check(p.fr[toServer].WriteDataPadded(1, false, []byte("bo"), make([]byte, 200)))
	p.check(p.fr[toServer].WriteDataPadded(1, true, []byte("dy"), make([]byte, 0)))
	p.send(base+3*ms, toServer)
	p.headers(toClient, 1, false, ":status", "429", "retry-after", "7", "date", "Tue, 14 Nov 2023 22:13:20 GMT")
	p.send(base+5*ms, toClient)
	p.body(toClient, 1, false, "slow")
	p.send(base+6*ms, toClient)
	p.body(toClient, 1, true, "down")
	p.send(base+8*ms, toClient)
	p.c.Close(base + 9*ms)
	r := readAll(t, m.bytes(), Options{Secrets: secrets})
	r.expect(t, "POST /v1/charge?api_key=***&n=1 429 answered")
	x := r.all[0]
	h := capture.Hint{State: capture.Present, Kind: capture.RetryAfterSeconds, Wait: 7e9, Raw: x.Hint.Raw}
	switch {
	case x.Start != base+1*ms || x.End != base+8*ms:
		t.Errorf("from %d to %d, want %d to %d", x.Start, x.End, base+1*ms, base+8*ms)
	case x.Src.String() != client.String() || x.Dst.String() != server.String():
		t.Errorf("%v to %v, want %v to %v", x.Src, x.Dst, client, server)
	case x.ConnSeq != 1 || x.At != capture.Provenance{A: 6, B: 9}:
		t.Errorf("request %d at %v, want the first, at frame 6/9", x.ConnSeq, x.At)
	case x.host != "api.example" || x.agent != "probe/1":
		t.Errorf("host %q, agent %q", x.host, x.agent)
	case x.Hint != h || x.raw != "7":
		t.Errorf("hint %+v %q, want %+v", x.Hint, x.raw, h)
	case x.Date != 1_700_000_000 || x.Reason != capture.Throttle || x.Flags != 0 || x.RPC != capture.NoRPC:
		t.Errorf("date %d, reason %v, flags %b, gRPC status %d", x.Date, x.Reason, x.Flags, x.RPC)
	case x.Attempt != capture.Attempt{N: 3, Counter: capture.StainlessRetries}:
		t.Errorf("attempt %+v, want the third", x.Attempt)
	case x.Credential != secrets.Hash([]byte("Bearer hush")) || x.IdemKey != digest("k-1"):
		t.Errorf("credential %d, idempotency key %d", x.Credential, x.IdemKey)
	case x.Body != digest("body"):
		t.Errorf("body digest %x, want that of the bytes without padding", x.Body)
	}
	if h := r.health; h.Used != h.Read || len(h.Skipped) > 0 {
		t.Errorf("health %+v", h)
	}
}

// TestHTTP2Pieces sends the same streams in packets of many sizes: nothing may
// depend on how the bytes are cut.
func TestHTTP2Pieces(t *testing.T) {
	var want string
	for _, size := range []int{1 << 20, 3, 4, 5, 7, 9, 10, 64} {
		m := newMade(t)
		p := newPeers(t, m.dial())
		p.out[toServer].WriteString(h2.ClientPreface)
		p.check(p.fr[toServer].WriteSettings(h2.Setting{ID: h2.SettingHeaderTableSize, Val: 100}))
		for id := uint32(1); id < 20; id += 2 {
			p.ask(id, "/items/"+strings.Repeat("x", int(id)), "authorization", "Bearer 1", "x-api-key", "2")
		}
		p.call(21, "grpc-previous-rpc-attempts", "3")
		for id := uint32(1); id < 20; id += 2 {
			p.headers(toClient, id, false, ":status", "429", "retry-after", "1")
			p.body(toClient, id, true, "slow down")
		}
		p.headers(toClient, 21, false, ":status", "200", "content-type", "application/grpc")
		p.body(toClient, 21, false, "answer")
		p.headers(toClient, 21, true, "grpc-status", "14", "grpc-retry-pushback-ms", "250")
		for d := range 2 {
			for b := p.take(d); len(b) > 0; {
				n := min(size, len(b))
				p.c.Send(base, d == toServer, b[:n])
				b = b[n:]
			}
		}
		r := readAll(t, m.bytes(), Options{Secrets: secrets})
		got := r.String()
		for _, x := range r.all {
			if x.host == "api.example" && (x.Hint.Wait != 1e9 || x.Credential != secrets.Hash([]byte("Bearer 1")) || x.agent != "probe/1") {
				t.Errorf("pieces of %d: %v: hint %+v, credential %d, agent %q", size, x, x.Hint, x.Credential, x.agent)
			}
		}
		if last := r.all[len(r.all)-1]; last.Attempt.N != 4 || last.Hint.Wait != 250*ms || last.Reason != capture.Overload || last.Body != digest("\x00\x00\x00\x00\x01x") {
			t.Errorf("pieces of %d: call %+v", size, last)
		}
		if want == "" {
			want = got
		}
		if got != want || len(r.all) != 11 || r.counted(skipHPACK)+r.counted(skipFrames) > 0 {
			t.Errorf("pieces of %d:\n%swant:\n%s%+v", size, got, want, r.health.Skipped)
		}
	}
}

// TestHTTP2SameCredential checks that a credential is the same one in HTTP/1 and
// HTTP/2, given in full and out of a header table.
func TestHTTP2SameCredential(t *testing.T) {
	m := newMade(t)
	c := m.w.Dial(base, netip.AddrPortFrom(client.Addr(), 2), server)
	c.Send(base, true, []byte("GET /1 HTTP/1.1\r\nX-Api-Key: b\r\n\r\n"))
	c.Send(base+ms, false, reply(200, ""))
	p := m.talk()
	p.ask(1, "/2", "x-api-key", "b")
	p.ask(3, "/3", "x-api-key", "b")
	p.ask(5, "/4", "x-api-key", "b", "authorization", "a")
	p.ask(7, "/5", "x-api-key", "b", "authorization", "a")
	p.send(base+ms, toServer)
	for id := uint32(1); id < 8; id += 2 {
		p.reply(id, "200")
	}
	p.send(base+2*ms, toClient)
	want := map[string]string{"/1": "b", "/2": "b", "/3": "b", "/4": "a", "/5": "a"}
	for _, x := range readAll(t, m.bytes(), Options{Secrets: secrets}).all {
		if x.Credential != secrets.Hash([]byte(want[x.target])) {
			t.Errorf("%s: credential %d, want that of %q", x.target, x.Credential, want[x.target])
		}
		delete(want, x.target)
	}
	if len(want) > 0 {
		t.Errorf("not seen: %v", want)
	}
}

// TestHTTP2NothingSecretIsKept looks into the header tables as well.
func TestHTTP2NothingSecretIsKept(t *testing.T) {
	m := newMade(t)
	p := m.talk()
	secret := []string{
		"authorization", "Bearer hush1", "x-api-key", "hush2", "cookie", "id=hush3", "proxy-authorization", "hush4", "x-amz-security-token", "hush5",
		"referer", "http://x/?token=hush6", "grpc-message", "fine",
	}
	p.ask(1, "/?token=hush7&n=1", secret...)
	p.ask(3, "/?token=hush7&n=1", secret...)
	p.send(base, toServer)
	p.headers(toClient, 1, false, ":status", "200", "set-cookie", "hush8", "location", "/?key=hush9")
	p.body(toClient, 1, true, "hush")
	p.send(base, toClient)
	s, out := tableOf(t, m.bytes(), func(b *capture.Batch) error {
		if strings.Contains(string(b.Text), "hush") {
			t.Errorf("the batch holds %q", b.Text)
		}
		return nil
	})
	for i := range out.names.Len() {
		if text := out.names.Text(capture.Symbol(i)); strings.Contains(text, "hush") {
			t.Errorf("the names hold %q", text)
		}
	}
	for c := range s.conns.all() {
		for d := range c.http.h2.flow {
			if b := c.http.h2.flow[d].table.data; bytes.Contains(b, []byte("hush")) {
				t.Errorf("the header table holds %q", b)
			}
		}
	}
	for c := s.open.front(); c != nil; c = s.open.front() {
		s.remove(c, endInput)
	}
	if s.buffered != 0 {
		t.Errorf("%d bytes are still counted after the end", s.buffered)
	}
}

// tableOf reads a capture without ending it.
func tableOf(t *testing.T, b []byte, sink capture.Sink) (*table, *output) {
	t.Helper()
	s, err := Open("x", bytes.NewReader(b), Options{Secrets: secrets})
	if err != nil {
		t.Fatal(err)
	}
	s.attach(sink)
	_ = s.packets(t.Context()) // how it ends is not the matter
	s.out.flush(false)
	return s.table, s.out
}

// TestHTTP2Answers has the ways in which a response may come.
func TestHTTP2Answers(t *testing.T) {
	m := newMade(t)
	p := m.talk()
	for id := uint32(1); id <= 11; id += 2 {
		p.ask(id, "/"+string(rune('0'+id/2)))
	}
	p.headers(toServer, 13, false, ":method", "CONNECT", ":authority", "far.example:443")
	p.send(base+ms, toServer)
	p.headers(toClient, 1, false, ":status", "103", "link", "</x>")
	p.headers(toClient, 1, false, ":status", "100")
	p.headers(toClient, 3, true, ":status", "204")
	p.headers(toClient, 5, false, ":status", "200")
	p.headers(toClient, 13, false, ":status", "200")
	p.body(toClient, 13, false, "anything")
	p.send(base+2*ms, toClient)
	p.headers(toClient, 1, true, ":status", "503", "retry-after", "2")
	p.body(toClient, 5, false, "chunk")
	p.headers(toClient, 5, true, "server-timing", "x")
	p.headers(toClient, 7, false, ":status", "200", "content-length", "0")
	p.body(toClient, 7, true, "")
	p.out[toClient].Write(raw(0x4d, 0xff, 9, []byte("an extension"))) // unknown frames are ignored
	p.headers(toClient, 9, true, ":status", "429", "retry-after-ms", "1500", "retry-after", "2")
	p.send(base+3*ms, toClient)
	p.c.Close(base + 4*ms)
	r := readAll(t, m.bytes(), Options{})
	r.expect(t,
		"GET /1 204 answered",
		"CONNECT far.example:443 200 answered",
		"GET /0 503 answered",
		"GET /2 200 answered",
		"GET /3 200 answered",
		"GET /4 429 answered",
		"GET /5 0 no-answer",
	)
	for _, x := range r.all {
		switch x.target {
		case "/0":
			if x.Hint.Wait != 2e9 || x.End != base+3*ms {
				t.Errorf("%v: hint %+v, ended at %d", x, x.Hint, x.End-base)
			}
		case "/4":
			if x.Hint.Kind != capture.RetryAfterMillis || x.Hint.Wait != 1500*ms {
				t.Errorf("%v: hint %+v", x, x.Hint)
			}
		case "/2":
			if x.Hint.State != capture.Absent || x.Reason != capture.OK {
				t.Errorf("%v: hint %+v, %v", x, x.Hint, x.Reason)
			}
		}
	}
	if n := len(r.health.Skipped); n != 0 {
		t.Errorf("skipped %+v", r.health.Skipped)
	}
}

// TestHTTP2Upgrade has stream 1 answer the request that asked for HTTP/2 (RFC 7540
// section 3.2), with the first frames in the packet of the 101.
func TestHTTP2Upgrade(t *testing.T) {
	m := newMade(t)
	p := newPeers(t, m.dial())
	p.c.Send(base, true, []byte("GET /first HTTP/1.1\r\nHost: api.example\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n"))
	p.out[toClient].WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
	p.check(p.fr[toClient].WriteSettings())
	p.send(base+ms, toClient)
	p.out[toServer].WriteString(h2.ClientPreface)
	p.check(p.fr[toServer].WriteSettings())
	p.ask(3, "/second")
	p.send(base+2*ms, toServer)
	p.headers(toClient, 1, false, ":status", "429", "retry-after", "3")
	p.body(toClient, 1, true, "later")
	p.send(base+3*ms, toClient)
	p.reply(3, "200")
	p.send(base+4*ms, toClient)
	r := readAll(t, m.bytes(), Options{})
	r.expect(t, "GET /first 429 answered", "GET /second 200 answered")
	if x := r.all[0]; x.ConnSeq != 1 || x.Start != base || x.End != base+3*ms || x.Hint.Wait != 3e9 || x.At != (capture.Provenance{A: 4, B: 7}) {
		t.Errorf("%v: request %d, %d to %d, hint %+v, %v", x, x.ConnSeq, x.Start-base, x.End-base, x.Hint, x.At)
	}
	if x := r.all[1]; x.ConnSeq != 2 {
		t.Errorf("%v: request %d", x, x.ConnSeq)
	}
	if r.health.Used != r.health.Read {
		t.Errorf("health %+v", r.health)
	}
}

// TestHTTP2UpgradeDeclined stays with HTTP/1.
func TestHTTP2UpgradeDeclined(t *testing.T) {
	m := newMade(t)
	c := m.dial()
	c.Send(base, true, []byte("GET /a HTTP/1.1\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n"))
	c.Send(base+ms, false, reply(200, "no"))
	c.Send(base+2*ms, true, get("/b"))
	c.Send(base+3*ms, false, reply(200, "no"))
	readAll(t, m.bytes(), Options{}).expect(t, "GET /a 200 answered", "GET /b 200 answered")
}

// TestHTTP2ServerFirst has the server's settings before the client's preface.
func TestHTTP2ServerFirst(t *testing.T) {
	m := newMade(t)
	p := newPeers(t, m.dial())
	p.check(p.fr[toClient].WriteSettings(h2.Setting{ID: h2.SettingMaxConcurrentStreams, Val: 9}))
	p.send(base, toClient)
	p.out[toServer].WriteString(h2.ClientPreface)
	p.check(p.fr[toServer].WriteSettings())
	p.ask(1, "/")
	p.send(base+ms, toServer)
	p.reply(1, "200")
	p.send(base+2*ms, toClient)
	readAll(t, m.bytes(), Options{}).expect(t, "GET / 200 answered")
}
