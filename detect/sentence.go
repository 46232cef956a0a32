package detect

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"stormwatch/detect/sustain"
	"stormwatch/rules"
)

// explain puts the verdict into sentences.
func (j *judge) explain(e *engine, v *Verdict, w *windowSecond, seconds int) {
	names := j.activeNames()
	switch v.State {
	case Unknown:
		v.What = fmt.Sprintf("%d requests so far, %d needed to judge", e.pop.total.attempts, fewest)
		v.Do = "Point stormwatch at more traffic, or wait."
		if c := e.readable(w); e.pop.total.attempts >= fewest && c.unread+c.ended == 0 {
			v.What = "no answers seen so far"
		} else if e.pop.total.attempts >= fewest {
			v.What = fmt.Sprintf("how %d of %d requests ended cannot be read: the capture lost or cut their answers, or it began after what these refer to", c.unread, c.unread+c.ended)
			v.Do = "Capture whole packets (tcpdump -s 0) of both directions, and for longer: connections that open while it runs can be read."
		}
		if e.pop.total.attempts >= fewest && e.failuresOnly() {
			v.What = fmt.Sprintf("cannot judge: the log leaves successes out; %d failures in ten seconds, of unknown many requests", w.failed)
			v.Do = "Look at a log of all requests, or capture the traffic: how much is refused cannot be told from failures alone."
		}
		if e.pop.total.attempts >= fewest && e.headless() {
			v.What = fmt.Sprintf("cannot judge: %d of %d answers were captured without their request", e.pop.total.orphans, e.pop.total.attempts)
			v.Do = "Capture both directions: a mirror port may carry one only."
		}
		if e.pop.total.attempts >= fewest && e.timeless() {
			v.What = "cannot judge: all requests bear the same time: the input has no time stamps"
			v.Do = "Capture anew in a form that keeps time stamps: tcpdump -w, or dumpcap."
			if e.unstamped() {
				v.What = "cannot judge: the requests bear no time: how fast they came, and what came after what, is not known"
				v.Do = "Log the time of each request, with milliseconds, or capture the traffic."
			}
		}
		if h := e.hidden(); e.mostlyHidden() && !e.headless() {
			kinds := h.kinds()
			v.What = fmt.Sprintf("cannot judge: %s, %d requests could be read", hiddenText(kinds), h.seen)
			v.Do = sentence(most(kinds).wish)
		}
	case Clear:
		v.What = clearText(&w.secondCounts)
	case Recovering:
		v.What = fmt.Sprintf("the incident is over since %d s, %.1f %% refused", (e.now-j.state.calmFrom)/tick, 100*share(w.refused, w.ended))
		v.Do = "Watch for the next burst before undoing what helped."
		v.Dont = "Do not lift limits and restart clients at the same moment."
	case Watch:
		v.What = "signs of trouble: " + strings.Join(names, ", ")
		if last, _ := e.pop.last(e.now, window); len(names) == 0 {
			v.What = fmt.Sprintf("few requests, most of them in vain: %d of %d failed within a minute", last.failed, last.ended)
		}
	default:
		v.What = alarmText(strings.Join(names, ", "), &w.secondCounts, &j.state.sum, e.lacks())
	}
	if v.State >= Watch {
		v.Party = j.party(e)
		v.Who = v.Party.String()
		j.advise(e, v)
		if v.State == Watch && len(names) == 0 && j.state.warned != nothingNear {
			j.state.warned.forewarn(&j.loop, v)
		}
	}
	v.NextEvidence = e.nextEvidence(v, seconds)
	if v.State >= Watch && e.names.outward {
		j.outwards(e, v)
	}
}

func clearText(w *secondCounts) string {
	return fmt.Sprintf("no signature, %.1f %% of requests refused", 100*share(w.refused, w.ended))
}

// alarmText names the signatures and the size of what goes on, by refusals or,
// where these are not half of the failures, by failures.
//
// Attempts per request are those of the whole incident: in the last seconds of one,
// when few begin anything new, the ratio says nothing about how often each is tried.
func alarmText(names string, w, incident *secondCounts, unknown lacking) string {
	kind, done, n := "heavy refusals", "refused", w.refused
	if 2*w.refused < w.failed {
		kind, done, n = "heavy failures", "failed", w.failed
	}
	if names == "" {
		names = kind
	}
	text := fmt.Sprintf("%s; %.0f %% %s", names, 100*share(n, w.ended), done)
	if unknown.successes {
		return fmt.Sprintf("%s; %d %s, of unknown many requests", names, n, done)
	}
	if n := incident.requests(); !unknown.clients && n > 0 {
		text += fmt.Sprintf(", %.1f attempts per request", share(incident.attempts, n))
	}
	return text
}

