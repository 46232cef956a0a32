package detect

// leaving lets clients that have been silent for long make room for new ones, so
// that a service watched for weeks goes on telling its clients apart. It works on
// live input only: a recording may be wound back to when they were there.
type leaving struct {
	idle   int64
	seen   []int64  // by client: the latest start of a request
	free   []uint32 // numbers to be given anew
	looked int64
	forget func(gone []uint32)
}

const (
	leaveAfter = 2 * 3600 * tick // longer than any open failure waits for its retry, and twice the longest hint that binds
	lookEvery  = 60 * tick       // all clients are looked through at most so often
)

func (l *leaving) see(id uint32, t int64) {
	for int(id) >= len(l.seen) {
		l.seen = append(l.seen, t)
	}
	l.seen[id] = max(l.seen[id], t)
}

// next returns a number that has become free, 0 if nobody has left.
func (l *leaving) next(n *names, now int64) uint32 {
	if len(l.free) == 0 && now-l.looked >= lookEvery {
		l.looked = now
		l.look(n, now)
	}
	if len(l.free) == 0 {
		return 0
	}
	id := l.free[0]
	l.free = l.free[1:]
	l.seen[id] = now
	return id
}

// look finds those who have left and has the engine forget them.
func (l *leaving) look(n *names, now int64) {
	for id := 1; id < len(l.seen); id++ {
		if now-l.seen[id] > l.idle {
			l.free = append(l.free, uint32(id))
		}
	}
	if len(l.free) == 0 {
		return
	}
	gone := func(id uint32) bool { return now-l.seen[id] > l.idle }
	n.byAddr.rebuild(len(n.byAddr.cells), func(id uint32) bool { return !gone(id) })
	for k, id := range n.byCred {
		if gone(id) {
			delete(n.byCred, k)
		}
	}
	for k, id := range n.byUpstream {
		if gone(id) {
			delete(n.byUpstream, k)
		}
	}
	n.forgetCredentials(gone)
	for k, id := range n.byName {
		if gone(id) {
			delete(n.byName, k)
		}
	}
	l.forget(l.free)
}

// forgetCredentials drops the numbers of credentials that nobody shows any more: each
// that is left belongs to a client, whose number is bounded.
func (n *names) forgetCredentials(gone func(id uint32) bool) {
	shown := make(map[uint64]bool, len(n.credOf))
	for id, credential := range n.credBy {
		if gone(id) {
			delete(n.credBy, id)
			continue
		}
		shown[credential] = true
	}
	for credential := range n.credOf {
		if !shown[credential] {
			delete(n.credOf, credential)
		}
	}
}

// forget adds what clients did to the row of all others, and empties theirs.
func (e *engine) forget(gone []uint32) {
	e.growClients()
	for _, id := range gone {
		c, others := e.clients.at(id), e.clients.at(0)
		delete(e.troubles, id)
		others.attempts += c.attempts
		others.ok += c.ok
		others.refused += c.refused
		others.failed += c.failed
		others.first += c.first
		others.retries += c.retries
		others.avoidable += c.avoidable
		h := e.histories.of(c)
		e.judge.withdraw(c, h)
		e.left += int64(min(c.attempts, 1))
		if *c = (client{history: c.history}); c.history != 0 {
			*h = history{parking: parking{refused: -1, next: h.parking.next, listed: h.parking.listed}} // its list goes on behind it
		}
	}
	for i := range e.recent.at {
		k := &e.recent.at[i]
		if e.clients.at(k.client).attempts == 0 {
			k.client = 0
		}
		if e.clients.at(k.rootCli).attempts == 0 {
			k.rootCli = 0
		}
	}
}
