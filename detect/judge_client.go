package detect

import (
	"slices"
	"strings"

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
	if e.crowdedInput() {
		j.active = j.active[:0]
		for _, s := range j.clientSig {
			j.notJudged = append(j.notJudged, NotJudged{s.ID, crowdedWhy})
		}
		return
	}
	for _, id := range j.active {
		c := &e.clients[id]
		j.clientFeatures(e, c.since(earliness{}))
		for k, s := range j.clientSig {
			j.client(c, k, s)
		}
		c.told = c.since(earliness{})
	}
	for k, s := range j.clientSig {
		j.quote(e, k, s)
	}
	for k, s := range j.clientSig {
		if j.flagged[k] > 0 || e.pop.total.attempts == 0 {
			continue
		}
		circumstances(e, &j.values)
		if ok, why := s.Enough(&j.values); !ok && strings.HasPrefix(why, "cannot judge") {
			j.notJudged = append(j.notJudged, NotJudged{s.ID, why})
		}
	}
}

// crowdedWhy says why what single clients do is not judged.
const crowdedWhy = "cannot judge: nearly all requests come from one or two addresses, a proxy's perhaps, so which client did what is not known (Input says which flag tells them apart)"

// crowdedInput tells whether the clients of what is judged cannot be told apart.
func (e *engine) crowdedInput() bool {
	return slices.ContainsFunc(e.sources, func(s Source) bool { return s.Primary && s.Health.Crowded })
}

// client sets or clears the flag of one client signature.
func (j *judge) client(c *client, k int, s *rules.Signature) {
	bit := flags(1) << k
	ok, _ := s.Enough(&j.values)
	raised := ok && s.Raised(&j.values)
	switch was := c.flags&bit != 0; {
	case raised && was:
		j.sums[k].add(c.since(c.told), 1)
	case raised:
		c.flags |= bit
		j.flagged[k]++
		j.sums[k].add(c.since(earliness{}), 1)
		if j.firstBad[k] == 0 || c.firstEarly < j.firstBad[k] {
			j.firstBad[k] = c.firstEarly
		}
	case !raised && was:
		c.flags &^= bit
		j.flagged[k]--
		j.sums[k].add(c.told, -1)
	}
}

// since is how a client kept to hints after t was told of it.
func (c *client) since(t earliness) earliness {
	return earliness{int64(c.hinted) - t.hinted, int64(c.early) - t.early, int64(c.earlyBy*1e3) - t.byMillis}
}

// earliness sums how clients kept to hints; integers, so that what was added can be
// taken away again.
type earliness struct{ hinted, early, byMillis int64 }

func (s *earliness) add(o earliness, sign int64) {
	s.hinted += sign * o.hinted
	s.early += sign * o.early
	s.byMillis += sign * o.byMillis
}

// quote has a client signature hold if clients have just shown it. The finding
// speaks of all who carry it together.
func (j *judge) quote(e *engine, k int, s *rules.Signature) {
	if !slices.ContainsFunc(j.active, func(id uint32) bool {
		c := &e.clients[id]
		return c.flags>>k&1 == 1 && c.lastEarly >= e.now-tick
	}) {
		return
	}
	j.clientFeatures(e, j.sums[k])
	j.hold(e, s, 0, &j.values)
}
