package detect

import (
	"stormwatch/capture"
	"stormwatch/rules"
)

// lately is what a client asked for of late and was served, so that it shows when it
// asks for the same again although nothing failed. All clients have it, hence its size.
type lately [2]served

// served is the last answer to a request of a client.
type served struct {
	op, end    uint32 // the operation's low half; when it ended, as a moment since the first request
	run, tight uint16 // times it was asked for again, within againWithin; and within immediate
	kind       kindServed
}

// kindServed is what came of a request that did not fail.
type kindServed uint8

const (
	servedPlain kindServed = iota
	servedElsewhere
	servedBriefly
)

const (
	againWithin = 10_000     // ms after an answer within which who asks for the same asks again
	burstPause  = 1000       // ms without a call that end a burst of calls
	leastBurst  = 10         // calls of a burst: a page asks for the same twice or thrice
	mostBurst   = 250        // more in one go are a load test's
	forgotten   = 60_000     // ms after which the number of times is no reason to keep an answer
	lastMoment  = 1<<32 - 1  // where moments saturate
	fewSessions = 4          // times a session that came to nothing was begun again
	askedThrice = 2          // times a request was asked for again
	mostAsked   = 6          // beyond, who follows no redirect is a health check or a poller
	paceOf      = 10         // parts of the pace that was named, of which a hot poll takes less than one
	paceHolds   = 600 * tick // a pace is that of what follows, up to so long after, or ten times the pace
	leastPace   = 2 * tick
)

// repeated counts, of a second, what was asked for again though it did not fail.
type repeated struct {
	elsewhere, elsewhereAgain int64 // redirects: asked for first; and again, up to mostAsked times
	sessions, brief           int64 // upgrades; those whose session ended at once
}

func (r *repeated) add(o *repeated) {
	r.elsewhere += o.elsewhere
	r.elsewhereAgain += o.elsewhereAgain
	r.sessions += o.sessions
	r.brief += o.brief
}

// find returns what is known of an operation, nil if nothing is.
func (l *lately) find(op uint32) *served {
	for i := range l {
		if s := &l[i]; s.op == op && s.end != 0 {
			return s
		}
	}
	return nil
}

// room returns where the answer to an operation is kept: where its last one is, else
// in place of what was asked for again less often, or earlier.
func (l *lately) room(op, now uint32) *served {
	if s := l.find(op); s != nil {
		return s
	}
	a, b := &l[0], &l[1]
	if wa, wb := a.worth(now), b.worth(now); wb < wa || wb == wa && b.end < a.end {
		a = b
	}
	*a = served{op: op}
	return a
}

// drop forgets an operation that failed: what comes next may be its retry.
func (l *lately) drop(op uint32) {
	if s := l.find(op); s != nil {
		*s = served{}
	}
}

// servedSince tells whether a client was served something else since it was served this.
func (l *lately) servedSince(s *served) bool {
	for i := range l {
		if o := &l[i]; o.op != s.op && o.kind == servedPlain && o.end > s.end {
			return true
		}
	}
	return false
}

func (s *served) worth(now uint32) uint16 {
	if s.end == 0 || now > s.end && now-s.end > forgotten {
		return 0
	}
	return max(s.run, s.tight)
}

// auditAgain notes how often in a row a request was asked for before and was served.
func (e *engine) auditAgain(d *delta, c *client, f *flight) {
	f.run, f.was = 0, servedPlain
	if f.noChain || f.link.Attempt > 1 {
		return
	}
	at := moment(f.rec.Start - e.first)
	s := c.lately.find(uint32(f.op))
	if s == nil || at < s.end || at == lastMoment {
		return // or it was asked for while the one before was open
	}
	pause := at - s.end
	if pause <= againWithin {
		f.run, f.was = min(s.run, 1<<16-2)+1, s.kind
		e.auditPace(d, c, f, pause)
	}
	switch {
	case int64(pause)*1e6+2*e.resolution(f.rec.source) <= immediate:
		if s.tight++; s.tight == 0 {
			s.tight--
		}
		c.count(d, calledAgain, 1)
	case pause >= burstPause:
		if s.tight >= leastBurst-1 && s.tight < mostBurst {
			c.note(d, f, called, f.rec.Start)
			c.count(d, callsInVain, int32(s.tight))
		}
		s.tight = 0
	default:
		s.tight = 0 // it waits between calls, as whoever has something to ask does
	}
}

