package chain

import "stormwatch/capture"

// Matcher is one shard of a Set: the state of the operations that fall to it.
type Matcher struct {
	opt   Options
	model *model // frozen between barriers
	last  int64  // latest barrier

	keys     []key
	freeKeys []int32
	byHash   table
	failures failures
	lessons  lessons
	stats    Stats

	candidates []candidate // of the request at hand
}

// candidate is an open failure that the request at hand may retry.
type candidate struct {
	open    int32
	list    int32 // key in whose list it was found
	cross   bool  // it came from another address or credential
	wait    place
	beyond  place // of the wait past the hint
	ratio   place
	density float64 // of its retry, not knowing whether it came
	rate    float64 // hazard of its retry, per second
	credit  [experts]float64
	heard   [experts]bool
}

// Salts keep a credential and an address that share a hash apart.
const (
	saltAddr = 0x5851f42d4c957f2d
	saltCred = 0x14057b7ef767814f
)

func addrHash(op, addr uint64) uint64 { return mix(op+saltAddr, addr) }
func credHash(op, cred uint64) uint64 { return mix(op+saltCred, cred) }

// Request links a request, at its start, to the failure it repeats. Requests and
// outcomes of a shard come in event-time order.
func (m *Matcher) Request(r *Request) Link {
	w := m.who(r)
	m.collect(r, &w)
	var d decision
	switch {
	case w.onBeat && r.Idem == 0 && r.N <= 1:
		d = decision{pick: -1, confidence: 1, level: E2}
	case !m.declared(r, &d):
		m.weigh(r, &w, &d)
	}
	m.learn(r, &w, &d)
	link := m.link(r, &d)
	m.moveOn(r, &w, &d)
	return link
}

// who is what is known of the identities behind a request.
type who struct {
	own, other int32   // keys: by credential if there is one, else by address; by address, or -1
	known      bool    // own was there before
	onBeat     bool    // a poller's request
	clean      bool    // no retry was due
	sinceFresh float64 // seconds since own's latest fresh start
}

// who finds or makes the keys of a request: two look-ups at most.
func (m *Matcher) who(r *Request) (w who) {
	w.other = -1
	a := addrHash(r.Op, r.Addr)
	own := a
	if r.Cred != 0 {
		own = credHash(r.Op, r.Cred)
		w.other = m.byHash.get(a)
	}
	w.own = m.byHash.get(own)
	w.known = w.own >= 0
	if !w.known {
		w.own = m.newKey(own, r.Start)
	}
	m.shape(w.own, r.Template)
	if w.known {
		k := &m.keys[w.own]
		w.sinceFresh = float64(r.Start-k.lastFresh) / 1e9
		w.onBeat = k.beat(r.Start)
	}
	if w.other >= 0 {
		w.onBeat = m.keys[w.other].beat(r.Start) || w.onBeat
	}
	return w
}

// beat takes the wait before a request and tells whether it keeps to a cadence.
func (k *key) beat(now int64) bool {
	log := logWait(float64(now-k.last) / 1e9)
	on := k.onBeat(log)
	k.feel(log)
	return on
}

func (m *Matcher) newKey(hash uint64, now int64) int32 {
	k := key{hash: hash, first: now, last: now, lastFresh: now, open: -1, live: true}
	m.stats.Keys++
	var i int32
	if n := len(m.freeKeys); n > 0 {
		i, m.freeKeys = m.freeKeys[n-1], m.freeKeys[:n-1]
		m.keys[i] = k
	} else {
		i = int32(len(m.keys))
		m.keys = append(m.keys, k)
	}
	m.byHash.put(hash, i)
	return i
}

func (m *Matcher) dropKey(i int32) {
	k := &m.keys[i]
	m.byHash.remove(k.hash)
	m.lessons.templates[k.tmpl].keys--
	k.live = false
	m.freeKeys = append(m.freeKeys, i)
	m.stats.Keys--
}

// shape gives a key its template, once that has a slot.
func (m *Matcher) shape(i int32, template uint64) {
	k := &m.keys[i]
	if k.tmpl != 0 {
		return
	}
	if k.tmpl = m.model.fresh.slot(template); k.tmpl != 0 {
		m.lessons.templates[k.tmpl].keys++
	} else if len(m.model.fresh.slots) < maxTemplates {
		m.lessons.shapes = append(m.lessons.shapes, template)
	}
}

// collect gathers the open failures of both keys.
func (m *Matcher) collect(r *Request, w *who) {
	m.candidates = m.candidates[:0]
	w.clean = true
	if r.Cred == 0 {
		m.walk(r, w, w.own, false)
		return
	}
	m.walk(r, w, w.own, true)
	if w.other >= 0 {
		m.walk(r, w, w.other, false)
	}
}

