package chain

import (
	"math"
	"reflect"
)

// tellsApart returns for which requests of a plan's traffic an ideal observer is right:
// one who knows the clients' policies to the millisecond, how often they ask anew, which
// of them poll, and the attempt of every failure before. Where that one errs, nothing in
// the traffic tells the pair apart.
func tellsApart(p *plan, asks []ask) []bool {
	type identity struct{ op, addr, cred uint64 }
	at := make(map[int]int, len(asks))
	for i := range asks {
		at[asks[i].id] = i
	}
	child := map[int]int{}
	for i := range asks {
		if asks[i].attempt > 1 {
			child[at[asks[i].parent]] = i
		}
	}
	polls := pollersOf(p, asks)
	open, latest := map[identity][]int{}, map[identity]float64{}
	right := make([]bool, len(asks))
	for i := range asks {
		a := &asks[i]
		k := identity{a.op, a.addr, a.cred}
		truth := -1
		if a.attempt > 1 {
			truth = at[a.parent]
		}
		best, pick, sum, kept := 0., -1, 0., open[k][:0]
		for _, j := range open[k] {
			f := &asks[j]
			c, retried := child[j]
			if retried && c < i || a.start-f.end > 60 {
				continue
			}
			kept = append(kept, j)
			if f.end >= a.start {
				continue
			}
			rate := p.hazard(f, a.start-f.end, polls)
			if rate > best {
				best, pick = rate, j
			}
			sum += rate
		}
		open[k] = kept
		if fresh := p.freshHazard(a, polls, latest[k]); sum <= fresh {
			pick = -1
		}
		right[i] = pick == truth || pick >= 0 && truth >= 0 && twins(&asks[pick], &asks[truth])
		if a.attempt == 1 {
			latest[k] = a.start
		}
		if a.status >= 400 {
			open[k] = append(open[k], i)
		}
	}
	return right
}

// twins tells whether two failures cannot be told apart as parents: the same request
// by the same client, at the same attempt, answered within the same tenth of a second.
func twins(a, b *ask) bool {
	return a.op == b.op && a.addr == b.addr && a.cred == b.cred && a.attempt == b.attempt && math.Abs(a.end-b.end) <= .1
}

// pollersOf finds the clients that poll, by their addresses.
func pollersOf(p *plan, asks []ask) map[uint64]bool {
	polls := map[uint64]bool{}
	if p.nat || p.pollers == 0 {
		return polls
	}
	for i := range asks {
		polls[asks[i].addr] = true
	}
	for i := range asks {
		if asks[i].attempt > 1 || asks[i].op != 100 {
			delete(polls, asks[i].addr)
		}
	}
	return polls
}

// hazard is that of the retry of a failure after a wait, by the policy itself.
func (p *plan) hazard(f *ask, wait float64, polls map[uint64]bool) float64 {
	if int(f.attempt) >= p.attemptsOf() || polls[f.addr] {
		return 0
	}
	q := 1.
	if p.nat && f.op == 100 && f.attempt == 1 { // half of these are polls
		q = 1 - min(.9, p.pollers*5/(p.pollers*5+1))
	}
	low, high := p.spanOf(int(f.attempt))
	const tau = .01
	fall := func(x float64) float64 { // 1 - exp(-x/tau), integrated
		if x <= 0 {
			return 0
		}
		return x + tau*math.Expm1(-x/tau)
	}
	rise := func(x float64) float64 {
		if x <= 0 {
			return 0
		}
		return -math.Expm1(-x / tau)
	}
	if high-low < 1e-9 {
		density, below := 0., rise(wait-low)
		if wait >= low {
			density = math.Exp(-(wait-low)/tau) / tau
		}
		return q * density / max(1e-3, 1-q*below)
	}
	density := (rise(wait-low) - rise(wait-high)) / (high - low)
	below := (fall(wait-low) - fall(wait-high)) / (high - low)
	return q * density / max(1e-3, 1-q*below)
}

func (p *plan) attemptsOf() int {
	if p.attempts == 0 {
		return 4
	}
	return p.attempts
}

// spanOf is the range in which the plan's policy waits before retry k.
func (p *plan) spanOf(k int) (low, high float64) {
	is := func(w func(*traffic, int, float64) float64) bool {
		return reflect.ValueOf(p.wait).Pointer() == reflect.ValueOf(w).Pointer()
	}
	b := math.Exp2(float64(k - 1))
	switch {
	case is(fixedTimer):
		return 1, 1
	case is(doubling):
		return b, b
	case is(quarterJitter):
		return .75 * min(8, .5*b), min(8, .5*b)
	case is(fullJitter):
		return 0, min(20, b)
	}
	panic("the policy of this plan is not known")
}

// freshHazard is the rate at which a new request of this key is sent.
func (p *plan) freshHazard(a *ask, polls map[uint64]bool, latest float64) float64 {
	if polls[a.addr] {
		return 1
	}
	askers := 1.
	if p.nat {
		askers = float64(p.clients)
	}
	rate := askers * (1 - p.pollers) * p.perSecond / float64(p.urls)
	if !p.nat {
		rate = p.perSecond / float64(p.urls)
	}
	if p.nat && a.op == 100 {
		rate += askers * p.pollers / 5
	}
	if p.parallel > 1 && a.start == latest {
		return 1e6 // a copy
	}
	return rate
}
