package detect

import (
	"errors"

	"stormwatch/capture"
)

// ErrReread is what a Recording that judges while it reads returns where what came
// later bears on what has been judged. The input must be read again from its start,
// by a Recording that is not Once.
var ErrReread = errors.New("what came later in the input bears on what came before: it must be read again")

// ahead judges a recording of one source while it is being read. That needs no
// spool, and both cores work at once. It rests on what only the whole input shows,
// and at its end that is checked: nothing started before what had been judged, no
// exchange was dated far from all others, and what the source can show was known
// from the start. Else the input is read again.
//
// The source's goroutine puts exchanges in order, a second one finds out whose they
// are and what they ask for, and that of the engine judges them.
type ahead struct {
	r      *Recording
	in     *Inlet
	win    *sorter
	begin  int           // exchanges that are waited for before the first is judged
	feed   chan *parcel  // to who names them,
	named  chan *parcel  // from there to the engine,
	back   chan *parcel  // and from there to the source again
	done   chan struct{} // the engine's goroutine has ended
	closed bool
	failed bool
	told   capture.Symbol // texts of the source up to this were handed on

	facts       facts
	judged      bool  // some was handed on
	first, last int64 // starts of those
	lastEnd     int64

	texts []string // of who names, like the names of the recording

	e        *engine // of the engine's goroutine, like what follows
	roster   roster  // the names as they were when the parcel that is judged was named
	overture overture
	nameless bool // seconds were judged before the first credential was seen
}

// parcel is a piece of the input in order: exchanges where the sorter holds them,
// which is theirs until the parcel comes back. Parcels go round between the three
// goroutines.
type parcel struct {
	items   []item
	emptied []uint32 // blocks of the sorter whose last exchange is in it
	texts   []string // new texts of the source's symbols
	sources []Source // with the first
	roster  roster   // of all that is in it
}

// item is a record, its target and, once it has been named, its identity.
type item struct {
	rec    *record
	target []byte
	identity
}

const (
	parcelRecords = 512
	parcels       = 8  // some seconds of most traffic: an engine works through a second at a time
	touched       = 64 // records whose clients are looked up together

	// windowRecords bounds the exchanges that wait for earlier ones: 6 MB. Logs are
	// written as requests end, so they reach back by the longest request.
	windowRecords = 20 << 10
	aheadAfter    = 4096 // what a source can show is known by then, most times
)

func newAhead(r *Recording, in *Inlet) *ahead {
	a := &ahead{
		r: r, in: in, win: newSorter(windowRecords), begin: aheadAfter,
		feed: make(chan *parcel, parcels), named: make(chan *parcel, parcels), back: make(chan *parcel, parcels), done: make(chan struct{}),
		roster: r.names.roster,
	}
	a.e = newEngine(r.opt, &a.roster)
	for range parcels {
		a.back <- &parcel{items: make([]item, 0, parcelRecords)}
	}
	go a.nameAll()
	go a.run()
	return a
}

// take is the sink of the source.
func (a *ahead) take(b *capture.Batch) error {
	if a.failed {
		return ErrReread
	}
	in := a.in
	in.note(b)
	in.names = b.Names
	in.tallies = append(in.tallies, b.Tallies...)
	for i := range b.Exchanges {
		x := &b.Exchanges[i]
		if x.Outcome == capture.Pending {
			continue // its completion carries the whole of it
		}
		if x.TryAt != 0 {
			return a.fail() // the tries it names stay with the batch: they are not taken along here
		}
		if in.offset != 0 {
			y := *x // the batch belongs to the source
			in.shift(&y)
			x = &y
		}
		if x.Start != sane(x.Start) {
			in.aside(absurdTime, x.At)
			continue
		}
		in.hours.count(x.Start)
		in.outlook.note(x, b.Names)
		if !a.win.put(x, uint8(in.index), b.Bytes(x.Target)) {
			return a.fail()
		}
	}
	if b.Health != nil && a.judged && a.facts != factsOf(in.source()) {
		return a.fail()
	}
	return a.pass(in.told(b))
}

// fail gives up: what was judged is void.
func (a *ahead) fail() error {
	a.failed = true
	a.close()
	return ErrReread
}

// pass hands on what may be judged: what starts before the watermark. Without one
// the earliest leave when the window is nearly full.
func (a *ahead) pass(mark int64) error {
	a.win.settle()
	for a.judged || a.win.len() >= a.begin {
		n := parcelRecords
		if mark != 0 {
			n = a.win.before(mark, n)
		} else if a.win.len() < a.win.max*blockRecords*3/4 {
			return nil
		}
		if n < parcelRecords {
			return nil
		}
		a.hand(n, nil)
	}
	return nil
}

// hand gives up to n exchanges to the engine, of those that keep lets pass.
func (a *ahead) hand(n int, keep func(*record) bool) {
	p := <-a.back
	a.win.reuse(p.emptied)
	p.items, p.emptied, p.texts, p.sources = p.items[:0], p.emptied[:0], p.texts[:0], nil
	for ; n > 0; n-- {
		r, target := a.win.first()
		if keep == nil || keep(r) {
			if !a.judged {
				a.judged, a.first = true, r.Start
				p.sources = sourcesOf(a.r.inlets, standByName(a.r.inlets))
				a.facts = factsOf(p.sources[0])
			}
			p.items = append(p.items, item{rec: r, target: target})
			a.last, a.lastEnd = r.Start, max(a.lastEnd, sane(r.End))
		}
		p.emptied = a.win.next(p.emptied)
	}
	for ; int(a.told) < a.in.names.Len(); a.told++ {
		p.texts = append(p.texts, a.in.names.Text(a.told))
	}
	a.feed <- p
}

