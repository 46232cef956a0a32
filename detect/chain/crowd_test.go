package chain

import (
	"runtime"
	"testing"
)

// A crowd that fails together and comes back together at one pace is retrying,
// however long that pace is: the wave after the first may be lost, no more. (A
// crowd that comes each minute is still taken for pollers.)
func TestCrowdThatWaitsLong(t *testing.T) {
	const waves = 12
	for _, gap := range []float64{2, 5, 8, 10, 15, 20, 30} {
		for _, clients := range []int{5, 20, 90} {
			tr := newTraffic(3)
			for c := range clients {
				for i := range waves {
					at := 65 + float64(c)/float64(clients) + gap*float64(i) + tr.uniform(0, .04)
					tr.add(ask{op: uint64(c + 10), tmpl: 1, addr: uint64(c + 1), hint: -1, start: at, end: at + .002, status: 503, attempt: int32(i + 1), parent: len(tr.asks) - 1})
				}
			}
			tr.sort()
			s := play(Options{}, tr.asks).run(0).score()
			if want := clients * (waves - 3); s.right < want || s.wrong > 0 {
				t.Errorf("%d clients each %v s: %d of %d retries found, want %d; %d wrong", clients, gap, s.right, s.retries, want, s.wrong)
			}
		}
	}
}

// Pollers whose answers fail for a while are none, though they fail together and
// keep one pace: they asked at it before.
func TestCrowdThatPolls(t *testing.T) {
	for _, gap := range []float64{2, 5, 10, 30} {
		tr := newTraffic(3)
		for c := range 50 {
			for i := range 40 {
				at := 65 + gap*float64(c)/50 + gap*float64(i) + tr.uniform(0, .04)
				a := ask{op: uint64(c + 10), tmpl: 1, addr: uint64(c + 1), hint: -1, start: at, end: at + .002, status: 200, attempt: 1, parent: -1}
				if i >= 5 && i < 20 {
					a.status = 503
				}
				tr.add(a)
			}
		}
		tr.sort()
		if s := play(Options{}, tr.asks).run(0).score(); s.found > 0 {
			t.Errorf("polls each %v s: %d of %d taken for retries", gap, s.found, s.all)
		}
	}
}

// What an open failure costs, with the keys by which it is found: a million clients
// that each wait for one retry stay well below a gigabyte.
func TestBytesOfAnOpenFailure(t *testing.T) {
	const n = 200_000
	held := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := held()
	s := NewSet(Options{})
	now := int64(epoch) * second
	s.Barrier(now)
	m := s.Shard(0)
	for i := range uint64(n) {
		l := m.Request(&Request{Seq: i + 1, Start: now, Op: i % 977, Template: 1, Addr: i})
		m.Outcome(&Result{Seq: i + 1, Op: i % 977, Template: 1, Addr: i, Start: now, End: now + 1e6, Status: 503, Failed: true, Link: l})
	}
	s.Barrier(now + second)
	each := (held() - before) / n
	runtime.KeepAlive(s)
	t.Logf("%d bytes for each of %d open failures", each, s.Stats().Open)
	if s.Stats().Open != n || each > 900 {
		t.Errorf("%d bytes for each of %d open failures", each, s.Stats().Open)
	}
}
