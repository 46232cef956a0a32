package detect

import (
	"fmt"
	"math"
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
}

const (
	fewest      = 30        // exchanges below which nothing is said: one client's retries could make the picture
	heavyShare  = .05       // refusals or failures of a tenth of that are any API's daily noise
	heavyCount  = 20        // and at least so many of them in ten seconds
	impatientOf = .10       // share of the traffic from which a client finding is the service's storm
	stormHold   = 5 * tick  // an alarming word stays for this long after its last proof
	recoverHold = 30 * tick // calm for this long ends an incident
)

// verdict forms the verdict of the second that ended at e.now.
func (j *judge) verdict(e *engine) {
	s := &j.state
	w, seconds := e.pop.last(e.now, 10)
	word, cause := j.word(e, &w)
	earned := word
	if word >= Watch {
		s.badUntil, s.word = e.now, word
		s.calmFrom = 0
		if s.since == 0 {
			s.since, s.censored = j.incidentOnset(e)
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
			word = Recovering
		default:
			s.since, s.censored = 0, false
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
	if word > s.worst.State || word == s.worst.State && word == earned && s.now.Confidence >= s.worst.Confidence {
		s.worst = s.now
	}
}

// word judges the present second on its own.
func (j *judge) word(e *engine, w *windowSecond) (State, Cause) {
	if e.pop.total.attempts < fewest {
		return Unknown, CauseNone
	}
	failing := share(w.failed, w.ended)
	heavy := failing >= heavyShare && w.failed >= heavyCount
	loop := j.find("rising-share-after-burst") != nil
	herd := j.find("lockstep") != nil && heavy
	ignored := j.find("hint-ignored") != nil && heavy && share(w.impatient, w.attempts) >= impatientOf
	capacity := j.find("capacity-not-behaviour") != nil
	switch {
	case loop:
		return Storm, CauseLoop
	case (herd || ignored) && capacity:
		return Storm, CauseMixed
	case herd || ignored:
		return Storm, CauseClients
	case capacity:
		return Overloaded, CauseCapacity
	case heavy && j.loop.ServerFault && w.refused*2 < w.failed:
		return Overloaded, CauseServer
	case heavy && j.loop.Phase == "after-burst" && j.loop.Goodput >= j.loop.Fresh:
		return Overloaded, CauseDraining
	case heavy:
		return Overloaded, CauseUnknown
	}
	for i := range j.found {
		if f := &j.found[i]; f.over == 0 && severity(f.said.Severity) >= Medium {
			return Watch, CauseUnknown
		}
	}
	if e.mostlySealed() {
		return Unknown, CauseNone
	}
	return Clear, CauseNone
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
// where there is none, and falls with what the input could not show.
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
			if f := &j.found[i]; f.over == 0 {
				c = max(c, .5+.5*f.said.Score)
			}
		}
	}
	return math.Round(min(c, .99)*e.quality()*100) / 100
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

// explain puts the verdict into sentences.
func (j *judge) explain(e *engine, v *Verdict, w *windowSecond, seconds int) {
	names := j.activeNames()
	refused := share(w.refused, w.ended)
	amp := share(w.attempts, w.first)
	switch v.State {
	case Unknown:
		v.What = fmt.Sprintf("%d requests so far, %d needed to judge", e.pop.total.attempts, fewest)
		v.Do = "Point stormwatch at more traffic, or wait."
		if e.mostlySealed() {
			v.What = fmt.Sprintf("cannot judge: %s, %d requests could be read", sealedText(e.sealed()), e.pop.total.attempts)
			v.Do = "C" + unsealing[1:] + "."
		}
	case Clear:
		v.What = fmt.Sprintf("no signature, %.1f %% of requests refused", 100*refused)
	case Recovering:
		v.What = fmt.Sprintf("the incident is over since %d s, %.1f %% refused", (e.now-j.state.calmFrom)/tick, 100*refused)
		v.Do = "Watch for the next burst before undoing what helped."
		v.Dont = "Do not lift limits and restart clients at the same moment."
	case Watch:
		v.What = "signs of trouble: " + strings.Join(names, ", ")
	default:
		v.What = strings.Join(names, ", ")
		if v.What == "" {
			v.What = "heavy refusals"
		}
		v.What += fmt.Sprintf("; %.0f %% refused", 100*refused)
		if w.first > 0 {
			v.What += fmt.Sprintf(", %.1f attempts per request", amp)
		}
	}
	if v.State >= Watch {
		v.Who = j.who(e)
		j.advise(v)
	}
	v.NextEvidence = e.nextEvidence(v, seconds)
}

// activeNames lists the live signatures, the gravest first.
func (j *judge) activeNames() (names []string) {
	for level := Critical; ; level-- {
		for i := range j.found {
			if f := &j.found[i]; f.over == 0 && severity(f.said.Severity) == level {
				names = append(names, f.sig.ID)
			}
		}
		if level == Info {
			return names
		}
	}
}

// who names the clients and the route behind what is going on.
func (j *judge) who(e *engine) string {
	clients := sum(&e.pop.refusedBy)
	what := "refused"
	for k, n := range j.flagged {
		if n > 0 && j.find(j.clientSig[k].ID) != nil {
			clients, what = n, "sending too early"
		}
	}
	s := fmt.Sprintf("%d of %d clients %s", clients, len(e.clients)-1, what)
	if f := j.find("lockstep"); f != nil {
		s = fmt.Sprintf("%.0f of %d clients in step", evidenceOf(f, rules.HerdClients), len(e.clients)-1)
		if g := onlyGroup(f.groups); g > 0 {
			s += ", agent " + e.agentName(g)
		}
	}
	if r := e.pop.worstRoute(); r > 0 {
		s += " → " + e.names.texts.Text(e.names.routeOf[r])
	}
	return s
}

// onlyGroup returns the agent group when there is exactly one, else 0.
func onlyGroup(groups uint64) int {
	if groups == 0 || groups&(groups-1) != 0 {
		return 0
	}
	g := 0
	for groups >>= 1; groups > 0; groups >>= 1 {
		g++
	}
	return g
}

func (e *engine) agentName(group int) string {
	if n := e.names.texts.Text(e.names.agentOf[group]); n != "" {
		return n
	}
	return "(none)"
}

// worstRoute is the route with the most refusals, 0 if there is none.
func (p *population) worstRoute() int {
	best := 0
	for i := 1; i < len(p.refusedOn); i++ {
		if p.refusedOn[i] > p.refusedOn[best] {
			best = i
		}
	}
	if p.refusedOn[best] == 0 {
		return 0
	}
	return best
}

// advise takes the first mitigation of the gravest finding as what to do first.
func (j *judge) advise(v *Verdict) {
	switch v.Cause {
	case CauseCapacity:
		v.Do, v.Dont = j.firstAdvice("capacity-not-behaviour")
	case CauseServer:
		v.Do = "Look at the servers first: most failures are their own errors, not refusals."
		v.Dont = "Do not tune clients' retries before the servers answer again."
	case CauseDraining:
		v.Do = "Wait: what is asked is served and the backlog drains. Keep new load away."
		v.Dont = "Do not restart clients or servers now."
	case CauseUnknown:
		v.Do = "Find out what the server can serve, and who asks: see what is not judged, and why."
		v.Dont = "Do not raise a limit before it is known whether demand or retries fill it."
	}
	for _, id := range []string{"rising-share-after-burst", "lockstep", "hint-ignored", "hint-missing"} {
		if v.Cause == CauseCapacity {
			break
		}
		if f := j.find(id); f != nil {
			v.Do, v.Dont = j.firstAdvice(id)
			return
		}
	}
}

func (j *judge) firstAdvice(signature string) (do, dont string) {
	f := j.find(signature)
	if f == nil || len(f.sig.Mitigations) == 0 {
		return "", ""
	}
	m := j.set.Mitigation(f.sig.Mitigations[0])
	if m == nil {
		return "", ""
	}
	return m.Title, m.Dont
}

// nextEvidence says what to fetch when the verdict is less than sure.
func (e *engine) nextEvidence(v *Verdict, seconds int) (next []string) {
	if !e.seesHints() && e.pop.total.attempts > 0 {
		next = append(next, "cannot see Retry-After: capture the traffic where HTTP is in clear text (tcpdump -U -w - 'tcp port 80')")
	}
	if n := e.sealed(); n > 0 {
		next = append(next, sealedText(n)+": "+unsealing)
	}
	if e.clock() > int64(herdClock) && e.pop.total.attempts > 0 {
		next = append(next, "the clock is too coarse to see lockstep: log milliseconds ($msec), or capture the traffic")
	}
	if v.State >= Watch && !e.judge.loop.Baseline && e.opt.Capacity <= 0 {
		next = append(next, "no calm time before the incident: add an earlier log or capture, or give --capacity, to tell demand from retries")
	}
	return next
}