// nameAll names what is handed on.
func (a *ahead) nameAll() {
	defer close(a.named)
	for p := range a.feed {
		a.texts = append(a.texts, p.texts...)
		for i := range p.items {
			if i%touched == 0 { // their waits for memory overlap
				for _, x := range p.items[i:min(i+touched, len(p.items))] {
					a.r.names.touch(x.rec)
				}
			}
			x := &p.items[i]
			a.name(x.rec, x.target)
			x.identity = identify(x.rec, x.target)
		}
		p.roster = a.r.names.roster
		a.named <- p
	}
}

// run judges what has been named.
func (a *ahead) run() {
	defer close(a.done)
	for p := range a.named {
		if p.sources != nil {
			a.e.sources = p.sources
		}
		a.roster = p.roster
		for i := range p.items {
			a.hear(&p.items[i])
		}
		a.back <- p
	}
	if !a.failed {
		a.perform()
	}
}

// hear keeps the first exchanges until they have been rehearsed, and judges those
// that follow.
func (a *ahead) hear(x *item) {
	if a.overture.over {
		a.judge(x.rec, x.target, x.identity)
		return
	}
	if a.overture.add(x.rec, x.target) {
		return
	}
	a.perform()
	a.judge(x.rec, x.target, x.identity)
}

// perform judges what was kept, once it has been rehearsed.
func (a *ahead) perform() {
	o := &a.overture
	if o.over {
		return
	}
	lore, _ := rehearse(a.r.opt, &a.roster, o.each) // which reads nothing that could fail
	a.e.chains.Begin(lore)
	_ = o.each(func(r *record, target []byte) bool {
		a.judge(r, target, identify(r, target))
		return true
	})
	*o = overture{over: true}
}

// name gives a record the engine's numbers.
func (a *ahead) name(r *record, target []byte) {
	for _, s := range []*capture.Symbol{&r.Method, &r.Host, &r.Agent, &r.Forwarded, &r.Client, &r.Hint.Raw} {
		*s = a.symbol(*s)
	}
	a.r.names.group(r, target)
}

func (a *ahead) judge(r *record, target []byte, who identity) {
	if a.roster.byKey && a.roster.creds == 0 && a.e.begun && floor(r.Start) > a.e.now {
		a.nameless = true
	}
	a.e.land(a.e.take(r, target, who))
}

// symbol is Inlet.symbol for who names, to whom the source's interner does not
// belong.
func (a *ahead) symbol(s capture.Symbol) capture.Symbol {
	if s == 0 || int(s) >= len(a.texts) {
		return 0
	}
	for int(s) >= len(a.in.remap) {
		a.in.remap = append(a.in.remap, 0)
	}
	if a.in.remap[s] == 0 {
		a.in.remap[s] = a.r.names.intern(a.texts[s])
	}
	return a.in.remap[s]
}

// close ends the other goroutines and waits for them.
func (a *ahead) close() {
	if !a.closed {
		a.closed = true
		close(a.feed)
	}
	<-a.done
	a.roster = a.r.names.roster
}

// sealAhead is Seal for a recording that was judged as it was read.
func (r *Recording) sealAhead() error {
	if r.ahead != nil {
		if err := r.ahead.seal(); err != nil {
			return err
		}
	}
	r.mergeTallies()
	r.spool = &store{mem: &r.mem} // empty: there is nothing more to judge
	return nil
}

// seal judges the rest, if what the whole input shows allows it.
func (a *ahead) seal() error {
	r := a.r
	if a.failed {
		return ErrReread
	}
	r.standings = standByName(r.inlets)
	from, to := bulk(r.inlets)
	broken := to < latest && a.lastEnd > to+anHour // see within
	if a.judged && (a.first < from || a.last >= to || broken || a.facts != factsOf(a.in.source())) {
		return a.fail()
	}
	if a.judged && !r.names.outward && r.looksOutward() {
		return a.fail() // clients had numbers by address
	}
	if !a.judged {
		r.look()
	}
	a.win.settle()
	for a.win.len() > 0 {
		a.hand(min(a.win.len(), parcelRecords), func(x *record) bool { return a.in.within(x, from, to) })
	}
	a.close()
	if a.nameless && r.names.creds > 0 {
		a.failed = true
		return ErrReread
	}
	if a.judged {
		r.start, r.end = a.first, max(a.last, a.lastEnd)
	}
	return nil
}

// facts are what judging asks of the state of a source, so that they must not
// change while it goes on.
type facts struct {
	resolution                                int64
	hidden                                    [5]uint64
	seesHints, sampled, failuresOnly, crowded bool
}

func factsOf(s Source) facts {
	h := &s.Health
	return facts{h.Resolution, [5]uint64{h.Encrypted, h.Rejected, h.Cut, h.QUIC, uint64(1000 * h.Unread)}, h.SeesHints, h.Sampled > 0 && h.Sampled < 1, h.FailuresOnly, h.Crowded || h.Nameless}
}
