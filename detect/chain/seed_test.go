package chain

import (
	"math/rand/v2"
	"testing"
)

// Requests that come once and succeed are kept as seeds; that must not show.
func TestSeedsDoNotShow(t *testing.T) {
	seeds, keys := NewSet(Options{MaxFailures: 1500}), NewSet(Options{MaxFailures: 1500})
	r := rand.New(rand.NewPCG(1, 5))
	now, seq := int64(epoch)*second, uint64(0)
	for range 900 {
		for range 40 {
			seq++
			q := Request{
				Seq: seq, Start: now + int64(seq%900)*1e6, Op: uint64(r.IntN(30)), Template: uint64(r.IntN(3)), Addr: uint64(r.IntN(9)), Client: 7,
			}
			if r.IntN(2) == 0 {
				q.Op = 1000 + seq // never again
			}
			switch r.IntN(20) {
			case 0:
				q.Cred = uint64(1 + r.IntN(3))
			case 1, 3, 4, 5:
				q.Idem = uint64(1 + r.IntN(5))
			case 2:
				q.Counter, q.N = 1, uint16(1+r.IntN(3))
			}
			failed := r.IntN(5) == 0
			var links [2]Link
			for i, s := range []*Set{seeds, keys} {
				m := s.Shard(0)
				links[i] = m.Request(&q)
				if i == 1 {
					m.find(addrHash(q.Op, q.Addr), q.Addr) // grown at once
				}
				m.Outcome(&Result{
					Seq: seq, Op: q.Op, Addr: q.Addr, Cred: q.Cred, Idem: q.Idem, Start: q.Start, End: q.Start + 5e6,
					Status: 503, Failed: failed, Link: links[i], Template: q.Template, Counter: q.Counter, N: q.N,
				})
			}
			if links[0] != links[1] {
				t.Fatalf("request %d: %+v, want %+v", seq, links[0], links[1])
			}
		}
		now += second
		seeds.Barrier(now)
		keys.Barrier(now)
		if a, b := seeds.Stats(), keys.Stats(); a != b {
			t.Fatalf("%+v, want %+v", a, b)
		}
	}
	if st := seeds.Stats(); st.Evicted == 0 || st.Matched[E0] == 0 || st.Matched[E4] == 0 {
		t.Errorf("too little happened: %+v", st)
	}
}

// What comes once costs a cell, not a key, and is forgotten as keys are.
func TestSeedsAreSmall(t *testing.T) {
	s := NewSet(Options{})
	m := s.Shard(0)
	now := int64(epoch) * second
	for i := range uint64(50_000) {
		q := Request{Seq: i + 1, Start: now + int64(i), Op: i, Addr: 1}
		m.Outcome(&Result{Seq: i + 1, Op: i, Addr: 1, Start: q.Start, End: q.Start + 1, Link: m.Request(&q)})
	}
	if st := s.Stats(); st.Keys != 50_000 || m.keys.len() != 0 {
		t.Errorf("%d keys, of which %d have grown", st.Keys, m.keys.len())
	}
	m.Request(&Request{Seq: 50_001, Start: now + second, Op: 9, Addr: 1})
	if m.keys.len() != 1 || m.keys.at(0).first != now+9 || m.keys.at(0).repeats != 1 {
		t.Errorf("the key asked for twice: %+v", m.keys)
	}
	s.Barrier(now + 2*second)
	s.Barrier(now + 2*idleKey)
	if st := s.Stats(); st.Keys != 0 || m.byHash.len() != 0 {
		t.Errorf("%d keys after twenty minutes", st.Keys)
	}
}
