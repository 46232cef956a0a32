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
// hint. b(n) is the ceiling of retry n: min(Cap, Base*Multiplier^(n-1)), or what
// Growth says instead.
const (
	None           = "none"                   // no retry
	Immediate      = "immediate"              // 0
	Fixed          = "fixed"                  // Base
	Linear         = "linear"                 // min(Cap, Base*n)
	Square         = "square"                 // min(Cap, Base*n^2)
	Exponential    = "exponential"            // b(n)
	ImmediateFirst = "immediate-then-backoff" // 0, then b(2), b(3) ...
	Schedule       = "schedule"               // Waits, the last one again and again
	FullJitter     = "full-jitter"            // U(0, b(n))
	EqualJitter    = "equal-jitter"           // b(n)/2 + U(0, b(n)/2)
	ScaledJitter   = "scaled-jitter"          // b(n) * U(Low, High)
	AdditiveJitter = "additive-jitter"        // b(n) + U(0, Add)
	Decorrelated   = "decorrelated"           // min(Cap, U(Base, 3 * the delay before))
	SmoothJitter   = "smooth-jitter"          // Polly's: g(n-1+U) less g of the retry before; see smooth
	HintExact      = "hint-exact"             // the hint
	HintFloor      = "hint-floor"             // the hint + U(0, b(n))
	HintScaled     = "hint-scaled"            // the hint * U(Low, High)
	HintMax        = "hint-max"               // the longer of the hint and what Own waits
)

// Growths of b(n) other than the geometric one.
const (
	GrowLinear    = "linear"    // Base*n
	GrowLessOne   = "less-one"  // Base*(Multiplier^n - 1), as Envoy and azcore do
	GrowQuadratic = "quadratic" // Base*(1 + (n-1)^2), as stripe-go does
	growSquare    = "square"    // that of the family Square
)

// What a hint policy does with a hint that is longer than Longest.
const (
	Clip    = "clip" // wait for Longest
	UseOwn  = "own"  // wait as without a hint
	GiveUp  = "stop" // do not retry
	NoLimit = time.Duration(math.MaxInt64 / 4)
)

// DefaultCap is the ceiling of a growing delay where the text names none: that of
// go-retryablehttp, gax and most others.
const DefaultCap = 30 * time.Second

// HintClamp is the longest hint that a hint policy obeys where its text does not
// say; a larger one is cut to it, so that a malformed or hostile header cannot
// park a client for ever.
const HintClamp = 5 * time.Minute

// MaxWaits is how many waits a schedule may have.
const MaxWaits = 8

// Retry describes the retry that a client is about to make.
type Retry struct {
	N       int           // 1 for the first retry
	Prev    time.Duration // delay before the previous retry; 0 before the first
	Total   time.Duration // sum of all delays before; only SmoothJitter looks at it
	Hint    time.Duration // the wait that the server named
	HasHint bool
}

// Policy is a retry policy with its parameters. The zero value never retries.
type Policy struct {
	Name       string        // as people call it; not part of the text form
	Family     string        // one of the constants; "" means None
	Base       time.Duration // delay of a fixed timer, ceiling of the first retry otherwise
	Cap        time.Duration // largest ceiling; 0 means DefaultCap, NoLimit none
	Multiplier float64       // growth from retry to retry; 0 means 2
	Growth     string        // "" geometric
	Low, High  float64       // factors between which ScaledJitter, HintScaled and HintMax draw; both 0: 1
	Add        time.Duration // most that AdditiveJitter adds
	Floor      time.Duration // shortest delay that ScaledJitter waits, whatever it drew
	Attempts   int           // most attempts at one request, the first included; 0 means no end but success

	Own     string        // the family by which a hint policy waits without a hint; "" means FullJitter
	Longest time.Duration // longest hint obeyed; 0 means HintClamp, NoLimit any
	Over    string        // what becomes of a longer one; "" means Clip
	Waits   [MaxWaits]time.Duration
}

// Delay draws the wait before retry r, counted from the moment the refusal
// reached the client. again is false where the policy gives up. The same
// generator state gives the same delay.
func (p *Policy) Delay(r Retry, rng *rand.Rand) (d time.Duration, again bool) {
	switch {
	case p.gaveUp(r.N):
		return 0, false
	case p.ReadsHint():
		return p.hinted(r, rng)
	}
	return p.wait(p.Family, r, rng)
}

// ReadsHint tells whether the policy looks at the wait that the server names.
func (p *Policy) ReadsHint() bool {
	switch p.Family {
	case HintExact, HintFloor, HintScaled, HintMax:
		return true
	}
	return false
}

// ownFamily is the family by which the policy waits where there is no hint.
func (p *Policy) ownFamily() string {
	switch {
	case !p.ReadsHint():
		return p.Family
	case p.Own == "":
		return FullJitter
	}
	return p.Own
}

// gaveUp tells whether retry n would be one attempt too many.
func (p *Policy) gaveUp(n int) bool { return p.Attempts > 0 && n >= p.Attempts }

// waitFamily is the family of what is waited where there is no hint: a factor
// drawn last makes a timer a jittered one.
func (p *Policy) waitFamily() string {
	switch own := p.ownFamily(); own {
	case Exponential, Fixed, Linear, Square:
		if p.scalesMax() && p.Low != p.High {
			return ScaledJitter
		}
		return own
	default:
		return own
	}
}

