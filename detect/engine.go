package detect

import (
	"stormwatch/capture"
	"stormwatch/detect/chain"
	"stormwatch/detect/herd"
	"stormwatch/detect/sustain"
)

// engine consumes two events per exchange, the request at its start and the
// outcome at its end, in event-time order, and judges at each whole second.
//
// A second is worked through in three steps with a barrier after each: chains
// (sharded by operation), clients (sharded by client), and the population, whose
// integer counts are merged before anything is computed from them. Nothing in a
// step depends on how many shards there are.
type engine struct {
	opt   Options
	names *roster

	now    int64 // start of the second being collected
	begun  bool
	seq    uint64 // requests so far
	first  int64  // start of the first request
	latest int64  // latest moment seen

	quiet   int   // empty seconds in a row that were judged, up to longestSilence
	skipped int64 // those jumped over after them

	flights  flightTable
	free     []int32
	starts   []int32 // requests of this second, in order
	calendar calendar

	events []event // of the second being worked through
	byOp   [][]int32
	byCli  [][]int32

	chains     *chain.Set
	herd       *herd.Herd
	loop       *sustain.Machine
	clients    clientTable
	histories  histories
	deltas     []delta
	pop        population
	judge      judge
	lot        lot
	habits     habits
	toldHabits []toldHabit // by group, as views asked last
	scopes     scopes
	troubles   troubles
	narrow     bool // as of the second before: who is refused means something
	skewed     bool // as of the second before: the dates that servers name are told by another clock
	recent     ring
	sources    []Source

	rehearsing bool // only chains are found

	left   int64                 // clients that were forgotten
	told   []tale                // requests of this second whose rows are wanted
	tell   func(*flight, string) // takes those rows
	counts tallyState
}

// flight is an exchange between its request and its outcome.
type flight struct {
	rec record
	seq uint64
	identity
	path    uint32 // symbol in names.paths
	shows   uint32 // faults it is evidence of, a bit each
	beside  bool   // a new request, sent while another of its client was told to wait
	endless bool   // it is the attempt at which its chain counts as endless
	noChain bool   // late, or of an unknown request: counted, never matched
	was     kindServed
	run     uint16 // times in a row that it was asked for before and served, as was tells
	link    chain.Link
	ordinal uint32 // of its chain, on the root's client
}

func newEngine(o Options, n *roster) *engine {
	o = o.withDefaults()
	e := &engine{
		opt: o, names: n, calendar: newCalendar(),
		chains: chain.NewSet(chain.Options{Shards: o.Shards, MaxFailures: min(1<<20, 4*o.MaxClients)}),
		herd:   herd.NewHerd(o.Shards, agentGroups),
		loop:   sustain.New(sustain.Options{Capacity: o.Capacity}),
		byOp:   make([][]int32, o.Shards), byCli: make([][]int32, o.Shards),
		deltas: make([]delta, o.Shards),
	}
	e.habits, e.histories = newHabits(o.Shards), newHistories(o.Shards)
	e.judge = newJudge(o.Rules)
	return e
}

// take accepts a record whose start is not before any taken earlier; live input
// may break that rule, and is then counted but not matched.
func (e *engine) take(r *record, target []byte, who identity) int32 {
	e.advance(floor(r.Start))
	if e.begun && r.Start < e.now-bygoneAfter {
		e.bygone(r)
		return -1
	}
	i := e.board(r, target, who)
	f := e.flights.at(i)
	if f.rec.Start < e.now || f.rec.Flags&(capture.Unnamed|capture.Orphan) != 0 {
		f.noChain = true
	}
	e.starts = append(e.starts, i)
	return i
}

// bygoneAfter is how late a live exchange may come to count in the rates of the
// present: as far as the verdict looks back.
const bygoneAfter = 10 * tick

// bygone counts an exchange that comes long after its time: in the totals, not in
// the rates of a second it has no part in.
func (e *engine) bygone(r *record) {
	e.growClients()
	c, n := e.clients.at(r.client), secondCounts{attempts: 1, first: 1, ended: 1}
	if c.attempts == 0 {
		c.firstSeen = r.Start
		e.pop.clients++
	}
	c.attempts++
	c.first++
	switch {
	case r.Refused():
		c.refused++
		n.refused, n.failed = 1, 1
	case r.Failed():
		c.failed++
		if status := r.Effective(); faulty(r) {
			n.failed = 1
		} else if status >= 400 && status < 500 {
			n.mistaken = 1
		}
	default:
		c.ok++
		n.good = 1
	}
	e.pop.total.add(&n)
}

// land schedules the outcome of a flight.
func (e *engine) land(i int32) {
	f := e.flights.at(i)
	at := max(floor(f.rec.End), e.now)
	e.calendar.add(e.now, at, ending(f.rec.End, f.seq, f.rec.End == f.rec.Start, i))
}

