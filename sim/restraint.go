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

// heeder keeps to the limit of which answers tell: it counts down what is left,
// what is under way included, and waits for the reset.
type heeder struct {
	limit, left int
	sent        int   // and not answered yet
	reset       int64 // when more is left
}

// wait returns how long a request must wait.
func (h *heeder) wait(at int64) time.Duration {
	switch {
	case h == nil || h.limit == 0: // nothing is known yet
		return 0
	case at >= h.reset && h.left <= 0:
		h.left, h.reset = h.limit, at+int64(time.Second) // a guess, until an answer tells
	case h.left <= 0:
		return time.Duration(h.reset - at)
	}
	h.left--
	h.sent++
	return 0
}

// learn takes what an answer tells.
func (h *heeder) learn(at int64, o *outcome) {
	if h == nil || o.local {
		return
	}
	if h.sent = max(h.sent-1, 0); !o.told {
		return
	}
	left, reset := o.quota.left-h.sent, at+int64(o.quota.reset)
	if h.limit > 0 && reset < h.reset+int64(sameReset) { // answers may overtake each other
		left = min(left, h.left)
	}
	h.limit, h.left, h.reset = o.quota.limit, left, reset
}

// sameReset is how much later an answer may name the same reset, for the time that
// it took.
const sameReset = 100 * time.Millisecond
