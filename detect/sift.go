package detect

import (
	"math"

	"stormwatch/capture"
)

// gate lets live exchanges into an engine: those that are announced without their
// outcome first, the outcome when it comes.
type gate struct {
	e    *engine
	open map[openKey]int32 // announced requests in flight
}

func newGate(e *engine) gate { return gate{e: e, open: map[openKey]int32{}} }

// completes gives an announced request its outcome, if r is one's.
func (g *gate) completes(r *record) bool {
	if r.ID == 0 {
		return false
	}
	key := openKey{r.source, r.ID}
	i, announced := g.open[key]
	if announced && r.Outcome != capture.Pending {
		delete(g.open, key)
		g.e.complete(i, r)
	}
	return announced
}

// admit takes in an exchange that completes none.
func (g *gate) admit(r *record, target []byte) {
	i := g.e.take(r, target, identify(r, target))
	if i < 0 {
		return
	}
	if r.Outcome == capture.Pending && r.ID != 0 && len(g.open) < maxWaiting {
		g.open[openKey{r.source, r.ID}] = i
		return
	}
	g.e.land(i) // an announcement that cannot be kept counts as unanswered
}

// finish judges what is still open as unanswered.
func (g *gate) finish() {
	for key, i := range g.open {
		g.e.land(i)
		delete(g.open, key)
	}
	g.e.finish()
}

// sift judges the clients that a filter lets pass as if there were no others: from
// the start of the tape, and then on with the input. Who passes is settled when the
// filter is set, or as soon as somebody does; by a filter that asks what clients
// are, those who come later, or come to be so, pass from then on.
type sift struct {
	name    string
	filter  ClientFilter
	lasting bool
	gate    gate
	whole   bool   // all that has been judged is in it
	at      uint64 // place on the tape
	start   uint64 // where it began
	from    int64  // when, if something had come before; else 0
	pass    Clients
	seen    []bool // by client: has been looked at
	looked  int64
}

const (
	// lookAgain is how often all clients are looked at: rows of 50,000 take some 20 ms.
	lookAgain = 5 * tick

	// What is gone through at once, while the input waits: some tens of milliseconds.
	sliceSeconds = 120 * tick
	sliceLooked  = 1 << 16 // exchanges
	sliceTaken   = 1 << 13 // of clients that pass
)

// Sift has the clients that a filter lets pass judged alone, in place of those of
// the filter before; a nil one ends that. It goes through a part of what is kept each
// time it is called, and tells whether there is more: until then a Snapshot is of all.
func (l *Live) Sift(name string, f ClientFilter, lasting bool) (more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f == nil {
		l.sift = nil
		return false
	}
	if l.sift == nil || l.sift.name != name {
		l.sift = &sift{name: name, filter: f, lasting: lasting}
	}
	s := l.sift
	if s.whole || !l.e.begun || s.gate.e == nil && !s.settle(l) {
		return false
	}
	s.slice(l)
	return !s.whole
}

// sieve brings the pass of a filter, once it has caught up, to what has been judged.
func (l *Live) sieve() {
	if s := l.sift; s != nil && s.whole {
		s.look(l.e)
		s.follow(l)
	}
}

// settle begins the pass if anybody passes by now.
func (s *sift) settle(l *Live) bool {
	if s.looked != 0 && l.e.now-s.looked < lookAgain && !l.ended {
		return false
	}
	s.looked = l.e.now
	if s.pass = l.e.passing(s.filter); s.pass.n == 0 {
		return false
	}
	s.seen = make([]bool, len(s.pass.has))
	for id := range s.seen {
		s.seen[id] = l.e.clients.at(uint32(id)).attempts > 0
	}
	start, first, cut := l.tape.begin()
	if s.at, s.start = start, start; cut {
		s.from = first
	} else {
		first = l.e.first
	}
	lore, _ := rehearse(l.e.opt, &l.names.roster, func(hear func(*record, []byte) bool) error { // an error is hear's alone, and it has none
		looked := 0
		l.tape.from(start, func(r *record, target []byte) bool {
			looked++
			return looked <= searched && (!s.pass.holds(r) || r.Outcome == capture.Pending || hear(r, target))
		})
		return nil
	})
	e := newEngine(l.e.opt, &l.names.roster)
	e.sources = l.e.sources
	e.chains.Begin(lore)
	e.begun, e.now, e.first = true, floor(first), first // they were silent before the first of them came
	s.gate = newGate(e)
	return true
}

// slice goes through a part of the tape.
func (s *sift) slice(l *Live) {
	until := min(s.gate.e.now+sliceSeconds, l.e.now)
	s.whole = s.forward(l, until, sliceLooked, sliceTaken) && until == l.e.now
}

// follow takes in what has been judged of all since the last time. What has not may be
// of clients that nobody has looked at.
func (s *sift) follow(l *Live) { s.forward(l, l.e.now, math.MaxInt, math.MaxInt) }

// forward takes in what began before a moment, unless so many exchanges were looked at
// or taken, and tells whether that was all.
func (s *sift) forward(l *Live, until int64, looked, taken int) (all bool) {
	s.gate.e.sources = l.e.sources
	s.at = l.tape.from(s.at, func(r *record, target []byte) bool {
		if looked == 0 || taken == 0 || r.Start >= until {
			return false
		}
		looked--
		if s.pass.holds(r) {
			taken--
			s.take(r, target)
		}
		return true
	})
	if all = looked > 0 && taken > 0; !all {
		return false
	}
	s.gate.e.advance(until)
	if l.ended && until == l.e.now {
		s.gate.finish()
	}
	return true
}

func (s *sift) take(r *record, target []byte) {
	if !s.gate.completes(r) {
		s.gate.admit(r, target)
	}
}

// look finds who passes among clients that came since the last time and, now and
// then, among those that did not pass before.
func (s *sift) look(e *engine) {
	if !s.lasting {
		return
	}
	all := e.now-s.looked >= lookAgain
	if all {
		s.looked = e.now
	}
	for id := range uint32(e.clients.len()) {
		for int(id) >= len(s.seen) {
			s.seen, s.pass.has = append(s.seen, false), append(s.pass.has, false)
		}
		c := e.clients.at(id)
		if s.pass.has[id] || c.attempts == 0 || s.seen[id] && !all {
			continue
		}
		row := e.clientRow(int(id), c)
		s.seen[id] = true
		s.pass.set(int(id), s.filter(&row))
	}
}

// forget lets the numbers of clients that left belong to others.
func (s *sift) forget(gone []uint32) {
	if s == nil || s.gate.e == nil {
		return
	}
	s.gate.e.forget(gone)
	for _, id := range gone {
		if int(id) < len(s.seen) {
			s.seen[id], s.pass.has[id] = false, false
		}
	}
}

// judged tells whether a view's filter has been answered.
func (s *sift) judged(v *View) bool { return s != nil && s.whole && v.FilterName == s.name }

// picture is what a view asks for, of the clients that pass alone.
func (s *sift) picture(v View, of int) *Snapshot {
	v.Filter = nil
	out := s.gate.e.snapshot(v)
	out.Filtered = Filtered{Name: s.name, Whole: true, Clients: s.pass.n, Of: of, From: s.from}
	return out
}

// share is how far a pass is that has not caught up.
func (s *sift) share(t *tape) float64 {
	if s == nil || s.gate.e == nil || s.whole || t.next <= s.start {
		return 0
	}
	return float64(s.at-s.start) / float64(t.next-s.start)
}
