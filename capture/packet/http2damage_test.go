package packet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"stormwatch/capture"
)

// run makes n requests, one after the other on one connection, each answered with
// status 429 and 2000 bytes. Packets are numbered from 3 on: after the handshake and
// 2 of prefaces come 4 for each request: its headers, the response's headers, and
// the body in two.
func (m *made) run(n int) *peers {
	p := m.talk()
	for i := range n {
		at := base + int64(i)*10*ms
		id := uint32(2*i + 1)
		p.ask(id, fmt.Sprintf("/items/%d", i%4), "x-number", fmt.Sprint(i))
		p.send(at+ms, toServer)
		p.headers(toClient, id, false, ":status", "429", "retry-after", "1")
		p.send(at+2*ms, toClient)
		p.body(toClient, id, true, strings.Repeat("b", 1900))
		p.send(at+3*ms, toClient)
	}
	return p
}

// TestHTTP2HoleInBody loses a packet in the middle of a response's body: nothing
// but that body is affected.
func TestHTTP2HoleInBody(t *testing.T) {
	m := newMade(t)
	m.run(8)
	b := m.bytes()
	_, recs := records(b)
	second := 3 + 2 + 4*2 + 3 // second packet of the third body
	if len(recs) != 3+2+8*4 {
		t.Fatalf("%d packets", len(recs))
	}
	r := readAll(t, without(b, second), Options{})
	for i, x := range r.all {
		gap := x.Flags&capture.Gap != 0
		if x.Status != 429 || x.Outcome != capture.Answered || x.Hint.Wait != 1e9 || x.target != fmt.Sprintf("/items/%d", (x.ConnSeq-1)%4) || gap != (x.ConnSeq == 3) {
			t.Errorf("%d: %v of %q, hint %+v, flags %b", i, x, x.target, x.Hint, x.Flags)
		}
	}
	if len(r.all) != 8 || r.counted(skipFrames) != 0 || r.health.GapBytes == 0 {
		t.Errorf("%d exchanges, health %+v", len(r.all), r.health)
	}
}

// TestHTTP2LostHeaders loses single packets with headers. What else there is must
// come out right or unknown, and never be another stream's.
func TestHTTP2LostHeaders(t *testing.T) {
	const n = 10
	m := newMade(t)
	m.run(n)
	b := m.bytes()
	_, recs := records(b)
	for drop := 5; drop < len(recs); drop++ {
		r := readAll(t, without(b, drop), Options{})
		what := (drop - 5) % 4
		right := 0
		for _, x := range r.all {
			i := int(x.ConnSeq) - 1
			known := x.Flags&(capture.Unnamed|capture.Orphan) == 0
			switch {
			case known && (x.target != fmt.Sprintf("/items/%d", i%4) || x.Start != base+int64(i)*10*ms+ms):
				t.Errorf("without packet %d: %v is said to be request %d, from %d", drop, x, i, x.Start-base)
			case x.Status != 0 && x.Status != 429:
				t.Errorf("without packet %d: %v", drop, x)
			case x.Hint.State == capture.Present && x.Hint.Wait != 1e9:
				t.Errorf("without packet %d: %v: hint %+v", drop, x, x.Hint)
			case x.Status == 429 && known && x.Hint.State == capture.Absent:
				t.Errorf("without packet %d: %v: a hint that was not seen is not absent", drop, x)
			}
			if x.Status == 429 && known {
				right++
			}
		}
		// What is lost may have inserted fields: from then on the peers' references
		// say nothing, here all of them. The rest of a body costs nothing.
		least := (drop - 5) / 4
		if what == 3 {
			least = n
		}
		if right < least || len(r.all) != n {
			t.Errorf("without packet %d: %d of %d right, want %d; %d exchanges", drop, right, n, least, len(r.all))
		}
	}
}

