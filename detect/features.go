package detect

import (
	"math"

	"stormwatch/detect/herd"
	"stormwatch/rules"
)

// measure sets the features of everybody.
func (j *judge) measure(e *engine) {
	v := &j.everybody
	circumstances(e, v)
	j.loopFeatures(e, v)
	hintFeatures(e, v)
	budgetFeatures(e, v)
	j.herdFeatures(e, 0, v)
	j.layerFeatures(e, 0, v)
	e.startFeatures(v)
	e.quotaFeatures(v)
	e.spreadFeatures(v)
}

// circumstances empties v and says what the input can show.
func circumstances(e *engine, v *rules.Values) {
	v.Reset()
	v.Clock, v.Exchanges, v.SeesHints = e.clock(), e.pop.total.attempts > 0, e.seesHints()
	v.Sampled, v.FailuresOnly = e.sampled(), e.failuresOnly()
}

func (j *judge) loopFeatures(e *engine, v *rules.Values) {
	r := &j.loop
	n := int64(r.Seconds)
	v.Set(rules.Seconds, float64(r.Seconds), n)
	v.Set(rules.CalmSeconds, float64(r.CalmSeconds), n)
	// An operator who says what the server can do stands in for the calm before.
	v.Set(rules.Baseline, bit(r.Baseline || e.opt.Capacity > 0), n)
	v.Set(rules.FreshPerS, r.Fresh, n)
	v.Set(rules.FreshMedian10, r.FreshMedian10, 10)
	v.Set(rules.GoodputPerS, r.Goodput, n)
	v.Set(rules.AttemptsPerS, r.AttemptsPerS, n)
	if r.Baseline {
		v.Set(rules.BasePerS, r.Base, int64(r.CalmSeconds))
		v.Set(rules.BurstPeak, r.BurstPeak, n)
	}
	if r.CapacityKnown {
		v.Set(rules.CapacityPerS, r.Capacity, int64(r.CapacityN))
		v.Set(rules.CapacityN, float64(r.CapacityN), int64(r.CapacityN))
		v.Set(rules.ExceedsCapacity, r.ExceedsCapacity, 10)
	}
	v.Set(rules.BurstEnded, bit(r.BurstEndAt != 0), n)
	if r.BurstEndAt != 0 {
		v.Set(rules.SinceEndS, float64(e.now-r.BurstEndAt)/1e9, n)
		v.Set(rules.HoldS, r.Hold, n)
		v.Set(rules.DeficitZ, r.DeficitZ, n)
		v.Set(rules.FailingRiseZ, r.FailingRiseZ, n)
		v.Set(rules.FailingRise, r.FailingRise, n)
		v.Set(rules.FreshServed, bit(r.FreshServed), n)
	}
	if r.ReproductionKnown {
		v.Set(rules.Reproduction, r.Reproduction, n)
	}
	if r.DrainKnown {
		v.Set(rules.DrainS, r.DrainS, n)
	}
	if r.SlopeKnown {
		v.Set(rules.GoodputSlope, r.Slope, n)
		v.Set(rules.GoodputInvariant, bit(r.Invariant), n)
	}
	if r.HysteresisKnown {
		v.Set(rules.Hysteresis, r.Hysteresis, n)
	}
	v.Set(rules.FailingShare, r.FailingShare, n)
	v.Set(rules.ServerFault, bit(r.ServerFault), n)
	v.Set(rules.FirstRefusedShare, r.FirstRefusedShare, n)
	v.Set(rules.RefusalShareOfFailures, r.RefusalShareOfFailures, n)
	v.Set(rules.RetryShare, r.RetryShare, n)
	v.Set(rules.ImpatientShare, r.ImpatientShare, n)
	if w, _ := e.pop.last(e.now, 10); w.attempts > 0 {
		v.Set(rules.AvoidableShare, float64(w.avoidable)/float64(w.attempts), w.attempts)
	}
}

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func hintFeatures(e *engine, v *rules.Values) {
	w, _ := e.pop.last(e.now, window)
	h := &w.hints
	v.Set(rules.Refusals, float64(w.refused), w.refused)
	v.Set(rules.RefusedClients, float64(sum(&e.pop.refusedBy)), w.refused)
	shareFeatures(v, rules.MissingShare, rules.MissingLow, h.bare, h.observable)
	shareFeatures(v, rules.MalformedShare, rules.MalformedLow, h.malformed, h.observable)
	shareFeatures(v, rules.AbsurdShare, rules.AbsurdLow, h.absurd, h.observable)
	shareFeatures(v, rules.ZeroShare, rules.ZeroLow, h.zero, h.observable)
	shareFeatures(v, rules.DisagreeShare, rules.DisagreeLow, h.disagree, h.observable)
	if d := &h.dates; d.early > 0 {
		mean, spread := moments(d.n, d.missMs, d.missSq)
		v.Set(rules.SkewedRetries, float64(d.early)*bit(d.skewed()), d.n)
		v.Set(rules.SkewS, mean, d.n)
		v.Set(rules.SkewSpreadS, spread, d.n)
	}
	e.repeatFeatures(v, &w)
	v.Set(rules.KeptRetries, float64(h.kept), h.kept)
	shareFeatures(v, rules.KeptRefusedShare, rules.KeptRefusedLow, h.keptRefused, h.kept)
}

