package detect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"stormwatch/detect/chain"
)

// Replay runs an engine over a sealed Recording, to any moment and back. It
// belongs to one goroutine.
type Replay struct {
	rec    *Recording
	e      *engine
	c      cursor
	tally  int
	points checkpoints
	row    func(*Row) error
	failed error    // of row
	kept   int      // chains that were left when they were last gone through
	only   *Clients // clients taken in; nil all
	met    []looks  // who the clients are, by number, as at the end; nil while that was not reached
	lent   loan
	chains map[uint64]openChain
	seq    uint64 // of snapshots
	lore   chain.Lore
}

// openChain is a chain that may still grow, for the rows told of it.
type openChain struct {
	id   string
	last int64
}

// NewReplay stands at the start of a sealed recording.
func NewReplay(r *Recording) (*Replay, error) {
	if r.spool == nil {
		return nil, errors.New("the recording is not sealed yet")
	}
	p := &Replay{rec: r, c: cursor{s: r.spool}, chains: map[uint64]openChain{}}
	if a := r.ahead; a == nil {
		lore, err := r.rehearse(context.Background(), p.passes)
		if err != nil {
			return nil, err
		}
		p.lore = lore
		p.e = p.engine()
	} else if p.e, a.e = a.e, nil; p.e == nil {
		return nil, errOnce
	}
	p.points = checkpoints{interval: 10 * tick, max: r.opt.MaxCheckpoints}
	p.e.sources = sourcesOf(r.inlets, r.standings)
	return p, nil
}

// engine has judged nothing yet.
func (p *Replay) engine() *engine {
	e := newEngine(p.rec.opt, &p.rec.names.roster)
	e.chains.Begin(p.lore)
	return e
}

// errOnce is the error of asking more of a Recording with Options.Once than it has.
var errOnce = errors.New("the recording was judged as it was read: it cannot be replayed another time, nor its rows be told")

// sourcesOf lists the inlets with what each of them is to the totals.
func sourcesOf(inlets []*Inlet, stand []standing) []Source {
	out := make([]Source, len(inlets))
	for i, in := range inlets {
		out[i] = in.source()
		out[i].Primary, out[i].OffsetSeconds = stand[i].primary, stand[i].offset+float64(in.offset)/1e9
		out[i].Unsure, out[i].PerRequest, out[i].Behind = stand[i].unsure, stand[i].perRequest, stand[i].allBehind
		out[i].Repeats = stand[i].repeats
		if stand[i].note != "" {
			out[i].Note = stand[i].note
		}
	}
	return out
}

// source tells of the inlet, with what the engine set aside of it.
func (in *Inlet) source() Source {
	s := Source{Name: in.info.Name, Kind: in.info.Kind, Vantage: in.info.Vantage, Health: *in.health.Clone()}
	for _, k := range in.asides.Skipped {
		s.Health.Used -= min(k.Count, s.Health.Used)
		s.Health.SkipMany(k.Reason, k.Count, k.Examples...)
		s.Health.Skipped[len(s.Health.Skipped)-1].Sound = k.Sound
	}
	var copied []string
	for _, of := range slices.Sorted(maps.Keys(in.copies)) {
		copied = append(copied, fmt.Sprintf("%d in %s", in.copies[of], of))
	}
	if copied != nil {
		s.Note = "exchanges that are in other sources as well, and are counted once: " + strings.Join(copied, ", ")
	}
	return s
}

func primaryOf(s []Source) int {
	for i := range s {
		if s[i].Primary {
			return i
		}
	}
	return 0
}

// OnRow has every exchange told in the normal form, in start order. It must be
// set before the first run.
func (p *Replay) OnRow(f func(*Row) error) { p.row, p.e.tell = f, p.tellRow }

// Span returns the first start and the last end of the recording.
func (p *Replay) Span() (start, end int64) { return p.rec.start, p.rec.end }

// Now returns the moment up to which the replay has judged.
func (p *Replay) Now() int64 { return max(p.e.now, p.rec.start) }

// RunAll replays to the end.
func (p *Replay) RunAll(ctx context.Context) error {
	if err := p.RunTo(ctx, p.rec.end+tick); err != nil {
		return err
	}
	p.e.finish()
	p.meet()
	return p.failed
}

