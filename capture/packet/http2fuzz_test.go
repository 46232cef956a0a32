package packet

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/http2/hpack"

	h2 "golang.org/x/net/http2"

	"stormwatch/capture"
)

// dialogue gives what both sides of a small connection send.
func dialogue(tb testing.TB) (toS, toC []byte) {
	p := newPeers(tb, nil)
	p.out[toServer].WriteString(h2.ClientPreface)
	p.check(p.fr[toServer].WriteSettings(h2.Setting{ID: h2.SettingHeaderTableSize, Val: 300}))
	p.check(p.fr[toClient].WriteSettings())
	for id := uint32(1); id < 8; id += 2 {
		p.ask(id, "/a?token=x", "authorization", "Bearer x")
		p.headers(toClient, id, false, ":status", "429", "retry-after", "1")
		p.check(p.fr[toClient].WriteDataPadded(id, true, []byte("slow"), make([]byte, 3)))
	}
	p.call(9, "grpc-previous-rpc-attempts", "2")
	p.headers(toClient, 9, false, ":status", "200", "content-type", "application/grpc")
	p.headers(toClient, 9, true, "grpc-status", "8", "grpc-retry-pushback-ms", "-1")
	p.ask(11, "/b")
	p.check(p.fr[toClient].WriteRSTStream(11, h2.ErrCodeRefusedStream))
	p.check(p.fr[toClient].WriteGoAway(11, h2.ErrCodeNo, nil))
	p.ask(13, "/c")
	return p.take(toServer), p.take(toClient)
}

// FuzzHTTP2Frames reads bytes as one direction of a connection, whole and in
// pieces: both must say the same, and give back all they hold.
func FuzzHTTP2Frames(f *testing.F) {
	toS, toC := dialogue(f)
	for _, size := range []byte{1, 5, 200} {
		f.Add(toS[len(h2.ClientPreface):], size, false)
		f.Add(toC, size, true)
	}
	f.Add(raw(1, flagPadded|flagPriority, 1, []byte{9, 1}), byte(3), false)
	f.Add(append(raw(1, 0, 1, []byte{0x82}), raw(9, flagEndHeaders, 1, []byte{0x84})...), byte(2), false)
	f.Add([]byte{0xff, 0xff, 0xff, 0, 8, 0, 0, 0, 1, 255}, byte(1), true)
	f.Fuzz(func(t *testing.T, b []byte, size byte, server bool) {
		lost := false
		read := func(step int) string {
			f := newFeed(t)
			d := toServer
			if server {
				d = toClient
			}
			for rest := b; len(rest) > 0; {
				n := min(step, len(rest))
				f.send(d, rest[:n])
				rest = rest[n:]
				if open := len(f.c.http.h2.streams); open > maxStreams || f.t.buffered > 8<<20 {
					t.Fatalf("%d streams, %d bytes", open, f.t.buffered)
				}
			}
			r := f.end()
			lost = lost || r.counted(skipFrames) > 0
			if f.t.buffered != 0 {
				t.Fatalf("%d bytes are counted after the end", f.t.buffered)
			}
			var s strings.Builder
			for _, x := range r.all {
				x.At = capture.Provenance{}
				fmt.Fprintf(&s, "%v %+v %s\n", x, x.Exchange, x.target)
			}
			return s.String()
		}
		whole, pieces := read(len(b)+1), read(int(size)+1)
		// Where the place of the frames is lost, what is found again depends on packets.
		if whole != pieces && !lost {
			t.Errorf("whole:\n%s\nin pieces of %d:\n%s", whole, int(size)+1, pieces)
		}
	})
}

