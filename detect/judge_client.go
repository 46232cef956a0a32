package detect

import (
	"slices"

	"stormwatch/rules"
)

// clients judges the client signatures of those who did something this second,
// by number, so that nothing depends on how they are divided into shards. All are
// looked at before any finding is made: its onset is the earliest of them.
func (j *judge) clients(e *engine) {
	j.active = j.active[:0]
	for d := range e.deltas {
		for _, id := range e.deltas[d].dirty {
			c := &e.clients[id]
			c.dirty = false
			if c.hinted > 0 {
				j.active = append(j.active, id)
			}
		}
	}
	slices.Sort(j.active)
	for _, id := range j.active {
		j.clientFeatures(e, &e.clients[id])
		for k, s := range j.clientSig {
			j.client(&e.clients[id], k, s)
		}
	}
	for k, s := range j.clientSig {
		j.quote(e, k, s)
	}
	for k, s := range j.clientSig {
		if j.flagged[k] == 0 && !e.seesHints() && s.Needs.Hints && e.pop.total.attempts > 0 {
			j.notJudged = append(j.notJudged, NotJudged{s.ID, "no source shows response headers: capture the traffic"})
		}
	}
}

// client sets or clears the flag of one client signature.
func (j *judge) client(c *client, k int, s *rules.Signature) {
	bit := flags(1) << k
	ok, _ := s.Enough(&j.values)
	raised := ok && s.Raised(&j.values)
	switch was := c.flags&bit != 0; {
	case raised && !was:
		c.flags |= bit
		j.flagged[k]++
		if j.firstBad[k] == 0 || c.firstEarly < j.firstBad[k] {
			j.firstBad[k] = c.firstEarly
		}
	case !raised && was:
		c.flags &^= bit
		j.flagged[k]--
	}
}

// quote has a client signature hold if clients have just shown it. The finding
// speaks of the one with the most early retries, of several the first.
func (j *judge) quote(e *engine, k int, s *rules.Signature) {
	var most *client
	for _, id := range j.active {
		c := &e.clients[id]
		if c.flags>>k&1 == 1 && c.lastEarly >= e.now-tick && (most == nil || c.early > most.early) {
			most = c
		}
	}
	if most == nil {
		return
	}
	j.clientFeatures(e, most)
	j.hold(e, s, 0, &j.values)
}
