package detect

import (
	"math"
	"slices"
	"strings"

	"stormwatch/rules"
)

// verdictState is the verdict's memory: what it was, since when, and the worst
// it has been.
type verdictState struct {
	now      Verdict
	worst    Verdict
	since    int64 // onset of the present incident; 0 when there is none
	censored bool
	calmFrom int64 // since when the failing share has been low; 0 while it is not
	badUntil int64 // last second in which the word was earned anew
	word     State // the word that was earned
	failing  int64 // end of the last second in which many failed
	recover  int64 // from the onset to the end of the latest incident that is over; 0 not known
	worstEnd int64 // the same of the incident that worst speaks of
	unnamed  bool  // all that speaks for the incident is that most is in vain
	beyond   int64 // since when new demand is more than can be served; 0 it is not
	near     brink // what the load comes near to, though little fails
	nearFrom int64 // since when; 0 it does not
	rise     rise
	warned   brink                 // what earned the word, if that is all that did
	stormed  int64                 // last second that earned the word storm
	causes   [CauseMixed + 1]int32 // seconds of the present incident for which each was held responsible

	calm     calmCounts   // since the last incident, up to the onset of the present one
	sum      secondCounts // of the present incident, from its onset to badUntil
	tail     secondCounts // of the seconds since, which may yet belong to it
	worstSum secondCounts // of the incident that worst speaks of
	worstOf  string       // the signatures that held in worst
}

const (
	fewest      = 30            // exchanges below which nothing is said: one client's retries could make the picture
	heavyShare  = .05           // refusals or failures of a tenth of that are any API's daily noise
	heavyCount  = 20            // and at least so many of them in ten seconds
	impatientOf = .10           // share of the traffic from which a client finding is the service's storm
	stormHold   = 5 * tick      // an alarming word stays for this long after its last proof
	recoverHold = 30 * tick     // calm for this long ends an incident
	stormStay   = 15 * tick     // what is still heavy stays a storm for this long after its last proof
	stormLeast  = .5            // of impatientOf, which a storm must fall below to be none any more
	blamedOf    = .10           // of the impatient, those of clients of whom a storm's sign is shown: fifth attempts that end are everybody's in an outage
	demandStay  = window * tick // a burst is over by then: what is beyond capacity for longer is demand
)

// verdict forms the verdict of the second that ended at e.now.
func (j *judge) verdict(e *engine) {
	s := &j.state
	w, seconds := e.pop.last(e.now, 10)
	j.followDemand(e)
	j.followNear(e)
	word, cause := j.word(e, &w)
	earned := word
	word, cause = s.steady(word, cause, e.now)
	if word >= Watch && !(word == Watch && s.ending(e.now)) {
		s.badUntil, s.word = e.now, word
		s.unnamed = word == Watch && len(j.activeNames()) == 0
		s.calmFrom, s.warned = 0, nothingNear
		if s.unnamed && s.forewarned(e.now) {
			s.warned = s.near
		}
		if s.since == 0 {
			s.since, s.censored = j.incidentOnset(e)
			s.begin(e)
			j.event(s.since, "onset", word.String())
		}
	} else if s.since != 0 {
		if s.calmFrom == 0 {
			s.calmFrom = e.now
		}
		switch {
		case e.now-s.badUntil <= stormHold:
			word, cause = s.word, s.now.Cause
		case e.now-s.calmFrom <= recoverHold:
			word, cause = Recovering, CauseNone
			s.recovered()
		default:
			s.recovered()
			s.since, s.censored, s.calm = 0, false, calmCounts{}
		}
	}
	before := s.now.State
	s.now = Verdict{State: word, Cause: cause, Since: s.since, SinceCensored: s.censored}
	s.now.Confidence = j.confidence(e, word)
	if word > Recovering {
		s.now.Trend = e.trend()
	}
	if word <= Clear {
		s.now.Since, s.now.SinceCensored = 0, false
	}
	j.explain(e, &s.now, &w, seconds)
	if before != word && e.pop.total.attempts >= fewest {
		j.event(e.now, "state", before.String()+" -> "+word.String())
	}
	s.causes[cause]++
	if word > s.worst.State || word == s.worst.State && word == earned && s.now.surer(&s.worst) && s.prevails(&s.now, &s.worst) {
		s.worst, s.worstOf = s.now, strings.Join(j.activeNames(), ", ")
	}
	s.count(e)
}

// steady keeps a storm one while it is heavy and was proven of late: which share of
// ten seconds is impatient goes up and down, and the word must not.
func (s *verdictState) steady(word State, cause Cause, now int64) (State, Cause) {
	switch {
	case word == Storm:
		s.stormed = now
	case word == Overloaded && s.since != 0 && s.word == Storm && now-s.stormed <= stormStay:
		return Storm, s.now.Cause
	}
	return word, cause
}

