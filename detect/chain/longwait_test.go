package chain

import (
	"testing"

	"stormwatch/capture"
)

// Who comes back every five or twenty minutes for what is refused, and never when it
// was not, has not given up: one client, nothing else of its kind.
func TestWaitsOfManyMinutes(t *testing.T) {
	for _, gap := range []float64{60, 300, 700, 1200} {
		tr := newTraffic(1)
		for i := range 6 {
			a := ask{start: 1 + gap*float64(i), op: 1, tmpl: 1, addr: 9, status: 429, hint: -1, parent: i - 1, attempt: int32(i + 1)}
			if a.end = a.start + .05; i == 5 {
				a.status = 200
			}
			tr.add(a)
		}
		for c := range 2 {
			for i := range 75 {
				at := 10*float64(c) + 20*float64(i)
				tr.add(ask{start: at, end: at + .05, op: uint64(1000 + i), tmpl: 2, addr: uint64(20 + c), status: 200, hint: -1, parent: -1, attempt: 1})
			}
		}
		tr.sort()
		p := taughtTwice(tr.asks)
		if s := p.score(); s.right != 5 || s.found != 5 {
			t.Errorf("waits of %v s: %d retries found, %d right; want 5", gap, s.found, s.right)
		}
		if st := p.set.Stats(); st.Open+st.Linger != 0 {
			t.Errorf("waits of %v s: %+v", gap, st)
		}
	}
}

// taughtTwice plays traffic as a recording is judged: its start is gone through
// beforehand, twice.
func taughtTwice(asks []ask) *player {
	l := play(Options{}, asks).run(0).set.Lore()
	again := play(Options{}, asks)
	again.set.Revise(l)
	l = again.run(0).set.Lore()
	p := play(Options{}, asks)
	p.set.Begin(l)
	return p.run(0)
}

// Failures that nobody comes back for do not pile up.
func TestWhatLingersIsBounded(t *testing.T) {
	const limit = 1 << 10
	s := NewSet(Options{MaxFailures: limit})
	m := s.Shard(0)
	now, seq := int64(epoch)*second, uint64(0)
	for range 600 {
		for range 5 {
			seq++
			q := Request{Seq: seq, Start: now, Op: seq, Template: 1, Addr: seq}
			m.Outcome(&Result{Seq: seq, Op: seq, Template: 1, Addr: seq, Start: now, End: now + 5e6, Status: 503, Failed: true, Link: m.Request(&q)})
		}
		now += second
		s.Barrier(now)
		if st := s.Stats(); st.Linger > limit/lingerOf || st.Open+st.Linger > limit {
			t.Fatalf("%d failures linger, %d are open", st.Linger, st.Open)
		}
	}
	if st := s.Stats(); st.Linger == 0 || st.Evicted > 0 && st.Open == 0 {
		t.Errorf("%+v", st)
	}
}

// A request that an idle connection was closed under, and that comes again at once,
// is sent by its transport, not by its client.
func TestTransportSendsAgain(t *testing.T) {
	for _, c := range []struct {
		raced   bool
		wait    int64
		attempt int32
	}{{true, 4e6, 1}, {true, 800e6, 2}, {false, 4e6, 2}} {
		s := NewSet(Options{})
		m := s.Shard(0)
		now := int64(epoch) * second
		q := Request{Seq: 1, Start: now, Op: 1, Template: 1, Addr: 1}
		m.Outcome(&Result{Seq: 1, Op: 1, Template: 1, Addr: 1, Start: now, End: now + 1e6, Outcome: capture.Reset, Failed: true, Raced: c.raced, Link: m.Request(&q)})
		q.Seq, q.Start = 2, now+1e6+c.wait
		if l := m.Request(&q); l.Attempt != c.attempt {
			t.Errorf("closed while idle %v, again after %d ms: attempt %d, want %d", c.raced, c.wait/1e6, l.Attempt, c.attempt)
		}
	}
}
