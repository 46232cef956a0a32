package detect

import "time"

// ban is the wait that a server named a client last, and what the client does while
// it runs: who comes early may be told to wait longer each time, and who lets only
// the refused request wait goes on with others that the same limit refuses.
type ban struct {
	from, until int64  // the end of the refusal, and of the wait
	cred, op    uint64 // of the refused request
	besideAt    int64  // second of the latest new request sent while the wait ran
	first, last uint32 // waits, ms: of the run of early requests, and the latest
	rises       uint8  // how often a request that came early was told to wait longer
	falls       uint8  // or less
}

const (
	longestBan = int64(24 * time.Hour) // a longer wait is no number to reckon with
	fewRises   = 4                     // of waits at random as many in a row grow in 1 of 120,
	penaltyOf  = 8                     // and hardly any to so many times the first
	wideWait   = 10 * tick             // shorter waits are over before others can be held back
	wideEnd    = tick                  // and nothing is said of what comes in the last of it
)

// mixed tells whether limits refuse some and serve others at this time, so that it
// means something who is refused: they count by client, or most first attempts are
// served, or one client is all there is.
func (e *engine) mixed() bool {
	w, _ := e.pop.last(e.now+tick, 3)
	if e.pop.clients <= 2 || 2*w.firstRefused < max(w.firstEnded, 1) && e.judge.loop.FirstRefusedShare < .5 {
		return true
	}
	s := e.scopes.told()
	return s == ScopeCredential || s == ScopeAddress
}

// auditBan notes a new request that is sent while another waits, one a second: those
// of a burst were on their way before anybody could know that others are refused.
func (e *engine) auditBan(c *client, f *flight) {
	b, r := &e.histories.of(c).ban, &f.rec
	f.beside = f.link.Attempt <= 1 && !f.noChain && b.until-b.from >= wideWait && f.op != b.op && r.Credential == b.cred &&
		r.Start > b.from && r.Start < b.until-wideEnd && b.besideAt != floor(r.Start) && e.narrow
	if f.beside {
		b.besideAt = floor(r.Start)
	}
}

// auditRefusal holds a refusal, or what is none, against the wait that the client
// was named before.
func (e *engine) auditRefusal(d *delta, c *client, f *flight) {
	r := &f.rec
	refused := limited(r)
	if f.beside {
		c.count(d, beside, 1)
		if refused {
			c.note(d, f, assumed, r.Start)
		}
	}
	if !refused || !r.Hint.Usable() || r.Hint.Wait <= 0 || r.Hint.Wait > longestBan {
		return
	}
	b, wait := &d.history(c).ban, millis(r.Hint.Wait)
	until := r.End + r.Hint.Wait
	switch early := r.Start > b.from && r.Start < b.until-tolerance(b.until-b.from, e.resolution(r.source)); {
	case !early:
		b.first, b.rises, b.falls = wait, 0, 0
	case until-b.until < 2*tick && b.until-until < 2*tick: // the same moment, told anew
	case wait > b.last+b.last/20:
		b.rises = min(b.rises+1, 200)
		e.punish(d, c, f, wait)
	case wait < b.last-b.last/20:
		b.falls = 1
	}
	b.last = wait
	if until > b.until || r.End > b.until {
		b.from, b.until, b.cred, b.op = r.End, until, r.Credential, f.op
	}
}

// punish notes that a wait grows as a penalty.
func (e *engine) punish(d *delta, c *client, f *flight, wait uint32) {
	h := d.history(c)
	b := &h.ban
	switch {
	case b.falls > 0 || b.rises < fewRises || wait < penaltyOf*b.first:
	case h.did[punished] == 0:
		c.count(d, punished, int32(b.rises)-1)
		fallthrough
	default:
		c.note(d, f, punished, f.rec.End)
	}
}
