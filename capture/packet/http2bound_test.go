package packet

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	h2 "golang.org/x/net/http2"

	"stormwatch/capture"
)

// feed hands frames to a connection without TCP around them.
type feed struct {
	t   *table
	c   *conn
	r   *result
	now int64
}

func newFeed(t *testing.T) *feed {
	f := &feed{r: &result{}, now: base}
	out := newOutput(Options{Secrets: secrets}, collect(f.r))
	f.t = newTable(out, newSecret())
	out.table, out.done = f.t, func() float64 { return 0 }
	seg := addressed{segment: segment{flags: flagSYN}}
	seg.src.Port, seg.dst.Port = 1, 2
	f.t.advance(f.now)
	f.t.packet(&seg, stamp{f.now, 1})
	for f.c = range f.t.conns.all() { // the one there is
	}
	f.send(toServer, []byte(h2.ClientPreface))
	return f
}

func (f *feed) send(d int, b []byte) {
	f.t.advance(f.now)
	f.c.http.data(d, chunk{b: b, at: stamp{f.now, 7}})
}

func (f *feed) end() result {
	f.t.finish(endInput)
	f.t.out.flush(true)
	return *f.r
}

// TestHTTP2HeaderBomb refers again and again to the longest value that the table
// holds: 64 KiB on the wire stand for 250 MB.
func TestHTTP2HeaderBomb(t *testing.T) {
	f := newFeed(t)
	p := newPeers(t, nil)
	block := p.block(toServer, ":method", "GET", ":path", "/bomb", ":scheme", "http", "x", strings.Repeat("v", 3900))
	block = append(block, bytes.Repeat([]byte{0xbe}, 16<<10-len(block))...)
	began := time.Now()
	for id := uint32(1); id < 200; id += 2 {
		f.send(toServer, raw(1, flagEndHeaders|flagEndStream, id, block))
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("100 bombs took %v", took)
	}
	if n := cap(f.t.http2.list.text); n > 4*maxHeaderText {
		t.Errorf("%d bytes for a header list", n)
	}
	r := f.end()
	if len(r.all) != 100 || r.all[0].target != "/bomb" || r.counted(skipHeaderList) != 100 || r.all[0].Flags&capture.Gap == 0 {
		t.Errorf("%d exchanges, skipped %+v", len(r.all), r.health.Skipped)
	}
}

// TestHTTP2ContinuationFlood sends a header block that never ends (CVE-2024-27316).
func TestHTTP2ContinuationFlood(t *testing.T) {
	f := newFeed(t)
	p := newPeers(t, nil)
	f.send(toServer, raw(1, 0, 1, p.block(toServer, ":method", "GET", ":path", "/flood")))
	p.bare = true
	part := p.block(toServer, "x-flood", strings.Repeat("f", 100))
	for range 100_000 {
		f.send(toServer, raw(9, 0, 1, part))
		if f.t.buffered > 4*maxHeaders {
			t.Fatalf("%d bytes are held", f.t.buffered)
		}
	}
	f.send(toServer, raw(9, flagEndHeaders, 1, nil))
	f.send(toServer, raw(1, flagEndHeaders|flagEndStream, 3, p.block(toServer, ":method", "GET", ":path", "/after")))
	r := f.end()
	r.expect(t, "GET /flood 0 no-answer", "GET /after 0 no-answer")
	if r.counted(skipHeaderBlock) != 1 || r.all[0].Flags&capture.Gap == 0 || r.all[1].Flags&capture.Unnamed != 0 {
		t.Errorf("flags %b and %b, skipped %+v", r.all[0].Flags, r.all[1].Flags, r.health.Skipped)
	}
}

// TestHTTP2LargeFrame announces frames of 16 MB and sends one with headers in it.
func TestHTTP2LargeFrame(t *testing.T) {
	f := newFeed(t)
	f.send(toClient, raw(4, 0, 0, []byte{0, 5, 0, 0xff, 0xff, 0xff}))
	p := newPeers(t, nil)
	b := raw(1, flagEndHeaders|flagEndStream, 1, append(p.block(toServer, ":method", "GET", ":path", "/large"), make([]byte, 10<<20)...))
	for len(b) > 0 {
		n := min(len(b), 1460)
		f.send(toServer, b[:n])
		if b = b[n:]; f.t.buffered > 4*maxHeaders {
			t.Fatalf("%d bytes are held", f.t.buffered)
		}
	}
	f.send(toServer, raw(1, flagEndHeaders|flagEndStream, 3, p.block(toServer, ":method", "GET", ":path", "/after")))
	r := f.end()
	if len(r.all) != 2 || r.counted(skipHeaderBlock) != 1 || r.all[0].target != "/large" || r.all[1].target != "/after" {
		t.Errorf("%v skipped %+v", r, r.health.Skipped)
	}
}

