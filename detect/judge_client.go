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
			c := e.clients.at(id)
			c.dirty = false
			if c.just != 0 || c.flags != 0 {
				j.active = append(j.active, id)
			}
		}
	}
	j.active = append(j.active, j.again...)
	j.again = j.again[:0]
	slices.Sort(j.active)
	j.active = slices.Compact(j.active)
	if why := e.untold(); why != "" {
		j.pass(e, why)
		return
	}
	for _, id := range j.active {
		c, h := e.clients.at(id), e.history(id)
		if e.shared(c) {
			j.withdraw(c, h)
			j.hide(c.just, e.now)
			continue
		}
		now := c.fair(h, e.now, e.skewed)
		var sum conducts
		sum.add(&now, 1)
		j.clientFeatures(e, &sum)
		for k, s := range j.clientSig {
			j.client(c, h, k, s, &now)
		}
		if c.flags != 0 {
			j.told.set(h, &now)
		} else {
			j.told.drop(h)
		}
	}
	for k, s := range j.clientSig {
		j.quote(e, k, s)
	}
	blamed := int64(0)
	for _, id := range j.active {
		c := e.clients.at(id)
		if c.flags&j.storms != 0 {
			blamed += int64(c.rash)
		}
		c.just, c.rash = 0, 0
	}
	e.pop.seconds[slot(e.now-tick)].blamed = blamed
	for k, s := range j.clientSig {
		if j.flagged[k] > 0 || e.pop.total.attempts == 0 {
			continue
		}
		if j.hides(j.fault[k], e.now) {
			j.cannot(s, sharedWhy)
			continue
		}
		circumstances(e, &j.values)
		if ok, why := s.Enough(&j.values); !ok && strings.HasPrefix(why, "cannot judge") {
			j.cannot(s, why)
		}
	}
}

// hide notes faults that an address showed which several clients share.
func (j *judge) hide(just uint32, now int64) {
	for what := range j.hidden {
		if just>>what&1 == 1 {
			j.hidden[what] = now
		}
	}
}

// hides tells whether such an address showed a fault of late: as late as a finding
// would hold of it.
func (j *judge) hides(what deed, now int64) bool {
	return what < faults && j.hidden[what] != 0 && now-j.hidden[what] <= grace
}

// crowdedWhy says why what single clients do is not judged.
const crowdedWhy = "cannot judge: nearly all requests come from one or two addresses, a proxy's perhaps, so which client did what is not known (Input says which flag tells them apart)"

// namelessWhy says so of an input that does not tell clients apart at all.
const namelessWhy = "cannot judge: the input tells no client from another, so what follows a failure need be no retry: load generators go on with the next request"

// untold says why what single clients do cannot be told from the input; "" if it can.
func (e *engine) untold() string {
	switch {
	case e.nameless():
		return namelessWhy
	case e.crowdedInput():
		return crowdedWhy
	}
	return ""
}

// nameless tells whether what is judged tells no client from another.
func (e *engine) nameless() bool {
	return slices.ContainsFunc(e.sources, func(s Source) bool { return s.Primary && s.Health.Nameless })
}

// pass judges no client, and takes back what was found of those at hand before it
// was known that clients cannot be told apart.
func (j *judge) pass(e *engine, why string) {
	for _, id := range j.active {
		c := e.clients.at(id)
		j.withdraw(c, e.histories.of(c))
		c.just, c.rash = 0, 0
	}
	for _, s := range j.clientSig {
		j.cannot(s, why)
	}
}

// withdraw takes all flags from a client.
func (j *judge) withdraw(c *client, h *history) {
	for k := range j.flagged {
		if c.flags>>k&1 == 1 {
			j.flagged[k]--
			j.sums[k].add(j.told.of(h), -1)
		}
	}
	c.flags = 0
	j.told.drop(h)
}

// crowdedInput tells whether the clients of what is judged cannot be told apart.
func (e *engine) crowdedInput() bool {
	if e.names.outward {
		return false // a client's own addresses are few
	}
	return slices.ContainsFunc(e.sources, func(s Source) bool { return s.Primary && s.Health.Crowded })
}

// client sets or clears the flag of one client signature.
func (j *judge) client(c *client, h *history, k int, s *rules.Signature, now *conduct) {
	bit := flags(1) << k
	ok, _ := s.Enough(&j.values)
	raised := ok && s.Raised(&j.values)
	was := c.flags&bit != 0
	if was {
		j.sums[k].add(j.told.of(h), -1)
	}
	switch {
	case raised && !was:
		c.flags |= bit
		j.flagged[k]++
		if first := c.began(h, j.fault[k]); first != 0 && (j.firstBad[k] == 0 || first < j.firstBad[k]) {
			j.firstBad[k] = first
		}
	case !raised && was:
		c.flags &^= bit
		j.flagged[k]--
	}
	if raised {
		j.sums[k].add(now, 1)
	}
}

// quote has a client signature hold if clients have just shown it. The finding
// speaks of all who carry it together.
func (j *judge) quote(e *engine, k int, s *rules.Signature) {
	if !slices.ContainsFunc(j.active, func(id uint32) bool {
		c := e.clients.at(id)
		return c.flags>>k&1 == 1 && (c.just>>j.fault[k]&1 == 1 || e.histories.of(c).parking.parked)
	}) {
		return
	}
	j.clientFeatures(e, &j.sums[k])
	j.hold(e, s, 0, &j.values)
}
