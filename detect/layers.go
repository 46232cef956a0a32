package detect

import (
	"slices"
	"unsafe"

	"stormwatch/capture"
	"stormwatch/rules"
)

// layering gathers what tells of more than one layer of retries: requests that say
// so themselves, ids, and timing.
type layering struct {
	chains, across watch
	now, before    []proofs // by agent group
	epoch          int64
	latest         int64 // latest sign that two layers are at work
	begun          bool
}

// proofs are what requests say by themselves of an agent group's layers.
type proofs struct {
	originals, retries int64 // requests that were retried; retries

	// Two counters on one request: retries of the client, of the proxy behind it,
	// and requests of which both say that they are retries.
	outer, inner, both       int64
	ownMost, relayMost       uint16
	ownCounter, relayCounter capture.Counter

	// Tries that the logging hop declares it made of a retry.
	declaring, tries, again int64
	triesMost               uint16

	// Ids that hops pass on: in chains where some attempts share one and some do not,
	// the former are repeated below whoever makes them.
	idSame, idNew, idChains int64
}

func (p *proofs) add(o *proofs) {
	p.originals += o.originals
	p.retries += o.retries
	p.outer += o.outer
	p.inner += o.inner
	p.both += o.both
	p.ownMost, p.relayMost = max(p.ownMost, o.ownMost), max(p.relayMost, o.relayMost)
	p.ownCounter, p.relayCounter = max(p.ownCounter, o.ownCounter), max(p.relayCounter, o.relayCounter)
	p.declaring += o.declaring
	p.tries += o.tries
	p.again += o.again
	p.triesMost = max(p.triesMost, o.triesMost)
	p.idSame += o.idSame
	p.idNew += o.idNew
	p.idChains += o.idChains
}

func (l *layering) begin(at int64) {
	*l = layering{
		begun: true, epoch: at, chains: newWatch(false), across: newWatch(true),
		now: make([]proofs, agentGroups), before: make([]proofs, agentGroups),
	}
}

func (l *layering) turn(at int64) {
	if at-l.epoch < layerEpoch {
		return
	}
	// After a silence nothing of the epoch before belongs to the present.
	for range min((at-l.epoch)/layerEpoch, 2) {
		l.chains.turn()
		l.across.turn()
		l.now, l.before = l.before, l.now
		clear(l.now)
	}
	l.epoch = at
}

func (l *layering) clone() layering {
	c := *l
	if l.begun {
		c.chains, c.across = l.chains.clone(), l.across.clone()
		c.now, c.before = slices.Clone(l.now), slices.Clone(l.before)
	}
	return c
}

// size is what a clone takes beside the struct.
func (l *layering) size() int64 {
	sums := len(l.chains.now) + len(l.chains.before) + len(l.across.now) + len(l.across.before)
	return int64(len(l.chains.runs)+len(l.across.runs))*int64(unsafe.Sizeof(run{})) +
		int64(sums)*int64(unsafe.Sizeof(nestedSums{})) + int64(len(l.now)+len(l.before))*int64(unsafe.Sizeof(proofs{}))
}

// layersBegin makes room for the second at hand, and tells whether it is worth
// following: while no failure is open, nothing is retried.
func (e *engine) layersBegin() bool {
	l := &e.pop.layering
	if l.begun {
		l.turn(e.now)
	}
	if e.chains.Stats().Open == 0 {
		return false
	}
	if !l.begun {
		l.begin(e.now)
	}
	return true
}

// followLayers follows a request or its outcome.
func (e *engine) followLayers(f *flight, outcome bool) {
	l := &e.pop.layering
	switch {
	case outcome:
		l.outcome(f)
	case f.link.Attempt > 1 && f.link.Parent != 0 && f.link.Confidence >= believed:
		l.retry(f, e.resolution(f.rec.source))
	}
}

// outcome follows an operation whose attempts may come from several clients.
func (l *layering) outcome(f *flight) {
	w := &l.across
	r := w.find(f.op)
	switch {
	case !faulty(&f.rec):
		if r != nil {
			r.key = 0
		}
	case r != nil && f.rec.Start-r.end < runIdle:
		if w.next(r, f.rec.client, f.rec.Start-r.end, f.rec.End, false) {
			l.latest = max(l.latest, f.rec.End)
		}
	default:
		w.begin(f.op, f.rec.client, f.rec.agent, f.rec.Start, f.rec.End)
	}
}

