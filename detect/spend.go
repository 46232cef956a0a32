package detect

import "stormwatch/capture"

// budgetWindow counts a client's traffic in the present quarter of a minute, by
// the clock, so that one burst is one window in nearly all cases.
type budgetWindow struct {
	from                int64 // its start
	attempts, uncovered int32
}

// budgetSpan is how long a client's retries are held against its traffic
// (signatures-trial, budget-exceeded: windows of 5 s, then 15 s).
const budgetSpan = 15 * tick

// overspend counts a retry that keeps to no hint against its client's budget.
func (c *client) overspend(d *delta, f *flight) {
	c.budget.at(f.rec.Start).uncovered++
	c.note(d, f, uncovered, f.rec.Start)
	d.sum.uncovered++
}

// mayKeep tells whether a retry may have kept to a wait that the source does not show:
// it followed a refusal by no less than the shortest wait in whole seconds. What is not
// known is not held against anybody.
func (f *flight) mayKeep(resolution int64) bool {
	l := &f.link
	refused := l.ParentReason == capture.Throttle || l.ParentReason == capture.Overload
	return refused && l.ParentOutcome == capture.Answered && l.ParentHint.State == capture.NotObservable && !tooEarly(tick, l.Gap, resolution)
}

// overspent tells whether retries are more than a fifth of all that a client sent,
// beyond what one bad request explains (Finagle's budget: a fifth).
func (c *client) overspent(h *history) bool {
	const fewest, part = 3, 5
	return h.did[uncovered] >= fewest && part*uint32(h.did[uncovered]) >= c.attempts
}

func (b *budgetWindow) at(t int64) *budgetWindow {
	if from := floorTo(t, budgetSpan); from > b.from || b.attempts == 0 {
		*b = budgetWindow{from: from}
	}
	return b
}
