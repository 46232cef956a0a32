package detect

import (
	"context"

	"stormwatch/capture"
)

// Clients is a set of clients of a recording.
type Clients struct {
	has []bool // by number
	n   int
}

// Len is how many there are.
func (c *Clients) Len() int { return c.n }

// holds tells whether an exchange is one of theirs.
func (c *Clients) holds(r *record) bool { return int(r.client) < len(c.has) && c.has[r.client] }

// looks is what a client was last known by.
type looks struct {
	agent capture.Symbol
	route uint16
	seen  bool
}

// Passing are the clients that a filter lets pass, as they stand at the present
// moment. With lasting, for filters that ask what clients are and not what they did,
// they are those of the whole recording, once it has been run to its end; such a
// filter is told label, name, agent and route, and nothing else.
func (p *Replay) Passing(f ClientFilter, lasting bool) Clients {
	if !lasting || p.met == nil {
		return p.e.passing(f)
	}
	out, n := Clients{has: make([]bool, len(p.met))}, p.e.names
	for id, who := range p.met {
		if !who.seen {
			continue
		}
		row := Client{Label: n.labels[id], Name: n.title(uint32(id)), Agent: n.texts.Text(who.agent), Route: n.texts.Text(n.routeOf[who.route])}
		out.set(id, f(&row))
	}
	return out
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
		out.set(id, f(&row))
	}
	return out
}

func (c *Clients) set(id int, passes bool) {
	if c.has[id] = passes; passes {
		c.n++
	}
}

// meet keeps, at the end of the recording, who its clients are: 8 bytes for each.
func (p *Replay) meet() {
	if p.met != nil || p.only != nil || p.row != nil || p.rec.ahead != nil {
		return
	}
	p.met = make([]looks, p.e.clients.len())
	for id := range p.met {
		c := p.e.clients.at(uint32(id))
		p.met[id] = looks{c.agent, c.route, c.attempts > 0}
	}
}

// Only returns a replay that stands at the start of the recording and takes in the
// exchanges of some clients alone, as if there had been no others. It reads the same
// spool, takes a quarter of the memory that p has for checkpoints until TakeBack, and
// belongs to the goroutine of p.
func (p *Replay) Only(ctx context.Context, c Clients) (*Replay, error) {
	if p.lent.bytes == 0 {
		p.lent = loan{max(p.points.max/4, 0), p.points.interval}
		p.points.bound(p.points.max - p.lent.bytes)
	}
	q := &Replay{rec: p.rec, c: cursor{s: p.rec.spool}, chains: map[uint64]openChain{}, only: &c}
	q.points = checkpoints{interval: 10 * tick, max: p.lent.bytes}
	if p.points.max < 0 {
		q.points.max = p.points.max
	}
	lore, err := p.rec.rehearse(ctx, q.passes)
	if err != nil {
		return nil, err
	}
	q.lore = lore
	q.restart()
	return q, nil
}

// loan is memory for checkpoints that another replay has, and how far apart they were
// before.
type loan struct{ bytes, interval int64 }

// TakeBack ends what Only began: its replays must not be used any more, and p has
// their memory again, for checkpoints of what it goes through from now on.
func (p *Replay) TakeBack() {
	p.points.widen(p.lent)
	p.lent = loan{}
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
	return p.only == nil || p.only.holds(r)
}