// auditServed takes in the outcome of a request that did not fail.
func (e *engine) auditServed(d *delta, c *client, f *flight) {
	r := &f.rec
	if f.noChain {
		return
	}
	op, at := uint32(f.op), moment(r.End-e.first)
	e.auditPaced(d, c, f)
	s := c.lately.room(op, at)
	s.end, s.run, s.kind = max(s.end, at), f.run, servedPlain
	if r.Status == 206 || r.End-r.Start >= burstPause*1e6 || r.Body == 0 && !e.reads(r) {
		s.tight = 0 // a part, a long poll, or who knows what was asked
	}
	switch {
	case r.Reason == capture.Redirect:
		s.kind = servedElsewhere
		if c.lately.servedSince(s) {
			f.run = 0 // it was followed, as to a login
		}
		e.noteElsewhere(d, c, f)
	case r.Status == 101:
		d.repeated.sessions++
		if r.Flags&capture.Brief != 0 {
			s.kind = servedBriefly
			e.noteBrief(d, c, f)
		} else if !outlasts(r) {
			d.sessionsOn[r.route].lasting++
		}
	}
	if f.was != s.kind {
		s.run = 0
	}
}

// noteElsewhere counts a redirect: what a client gets again and again that follows it
// and finds nothing there.
func (e *engine) noteElsewhere(d *delta, c *client, f *flight) {
	switch {
	case f.run == 0 || f.was != servedElsewhere:
		d.repeated.elsewhere++
	case f.run <= mostAsked:
		d.repeated.elsewhereAgain++
		if f.run >= askedThrice {
			d.elsewhereBy.move(&d.history(c).elsewhere, e.now)
		}
	}
}

// noteBrief counts a session that ended at once.
func (e *engine) noteBrief(d *delta, c *client, f *flight) {
	d.repeated.brief++
	d.sessionsOn[f.rec.route].brief++
	if f.run >= fewSessions && f.was == servedBriefly {
		d.briefBy.move(&d.history(c).brief, e.now)
	}
}

// paced is the pace at which a server asked a client to come back, in an answer that
// is no failure: to an operation that goes on (RFC 9110 section 10.2.3).
type paced struct {
	wait, at int64
	op       uint32
	begun    bool      // by something other than a read: it is polled under another name
	poll     uint32    // the operation that is taken for its poll; 0 none yet
	known    [2]uint32 // asked for before, so that it is no poll of what was begun
}

// auditPaced notes the pace that an answer names.
func (e *engine) auditPaced(d *delta, c *client, f *flight) {
	r := &f.rec
	if !r.Hint.Usable() || r.Hint.Kind.FromReset() || r.Hint.Kind == capture.InBody || r.Hint.Wait < leastPace || r.Hint.Wait > maxHint || r.Status >= 400 {
		return
	}
	h, op := d.history(c), uint32(f.op)
	if op != h.paced.op {
		h.paced.known, h.paced.poll = [2]uint32{c.lately[0].op, c.lately[1].op}, 0
	}
	h.paced.begun = !e.reads(r)
	h.paced.op, h.paced.wait, h.paced.at = op, r.Hint.Wait, r.End
	c.count(d, paceNamed, 1)
}

// auditPace holds a request, sent again after a pause in ms, against the pace that the
// server named.
func (e *engine) auditPace(d *delta, c *client, f *flight, pause uint32) {
	if c.history == 0 {
		return
	}
	p, r, op := &d.histories.of(c).paced, &f.rec, uint32(f.op)
	if p.wait == 0 || r.Start > p.at+max(paceHolds, 10*p.wait) || !e.reads(r) || !p.concerns(op) {
		return
	}
	if gap := int64(pause)*1e6 + 2*e.resolution(r.source); gap < p.wait/paceOf {
		c.note(d, f, hotPoll, r.Start)
		c.count(d, pollMs, int32(pause))
		c.count(d, pacedMs, int32(p.wait/1e6))
	}
}

