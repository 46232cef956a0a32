package packet

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"testing"

	"stormwatch/capture"
	"stormwatch/capture/packet/write"
)

// frames makes a capture of n connections with k exchanges each, all decoded.
func frames(tb testing.TB, n, k int) (fs []frame, size int) {
	tb.Helper()
	var b bytes.Buffer
	w, err := write.New(&b)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range n {
		at := base + int64(i)*100_000
		c := w.Dial(at, netip.AddrPortFrom(client.Addr(), uint16(1024+i)), server)
		for j := range k {
			at += ms
			c.Send(at, true, fmt.Appendf(nil, "GET /v1/items/%d?page=%d HTTP/1.1\r\nHost: api.example\r\nUser-Agent: probe/1\r\nAccept: */*\r\nAuthorization: Bearer %d\r\n\r\n", i, j, i%50))
			c.Send(at+ms/2, false, reply(429, "slow down, please", "Retry-After: 1", "Date: Tue, 14 Nov 2023 22:13:20 GMT", "Content-Type: text/plain"))
		}
		c.Close(at + ms)
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
	return fs, b.Len()
}

func sink(*capture.Batch) error { return nil }

// BenchmarkExchange measures packet to exchange, the file's framing excluded.
func BenchmarkExchange(b *testing.B) {
	fs, _ := frames(b, 1000, 10)
	s := newTestSource(sink)
	shift := int64(0)
	for i := range fs { // connections and buffers come from the pools from now on
		s.feed(&fs[i])
	}
	b.ReportAllocs()
	b.ResetTimer()
	n := 0
	for n < b.N {
		shift += 10e9
		for i := range fs {
			f := fs[i]
			f.t += shift
			s.feed(&f)
		}
		n += 10_000
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/exchange")
}

// BenchmarkDecode measures link, IP and TCP of one packet.
func BenchmarkDecode(b *testing.B) {
	fs, _ := frames(b, 100, 10)
	var d decoder
	i, used := 0, 0
	b.ReportAllocs()
	for b.Loop() {
		if d.decode(&fs[i], 1) == "" {
			used++
		}
		if i++; i == len(fs) {
			i = 0
		}
	}
	if used == 0 {
		b.Error("no packet was decoded")
	}
}

// BenchmarkFile measures a whole file.
func BenchmarkFile(b *testing.B) {
	_, file := fleet(b, 1000, 20)
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := Open("x", bytes.NewReader(file), Options{Secrets: secrets})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Run(context.Background(), sink); err != nil {
			b.Fatal(err)
		}
	}
}

// TestSteadyState checks that an exchange costs no allocation once the pools
// are filled.
func TestSteadyState(t *testing.T) {
	fs, _ := frames(t, 200, 10)
	s := newTestSource(sink)
	shift := int64(0)
	run := func() {
		shift += 10e9
		for i := range fs {
			f := fs[i]
			f.t += shift
			s.feed(&f)
		}
	}
	run()
	run()
	const exchanges = 2000
	if n := testing.AllocsPerRun(20, run) / exchanges; n > 0.01 { // a copy of Health each second is what is left
		t.Errorf("%g allocations an exchange", n)
	}
}