// TestHTTP2HoleInHeaders loses any run of bytes inside of a request's and of a
// response's headers, with the frame's head and the bytes after it there. What is
// behind the hole must not be taken for the beginning.
func TestHTTP2HoleInHeaders(t *testing.T) {
	p := newPeers(t, nil)
	p.bare = true
	p.ask(1, "/one", "x-a", "first", "x-b", "second")
	ask := p.take(toServer)
	p.headers(toClient, 1, true, ":status", "429", "retry-after", "30", "x-a", "first", "x-b", "second")
	reply := p.take(toClient)
	p.ask(3, "/two")
	p.reply(3, "503", "retry-after", "40")
	next := [2][]byte{p.take(toServer), p.take(toClient)}
	for d, b := range [2][]byte{ask, reply} {
		for from := frameHead; from < len(b); from++ {
			for to := from + 1; to <= len(b); to++ {
				f := newFeed(t)
				send := func(k int, whole []byte) {
					if k != d {
						f.send(k, whole)
						return
					}
					f.send(k, whole[:from])
					f.c.http.gap(k, to-from, f.now)
					f.send(k, whole[to:])
				}
				send(toServer, ask)
				send(toClient, reply)
				f.send(toServer, next[toServer])
				f.send(toClient, next[toClient])
				r := f.end()
				if len(r.all) != 2 || r.counted(skipHPACK)+r.counted(skipFrames) != 0 {
					t.Fatalf("hole from %d to %d of %d: %v %+v", from, to, d, r, r.health.Skipped)
				}
				x, y := r.all[0], r.all[1]
				if y.String() != "GET /two 503 answered" || y.Hint.Wait != 40e9 || y.Flags != 0 {
					t.Fatalf("hole from %d to %d of %d: then %v, flags %b", from, to, d, y, y.Flags)
				}
				named := x.method == "GET" && x.target == "/one"
				if x.Flags&capture.Gap == 0 || !named && x.Flags&capture.Unnamed == 0 || x.Status != 429 && x.Status != 0 ||
					x.Hint.State == capture.Absent || x.Hint.State == capture.Present && x.Hint.Wait != 30e9 || d == toClient && !named {
					t.Fatalf("hole from %d to %d of %d: %v, hint %+v, flags %b", from, to, d, x, x.Hint, x.Flags)
				}
			}
		}
	}
}

// TestHTTP2Snapped cuts every packet after 128 bytes: what is in them counts, the
// rest is unknown.
func TestHTTP2Snapped(t *testing.T) {
	m := newMade(t)
	p := m.talk()
	p.bare = true
	for id := uint32(1); id < 40; id += 2 {
		at := base + int64(id)*10*ms
		p.ask(id, fmt.Sprint("/", id), "x-padding", strings.Repeat("p", 200))
		p.send(at, toServer)
		p.headers(toClient, id, false, ":status", "503", "x-padding", strings.Repeat("p", 200), "retry-after", "9")
		p.body(toClient, id, true, "no")
		p.send(at+ms, toClient)
	}
	head, recs := records(m.bytes())
	b := bytes.Clone(head)
	for _, r := range recs {
		n := min(len(r), 16+128)
		binary.LittleEndian.PutUint32(r[8:], uint32(n-16))
		b = append(b, r[:n]...)
	}
	r := readAll(t, b, Options{})
	for _, x := range r.all {
		switch {
		case x.Flags&capture.Gap == 0:
			t.Errorf("%v: bytes of it are missing", x)
		case x.Status != 503 || x.Hint.State != capture.NotObservable:
			t.Errorf("%v: hint %+v", x, x.Hint)
		case x.target != fmt.Sprint("/", 2*x.ConnSeq-1):
			t.Errorf("%v is request %d", x, x.ConnSeq)
		}
	}
	if len(r.all) != 20 || r.counted(skipHPACK) > 0 {
		t.Errorf("%d exchanges:\n%v", len(r.all), r)
	}
}

// TestHTTP2Reordered captures responses before their requests.
func TestHTTP2Reordered(t *testing.T) {
	m := newMade(t)
	p := m.talk()
	p.ask(1, "/a")
	p.send(base+ms, toServer)
	p.reply(1, "429", "retry-after", "1")
	p.send(base+ms, toClient)
	p.ask(3, "/b")
	p.send(base+2*ms, toServer)
	p.headers(toClient, 3, false, ":status", "503", "retry-after", "2")
	p.send(base+2*ms, toClient)
	p.body(toClient, 3, true, "no")
	p.send(base+3*ms, toClient)
	order := []int{0, 1, 2, 3, 4, 6, 5, 8, 7, 9}
	r := readAll(t, ordered(m.bytes(), order...), Options{})
	r.expect(t, "GET /a 429 answered", "GET /b 503 answered")
	for i, x := range r.all {
		if x.Hint.Wait != int64(i+1)*1e9 || x.Flags != 0 || x.ConnSeq != uint32(i+1) {
			t.Errorf("%v: hint %+v, flags %b, request %d", x, x.Hint, x.Flags, x.ConnSeq)
		}
	}
}

