// Package herd measures whether the retries of many clients return together.
//
// Coincidence: retries are counted in bins of 50 ms and windows of one second,
// both aligned to the Unix epoch. C is the number of pairs of retries by
// different clients that share a bin, P the number that share a window. Were
// retries spread evenly inside their window, E = P/20 pairs would coincide by
// chance, with variance E(1-1/20), exactly, whatever the rate does from one
// window to the next (window-jitter test: Amarasingham et al., J. Neurophysiol.
// 107:517, 2012; Agmon, Neural Syst. Circuits 2:5, 2012). So
//
//	z = (C-E)/sqrt(E*(1-1/20))   in standard deviations
//	rho = C/E                    1 by chance, at most 20
//
// Pairs of one client are removed from both C and P. Clients that wait alike and meet
// once by chance meet again after each wait: of k retries each, the pairs are k times
// as many, but no more than they were. So z is divided by the root of k. The same is
// measured in bins of 250 ms and of 1 s (Scale).
//
// Jitter: J is the interquartile range of wait/median wait, where the median is
// that of the same agent and attempt number; it is 0 for fixed waits and 0.95
// for full jitter.
//
// All state is integer counts, so the readings do not depend on how clients are
// divided among shards. Nothing is allocated per event.
package herd

import (
	"slices"
	"time"
)

// Bin and Window are the widths of the coincidence test, aligned to the Unix
// epoch. A source whose clock is coarser than Bin cannot show coincidence.
const (
	Bin    = 50 * time.Millisecond
	Window = time.Second
)

const (
	bins     = int(Window / Bin)
	second   = int64(Window)
	ticks    = 120 // seconds that a Reading covers
	maxGroup = 256 // agent groups at most: a Member keeps its group in a byte
)

// Herd holds the population's timing. Its methods, InRound apart, must not be
// called at the same time.
type Herd struct {
	shards []Shard
	groups []group
	waits  waits
	end    int64 // end of the latest tick merged, Unix ns
	begun  bool
}

// group is one agent group; group 0 is everyone.
type group struct {
	ring    []tick // by second modulo ticks; nil until the group is seen
	sum     sums   // of the ring
	bins    uint32 // bins of the latest tick that belong to a round
	rounds  rounds
	crowds  *[wider]crowd // nil until the group retries
	cached  bool
	reading Reading
}

// tick is what one second of a group amounts to.
type tick struct {
	sums
	clients   uint32 // distinct clients that retried
	peak      uint32 // most arrivals in a bin
	lastRound int64  // start of the last bin of a round; 0 none
}

// sums are the counts that add up over seconds.
type sums struct {
	c, p           int64 // pairs of retries by different clients, by bin and by window
	firstC, firstP int64 // the same of first attempts
	retries        int64
	index          int64 // sum of their numbers: 1 for a first retry
	squares        int64 // of the retries in a bin
	rounds         int64
}

func (s *sums) add(o *sums, sign int64) {
	s.c += sign * o.c
	s.p += sign * o.p
	s.firstC += sign * o.firstC
	s.firstP += sign * o.firstP
	s.retries += sign * o.retries
	s.index += sign * o.index
	s.squares += sign * o.squares
	s.rounds += sign * o.rounds
}

// NewHerd makes a Herd for clients divided among shards, and agents divided
// among agent groups, group 0 being everyone; both at least 1, agents at most
// 256.
func NewHerd(shards, agents int) *Herd {
	agents = min(max(agents, 1), maxGroup)
	h := &Herd{shards: make([]Shard, max(shards, 1)), groups: make([]group, agents)}
	for i := range h.shards {
		h.shards[i].tallies = make([]tally, agents)
	}
	h.waits = newWaits(agents)
	return h
}

// Shard returns the accumulators of shard i. Shards may be used at the same
// time, each by one goroutine, between two barriers.
func (h *Herd) Shard(i int) *Shard { return &h.shards[i] }

// Barrier merges the tick [now-1s, now), which is complete. Ticks that were left
// out since the last barrier count as silent.
func (h *Herd) Barrier(now int64) {
	at := now - second
	h.expire(at)
	h.waits.turn(at)
	h.waits.merge(h.shards)
	for g := range h.groups {
		h.mergeGroup(g, at)
	}
	for i := range h.shards {
		h.shards[i].reset()
	}
	h.end, h.begun = now, true
}

