package chain

import "testing"

// stamped gives the requests of a traffic ids: one for each attempt, or one for
// all attempts of a request, as truth has them.
func stamped(tr *traffic, id func(chain, attempt int) uint64) {
	chain := make([]int, len(tr.asks))
	for i := range tr.asks {
		chain[i] = i
		if p := tr.asks[i].parent; p >= 0 {
			chain[i] = chain[p]
		}
		tr.asks[i].passed = id(chain[i], int(tr.asks[i].attempt))
	}
}

// crowded is traffic in which timing alone goes wrong: many clients behind one
// address ask for the same few things.
func crowded() *traffic {
	tr := newTraffic(3)
	for range 300 {
		at := tr.uniform(0, 120)
		op := uint64(tr.rng.IntN(3))
		parent := -1
		for k := 1; k <= 4; k++ {
			status := uint16(503)
			if tr.rng.Float64() < .3 || k == 4 {
				status = 200
			}
			tr.add(ask{start: at, end: at + .05, op: op, tmpl: 1, addr: 9, status: status, hint: -1, parent: parent, attempt: int32(k)})
			parent = len(tr.asks) - 1
			if status == 200 {
				break
			}
			at += .05 + tr.uniform(.2, 6)
		}
	}
	return tr
}

func TestPassedIDs(t *testing.T) {
	run := func(id func(chain, attempt int) uint64) score {
		tr := crowded()
		if id != nil {
			stamped(tr, id)
		}
		tr.sort()
		return play(Options{}, tr.asks).run(0).score()
	}
	without := run(nil)
	without.log(t, "no ids")
	if without.f1() > .8 {
		t.Fatalf("timing alone finds too much for this test: %.3f", without.f1())
	}
	// What is wrong still are requests of the first seconds, in which nothing shows
	// yet that another id is another operation.
	if s := run(func(chain, _ int) uint64 { return uint64(chain + 1) }); s.f1() < .96 || s.exactShare() < .95 {
		t.Errorf("one id for all attempts: pair F1 %.3f, exact %.3f", s.f1(), s.exactShare())
	}
	// Ids that say nothing change nothing; those of a whole job little.
	if s := run(func(chain, attempt int) uint64 { return uint64(chain*10 + attempt) }); s.f1() != without.f1() {
		t.Errorf("an id for each attempt: pair F1 %.3f, without %.3f", s.f1(), without.f1())
	}
	if s := run(func(int, int) uint64 { return 5 }); s.f1() < without.f1()-.03 {
		t.Errorf("one id for everything: pair F1 %.3f, without %.3f", s.f1(), without.f1())
	}
}