// ending tells whether an incident that was more than signs is so no longer: what
// still holds of it is on its way out, or will be a matter of its own.
func (s *verdictState) ending(now int64) bool {
	return s.since != 0 && s.word > Watch && (s.calmFrom == 0 || now-s.calmFrom <= recoverHold)
}

// prevails tells whether of two causes of one incident that of v was held for as long
// as that of w: the end of a mixed one is not what it was. A loop is what the others
// lead to.
func (s *verdictState) prevails(v, w *Verdict) bool {
	return v.Since != w.Since || !v.Cause.named() || !w.Cause.named() ||
		v.Cause == CauseLoop || w.Cause != CauseLoop && s.causes[v.Cause] >= s.causes[w.Cause]
}

// named tells whether a cause is one, rather than none or the end of one.
func (c Cause) named() bool { return c > CauseUnknown && c != CauseDraining }

// surer tells whether v says more than w of an input in the same state: a cause
// rather than none or the end of one, then more confidence, then later.
func (v *Verdict) surer(w *Verdict) bool {
	if v.Cause.named() != w.Cause.named() {
		return v.Cause.named()
	}
	return hundredths(v.Confidence, 1) >= hundredths(w.Confidence, 1)
}

// word judges the present second on its own.
func (j *judge) word(e *engine, w *windowSecond) (State, Cause) {
	switch {
	case e.headless() || e.timeless():
		return Unknown, CauseNone
	case e.pop.total.attempts < fewest && j.serious():
		return Watch, CauseUnknown
	case e.pop.total.attempts < fewest:
		return Unknown, CauseNone
	}
	failing := share(w.failed, w.ended)
	heavy := failing >= heavyShare && w.failed >= heavyCount
	blind := heavy && e.failuresOnly() // of how many requests, nobody knows
	loop := j.find("rising-share-after-burst") != nil
	herd := j.find("lockstep") != nil && heavy
	ignored := j.impatience(w) && heavy && share(w.impatient, w.attempts) >= j.state.impatientOf()
	capacity := j.find("capacity-not-behaviour") != nil
	switch {
	case loop:
		return Storm, CauseLoop
	case (herd || ignored) && (capacity || j.demandExceeds(e)):
		return Storm, CauseMixed
	case herd || ignored:
		return Storm, CauseClients
	case capacity:
		return Overloaded, CauseCapacity
	case blind:
	case heavy && j.loop.ServerFault && w.refused*2 < w.failed:
		return Overloaded, CauseServer
	case heavy && j.loop.Phase == "after-burst" && j.loop.Goodput >= j.loop.Fresh:
		return Overloaded, CauseDraining
	case heavy:
		return Overloaded, CauseUnknown
	}
	if j.serious() {
		return Watch, CauseUnknown
	}
	if (j.state.since == 0 || j.state.unnamed) && e.mostlyFailing() && !e.failuresOnly() {
		return Watch, CauseUnknown
	}
	if c := e.readable(w); c.unread > c.ended || c.unread+c.ended == 0 || e.mostlyHidden() || e.failuresOnly() {
		return Unknown, CauseNone
	}
	if down(e.sources) != "" {
		return Unknown, CauseNone // what it would have shown is not known
	}
	if j.state.forewarned(e.now) {
		return Watch, CauseCapacity
	}
	return Clear, CauseNone
}

// serious tells whether a finding above low holds.
func (j *judge) serious() bool {
	return slices.ContainsFunc(j.found, func(f found) bool { return f.over == 0 && severity(f.said.Severity) >= Medium })
}

// impatientOf is the share of impatient retries from which they make a storm, which
// is less for one that is under way.
func (s *verdictState) impatientOf() float64 {
	if s.since != 0 && s.word == Storm {
		return stormLeast * impatientOf
	}
	return impatientOf
}

// demandExceeds tells whether what is newly asked for has by itself been more than
// can be served for so long that it is no burst, however impatient the clients are;
// or whether it still is, where the capacity was found to be short.
func (j *judge) demandExceeds(e *engine) bool {
	s := &j.state
	short := s.since != 0 && (s.now.Cause == CauseMixed || s.now.Cause == CauseCapacity)
	return s.beyond != 0 && (short || e.now-s.beyond >= demandStay)
}

