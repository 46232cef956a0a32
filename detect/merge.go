package detect

import (
	"cmp"
	"container/heap"
	"errors"
	"io"
	"slices"

	"stormwatch/capture"
)

// Seal merges all that came in. No source may deliver any more.
func (r *Recording) Seal() error {
	r.spool = nil
	if r.opt.Once {
		return r.sealAhead()
	}
	defer func() {
		for _, in := range r.inlets {
			for _, run := range in.runs {
				_ = run.close() // a temporary file without a name: nothing is lost with it
			}
			in.runs = nil
		}
	}()
	for _, in := range r.inlets {
		if len(in.runs) == 0 { // all of it still fits in memory
			in.mem = budget{r.mem.left}
		}
		if err := in.closeRun(); err != nil {
			return err
		}
		in.pending = chunk{}
	}
	if err := r.stand(); err != nil {
		return err
	}
	r.look()
	r.spool = &store{mem: &r.mem, dir: r.opt.TempDir}
	if err := r.join(r.summed()); err != nil {
		return err
	}
	r.mergeTallies()
	return r.spool.flush()
}

// summed are the inlets whose exchanges make the totals. The others corroborate:
// nothing that is counted comes from them.
func (r *Recording) summed() (ins []*Inlet) {
	for i, in := range r.inlets {
		if r.standings[i].primary {
			ins = append(ins, in)
		}
	}
	return ins
}

// join writes the exchanges of some inlets into the spool, in order, save those
// dated far from all others and second copies.
func (r *Recording) join(ins []*Inlet) error {
	from, to := bulk(ins)
	same, err := findCopies(r, ins, from, to)
	if err != nil {
		return err
	}
	since, until := r.window(to)
	keep := func(x *record, target []byte) error {
		if !r.inlets[x.source].within(x, from, to) {
			return nil
		}
		if x.Start < since || x.Start >= until {
			r.inlets[x.source].outside(x.At)
			return nil
		}
		r.names.group(x, target)
		r.echoes.mark(x, target)
		if r.start == 0 || x.Start < r.start {
			r.start = x.Start
		}
		r.end = max(r.end, x.End, x.Start)
		return r.spool.append(x, target)
	}
	if same == nil {
		return r.merge(ins, keep)
	}
	if err := r.merge(ins, func(x *record, target []byte) error { return same.take(x, target, keep) }); err != nil {
		return err
	}
	return same.flush(keep)
}

// merge tells the records of some inlets in order, with the recording's symbols.
func (r *Recording) merge(ins []*Inlet, tell func(*record, []byte) error) error {
	var runs runHeap
	var out record // one for all: tell would have each moved to the heap
	for _, in := range ins {
		for _, run := range in.runs {
			c := &cursor{s: run}
			rec, err := c.peek()
			if errors.Is(err, io.EOF) {
				continue
			}
			if err != nil {
				return err
			}
			runs = append(runs, head{rec, c, len(runs)})
		}
	}
	heap.Init(&runs)
	for len(runs) > 0 {
		h := &runs[0]
		out = *h.rec
		r.inlets[out.source].translate(r.names, &out)
		if err := tell(&out, h.c.cur.target(h.rec)); err != nil {
			return err
		}
		h.c.i++
		rec, err := h.c.peek()
		switch {
		case errors.Is(err, io.EOF):
			heap.Pop(&runs)
			continue
		case err != nil:
			return err
		}
		h.rec = rec
		heap.Fix(&runs, 0)
	}
	return nil
}

func (in *Inlet) translate(n *names, x *record) {
	for _, s := range []*capture.Symbol{&x.Method, &x.Host, &x.Agent, &x.Forwarded, &x.Client, &x.Hint.Raw} {
		*s = in.symbol(n, *s)
	}
	if x.TryAt != 0 {
		x.TryAt = in.tried(n, x.TryAt)
	}
}

func (in *Inlet) symbol(n *names, s capture.Symbol) capture.Symbol {
	if s == 0 {
		return 0
	}
	for int(s) >= len(in.remap) {
		in.remap = append(in.remap, 0)
	}
	if in.remap[s] == 0 {
		in.remap[s] = n.intern(in.names.Text(s))
	}
	return in.remap[s]
}

// group sets the numbers that a record is counted under, and brings absurd times
// within bounds; the order of records stays.
func (n *names) group(x *record, target []byte) {
	x.Start, x.End = sane(x.Start), sane(x.End)
	x.client = n.client(&x.Exchange)
	x.agent = n.agent(x.Agent)
	x.route = n.route(&x.Exchange, target)
}

func (r *Recording) mergeTallies() {
	since, until := r.window(latest)
	for _, in := range r.inlets {
		for _, t := range in.tallies {
			t.Start, t.End = sane(t.Start), sane(t.End)
			if t.Start < since || t.Start >= until {
				in.outside(capture.Provenance{})
				continue
			}
			t.Service, t.Client = in.symbol(r.names, t.Service), in.symbol(r.names, t.Client)
			r.tally = append(r.tally, tallied{t, in.index})
			if !r.standings[in.index].primary {
				continue
			}
			if r.start == 0 || t.Start < r.start {
				r.start = t.Start
			}
			r.end = max(r.end, t.End)
		}
		in.tallies = nil
	}
	slices.SortStableFunc(r.tally, func(a, b tallied) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.source, b.source), cmp.Compare(a.End, b.End))
	})
}

// head is a run and the record it stands at. Of records alike in all that orders
// them, those of the earlier run come first, as they came in.
type head struct {
	rec *record
	c   *cursor
	run int
}

type runHeap []head

func (h runHeap) Len() int { return len(h) }
func (h runHeap) Less(i, j int) bool {
	c := before(h[i].rec, h[j].rec)
	return c < 0 || c == 0 && h[i].run < h[j].run
}
func (h runHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *runHeap) Push(x any) { *h = append(*h, x.(head)) }

// Pop implements heap.Interface.
func (h *runHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
