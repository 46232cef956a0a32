package detect

import (
	"time"

	"stormwatch/capture"
)

const (
	immediate  = int64(50 * time.Millisecond) // signatures-trial: under 50 ms nothing waited
	earlySlack = int64(50 * time.Millisecond) // scheduling noise that is no violation
	dateClock  = int64(time.Second)           // a date is cut to whole seconds (RFC 9110 5.6.7)
	fourth     = 4                            // attempts after which a further uncovered retry counts as impatient
	tenth      = 10                           // attempts after which a chain counts as endless
	maxHint    = int64(time.Hour)             // longer hints are absurd and oblige nobody,
	maxReset   = 24 * maxHint                 // save the end of a window: quotas are counted by the day
	believed   = .6                           // least confidence of a link on which a client is held to account (level E1)
)

// tolerance is how much before the hinted moment a retry may come: twice the
// clock's resolution, 50 ms or 2 % of the wait, whichever is largest.
func tolerance(wait, resolution int64) int64 {
	return max(2*resolution, earlySlack, wait/50)
}

// tooEarly tells whether a retry came before the wait its server named was over.
func tooEarly(wait, gap, resolution int64) bool { return gap < wait-tolerance(wait, resolution) }

// auditRetry holds a retry against what came before it, and tells whether it kept
// to a wait that the server named.
func (e *engine) auditRetry(d *delta, c *client, f *flight) (kept bool) {
	r, l := &f.rec, &f.link
	c.count(d, traced, 1)
	if l.Gap < immediate && l.Confidence >= believed && !f.replays() && !relayed(r) {
		c.note(d, f, instant, r.Start)
	}
	if f.endless {
		c.note(d, f, endless, r.Start)
	}
	if l.Confidence >= believed {
		e.auditCause(d, c, f)
		e.habits.wait(d.shard, f, e.resolution(r.source))
		e.auditUse(d, c, f)
	}
	return e.auditWait(d, c, f)
}

// relayed tells whether a proxy on the way sent this attempt, and says so: its burst
// within one attempt of the client is a layer's, which the layers tell of.
func relayed(r *record) bool {
	_, relay := counts(&r.Exchange)
	return relay.N > 1
}

// auditUse notes what a client makes of the wait that was named, save by a date
// where clocks differ.
func (e *engine) auditUse(d *delta, c *client, f *flight) {
	resolution := e.resolution(f.rec.source)
	if f.link.ParentHint.Kind == capture.RetryAfterDate {
		if e.skewed {
			return
		}
		resolution = max(resolution, dateClock)
	}
	d.history(c).obeys.obey(f, resolution)
}

// replays tells whether the retry in f may be its transport's: a request that an
// idle connection was closed under goes out once more at once (RFC 9112 section
// 9.3.1), without the client's knowing.
func (f *flight) replays() bool {
	l := &f.link
	lost := l.ParentOutcome == capture.Reset || l.ParentOutcome == capture.NoAnswer
	return l.Attempt == 2 && lost && l.Gap < immediate && l.ParentEnd-l.ParentStart < closing
}

// raced tells whether it is certain: a safe request that was not the first on its
// connection.
func (e *engine) raced(r *record) bool {
	lost := r.Status == 0 && (r.Outcome == capture.Reset || r.Outcome == capture.NoAnswer)
	return lost && r.ConnSeq > 1 && r.End-r.Start < closing && !e.unsafe(r)
}

// closing is within what time such a connection turns out to be closed: a round trip.
const closing = int64(500 * time.Millisecond)

// hinted tells whether the retry in f followed a hint it could have obeyed.
func (f *flight) hinted() bool {
	h := f.link.ParentHint
	return h.Usable() && h.Wait > 0 && h.Wait <= longest(h.Kind)
}

// longest is up to how long a wait of a kind obliges.
func longest(kind capture.HintKind) int64 {
	if kind.FromReset() {
		return maxReset
	}
	return maxHint
}

// auditWait holds a retry against the wait its server named.
func (e *engine) auditWait(d *delta, c *client, f *flight) (kept bool) {
	if !f.hinted() {
		return false
	}
	r, l := &f.rec, &f.link
	c.count(d, hinted, 1)
	wait, resolution := l.ParentHint.Wait, e.resolution(r.source)
	if l.ParentHint.Kind == capture.RetryAfterDate {
		resolution = max(resolution, dateClock)
		e.auditDate(d, c, f, resolution)
		if e.skewed {
			return true // its clock says so
		}
	}
	if !tooEarly(wait, l.Gap, resolution) {
		if l.Gap > overlong(wait) && l.Confidence >= believed {
			c.note(d, f, overwaited, r.Start)
		}
		return true
	}
	c.note(d, f, early, r.Start)
	c.count(d, earlyMs, int32((wait-l.Gap)/1e6))
	if l.Gap > immediate && near(l.Gap, wait/1000) || l.Gap <= immediate && l.ParentRelative {
		c.note(d, f, rescaled, r.Start)
	}
	return false
}

// overlong is how much after a refusal a retry counts as come far too late: three
// times the wait and five seconds, which no common jitter reaches.
func overlong(wait int64) int64 { return 3*wait + 5*int64(time.Second) }

// near tells whether a wait is another one within a tenth, or the noise of timers.
func near(a, b int64) bool {
	d := max(a-b, b-a)
	return d <= max(b/10, 20*int64(time.Millisecond)) && d < b
}