// followDemand keeps since when new demand exceeds what can be served: from where
// capacity-not-behaviour sees it do so, until it has fallen to it.
func (j *judge) followDemand(e *engine) {
	const beyond, refused = 2, .05 // sd and share, as in capacity-not-behaviour
	r, s, least := &j.loop, &j.state, float64(beyond)
	if s.beyond != 0 {
		least = 0
	}
	known := (r.Baseline || e.opt.Capacity > 0) && r.HeadroomKnown
	switch {
	case !known || r.FirstRefusedShare < refused || r.ExceedsCapacity < least:
		s.beyond = 0
	case s.beyond == 0:
		s.beyond = e.now
	}
}

// impatience tells whether a signature holds that makes impatient clients a storm. Of
// single clients it must hold of those who send a part of what is impatient: one of
// thousands does not say what the others do.
func (j *judge) impatience(w *windowSecond) bool {
	few := share(w.blamed, w.impatient) < blamedOf
	return slices.ContainsFunc(j.found, func(f found) bool {
		return f.over == 0 && f.sig.Storm && !(few && f.sig.Scope == rules.Client)
	})
}

// headless tells whether most answers lack their request, as where only the
// server's direction was captured: who asked for what, and what again, is not known.
func (e *engine) headless() bool { return 2*e.pop.total.orphans >= max(e.pop.total.attempts, 1) }

// timeless tells whether the input has no time stamps that mean anything: all that
// is judged rests on them.
func (e *engine) timeless() bool { return e.latest == e.first || e.unstamped() }

// wholeDay is the resolution of lines without a time, and of those that bear a date
// alone: what came after what is not known.
const wholeDay = 86400 * tick

// unstamped tells whether all that is judged bears no time of its own. What stands for
// one, such as the place in the file, is less than a day long.
func (e *engine) unstamped() bool {
	any := false
	for i := range e.sources {
		s := &e.sources[i]
		if !s.Primary || s.Kind == "prometheus" || s.Health.Used == 0 {
			continue
		}
		if s.Health.Resolution < wholeDay {
			return false
		}
		any = true
	}
	return any && e.latest-e.first < wholeDay
}

// mostlyFailing tells whether most of what ended in the last minute failed, though
// it is too little for a word of its own: one client that is refused for ever is no
// storm, and is not clear either.
func (e *engine) mostlyFailing() bool {
	const least = 10 // of fewer than ten, all in vain, a tenth may yet be served (.9^10 = .35)
	span := window
	if s := &e.judge.state; s.since == 0 && s.badUntil != 0 { // what the last incident left behind is told
		span = min(span, int((e.now-s.badUntil)/tick))
	}
	w, _ := e.pop.last(e.now, span)
	return w.failed >= least && 2*w.failed >= w.ended
}

// readable gives the counts by which it is known how much of the outcomes could be
// read: those of late, or where nothing ended of late, all.
func (e *engine) readable(w *windowSecond) *secondCounts {
	if w.ended+w.unread > 0 {
		return &w.secondCounts
	}
	return &e.pop.total
}

func share(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// incidentOnset is the earliest evidence of what began now.
func (j *judge) incidentOnset(e *engine) (at int64, censored bool) {
	at = j.loop.Onset
	for i := range j.found {
		if f := &j.found[i]; f.over == 0 && (at == 0 || f.onset < at) {
			at = f.onset
		}
	}
	if at == 0 {
		at = e.now - tick
	}
	return at, j.loop.OnsetCensored || at <= e.first+2*tick
}

// confidence rises with the score of the strongest finding, or with the sample
// where there is none. What the input could not show lowers it where it is told:
// how much that is, is known at the end.
func (j *judge) confidence(e *engine, word State) float64 {
	c := 0.0
	switch word {
	case Unknown:
		return 0
	case Clear, Recovering:
		n := float64(e.pop.total.attempts)
		c = n / (n + 50) // half sure after 50 exchanges, .95 after 1,000
	default:
		c = .5 // the heavy share itself is counted, not inferred
		for i := range j.found {
			if f := &j.found[i]; f.over == 0 && severity(f.said.Severity) > Info {
				c = max(c, .5+.5*f.said.Score)
			}
		}
	}
	return c
}

// hundredths is a confidence as it is told, of an input of some quality.
func hundredths(confidence, quality float64) float64 {
	return math.Round(min(confidence, .99)*quality*100) / 100
}

// trend compares failures of the last five seconds with the five before.
func (e *engine) trend() string {
	near, n := e.pop.last(e.now, 5)
	both, m := e.pop.last(e.now, 10)
	if n < 5 || m < 10 {
		return ""
	}
	a, b := float64(near.failed), float64(both.failed-near.failed)
	noise := 2 * math.Sqrt(a+b+1)
	switch {
	case a > 1.2*b && a-b > noise:
		return "growing"
	case a < .8*b && b-a > noise:
		return "falling"
	}
	return "steady"
}
