package detect

import "stormwatch/capture"

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
	i := g.e.take(r, target)
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
// are, those who come later are looked at as they come.
type sift struct {
	name    string
	filter  ClientFilter
	lasting bool
	gate    gate
	at      uint64 // place on the tape
	from    int64  // where the tape began; 0 with the input
	has     []bool // by client: passes
	seen    []bool // by client: has been looked at
	n       int    // that pass
	looked  int64
}

// lookAgain is how often all clients are looked at while none passes.
const lookAgain = 5 * tick

// Sift has the clients that a filter lets pass judged alone, in place of those of
// the filter before; a nil one ends that. It does nothing while the name stays.
func (l *Live) Sift(name string, f ClientFilter, lasting bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f == nil {
		l.sift = nil
		return
	}
	if l.sift != nil && l.sift.name == name {
		return
	}
	l.sift = &sift{name: name, filter: f, lasting: lasting}
	l.sieve()
}

// sieve brings what a filter asks for up to what has been judged.
func (l *Live) sieve() {
	s := l.sift
	if s == nil || !l.e.begun {
		return
	}
	if s.gate.e == nil && !s.settle(l) {
		return
	}
	s.gate.e.sources = l.e.sources
	if s.lasting {
		s.look(l.e)
	}
	s.at = l.tape.from(s.at, func(r *record, target []byte) bool {
		if s.passes(r) && !s.gate.completes(r) {
			s.gate.admit(r, target)
		}
		return true
	})
	s.gate.e.advance(l.e.now)
}

// settle begins the pass if anybody passes by now.
func (s *sift) settle(l *Live) bool {
	if s.looked != 0 && l.e.now-s.looked < lookAgain {
		return false
	}
	s.looked = l.e.now
	pass := l.e.passing(s.filter)
	if pass.n == 0 {
		return false
	}
	s.has, s.n = pass.has, pass.n
	s.seen = make([]bool, len(s.has))
	for id := range s.seen {
		s.seen[id] = l.e.clients.at(uint32(id)).attempts > 0
	}
	first := l.e.first
	if !l.tape.whole() {
		first = l.tape.start()
		s.from = first
	}
	lore, _ := rehearse(l.e.opt, l.names, func(hear func(*record, []byte) bool) error { // an error is hear's alone, and it has none
		l.tape.from(0, func(r *record, target []byte) bool {
			return !s.passes(r) || r.Outcome == capture.Pending || hear(r, target)
		})
		return nil
	})
	e := newEngine(l.e.opt, l.names)
	e.chains.Begin(lore)
	e.begun, e.now, e.first = true, floor(first), first // they were silent before the first of them came
	s.gate = newGate(e)
	return true
}

// look finds who passes among clients that came since the last time.
func (s *sift) look(e *engine) {
	for id := range uint32(e.clients.len()) {
		c := e.clients.at(id)
		if int(id) < len(s.seen) && s.seen[id] || c.attempts == 0 {
			continue
		}
		for int(id) >= len(s.seen) {
			s.seen, s.has = append(s.seen, false), append(s.has, false)
		}
		row := e.clientRow(int(id), c)
		s.seen[id] = true
		if s.has[id] = s.filter(&row); s.has[id] {
			s.n++
		}
	}
}

func (s *sift) passes(r *record) bool { return int(r.client) < len(s.has) && s.has[r.client] }

// forget lets the numbers of clients that left belong to others.
func (s *sift) forget(gone []uint32) {
	if s == nil || s.gate.e == nil {
		return
	}
	s.gate.e.forget(gone)
	for _, id := range gone {
		if int(id) < len(s.seen) {
			s.seen[id], s.has[id] = false, false
		}
	}
}

// finish ends the pass where the input ended.
func (s *sift) finish(end int64) {
	if s != nil && s.gate.e != nil {
		s.gate.e.advance(end)
		s.gate.finish()
	}
}

// judged tells whether a view's filter has been answered, and from when on.
func (s *sift) judged(v *View) bool { return s != nil && s.gate.e != nil && v.FilterName == s.name }

// picture is what a view asks for, of the clients that pass alone.
func (s *sift) picture(v View, of int) *Snapshot {
	v.Filter = nil
	out := s.gate.e.snapshot(v)
	out.Filtered = Filtered{Name: s.name, Whole: true, Clients: s.n, Of: of, From: s.from}
	return out
}
