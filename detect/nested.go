package detect

import (
	"math"
)

// Bursts within bursts: where an outer layer repeats what an inner one has already
// repeated, every a-th wait of a chain is longer than the a-1 waits on either side
// (signatures-trial, layered-retries). Were the waits of one layer, in whichever
// order, one in 2a-1 would be the longest of so many; growing waits make it fewer.
const (
	shortestBurst, longestBurst = 2, 6
	bursts                      = longestBurst - shortestBurst + 1

	fewestBounds = 2            // complete boundaries from which a chain is judged
	runGaps      = 48           // waits of a chain that are looked at
	runIdle      = 30 * tick    // a chain that has been silent for this long makes room
	watchedRuns  = 512          // chains followed at once; the others are left out, and counted
	runPlaces    = 4            // each may have: with half of them taken, one in 27 finds no room
	layerEpoch   = 60 * tick    // readings cover the present minute and the one before
	gapUnit      = int64(62500) // ns; waits are kept in sixteenths of a millisecond
)

// run is a chain, or all failures of one operation, while it is followed.
type run struct {
	key    uint64
	end    int64 // of the latest failure
	gaps   [runGaps]uint32
	same   uint64 // a bit for each wait: both its ends are the same client's
	hinted uint64 // it is one that the server named
	id     uint64 // that hops pass on, of the latest attempt
	client uint32
	n      uint8 // waits so far
	agent  uint8
	ids    uint8 // bits of the id pattern: sameID, newID, toldID
	over   bool  // not one chain after all
	mixed  bool  // of several clients
}

const (
	sameID = 1 << iota // an attempt with the id of the one before
	newID              // and one with another
	toldID             // it has been counted
)

// nestedSums are what the chains of an agent group amount to.
type nestedSums struct {
	judged, held [1 + bursts][bursts]int32 // boundaries: of single attempts, and of bursts of 2 to 6
	runs         int64
	reached      [runGaps + 2]int32 // runs by the attempts they got to, at least
	over         int64              // runs that were not one chain
	relays       [16]uint64
}

func (s *nestedSums) add(o *nestedSums) {
	for l := range s.judged {
		for a := range s.judged[l] {
			s.judged[l][a] += o.judged[l][a]
			s.held[l][a] += o.held[l][a]
		}
	}
	s.runs += o.runs
	s.over += o.over
	for i := range s.reached {
		s.reached[i] += o.reached[i]
	}
	bitmap(s.relays[:]).or(o.relays[:])
}

// watch follows runs of one kind: chains, or operations whose attempts come from
// several clients, as those of a gateway do that stand before it.
type watch struct {
	across      bool // operations
	runs        []run
	left        int64        // runs that were not followed, for want of room
	now, before []nestedSums // by agent group
}

func newWatch(across bool) watch {
	return watch{
		across: across, runs: make([]run, watchedRuns),
		now: make([]nestedSums, agentGroups), before: make([]nestedSums, agentGroups),
	}
}

func (w *watch) clone() watch {
	c := *w
	c.runs = append([]run(nil), w.runs...)
	c.now, c.before = append([]nestedSums(nil), w.now...), append([]nestedSums(nil), w.before...)
	return c
}

// turn begins a new epoch.
func (w *watch) turn() {
	w.now, w.before = w.before, w.now
	clear(w.now)
}

// room are the places that a run may have.
func (w *watch) room(key uint64) []run {
	at := mix(key, mixGolden) % (watchedRuns / runPlaces) * runPlaces
	return w.runs[at : at+runPlaces]
}

// find returns the run that is followed under a key, nil if none is.
func (w *watch) find(key uint64) *run {
	room := w.room(key)
	for i := range room {
		if room[i].key == key {
			return &room[i]
		}
	}
	return nil
}

// free returns a place for another run that begins at a moment, nil if there is none.
func (w *watch) free(key uint64, at int64) *run {
	room := w.room(key)
	for i := range room {
		if r := &room[i]; r.key == 0 || at-r.end >= runIdle {
			return r
		}
	}
	return nil
}

// begin follows a new run, if there is room for it.
func (w *watch) begin(key uint64, client uint32, agent uint8, at, end int64) *run {
	r := w.find(key)
	if r == nil {
		r = w.free(key, at)
	}
	if r == nil {
		w.left++
		return nil
	}
	*r = run{key: key, end: end, client: client, agent: agent}
	if !w.across {
		w.count(r, func(s *nestedSums) { s.runs++; s.reached[1]++ })
	}
	return r
}

// count adds to the sums of a run's group and of everybody.
func (w *watch) count(r *run, f func(*nestedSums)) {
	f(&w.now[0])
	if r.agent != 0 {
		f(&w.now[r.agent])
	}
}

// next adds an attempt to a run, gap ns after the failure before it, and tells
// whether it completed a boundary that held.
func (w *watch) next(r *run, client uint32, gap, end int64, hinted bool) (held bool) {
	if r.over {
		r.end = max(r.end, end)
		return false
	}
	if gap < 0 {
		r.over = true
		r.end = max(r.end, end)
		w.count(r, func(s *nestedSums) { s.over++ })
		return false
	}
	r.end = end
	was := r.mixed
	r.mixed = r.mixed || client != r.client
	w.count(r, func(s *nestedSums) {
		switch {
		case !w.across:
		case !r.mixed:
			return
		case !was:
			s.runs++
			s.relay(r.client)
			for n := range int(r.n) + 2 {
				s.reached[n]++
			}
		}
		s.relay(client)
		if r.n < runGaps {
			s.reached[int(r.n)+2]++
		}
	})
	if r.n == runGaps {
		return false
	}
	i := r.n
	r.gaps[i] = uint32(min(gap/gapUnit, math.MaxUint32))
	if client == r.client {
		r.same |= 1 << i
	}
	if hinted {
		r.hinted |= 1 << i
	}
	r.client = client
	r.n++
	if w.across && !r.mixed {
		return false // its chain says all there is to say
	}
	held = w.bounds(r, 0, 1)
	for a := shortestBurst; a <= longestBurst; a++ {
		w.bounds(r, a-1, a)
	}
	return held
}

