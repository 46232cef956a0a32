package detect

import (
	"container/heap"
	"slices"
	"sync"

	"stormwatch/capture"
)

// Live judges sources whose end is not known. Exchanges wait in a bounded window
// until the sources' watermarks have passed their start, or until the window is
// full; a request announced without its answer is judged as a request, and its
// outcome follows.
type Live struct {
	mu sync.Mutex // sources deliver by batch, never by exchange
	gate
	names   *names
	inlets  []*Inlet
	wait    waiting
	tape    tape
	sift    *sift // nil without a filter
	ended   bool
	tallies []capture.Tally
	newest  int64
	wall    int64 // the caller's clock at the latest Advance
	side    undecided
	seq     uint64
}

type openKey struct {
	source uint8
	id     uint64
}

// maxWaiting bounds the window: about 70 MB, a few seconds of heavy traffic.
const maxWaiting = 1 << 18

// idleAfter is the silence of a source after which it holds no other back.
const idleAfter = 2 * tick

// NewLive returns an engine without sources. Since and Until must be moments:
// where a live input ends is not known.
func NewLive(o Options) *Live {
	o = o.withDefaults()
	n := newNames(o)
	e := newEngine(o, &n.roster)
	l := &Live{names: n, gate: newGate(e), side: undecided{on: o.Perspective == PerspectiveAuto}}
	n.leaving = &leaving{idle: leaveAfter, forget: l.forget}
	return l
}

// forget lets clients go that have been silent for long.
func (l *Live) forget(gone []uint32) {
	l.e.forget(gone)
	l.sift.forget(gone)
}

// Inlet opens the way in for one source.
func (l *Live) Inlet(info capture.Info) *Inlet {
	l.mu.Lock()
	defer l.mu.Unlock()
	in := &Inlet{info: info, index: min(len(l.inlets), maxSources-1), mu: &l.mu, offset: l.e.opt.Clock[info.Name]}
	in.take = func(b *capture.Batch) error { return l.deliver(in, b) }
	l.inlets = append(l.inlets, in)
	l.e.sources = sourcesOf(l.inlets, standByName(l.inlets))
	if info.Kind != "capture" { // what is logged, is by a server
		l.side = undecided{}
	}
	return in
}

func (l *Live) deliver(in *Inlet, b *capture.Batch) error {
	in.note(b)
	l.mu.Lock()
	defer l.mu.Unlock()
	in.names = b.Names
	asides := in.asides.SkippedTotal()
	primary := l.e.sources[in.index].Primary
	if primary { // nothing that is counted comes from the others
		for i := range b.Tallies {
			if t := &b.Tallies[i]; t.Start >= l.e.opt.Since.At && (l.e.opt.Until.At == 0 || t.Start < l.e.opt.Until.At) {
				l.tallies = append(l.tallies, *t)
			}
		}
		for i := range b.Exchanges {
			l.receive(in, b, i)
		}
	}
	in.pace.follow(in.told(b), len(b.Exchanges) == 0 || !primary, l.wall)
	if b.Health != nil || in.asides.SkippedTotal() != asides {
		l.e.sources[in.index].Health = in.source().Health
	}
	for len(l.wait) > maxWaiting {
		l.board()
	}
	return nil
}

// receive lets an exchange into the window, unless its time cannot be believed.
func (l *Live) receive(in *Inlet, b *capture.Batch, i int) {
	w := waiter{rec: record{Exchange: b.Exchanges[i], source: uint8(in.index)}}
	in.shift(&w.rec.Exchange)
	in.keepTries(b, &w.rec.Exchange)
	if w.rec.Start != sane(w.rec.Start) {
		in.aside(absurdTime, w.rec.At)
		return
	}
	if from, to := l.e.opt.Since.At, l.e.opt.Until.At; w.rec.Start < from || to != 0 && w.rec.Start >= to {
		in.outside(w.rec.At)
		return
	}
	w.target = slices.Clone(b.Bytes(b.Exchanges[i].Target))
	l.look(in, &w.rec.Exchange, b.Names)
	in.translate(l.names, &w.rec)
	take, drop := in.pace.admit(w)
	l.enter(in, take)
	for i := range drop {
		in.aside(leapTime, drop[i].rec.At)
	}
}

func (l *Live) enter(in *Inlet, take []waiter) {
	for _, w := range take {
		in.pace.punctual(&w.rec.Exchange)
		l.names.group(&w.rec, w.target)
		l.newest = max(l.newest, w.rec.Start)
		heap.Push(&l.wait, w)
	}
}

// board takes the earliest waiting exchange.
func (l *Live) board() {
	w := heap.Pop(&l.wait).(waiter)
	l.admit(w)
	l.hold(w)
}