// retry follows a chain.
func (l *layering) retry(f *flight, resolution int64) {
	p, link := &l.now[0], &f.link
	p.retry(f)
	if f.rec.agent != 0 {
		l.now[f.rec.agent].retry(f)
	}
	own, relay := counts(&f.rec.Exchange)
	if own.N > 1 && relay.N > 1 || f.rec.Again > 0 {
		l.latest = max(l.latest, f.rec.Start)
	}
	w := &l.chains
	r := w.find(link.Root)
	if r == nil {
		if link.Attempt != 2 {
			return // its beginning was not seen, or there was no room
		}
		if r = w.begin(link.Root, f.rec.client, f.rec.agent, f.rec.Start, f.rec.Start); r == nil {
			return
		}
	}
	if w.next(r, f.rec.client, max(link.Gap, 0), f.rec.Start, f.keptHint(resolution)) {
		l.latest = max(l.latest, f.rec.Start)
	}
	l.id(r, f)
}

// keptHint tells whether a retry came about when its server had said.
func (f *flight) keptHint(resolution int64) bool {
	wait := f.link.ParentHint.Wait
	return f.hinted() && !tooEarly(wait, f.link.Gap, resolution) && f.link.Gap <= wait+wait/2+tick
}

// burst is how many attempts of a chain make up one of its outermost layer, as far
// as its own waits tell: ten bursts of three are ten attempts, each thrice over.
func (l *layering) burst(root uint64) int32 {
	if !l.begun {
		return 1
	}
	if r := l.chains.find(root); r != nil {
		return r.burst()
	}
	return 1
}

// id follows the ids of a chain.
func (l *layering) id(r *run, f *flight) {
	before := r.id
	r.id = f.rec.RequestID
	if before == 0 || r.id == 0 {
		return
	}
	same := before == r.id
	if same {
		r.ids |= sameID
	} else {
		r.ids |= newID
	}
	nested := r.ids&(sameID|newID) == sameID|newID
	first := nested && r.ids&toldID == 0
	if first {
		r.ids |= toldID
		l.latest = max(l.latest, f.rec.Start)
	}
	count := func(p *proofs) {
		if same {
			p.idSame++
		} else {
			p.idNew++
		}
		if first {
			p.idChains++
		}
	}
	count(&l.now[0])
	if f.rec.agent != 0 {
		count(&l.now[f.rec.agent])
	}
}

func (p *proofs) retry(f *flight) {
	p.retries++
	if f.link.Attempt == 2 {
		p.originals++
	}
	if own, relay := counts(&f.rec.Exchange); own.N > 0 && relay.N > 0 {
		p.ownMost, p.relayMost = max(p.ownMost, own.N), max(p.relayMost, relay.N)
		p.ownCounter, p.relayCounter = max(p.ownCounter, own.Counter), max(p.relayCounter, relay.Counter)
		if relay.N > 1 {
			p.inner++
		} else {
			p.outer++
		}
		if own.N > 1 && relay.N > 1 {
			p.both++
		}
	}
	if f.rec.Tries > 0 {
		p.declaring++
		p.tries += int64(f.rec.Tries)
		p.triesMost = max(p.triesMost, f.rec.Tries)
		if f.rec.Again > 0 {
			p.again++
		}
	}
}

// proven is from how many requests that say so two layers are told of: one may be
// an oddity.
const proven = 3

// evidence of an agent group's layers, 0 being everybody.
type layered struct {
	declared int64 // requests that prove them
	timing   nesting
	picture  Layers
}

// layers reads what is known now.
func (e *engine) layers(group int) (out layered) {
	l := &e.pop.layering
	out.timing.chance = 1
	if !l.begun {
		return out
	}
	p := l.before[group]
	p.add(&l.now[group])
	out.declared = max(p.both, p.again, p.idChains)
	out.timing = l.chains.reading(group)
	if a := l.across.reading(group); a.chance < out.timing.chance {
		out.timing = a
	}
	who := "clients"
	if group > 0 {
		who = e.agentName(group)
	}
	switch { // names are only made where there are layers
	case p.both >= proven:
		out.picture = p.counted(who)
	case p.again >= proven:
		out.picture = p.declared(who)
	case p.idChains >= proven:
		out.picture = p.identified(who)
	default:
		out.picture = out.timing.picture(who)
	}
	return out
}

// total is the attempts that p saw for each request that was retried.
func (p *proofs) total() float64 { return 1 + float64(p.retries)/float64(max(p.originals, 1)) }