// RunTo replays forward until every second that ends at or before t is judged.
func (p *Replay) RunTo(ctx context.Context, t int64) error {
	if p.row != nil && p.rec.ahead != nil {
		return errOnce
	}
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		rec, err := p.c.peek()
		if errors.Is(err, io.EOF) {
			p.tallies(t)
			p.e.advance(min(t, floor(p.rec.end)+tick))
			return p.failed
		}
		if err != nil {
			return err
		}
		if rec.Start >= t {
			p.e.advance(t)
			return p.failed
		}
		if floor(rec.Start) > p.e.now && p.e.begun {
			p.e.advance(floor(rec.Start))
			if err := p.failed; err != nil {
				return err
			}
			p.mark()
		}
		if p.e.sources[rec.source].Primary && p.passes(rec) {
			target := p.c.cur.target(rec)
			i := p.e.take(rec, target, identify(rec, target))
			p.e.land(i)
			if p.row != nil {
				p.e.told = append(p.e.told, tale{flight: i, target: string(target)})
			}
		}
		p.c.i++
	}
}

// tallies takes in the intervals that end at or before t.
func (p *Replay) tallies(t int64) {
	for ; p.tally < len(p.rec.tally) && p.rec.tally[p.tally].End <= t; p.tally++ {
		if !p.e.begun && p.e.sources[p.rec.tally[p.tally].source].Primary {
			p.e.tally(&p.rec.tally[p.tally].Tally)
		}
	}
}

// mark makes a checkpoint when one is due.
func (p *Replay) mark() {
	if p.row != nil || p.points.max < 0 || !p.points.due(p.e.now) || !p.points.room(p.e.now, p.e.size()) {
		return
	}
	p.points.thin(p.points.max - p.e.size()) // before the copy is made: both would be too much
	chunkIndex, i := p.c.at()
	p.points.add(checkpoint{at: p.e.now, chunk: chunkIndex, index: i, tally: p.tally, state: p.e.clone()})
}

// Seek goes to t through the nearest checkpoint, in either direction.
func (p *Replay) Seek(ctx context.Context, t int64) error {
	if err := p.Near(t); err != nil {
		return err
	}
	return p.RunTo(ctx, t)
}

// Near goes to the place from which the way on to t is shortest: where it stands,
// the checkpoint before t, or the start.
func (p *Replay) Near(t int64) error {
	k := p.points.before(t)
	if t >= p.e.now && p.e.begun && (k == nil || k.at <= p.e.now) {
		return nil
	}
	if p.rec.ahead != nil {
		return errOnce
	}
	if k != nil {
		p.e, p.tally = k.state.clone(), k.tally
		return p.c.seek(k.chunk, k.index)
	}
	p.restart()
	return p.c.seek(0, 0)
}

// Snapshot tells the state that v asks for.
func (p *Replay) Snapshot(v View) *Snapshot {
	s := p.e.snapshot(v)
	p.seq++
	s.Seq, s.Sources, s.Loaded = p.seq, p.e.outwardly(p.e.sharers(p.e.crowded(p.e.sources))), 1
	s.Start, s.End = p.rec.start, p.rec.end
	s.At = min(s.At, p.rec.end)
	return s
}

// tale is an exchange whose row is to be told once its second is worked through.
type tale struct {
	flight int32
	target string
}

// tellRow tells the row of a request; after an error none is told any more.
func (p *Replay) tellRow(f *flight, target string) {
	if p.failed != nil {
		return
	}
	row := p.e.row(f, []byte(target), p.chainOf(f))
	p.failed = p.row(&row)
	if len(p.chains) > max(maxOpenChains, 2*p.kept) {
		p.forget()
		p.kept = len(p.chains)
	}
}

// maxOpenChains is from where on chains that can no longer grow are forgotten.
const maxOpenChains = 1 << 16

func (p *Replay) forget() {
	for root, c := range p.chains {
		if p.e.now-c.last > 2*givenUp {
			delete(p.chains, root)
		}
	}
}

func (p *Replay) chainOf(f *flight) string {
	if f.link.Parent == 0 { // the first that was seen of its chain
		id := chainID(p.e.names.labels[f.rec.client], f.ordinal)
		p.chains[f.seq] = openChain{id, f.rec.End}
		return id
	}
	c, ok := p.chains[f.link.Root]
	if !ok {
		c.id = p.e.names.labels[f.link.RootClient] + "#0"
	}
	c.last = f.rec.End
	p.chains[f.link.Root] = c
	return c.id
}
