package sim

import (
	"strconv"
	"strings"
	"time"

	"stormwatch/policy"
)

// unit is a piece of work: what a client asks for, with all the attempts at it.
type unit struct {
	client *client
	feed   *feed
	path   string
	route  string // the path before its placeholders were filled in
	chain  uint64
	due    int64 // when it began
	root   *call // the client's own
	sent   int   // requests to the server, copies not counted
}

// newUnit draws what is asked for.
func (c *client) newUnit(f *feed, chain uint64, at int64) *unit {
	paths := c.group.Paths
	if len(f.Paths) > 0 {
		paths = f.Paths
	}
	i := f.begun % len(paths)
	if !f.InOrder {
		i = c.rng.IntN(len(paths))
	}
	f.begun++
	c.pages++
	return &unit{client: c, feed: f, path: c.fill(paths[i], chain), route: paths[i], chain: chain, due: at}
}

func (c *client) fill(path string, chain uint64) string {
	if !strings.Contains(path, "{") {
		return path
	}
	path = strings.ReplaceAll(path, "{id}", strconv.FormatUint(chain, 10))
	path = strings.ReplaceAll(path, "{page}", strconv.FormatUint(c.pages, 10))
	return strings.ReplaceAll(path, "{client}", strconv.Itoa(c.nth+1))
}

// call is one hop's part in a unit: it asks the next hop until an answer will do
// or it gives up. What it has under way carries the number of its try; what
// comes back under an older number is stale.
type call struct {
	unit     *unit
	hop      *hop
	outer    *call // of the hop that asked; nil for the client's own
	outerTry uint32
	inner    *call // under way at the next layer
	shots    []*shot
	depth    int           // layers passed
	attempt  int           // of this hop, rejected ones included
	try      uint32        // how often it began or ended one
	prev     time.Duration // delay before the last retry
	waited   time.Duration // sum of all such delays
	retried  bool          // what the budget was last asked for is a retry
	over     bool
	result   outcome // once it is over
}

// next returns the layer that a call's hop asks; nil: it asks the server.
func (c *call) next() *hops {
	if way := c.unit.client.way; c.depth < len(way) {
		return way[c.depth]
	}
	return nil
}

// send makes an attempt; what would start after the end of the scenario is not
// sent, and its chain stays open.
func (w *world) send(at int64, c *call) {
	h := c.hop
	if at >= w.end || c.over {
		return
	}
	if wait := h.heeder.wait(at); wait > 0 {
		w.events.push(event{at: at + int64(wait), what: send, call: c})
		return
	}
	if wait := h.pacer.wait(at); wait > 0 {
		w.events.push(event{at: at + int64(wait), what: paced, call: c})
		return
	}
	w.sendNow(at, c)
}

// sendNow sends what has its pace behind it.
func (w *world) sendNow(at int64, c *call) {
	h := c.hop
	if at >= w.end || c.over {
		return
	}
	if end := c.deadline(); end > 0 && at >= end {
		w.finish(at, c, &outcome{lost: true})
		return
	}
	c.attempt++
	c.try++
	if h.adaptive.rejects(at, h.rng) {
		w.settle(at, c, &outcome{local: true})
		return
	}
	if until := w.patience(at, c); until > 0 {
		w.events.push(event{at: until, what: expire, call: c, try: c.try})
	}
	if layer := c.next(); layer != nil {
		c.inner = &call{unit: c.unit, hop: layer.take(), outer: c, outerTry: c.try, depth: c.depth + 1}
		c.inner.hop.budget.begin(at)
		w.events.push(event{at: at + h.travel(), what: send, call: c.inner})
		return
	}
	w.shoot(at, c, false)
	if h.Hedge != nil {
		w.events.push(event{at: at + int64(h.Hedge.After), what: hedge, call: c, try: c.try})
	}
}

// patience is until when the attempt made now may take; 0: for ever.
func (w *world) patience(at int64, c *call) (until int64) {
	if c.hop.Timeout > 0 {
		until = at + int64(c.hop.Timeout)
	}
	if end := c.deadline(); end > 0 && (until == 0 || end < until) {
		until = end
	}
	return until
}

// deadline is when a call must be over; 0: never. Only the client knows it.
func (c *call) deadline() int64 {
	g := c.unit.client.group
	if c.outer != nil || g.Deadline == 0 || g.Overruns {
		return 0
	}
	return c.unit.due + int64(g.Deadline)
}

// settle ends an attempt: the hop tries again, or is content or gives up.
func (w *world) settle(at int64, c *call, o *outcome) {
	h := c.hop
	c.try++
	if h.adaptive != nil && !o.local {
		h.adaptive.learn(at, !o.lost && !o.refused())
	}
	h.heeder.learn(at, o)
	if keys := c.unit.client.keys; c.outer == nil && keys != nil && c.unit.client.rotateOn.has(o) && !o.local {
		keys.rotate()
	}
	if delay, again := w.again(at, c, o); again {
		c.prev = delay
		c.waited += delay
		w.events.push(event{at: at + int64(delay), what: send, call: c})
		return
	}
	w.finish(at, c, o)
}

// again decides about a retry.
func (w *world) again(at int64, c *call, o *outcome) (delay time.Duration, ok bool) {
	h := c.hop
	if !h.retry.has(o) {
		return 0, false
	}
	r := policy.Retry{N: c.attempt, Prev: c.prev, Total: c.waited}
	if !o.lost && !o.local {
		r.Hint, r.HasHint = h.hint(o, w.base+at+int64(h.Clock))
	}
	delay, ok = h.Policy.Delay(r, h.rng)
	if delay = min(delay, longest); o.local {
		delay = max(delay, time.Millisecond) // a process that only asks itself would spin
	}
	if end := c.deadline(); !ok || end > 0 && at+int64(delay) >= end || !h.budget.retry(at) {
		return 0, false
	}
	h.budget.end(c.retried) // the attempt that is over
	c.retried = true
	return delay, true
}

// finish ends a call and tells whoever asked.
func (w *world) finish(at int64, c *call, o *outcome) {
	c.over = true
	c.hop.budget.end(c.retried)
	if c.outer != nil {
		c.result = o.relayed()
		w.events.push(event{at: at + c.outer.hop.travel(), what: returned, call: c})
		return
	}
	f := c.unit.feed
	if f.Sequential && f.left > 0 {
		f.left--
		w.events.push(event{at: at + int64(f.Think), what: unitDue, feed: f})
	}
}

// relayed is what a proxy answers when this is what it got (RFC 9110 sections
// 15.6.3 to 15.6.5).
func (o *outcome) relayed() outcome {
	switch {
	case o.local:
		return outcome{status: 503}
	case o.lost && o.reset:
		return outcome{status: 502}
	case o.lost:
		return outcome{status: 504}
	}
	return *o
}

// returned takes the answer of a layer.
func (w *world) returned(at int64, inner *call) {
	c := inner.outer
	if c.over || inner.outerTry != c.try {
		return
	}
	c.inner = nil
	w.settle(at, c, &inner.result)
}
