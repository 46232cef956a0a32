package policy

import "math"

// A model may be the best of those catalogued and yet be wrong: the policy may be
// unknown, or the group a mixture. fits tells whether the waits are those that
// model i of the catalogue makes: none of them far less likely than its own, not
// less spread, and of its size, give or take so many deviations. Each test is
// lenient enough for strays and delays.
func (e *Evidence) fits(s *scorer, i int, deviations float64) bool {
	for class := range classes {
		if e.classes>>class&1 != 0 && e.costsFit(s, i, class, deviations) && e.spreadFits(s, i, class, deviations) && e.sizeFits(s, i, class) {
			return true
		}
	}
	return false
}

// At these, policies that nobody catalogued are called one that is in 1 % of the runs at most
// (TestUncataloguedPolicies), and delays and strays cost few readings (TestDelaysAndStrays).
const (
	excess    = .35  // nats a wait that delays other than assumed may cost,
	excessOf  = .20  // and that of policies so broad that delays hardly matter
	allowance = .12  // of a mean logarithm, in nats: strays
	overseas  = .150 // seconds by which all waits may be late
	surely    = 3.   // deviations at which a policy is ruled out,
	plainly   = 1.2  // and within which one is claimed
)

// costsFit compares what the waits cost the model with what its own would.
func (e *Evidence) costsFit(s *scorer, i, class int, deviations float64) bool {
	var n, want, variance float64
	for k := range tracked + 1 {
		c := float64(e.later)
		if k < tracked {
			c = float64(e.counts[k])
		}
		if c > 0 {
			f := &s.table(class, k+1).expect[i]
			n, want, variance = n+c, want+c*f.cost, variance+c*f.costs
		}
	}
	cost := float64(e.costs[i]) / perNat
	most := excess
	if broad(s.family(i)) {
		most = excessOf
	}
	return cost-want <= most*n+deviations*math.Sqrt(variance)
}

// spreadFits compares the spread of waits before the same retry with the
// policy's own jitter: too regular waits are another policy's. A sample variance
// strays from the true one by sqrt((kurtosis-1)/freedom) of it, upwards more than
// downwards: of its logarithm, .7 such deviations count as one.
func (e *Evidence) spreadFits(s *scorer, i, class int, deviations float64) bool {
	within, pure, freedom, strays := float64(e.squares), 0., 0., 0.
	for k, c := range e.counts {
		if c == 0 {
			continue
		}
		f, mean := &s.table(class, k+1).expect[i], float64(e.sums[k])/float64(c)
		if r := tick(class); r > 0 && math.Sqrt(f.pure)/perOctave*math.Ln2*fromLog(f.mean) < 2*r {
			return true // the clock hides the jitter
		}
		within -= float64(c) * mean * mean
		n := float64(c - 1)
		pure, freedom, strays = pure+n*f.pure, freedom+n, strays+n*f.pure*f.pure*max(f.strays, 1.2)
	}
	if freedom < 4 || pure < noJitter*freedom {
		return true
	}
	return within >= pure*math.Exp(-.7*deviations*math.Sqrt(strays)/pure)
}

// noJitter is a variance, in squared perOctave-ths, that the bins hide: a
// deviation of 1 %.
const noJitter = 1

// sizeFits compares the mean logarithm before each retry with the model's.
func (e *Evidence) sizeFits(s *scorer, i, class int) bool {
	for k, c := range e.counts {
		if c == 0 {
			continue
		}
		f := &s.table(class, k+1).expect[i]
		off := math.Abs(float64(e.sums[k])/float64(c)-f.mean) / perOctave * math.Ln2
		scale := math.Exp2(f.mean/perOctave) / 1e6
		slack := allowance + overseas/scale + .4*tick(class)/scale
		if off > slack+surely*e.deviation(s, i, class, k)/math.Sqrt(float64(c)) {
			return false
		}
	}
	return true
}

// deviation is that of the logarithm of a wait before retry k+1, by the model.
func (e *Evidence) deviation(s *scorer, i, class, k int) float64 {
	return math.Sqrt(s.table(class, k+1).expect[i].variance) / perOctave * math.Ln2
}

// within is how well, as a logarithm, the waits before some retry fix the size of
// the model's.
func (e *Evidence) within(s *scorer, i int) float64 {
	best, class := math.Inf(1), e.coarsest()
	for k, c := range e.counts {
		if c > 0 {
			best = min(best, surely*e.deviation(s, i, class, k)/math.Sqrt(float64(c)))
		}
	}
	return best
}
