package detect

import (
	"context"
	"runtime"
	"testing"
)

// However long the input, its checkpoints keep to their budget, and one is near
// wherever a reader seeks to.
func TestCheckpointsStayWithinTheirBudget(t *testing.T) {
	for _, budget := range []int64{1, 20 << 20, 60 << 20} {
		rec := recorded(t, busy, Options{MaxCheckpoints: budget})
		p, err := NewReplay(rec)
		if err != nil {
			t.Fatal(err)
		}
		p.points.interval = tick
		if err := p.RunAll(context.Background()); err != nil {
			t.Fatal(err)
		}
		var used int64
		for _, k := range p.points.list {
			used += k.state.size()
		}
		t.Logf("budget %d KiB: %d checkpoints, %d KiB", p.points.max>>10, len(p.points.list), used>>10)
		if used > p.points.max {
			t.Errorf("%d bytes of checkpoints, want at most %d", used, p.points.max)
		}
		if p.points.max >= 20<<20 && len(p.points.list) < 2 {
			t.Errorf("%d checkpoints within %d bytes", len(p.points.list), p.points.max)
		}
		if err := p.Seek(context.Background(), rec.start+10*tick); err != nil {
			t.Fatal(err)
		}
	}
}

// The memory lent to a filter's pass comes back with the filter's end, as often as
// there is one: what is gone through then has its checkpoints again.
func TestLentMemoryComesBack(t *testing.T) {
	p, err := NewReplay(recorded(t, busy, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, start := context.Background(), p.rec.start
	p.points.interval = 6 * tick
	run := func() int {
		t.Helper()
		if err := p.RunAll(ctx); err != nil {
			t.Fatal(err)
		}
		if used := p.points.bytes(); used > p.points.max {
			t.Errorf("%d bytes of checkpoints, want at most %d", used, p.points.max)
		}
		return len(p.points.list)
	}
	before := run()
	budget := p.points.bytes() // all that there is room for
	p.points.max = budget
	for range 3 {
		var q *Replay
		for range 2 { // a second filter lends nothing more
			if q, err = p.Only(ctx, p.Passing(func(c *Client) bool { return c.Agent == "herd/1" }, true)); err != nil {
				t.Fatal(err)
			}
		}
		if both := p.points.max + q.points.max; both > budget || p.points.max != budget-budget/4 {
			t.Errorf("together they may take %d bytes, the replay of all %d", both, p.points.max)
		}
		less := len(p.points.list)
		if less >= before {
			t.Fatalf("%d checkpoints, lent some of their memory %d: too few for this test", before, less)
		}
		p.TakeBack()
		if p.points.max != budget {
			t.Errorf("%d bytes came back, want all", p.points.max)
		}
		if err := p.Seek(ctx, start); err != nil {
			t.Fatal(err)
		}
		if again := run(); again != before {
			t.Errorf("%d checkpoints once it has been gone through again, before the filter %d", again, before)
		}
		for i, k := range p.points.list[1:] {
			if k.at <= p.points.list[i].at {
				t.Fatalf("checkpoint %d is of %d, the one before of %d", i+1, k.at, p.points.list[i].at)
			}
		}
	}
}

// The budget is worth something only if the estimate is near the truth.
func TestCheckpointSizeIsHonest(t *testing.T) {
	l := newLoop(t, Options{Shards: 2})
	l.feed(2 * len(l.recs))
	const copies = 8
	kept := make([]*engine, copies)
	before := inUse()
	for i := range kept {
		kept[i] = l.e.clone()
	}
	real := (inUse() - before) / copies
	runtime.KeepAlive(kept)
	said := l.e.size()
	t.Logf("a checkpoint takes %d KiB, estimated %d KiB", real>>10, said>>10)
	if real > said || said > 4*real {
		t.Errorf("a checkpoint takes %d bytes, estimated %d", real, said)
	}
}

func inUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
