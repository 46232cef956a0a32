package detect

import (
	"slices"
	"unsafe"

	"stormwatch/policy"
)

// clone copies all of the state that a further second depends on. Names are
// shared: they only grow, and numbers once given keep their meaning.
func (e *engine) clone() *engine {
	c := *e
	c.flights, c.free, c.starts = e.flights.clone(), slices.Clone(e.free), slices.Clone(e.starts)
	c.calendar = e.calendar.clone()
	c.events = nil
	c.byOp, c.byCli = make([][]int32, e.opt.Shards), make([][]int32, e.opt.Shards)
	c.deltas = make([]delta, e.opt.Shards)
	c.chains, c.herd, c.loop = e.chains.Clone(), e.herd.Clone(), e.loop.Clone()
	c.clients, c.histories = e.clients.clone(), e.histories.clone()
	c.pop.timeline.bins = slices.Clone(e.pop.timeline.bins)
	c.pop.arrivals, c.pop.layering = e.pop.arrivals.clone(), e.pop.layering.clone()
	c.pop.quotas = e.pop.quotas.clone()
	c.pop.endless = slices.Clone(e.pop.endless)
	c.recent.at = slices.Clone(e.recent.at)
	c.sources = slices.Clone(e.sources)
	c.lot.parked = slices.Clone(e.lot.parked)
	c.habits, c.toldHabits, c.troubles = e.habits.clone(), nil, e.troubles.clone()
	c.judge = e.judge.clone()
	return &c
}

func (j *judge) clone() judge {
	c := *j
	c.found, c.notJudged, c.events = slices.Clone(j.found), slices.Clone(j.notJudged), slices.Clone(j.events)
	c.flagged, c.firstBad, c.sums, c.active = slices.Clone(j.flagged), slices.Clone(j.firstBad), slices.Clone(j.sums), nil
	c.again, c.groups, c.told = slices.Clone(j.again), nil, j.told.clone()
	return c
}

// size estimates the bytes a clone takes.
func (e *engine) size() int64 {
	const fixed = 4 << 20 // chains, herd and loop at rest
	n := int64(fixed) + int64(unsafe.Sizeof(engine{}))
	n += int64(e.flights.n) * int64(unsafe.Sizeof(flight{}))
	n += int64(e.clients.len()) * int64(unsafe.Sizeof(client{}))
	n += int64(e.histories.len()) * int64(unsafe.Sizeof(history{}))
	n += int64(len(e.judge.told.all)) * int64(unsafe.Sizeof(conduct{}))
	n += int64(len(e.recent.at)) * int64(unsafe.Sizeof(kept{}))
	n += int64(len(e.pop.timeline.bins)) * int64(unsafe.Sizeof(Bin{}))
	st := e.chains.Stats()
	n += int64(st.Open+st.Linger) * 512
	n += e.pop.arrivals.size() + e.pop.layering.size()
	n += int64(len(e.pop.quotas.slots))*int64(unsafe.Sizeof(quota{})) + int64(len(e.pop.endless))*int64(unsafe.Sizeof(endlessChain{}))
	n += int64(len(e.habits.parts)) * int64(unsafe.Sizeof([agentGroups]policy.Evidence{}))
	return n
}

// checkpoint is a place in the spool and the state there.
type checkpoint struct {
	at           int64 // event time judged
	chunk, index int
	tally        int
	state        *engine
}

// checkpoints are spread over what has been replayed, thinned so that they stay
// within their budget: seeking back costs at most the replay of one interval.
type checkpoints struct {
	list     []checkpoint
	interval int64
	max      int64
}

// due tells whether there is none near a moment.
func (c *checkpoints) due(now int64) bool {
	i := c.upTo(now)
	return (i == 0 || now-c.list[i-1].at >= c.interval) && (i == len(c.list) || c.list[i].at-now >= c.interval)
}

// room tells whether one of a size may be added. Where there are later ones, none is
// given up for it.
func (c *checkpoints) room(now, size int64) bool {
	if c.upTo(now) < len(c.list) {
		size += c.bytes()
	}
	return size <= c.max
}

// upTo is how many are of a moment or before it.
func (c *checkpoints) upTo(t int64) int {
	i := len(c.list)
	for i > 0 && c.list[i-1].at > t {
		i--
	}
	return i
}

func (c *checkpoints) add(k checkpoint) {
	c.list = slices.Insert(c.list, c.upTo(k.at), k)
	c.thin(c.max)
}

// bound sets how much they may take together.
func (c *checkpoints) bound(most int64) {
	c.max = most
	c.thin(most)
}

// widen lets them take more again, and come as close as they were.
func (c *checkpoints) widen(by loan) {
	if c.max += by.bytes; by.bytes > 0 {
		c.interval = min(c.interval, by.interval)
	}
}

// thin leaves out those that are near others, until they take no more than most.
func (c *checkpoints) thin(most int64) {
	for len(c.list) > 0 && c.bytes() > most {
		c.interval *= 2
		thin := c.list[:0]
		for _, k := range c.list {
			if len(thin) == 0 || k.at-thin[len(thin)-1].at >= c.interval {
				thin = append(thin, k)
			}
		}
		if len(c.list) == 1 {
			thin = thin[:0] // not even one
		}
		clear(c.list[len(thin):])
		c.list = thin
	}
}

// bytes is what all of them take together.
func (c *checkpoints) bytes() (sum int64) {
	for i := range c.list {
		sum += c.list[i].state.size()
	}
	return sum
}

// before returns the latest checkpoint at or before t.
func (c *checkpoints) before(t int64) *checkpoint {
	if i := c.upTo(t); i > 0 {
		return &c.list[i-1]
	}
	return nil
}