// board finds room for an exchange in flight.
func (e *engine) board(r *record, target []byte, who identity) int32 {
	var i int32
	if n := len(e.free); n > 0 {
		i, e.free = e.free[n-1], e.free[:n-1]
	} else {
		i = e.flights.more()
	}
	e.seq++
	f := e.flights.at(i)
	f.rec, f.seq, f.path = *r, e.seq, 0
	if !e.opt.Once && !e.rehearsing {
		f.path = uint32(e.names.paths.Intern(target))
	}
	f.noChain, f.beside, f.link, f.ordinal = false, false, chain.Link{}, 0
	f.identity = who
	if r.End < r.Start {
		f.rec.End = r.Start
	}
	if !e.begun {
		e.begun, e.now, e.first = true, floor(r.Start), r.Start
	}
	e.latest = max(e.latest, f.rec.Start)
	return i
}

func floor(t int64) int64 { return floorTo(t, tick) }

// longestSilence is how many empty seconds are judged one by one before the rest
// of a silence is jumped over: longer than every window a rule looks at.
const longestSilence = 300

// advance judges every second that ends at or before t. How often it is called
// during a silence must not show: what was jumped over is told in one piece when
// the silence ends.
func (e *engine) advance(t int64) {
	if !e.begun {
		return
	}
	for e.now <= t-tick {
		switch {
		case len(e.starts) > 0 || e.calendar.any(e.now):
			e.wake()
		case e.quiet < longestSilence:
			e.quiet++
		default:
			next := min(floor(t), e.calendar.next(e.now))
			e.skipped += (next - e.now) / tick
			e.now = next
			continue
		}
		e.second()
	}
}

// wake ends a silence.
func (e *engine) wake() {
	if e.skipped > 0 {
		e.loop.Skip(e.skipped)
	}
	e.quiet, e.skipped = 0, 0
}

// second works through the second that begins at e.now.
func (e *engine) second() {
	e.order()
	e.partition()
	e.parallel(e.matchShard)
	e.chains.Barrier(e.now + tick)
	if e.rehearsing {
		e.release()
		e.now += tick
		return
	}
	e.quit()
	e.growClients()
	e.notice()
	e.parallel(e.clientShard)
	e.herd.Barrier(e.now + tick)
	e.parallel(e.roundShard)
	e.merge()
	e.enlist()
	e.scopes.see(e)
	e.troubles.note(e)
	e.narrow = e.mixed()
	w, _ := e.pop.last(e.now+tick, window)
	e.skewed = w.hints.dates.skewed()
	e.emit()
	e.release()
	e.now += tick
	e.judge.second(e)
}

// order merges requests and outcomes of this second. At one moment an outcome
// comes before a request, since the request may answer it; an exchange without
// duration begins before it ends.
func (e *engine) order() {
	ends := e.calendar.take(e.now) // an exchange that both begins and ends here is there already
	e.events = e.events[:0]
	j := 0
	for _, s := range e.starts {
		fs := e.flights.at(s)
		for j < len(ends) {
			end := &ends[j]
			if end.t > fs.rec.Start || end.t == fs.rec.Start && endsAtOnce(end) && seqOf(end) >= fs.seq || seqOf(end) == fs.seq {
				break
			}
			e.events = append(e.events, e.outcome(int32(end.at)))
			j++
		}
		e.events = append(e.events, event{op: fs.op, addr: fs.addr, flight: s, client: fs.rec.client})
	}
	for ; j < len(ends); j++ {
		e.events = append(e.events, e.outcome(int32(ends[j].at)))
	}
	if n := len(ends); n > 0 {
		e.latest = max(e.latest, ends[n-1].t)
	}
	e.starts = e.starts[:0]
}

func compare(less bool) int {
	if less {
		return -1
	}
	return 1
}

// emit keeps what later views show of the outcomes of this second, and tells the
// rows of its requests: a flight is freed with its outcome's second.
func (e *engine) emit() {
	if !e.opt.Once {
		for _, ev := range e.events {
			if ev.outcome {
				e.recent.put(e.flights.at(ev.flight))
			}
		}
	}
	for _, t := range e.told {
		e.tell(e.flights.at(t.flight), t.target)
	}
	e.told = e.told[:0]
}

// release frees the flights whose outcome has been worked through.
func (e *engine) release() {
	for i := range e.events {
		if ev := &e.events[i]; ev.outcome {
			e.free = append(e.free, ev.flight)
		}
	}
}

// finish judges up to the end of a recorded input, outcomes in flight included.
func (e *engine) finish() {
	for len(e.starts) > 0 || e.calendar.n > 0 {
		next := e.now
		if len(e.starts) == 0 {
			next = max(next, e.calendar.next(e.now))
		}
		e.advance(next + tick)
	}
}