// overlap is by how much clocks may make a retry seem to start before the answer
// it follows ended.
const overlap = int64(5e5)

func (m *Matcher) walk(r *Request, w *who, list int32, byCred bool) {
	for i := m.keys[list].open; i >= 0; {
		o := &m.failures.all[i]
		sameAddr, sameCred := o.addr == r.Addr, o.cred == r.Cred
		fits := r.Start >= o.end-overlap && r.Start-o.end <= int64(m.opt.MaxAge)
		if fits && (byCred || r.Cred == 0 || !sameCred) {
			m.candidates = append(m.candidates, candidate{open: i, list: list, cross: !sameAddr || !sameCred})
			w.clean = w.clean && !o.waits(r.Start)
		}
		if byCred {
			i = o.nextC
		} else {
			i = o.nextA
		}
	}
}

// decision is what a request is taken for.
type decision struct {
	pick       int // candidate, -1 if fresh
	confidence float64
	retry      float64 // probability that it is a retry of any of them
	fresh      float64 // weight with which it teaches what fresh requests do
	level      uint8
	certain    bool // declared: only the pick is learned from
	attempt    int32
}

// link describes a decision.
func (m *Matcher) link(r *Request, d *decision) Link {
	l := Link{Root: r.Seq, RootClient: r.Client, Attempt: max(d.attempt, 1), Level: d.level, Confidence: float32(d.confidence)}
	l.Retry = uint16(d.retry*65535 + .5)
	m.stats.soft += uint64(l.Retry)
	if d.pick < 0 {
		m.stats.First++
		return l
	}
	m.stats.Matched[d.level]++
	o := &m.failures.all[m.candidates[d.pick].open]
	l.Parent, l.Root, l.RootClient, l.Attempt = o.seq, o.root, o.rootClient, o.attempt+1
	l.Gap = r.Start - o.end
	l.ParentStatus, l.ParentReason, l.ParentHint = o.status, o.reason, o.hint
	l.ParentStart, l.ParentEnd, l.ParentOutcome = o.start, o.end, o.outcome
	return l
}

// moveOn closes the failure that was retried and remembers the request.
func (m *Matcher) moveOn(r *Request, w *who, d *decision) {
	for _, i := range [...]int32{w.own, w.other} {
		if i < 0 {
			continue
		}
		k := &m.keys[i]
		if d.pick < 0 {
			k.lastFresh = r.Start
		}
		if w.clean && (i != w.own || w.known) {
			k.repeats++
		}
		k.last, k.state = r.Start, inFlight
	}
	t := &m.lessons.templates[m.keys[w.own].tmpl]
	if w.clean && w.known {
		t.repeats++
	}
	if d.pick < 0 {
		t.starts += unit
		return
	}
	c := &m.candidates[d.pick]
	o := &m.failures.all[c.open]
	if o.attempt == 1 {
		m.keys[w.own].firstWait = float32(c.wait.wait)
	}
	m.claim(c.open, r.Start)
}

// failedStart is what a failed fresh start counts less, as one that a fresh repeat
// may follow: its retries take that place (measured in the trial behind
// chains-trial.md).
const failedStart = unit * 4 / 5

// Outcome takes a result, at its end: a failure waits for its retry.
func (m *Matcher) Outcome(r *Result) {
	a := addrHash(r.Op, r.Addr)
	byAddr, byCred := m.byHash.get(a), int32(-1)
	if r.Cred != 0 {
		if byCred = m.byHash.get(credHash(r.Op, r.Cred)); byCred >= 0 {
			m.keys[byCred].finish(r.Failed)
		}
	}
	if byAddr >= 0 {
		m.keys[byAddr].finish(r.Failed)
	}
	if !r.Failed || r.Outcome == capture.Pending {
		return
	}
	if byAddr < 0 {
		byAddr = m.newKey(a, r.Start)
		m.shape(byAddr, r.Template)
		m.keys[byAddr].finish(true)
	}
	if byCred < 0 && r.Cred != 0 {
		byCred = m.newKey(credHash(r.Op, r.Cred), r.Start)
		m.shape(byCred, r.Template)
		m.keys[byCred].finish(true)
	}
	if r.Link.Attempt <= 1 {
		own := byAddr
		if byCred >= 0 {
			own = byCred
		}
		m.lessons.templates[m.keys[own].tmpl].starts -= failedStart
	}
	m.wait(r, byAddr, byCred)
}

// finish notes what the latest request came to.
func (k *key) finish(bad bool) {
	k.state = succeeded
	if bad {
		k.state = failed
	}
}