// lacking is what the input leaves out, of which the headline must not tell.
type lacking struct{ successes, clients bool }

func (e *engine) lacks() lacking { return lacking{e.failuresOnly(), e.nameless()} }

// activeNames lists the live signatures, the gravest first.
func (j *judge) activeNames() (names []string) {
	for level := Critical; level > Info; level-- {
		for i := range j.found {
			if f := &j.found[i]; f.over == 0 && severity(f.said.Severity) == level {
				names = append(names, f.sig.ID)
			}
		}
	}
	return names
}

// party is the clients and the route behind what is going on.
func (j *judge) party(e *engine) (p Party) {
	clients := sum(&e.pop.refusedBy)
	what := "refused"
	if k := j.gravest(); k >= 0 {
		clients, what = j.flagged[k], doing(j.clientSig[k])
		if f := j.find(j.clientSig[k].ID); f != nil {
			what = f.doing()
		}
	}
	if clients > 0 && !e.nameless() {
		p.Clients, p.Of, p.Does = int(clients), int(e.pop.clients), what
	}
	if f := j.find("lockstep"); f != nil {
		p = Party{Clients: int(math.Round(evidenceOf(f, rules.HerdClients))), Of: int(e.pop.clients), Does: "in step"}
		if g := onlyGroup(f.groups); g > 0 {
			p.Agent = e.agentName(g)
		}
	}
	if r := e.pop.worstRoute(); r > 0 {
		p.Route = e.names.texts.Text(e.names.routeOf[r])
	}
	return p
}

// doing is what the clients do that show a signature.
func doing(s *rules.Signature) string { return cmp.Or(s.Does, "show "+s.ID) }

// doing is what the clients of a finding do, or what is done to them.
func (f *found) doing() string {
	if n := evidenceOf(f, rules.RelayedRepeats); n > 0 && n == evidenceOf(f, rules.UnsafeRepeats) {
		return "have writes repeated by a proxy"
	}
	return doing(f.sig)
}

// String tells a party in one sentence.
func (p Party) String() string {
	s := ""
	if p.Clients > 0 {
		s = fmt.Sprintf("%d of %d clients %s", p.Clients, p.Of, p.Does)
	}
	if p.Agent != "" {
		s += ", agent " + p.Agent
	}
	if p.Route != "" {
		s = strings.TrimPrefix(s+" → ", " → ") + p.Route
	}
	return s
}

// gravest is the client signature that says most of who is to blame: the gravest,
// then the one that most clients carry; -1 if none holds.
func (j *judge) gravest() int {
	best := -1
	for k, s := range j.clientSig {
		if j.flagged[k] == 0 || j.find(s.ID) == nil || s.Scope != rules.Client {
			continue
		}
		if best < 0 || j.heavier(k, best) {
			best = k
		}
	}
	return best
}