// counted tells the layers of two counters.
func (p *proofs) counted(who string) Layers {
	n := float64(max(p.originals, 1))
	return stacked("counters",
		Layer{Name: who + ", which count their attempts", PerRequest: Some(1 + float64(p.outer)/n), Most: int(p.ownMost)},
		Layer{Name: "a proxy behind them, which counts its own", PerRequest: Some(1 + float64(p.outer+p.inner)/n), Most: int(p.relayMost), Seen: true})
}

// declared tells the layers where the logging hop names its own tries.
func (p *proofs) declared(who string) Layers {
	each := float64(p.tries) / float64(max(p.declaring, 1))
	return stacked("declared tries",
		Layer{Name: who, PerRequest: Some(p.total()), Seen: true},
		Layer{Name: "the logging hop, at the servers behind it", PerRequest: Some(p.total() * each), Most: int(p.triesMost)})
}

// identified tells the layers where some attempts of a chain share an id.
func (p *proofs) identified(who string) Layers {
	outer := p.total() - 1
	if n := p.idSame + p.idNew; n > 0 {
		outer *= float64(p.idNew) / float64(n)
	}
	return stacked("ids",
		Layer{Name: who + ", which make a new id for each attempt", PerRequest: Some(1 + outer)},
		Layer{Name: "a layer behind them, which passes the id on", PerRequest: Some(p.total()), Seen: true})
}

// picture tells the layers that timing alone shows.
func (n *nesting) picture(who string) Layers {
	if n.burst == 0 {
		return Layers{}
	}
	bursts := (n.most + n.burst - 1) / n.burst
	inner := Layer{Name: "inner layer", PerRequest: Some(n.perRun), Most: n.burst, Seen: true}
	perBurst := max(1, n.perRun/float64(n.burst))
	outer := Layer{Name: who + ", outer layer", PerRequest: Some(perBurst), Most: bursts}
	rows := []Layer{outer, inner}
	if n.outer > 0 {
		middle := Layer{Name: "middle layer", PerRequest: Some(perBurst), Most: n.outer}
		rows[0].PerRequest, rows[0].Most = Some(max(1, perBurst/float64(n.outer))), (bursts+n.outer-1)/n.outer
		rows = []Layer{rows[0], middle, inner}
	}
	l := stacked("timing", rows...)
	l.Inferred = true
	return l
}

// stacked sums up layers, outermost first.
func stacked(proof string, rows ...Layer) Layers {
	rows[len(rows)-1].Pressure = true
	l := Layers{Rows: rows, Proof: proof, Multiplier: rows[len(rows)-1].PerRequest, Worst: Some(1)}
	for _, r := range rows {
		if r.Most == 0 {
			l.Worst = Number{}
			break
		}
		l.Worst.V *= float64(r.Most)
	}
	return l
}

// layerFresh is for how long after its last sign a layer is at work.
const layerFresh = 10 * tick

// layerFeatures sets what tells of an agent group's layers, 0 being everybody, and
// tells whether there is anything.
func (j *judge) layerFeatures(e *engine, group int, v *rules.Values) bool {
	l := e.layers(group)
	n, p := l.timing.boundaries, &l.picture
	v.Set(rules.HopRepeated, 0, 0)
	v.Set(rules.HopMultiplier, 1, 0)
	if s := e.repeating(); group == 0 && s != nil {
		of := int64(s.Repeats.Requests)
		v.Set(rules.HopRepeated, float64(s.Repeats.Repeated), of)
		v.Set(rules.HopMultiplier, s.Repeats.PerRequest(), of)
		if len(p.Rows) == 0 {
			*p = e.betweenHops()
		}
	}
	v.Set(rules.LayeredRequests, float64(l.declared), l.declared)
	v.Set(rules.LayerBoundaries, float64(n), n)
	v.Set(rules.LayerHold, l.timing.hold, n)
	v.SetP(rules.LayerChance, l.timing.chance, n, l.timing.chance)
	v.Set(rules.LayerCount, float64(max(len(p.Rows), 1)), max(n, l.declared))
	v.Set(rules.LayerMultiplier, max(p.Multiplier.V, 1), max(n, l.declared))
	v.Set(rules.LayerWorst, max(p.Multiplier.V, p.Worst.V, 1), max(n, l.declared))
	return l.declared > 0 || n > 0
}

// shownLayers is the picture of the layers that are at work or, of the whole input,
// that have been.
func (e *engine) shownLayers(whole bool) Layers {
	j := &e.judge
	if whole || j.find(layersSign) != nil {
		if len(j.layers.Rows) > 0 {
			return j.layers
		}
	}
	return e.betweenHops()
}

const layersSign = "layered-retries"