// shareFeatures sets a share and its lower bound, if there is anything to share.
func shareFeatures(v *rules.Values, share, low rules.FeatureID, part, whole int64) {
	if whole <= 0 {
		return
	}
	v.Set(share, float64(part)/float64(whole), whole)
	v.Set(low, wilsonLow(part, whole), whole)
}

// budgetFeatures sets what retries that keep to no hint take of the traffic: of
// five seconds, or of fifteen where these say more.
func budgetFeatures(e *engine, v *rules.Values) {
	short, _ := e.pop.last(e.now, 5)
	long, _ := e.pop.last(e.now, int(budgetSpan/tick))
	w := &long
	if short.uncovered >= leastUncovered && wilsonLow(short.uncovered, short.attempts) > wilsonLow(long.uncovered, long.attempts) {
		w = &short
	}
	v.Set(rules.Uncovered, float64(w.uncovered), w.attempts)
	shareFeatures(v, rules.UncoveredShare, rules.UncoveredLow, w.uncovered, w.attempts)
}

// leastUncovered is how many such retries five seconds must hold to be judged by
// themselves (signatures-trial, budget-exceeded).
const leastUncovered = 20

// wilsonLow is the lower bound of a share by Wilson's score interval at
// z = 2.58, two-sided one per cent.
func wilsonLow(k, n int64) float64 {
	if n == 0 {
		return 0
	}
	const z2 = 2.58 * 2.58
	p, m := float64(k)/float64(n), float64(n)
	return max(0, (p+z2/(2*m)-2.58*math.Sqrt(p*(1-p)/m+z2/(4*m*m)))/(1+z2/m))
}

// herdFeatures sets the timing features of an agent group, 0 being everybody,
// and tells whether there are any.
func (j *judge) herdFeatures(e *engine, group int, v *rules.Values) bool {
	r := e.herd.Reading(group)
	if r.Retries == 0 {
		return false
	}
	j.followRounds(e, group, r.MedianGap)
	scaleFeatures(e, group, herd.Instant, v)
	v.Set(rules.WaitS, seconds(r.MedianGap), r.Retries)
	v.Set(rules.HerdClients, float64(r.Clients), r.Retries)
	v.Set(rules.Slots, r.Slots, r.Retries)
	if r.JKnown {
		v.Set(rules.Jitter, r.J, r.JGaps)
	}
	v.Set(rules.JitterGaps, float64(r.JGaps), r.JGaps)
	habitFeatures(e, group, v)
	if r.RhoFirstKnown {
		v.Set(rules.RhoFirst, r.RhoFirst, r.Retries)
	}
	return true
}

// scaleFeatures sets those of them that depend on how close is together.
func scaleFeatures(e *engine, group int, scale herd.Scale, v *rules.Values) {
	c, n := e.herd.At(group, scale), e.herd.Reading(group).Retries
	v.Set(rules.WithinMs, float64(scale.Width())/1e6, n)
	v.Set(rules.Z, c.Z, n)
	v.Set(rules.Rho, c.Rho, n)
	v.Set(rules.Coincidences, float64(c.Pairs), n)
	v.Set(rules.Rounds, float64(c.Rounds), n)
	v.Set(rules.WaveBins, c.Bins, n)
	v.Set(rules.WaveShare, c.Share, n)
}

