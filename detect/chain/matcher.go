package chain

import (
	"math"
	"slices"

	"stormwatch/capture"
)

// Matcher is one shard of a Set: the state of the operations that fall to it.
type Matcher struct {
	opt   Options
	model *model // frozen between barriers
	last  int64  // latest barrier

	keys     keySlab
	freeKeys []int32
	byHash   table
	byID     table // the latest failure of each stable id
	failures failures
	lessons  lessons
	stats    Stats
	quits    []Quit // noticed at the latest barrier

	candidates []candidate // of the request at hand
	dither     float64     // seconds added to its waits
	touched    uint64      // what Touch read, which means nothing
}

// candidate is an open failure that the request at hand may retry.
type candidate struct {
	open    int32
	list    int32 // key in whose list it was found
	cross   bool  // it came from another address or credential
	proof   bool  // found only by what requests declare
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
	m.dither = m.blur(r)
	if l, ok := m.sow(r); ok {
		return l
	}
	w := m.who(r)
	m.collect(r, &w)
	m.resent(r)
	if len(m.candidates) > 0 && !w.onBeat {
		w.onBeat = m.paced(&w)
	}
	var d decision
	switch {
	case w.onBeat && r.Idem == 0 && !r.declares():
		d = decision{pick: -1, confidence: 1, level: E2}
	case m.declared(r, &d):
		m.rehearse(r, &w, &d)
	default:
		m.weigh(r, &w, &d)
	}
	m.learn(r, &w, &d)
	m.notePassed(r, &d)
	m.noteLayers(r)
	link := m.link(r, &d)
	m.moveOn(r, &w, &d)
	return link
}

// blur returns what to add to the waits before a request. On a clock of whole
// seconds all waits lie on a comb whose teeth look like sharp timers, of retries
// and of fresh requests alike; spread over the second, from the request's number,
// they do not.
func (m *Matcher) blur(r *Request) float64 {
	m.lessons.requests++
	if r.Start%second == 0 {
		m.lessons.whole++
	}
	if !m.model.wholeSeconds {
		return 0
	}
	return float64(mix(r.Seq, saltAddr)>>11)/(1<<53) - .5
}

// who is what is known of the identities behind a request.
type who struct {
	own, other int32   // keys: by credential if there is one, else by address; by address, or -1
	voice      int32   // of these, the one with less traffic: it speaks for the client; -1 if just made
	known      bool    // own was there before
	otherKnown bool    // other was there before
	onBeat     bool    // a poller's request
	clean      bool    // no retry was due
	sinceFresh float64 // seconds since voice's latest fresh start
}

// who finds or makes the keys of a request: two look-ups at most.
func (m *Matcher) who(r *Request) (w who) {
	w.other, w.voice = -1, -1
	a := addrHash(r.Op, r.Addr)
	own := a
	if r.Cred != 0 {
		own = credHash(r.Op, r.Cred)
	}
	w.own, w.known = m.key(own, r)
	if r.Cred != 0 {
		m.otherKey(a, r, &w)
	}
	if w.known {
		w.voice = w.own
		w.onBeat = m.keys.at(w.own).beat(r.Start)
	}
	if w.otherKnown {
		w.onBeat = m.keys.at(w.other).beat(r.Start) || w.onBeat
		if w.known && m.keys.at(w.other).lastFresh < m.keys.at(w.own).lastFresh {
			w.voice = w.other
		}
	}
	if w.other >= 0 && !w.otherKnown {
		w.voice = -1
	}
	if w.voice >= 0 {
		w.sinceFresh = float64(r.Start-m.keys.at(w.voice).lastFresh)/1e9 + m.dither
	}
	return w
}

// collect gathers the open failures of both keys.
func (m *Matcher) collect(r *Request, w *who) {
	m.candidates = m.candidates[:0]
	w.clean = true
	m.walk(r, w, w.own, r.Cred != 0)
	if r.Cred != 0 && w.other >= 0 {
		m.walk(r, w, w.other, false)
	}
	m.sameID(r)
}

// overlap is by how much clocks may make a retry seem to start before the answer
// it follows ended.
const overlap = int64(5e5)

func (m *Matcher) walk(r *Request, w *who, list int32, byCred bool) {
	own := w.own
	if r.Cred == 0 {
		own = -2 // nothing was found by credential
	}
	for i := m.keys.at(list).open; i >= 0; {
		o := &m.failures.all[i]
		sameAddr, sameCred := o.addr == r.Addr, o.cred == r.Cred
		fits := r.Start >= o.end-overlap && r.Start-o.end <= int64(longest)+o.held()
		// A machine that was there before does not retry what another one with the
		// same credential failed at.
		proof := !sameAddr && byCred && w.otherKnown
		if fits && (!proof || r.declares() || r.Idem != 0) && (byCred || o.byCred != own) {
			m.candidates = append(m.candidates, candidate{open: i, list: list, cross: !sameAddr || !sameCred, proof: proof})
			w.clean = w.clean && !o.waits(r.Start)
		}
		if byCred {
			i = o.nextC
		} else {
			i = o.nextA
		}
	}
}

