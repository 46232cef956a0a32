package sim

import (
	"math/rand/v2"
	"time"
)

// adaptive is the client-side throttling of Google SRE, "Handling Overload": a
// process rejects its own request with probability
//
//	max(0, (requests - K * accepts) / (requests + 1))
//
// over the last two minutes; requests counts those that it rejected itself.
type adaptive struct {
	k                 float64
	requests, accepts *window
}

func newAdaptive(k float64) *adaptive {
	if k == 0 {
		return nil
	}
	return &adaptive{k: k, requests: newWindow(2 * time.Minute), accepts: newWindow(2 * time.Minute)}
}

// rejects tells whether a request is not to be sent.
func (a *adaptive) rejects(at int64, rng *rand.Rand) bool {
	if a == nil {
		return false
	}
	requests, accepts := a.requests.sum(at), a.accepts.sum(at)
	a.requests.add(at, 1)
	return rng.Float64() < (requests-a.k*accepts)/(requests+1)
}

// learn takes the outcome of a request that was sent.
func (a *adaptive) learn(at int64, accepted bool) {
	if a != nil && accepted {
		a.accepts.add(at, 1)
	}
}

// pacer is a Pace as one process keeps it.
type pacer struct {
	spec   *Pace
	tokens float64
	last   int64
}

func newPacer(spec *Pace) *pacer {
	if spec == nil {
		return nil
	}
	return &pacer{spec: spec, tokens: float64(spec.Burst)}
}

// wait takes a token and returns how long the request must wait for it, the
// tokens of those who wait already counted.
func (p *pacer) wait(at int64) time.Duration {
	if p == nil {
		return 0
	}
	p.tokens = min(p.tokens+float64(at-p.last)/1e9*p.spec.Rate, float64(p.spec.Burst))
	p.last = at
	p.tokens--
	if p.tokens >= 0 {
		return 0
	}
	return time.Duration(-p.tokens / p.spec.Rate * 1e9)
}
