package chain

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stormwatch/capture"
)

// mixed is traffic of all kinds at once.
func mixed(seed uint64) []ask {
	t := with(light, func(p *plan) { p.parallel, p.pollers, p.seconds, p.wait = 3, .2, 90, fullJitter }).run(seed)
	o := with(light, func(p *plan) { p.nat, p.keyed, p.seconds, p.wait, p.urls = true, true, 90, doubling, 40 }).run(seed + 1)
	base := len(t.asks)
	for _, a := range o.asks {
		a.id += base
		if a.parent >= 0 {
			a.parent += base
		}
		t.asks = append(t.asks, a)
	}
	at := make(map[int]int, len(t.asks))
	for i := range t.asks {
		at[t.asks[i].id] = i
	}
	for i := range t.asks {
		t.asks[i].declare(t.asks, at)
	}
	t.sort()
	return t.asks
}

// declare has some requests say what they are: by an id of the operation, the
// client's counter, a proxy's beside it, or an id passed on.
func (a *ask) declare(all []ask, at map[int]int) {
	root := a.id
	for all[at[root]].parent >= 0 {
		root = all[at[root]].parent
	}
	id, n := uint64(root+1), uint16(max(a.attempt, 1))
	switch root % 11 {
	case 0:
		a.idem = id
	case 1:
		a.counter, a.n = capture.StainlessRetries, n
	case 2:
		a.counter, a.n, a.relay = capture.AmzAttempt, (n+1)/2, capture.Attempt{N: 2 - n%2, Counter: capture.EnvoyAttempts}
	case 3, 4:
		a.passed = id
	case 5:
		a.idem, a.addr, a.cred = id, a.addr+uint64(n), 0
	case 6:
		if n > 1 {
			a.counter, a.n = capture.FromAbsent, n
		}
	}
}

func TestShardsDoNotMatter(t *testing.T) {
	for _, bound := range []int{0, 60} {
		asks := mixed(1)
		want := play(Options{Shards: 1, MaxFailures: bound}, asks).run(0)
		for _, n := range []int{2, 7} {
			got := play(Options{Shards: n, MaxFailures: bound}, asks).run(0)
			if d := cmp.Diff(want.links, got.links); d != "" {
				t.Fatalf("%d shards, bound %d: links differ:\n%.2000s", n, bound, d)
			}
			if want.set.Stats() != got.set.Stats() {
				t.Errorf("%d shards, bound %d: %+v, want %+v", n, bound, got.set.Stats(), want.set.Stats())
			}
		}
	}
}

func TestCloneRunsOnAsTheOriginal(t *testing.T) {
	asks := mixed(2)
	straight := play(Options{Shards: 2}, asks).run(0)
	for _, at := range []float64{1, 17, 60} {
		p := play(Options{Shards: 2}, asks).run(at)
		copied := *p
		copied.set = p.set.Clone()
		copied.links = append([]Link(nil), p.links...)
		p.run(0) // must not disturb the copy
		copied.run(0)
		if d := cmp.Diff(straight.links, copied.links); d != "" {
			t.Fatalf("cloned at %v s: links differ:\n%.2000s", at, d)
		}
		if straight.set.Stats() != copied.set.Stats() {
			t.Errorf("cloned at %v s: %+v, want %+v", at, copied.set.Stats(), straight.set.Stats())
		}
	}
}

func TestBounds(t *testing.T) {
	s := NewSet(Options{Shards: 2, MaxFailures: 1000})
	seq := uint64(0)
	fail := func(op, addr uint64, at int64) {
		seq++
		m := s.Shard(s.ShardOf(op))
		r := Request{Seq: seq, Start: at, Op: op, Addr: addr, Template: op, Idem: seq % 2 * (seq/5 + 1), ID: seq % 3}
		l := m.Request(&r)
		m.Outcome(&Result{Seq: seq, Op: op, Addr: addr, Template: op, Start: at, End: at + 1e6, Status: 503, Failed: true, Link: l, Idem: r.Idem, ID: r.ID})
	}
	now := int64(epoch) * second
	for range 50 {
		for i := range 400 {
			fail(mix(seq, 5), 1, now+int64(i)*1e6)
		}
		now += second
		s.Barrier(now)
		if st := s.Stats(); st.Open > 1000 || st.Keys > 2000 {
			t.Fatalf("%d failures and %d keys kept", st.Open, st.Keys)
		}
	}
	st := s.Stats()
	if st.Evicted < 50*400-1000 {
		t.Errorf("evicted %d", st.Evicted)
	}
	if len(s.model.fresh.slots) > maxTemplates {
		t.Errorf("%d templates", len(s.model.fresh.slots))
	}
	for i := range 100 { // one key, all at once
		fail(1, 1, now+int64(i))
	}
	if m := s.Shard(s.ShardOf(1)); m.keys.at(m.find(addrHash(1, 1), 1)).opens > defaultMaxOpen || s.Stats().Capped < 100-defaultMaxOpen {
		t.Errorf("capped %d", s.Stats().Capped)
	}
	for range 121 {
		now += second
		s.Barrier(now)
	}
	if st := s.Stats(); st.Open != 0 {
		t.Errorf("%d failures older than 120 s are open", st.Open)
	}
	ids := func() (n int) {
		for i := range s.shards {
			n += s.shards[i].byID.len()
		}
		return n
	}
	if n := ids(); n > s.Stats().Linger {
		t.Errorf("%d ids of failures that are gone", n-s.Stats().Linger)
	}
	s.Barrier(now + int64(time.Hour))
	if n := ids() + s.Stats().Linger; n != 0 {
		t.Errorf("%d failures and ids after an hour", n)
	}
	if st := s.Stats(); st.Keys != 0 {
		t.Errorf("%d keys idle for an hour", st.Keys)
	}
}

