package packet

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	fnvhash "hash/fnv"
	"io"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"stormwatch/capture"
)

func TestExchange(t *testing.T) {
	m := newMade(t)
	c := m.dial()
	c.Send(base+1*ms, true, []byte("POST /v1/charge?api_key=hush&n=1 HTTP/1.1\r\nHost: api.example\r\nUser-Agent: probe/1\r\n"+
		"Authorization: Bearer hush\r\nIdempotency-Key: k-1\r\nX-Forwarded-For: 192.0.2.7\r\nx-stainless-retry-count: 2\r\nContent-Length: 4\r\n\r\nbody"))
	c.Send(base+5*ms, false, reply(429, "slow", "Retry-After: 7", "Date: Tue, 14 Nov 2023 22:13:20 GMT"))
	c.Close(base + 9*ms)
	r := readAll(t, m.bytes(), Options{})
	r.expect(t, "POST /v1/charge?api_key=***&n=1 429 answered")
	x := r.all[0]
	h := capture.Hint{State: capture.Present, Kind: capture.RetryAfterSeconds, Wait: 7e9, Raw: x.Hint.Raw}
	digest := fnvhash.New64a()
	_, _ = digest.Write([]byte("body"))
	switch {
	case x.Start != base+1*ms || x.End != base+5*ms:
		t.Errorf("from %d to %d, want %d to %d", x.Start, x.End, base+1*ms, base+5*ms)
	case x.Src.String() != client.String() || x.Dst.String() != server.String():
		t.Errorf("%v to %v, want %v to %v", x.Src, x.Dst, client, server)
	case x.ConnSeq != 1 || x.At != capture.Provenance{A: 4, B: 5}:
		t.Errorf("request %d at %v, want the first, at frame 4/5", x.ConnSeq, x.At)
	case x.host != "api.example" || x.agent != "probe/1":
		t.Errorf("host %q, agent %q", x.host, x.agent)
	case x.Hint != h || x.raw != "7":
		t.Errorf("hint %+v %q, want %+v", x.Hint, x.raw, h)
	case x.Date != 1_700_000_000 || x.Reason != capture.Throttle || x.Flags != 0:
		t.Errorf("date %d, reason %v, flags %b", x.Date, x.Reason, x.Flags)
	case x.Attempt != capture.Attempt{N: 3, Counter: capture.StainlessRetries}:
		t.Errorf("attempt %+v, want the third", x.Attempt)
	case x.Credential == 0 || x.IdemKey == 0:
		t.Errorf("credential %d, idempotency key %d: want hashes", x.Credential, x.IdemKey)
	case x.Body != digest.Sum64():
		t.Errorf("body digest %x", x.Body)
	}
	if h := r.health; h.Read != 8 || h.Used != 8 || h.GapBytes != 0 || h.Truncated || !h.SeesHints || !h.SeesPorts {
		t.Errorf("health %+v", h)
	}
}

