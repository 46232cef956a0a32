package packet

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"stormwatch/capture/packet/write"
)

// frames2 makes a capture of n HTTP/2 connections with k exchanges each, all
// decoded; every second connection speaks gRPC.
func frames2(tb testing.TB, n, k int) (fs []frame) {
	tb.Helper()
	var b bytes.Buffer
	w, err := write.New(&b)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range n {
		at := base + int64(i)*100_000
		p := newPeers(tb, w.Dial(at, netip.AddrPortFrom(client.Addr(), uint16(1024+i)), server))
		p.begin(at)
		for j := range k {
			at += ms
			id := uint32(2*j + 1)
			if i%2 == 0 {
				p.ask(id, fmt.Sprintf("/v1/items/%d?page=%d", i, j), "accept", "*/*", "authorization", fmt.Sprint("Bearer ", i%50))
				p.send(at, toServer)
				p.headers(toClient, id, false, ":status", "429", "retry-after", "1", "date", "Tue, 14 Nov 2023 22:13:20 GMT", "content-type", "text/plain")
				p.body(toClient, id, true, "slow down, please")
			} else {
				p.call(id, "user-agent", "grpc-go/1.85.0", "te", "trailers", "grpc-timeout", "1S")
				p.send(at, toServer)
				p.headers(toClient, id, true, ":status", "200", "content-type", "application/grpc", "grpc-status", "8", "grpc-message", "slow down", "grpc-retry-pushback-ms", "120")
			}
			p.send(at+ms/2, toClient)
		}
		p.c.Close(at + ms)
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	f, err := newFile(bytes.NewReader(b.Bytes()))
	if err != nil {
		tb.Fatal(err)
	}
	var p frame
	for f.next(&p) == nil {
		p.data = bytes.Clone(p.data)
		fs = append(fs, p)
	}
	return fs
}

// replay gives a function that reads the frames again and again, each time later.
func replay(fs []frame) func() {
	s := newTestSource(sink)
	shift := int64(0)
	return func() {
		shift += 10e9
		for i := range fs {
			f := fs[i]
			f.t += shift
			s.feed(&f)
		}
	}
}

// BenchmarkHTTP2Exchange measures packet to exchange, like BenchmarkExchange.
func BenchmarkHTTP2Exchange(b *testing.B) {
	run := replay(frames2(b, 1000, 10))
	run()
	run()
	b.ReportAllocs()
	b.ResetTimer()
	n := 0
	for n < b.N {
		run()
		n += 10_000
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/exchange")
}

// BenchmarkHTTP2Body measures bytes of DATA frames, which are passed over.
func BenchmarkHTTP2Body(b *testing.B) {
	for name, d := range map[string]int{"response": toClient, "request": toServer} {
		b.Run(name, func(b *testing.B) {
			f := &feed{r: &result{}, now: base}
			out := newOutput(Options{Secrets: secrets}, sink)
			f.t = newTable(out, newSecret())
			out.table, out.done = f.t, func() float64 { return 0 }
			seg := addressed{segment: segment{flags: flagSYN}}
			f.t.advance(f.now)
			f.t.packet(&seg, stamp{f.now, 1})
			f.c = f.t.open.front()
			p := newPeers(b, nil)
			p.out[toServer].WriteString(http2Preface)
			p.headers(toServer, 1, false, ":method", "POST", ":path", "/", ":scheme", "http")
			f.send(toServer, p.take(toServer))
			data := raw(0, 0, 1, []byte(strings.Repeat("x", 16<<10)))
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				f.send(d, data)
			}
		})
	}
}

// TestHTTP2SteadyState checks that an exchange costs no allocation once the pools
// are filled.
func TestHTTP2SteadyState(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector has sync.Pool forget, which x/net's Huffman decoder relies on")
	}
	run := replay(frames2(t, 200, 10))
	for range 3 {
		run()
	}
	const exchanges = 2000
	if n := testing.AllocsPerRun(20, run) / exchanges; n > 0.01 { // a copy of Health each second is what is left
		t.Errorf("%g allocations an exchange", n)
	}
}