// resent takes a request for the one before it sent once more by what lies below the
// client's own retries, and is none: with the credential that a challenge asked for
// (RFC 9110 section 11.6.1), or by its transport, at once, after a connection that was
// idle had been closed under it (RFC 9112 section 9.3.1). One such failure is over.
func (m *Matcher) resent(r *Request) {
	met := int32(-1)
	m.candidates = slices.DeleteFunc(m.candidates, func(c candidate) bool {
		o := &m.failures.all[c.open]
		challenge := r.Cred != 0 && o.cred == 0 && (o.class == class401 || o.status == proxyChallenge)
		yes := o.attempt == 1 && (challenge || o.raced && r.Start-o.end < atOnce)
		if yes {
			met = c.open
		}
		return yes
	})
	if met >= 0 {
		m.discard(met)
	}
}

const (
	proxyChallenge = 407
	atOnce         = int64(50e6) // nothing that waits on purpose waits less
)

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
	l.Sure = float32(l.Attempt)
	l.Retry = uint16(d.retry*65535 + .5)
	m.stats.soft += uint64(l.Retry)
	if d.pick < 0 {
		m.stats.First++
		return l
	}
	m.stats.Matched[d.level]++
	o := &m.failures.all[m.candidates[d.pick].open]
	l.Parent, l.Root, l.RootClient, l.Attempt = o.seq, o.root, o.rootClient, o.attempt+1
	l.Sure = 1 + l.Confidence*o.sure
	if d.certain {
		l.Sure = float32(l.Attempt)
	}
	l.Gap = r.Start - o.end
	l.hide(r, o)
	if !o.bound {
		l.Before = int64(float64(o.before) * 1e9)
	}
	l.ParentStatus, l.ParentReason, l.ParentHint = o.status, o.reason, o.hint
	l.ParentStart, l.ParentEnd, l.ParentOutcome = o.start, o.end, o.outcome
	l.ParentAdvice, l.ParentCred, l.ParentIdem, l.Deadline = o.advice, o.cred, o.idem, o.deadline
	l.ParentRelative = o.relative
	return l
}

// hiddenBurst is how many attempts an inner layer makes at most in a moment of the
// clock, by all that is known of layers; those that go on are an outer one's.
const hiddenBurst = 6

// hide counts the attempts that the clock does not show apart from the one before:
// whether the same layer waited before each cannot be told, unless its client counts.
func (l *Link) hide(r *Request, o *open) {
	hidden := int32(o.hidden)
	if max(l.Gap, -l.Gap) < r.Clock && o.together+1 < hiddenBurst {
		l.Together = o.together + 1
		hidden++
	}
	if r.N > 0 {
		hidden = min(hidden, max(l.Attempt-int32(r.N), 0))
	}
	l.Hidden = uint16(min(hidden, math.MaxUint16))
}

// moveOn closes the failure that was retried and remembers the request.
func (m *Matcher) moveOn(r *Request, w *who, d *decision) {
	for _, i := range [...]int32{w.own, w.other} {
		if i < 0 {
			continue
		}
		k := m.keys.at(i)
		m.renew(r, k)
		if d.pick < 0 {
			k.lastFresh = r.Start
		}
		if w.clean && (i == w.own && w.known || i == w.other && w.otherKnown) {
			k.repeats++
		}
		k.last, k.state = r.Start, inFlight
	}
	t := &m.lessons.templates[m.keys.at(w.own).tmpl]
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
		m.keys.at(w.own).firstWait = float32(c.wait.wait)
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
	if !r.Failed {
		m.Succeeded(r.Op, r.Addr, r.Cred)
		return
	}
	byAddr, byCred := m.find(a, r.Addr), int32(-1)
	if r.Cred != 0 {
		if byCred = m.find(credHash(r.Op, r.Cred), r.Addr); byCred >= 0 {
			m.keys.at(byCred).finish(r.Failed)
		}
	}
	if byAddr >= 0 {
		m.keys.at(byAddr).finish(r.Failed)
	}
	if !r.Failed || r.Outcome == capture.Pending {
		return
	}
	if byAddr < 0 {
		byAddr = m.newKey(a, r.Start)
		m.shape(byAddr, r.Template)
		m.keys.at(byAddr).finish(true)
	}
	if byCred < 0 && r.Cred != 0 {
		byCred = m.newKey(credHash(r.Op, r.Cred), r.Start)
		m.shape(byCred, r.Template)
		m.keys.at(byCred).finish(true)
	}
	if r.Link.Attempt <= 1 {
		own := byAddr
		if byCred >= 0 {
			own = byCred
		}
		m.lessons.templates[m.keys.at(own).tmpl].starts -= failedStart
	}
	m.wait(r, byAddr, byCred)
}