func TestNothingSecretIsKept(t *testing.T) {
	m := newMade(t)
	c := m.dial()
	c.Send(base, true, []byte("GET /?token=hush1 HTTP/1.1\r\nAuthorization: Bearer hush2\r\nX-Api-Key: hush3\r\nCookie: hush4\r\n\r\n"))
	c.Send(base+ms, false, reply(200, "hush5"))
	s, err := Open("x", bytes.NewReader(m.bytes()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Run(context.Background(), func(b *capture.Batch) error {
		if strings.Contains(string(b.Text), "hush") {
			t.Errorf("the batch holds %q", b.Text)
		}
		for i := range b.Names.Len() {
			if text := b.Names.Text(capture.Symbol(i)); strings.Contains(text, "hush") {
				t.Errorf("the names hold %q", text)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestHints(t *testing.T) {
	for _, c := range []struct {
		fields []string
		state  capture.HintState
		kind   capture.HintKind
		wait   time.Duration
	}{
		{nil, capture.Absent, capture.NoHint, 0},
		{[]string{"Retry-After: 2"}, capture.Present, capture.RetryAfterSeconds, 2 * time.Second},
		{[]string{"retry-after:Tue, 14 Nov 2023 22:13:50 GMT", "Date: Tue, 14 Nov 2023 22:13:20 GMT"}, capture.Present, capture.RetryAfterDate, 30 * time.Second},
		{[]string{"Retry-After: 2", "Retry-After-Ms: 1500"}, capture.Present, capture.RetryAfterMillis, 1500 * time.Millisecond},
		{[]string{"Retry-After: 2", "x-ms-retry-after-ms: soon"}, capture.Present, capture.RetryAfterSeconds, 2 * time.Second},
		{[]string{"Retry-After: soon"}, capture.Present, capture.Malformed, 0},
		{[]string{"Retry-After:"}, capture.Present, capture.Malformed, 0},
	} {
		m := newMade(t)
		conn := m.dial()
		conn.Send(base, true, get("/"))
		conn.Send(base+ms, false, reply(429, "", c.fields...))
		h := readAll(t, m.bytes(), Options{}).all[0].Hint
		if h.State != c.state || h.Kind != c.kind || h.Wait != int64(c.wait) {
			t.Errorf("%q: %v %v %v, want %v %v %v", c.fields, h.State, h.Kind, time.Duration(h.Wait), c.state, c.kind, c.wait)
		}
	}
}

func TestInputs(t *testing.T) {
	m := newMade(t)
	c := m.dial()
	c.Send(base, true, get("/a"))
	c.Send(base+ms, false, reply(200, "ok"))
	c.Send(base+2*ms, true, get("/b"))
	whole := m.bytes()

	t.Run("empty", func(t *testing.T) { openFails(t, nil, "empty") })
	t.Run("few bytes", func(t *testing.T) { openFails(t, whole[:3], "too few") })
	t.Run("header cut", func(t *testing.T) { openFails(t, whole[:20], "inside its header") })
	t.Run("not a capture", func(t *testing.T) { openFails(t, []byte("127.0.0.1 - - [now]"), "no capture") })
	t.Run("link type", func(t *testing.T) {
		b := bytes.Clone(whole)
		b[20] = 127
		openFails(t, b, "link type 127 (802.11)")
	})
	t.Run("no packets", func(t *testing.T) {
		if r := readAll(t, whole[:24], Options{}); len(r.all) != 0 || r.health.Truncated {
			t.Errorf("%v, health %+v", r, r.health)
		}
	})
	t.Run("cut inside a packet", func(t *testing.T) {
		r := readAll(t, whole[:len(whole)-10], Options{})
		r.expect(t, "GET /a 200 answered")
		if !r.health.Truncated {
			t.Error("a capture cut off must say so")
		}
	})
	t.Run("damaged length", func(t *testing.T) {
		b := bytes.Clone(whole)
		_, recs := records(b)
		binary.LittleEndian.PutUint32(recs[5][8:], 1<<31)
		r := readAll(t, b, Options{})
		r.expect(t, "GET /a 200 answered")
		if !r.health.Truncated || len(r.health.Skipped) != 1 {
			t.Errorf("a damaged record must be told: %+v", r.health)
		}
	})
	t.Run("in flight at the end", func(t *testing.T) {
		r := readAll(t, whole, Options{})
		r.expect(t, "GET /a 200 answered", "GET /b 0 no-answer")
		if r.all[1].Flags&capture.Gap == 0 {
			t.Error("a request whose answer may have come later must be marked")
		}
	})
	t.Run("read error", func(t *testing.T) {
		failing := errors.New("disk on fire")
		s, err := Open("x", io.MultiReader(bytes.NewReader(whole), errReader{failing}), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var r result
		if err = s.Run(context.Background(), collect(&r)); !errors.Is(err, failing) || !strings.Contains(err.Error(), "after frame 6") {
			t.Errorf("error %v, want it to name the frame and the cause", err)
		}
		r.expect(t, "GET /a 200 answered", "GET /b 0 no-answer")
	})
	t.Run("sink error", func(t *testing.T) {
		failing := errors.New("full")
		s, err := Open("x", bytes.NewReader(whole), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(context.Background(), func(*capture.Batch) error { return failing }); !errors.Is(err, failing) {
			t.Errorf("error %v, want the sink's", err)
		}
	})
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

func openFails(t *testing.T, b []byte, want string) {
	t.Helper()
	_, err := Open("in.pcap", bytes.NewReader(b), Options{})
	if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "in.pcap: ") {
		t.Errorf("error %v, want one that names the input and says %q", err, want)
	}
}

func TestDetect(t *testing.T) {
	for head, want := range map[string]bool{
		"\xa1\xb2\xc3\xd4": true, "\xd4\xc3\xb2\xa1": true, "\xa1\xb2\x3c\x4d": true, "\x4d\x3c\xb2\xa1": true,
		"\x0a\x0d\x0d\x0a....": true, "\x0a\x0d\x0d": false, "": false, "GET / HTTP": false, "{\"a\":1}": false,
	} {
		if got := Detect([]byte(head)); got != want {
			t.Errorf("Detect(%x) = %v", head, got)
		}
	}
}

func TestResolution(t *testing.T) {
	for _, c := range []struct{ step, want int64 }{{1, 1}, {1000, 1000}, {ms, ms}, {1e9, 1e9}} {
		m := newMade(t)
		const start = 1_700_000_000_000_000_000
		conn := m.w.Dial(start, client, server)
		for i := range int64(10) {
			conn.Send(start+i*c.step, i%2 == 0, []byte("x"))
		}
		if r := readAll(t, m.bytes(), Options{}); r.health.Resolution != c.want {
			t.Errorf("steps of %d ns: resolution %d ns", c.step, r.health.Resolution)
		}
	}
}

func TestWatermark(t *testing.T) {
	m := newMade(t)
	slow := m.dial()
	slow.Send(base, true, get("/slow"))
	for i := range int64(2000) {
		c := m.w.Dial(base+i*ms, netip.AddrPortFrom(client.Addr(), uint16(1000+i)), server)
		c.Send(base+i*ms, true, get(fmt.Sprint("/", i)))
		c.Send(base+i*ms+5*ms, false, reply(200, ""))
		c.Close(base + i*ms + 6*ms)
	}
	slow.Send(base+1500*ms, false, reply(200, ""))
	b := m.bytes()

	s, err := Open("x", bytes.NewReader(b), Options{Size: int64(len(b))})
	if err != nil {
		t.Fatal(err)
	}
	var mark int64
	var done float64
	n := 0
	err = s.Run(context.Background(), func(batch *capture.Batch) error {
		for _, x := range batch.Exchanges {
			if x.Start < mark {
				t.Errorf("an exchange starts %d ns before the watermark", mark-x.Start)
			}
			n++
		}
		if batch.Watermark < mark || batch.Done < done {
			t.Errorf("watermark %d after %d, done %g after %g", batch.Watermark, mark, batch.Done, done)
		}
		mark, done = batch.Watermark, batch.Done
		return nil
	})
	if err != nil || n != 2001 || done != 1 || mark < base+2000*ms {
		t.Errorf("%d exchanges, done %g, watermark %d, error %v", n, done, mark, err)
	}
}

// TestLive follows a pipe: what is finished comes at once, a request that waits
// is announced once, and its completion carries the same number.
func TestLive(t *testing.T) {
	m := newMade(t)
	a := m.dial()
	a.Send(base, true, get("/slow"))
	b := m.w.Dial(base, netip.AddrPortFrom(client.Addr(), 2), server)
	b.Send(base+1200*ms, true, get("/quick"))
	b.Send(base+1300*ms, false, reply(200, ""))
	a.Send(base+3000*ms, false, reply(503, ""))
	all := m.bytes()
	_, recs := records(all)
	last := len(all) - len(recs[len(recs)-1])

	in, out := io.Pipe()
	s, err := Open("live", in, Options{Live: true})
	if err != nil {
		t.Fatal(err)
	}
	batches, ended := make(chan []seen, 16), make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		var r result
		ended <- s.Run(ctx, func(b *capture.Batch) error {
			r.all = nil
			if err := collect(&r)(b); err != nil || len(r.all) == 0 {
				return err
			}
			batches <- r.all
			return nil
		})
	}()
	next := func(n int) (got []seen) {
		for len(got) < n {
			select {
			case b := <-batches:
				got = append(got, b...)
			case <-time.After(5 * time.Second):
				t.Fatalf("no more exchanges after %v", got)
			}
		}
		return got
	}
	if _, err := out.Write(all[:last]); err != nil {
		t.Fatal(err)
	}
	first := next(2)
	if first[0].String() != "GET /slow 0 pending" || first[1].String() != "GET /quick 200 answered" || first[0].ID == 0 {
		t.Errorf("first %v", first)
	}
	if _, err := out.Write(all[last:]); err != nil {
		t.Fatal(err)
	}
	if second := next(1); second[0].String() != "GET /slow 503 answered" || second[0].ID != first[0].ID || second[0].Flags&capture.Late != 0 {
		t.Errorf("then %v with number %d, want %d", second, second[0].ID, first[0].ID)
	}
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("the context ended, the source did not")
	}
}

// TestIdleWatermark checks that a live source's clock goes on in silence, less a
// second for what the capturing program may hold back.
func TestIdleWatermark(t *testing.T) {
	m := newMade(t)
	m.dial().Send(base, true, get("/waits"))
	var r result
	s := newSource("x", bytes.NewReader(m.bytes()), Options{Live: true, Secrets: secrets})
	if err := s.intake.begin(); err != nil {
		t.Fatal(err)
	}
	s.attach(collect(&r))
	if err := s.packets(context.Background()); err != io.EOF {
		t.Fatal(err)
	}
	if err := s.idle(3 * time.Second); err != nil {
		t.Fatal(err)
	}
	r.expect(t, "GET /waits 0 pending")
	if got := r.marks[len(r.marks)-1]; got != base+2000*ms {
		t.Errorf("watermark %d ns after the last packet, want 2 s", got-base)
	}
}

func TestDeterministic(t *testing.T) {
	_, b := fleet(t, 20, 10)
	one, two := readAll(t, b, Options{}), readAll(t, b, Options{})
	for i := range one.all {
		one.all[i].Credential, two.all[i].Credential = 0, 0
	}
	if !slices.Equal(one.all, two.all) {
		t.Error("two runs over one capture differ")
	}
}