func (j *judge) heavier(k, than int) bool {
	a, b := j.clientSig[k], j.clientSig[than]
	if a.Storm != b.Storm {
		return a.Storm
	}
	return cmp.Or(cmp.Compare(severity(a.Severity), severity(b.Severity)), cmp.Compare(j.flagged[k], j.flagged[than])) > 0
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
func (j *judge) advise(e *engine, v *Verdict) {
	switch v.Cause {
	case CauseCapacity:
		v.Do, v.Dont = j.firstAdvice(e, "capacity-not-behaviour")
	case CauseServer:
		v.Do = "Look at the servers first: most failures are their own errors, not refusals."
		v.Dont = "Do not tune clients' retries before the servers answer again."
	case CauseDraining:
		v.Do = drainAdvice + drainText(&j.loop) + ". Keep new load away."
		v.Dont = "Do not restart clients or servers now."
	case CauseUnknown:
		v.Do = "Find out what the server can serve, and who asks: see what is not judged, and why."
		v.Dont = "Do not raise a limit before it is known whether demand or retries fill it."
	}
	if v.Cause == CauseCapacity {
		return
	}
	f := j.foremost()
	switch {
	case f == nil:
	case v.Cause != CauseServer:
		v.Do, v.Dont = j.firstAdvice(e, f.sig.ID)
	default: // what can be done about retries at once is not put off until the servers are well
		if m := j.soonest(e, f.sig.ID); m != nil && m.When == "now" {
			v.Do, v.Dont = m.Title+"; look at the servers too: most failures are their own errors, not refusals", m.Dont
		}
	}
}

const drainAdvice = "Wait: what is asked is served and the backlog drains"

// drainText says when a backlog will be gone, to the next five seconds.
func drainText(r *sustain.Reading) string {
	if !r.DrainKnown {
		return ""
	}
	return fmt.Sprintf(", in about %.0f s", 5*max(1, math.Ceil(r.DrainS/5)))
}

// foremost is the finding to act on first: what makes the storm, then what is
// gravest; nil where there are only remarks.
func (j *judge) foremost() *found {
	rank := func(f *found) int {
		r := 2 * int(severity(f.said.Severity))
		if f.sig.Storm || f.sig.ID == "lockstep" {
			r++
		}
		return r
	}
	var best *found
	for i := range j.found {
		f := &j.found[i]
		if f.over == 0 && severity(f.said.Severity) >= Medium && (best == nil || rank(f) > rank(best)) {
			best = f
		}
	}
	return best
}

// firstAdvice is the first mitigation of those that can be done soonest, in words.
func (j *judge) firstAdvice(e *engine, signature string) (do, dont string) {
	m := j.soonest(e, signature)
	if m == nil {
		return "", ""
	}
	return m.Title, m.Dont
}

func (j *judge) soonest(e *engine, signature string) (first *rules.Mitigation) {
	f := j.find(signature)
	if f == nil {
		return nil
	}
	for _, id := range j.serving(e, f.sig) {
		if m := j.set.Mitigation(id); first == nil || turn(m) < turn(first) {
			first = m
		}
	}
	return first
}

// nextEvidence says what to fetch when the verdict is less than sure.
func (e *engine) nextEvidence(v *Verdict, seconds int) (next []string) {
	if !e.seesHints() && e.pop.total.attempts > 0 {
		next = append(next, "cannot see Retry-After: capture the traffic where HTTP is in clear text (tcpdump -U -w - 'tcp port 80')")
	}
	if e.clock() > int64(herdClock) && e.pop.total.attempts > 0 {
		next = append(next, "the clock is too coarse to see lockstep: log milliseconds ($msec), or capture the traffic")
	}
	if v.State >= Watch && !e.judge.loop.Baseline && e.opt.Capacity <= 0 {
		next = append(next, "no calm time before the incident: add an earlier log or capture, or give --capacity, to tell demand from retries")
	}
	h := e.hidden()
	for _, k := range h.kinds() {
		next = append(next, k.text+": "+k.wish)
	}
	if e.names.byKey && e.names.creds == 0 && e.pop.total.attempts > 0 {
		next = append(next, "no request carries a credential that can be seen, so clients are told apart by address: capture in clear text, or log $remote_user")
	}
	if e.failuresOnly() {
		next = append(next, "successes are not logged: log every request (remove the condition of the log), or capture the traffic")
	}
	if e.sampled() {
		next = append(next, "the input is a sample, so retries cannot be told: log every request, or capture the traffic")
	}
	for i := range e.sources {
		if s := &e.sources[i]; s.Unsure && s.Kind != "prometheus" {
			next = append(next, apartText(s, &e.sources[primaryOf(e.sources)]))
			break // one is enough near the headline; the notes of the input name all
		}
	}
	return next
}

// apartText says why a source is not added to the primary one, where nothing that they
// saw tells how they belong together.
func apartText(s, primary *Source) string {
	if s.unnamed() && primary.unnamed() || s.Vantage == primary.Vantage {
		return fmt.Sprintf("%s is not counted: it is a %s and %s a %s, and too little tells whether they saw the same; judge it alone", s.Name, s.Kind, primary.Name, primary.Kind)
	}
	return fmt.Sprintf("%s is not counted: by its name it is another hop than %s, and too little tells otherwise; give hosts of one tier without names", s.Name, primary.Name)
}

// unnamed tells whether nobody named the hop: it is called by the kind of its source.
func (s *Source) unnamed() bool { return s.Vantage == "" || s.Vantage == s.Kind }