// FuzzHPACK compares with the decoder of x/net, block after block (each as long as
// its first byte says): what that accepts must read the same, and a table joined
// late must know the same or nothing.
func FuzzHPACK(f *testing.F) {
	p := newPeers(f, nil)
	join := func(blocks ...[]byte) (b []byte) {
		for _, k := range blocks {
			b = append(append(b, byte(len(k))), k...)
		}
		return b
	}
	f.Add(join(p.block(0, ":method", "GET", ":path", "/x", "authorization", "a"), p.block(0, ":method", "GET", ":path", "/x", "authorization", "a")), byte(1))
	f.Add(join([]byte{0x20, 0x82}, p.block(0, "cookie", "c", "cookie", "c"), []byte{0x3f, 0xe1, 0x1f, 0xbe}), byte(0))
	f.Add(join([]byte{0x40, 1, 'a', 1, 'b', 0xbe, 0x7e, 1, 'c', 0xbf, 0xbe}), byte(2))
	f.Add(join([]byte{0x44, 0x84, 0xff, 0xff, 0xff, 0xff}), byte(0))
	f.Fuzz(func(t *testing.T, b []byte, skip byte) {
		ref := hpack.NewDecoder(defaultTable, nil)
		var table, late headerTable
		table.reset(false)
		late.reset(true)
		for n := 0; len(b) > 0; n++ {
			size := min(int(b[0]), len(b)-1)
			block := b[1 : 1+size]
			b = b[1+size:]
			want, refErr := ref.DecodeFull(block)
			got, err := fieldsOf(&table, block)
			if table.kept() > 4*maxTable || table.size > max(table.limit, 0) {
				t.Fatalf("a table of %d bytes, %d kept, %d allowed", table.size, table.kept(), table.limit)
			}
			if refErr != nil { // it refuses more, such as indexes of nothing
				return
			}
			if err != nil || len(got) != len(want) {
				t.Fatalf("block %d: %d fields, error %v; x/net has %v", n, len(got), err, want)
			}
			for i, f := range want {
				if !sameField(got[i], f) {
					t.Fatalf("block %d: %q, x/net has %q", n, got[i], f)
				}
			}
			if n < int(skip) {
				continue
			}
			if got, err = fieldsOf(&late, block); err != nil || len(got) != len(want) {
				t.Fatalf("late, block %d: %d fields, error %v; x/net has %v", n, len(got), err, want)
			}
			for i, f := range want {
				if got[i] != "?" && !sameField(got[i], f) {
					t.Fatalf("late, block %d: %q, x/net has %q", n, got[i], f)
				}
			}
		}
	})
}

// sameField is matches, for targets as well: those out of a table are masked.
func sameField(got string, f hpack.HeaderField) bool {
	return matches(got, f) || f.Name == ":path" && got == ":path: "+string(capture.AppendMasked(nil, []byte(f.Value)))
}

// FuzzHTTP2 plays both sides with losses, from the beginning or midway. The script's
// bytes choose who sends next, how much, and what is lost.
func FuzzHTTP2(f *testing.F) {
	toS, toC := dialogue(f)
	f.Add(toS, toC, []byte{10, 200, 30, 255, 60, 90}, false)
	f.Add(toS, toC, []byte{255, 1, 3, 254, 7, 130, 5, 129}, false)
	f.Add(toS[len(h2.ClientPreface):], toC, []byte{100, 228}, true)
	f.Add([]byte("GET / HTTP/1.1\r\nUpgrade: h2c\r\n\r\n"+h2.ClientPreface), append([]byte("HTTP/1.1 101 X\r\nUpgrade: h2c\r\n\r\n"), toC...), []byte{33, 200}, false)
	f.Fuzz(func(t *testing.T, toS, toC, script []byte, mid bool) {
		plain := bytes.Contains(toC, []byte("HTTP/1.")) // its packets have no sequence numbers here
		var r result
		out := newOutput(Options{Secrets: secrets}, collect(&r))
		tab := newTable(out, newSecret())
		out.table, out.done = tab, func() float64 { return 0 }
		now := int64(base)
		tab.advance(now)
		seg := addressed{segment: segment{flags: flagSYN}}
		seg.src.Port, seg.dst.Port = 1, 2
		if mid {
			seg.segment = segment{flags: flagACK, payload: []byte{0}, wire: 1}
		}
		tab.packet(&seg, stamp{now, 1})
		var s *stream
		for c := range tab.conns.all() { // the one there is
			s = &c.http
		}
		for i := 0; len(toS)+len(toC) > 0 && s.c != nil; i++ {
			op := byte(i * 37)
			if len(script) > 0 {
				op = script[i%len(script)]
			}
			d, rest := toServer, &toS
			if op >= 128 && len(toC) > 0 || len(toS) == 0 {
				d, rest = toClient, &toC
			}
			n := min(len(*rest), int(op&127)+1)
			now += int64(op) * ms
			tab.advance(now)
			if tab.conns.n == 0 {
				break
			}
			if op%11 == 3 {
				s.gap(d, n, now)
			} else {
				s.data(d, chunk{b: (*rest)[:n], at: stamp{now, uint64(i)}})
			}
			*rest = (*rest)[n:]
		}
		tab.finish(endClosed)
		out.flush(true)
		if tab.buffered != 0 || out.first != nil {
			t.Errorf("%d bytes are counted after the end, unfinished %v", tab.buffered, out.first != nil)
		}
		for _, x := range r.all {
			switch {
			case x.Start == 0 || x.method == "" && x.Flags&capture.Orphan == 0:
				t.Errorf("%+v", x)
			case x.End < x.Start && !plain:
				t.Errorf("%v ends before it starts", x)
			}
		}
	})
}
