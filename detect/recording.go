package detect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"stormwatch/capture"
)

// Recording takes in recorded sources and merges them completely: whatever the
// order in which a source tells its exchanges, they are replayed by start, ties
// by source and place.
type Recording struct {
	opt       Options
	mu        sync.Mutex // guards inlets while sources are opened, and their progress
	inlets    []*Inlet
	standings []standing // of the inlets, once sealed
	echoes    *echoes    // writes that were repeated between two of them; nil where there is one
	names     *names
	mem       budget
	spool     *store
	ahead     *ahead // with Options.Once
	tally     []tallied
	start     int64
	end       int64
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
	offset  int64 // its clock is ahead of true time by this, as the operator says
	pending chunk
	names   *capture.Interner
	remap   []capture.Symbol
	tries   tryLists
	triedAs []uint32 // the engine's numbers of them
	tallies []capture.Tally
	hours   hours
	outlook outlook
	asides  capture.Health    // what the engine set aside, for its reasons
	copies  map[string]uint64 // by the source that has them too
	// portless counts exchanges without a port; from and to span their starts.
	portless uint64
	from, to int64
	pace     pace   // live: how its time goes
	seen     bool   // live: delivered since the last Advance
	late     uint64 // live: exchanges that came after their second was judged
	heard    int64  // live: wall time of the Advance that noticed the last delivery
}

// Take is the sink of the inlet's source.
func (in *Inlet) Take(b *capture.Batch) error { return in.take(b) }

// runRecords is how many exchanges are sorted at once in memory.
const (
	runRecords = 1 << 16
	runText    = 16 << 20 // bytes of their targets
)

// maxSources bounds the number of sources; a record keeps its source in a byte.
const maxSources = 255

// NewRecording returns an empty recording.
func NewRecording(o Options) *Recording {
	o = o.withDefaults()
	o.Once = o.Once && !o.Since.set() && !o.Until.set() // what is looked at is known at the end
	return &Recording{opt: o, names: newNames(o), mem: budget{o.Memory}}
}

// Inlet opens the way in for one source.
func (r *Recording) Inlet(info capture.Info) *Inlet {
	r.mu.Lock()
	defer r.mu.Unlock()
	in := &Inlet{info: info, index: len(r.inlets), mu: &r.mu, dir: r.opt.TempDir, offset: r.opt.Clock[info.Name]}
	in.take = in.collect
	if r.opt.Once {
		if in.index > 0 {
			in.take = func(*capture.Batch) error { return errors.New("a recording that judges as it reads takes one source") }
			return in
		}
		r.ahead = newAhead(r, in)
		in.take = r.ahead.take
	}
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
		if b.Exchanges[i].Outcome == capture.Pending {
			continue // its completion carries the whole of it
		}
		rec := record{Exchange: b.Exchanges[i], source: uint8(in.index)}
		x := &rec.Exchange
		in.shift(x)
		in.keepTries(b, x)
		if x.Start != sane(x.Start) {
			in.aside(absurdTime, x.At)
			continue
		}
		in.hours.count(x.Start)
		in.outlook.note(x, b.Names)
		if x.Src.Port == 0 {
			in.spread(x.Start)
		}
		if in.pending.recs == nil {
			in.pending.recs = make([]record, 0, min(runRecords, 4*chunkRecords))
		}
		in.pending.add(&rec, b.Bytes(x.Target))
		if len(in.pending.recs) == runRecords || len(in.pending.text) > runText {
			if err := in.closeRun(); err != nil {
				return err
			}
		}
	}
	return nil
}

// spread widens the span of the portless exchanges.
func (in *Inlet) spread(t int64) {
	if in.portless == 0 {
		in.from, in.to = t, t
	}
	in.portless++
	in.from, in.to = min(in.from, t), max(in.to, t)
}

// copied counts an exchange that another source has as well.
func (in *Inlet) copied(of string) {
	if in.copies == nil {
		in.copies = map[string]uint64{}
	}
	in.copies[of]++
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
}

// told is the watermark of a batch by true time; 0 if it has none.
func (in *Inlet) told(b *capture.Batch) int64 {
	if b.Watermark == 0 {
		return 0
	}
	return sane(b.Watermark) - in.offset
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
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(before(&p.recs[a], &p.recs[b]), cmp.Compare(a, b)) })
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

// Close removes the temporary files. No source may deliver any more.
func (r *Recording) Close() error {
	if r.ahead != nil {
		r.ahead.close()
	}
	if r.spool == nil {
		return nil
	}
	return r.spool.close()
}
