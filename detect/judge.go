package detect

import (
	"math"
	"slices"
	"time"

	"stormwatch/capture"
	"stormwatch/detect/herd"
	"stormwatch/detect/sustain"
	"stormwatch/rules"
)

// judge turns features into findings at each whole second, and keeps their
// history.
type judge struct {
	set       *rules.Set
	clientSig []*rules.Signature
	values    rules.Values
	found     []found // in the order of the rules; one for each signature that ever held
	notJudged []NotJudged
	events    []Event
	roundFrom [agentGroups]int64 // first round of the present run, by agent group
	flagged   []int64            // clients that carry each client signature's flag
	firstBad  []int64            // earliest evidence of each client signature
	active    []uint32           // clients to be judged in this second; reused
	loop      sustain.Reading
	state     verdictState
}

// found is a finding in the making.
type found struct {
	sig                         *rules.Signature
	groups                      uint64 // agent groups it holds for; 0: the population
	onset, detected, held, over int64
	censored                    bool
	said                        rules.Judgement
	at                          []string
}

const (
	maxEvents = 512
	grace     = 10 * tick // a finding ends when its behaviour has been absent for this long
)

func newJudge(set *rules.Set) judge {
	j := judge{set: set}
	if set == nil {
		return j
	}
	for _, s := range set.Signatures() {
		if s.Scope == rules.Client && len(j.clientSig) < 32 {
			j.clientSig = append(j.clientSig, s)
		}
	}
	j.flagged = make([]int64, len(j.clientSig))
	j.firstBad = make([]int64, len(j.clientSig))
	return j
}

// second judges the second that ended at e.now.
func (j *judge) second(e *engine) {
	j.loop = e.loop.Reading()
	if j.set == nil {
		return
	}
	j.notJudged = j.notJudged[:0]
	j.context(e)
	for _, s := range j.set.Signatures() {
		switch s.Scope {
		case rules.Population:
			j.population(e, s)
		case rules.Agent:
			j.agents(e, s)
		}
	}
	j.clients(e)
	j.lapse(e)
	j.verdict(e)
}

func (j *judge) context(e *engine) {
	v := &j.values
	v.Reset()
	v.Clock, v.Exchanges, v.SeesHints = e.clock(), e.pop.total.attempts > 0, e.seesHints()
}

// population judges a signature of everybody.
func (j *judge) population(e *engine, s *rules.Signature) {
	j.context(e)
	j.loopFeatures(e)
	j.hintFeatures(e)
	j.herdFeatures(e, 0)
	ok, why := s.Enough(&j.values)
	if !ok {
		if j.find(s.ID) == nil && !slices.ContainsFunc(j.notJudged, func(n NotJudged) bool { return n.Signature == s.ID }) {
			j.notJudged = append(j.notJudged, NotJudged{s.ID, why})
		}
		return
	}
	if s.Raised(&j.values) && j.fresh(e, s, 0) {
		j.hold(e, s, 0)
	}
}

// fresh tells whether the behaviour behind a signature is still going on: the
// statistics reach back a minute or two, the verdict must not.
func (j *judge) fresh(e *engine, s *rules.Signature, group int) bool {
	switch s.ID {
	case "lockstep":
		r := e.herd.Reading(group)
		return e.now-r.LastRound <= missedRounds*max(r.MedianGap, tick)
	case "hint-missing":
		w, _ := e.pop.last(e.now, int(grace/tick))
		return w.bare > 0
	}
	return true
}

// missedRounds is how many waits without a return mean that the herd is gone.
const missedRounds = 3

// agents judges a signature of each agent group.
func (j *judge) agents(e *engine, s *rules.Signature) {
	for g := 1; g < len(e.names.agentOf); g++ {
		j.context(e)
		if !j.herdFeatures(e, g) {
			continue
		}
		if ok, _ := s.Enough(&j.values); ok && s.Raised(&j.values) && j.fresh(e, s, g) {
			j.hold(e, s, g)
		}
	}
}

func (j *judge) find(id string) *found {
	for i := range j.found {
		if j.found[i].sig.ID == id && j.found[i].over == 0 {
			return &j.found[i]
		}
	}
	return nil
}

const maxFound = 256

// hold notes that a signature holds in this second, for a group or for all.
func (j *judge) hold(e *engine, s *rules.Signature, group int) {
	f := j.find(s.ID)
	if f == nil {
		if len(j.found) >= maxFound {
			return
		}
		j.found = append(j.found, found{sig: s, detected: e.now, at: e.provenance(s.ID)})
		f = &j.found[len(j.found)-1]
		f.onset = j.onset(e, s, group)
		f.censored = f.onset <= e.first+2*tick
		j.event(f.detected, "on", s.ID)
	}
	said := s.Judge(&j.values)
	if f.held != e.now || said.Score > f.said.Score {
		f.said, f.sig = said, s
	}
	f.held = e.now
	if group > 0 {
		f.groups |= 1 << group
	}
}