// concerns tells whether an operation is what a pace was named for, or the first that is
// polled after something was begun.
func (p *paced) concerns(op uint32) bool {
	if op == p.op {
		return true
	}
	if !p.begun || op == p.known[0] || op == p.known[1] {
		return false
	}
	if p.poll == 0 {
		p.poll = op
	}
	return op == p.poll
}

// reads tells whether a request only asks.
func (e *engine) reads(r *record) bool {
	m := e.names.texts.Text(r.Method)
	return m == "GET" || m == "HEAD"
}

// repeats is what everybody asked for again though it did not fail.
type repeats struct {
	elsewhereBy, briefBy [window]int64 // distinct clients, by the second of their latest
	before               repeated      // of the seconds before, while few asked again
	total                repeated
	until                int64 // seconds before this are in it, or must not be
	many                 bool  // as of the second before: many ask again
}

// turn makes room for the second at now in place of the one a window before.
func (r *repeats) turn(now int64, leaving *windowSecond) {
	r.elsewhereBy[slot(now)], r.briefBy[slot(now)] = 0, 0
	if now-window*tick >= r.until {
		r.before.add(&leaving.repeated)
	}
}

// follow keeps what was usual before many asked again, which must not learn from that.
func (p *population) follow(many bool, now int64) {
	r := &p.repeats
	if many && !r.many {
		for t := max(r.until, now-min(window, p.judged)*tick); t < now-againWithin*1e6; t += tick {
			r.before.add(&p.seconds[slot(t)].repeated)
		}
	}
	if r.many = many; many {
		r.until = now
	}
}

// lacks tells whether nothing was seen of what a signature is about, so that there is
// nothing to judge: what is not asked for needs no more data.
func (p *population) lacks(signature string) bool {
	switch t := &p.repeats.total; signature {
	case "redirect-unfollowed":
		return t.elsewhereAgain == 0
	case "session-dies":
		return t.brief == 0
	case "unsafe-write-retried":
		return p.relayed == 0
	}
	return false
}

// againSigns tell, for the signatures of everybody, which outcome shows them.
var againSigns = map[string]func(*flight) bool{
	"redirect-unfollowed": func(f *flight) bool {
		return f.rec.Reason == capture.Redirect && f.was == servedElsewhere && f.run >= askedThrice
	},
	"session-dies": func(f *flight) bool { return f.rec.Flags&capture.Brief != 0 && f.was == servedBriefly },
}

// manyAgain is the share of redirects that were asked for again from which what leaves
// the window is no part of what is usual.
const manyAgain = .2

// repeatFeatures sets what was asked for again though it did not fail.
func (e *engine) repeatFeatures(v *rules.Values, w *windowSecond) {
	r, s := &e.pop.repeats, &w.repeated
	all := s.elsewhere + s.elsewhereAgain
	e.pop.follow(float64(s.elsewhereAgain) > manyAgain*float64(all), e.now)
	shareFeatures(v, rules.ElsewhereShare, rules.ElsewhereLow, s.elsewhereAgain, all)
	v.Set(rules.ElsewhereAgain, float64(s.elsewhereAgain), all)
	v.Set(rules.ElsewhereClients, float64(sum(&r.elsewhereBy)), all)
	b := r.before.elsewhere + r.before.elsewhereAgain
	v.Set(rules.ElsewhereBefore, float64(b), b)
	v.Set(rules.ElsewhereBeforeShare, share(r.before.elsewhereAgain, b), b)
	e.sessionFeatures(v, s)
	v.Set(rules.UnsafeRepeats, float64(e.pop.relayed), e.pop.total.attempts)
	unsafeLow(e, v)
	v.Set(rules.RelayedRepeats, float64(e.pop.relayed), e.pop.total.attempts)
}