// expire empties the places of the ring that the ticks up to at will take.
func (h *Herd) expire(at int64) {
	n := int64(1)
	if h.begun {
		n = min(max((at+second-h.end)/second, 1), ticks)
	}
	for g := range h.groups {
		gr := &h.groups[g]
		gr.bins, gr.cached = 0, false
		if gr.crowds != nil {
			for s := range gr.crowds {
				gr.crowds[s].turn(s, at)
			}
		}
		if gr.ring == nil {
			continue
		}
		for k := range n {
			old := &gr.ring[slot(at-k*second)]
			gr.sum.add(&old.sums, -1)
			*old = tick{}
		}
	}
}

func slot(at int64) int {
	sec := BinOf(at, second)
	return int(sec - BinOf(sec, ticks)*ticks)
}

// BinOf numbers the bins of a width that are aligned to the epoch; those before 1970
// are negative.
func BinOf(at, width int64) int64 {
	n := at / width
	if at%width < 0 {
		n--
	}
	return n
}

func (h *Herd) mergeGroup(g int, at int64) {
	gr := &h.groups[g]
	var t tally
	for i := range h.shards {
		s := &h.shards[i]
		if s.tallies[g].touched {
			t.add(&s.tallies[g])
		}
	}
	if !t.touched {
		return
	}
	if gr.ring == nil {
		gr.ring = make([]tick, ticks)
	}
	now := &gr.ring[slot(at)]
	*now = t.sum()
	gr.bins = t.roundBins()
	now.rounds, now.lastRound = gr.rounds.follow(gr.bins, at)
	gr.sum.add(&now.sums, 1)
	if t.wide.n[wideAt[1].from] > 0 {
		gr.crowd(&t.wide, at)
	}
}

// crowd counts a tick at the wider scales.
func (gr *group) crowd(t *wideTick, at int64) {
	if gr.crowds == nil {
		all := crowdsOf()
		gr.crowds = &all
		for s := range all {
			gr.crowds[s].turn(s, at)
		}
	}
	for s := range gr.crowds {
		gr.crowds[s].add(s, t)
	}
}

// InRound tells whether the bin in which start lies belongs to a round of the
// agent's group: three or more of its clients retried in it. It knows the tick
// merged last, and may be called by many goroutines until the next barrier.
func (h *Herd) InRound(agent int, start int64) bool {
	if !h.begun || start < h.end-second || start >= h.end {
		return false
	}
	return h.groups[h.clamp(agent)].bins>>binOf(start)&1 == 1
}

// Follow notes in m whether a retry of its client belongs to a round at a wider scale,
// as InRound tells of the first. It, too, may be called by many goroutines.
func (h *Herd) Follow(m *Member, agent int, start int64) {
	gr := &h.groups[h.clamp(agent)]
	if !h.begun || start < h.end-second || start >= h.end || gr.crowds == nil {
		return
	}
	if gr.crowds[0].hot>>(binOf(start)/5)&1 == 1 || gr.crowds[1].hot&1 == 1 {
		m.waves += min(1, 255-m.waves)
	}
}

func (h *Herd) clamp(agent int) int { return min(max(agent, 0), len(h.groups)-1) }

func binOf(start int64) uint8 {
	return uint8((start - BinOf(start, second)*second) / int64(Bin))
}

// Clone returns a copy that shares nothing with h.
func (h *Herd) Clone() *Herd {
	c := *h
	c.shards = slices.Clone(h.shards)
	for i := range c.shards {
		c.shards[i].tallies = slices.Clone(c.shards[i].tallies)
		c.shards[i].waits = slices.Clone(c.shards[i].waits)
	}
	c.groups = slices.Clone(h.groups)
	for i := range c.groups {
		c.groups[i].ring = slices.Clone(c.groups[i].ring)
		if of := c.groups[i].crowds; of != nil {
			c.groups[i].crowds = &[wider]crowd{of[0].clone(), of[1].clone()}
		}
	}
	c.waits = h.waits.clone()
	return &c
}
