package detect

import (
	"fmt"

	"stormwatch/capture"
)

// tallyState judges inputs that give counts of intervals, not exchanges. Where
// exchanges are known as well, those judge and tallies only corroborate.
type tallyState struct {
	begun      bool
	steps      int64
	heavy      int64 // steps in a row with heavy refusals
	since      int64
	now, worst Verdict
	last       capture.Tally
	calm       int64 // steps in a row without
	known      int64
	refusals   int64 // steps that tell refusals

	sum, worstSum tallySum // of the present incident, and of the one that worst speaks of
}

// tallySum adds up the heavy intervals of an incident.
type tallySum struct{ attempts, refused int64 }

const (
	tallyHeavy  = .05 // as heavyShare: what is refused of that is no daily noise
	tallySteps  = 3   // steps in a row, so that one scrape's hiccup is no incident
	tallyFewest = 3   // steps below which nothing is said
)

// tally takes in one interval. It counts into the timeline and totals when it is
// all the input there is.
func (e *engine) tally(t *capture.Tally) {
	s := &e.counts
	if !e.begun && !s.begun {
		e.first = t.Start
	}
	s.begun = true
	s.steps++
	s.last = *t
	e.latest = max(e.latest, t.End)
	c := secondCounts{}
	if t.Attempts.Known {
		c.attempts, s.known = t.Attempts.N, s.known+1
	}
	if t.Logical.Known {
		c.first = t.Logical.N
	}
	if t.Retries.Known {
		c.retries = t.Retries.N
	}
	if t.Refused.Known {
		s.refusals++
	}
	c.refused, c.failed, c.good = t.Refused.N, t.Failed.N, t.OK.N
	e.pop.total.add(&c)
	e.spread(t, c)
	e.tallyVerdict(t)
	e.now = max(e.now, t.End)
}

// spread puts a tally's counts into the whole seconds it covers, so that the
// timeline's bins stay comparable with those of exchanges.
func (e *engine) spread(t *capture.Tally, c secondCounts) {
	n := max((t.End-t.Start)/tick, 1)
	if n > maxBins {
		n = maxBins
	}
	part := func(v, i int64) int64 { return v*(i+1)/n - v*i/n }
	for i := range n {
		s := secondCounts{
			attempts: part(c.attempts, i), first: part(c.first, i), retries: part(c.retries, i),
			good: part(c.good, i), refused: part(c.refused, i), failed: part(c.failed, i),
		}
		e.pop.timeline.add(floor(t.Start)+i*tick, &s)
	}
}

func (e *engine) tallyVerdict(t *capture.Tally) {
	s := &e.counts
	refused := 0.0
	if t.Refused.Known && t.Attempts.Known && t.Attempts.N > 0 {
		refused = share(t.Refused.N, t.Attempts.N)
	}
	if refused >= tallyHeavy {
		if s.heavy == 0 && s.since == 0 {
			s.since, s.sum = t.Start, tallySum{}
		}
		s.sum.attempts += t.Attempts.N
		s.sum.refused += t.Refused.N
		s.heavy++
		s.calm = 0
	} else {
		s.heavy = 0
		s.calm++
	}
	before := s.now.State
	s.now = Verdict{State: Clear, Confidence: .5, What: fmt.Sprintf("%.1f %% refused", 100*refused)}
	switch {
	case s.steps >= tallyFewest && s.refusals == 0:
		s.now = Verdict{State: Unknown, What: "the metric does not tell refusals apart: its codes are classes, or missing"}
	case s.steps < tallyFewest || s.known == 0:
		s.now = Verdict{State: Unknown, What: fmt.Sprintf("%d intervals so far, %d needed to judge", s.steps, tallyFewest)}
	case s.heavy >= tallySteps || before == Overloaded && s.calm < tallySteps:
		s.now = Verdict{
			State: Overloaded, Cause: CauseUnknown, Confidence: .5, Since: s.since, SinceCensored: s.since <= e.first,
			What: heavyText(refused), Who: "metrics do not say which clients",
			Do:   "Find out who asks and whether they retry: read the access log or a capture of this time.",
			Dont: "Do not raise a limit before it is known whether demand or retries fill it.",
		}
	case s.since != 0 && s.calm*(t.End-t.Start) <= recoverHold:
		s.now = Verdict{State: Recovering, Confidence: .5, Since: s.since, What: s.now.What}
	default:
		if s.calm >= tallySteps {
			s.since = 0
		}
	}
	s.now.NextEvidence = []string{"metrics show no single attempts: add an access log or a capture to judge clients, lockstep and Retry-After"}
	if before != s.now.State {
		e.judge.event(t.End, "state", before.String()+" -> "+s.now.State.String())
	}
	if s.now.State >= s.worst.State {
		s.worst = s.now
	}
	if s.since != 0 && s.worst.Since == s.since {
		s.worstSum = s.sum
	}
}

func heavyText(refused float64) string {
	return fmt.Sprintf("heavy refusals; %.0f %% refused", 100*refused)
}

// onlyTallies tells whether intervals are all the input there is.
func (e *engine) onlyTallies() bool { return e.counts.begun && !e.begun }

// tallySnapshot replaces what only exchanges can tell.
func (e *engine) tallySnapshot(s *Snapshot, whole bool) {
	t := &e.counts
	s.Verdict = t.now
	if whole && t.worst.State >= t.now.State {
		s.Verdict = t.worst
		if t.worst.State > t.now.State {
			s.Verdict.Trend = "ended"
		}
		if t.worst.State == Overloaded {
			s.Verdict.What = heavyText(share(t.worstSum.refused, t.worstSum.attempts))
		}
	}
	s.NotJudged = nil
	if e.judge.set != nil {
		for _, sig := range e.judge.set.Signatures() {
			if n := len(s.NotJudged); n > 0 && s.NotJudged[n-1].Signature == sig.ID {
				continue
			}
			s.NotJudged = append(s.NotJudged, NotJudged{sig.ID, "metrics give counts of intervals, not single attempts"})
		}
	}
	s.Totals = Totals{Exchanges: e.pop.total.attempts, Refused: e.pop.total.refused, Failed: e.pop.total.failed, Succeeded: e.pop.total.good}
	s.Recent = Recent{Seconds: seconds(t.last.End - t.last.Start)}
	if w := s.Recent.Seconds; w > 0 && t.last.Attempts.Known {
		s.Recent.AttemptsPerS = Some(float64(t.last.Attempts.N) / w)
		if t.last.OK.Known {
			s.Recent.GoodputPerS = Some(float64(t.last.OK.N) / w)
		}
		if t.last.Refused.Known && t.last.Attempts.N > 0 {
			s.Recent.RefusedShare = Some(share(t.last.Refused.N, t.last.Attempts.N))
		}
	}
}
