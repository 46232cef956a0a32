package policy

import (
	"math"
	"time"
)

// Wait is one observed wait before a retry.
type Wait struct {
	Retry      int           // 1 for the first retry of its chain
	Wait       time.Duration // from the end of the refusal to the start of the retry
	Prev       time.Duration // the wait before, in the same chain; 0 where there is none, it is unknown or a hint set it
	Hint       time.Duration // the wait that the server named with the refusal
	HasHint    bool
	Resolution time.Duration // of the clock; 0 means exact
	Slack      time.Duration // how much longer than the client's own wait Wait may be, such as a service time it includes
}

// An Ending tells how a chain of attempts ended.
type Ending uint8

// Endings of chains.
const (
	Cut       Ending = iota // nobody knows: still open, or the recording ends
	Succeeded               // with an answer that is no refusal
	GaveUp                  // the last attempt was refused, and none followed for long enough
)

// tenth is how much less likely, as units, a wait below a millisecond is from a
// policy that grows or draws than from one that does not wait.
const tenth = 147 // perNat * ln 10

const tracked = 5 // retries whose waits are summed one by one

// Evidence is what the waits of a group of clients say about their retry policy.
// It holds no waits, only integers that are added: the same waits and chains
// leave the same Evidence, whatever the order, and however they were spread over
// several that were merged. The zero value is empty and ready.
type Evidence struct {
	squares  uint64            // of the logarithms of the first waits, in perOctave-ths
	costs    [maxModels]uint32 // by model; saturate at the top
	sums     [tracked]uint32   // of the logarithms, by retry
	counts   [tracked]uint32
	later    uint32 // waits before retries beyond tracked
	laterSum uint32

	longestWait uint16 // largest logarithm
	classes     uint16 // a bit for each class seen
	longest     uint16 // attempts of the longest chain
	atLongest   uint16 // how often a client gave up after so many
	gaveUp      uint16
	unscored    uint16 // too vague to score
	honoured    uint16 // came as the hint said
	ignored     uint16 // came before the hint ended
}

// Observe adds a wait. A wait that keeps to the server's hint is counted but says
// nothing about the client's own policy; nor does one that is longer.
func (e *Evidence) Observe(w Wait) {
	class, ok := classOf(w.Resolution, w.Slack)
	if !ok || w.Retry < 1 || w.Wait < 0 {
		bump(&e.unscored)
		return
	}
	if w.HasHint && w.Hint > 0 {
		if w.Wait >= w.Hint-tolerance(w) {
			bump(&e.honoured)
			return
		}
		bump(&e.ignored)
	}
	e.observe(catalogued(), class, w)
}

// tolerance is how much before the end of its hint a wait may be and still have
// kept to it: two readings of the clock, 50 ms or 2 %.
func tolerance(w Wait) time.Duration {
	return max(2*w.Resolution, 50*time.Millisecond, w.Hint/50)
}

func (e *Evidence) observe(s *scorer, class int, w Wait) {
	bin, retry := binOf(w.Wait), min(w.Retry, retries)
	t := s.table(class, retry)
	costs := t.costs[bin]
	rest := costs[t.width:][:general]
	before := 0
	if retry > 1 {
		before = binOf(w.Prev)
	}
	if before == 0 || bin == 0 { // nothing to compare
		for i := range rest {
			rest[i] = uint16(t.best[bin] - t.nothing[bin])
			if bin == 0 && i != sameWait && class < slacks {
				rest[i] += tenth
			}
		}
	} else {
		r := &s.ratiosOf(class).cells[octaveOf(bin)]
		ratio := int(logs[bin]) - int(logs[before])
		for i, ll := range r[cell(ratio)] {
			rest[i] = uint16(t.best[bin] - ll)
		}
		rest[linearWait] = uint16(t.best[bin] - r[cell(ratio-stepOf[retry])][linearWait])
	}
	for i, c := range costs {
		add(&e.costs[i], uint32(c))
	}
	e.note(class, w.Retry, logOf(bin, class))
}

func cell(ratio int) int {
	return min(max(ratio+reachOfRatios*perOctave, 0), 2*reachOfRatios*perOctave)
}

// note sums a wait's logarithm.
func (e *Evidence) note(class, retry int, y uint16) {
	e.classes |= 1 << class
	e.longestWait = max(e.longestWait, y)
	if retry > tracked {
		add(&e.later, 1)
		add(&e.laterSum, uint32(y))
		return
	}
	add(&e.counts[retry-1], 1)
	add(&e.sums[retry-1], uint32(y))
	e.squares += uint64(y) * uint64(y)
}

// End adds how a chain of so many attempts ended, the first included.
func (e *Evidence) End(attempts int, how Ending) {
	other := Evidence{longest: uint16(min(max(attempts, 0), math.MaxUint16))}
	if how == GaveUp {
		other.gaveUp, other.atLongest = 1, 1
	}
	e.chains(&other)
}

// chains merges what is known of the chains.
func (e *Evidence) chains(o *Evidence) {
	switch {
	case o.longest > e.longest:
		e.longest, e.atLongest = o.longest, o.atLongest
	case o.longest == e.longest:
		e.atLongest = sum16(e.atLongest, o.atLongest)
	}
	e.gaveUp = sum16(e.gaveUp, o.gaveUp)
}

// Merge adds the evidence of another group, or of another part of this one.
func (e *Evidence) Merge(o *Evidence) {
	e.squares += o.squares
	for i, c := range o.costs {
		add(&e.costs[i], c)
	}
	for i := range e.sums {
		add(&e.sums[i], o.sums[i])
		add(&e.counts[i], o.counts[i])
	}
	add(&e.later, o.later)
	add(&e.laterSum, o.laterSum)
	e.longestWait = max(e.longestWait, o.longestWait)
	e.classes |= o.classes
	e.unscored = sum16(e.unscored, o.unscored)
	e.honoured = sum16(e.honoured, o.honoured)
	e.ignored = sum16(e.ignored, o.ignored)
	e.chains(o)
}

// Waits is how many waits were scored.
func (e *Evidence) Waits() (n int) {
	for _, c := range e.counts {
		n += int(c)
	}
	return n + int(e.later)
}

func add(to *uint32, n uint32) {
	if s := *to + n; s >= n {
		*to = s
	} else {
		*to = math.MaxUint32
	}
}

func bump(to *uint16) { *to = sum16(*to, 1) }

func sum16(a, b uint16) uint16 { return uint16(min(uint32(a)+uint32(b), math.MaxUint16)) }
