package detect

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"stormwatch/capture"
)

// Recording takes in recorded sources and merges them completely: whatever the
// order in which a source tells its exchanges, they are replayed by start, ties
// by source and place.
type Recording struct {
	opt    Options
	mu     sync.Mutex // guards inlets while sources are opened, and their progress
	inlets []*Inlet
	names  *names
	mem    budget
	spool  *store
	tally  []tallied
	start  int64
	end    int64
}

// tallied is a Tally with the engine's own symbols.
type tallied struct {
	capture.Tally
	source int
}

// Inlet is where one source's batches come in. It belongs to one goroutine.
type Inlet struct {
	info    capture.Info
	index   int
	take    func(*capture.Batch) error
	mu      *sync.Mutex // guards what follows
	health  capture.Health
	done    float64
	runs    []*store
	mem     budget
	dir     string
	pending chunk
	names   *capture.Interner
	remap   []capture.Symbol
	tallies []capture.Tally
	mark    int64  // live: watermark
	seen    bool   // live: delivered since the last Advance
	late    uint64 // live: exchanges that came after their second was judged
	heard   int64  // live: wall time of the Advance that noticed the last delivery
}

// Take is the sink of the inlet's source.
func (in *Inlet) Take(b *capture.Batch) error { return in.take(b) }

// runRecords is how many exchanges are sorted at once in memory.
const runRecords = 1 << 16

// maxSources bounds the number of sources; a record keeps its source in a byte.
const maxSources = 255

// NewRecording returns an empty recording.
func NewRecording(o Options) *Recording {
	o = o.withDefaults()
	return &Recording{opt: o, names: newNames(o), mem: budget{o.Memory}}
}

// Inlet opens the way in for one source.
func (r *Recording) Inlet(info capture.Info) *Inlet {
	r.mu.Lock()
	defer r.mu.Unlock()
	in := &Inlet{info: info, index: len(r.inlets), mu: &r.mu, dir: r.opt.TempDir}
	in.take = in.collect
	if in.index >= maxSources {
		in.take = func(*capture.Batch) error {
			return fmt.Errorf("more than %d sources at once: join some of them first", maxSources)
		}
		return in
	}
	r.inlets = append(r.inlets, in)
	return in
}

// Loaded returns the share of the input read so far, 0..1.
func (r *Recording) Loaded() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.inlets) == 0 {
		return 0
	}
	sum := 0.0
	for _, in := range r.inlets {
		sum += in.done
	}
	return sum / float64(len(r.inlets))
}

func (in *Inlet) collect(b *capture.Batch) error {
	in.note(b)
	in.names = b.Names
	in.tallies = append(in.tallies, b.Tallies...)
	for i := range b.Exchanges {
		x := &b.Exchanges[i]
		if x.Outcome == capture.Pending {
			continue // its completion carries the whole of it
		}
		if in.pending.recs == nil {
			in.pending.recs = make([]record, 0, min(runRecords, 4*chunkRecords))
		}
		in.pending.add(&record{Exchange: *x, source: uint8(in.index)}, b.Bytes(x.Target))
		if len(in.pending.recs) == runRecords {
			if err := in.closeRun(); err != nil {
				return err
			}
		}
	}
	return nil
}

// note keeps health and progress of a batch.
func (in *Inlet) note(b *capture.Batch) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if b.Health != nil {
		in.health = *b.Health
	}
	in.done = max(in.done, b.Done)
	in.seen = true
	in.mark = max(in.mark, sane(b.Watermark))
}

// closeRun sorts what is pending into a run of its own.
func (in *Inlet) closeRun() error {
	p := &in.pending
	if len(p.recs) == 0 {
		return nil
	}
	order := make([]int32, len(p.recs))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return before(&p.recs[a], &p.recs[b]) })
	run := &store{mem: &in.mem, dir: in.dir}
	for _, i := range order {
		if err := run.append(&p.recs[i], p.target(&p.recs[i])); err != nil {
			return errors.Join(err, run.close())
		}
	}
	if err := run.flush(); err != nil {
		return errors.Join(err, run.close())
	}
	in.runs = append(in.runs, run)
	p.recs, p.text = p.recs[:0], p.text[:0]
	return nil
}

// before orders records by start, then source, then place.
func before(a, b *record) int {
	if c := cmp.Compare(a.Start, b.Start); c != 0 {
		return c
	}
	if c := cmp.Compare(a.source, b.source); c != 0 {
		return c
	}
	if c := cmp.Compare(a.At.A, b.At.A); c != 0 {
		return c
	}
	return cmp.Compare(a.At.B, b.At.B)
}

// Seal merges all that came in. No source may deliver any more.
func (r *Recording) Seal() error {
	var runs runHeap
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
		for _, run := range in.runs {
			c := &cursor{s: run}
			rec, err := c.peek()
			if errors.Is(err, io.EOF) {
				continue
			}
			if err != nil {
				return err
			}
			runs = append(runs, head{rec, c})
		}
	}
	heap.Init(&runs)
	r.spool = &store{mem: &r.mem, dir: r.opt.TempDir}
	for len(runs) > 0 {
		h := &runs[0]
		target := h.c.cur.target(h.rec)
		out := *h.rec
		r.number(&out, target)
		if r.start == 0 || out.Start < r.start {
			r.start = out.Start
		}
		r.end = max(r.end, out.End, out.Start)
		if err := r.spool.append(&out, target); err != nil {
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
	r.mergeTallies()
	return r.spool.flush()
}

// number replaces the source's symbols by the recording's own.
func (r *Recording) number(x *record, target []byte) {
	in := r.inlets[x.source]
	in.translate(r.names, x)
	r.names.group(x, target)
}

func (in *Inlet) translate(n *names, x *record) {
	for _, s := range []*capture.Symbol{&x.Method, &x.Host, &x.Agent, &x.Forwarded, &x.Hint.Raw} {
		*s = in.symbol(n, *s)
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
		in.remap[s] = n.texts.InternString(in.names.Text(s))
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
	for _, in := range r.inlets {
		for _, t := range in.tallies {
			t.Service, t.Client = in.symbol(r.names, t.Service), in.symbol(r.names, t.Client)
			r.tally = append(r.tally, tallied{t, in.index})
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

// Close removes the temporary files.
func (r *Recording) Close() error {
	if r.spool == nil {
		return nil
	}
	return r.spool.close()
}

// head is a run and the record it stands at.
type head struct {
	rec *record
	c   *cursor
}

type runHeap []head

func (h runHeap) Len() int           { return len(h) }
func (h runHeap) Less(i, j int) bool { return before(h[i].rec, h[j].rec) < 0 }
func (h runHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *runHeap) Push(x any) { *h = append(*h, x.(head)) }

// Pop implements heap.Interface.
func (h *runHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
