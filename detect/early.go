package detect

import (
	"fmt"

	"stormwatch/detect/sustain"
)

// Early warning (detection.md 7.2): nothing fails yet, and few retry, but the load comes
// near what the service can bear. It is told only where that is known: by the operator,
// or because the service was seen to be full before. What was served at most is a lower
// bound of what can be: any steady service is near its own maximum. So against that,
// demand must have grown, within minutes: what is calm follows demand within half a
// minute, so that a rise is held against the calm before it. Demand that creeps up over
// many minutes is calm itself, and is told of only where the operator says what can be
// served.

const (
	nearCapacity = .9         // of what can be served
	nearTipping  = .8         // of the load from which less is served than comes in: within a fifth
	nearGrown    = 1.2        // times the demand in calm
	nearFewest   = 2.         // requests per second; below, chance fills a tenth of the rest
	fewFailing   = .02        // share of first attempts
	fewRetries   = .1         // share of attempts: the budget of Google's SRE book, ch. 21
	nearFor      = 8 * tick   // before it is told: with 5, three fourths of the capacity were told of in 2 of 40 runs
	grownFor     = 300 * tick // for how long a rise counts as one; then it is calm itself
)

// brink is what the load comes near to.
type brink uint8

const (
	nothingNear brink = iota
	capacityNear
	tippingNear
)

// nears tells what the present second's load comes near to.
func (j *judge) nears(e *engine) brink {
	r := &j.loop
	grown := j.state.rise.follow(r, e.now)
	switch {
	case r.Seconds < int(nearFor/tick), r.FreshMedian10 < nearFewest, r.FailingShare > fewFailing, r.RetryShare > fewRetries:
	case r.TippingKnown && grown && r.AttemptsPerS >= nearTipping*r.Tipping:
		return tippingNear
	case r.HeadroomKnown && (grown || e.opt.Capacity > 0) && r.FreshMedian10 >= nearCapacity*r.Capacity:
		return capacityNear
	}
	return nothingNear
}

// rise is demand that has grown.
type rise struct {
	base float64 // the calm before it, requests per second
	from int64   // since when; 0 there is none
}

// follow tells whether demand is still what it has grown to.
func (g *rise) follow(r *sustain.Reading, now int64) bool {
	if g.from != 0 && (now-g.from > grownFor || r.FreshMedian10 < nearGrown*g.base) {
		*g = rise{}
	}
	if g.from == 0 && r.Baseline && r.FreshMedian10 >= nearGrown*r.Base {
		*g = rise{r.Base, now}
	}
	return g.from != 0
}

// followNear keeps for how long the load has come near something.
func (j *judge) followNear(e *engine) {
	s := &j.state
	if s.near = j.nears(e); s.near == nothingNear {
		s.nearFrom = 0
	} else if s.nearFrom == 0 {
		s.nearFrom = e.now
	}
}

// forewarned tells whether it has for long enough.
func (s *verdictState) forewarned(now int64) bool {
	return s.nearFrom != 0 && now-s.nearFrom >= nearFor
}

// forewarn puts an early warning into words.
func (n brink) forewarn(r *sustain.Reading, v *Verdict) {
	if n == tippingNear {
		v.What = fmt.Sprintf("nothing fails yet, but %.1f attempts per second come near the tipping load of %.1f/s: beyond it less is served than is newly asked for", r.AttemptsPerS, r.Tipping)
	} else {
		v.What = fmt.Sprintf("nothing fails yet, but headroom is down to %.1f/s: %.1f/s are newly asked for, %.1f/s can be served", max(r.Capacity-r.FreshMedian10, 0), r.FreshMedian10, r.Capacity)
	}
	v.Do = "Before refusals begin: postpone what can wait, add capacity, and see that clients keep a retry budget and spread their waits."
	v.Dont = "Do not wait for the first refusals: from then on retries add to the load."
}
