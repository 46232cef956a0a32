// Package policy is the catalogue of retry policies: what a client waits before
// it sends a refused request again. A policy can be sampled with a seeded
// generator, and read from and written to one line of text.
package policy

import (
	"math"
	"math/rand/v2"
	"time"
)

// Families of policies. The formulas are those of Brooker, "Exponential Backoff
// And Jitter" (AWS Architecture Blog, 2015), and RFC 9110 section 10.2.3 for the
// hint. b(n) is the ceiling of retry n: min(Cap, Base*Multiplier^(n-1)).
const (
	None        = "none"         // no retry
	Immediate   = "immediate"    // 0
	Fixed       = "fixed"        // Base
	Exponential = "exponential"  // b(n)
	FullJitter  = "full-jitter"  // U(0, b(n))
	EqualJitter = "equal-jitter" // b(n)/2 + U(0, b(n)/2)
	HintExact   = "hint-exact"   // the hint; without one as full jitter
	HintFloor   = "hint-floor"   // the hint + U(0, b(n)); without one as full jitter
)

// DefaultCap is the ceiling of a growing delay where the text names none: that of
// go-retryablehttp, gax and most others.
const DefaultCap = 30 * time.Second

// HintClamp is the longest hint that a hint policy obeys; a larger one is cut to
// it, so that a malformed or hostile header cannot park a client for ever.
const HintClamp = 5 * time.Minute

// Retry describes the retry that a client is about to make.
type Retry struct {
	N       int           // 1 for the first retry
	Prev    time.Duration // delay before the previous retry; 0 before the first
	Hint    time.Duration // the wait that the server named
	HasHint bool
}

// Policy is a retry policy with its parameters. The zero value never retries.
type Policy struct {
	Name       string        // as people call it; not part of the text form
	Family     string        // one of the constants; "" means None
	Base       time.Duration // delay of a fixed timer, ceiling of the first retry otherwise
	Cap        time.Duration // largest ceiling; 0 means DefaultCap
	Multiplier float64       // growth from retry to retry; 0 means 2
	Attempts   int           // most attempts at one request, the first included; 0 means no end but success
}

// Delay draws the wait before retry r, counted from the moment the refusal
// reached the client. again is false where the policy gives up. The same
// generator state gives the same delay.
func (p Policy) Delay(r Retry, rng *rand.Rand) (d time.Duration, again bool) {
	if p.gaveUp(r.N) {
		return 0, false
	}
	switch p.Family {
	case Immediate:
		return 0, true
	case Fixed:
		return max(p.Base, 0), true
	case Exponential:
		return max(p.ceiling(r.N), 0), true
	case FullJitter:
		return upTo(p.ceiling(r.N), rng), true
	case EqualJitter:
		half := max(p.ceiling(r.N), 0) / 2
		return half + upTo(half, rng), true
	case HintExact:
		return p.hinted(r, 0, rng), true
	case HintFloor:
		return p.hinted(r, p.ceiling(r.N), rng), true
	}
	return 0, false
}

// gaveUp tells whether retry n would be one attempt too many.
func (p Policy) gaveUp(n int) bool { return p.Attempts > 0 && n >= p.Attempts }

// hinted waits for the hint and up to spread beyond it; without a hint it backs
// off with full jitter, since a policy that knows no wait must not guess zero.
func (p Policy) hinted(r Retry, spread time.Duration, rng *rand.Rand) time.Duration {
	if !r.HasHint {
		return upTo(p.ceiling(r.N), rng)
	}
	return min(max(r.Hint, 0), HintClamp) + upTo(spread, rng)
}

// ceiling is b(n).
func (p Policy) ceiling(n int) time.Duration {
	limit, grow := p.Cap, p.Multiplier
	if limit == 0 {
		limit = DefaultCap
	}
	if grow == 0 {
		grow = 2
	}
	b := float64(p.Base) * math.Pow(grow, float64(n-1))
	if !(b < float64(limit)) { // also for NaN and infinity
		return limit
	}
	return time.Duration(b)
}

// upTo draws uniformly from [0, d).
func upTo(d time.Duration, rng *rand.Rand) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(rng.Int64N(int64(d)))
}