// wait draws the delay of a family that knows no hint.
func (p *Policy) wait(family string, r Retry, rng *rand.Rand) (d time.Duration, again bool) {
	switch family {
	case Immediate:
		return 0, true
	case Fixed:
		return max(p.Base, 0), true
	case Schedule:
		return p.scheduled(r.N), true
	case Decorrelated:
		return p.decorrelated(r.Prev, rng), true
	case SmoothJitter:
		return p.smooth(r, rng), true
	}
	b := max(p.ceiling(r.N), 0)
	switch family {
	case Linear, Square, Exponential:
		return b, true
	case ImmediateFirst:
		if r.N <= 1 {
			return 0, true
		}
		return b, true
	case FullJitter:
		return upTo(b, rng), true
	case EqualJitter:
		return b/2 + upTo(b/2, rng), true
	case ScaledJitter:
		return max(p.scaled(b, rng), p.Floor), true
	case AdditiveJitter:
		return b + upTo(p.Add, rng), true
	}
	return 0, false
}

// hinted waits for the hint, and by Own where there is none: a policy that knows
// no wait must not guess zero.
func (p *Policy) hinted(r Retry, rng *rand.Rand) (d time.Duration, again bool) {
	own := p.ownFamily()
	longest := p.Longest
	if longest == 0 {
		longest = HintClamp
	}
	h := max(r.Hint, 0)
	switch {
	case !r.HasHint, h > longest && p.Over == UseOwn:
		return p.unhinted(r, rng)
	case h > longest && p.Over == GiveUp:
		return 0, false
	}
	h = min(h, longest)
	switch p.Family {
	case HintFloor:
		return h + upTo(p.ceiling(r.N), rng), true
	case HintScaled:
		return p.scaled(h, rng), true
	case HintMax:
		d, again = p.wait(own, r, rng)
		if p.scalesMax() {
			return p.scaled(max(d, h), rng), again
		}
		return max(d, h), again
	}
	return h, true
}

// unhinted waits by Own.
func (p *Policy) unhinted(r Retry, rng *rand.Rand) (d time.Duration, again bool) {
	d, again = p.wait(p.ownFamily(), r, rng)
	if p.scalesMax() {
		d = p.scaled(d, rng)
	}
	return d, again
}

// scalesMax tells whether HintMax draws a factor last; own ScaledJitter has then
// drawn it already.
func (p *Policy) scalesMax() bool {
	return p.Family == HintMax && p.High > 0 && p.ownFamily() != ScaledJitter
}

// ceiling is b(n).
func (p *Policy) ceiling(n int) time.Duration {
	limit, grow := p.Cap, p.Multiplier
	if limit == 0 {
		limit = DefaultCap
	}
	if grow == 0 {
		grow = 2
	}
	growth := p.Growth
	switch p.ownFamily() {
	case Linear:
		growth = GrowLinear
	case Square:
		growth = growSquare
	}
	b, k := float64(p.Base), float64(n)
	switch growth {
	case GrowLinear:
		b *= k
	case GrowLessOne:
		b *= math.Pow(grow, k) - 1
	case growSquare:
		b *= k * k
	case GrowQuadratic:
		b *= 1 + (k-1)*(k-1)
	default:
		b *= math.Pow(grow, k-1)
	}
	if !(b < float64(limit)) { // also for NaN and infinity
		return limit
	}
	return time.Duration(b)
}

// scaled draws from d * U(Low, High).
func (p *Policy) scaled(d time.Duration, rng *rand.Rand) time.Duration {
	if p.Low == 0 && p.High == 0 {
		return d
	}
	s := float64(d) * (p.Low + (p.High-p.Low)*rng.Float64())
	if !(s < float64(NoLimit)) {
		return NoLimit
	}
	return max(time.Duration(s), 0)
}

// decorrelated has no n: each delay grows from the one before.
func (p *Policy) decorrelated(prev time.Duration, rng *rand.Rand) time.Duration {
	limit, low := p.Cap, max(p.Base, 0)
	if limit == 0 {
		limit = DefaultCap
	}
	high := 3 * min(max(prev, low), NoLimit/3)
	return max(min(limit, low+upTo(high-low, rng)), 0)
}

// smooth follows Polly.Core's DecorrelatedJitterBackoffV2 (Polly 8,
// src/Polly.Core/Retry/RetryHelper.cs): g(t) = 2^t * tanh(sqrt(4 t)) at a random
// moment t of [n-1, n), less g of the retry before, times Base/1.4. Those
// differences add up to g, so the sum of the delays before stands for it.
func (p *Policy) smooth(r Retry, rng *rand.Rand) time.Duration {
	limit := p.Cap
	if limit == 0 {
		limit = DefaultCap
	}
	t := float64(max(r.N, 1)-1) + rng.Float64()
	d := math.Exp2(t)*math.Tanh(math.Sqrt(4*t))*float64(p.Base)/1.4 - float64(r.Total)
	if !(d < float64(limit)) {
		return max(limit, 0)
	}
	return max(time.Duration(d), 0)
}

// scheduled is the nth of Waits; the last one serves all later retries.
func (p *Policy) scheduled(n int) (d time.Duration) {
	for i := 0; i < min(max(n, 1), MaxWaits) && p.Waits[i] > 0; i++ {
		d = p.Waits[i]
	}
	return d
}

// upTo draws uniformly from [0, d).
func upTo(d time.Duration, rng *rand.Rand) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(rng.Int64N(int64(d)))
}