// habitFeatures sets what is known of an agent group's retry policy.
func habitFeatures(e *engine, group int, v *rules.Values) {
	h := e.habits.habit(group)
	if h.waits == 0 {
		return
	}
	n := int64(h.N)
	v.Set(rules.WaitsRead, float64(h.N), n)
	v.Set(rules.IgnoredShare, float64(h.Ignored)/float64(max(h.N, 1)), n)
	v.Set(rules.LongestChain, float64(h.Chain), n)
	if h.Multiplier > 0 {
		v.Set(rules.Growth, h.Multiplier, n)
	}
	if h.Ceiling > 0 {
		v.Set(rules.CeilingS, h.Ceiling.Seconds(), n)
		v.Set(rules.CeilingHighS, h.CeilingHigh.Seconds(), n)
	}
	if h.Attempts > 0 {
		v.Set(rules.AttemptCap, float64(h.Attempts), n)
	}
}

// lastRound is the latest return of an agent group at any scale, Unix ns; 0 none.
func (e *engine) lastRound(group int) (last int64) {
	for scale := range herd.Scales {
		last = max(last, e.herd.LastRound(group, scale))
	}
	return last
}

func (j *judge) followRounds(e *engine, group int, wait int64) {
	last := e.lastRound(group)
	switch {
	case last == 0, e.now-last > grace+3*wait:
		j.roundFrom[group] = 0
	case j.roundFrom[group] == 0:
		j.roundFrom[group] = last
	}
}

// clientFeatures sets the features of what one client did, or many together.
func (j *judge) clientFeatures(e *engine, s *conducts) {
	v := &j.values
	circumstances(e, v)
	counted := func(id rules.FeatureID, what deed) {
		v.Set(id, float64(s[what]), max(s[occasion[what]], s[what]))
	}
	shared := func(id rules.FeatureID, what deed) {
		if n := s[occasion[what]]; n > 0 {
			v.Set(id, float64(s[what])/float64(n), n)
		}
	}
	v.Set(rules.Retries, float64(s[traced]), s[traced])
	v.Set(rules.HintedRetries, float64(s[hinted]), s[hinted])
	for what, id := range faultFeatures {
		counted(id, deed(what))
	}
	shared(rules.ImmediateShare, instant)
	shared(rules.EarlyShare, early)
	shared(rules.OverwaitedShare, overwaited)
	shared(rules.RescaledShare, rescaled)
	shared(rules.SpentShare, spent)
	shared(rules.WiderShare, assumed)
	shareFeatures(v, rules.UncoveredShare, rules.UncoveredLow, s[uncovered], s[sent])
	if s[early] > 0 {
		v.Set(rules.EarlyMeanS, float64(s[earlyMs])/1e3/float64(s[early]), s[early])
	}
	if s[datedEarly] > 0 {
		mean, spread := moments(s[dated], s[datedMs], 100*s[datedSq])
		v.Set(rules.SkewS, mean, s[dated])
		v.Set(rules.SkewSpreadS, spread, s[dated])
	}
	v.Set(rules.IgnoredDates, float64(s[ignoredDates]), s[dated])
	v.Set(rules.RelayedRepeats, float64(s[relayedAgain]), s[risky])
	v.Set(rules.BurstCalls, float64(s[callsInVain]), s[calledAgain])
	v.Set(rules.PagesAgain, float64(s[walkedAgain]), s[walks])
	if n := s[hotPoll]; n > 0 {
		v.Set(rules.PollGapS, float64(s[pollMs])/1e3/float64(n), n)
		v.Set(rules.PollAskedS, float64(s[pacedMs])/1e3/float64(n), n)
	}
	if n := e.pop.did[hinted]; n > 0 {
		v.Set(rules.OverwaitedLow, wilsonLow(min(e.pop.did[overwaited], n), n), n)
	}
	unsafeLow(e, v)
	v.Set(rules.ParkedClients, float64(len(e.lot.parked)), e.lot.looked)
	if e.lot.looked > 0 {
		v.Set(rules.ParkedLow, wilsonLow(min(int64(len(e.lot.parked)), e.lot.looked), e.lot.looked), e.lot.looked)
	}
}

// unsafeLow says how usual it is to send a write again that may have been done.
func unsafeLow(e *engine, v *rules.Values) {
	low, n := 0.0, e.pop.did[risky]
	if n > 0 {
		low = wilsonLow(min(e.pop.did[unsafeAgain], n), n)
	}
	v.Set(rules.UnsafeLow, low, n)
}
