package detect

import (
	"math"

	"stormwatch/capture"
)

// HintUse is what a client makes of the waits that servers name.
type HintUse uint8

// Uses of a hint, as far as the gaps show them.
const (
	HintUnseen     HintUse = iota // no retry followed a hint that obliges
	HintCompatible                // no retry came early, yet the client's own waits may be as long
	HintExact                     // it waits for as long as it is told
	HintJittered                  // for that and a random time more
	HintMax                       // for that or its own wait, whichever is longer
	HintClipped                   // for that, up to a most of its own
	HintIgnored                   // it comes before the wait is over
)

func (u HintUse) String() string {
	return [...]string{"", "compatible", "honoured exactly", "floor and jitter", "longer of hint and own", "clipped", "ignored"}[u]
}

// Obedience is what the retries after a hint say of a client, or of many.
type Obedience struct {
	Use   HintUse
	Share float64 // of the retries that fit Use
	N     int64   // retries that followed a hint
	Early Number  // seconds by which the early ones were early, on average
	Idle  Number  // seconds by which the others came after the wait was over, on average
	Clip  Number  // seconds: the longest wait that is kept to, where Use is HintClipped
}

// obeys sums up how the retries of a client keep to the waits that servers name.
// Times are whole milliseconds and saturate; a least value holds 1 more, so that 0
// is none.
type obeys struct {
	exact, near, later, early uint16
	nearLow, nearHigh         uint16 // how much after the wait the exact and the near ones came
	laterLow, laterHigh       uint32 // likewise the later ones
	brokenLow, brokenHigh     uint32 // the gaps of the early ones
	keptHint                  uint32 // the longest hint that was kept to
	brokenHint                uint32 // the shortest that was not
	leastHint                 uint32 // the shortest of all
	own                       uint32 // the shortest wait where none was named
	lastNear, firstLater      uint8  // attempts
	earlyMs, idleMs           uint32 // sums
}

const (
	exactly   = 100 // ms after the wait that timers and the network take: both ways to a far continent and a busy runtime,
	exactlyOf = 3   // or hundredths of it: below the twentieth from which spread counts as jitter (lockstep)
	nearby    = 300 // ms after the wait that a long way takes: what is later was waited on purpose. Jitter is told from
	nearbyOf  = 8   // distance by how much these differ: TestHintUseOfPolicies measures how often either is taken for the other
)

// obey takes in the gap before a retry.
func (o *obeys) obey(f *flight, resolution int64) {
	l := &f.link
	gap := millis(l.Gap)
	if !f.hinted() {
		if l.ParentHint.State == capture.Absent {
			lowest(&o.own, gap)
		}
		return
	}
	wait, slack := l.ParentHint.Wait, millis(2*resolution)
	hint := millis(wait)
	lowest(&o.leastHint, hint)
	if tooEarly(wait, l.Gap, resolution) {
		count16(&o.early)
		lowest(&o.brokenLow, gap)
		o.brokenHigh = max(o.brokenHigh, gap)
		lowest(&o.brokenHint, hint)
		sum32(&o.earlyMs, hint-min(hint, gap))
		return
	}
	o.keptHint = max(o.keptHint, hint)
	after := gap - min(hint, gap)
	sum32(&o.idleMs, after)
	attempt := uint8(min(l.Attempt, math.MaxUint8))
	if after > max(slack, nearby, hint*nearbyOf/100) {
		count16(&o.later)
		lowest(&o.laterLow, after)
		o.laterHigh = max(o.laterHigh, after)
		if o.firstLater == 0 || attempt < o.firstLater {
			o.firstLater = attempt
		}
		return
	}
	if after <= max(slack, exactly, hint*exactlyOf/100) {
		count16(&o.exact)
	} else {
		count16(&o.near)
	}
	short := uint16(min(after, math.MaxUint16-1)) + 1
	if o.nearLow == 0 || short < o.nearLow {
		o.nearLow = short
	}
	o.nearHigh = max(o.nearHigh, short)
	o.lastNear = max(o.lastNear, attempt)
}

