package policy

import (
	"math/rand/v2"
	"slices"
	"time"
)

// A span is a part of a delay's distribution: uniform from low to high (a point
// where they meet), with the weight of the part.
type span struct {
	low, high time.Duration
	weight    float64
}

// spans tells how the delay before retry n is distributed where there is no hint,
// as Delay draws it; nil where the policy does not retry. The families whose
// delay hangs on the one before are given as they are on average over chains.
func (p *Policy) spans(n int) []span {
	all := p.ownSpans(n)
	if p.scalesMax() { // exact where Own has no jitter
		for i, s := range all {
			all[i].low, all[i].high = factorOf(s.low, p.Low), factorOf(s.high, p.High)
		}
	}
	return all
}

func (p *Policy) ownSpans(n int) []span {
	if p.Waits[0] > 0 && p.Family == Schedule {
		d := p.scheduled(n)
		return []span{{d, d, 1}}
	}
	b := max(p.ceiling(n), 0)
	switch p.ownFamily() {
	case Immediate:
		return []span{{0, 0, 1}}
	case Fixed:
		return []span{{p.Base, p.Base, 1}}
	case Linear, Square, Exponential:
		return []span{{b, b, 1}}
	case ImmediateFirst:
		if n <= 1 {
			b = 0
		}
		return []span{{b, b, 1}}
	case FullJitter:
		return []span{{0, b, 1}}
	case EqualJitter:
		return []span{{b / 2, b, 1}}
	case AdditiveJitter:
		return []span{{b, b + p.Add, 1}}
	case ScaledJitter:
		return p.floored(span{factorOf(b, p.Low), factorOf(b, p.High), 1})
	case Decorrelated, SmoothJitter:
		return p.drawn(n)
	}
	return nil
}

func factorOf(d time.Duration, f float64) time.Duration {
	if s := float64(d) * f; s < float64(NoLimit) {
		return time.Duration(s)
	}
	return NoLimit
}

// floored piles what a span holds below Floor up at Floor.
func (p *Policy) floored(s span) []span {
	switch {
	case s.low >= p.Floor:
		return []span{s}
	case s.high <= p.Floor:
		return []span{{p.Floor, p.Floor, 1}}
	}
	below := float64(p.Floor-s.low) / float64(s.high-s.low)
	return []span{{p.Floor, p.Floor, below}, {p.Floor, s.high, 1 - below}}
}

// parts is into how many spans of equal weight what is drawn is split.
const parts = 1 << 5

// drawn splits what Delay draws in many chains into spans of equal weight.
func (p *Policy) drawn(n int) []span {
	q := p.quantiles(n)
	s := make([]span, parts)
	for i := range s {
		s[i] = span{q[i], q[i+1], 1. / parts}
	}
	return s
}

// quantiles are the delays before retry n below which so many parts of all lie.
// Those of the catalogue's policies are kept: drawing them takes longer than all
// else that is needed to score a wait.
func (p *Policy) quantiles(n int) *[parts + 1]time.Duration {
	for i := range drawings {
		k := &drawings[i]
		if n <= retries && k.family == p.ownFamily() && k.base == p.Base && k.limit == p.Cap {
			return &k.quantiles[n-1]
		}
	}
	return p.draw(n)
}

// drawing is what draw gives for one policy.
type drawing struct {
	family      string
	base, limit time.Duration
	quantiles   [retries][parts + 1]time.Duration // by retry
}

func (p *Policy) draw(n int) *[parts + 1]time.Duration {
	const chains = 1 << 14
	own := *p
	own.Family, own.Attempts = p.ownFamily(), 0
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	delays := make([]time.Duration, chains)
	for i := range delays {
		var r Retry
		for r.N = 1; r.N <= n; r.N++ {
			d, _ := own.Delay(r, rng)
			delays[i], r.Prev, r.Total = d, d, r.Total+d
		}
	}
	slices.Sort(delays)
	q := &[parts + 1]time.Duration{}
	for i := range q {
		q[i] = delays[min(i*chains/parts, chains-1)]
	}
	return q
}