// A failure is forgotten on time across a silence longer than the calendar.
func TestSilence(t *testing.T) {
	s := NewSet(Options{})
	m := s.Shard(0)
	now := int64(epoch) * second
	s.Barrier(now)
	l := m.Request(&Request{Seq: 1, Start: now, Op: 1, Addr: 1})
	m.Outcome(&Result{Seq: 1, Op: 1, Addr: 1, Start: now, End: now + 1e6, Status: 503, Failed: true, Link: l})
	s.Barrier(now + 5000*second)
	if s.Stats().Open != 0 {
		t.Error("open after 5,000 s")
	}
}

func TestTable(t *testing.T) {
	tr := newTraffic(4)
	var tab table
	ref := map[uint64]int32{}
	for i := range 200000 {
		h := mix(uint64(tr.rng.IntN(3000)), 1)
		if tr.rng.IntN(2) == 0 {
			h = uint64(tr.rng.IntN(3000)) << 32 // all share their low bits
		}
		if _, in := ref[h]; in {
			tab.remove(h)
			delete(ref, h)
		} else {
			tab.put(h, int32(i))
			ref[h] = int32(i)
		}
		if i%50000 != 0 {
			continue
		}
		for h, p := range ref {
			if tab.get(h) != p {
				t.Fatalf("%x is at %d, want %d", h, tab.get(h), p)
			}
		}
	}
	if tab.len() != len(ref) {
		t.Errorf("%d used, want %d", tab.len(), len(ref))
	}
}

func TestLog2(t *testing.T) {
	for x := 1e-7; x < 1e7; x *= 1.0037 {
		if d := math.Abs(log2(x) - math.Log2(x)); d > 3e-6 {
			t.Fatalf("log2(%v) is %g off", x, d)
		}
	}
}

// Events that no engine sends must not break a shard: outcomes without a
// request, twice, out of order, or with times far apart.
func FuzzEvents(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Add([]byte{0, 0, 0, 0, 1, 0, 0, 255, 3, 9, 200, 1, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		s := NewSet(Options{Shards: 2, MaxFailures: 8, MaxOpen: 2})
		now := int64(epoch) * second
		for seq := uint64(1); len(b) >= 4; seq, b = seq+1, b[4:] {
			op, id := uint64(b[1]%3), uint64(b[2]%3)
			m := s.Shard(s.ShardOf(op))
			at := now + int64(int8(b[3]))*second/4
			switch b[0] % 4 {
			case 0, 1:
				r := Request{Seq: seq, Start: at, Op: op, Template: op, Addr: id, Cred: uint64(b[2] >> 6), Idem: uint64(b[1] >> 7), N: uint16(b[2]>>3) % 3}
				l := m.Request(&r)
				if l.Parent == seq || l.Root == 0 || l.Attempt < 1 || !(l.Confidence >= 0 && l.Confidence <= 1) {
					t.Fatalf("%+v", l)
				}
			case 2:
				m.Outcome(&Result{Seq: seq, Op: op, Template: op, Addr: id, Cred: uint64(b[2] >> 6), Start: at, End: at + int64(b[0]), Status: 500 + uint16(b[2]), Failed: b[3]%4 > 0})
			case 3:
				now += int64(b[3]) * second
				s.Barrier(now)
				if st := s.Stats(); st.Open > 8 || st.Keys > 16 {
					t.Fatalf("%+v", st)
				}
			}
		}
	})
}

// BenchmarkMatch measures a request with its outcome in steady state.
func BenchmarkMatch(b *testing.B) {
	asks := with(light, func(p *plan) { p.clients, p.seconds, p.wait = 400, 120, doubling }).run(1).asks
	p := play(Options{}, asks).run(0)
	base := p.now
	b.ReportAllocs()
	b.ResetTimer()
	shift, i := base-epoch*second, 0
	for n := range b.N {
		e := p.order[i]
		a := &asks[e.ask]
		m := p.set.Shard(0)
		if e.outcome {
			r := a.result(uint64(e.ask+1), p.links[e.ask])
			r.Start, r.End = r.Start+shift, r.End+shift
			m.Outcome(&r)
		} else {
			r := a.request(uint64(e.ask + 1))
			r.Start += shift
			p.links[e.ask] = m.Request(&r)
		}
		if i++; i == len(p.order) {
			i, shift = 0, shift+130*second
		}
		if t := p.order[i].at + shift; t >= p.now+second || n == b.N-1 {
			p.now += second
			p.set.Barrier(p.now)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)*2, "ns/exchange")
}

// BenchmarkBarrier measures the end of a tick in which little was learned.
func BenchmarkBarrier(b *testing.B) {
	p := play(Options{}, mixed(1)).run(30)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		p.set.model.waits.kernels[1].dirty = true
		p.set.model.refresh(1)
	}
}
