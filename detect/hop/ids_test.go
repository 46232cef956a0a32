package hop

import (
	"math/rand/v2"
	"testing"
	"time"
)

// numbered are requests each with an id of its own.
func numbered(r *rand.Rand, n int) (out []request) {
	for range n {
		at := start + r.Int64N(120e9)
		out = append(out, request{r.Uint64(), at, at + 5e6 + r.Int64N(60e6), uint64(r.IntN(50))})
	}
	return out
}

// A proxy holds a request up, then tries up to three times behind itself, under the
// id it was given: one layer, its multiplier, and the clocks to a millisecond or two
// though the way takes up to a third of a second.
func TestIDsAtTwoHops(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 5))
		inner := NewSketch()
		outer := NewSketch()
		offset := int64(seed)*700_000_000 - 5e9
		tries := 0
		rs := numbered(r, 30+r.IntN(3000))
		for _, x := range rs {
			at := x.start + 2e5 + r.Int64N(1+r.Int64N(300e6))
			for range 1 + r.IntN(3) {
				took := 1e6 + r.Int64N(30e6)
				inner.Add(x.key, Sighting{Start: at + offset, End: at + took + offset, Client: 7})
				at += took + r.Int64N(25e6)
				tries++
			}
			outer.Add(x.key, Sighting{Start: x.start, End: at + 2e5 + r.Int64N(3e6), Client: x.client})
		}
		l := RelateByID(outer, inner, 0)
		off := l.Offset - time.Duration(offset)
		if l.Relation != Layer || !l.Inside || !l.ByID || off > l.Error || -off > l.Error || l.Error > 20*time.Millisecond {
			t.Errorf("seed %d: %+v, %s off the truth", seed, l, off)
		}
		requests, attempts := Attempts([]*Sketch{outer}, []*Sketch{inner})
		got, want := float64(attempts)/float64(requests), float64(tries)/float64(len(rs))
		if got < .9*want || got > 1.1*want {
			t.Errorf("seed %d: %.2f attempts for one, want about %.2f", seed, got, want)
		}
		if l := RelateByID(inner, outer, 0); l.Relation != Layer || l.Inside {
			t.Errorf("seed %d, the other way: %+v", seed, l)
		}
	}
}

// A capture and the log of one hop, with ids: the same, even of a handful of requests.
func TestIDsAtOneHop(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 6))
		a, b := NewSketch(), NewSketch()
		for _, x := range numbered(r, 6+r.IntN(50)) {
			a.Add(x.key, Sighting{Start: x.start, End: x.end, Client: x.client})
			b.Add(x.key, Sighting{Start: x.start + 3e9 + r.Int64N(1e6), End: x.end + 3e9 + r.Int64N(1e6), Client: x.client})
		}
		if l := RelateByID(a, b, 0); l.Relation != Same || l.Offset < 2999*time.Millisecond || l.Offset > 3002*time.Millisecond {
			t.Errorf("seed %d: %+v", seed, l)
		}
	}
}

// A client that gives all attempts of a request one id does not make the hosts
// behind a balancer two hops, nor do hosts that make ids of their own.
func TestIDsOfHostsBehindABalancer(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		a, b, own := NewSketch(), NewSketch(), NewSketch()
		for _, x := range service(r, 100+r.IntN(3000), seed%2 == 0) {
			s := a
			if r.IntN(2) == 0 {
				s = b
			}
			s.Add(x.key, Sighting{Start: x.start, End: x.end, Client: x.client})
			own.Add(r.Uint64(), Sighting{Start: x.start, End: x.end, Client: x.client})
		}
		for _, o := range []*Sketch{b, own, nil, NewSketch()} {
			if l := RelateByID(a, o, 0); l.Relation >= Same {
				t.Errorf("seed %d: %+v", seed, l)
			}
		}
	}
}

// Nor where every request fails on both hosts in turn, a fixed wait apart: no clock
// is so far off that one host's attempts lie within the other's.
func TestIDsOfHostsInTurn(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 8))
		hosts := []*Sketch{NewSketch(), NewSketch()}
		for _, x := range numbered(r, 20+r.IntN(2000)) {
			first := r.IntN(2)
			for try := range 4 {
				took := 5e6 + r.Int64N(60e6)
				hosts[(first+try)%2].Add(x.key, Sighting{Start: x.start, End: x.start + took, Client: x.client})
				x.start += took + 1e9
			}
		}
		if l := RelateByID(hosts[0], hosts[1], 0); l.Relation >= Same {
			t.Errorf("seed %d: %+v", seed, l)
		}
	}
}

// Three pods behind a gateway each saw a part of its attempts: each is behind it, and
// together they tell how many there were.
func TestIDsOfPodsBehindAGateway(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 9))
		gateway, pods := NewSketch(), []*Sketch{NewSketch(), NewSketch(), NewSketch()}
		for _, x := range numbered(r, 40+r.IntN(3000)) {
			at := x.start + 1e6
			for range 3 {
				pods[r.IntN(3)].Add(x.key, Sighting{Start: at, End: at + 4e6, Client: 7})
				at += 4e6 + 25e6 + r.Int64N(50e6)
			}
			gateway.Add(x.key, Sighting{Start: x.start, End: at, Client: x.client})
		}
		for i, pod := range pods {
			if l := RelateByID(gateway, pod, time.Millisecond); l.Relation != Layer || !l.Inside || l.Offset > l.Error || -l.Offset > l.Error {
				t.Errorf("seed %d: pod %d: %+v", seed, i, l)
			}
			if l := RelateByID(pod, gateway, time.Millisecond); l.Relation != Layer || l.Inside {
				t.Errorf("seed %d: the gateway of pod %d: %+v", seed, i, l)
			}
		}
		if n, k := Attempts([]*Sketch{gateway}, pods); n == 0 || k != 3*n {
			t.Errorf("seed %d: %d attempts for %d", seed, k, n)
		}
	}
}

// What failed and was sent again under one id is counted; one id at several services is
// not, nor what had succeeded.
func TestWhatAHopSentAgain(t *testing.T) {
	outer, orders, stock := NewSketch(), NewSketch(), NewSketch()
	r := rand.New(rand.NewPCG(3, 9))
	for i := range int64(60) {
		key, at := r.Uint64(), i*1e9
		outer.Add(key, Sighting{Start: at, End: at + 9e8})
		stock.Add(key, Sighting{Start: at + 1e6, End: at + 2e6, What: 2})
		tries := int64(1)
		if i%3 == 0 {
			tries = 3
		}
		for k := range tries {
			orders.Add(key, Sighting{Start: at + k*1e8, End: at + k*1e8 + 5e7, What: 1, Failed: k+1 < tries})
		}
		if i%3 == 1 { // asked once more, though it was answered
			orders.Add(key, Sighting{Start: at + 5e8, End: at + 6e8, What: 1})
		}
	}
	f := Fanned([]*Sketch{outer, nil}, []*Sketch{orders, stock})
	// Twenty of sixty had two failures each: forty retries. At both services there were
	// 60 + 60 + 40 + 20 exchanges.
	if f.Requests != 60 || f.Attempts != 180 || f.Repeated != 20 || f.Retries != 40 || f.Most != 3 {
		t.Errorf("%+v", f)
	}
	for i, at := range f.At {
		if at != int64(i)*3e9 {
			t.Fatalf("sent again at %v", f.At)
		}
	}
}
