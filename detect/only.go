package detect

import "context"

// Clients is a set of clients of a recording.
type Clients struct {
	has []bool // by number
	n   int
}

// Len is how many there are.
func (c *Clients) Len() int { return c.n }

// Passing are the clients that a filter lets pass, as they stand at the present
// moment or, with lasting, at the end of the recording, where that is known: for
// filters that ask what clients are, not what they did.
func (p *Replay) Passing(f ClientFilter, lasting bool) Clients {
	e := p.e
	if lasting && p.final != nil {
		e = p.final
	}
	return e.passing(f)
}

func (e *engine) passing(f ClientFilter) Clients {
	out := Clients{has: make([]bool, e.clients.len())}
	habits := e.readHabits()
	for id := range out.has {
		c := e.clients.at(uint32(id))
		if c.attempts == 0 {
			continue
		}
		row := e.clientRow(id, c)
		row.Policy = habits[c.agentGroup].Policy
		if out.has[id] = f(&row); out.has[id] {
			out.n++
		}
	}
	return out
}

// keepFinal keeps the state at the end of the recording for Passing, unless it
// would take more than half of the memory for checkpoints. Nothing changes it: the
// replay goes on from it only by going back.
func (p *Replay) keepFinal() {
	if p.final == nil && p.only == nil && p.points.max > 0 && p.row == nil && p.rec.ahead == nil && p.e.size() <= p.points.max/2 {
		p.final = p.e
		p.points.bound(p.points.max - p.e.size())
	}
}

// Only returns a replay that stands at the start of the recording and takes in the
// exchanges of some clients alone, as if there had been no others. It reads the same
// spool, takes a quarter of the memory that p has for checkpoints, and belongs to
// the goroutine of p.
func (p *Replay) Only(ctx context.Context, c Clients) (*Replay, error) {
	if !p.lent {
		p.lent = true
		p.points.bound(p.points.max - p.points.max/4)
	}
	q := &Replay{rec: p.rec, c: cursor{s: p.rec.spool}, chains: map[uint64]openChain{}, only: c.has}
	q.points = checkpoints{interval: 10 * tick, max: p.points.max / 3}
	lore, err := p.rec.rehearse(ctx, q.passes)
	if err != nil {
		return nil, err
	}
	q.lore = lore
	q.restart()
	return q, nil
}

// Clients is how many clients have been seen so far.
func (p *Replay) Clients() int { return int(p.e.pop.clients) }

// restart puts a new engine at the start of the recording. One that takes in some
// clients alone begins when the recording does, not with the first of them: before
// that they were silent.
func (p *Replay) restart() {
	p.e, p.tally = p.engine(), 0
	p.e.sources = sourcesOf(p.rec.inlets, p.rec.standings)
	if p.row != nil {
		p.e.tell = p.tellRow
	}
	if p.only != nil {
		p.e.begun, p.e.now, p.e.first = true, floor(p.rec.start), p.rec.start
	}
}

// passes tells whether an exchange is to be taken in.
func (p *Replay) passes(r *record) bool {
	return p.only == nil || int(r.client) < len(p.only) && p.only[r.client]
}
