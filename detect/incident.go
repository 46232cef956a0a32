package detect

import "strings"

// count adds the second that ended at e.now to the present incident.
func (s *verdictState) count(e *engine) {
	last, _ := e.pop.last(e.now, 1)
	s.tail.add(&last.secondCounts)
	if s.since == 0 {
		s.calm.add(&last.secondCounts, 1)
		s.calm.seconds++
	}
	if share(last.failed, last.ended) >= heavyShare && last.failed > 0 {
		s.failing = e.now
	}
	if s.badUntil == e.now {
		s.sum.add(&s.tail)
		s.tail = secondCounts{}
	}
	if s.since != 0 && s.worst.Since == s.since {
		s.worstSum = s.sum
	}
}

// calmCounts are what an incident is compared with.
type calmCounts struct{ seconds, attempts, first, refused, ended int64 }

// add adds counts, or takes them away again where sign is -1.
func (c *calmCounts) add(s *secondCounts, sign int64) {
	c.attempts += sign * s.attempts
	c.first += sign * s.first
	c.refused += sign * s.refused
	c.ended += sign * s.ended
}

// before tells the rates of the calm before the present incident, where there was
// enough of it.
func (s *verdictState) before(r *Recent) {
	if s.since == 0 {
		return
	}
	if c := &s.calm; c.ended >= fewest && c.first > 0 {
		r.RefusedShareBefore, r.AmplificationBefore = Some(share(c.refused, c.ended)), Some(share(c.attempts, c.first))
	}
}

// recovered notes how long the incident has taken that is over now: until requests
// were served again, findings end somewhat later. Of one that was
// under way when the input began this is not known.
func (s *verdictState) recovered() {
	s.recover = 0
	if !s.censored && s.failing > s.since {
		s.recover = s.failing - s.since
	}
	if s.worst.Since == s.since {
		s.worstEnd = s.recover
	}
}

// recovery is how long the incident that a verdict speaks of took, or where there is
// none now, the latest; 0 while it lasts.
func (s *verdictState) recovery(v *Verdict) int64 {
	switch {
	case v.Since == 0, v.State == Recovering:
		return s.recover
	case v.Since == s.worst.Since && v.Since != s.since:
		return s.worstEnd
	case v.Since == s.since && s.now.State <= Recovering:
		return s.recover
	}
	return 0
}

// begin starts the counts of an incident at its onset, or as far back as single
// seconds are kept.
func (s *verdictState) begin(e *engine) {
	back := min(max((e.now-s.since+tick-1)/tick, 1), window)
	w, _ := e.pop.last(e.now-tick, int(back)-1)
	late, _ := e.pop.last(e.now-tick, int(min(back-1, s.calm.seconds)))
	s.calm.add(&late.secondCounts, -1)
	s.sum, s.tail, s.causes = w.secondCounts, secondCounts{}, [CauseMixed + 1]int32{}
}

// whole is the verdict on the input as a whole: the worst it has been, with the
// shares of that incident rather than those of one moment.
func (j *judge) whole(e *engine) Verdict {
	s := &j.state
	v, names, sum := s.now, strings.Join(j.activeNames(), ", "), &s.sum
	if s.worst.State > v.State || s.worst.State == v.State && !v.surer(&s.worst) {
		trend := v.Trend
		v, names, sum = s.worst, s.worstOf, &s.worstSum
		if v.Trend = trend; s.now.State < v.State {
			v.Trend = "ended"
		}
	}
	total := &e.pop.total
	switch {
	case v.State == Clear && (total.unread > total.ended || e.mostlyHidden()):
		v = Verdict{}
		last, seconds := windowSecond{secondCounts: *total}, 0
		j.explain(e, &v, &last, seconds)
	case v.State == Clear:
		v.What = clearText(&e.pop.total)
	case v.State > Watch:
		v.What = alarmText(names, sum, sum, e.lacks())
	}
	j.widen(e, &v)
	if strings.HasPrefix(v.Do, drainAdvice) && v.Trend == "ended" {
		v.Do = "It is over: the backlog has drained. Against the next: a limit at what can be served, and a budget for retries."
		v.Dont = ""
	}
	return v
}

// widen has the sentence on who is behind it speak of all clients that the finding
// names, rather than of those of one moment.
func (j *judge) widen(e *engine, v *Verdict) {
	if v.Party.Clients == 0 || v.Who != v.Party.String() {
		return
	}
	for i := range j.found {
		if f := &j.found[i]; f.doing() == v.Party.Does {
			_, n := j.involved(e, f)
			v.Party.Clients = max(v.Party.Clients, n)
		}
	}
	v.Party.Of = max(v.Party.Of, int(e.pop.clients))
	v.Who = v.Party.String()
}