// onset is the earliest moment of the evidence behind a signature.
func (j *judge) onset(e *engine, s *rules.Signature, group int) int64 {
	at := int64(0)
	switch s.ID {
	case "lockstep":
		at = j.roundFrom[group]
	case "hint-missing":
		at = e.pop.firstBare
	case "rising-share-after-burst":
		at = j.loop.BurstEndAt
	default:
		at = j.loop.Onset
	}
	for k, c := range j.clientSig {
		if c.ID == s.ID {
			at = j.firstBad[k]
		}
	}
	if at == 0 || at > e.now {
		at = e.now - tick
	}
	return at
}

// lapse ends findings whose behaviour has ceased.
func (j *judge) lapse(e *engine) {
	for i := range j.found {
		f := &j.found[i]
		if f.over != 0 {
			continue
		}
		if f.sig.ID == "rising-share-after-burst" && j.loop.FailingShare > calmShare {
			f.held = e.now // the loop lasts until first attempts succeed again
		}
		if e.now-f.held > grace {
			f.over = f.held
			j.event(e.now, "off", f.sig.ID)
			for k, s := range j.clientSig {
				if s.ID == f.sig.ID {
					j.firstBad[k] = 0
				}
			}
		}
	}
}

func (j *judge) event(at int64, kind, text string) {
	if len(j.events) < maxEvents {
		j.events = append(j.events, Event{at, kind, text})
	}
}

// calmShare is the failing share below which first attempts count as served
// (signatures-trial, rising-share-after-burst, step 6).
const calmShare = .05

func (j *judge) loopFeatures(e *engine) {
	v, r := &j.values, &j.loop
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

func (j *judge) hintFeatures(e *engine) {
	w, _ := e.pop.last(e.now, window)
	v := &j.values
	v.Set(rules.Refusals, float64(w.refused), w.refused)
	v.Set(rules.RefusedClients, float64(sum(&e.pop.refusedBy)), w.refused)
	if w.observable > 0 {
		v.Set(rules.MissingShare, float64(w.bare)/float64(w.observable), w.observable)
		v.Set(rules.MissingLow, wilsonLow(w.bare, w.observable), w.observable)
	}
}

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
func (j *judge) herdFeatures(e *engine, group int) bool {
	r := e.herd.Reading(group)
	if r.Retries == 0 {
		return false
	}
	j.followRounds(e, group, &r)
	v := &j.values
	v.Set(rules.Z, r.Z, r.Retries)
	v.Set(rules.Rho, r.Rho, r.Retries)
	v.Set(rules.Coincidences, float64(r.Coincidences), r.Retries)
	v.Set(rules.Rounds, float64(r.Rounds), r.Retries)
	v.Set(rules.HerdClients, float64(r.Clients), r.Retries)
	v.Set(rules.Slots, r.Slots, r.Retries)
	if r.JKnown {
		v.Set(rules.Jitter, r.J, r.JGaps)
	}
	v.Set(rules.JitterGaps, float64(r.JGaps), r.JGaps)
	if r.RhoFirstKnown {
		v.Set(rules.RhoFirst, r.RhoFirst, r.Retries)
	}
	return true
}

func (j *judge) followRounds(e *engine, group int, r *herd.Reading) {
	switch {
	case r.LastRound == 0, e.now-r.LastRound > grace+3*r.MedianGap:
		j.roundFrom[group] = 0
	case j.roundFrom[group] == 0:
		j.roundFrom[group] = r.LastRound
	}
}

const maxProvenance = 5

// provenance names a few exchanges of this second that show a signature.
func (e *engine) provenance(id string) (at []string) {
	for _, ev := range e.events {
		f := &e.flights[ev.flight]
		shows := false
		switch id {
		case "lockstep":
			shows = !ev.outcome && f.link.Attempt > 1 && e.herd.InRound(int(f.rec.agent), f.rec.Start)
		case "hint-ignored":
			wait := f.link.ParentHint.Wait
			shows = !ev.outcome && f.link.Attempt > 1 && e.hinted(f) && f.link.Gap < wait-tolerance(wait, e.resolution(f.rec.source))
		case "hint-missing":
			shows = ev.outcome && f.rec.Refused() && f.rec.Hint.State == capture.Absent
		default:
			shows = ev.outcome && f.rec.Failed()
		}
		if shows {
			if at = append(at, e.place(f)); len(at) == maxProvenance {
				return at
			}
		}
	}
	return at
}

func seconds(d int64) float64 { return time.Duration(d).Seconds() }
