package detect

import (
	"slices"

	"stormwatch/rules"
)

// deed is something a client does that signatures hold it to account for, or an
// occasion to do it. Deeds are counted, so that the sums of many clients can be
// made and unmade.
type deed uint8

// Deeds. Those before faults are evidence: the moment of the first is kept.
const (
	instant     deed = iota // retries within 50 ms of the failure
	early                   // retries before the wait the server named was over
	datedEarly              // of them, where the wait was a date
	overwaited              // retries long after the wait was over
	rescaled                // early retries that fit the wait in another unit
	finalAgain              // retries of answers that no wait cures
	bodyAgain               // retries of a success whose body is an error
	rotated                 // retries of a refusal with another credential
	unsafeAgain             // writes sent again though the first may have been done
	overdue                 // attempts after the caller's deadline
	endless                 // chains of more than ten attempts
	spent                   // requests although the last answer left none
	parked                  // never came back after a refusal that named a wait
	punished                // early requests that were told to wait longer each time
	assumed                 // new requests refused while the wait of another ran: the limit is wider than was assumed
	uncovered               // retries that keep to no hint, in the present budget window
	called                  // bursts of one request, sent again at once after each success
	hotPoll                 // requests sent again far sooner than the server asked to be
	restarted               // walks through a list that started over after a refusal

	traced     // retries whose failed attempt was seen
	hinted     // retries after a usable hint
	dated      // of them, where the wait was a date
	finals     // answers that no wait cures
	bodyErrors // successes whose body is an error
	denied     // retries with a credential after a refusal for it, or for load
	risky      // writes of which it is not known whether they were done
	timed      // attempts with a deadline
	toldEmpty  // requests after an answer that left none
	beside     // new requests sent while the wait of another ran
	earlyMs    // by how much early retries were early, summed
	datedMs    // date hints: retry minus hinted moment, summed, ms
	datedSq    // and its square, summed, in tenths of a second
	datedGap   // how long those waited, summed, ms
	datedGapSq // and its square, summed, in tenths of a second
	sent       // attempts in the present budget window
	warned     // refusals that named a wait, and nothing since

	calledAgain  // requests sent again at once after a success
	callsInVain  // calls of such bursts but the first of each
	paceNamed    // answers that are no failures and named a pace
	pollMs       // pauses before hot polls, summed
	pacedMs      // what the server asked for, summed over them
	walks        // refusals within a list
	walkedAgain  // pages that had been served already
	relayedAgain // writes that a hop on the way repeated
	ignoredDates // early retries where the wait was a date and clocks agree
	deeds

	faults = traced
)

// conduct counts deeds. It saturates: nobody counts beyond two billion.
type conduct [deeds]int32

// occasion is the deed without which another cannot happen: who never met it is
// not exposed, and says nothing about how common the other one is.
var occasion = [faults]deed{
	instant: traced, early: hinted, datedEarly: dated, overwaited: hinted, rescaled: hinted, finalAgain: finals, bodyAgain: bodyErrors,
	rotated: denied, unsafeAgain: risky, overdue: timed, endless: traced, spent: toldEmpty, parked: warned, punished: hinted, assumed: beside,
	uncovered: traced, called: calledAgain, hotPoll: paceNamed, restarted: walks,
}

// faultFeatures are the features that count the faults.
var faultFeatures = [faults]rules.FeatureID{
	instant: rules.ImmediateRetries, early: rules.EarlyRetries, datedEarly: rules.SkewedRetries, overwaited: rules.OverwaitedRetries,
	rescaled: rules.RescaledRetries, finalAgain: rules.FinalRetries, bodyAgain: rules.BodyErrorRetries, rotated: rules.CredentialChanges,
	unsafeAgain: rules.UnsafeRepeats, overdue: rules.OverdueAttempts, endless: rules.EndlessChains, spent: rules.SpentRequests,
	parked: rules.Parked, punished: rules.PenaltyRises, assumed: rules.WiderRefusals, uncovered: rules.Uncovered,
	called: rules.CallBursts, hotPoll: rules.HotPolls, restarted: rules.Restarts,
}

// faultOf is the fault that a signature of clients is about: that of the first
// feature of which it needs a least number. A rule that names none is about
// retries.
func faultOf(s *rules.Signature) deed {
	for _, m := range s.Needs.Min {
		if id, known := rules.FeatureNamed(m.Feature); known {
			if d := slices.Index(faultFeatures[:], id); d >= 0 {
				return deed(d)
			}
		}
	}
	return instant
}

// conducts sums what clients did.
type conducts [deeds]int64

func (s *conducts) add(o *conduct, sign int64) {
	for i := range o {
		s[i] += sign * int64(o[i])
	}
}

// fair is what a client is held to account for at a moment. Where it misses the
// dates it is given by the same time each time, clocks differ, and it has ignored
// none.
func (c *client) fair(h *history, now int64, skewed bool) conduct {
	out := h.did
	if skewed || out.ownClock() {
		out[hinted] -= out[dated]
		out[early] = max(out[early]-out[datedEarly], 0)
	} else {
		out[ignoredDates], out[datedEarly] = out[datedEarly], 0
	}
	b := c.budget.at(now - 1)
	out[uncovered], out[sent] = b.uncovered, b.attempts
	out[parked] = int32(bit(h.parking.parked))
	return out
}

// note counts a deed of a client.
func (c *client) note(d *delta, f *flight, what deed, at int64) {
	c.count(d, what, 1)
	if what >= faults {
		return
	}
	c.just |= 1 << what
	f.shows |= 1 << what
	if h := d.history(c); h.since[what] == 0 {
		h.since[what] = moment(at - c.firstSeen)
	}
}

func (c *client) count(d *delta, what deed, n int32) {
	h := d.history(c)
	if h.did[what] == 0 && n != 0 {
		d.newDid[what]++
	}
	h.did[what] = int32(min(int64(h.did[what])+int64(n), 1<<31-1))
}

// moment keeps a time since the client's first request in milliseconds, 1 more so
// that 0 is none: enough for 49 days, later ones count as then.
func moment(ns int64) uint32 { return uint32(min(max(ns/1e6, 0)+1, 1<<32-1)) }

// began is when a client first did something, 0 if never.
func (c *client) began(h *history, what deed) int64 {
	if h.since[what] == 0 {
		return 0
	}
	return c.firstSeen + int64(h.since[what]-1)*1e6
}