// admit takes an exchange into the engine.
func (l *Live) admit(w waiter) {
	l.tape.add(&w.rec, w.target)
	if l.completes(&w.rec) {
		return
	}
	if l.e.begun && w.rec.Start < l.e.now && w.rec.Flags&capture.Late == 0 {
		l.inlets[w.rec.source].late++ // the source's own count does not have it
	}
	l.gate.admit(&w.rec, w.target)
}

// complete gives an announced request its outcome.
func (e *engine) complete(i int32, r *record) {
	f := e.flights.at(i)
	f.rec.End, f.rec.Status, f.rec.Outcome, f.rec.Reason, f.rec.Hint, f.rec.Date, f.rec.At = max(r.End, f.rec.Start), r.Status, r.Outcome, r.Reason, r.Hint, r.Date, r.At
	f.rec.RPC, f.rec.Tries, f.rec.Again, f.rec.Limit, f.rec.Advice = r.RPC, r.Tries, r.Again, r.Limit, r.Advice
	e.land(i)
}

// Advance judges every second that all sources have left behind. wall is the
// caller's clock in Unix nanoseconds: a source that has been silent for two
// seconds of it does not hold the others back.
func (l *Live) Advance(wall int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wall = wall
	mark := int64(1<<63 - 1)
	active := false
	for _, in := range l.inlets {
		if in.seen {
			in.seen, in.heard = false, wall
		}
		l.enter(in, in.pace.settle(wall))
		if wall-in.heard < idleAfter && in.pace.mark != 0 {
			mark, active = min(mark, in.pace.mark), true
		}
	}
	if !active {
		if mark = l.newest + 1; len(l.wait) == 0 && len(l.tallies) == 0 {
			return nil
		}
	}
	for len(l.wait) > 0 && l.wait[0].rec.Start < mark {
		l.board()
	}
	if active {
		l.e.advance(floor(mark))
	}
	if l.ripe() {
		l.decide()
	}
	slices.SortStableFunc(l.tallies, func(a, b capture.Tally) int { return compare(a.Start < b.Start) })
	for i := range l.tallies {
		l.e.tally(&l.tallies[i])
	}
	l.tallies = l.tallies[:0]
	l.sieve()
	return nil
}

// Finish judges what is still waiting, once every source has ended.
func (l *Live) Finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, in := range l.inlets {
		for _, w := range in.pace.odd {
			if in.pace.newest == 0 || w.rec.Start <= l.wall+soon {
				l.enter(in, []waiter{w})
				continue
			}
			in.aside(leapTime, w.rec.At)
		}
		in.pace.odd = nil
		l.e.sources[in.index].Health = in.source().Health
	}
	for len(l.wait) > 0 {
		l.board()
	}
	l.decide()
	l.finish()
	l.ended = true
	l.sieve()
}

// Snapshot tells the state that v asks for.
func (l *Live) Snapshot(v View) *Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	var s *Snapshot
	if l.sift.judged(&v) {
		s = l.sift.picture(v, int(l.e.pop.clients))
	} else {
		s = l.e.snapshot(v)
		s.Filtered = Filtered{Name: v.FilterName, Share: l.sift.share(&l.tape)}
	}
	l.seq++
	s.Seq, s.Live, s.Loaded = l.seq, true, 1
	s.Sources = l.e.outwardly(l.e.sharers(l.e.crowded(cloneSources(l.e.sources))))
	for i, in := range l.inlets {
		s.Sources[i].Health.Late += in.late
		if in.heard != 0 {
			s.Sources[i].Quiet = max(l.wall-in.heard, 0)
		}
		if to := s.Sources[i].Health.To; to != 0 {
			s.Sources[i].Age = max(l.wall-to, 0)
		}
	}
	if why := down(s.Sources); why != "" && s.Verdict.State <= Recovering {
		s.Verdict = Verdict{
			State: Unknown, What: "cannot judge: " + why, Do: "Bring the source back, or leave it out.",
			NextEvidence: s.Verdict.NextEvidence,
		}
	}
	return s
}

// down names a source that counts and gives nothing at present, and why; "" where
// all do. What it would have shown is not known, so nothing is clear.
func down(sources []Source) string {
	for i := range sources {
		if s := &sources[i]; s.Primary && s.Health.Down != "" {
			return s.Name + ": " + s.Health.Down
		}
	}
	return ""
}

func cloneSources(in []Source) []Source {
	out := slices.Clone(in)
	for i := range out {
		out[i].Health = *in[i].Health.Clone()
	}
	return out
}

// waiter is an exchange in the window.
type waiter struct {
	rec    record
	target []byte
}

type waiting []waiter

func (w waiting) Len() int           { return len(w) }
func (w waiting) Less(i, j int) bool { return before(&w[i].rec, &w[j].rec) < 0 }
func (w waiting) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }

// Push implements heap.Interface.
func (w *waiting) Push(x any) { *w = append(*w, x.(waiter)) }

// Pop implements heap.Interface.
func (w *waiting) Pop() any {
	old := *w
	x := old[len(old)-1]
	*w = old[:len(old)-1]
	return x
}
