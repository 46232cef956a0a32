package packet

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestFirstCopyWins sends bytes more than once, with other contents each time:
// what came first counts, wherever the copies overlap and whichever came in order.
func TestFirstCopyWins(t *testing.T) {
	const seq = 1000
	line := "GET /abcdefghij HTTP/1.1\r\n\r\n"
	at := func(from, to int) (uint32, string) { return seq + 1 + uint32(from), line[from:to] }
	other := func(from, to int) (uint32, string) {
		return seq + 1 + uint32(from), strings.Repeat("#", to-from)
	}
	type part func() (uint32, string)
	first := func(from, to int) part { return func() (uint32, string) { return at(from, to) } }
	later := func(from, to int) part { return func() (uint32, string) { return other(from, to) } }
	n := len(line)
	for name, c := range map[string]struct {
		parts    []part
		repeated uint64
	}{
		"behind what was read":           {[]part{first(0, 8), later(2, 8), first(8, n)}, 1},
		"into what was read":             {[]part{first(0, 8), later(2, 8), first(8, n)}, 1},
		"queued twice":                   {[]part{first(8, 12), later(8, 12), first(0, 8), first(12, n)}, 1},
		"over the end of a queued one":   {[]part{first(8, 12), func() (uint32, string) { return seq + 9 + 2, "##" + line[12:n] }, first(0, 8)}, 1},
		"over the beginning of a queued": {[]part{first(8, n), func() (uint32, string) { return seq + 5, line[4:8] + "####" }, first(0, 4)}, 1},
		"around two queued ones": {[]part{first(5, 8), first(12, 14), func() (uint32, string) {
			return seq + 3, line[2:5] + "###" + line[8:12] + "##" + line[14:n]
		}, first(0, 2)}, 1},
		"in order, over a queued one":       {[]part{first(8, 12), func() (uint32, string) { return seq + 1, line[:8] + "####" + line[12:n] }}, 1},
		"inside a queued one":               {[]part{first(4, n), later(6, 9), first(0, 4)}, 1},
		"a probe whether the peer is there": {[]part{first(0, 8), func() (uint32, string) { return seq + 8, "#" }, first(8, n)}, 0},
	} {
		p := newTap(t)
		p.from(1, seq, 0, flagSYN, "")
		p.from(-1, 1, seq+1, flagSYN|flagACK, "")
		for _, part := range c.parts {
			s, text := part()
			p.from(1, s, 2, ackPush, text)
		}
		p.from(-1, 2, seq+1+uint32(n), ackPush, okReply)
		r := p.end()
		if got := strings.TrimSpace(r.String()); got != "GET /abcdefghij 200 answered" || p.out.health.Repeated != c.repeated || p.out.health.GapBytes != 0 {
			t.Errorf("%s: %q, %d repeated, %d lost", name, got, p.out.health.Repeated, p.out.health.GapBytes)
		}
	}
}

// TestPiecesInAnyOrder sends a stream in pieces that overlap at random, in random
// order: it must be read as if it had come in one.
func TestPiecesInAnyOrder(t *testing.T) {
	var stream strings.Builder
	var want []string
	for i := range 20 {
		fmt.Fprintf(&stream, "POST /%d HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s", i, i*7, strings.Repeat("x", i*7))
		want = append(want, fmt.Sprintf("POST /%d 0 no-answer", i))
	}
	text := stream.String()
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 9))
		start := rng.Uint32() | 0xfffff000 // the numbers wrap on the way
		p := newTap(t)
		p.from(1, start, 0, flagSYN, "")
		var order []int
		for at := 0; at < len(text); at += 40 {
			order = append(order, at)
		}
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, at := range order {
			a, z := max(at-rng.IntN(30), 0), min(at+40+rng.IntN(30), len(text))
			p.from(1, start+1+uint32(a), 1, ackPush, text[a:z])
		}
		r := p.end()
		r.expect(t, want...)
		if p.out.health.GapBytes != 0 {
			t.Errorf("seed %d: %d bytes lost", seed, p.out.health.GapBytes)
		}
	}
}

// TestSequenceWrap moves the numbers of a capture so that they wrap inside the
// handshake, the requests, the answers, and at their borders, in order, out of
// order and with losses. Nothing may change.
func TestSequenceWrap(t *testing.T) {
	b := two(t)
	_, recs := records(b)
	first := [2]uint32{be.Uint32(recs[0][recTCP+4:]), be.Uint32(recs[1][recTCP+4:])}
	variants := [][]byte{
		b, ordered(b, 0, 1, 2, 4, 3, 5, 6, 7, 8, 9), ordered(b, 0, 1, 2, 3, 5, 4, 6, 7, 8, 9), ordered(b, 3, 4, 0, 1, 5, 6),
		without(b, 3), without(b, 4), without(b, 5), without(b, 0, 1, 2), without(b, 0, 1, 2, 3),
	}
	for i, v := range variants {
		want := readAll(t, v, Options{}).String()
		for back := uint32(0); back < 120; back++ {
			got := readAll(t, shifted(v, server.Port(), [2]uint32{-first[0] - back, -first[1] - back}), Options{}).String()
			if got != want {
				t.Fatalf("variant %d, wrapping after %d bytes:\n%swant\n%s", i, back, got, want)
			}
		}
	}
}