// TestHTTP2Midway joins at every packet: of what begins later nothing is wrong, and
// nothing is missing.
func TestHTTP2Midway(t *testing.T) {
	const n = 12
	m := newMade(t)
	m.run(n)
	head, recs := records(m.bytes())
	for first := 3; first < len(recs)-8; first++ {
		r := readAll(t, append(bytes.Clone(head), bytes.Join(recs[first:], nil)...), Options{})
		from := max(0, (first-5+3)/4) // the first request whose headers are there
		seen := map[uint32]bool{}
		for _, x := range r.all {
			if x.Flags&capture.Orphan != 0 {
				continue
			}
			i := int(x.ConnSeq) - 1
			if seen[x.ConnSeq] = true; x.Flags&capture.Unnamed == 0 && x.target != fmt.Sprintf("/items/%d", i%4) || x.method != "GET" {
				t.Errorf("from packet %d: %v is request %d", first, x, i)
			}
			if x.Status != 429 && x.Status != 0 || x.Outcome != capture.Answered {
				t.Errorf("from packet %d: %v", first, x)
			}
			if x.Flags&capture.Midstream == 0 && first > 2 {
				t.Errorf("from packet %d: %v: flags %b", first, x, x.Flags)
			}
		}
		for i := from; i < n; i++ {
			if !seen[uint32(i+1)] {
				t.Errorf("from packet %d: request %d is missing; skipped %+v", first, i, r.health.Skipped)
			}
		}
	}
}

// TestHTTP2Lookalikes must not be taken for HTTP/2, nor for anything.
func TestHTTP2Lookalikes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	noise := make([]byte, 60_000)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	zeros := make([]byte, 5000)
	kafka := bytes.Repeat([]byte("\x00\x00\x00\x1a\x00\x12\x00\x03\x00\x00\x00\x07\x00\x08consumer\x00\x00\x00\x00\x00\x01\x00"), 50)
	lengths := func(n int) (b []byte) { // messages with lengths of four bytes
		for i := range n {
			b = append(binary.BigEndian.AppendUint32(b, uint32(i%40)), make([]byte, i%40)...)
		}
		return b
	}
	windows := bytes.Repeat(raw(8, 0, 0, []byte{0, 0, 1, 0}), 20) // frames, but no headers: no exchange can be in them
	for name, b := range map[string][]byte{"noise": noise, "zeros": zeros, "kafka": kafka, "lengths": lengths(200), "window updates": windows} {
		m := newMade(t)
		c := m.dial()
		c.Send(base, true, b)
		c.Send(base+ms, false, b)
		head, recs := records(m.bytes())
		r := readAll(t, append(bytes.Clone(head), bytes.Join(recs[3:], nil)...), Options{})
		if len(r.all) != 0 || r.health.Used != 0 || r.health.SkippedTotal() != r.health.Read {
			t.Errorf("%s: %v health %+v", name, r, r.health)
		}
	}
}

// TestHTTP2InsideBody carries frames in the body of a response whose beginning was
// lost: they are not the connection's.
func TestHTTP2InsideBody(t *testing.T) {
	m := newMade(t)
	p := m.talk()
	p.ask(1, "/dump")
	p.send(base, toServer)
	inner := newPeers(t, p.c)
	inner.headers(toClient, 77, true, ":status", "503")
	p.headers(toClient, 1, false, ":status", "200")
	p.body(toClient, 1, false, strings.Repeat("x", 3000)+string(inner.take(toClient))+strings.Repeat("y", 5000))
	p.send(base+ms, toClient)
	p.body(toClient, 1, true, "")
	p.ask(3, "/next")
	p.send(base+2*ms, toServer)
	p.reply(3, "204")
	p.send(base+3*ms, toClient)
	r := readAll(t, without(m.bytes(), 6), Options{}) // the frame's head is gone
	for _, x := range r.all {
		if x.Status == 503 || x.Flags&capture.Orphan != 0 {
			t.Errorf("%v comes out of a body", x)
		}
	}
	if len(r.all) != 2 {
		t.Errorf("%v", r)
	}
}
