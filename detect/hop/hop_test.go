package hop

import (
	"math/rand/v2"
	"testing"
	"time"
)

// service makes requests with ids of their own, each tried up to four times a
// second apart, as (key, start, end, client).
type request struct {
	key        uint64
	start, end int64
	client     uint64
}

const start = int64(1772421000e9)

func service(r *rand.Rand, n int, lockstep bool) (out []request) {
	for range n {
		key, client := r.Uint64(), uint64(r.IntN(50))
		at := start + r.Int64N(120e9)
		for try := range 1 + r.IntN(4) {
			wait := int64(try) * 1e9
			if !lockstep {
				wait = int64(try) * r.Int64N(3e9)
			}
			took := 5e6 + r.Int64N(40e6)
			out = append(out, request{key, at + wait, at + wait + took, client})
		}
	}
	return out
}

func sketch(rs []request, offset int64, see func(request) bool, change func(request) request) *Sketch {
	s := NewSketch()
	for _, x := range rs {
		if see != nil && !see(x) {
			continue
		}
		if change != nil {
			x = change(x)
		}
		s.Add(x.key, Sighting{Start: x.start + offset, End: x.end + offset, Client: x.client})
	}
	return s
}

// A host that takes over from another in a storm of lockstep saw none of its requests.
func TestHostThatTakesOver(t *testing.T) {
	const round = int64(1_008_000_000)
	r := rand.New(rand.NewPCG(7, 7))
	var rs []request
	for client := range uint64(50) {
		key, at := r.Uint64(), start+17*round+r.Int64N(5e6)
		for try := range int64(6) {
			rs = append(rs, request{key, at + try*round, at + try*round + 1e6, client})
		}
	}
	for range 300 {
		at := start + r.Int64N(60e9)
		rs = append(rs, request{r.Uint64(), at, at + 1e6, 60})
	}
	cut := start + 20*round - round/2
	a := sketch(rs, 0, func(x request) bool { return x.start < cut }, nil)
	b := sketch(rs, 0, func(x request) bool { return x.start >= cut }, nil)
	for _, l := range []Link{Relate(a, b, 50*time.Millisecond), Relate(b, a, 50*time.Millisecond)} {
		if l.Relation != Apart {
			t.Errorf("%+v", l)
		}
	}
}

func TestSameExchangesSeenTwice(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		rs := service(r, 300+r.IntN(20000), seed%2 == 0)
		offset := int64(seed)*1_700_000_000 - 9e9
		a := sketch(rs, 0, nil, nil)
		b := sketch(rs, offset, func(request) bool { return r.IntN(100) > 0 }, func(x request) request {
			x.start, x.end = x.start+r.Int64N(2e6), x.end+r.Int64N(2e6)
			return x
		})
		l := Relate(a, b, 50*time.Millisecond)
		if l.Relation != Same || l.Offset-time.Duration(offset) > 5*time.Millisecond || time.Duration(offset)-l.Offset > 5*time.Millisecond {
			t.Errorf("seed %d: %+v, want Same and an offset of %s", seed, l, time.Duration(offset))
		}
	}
}

// Behind a proxy that refuses a third itself the rest is seen a little later, from
// the proxy's address.
func TestSameRequestsAtTwoHops(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		rs := service(r, 400+r.IntN(3000), seed%2 == 0)
		edge := sketch(rs, 0, nil, nil)
		behind := sketch(rs, -2_400_000_000, func(request) bool { return r.IntN(3) > 0 }, func(x request) request {
			x.start, x.end, x.client = x.start+1e6, x.end-1e6, 7
			return x
		})
		if l := Relate(edge, behind, 50*time.Millisecond); l.Relation != Layer || !l.Inside || l.Offset < -2405*time.Millisecond || l.Offset > -2390*time.Millisecond {
			t.Errorf("seed %d: %+v, want Layer inside, 2.4 s behind", seed, l)
		}
		if l := Relate(behind, edge, 50*time.Millisecond); l.Relation != Layer || l.Inside {
			t.Errorf("seed %d, the other way: %+v, want Layer outside", seed, l)
		}
	}
}

// Hosts behind a balancer share clients, targets and the chains of retries, though
// not the attempts; a constant wait between these must not pass for a clock offset.
func TestHostsBehindABalancer(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		rs := service(r, 100+r.IntN(3000), seed%2 == 0)
		host := map[request]int{}
		for i, x := range rs {
			host[x] = r.IntN(2)
			if seed%3 == 0 { // in turn, by connection order
				host[x] = i % 2
			}
		}
		a := sketch(rs, 0, func(x request) bool { return host[x] == 0 }, nil)
		b := sketch(rs, 0, func(x request) bool { return host[x] == 1 }, nil)
		if l := Relate(a, b, 50*time.Millisecond); l.Relation != Apart {
			t.Errorf("seed %d: %+v, want Apart", seed, l)
		}
	}
}

// What everybody asks for, or a handful of requests, tells nothing; sources of
// different days are apart.
func TestWhatCannotBeCompared(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	common := make([]request, 5000)
	for i := range common {
		at := start + r.Int64N(60e9)
		common[i] = request{uint64(i % 4), at, at + 1e6, uint64(i % 9)}
	}
	if l := Relate(sketch(common, 0, nil, nil), sketch(common, 0, nil, nil), 50*time.Millisecond); l.Relation != Unclear {
		t.Errorf("four targets: %+v", l)
	}
	few := service(r, 5, false)[:5]
	if l := Relate(sketch(few, 0, nil, nil), sketch(few, 0, nil, nil), 50*time.Millisecond); l.Relation != Unclear {
		t.Errorf("five requests: %+v", l)
	}
	rs := service(r, 500, false)
	if l := Relate(sketch(rs, 0, nil, nil), sketch(rs, 24*3600e9, nil, nil), 50*time.Millisecond); l.Relation != Apart {
		t.Errorf("a day later: %+v", l)
	}
	if l := Relate(NewSketch(), sketch(rs, 0, nil, nil), 50*time.Millisecond); l.Relation == Same || l.Relation == Layer {
		t.Errorf("empty: %+v", l)
	}
}

// Whatever a source holds, its sketch stays small.
func TestSketchIsBounded(t *testing.T) {
	s := NewSketch()
	for i := range uint64(300_000) {
		s.Add(i*0x9e3779b97f4a7c15, Sighting{Start: int64(i)})
		s.Add(1, Sighting{})
	}
	if len(s.keys) > maxKeys || len(s.rare(1)) != 0 {
		t.Errorf("%d keys, %d sightings of a common one", len(s.keys), len(s.rare(1)))
	}
}