func (s *nestedSums) relay(client uint32) {
	bitmap(s.relays[:]).set(mix(uint64(client)+1, mixWy))
}

// clients is about how many clients sent what is in the sums.
func (s *nestedSums) clients() float64 { return bitmap(s.relays[:]).count() }

// bounds judges the boundaries that the latest wait of a run has completed, every
// stride-th wait taken: of single attempts, or of bursts.
func (w *watch) bounds(r *run, level, stride int) (any bool) {
	if int(r.n)%stride != 0 {
		return false
	}
	j := int(r.n) / stride
	for a := shortestBurst; a <= longestBurst; a++ {
		k := (j+1)/a - 1
		if (j+1)%a != 0 || k < fewestBounds {
			continue
		}
		from := k
		if k == fewestBounds {
			from = 1
		}
		for ; from <= k; from++ {
			judged, held := r.boundary(stride, a, from, w.across && stride == 1)
			if !judged {
				continue
			}
			any = any || held
			w.count(r, func(s *nestedSums) {
				s.judged[level][a-shortestBurst]++
				if held {
					s.held[level][a-shortestBurst]++
				}
			})
		}
	}
	return any
}

// nesting is what the timing of chains says of layers.
type nesting struct {
	burst, outer int // attempts of a burst, and bursts of a burst; 0 where there is none
	boundaries   int64
	hold, chance float64 // share of them that hold, and the chance of so many in one layer
	perRun       float64 // attempts of a run on average, none counted beyond most
	most         int     // attempts of a run, as far as runs commonly go
}

const (
	// Limits of signatures-trial, layered-retries.
	fewestJudged = 6  // boundaries pooled
	leastHold    = .7 // of them, from which a length of bursts is worth telling

	// What none of the one-layer runs of TestLayersNull passes, nor of those of many
	// callers of one path.
	relaysPerRun  = .5 // more clients than that are callers of one thing, not ways of one request
	spoiledPerRun = .1 // nor may its failures overlap

	outerChance = .01 // of a second level, once the first is known: six boundaries that hold have less
)

// reading tells what the last minute or two say of an agent group, 0 being everybody.
func (w *watch) reading(group int) (n nesting) {
	n.chance = 1
	s := w.before[group]
	s.add(&w.now[group])
	if s.runs == 0 {
		return n
	}
	if w.across && (s.clients() > relaysPerRun*float64(s.runs) || float64(s.over) > spoiledPerRun*float64(s.runs)) {
		return n
	}
	n.burst, n.boundaries, n.hold, n.chance = s.best(0, fewestJudged)
	if n.burst > 0 {
		if outer, _, _, chance := s.best(n.burst-1, fewestJudged); chance < outerChance {
			n.outer = outer
		}
		n.most = s.most(n.burst)
		n.perRun = s.mean(n.most)
	}
	return n
}

const (
	endShare    = .3 // of the runs that got so far, go on where they commonly end (a choice that TestLayersAreTold bears out)
	fewestEnds  = 5  // that got so far: of fewer, one more or less is a fifth
	commonShare = .1 // of all runs, go as far as the longest that is told of: one long chain is no layer's habit
)

// most tells how many attempts a run makes at most: the first place, after whole
// bursts, where most runs end; those that go on may be two runs, one after the other.
// Where no such end is seen, it is as far as one in ten goes.
func (s *nestedSums) most(burst int) (most int) {
	for m := 2 * burst; m <= runGaps; m += burst {
		n := s.reached[m]
		if float64(n) < commonShare*float64(s.reached[2]) {
			break
		}
		if on := float64(s.reached[m+1]) / float64(max(n, 1)); n >= fewestEnds && on < endShare {
			return m
		}
	}
	for most = 2; most+1 < len(s.reached) && float64(s.reached[most+1]) >= commonShare*float64(s.reached[2]); {
		most++
	}
	return most
}

// best is the length of bursts for which chance explains the boundaries least.
func (s *nestedSums) best(level int, least int32) (burst int, boundaries int64, hold, chance float64) {
	chance = 1
	for i := range bursts {
		n, k := s.judged[level][i], s.held[level][i]
		if n < least || float64(k) < leastHold*float64(n) {
			continue
		}
		a := i + shortestBurst
		if c := chernoff(int64(k), int64(n), 1/float64(2*a-1)); c < chance {
			burst, boundaries, hold, chance = a, int64(n), float64(k)/float64(n), c
		}
	}
	return burst, boundaries, hold, chance
}

// chernoff bounds the chance of k or more of n where each has the chance p
// (Chernoff, Ann. Math. Statist. 23:493, 1952).
func chernoff(k, n int64, p float64) float64 {
	q := float64(k) / float64(n)
	if q <= p {
		return 1
	}
	d := q * math.Log(q/p)
	if q < 1 {
		d += (1 - q) * math.Log((1-q)/(1-p))
	}
	return math.Exp(-float64(n) * d)
}

// mean is how many attempts a run makes, those beyond most left out.
func (s *nestedSums) mean(most int) float64 {
	sum := int64(0)
	for m := 1; m <= most && m < len(s.reached); m++ {
		sum += int64(s.reached[m])
	}
	return float64(sum) / float64(max(s.reached[1], 1))
}
