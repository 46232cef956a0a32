package chain

import (
	"math"

	"stormwatch/capture"
)

func (m *Matcher) open(j int) *open { return &m.failures.all[m.candidates[j].open] }

// Limits of detection.md 5.2 and 5.3.
const (
	sure        = .9
	likely      = .6
	denseAtMost = .8 // confidence where several fresh requests are expected within one wait
)

// weigh decides by rates: a retry if those of all failures together exceed that
// of fresh requests; then of the failure whose rate is highest.
func (m *Matcher) weigh(r *Request, w *who, d *decision) { m.weighAll(r, w, d, false) }

// weighAll is weigh; blind to what requests declare, if so wanted.
func (m *Matcher) weighAll(r *Request, w *who, d *decision, blind bool) {
	d.pick, d.confidence, d.level, d.fresh = -1, 1, E2, 1
	if len(m.candidates) == 0 {
		return
	}
	fresh, control := m.freshRate(r, w), m.control(r, w)
	sum, best := 0., 0.
	for j := range m.candidates {
		c := &m.candidates[j]
		if o := m.open(j); blind && (c.proof || o.body != r.Body) || !blind && (o.idem != 0 || m.otherOperation(r, o) || r.Counter == capture.NoCounter && o.counter != capture.NoCounter) {
			continue
		}
		m.hazard(r, j)
		c.rate *= math.Max(0, 1-control/c.density)
		if o := m.open(j); o.lingers && refusedForNow(o.reason) && m.own(o).keepsPace() {
			c.rate = math.Max(c.rate, pacedOdds*fresh)
		}
		if c.rate > best {
			best, d.pick = c.rate, j
		}
		sum += c.rate
	}
	all := sum + fresh
	d.retry, d.fresh, d.confidence = sum/all, fresh/all, fresh/all
	if sum <= fresh {
		d.pick = -1
	} else {
		d.confidence = best / all
		o := m.open(d.pick)
		if fresh*float64(m.model.waits.of(o.class, o.attempt).quantile[1]) > 1 {
			d.confidence = min(d.confidence, denseAtMost)
		}
	}
	d.level = levelOf(d.confidence)
}

// pacedOdds are those of a retry against a fresh request where a client that was
// refused comes back after as many minutes as the time before.
const pacedOdds = 4

// refusedForNow tells of reasons to come back later.
func refusedForNow(r capture.Reason) bool {
	return r == capture.Throttle || r == capture.Overload || r == capture.Quota || r == capture.BodyRefusal
}

func levelOf(confidence float64) uint8 {
	switch {
	case confidence >= sure:
		return E2
	case confidence >= likely:
		return E1
	}
	return E0
}

// evenly is the part of the weight that all experts share evenly: without it the
// next step of a doubling timer has a hazard of 0 (chains-trial.md point 5). It shrinks
// to leastEvenly as retries are seen.
const (
	evenly      = .1
	leastEvenly = .003
	evenFor     = 50 // retries
)

// hazard is the rate at which the retry of a candidate is expected now, given
// that it has not come yet.
func (m *Matcher) hazard(r *Request, j int) float64 {
	c := &m.candidates[j]
	o := &m.failures.all[c.open]
	own := m.own(o)
	q := own.share(m.model.quits.of(o.class, o.attempt))
	wait := math.Max(float64(r.Start-o.end)/1e9+m.dither, 1e-4)
	c.wait = placeOf(wait)

	var density, below [experts]float64
	c.heard = [experts]bool{expertPrior: true, expertCoarse: true, expertFine: true, expertCatalogue: true}
	density[expertCatalogue], below[expertCatalogue] = m.model.known.at(o.class, o.attempt, c.wait)
	density[expertPrior], below[expertPrior] = m.model.waits.kernels[0].sharp(c.wait)
	density[expertCoarse], below[expertCoarse], density[expertFine], below[expertFine] = m.model.waits.of(o.class, o.attempt).at(c.wait)
	if o.class == classHinted {
		c.heard[expertBeyondCoarse], c.heard[expertBeyondFine] = true, true
		if past := wait - float64(o.hint.Wait)/1e9; past >= -.01 {
			c.beyond = placeOf(past)
			density[expertBeyondCoarse], below[expertBeyondCoarse], density[expertBeyondFine], below[expertBeyondFine] = m.model.beyond.of(o.class, o.attempt).at(c.beyond)
		} else {
			c.beyond.bin = -1
		}
	}
	if kind, before := ratioBase(o, own); before > 0 {
		c.heard[expertRatio] = true
		c.ratio = ratioOf(wait, before)
		density[expertRatio], below[expertRatio] = m.model.ratios[kind].at(c.ratio)
	}
	mixed, passed := m.mix(c, o, &density, &below)
	c.density = q * mixed
	c.rate = c.density / math.Max(.03, 1-q*passed)
	if c.cross {
		c.rate *= m.keys.at(c.list).crossShare()
	}
	return c.rate
}

// ratioBase is the earlier wait that the one after a failure is compared with.
func ratioBase(o *open, own *key) (kind int, before float64) {
	if o.attempt > 1 {
		return overBefore, float64(o.before)
	}
	return overFirst, float64(own.firstWait)
}

// mix weighs the experts' densities and shares out the credit for the mixture.
func (m *Matcher) mix(c *candidate, o *open, density, below *[experts]float64) (mixed, passed float64) {
	weight := &m.model.blend.weight[o.class][late(o.attempt)]
	even := m.model.blend.even[o.class][late(o.attempt)]
	sum, n := 0., 0.
	for e, heard := range c.heard {
		if heard {
			sum += weight[e]
			n++
		}
	}
	for e, heard := range c.heard {
		c.credit[e] = 0
		if heard {
			w := (1-even)*weight[e]/sum + even/n
			c.credit[e] = w * density[e]
			mixed += c.credit[e]
			passed += w * below[e]
		}
	}
	if mixed > 0 {
		for e := range c.credit {
			c.credit[e] /= mixed
		}
	}
	return mixed, passed
}

func late(attempt int32) int {
	if attempt > 1 {
		return 1
	}
	return 0
}