// merge adds what another client did.
func (o *obeys) merge(p *obeys) {
	for _, c := range [...]struct {
		to *uint16
		n  uint16
	}{{&o.exact, p.exact}, {&o.near, p.near}, {&o.later, p.later}, {&o.early, p.early}} {
		*c.to = uint16(min(uint32(*c.to)+uint32(c.n), math.MaxUint16))
	}
	for _, c := range [...]struct {
		to *uint32
		n  uint32
	}{{&o.laterLow, p.laterLow}, {&o.brokenLow, p.brokenLow}, {&o.brokenHint, p.brokenHint}, {&o.leastHint, p.leastHint}, {&o.own, p.own}} {
		if c.n != 0 {
			lowest(c.to, c.n-1)
		}
	}
	if p.nearLow != 0 && (o.nearLow == 0 || p.nearLow < o.nearLow) {
		o.nearLow = p.nearLow
	}
	if p.firstLater != 0 && (o.firstLater == 0 || p.firstLater < o.firstLater) {
		o.firstLater = p.firstLater
	}
	o.nearHigh, o.lastNear = max(o.nearHigh, p.nearHigh), max(o.lastNear, p.lastNear)
	o.laterHigh, o.brokenHigh, o.keptHint = max(o.laterHigh, p.laterHigh), max(o.brokenHigh, p.brokenHigh), max(o.keptHint, p.keptHint)
	sum32(&o.earlyMs, p.earlyMs)
	sum32(&o.idleMs, p.idleMs)
}

// retries is how many followed a hint.
func (o *obeys) retries() int64 {
	return int64(o.exact) + int64(o.near) + int64(o.later) + int64(o.early)
}

const (
	brokenOf   = .2 // share of early retries from which a client does not keep to hints: fewer are strays, as of a timer set before
	mostExact  = .8 // of the retries that kept to a hint, from which they are exact: the rest are strays likewise
	fewJitters = 3  // retries before a spread is one: two random ones lie within a third of it more than half of the time
	fewSorted  = 2  // on either side, before own waits are seen to take over: four in order come of chance in one of six
)

// reading says what it comes to.
func (o *obeys) reading() (r Obedience) {
	r.N = o.retries()
	if r.N == 0 {
		return r
	}
	n, kept := float64(r.N), float64(r.N-int64(o.early))
	if o.early > 0 {
		r.Early = Some(float64(o.earlyMs) / 1e3 / float64(o.early))
	}
	if kept > 0 {
		r.Idle = Some(float64(o.idleMs) / 1e3 / kept)
	}
	switch early := float64(o.early); {
	case o.clips():
		r.Use, r.Share, r.Clip = HintClipped, 1, Some(float64(o.brokenLow-1)/1e3)
	case early >= brokenOf*n, early > 0 && float64(o.exact) < kept/2:
		r.Use, r.Share = HintIgnored, early/n
	default:
		r.Use, r.Share = o.kept(), kept/n
	}
	return r
}

// clips tells whether the waits that are not kept to are all longer than those
// that are, and are cut to the same length.
func (o *obeys) clips() bool {
	if o.early < 2 || o.exact+o.near == 0 || o.brokenHint == 0 {
		return false
	}
	least, most := o.brokenLow-1, o.brokenHigh
	return most-least <= max(exactly, least/20) && o.brokenHint-1 > most && o.keptHint <= most+exactly
}

// kept says how hints are kept to, where they are.
func (o *obeys) kept() HintUse {
	close := float64(o.exact) + float64(o.near)
	kept := close + float64(o.later)
	low, high := uint32(o.nearLow), uint32(o.nearHigh)
	if o.later > 0 {
		low, high = min(max(low, 1), o.laterLow), max(high, o.laterHigh+1)
	}
	hint := o.leastHint - 1
	tight := uint32(o.nearHigh-o.nearLow) <= max(exactly, hint*exactlyOf/100)
	switch {
	case o.later >= fewSorted && close >= fewSorted && o.lastNear < o.firstLater && tight: // jitter that grows leaves the near ones spread
		return HintMax
	case float64(o.exact) >= mostExact*kept, tight && close >= mostExact*kept:
		return HintExact
	case kept < fewJitters:
		return HintCompatible
	case o.own != 0 && o.own-1 < hint: // left alone, it does not wait so long
		return HintJittered
	case close > 0 && high-low > max(exactly, hint*exactlyOf/100): // spread, from the end of the wait on
		return HintJittered
	}
	return HintCompatible
}

func millis(ns int64) uint32 { return uint32(min(max(ns/1e6, 0), math.MaxUint32-1)) }

// lowest keeps the lower of a least value and another.
func lowest(to *uint32, v uint32) {
	if *to == 0 || v+1 < *to {
		*to = v + 1
	}
}

func count16(to *uint16) {
	if *to < math.MaxUint16 {
		*to++
	}
}

func sum32(to *uint32, n uint32) { *to = uint32(min(uint64(*to)+uint64(n), math.MaxUint32)) }