// TestHTTP2Streams opens streams without end.
func TestHTTP2Streams(t *testing.T) {
	f := newFeed(t)
	p := newPeers(t, nil)
	const n = 5000
	for i := range n {
		f.send(toServer, raw(1, flagEndHeaders|flagEndStream, uint32(2*i+1), p.block(toServer, ":method", "GET", ":path", "/")))
		if open := len(f.c.http.h2.streams); open > maxStreams {
			t.Fatalf("%d streams are open", open)
		}
	}
	r := f.end()
	if len(r.all) != n || r.counted(skipStreams) != n-maxStreams {
		t.Errorf("%d exchanges, skipped %+v", len(r.all), r.health.Skipped)
	}
}

// TestHTTP2RapidReset opens and cancels streams (CVE-2023-44487). Each is a request
// that its client gave up; the pattern is told once a second.
func TestHTTP2RapidReset(t *testing.T) {
	f := newFeed(t)
	p := newPeers(t, nil)
	const n = 3000
	for i := range n {
		f.now += ms
		id := uint32(2*i + 1)
		f.send(toServer, append(raw(1, flagEndHeaders|flagEndStream, id, p.block(toServer, ":method", "GET", ":path", "/")), raw(3, 0, id, []byte{0, 0, 0, 8})...))
		if open := len(f.c.http.h2.streams); open > 0 {
			t.Fatalf("%d streams are open", open)
		}
	}
	r := f.end()
	if len(r.all) != n || r.counted(skipRapidReset) != 3 {
		t.Errorf("%d exchanges, skipped %+v", len(r.all), r.health.Skipped)
	}
	for _, x := range r.all {
		if x.Outcome != capture.NoAnswer || x.End != x.Start {
			t.Fatalf("%v from %d to %d", x, x.Start, x.End)
		}
	}
}

// TestHTTP2Orphans answers what nobody asked for.
func TestHTTP2Orphans(t *testing.T) {
	f := newFeed(t)
	p := newPeers(t, nil)
	for i := range 4000 {
		f.now += 2 * ms
		p.reply(uint32(2*i+1), "429")
		f.send(toClient, p.take(toClient))
		if open := len(f.c.http.h2.streams); open > maxStreams {
			t.Fatalf("%d streams are open", open)
		}
	}
	if r := f.end(); len(r.all) != 4000 || r.all[0].Flags&capture.Orphan == 0 {
		t.Errorf("%d exchanges", len(r.all))
	}
}

// TestHTTP2Memory opens connections whose header tables are as large as they may be:
// what they hold is counted, and with many of them the oldest give way.
func TestHTTP2Memory(t *testing.T) {
	var r result
	out := newOutput(Options{Secrets: secrets}, collect(&r))
	tab := newTable(out, newSecret())
	out.table, out.done = tab, func() float64 { return 0 }
	size := raw(1, flagEndHeaders|flagEndStream, 1, []byte{0x3f, 0xe1, 0xff, 0x03, 0x82, 0x84}) // 64 KiB from now on
	value := strings.Repeat("\xff", 3000)
	p := newPeers(t, nil)
	p.enc[toServer].SetMaxDynamicTableSizeLimit(maxTable)
	send := func(i int, seq uint32, at int64, b []byte) uint32 {
		seg := addressed{segment: segment{seq: seq, flags: flagACK, payload: b, wire: len(b)}}
		be.PutUint32(seg.src.IP[12:], uint32(i))
		tab.advance(at)
		tab.packet(&seg, stamp{at, uint64(i)})
		if tab.buffered > maxBuffered+1<<20 {
			t.Fatalf("%d bytes are counted", tab.buffered)
		}
		return seq + uint32(len(b))
	}
	n := 100
	if os.Getenv("STORMWATCH_QUALITY") == "1" {
		n = 3300 // more than fit
	}
	for i := range n {
		at := base + int64(i)*1000
		seq := send(i, 1, at, append([]byte(h2.ClientPreface), size...))
		for k := range 20 {
			block := p.block(toServer, fmt.Sprint("x-", i, "-", k), value)
			seq = send(i, seq, at, raw(1, flagEndHeaders, uint32(2*k+3), block))
		}
	}
	held := 0
	for c := range tab.conns.all() {
		for d := range c.http.h2.flow {
			held += c.http.h2.flow[d].table.kept()
		}
	}
	if held > tab.buffered || held < tab.conns.n*50_000 || (tab.conns.n < n) != (n > 1000) {
		t.Errorf("%d bytes are held in %d connections of %d, %d are counted", held, tab.conns.n, n, tab.buffered)
	}
	tab.finish(endInput)
	if tab.buffered != 0 {
		t.Errorf("%d bytes are still counted after the end", tab.buffered)
	}
}