// auditCause holds a retry against the reason of the failure it follows.
func (e *engine) auditCause(d *delta, c *client, f *flight) {
	r, l := &f.rec, &f.link
	changed := r.Credential != 0 && l.ParentCred != 0 && r.Credential != l.ParentCred
	if r.Credential != 0 && deniesCredential(l.ParentStatus, l.Attempt) {
		c.count(d, denied, 1)
		if changed {
			c.note(d, f, rotated, r.Start)
		}
	}
	if l.ParentStatus < 400 && l.ParentReason == capture.BodyRefusal && l.ParentAdvice != capture.MayRetry {
		c.note(d, f, bodyAgain, r.Start)
	}
	if e.unsafe(r) && doubtful(l.ParentStatus, l.ParentOutcome) && (r.IdemKey == 0 || r.IdemKey != l.ParentIdem) {
		c.note(d, f, unsafeAgain, r.Start)
	}
	if l.Deadline != 0 && r.Start > l.Deadline+tolerance(0, max(e.resolution(r.source), grain(l.Deadline)/2)) {
		c.note(d, f, overdue, r.Start)
	}
}

// auditVain holds a retry that failed against the finality of the failure before it.
// One that succeeds shows that the answer was not final.
func (e *engine) auditVain(d *delta, c *client, f *flight) {
	r, l := &f.rec, &f.link
	if l.Parent == 0 || l.Confidence < believed || !isFinal(l.ParentStatus, l.ParentReason, l.ParentAdvice) && !spentQuota(l.ParentReason, l.ParentAdvice, l.ParentHint) {
		return
	}
	changed := r.Credential != 0 && l.ParentCred != 0 && r.Credential != l.ParentCred
	// A 401 may be cured once by logging in again.
	if !changed && (l.ParentStatus != unauthorized || l.Attempt > 2) {
		c.note(d, f, finalAgain, r.Start)
	}
}

// spentQuota tells whether a refusal is for a quota that no short wait refills.
func spentQuota(reason capture.Reason, advice capture.Advice, hint capture.Hint) bool {
	return reason == capture.Quota && advice != capture.MayRetry && !hint.Usable()
}

// grain is how finely a deadline is told: amz-sdk-request cuts it to whole seconds.
func grain(deadline int64) int64 {
	if deadline%tick == 0 {
		return tick
	}
	return 0
}

const unauthorized = 401

// deniesCredential tells whether an answer may tempt a client to try another
// credential: a refusal of it, or of the load it brings. One 401 is a token that
// ran out; its renewal is no rotation.
func deniesCredential(status uint16, attempt int32) bool {
	switch status {
	case 403, 429, 503:
		return true
	case unauthorized:
		return attempt > 2
	}
	return false
}

// isFinal tells whether the same request can only fail again, the reason judged
// before the status (RFC 9110 section 15.5; 409, 423 and 425 are retried on purpose).
func isFinal(status uint16, reason capture.Reason, advice capture.Advice) bool {
	switch advice {
	case capture.MustNotRetry:
		return true
	case capture.MayRetry:
		return false
	}
	if reason == capture.Throttle || reason == capture.Overload {
		return false
	}
	switch status {
	case 400, 401, 402, 403, 404, 405, 406, 410, 411, 413, 414, 415, 422, 501, 505:
		return true
	}
	return false
}

// doubtful tells whether the server may have done what was asked though no
// success was seen: no answer, a reset, or an error that says nothing of it.
func doubtful(status uint16, outcome capture.Outcome) bool {
	switch outcome {
	case capture.NoAnswer, capture.Reset, capture.Truncated:
		return true
	}
	switch status {
	case 500, 502, 504:
		return true
	}
	return false
}

// unsafe tells whether a request repeated may do its work twice (RFC 9110
// section 9.2.2).
func (e *engine) unsafe(r *record) bool {
	m := e.names.texts.Text(r.Method)
	return m == "POST" || m == "PATCH"
}

// auditOutcome counts the occasions that an outcome gives its client.
func (e *engine) auditOutcome(d *delta, c *client, f *flight) {
	r := &f.rec
	if r.Failed() {
		e.auditVain(d, c, f)
	}
	switch status := r.Effective(); {
	case r.Status < 400 && r.Reason == capture.BodyRefusal:
		c.count(d, bodyErrors, 1)
	case r.Failed() && (isFinal(status, r.Reason, r.Advice) || spentQuota(r.Reason, r.Advice, r.Hint)):
		c.count(d, finals, 1)
	case r.Failed() && doubtful(status, r.Outcome) && e.unsafe(r):
		c.count(d, risky, 1)
	}
	if r.Limit.Exhausted() && r.Limit.Reset > 0 && r.Limit.Reset <= maxReset {
		c.emptyFrom, c.emptyUntil = r.End, r.End+r.Limit.Reset
	} else if r.Limit.Left > 0 && r.End >= c.emptyFrom {
		c.emptyUntil = 0
	}
}

// auditRequest counts what a request shows by itself.
func (e *engine) auditRequest(d *delta, c *client, f *flight) {
	r := &f.rec
	if r.Deadline != 0 {
		c.count(d, timed, 1)
	}
	if r.Flags&capture.Repeated != 0 && r.IdemKey == 0 && e.unsafe(r) {
		c.count(d, risky, 1)
		c.count(d, relayedAgain, 1)
		c.note(d, f, unsafeAgain, r.Start)
		d.relayed++
	}
	if c.emptyUntil == 0 || r.Start < c.emptyFrom {
		return
	}
	c.count(d, toldEmpty, 1)
	if tooEarly(c.emptyUntil-c.emptyFrom, r.Start-c.emptyFrom, max(e.resolution(r.source), dateClock/2)) {
		c.note(d, f, spent, r.Start)
		return
	}
	c.emptyUntil = 0
}
