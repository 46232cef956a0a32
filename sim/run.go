package sim

import (
	"math/rand/v2"

	"stormwatch/capture"
	"stormwatch/policy"
)

// MaxRows is where a run stops, so that a scenario of endless retries cannot
// fill the memory.
const MaxRows = 4_000_000

// world is a run under way. Its times are nanoseconds since the scenario's start.
type world struct {
	*Result
	base   int64 // the start, Unix ns
	end    int64 // no request is sent from here on
	events queue
	server *front
	chains uint64
}

// Run plays a scenario that has passed Validate (Parse and Load see to it).
func Run(sc *Scenario) *Result {
	w := &world{
		Result: &Result{Scenario: sc},
		base:   sc.Start.UnixNano(),
		end:    int64(sc.Duration),
		server: newFront(&sc.Server, rand.New(rand.NewPCG(sc.Seed, 0))),
	}
	w.populate()
	for len(w.Rows) < MaxRows {
		e, ok := w.events.pop()
		if !ok {
			w.closeIdle()
			return w.Result
		}
		w.play(&e)
	}
	w.Cut = true
	return w.Result
}

// populate makes the clients and puts the first unit of each feed in the queue.
func (w *world) populate() {
	for g := range w.Scenario.Groups {
		group := &w.Scenario.Groups[g]
		for nth := range group.Count {
			c := &client{id: len(w.Clients), nth: nth, group: group, addr: address(g, nth)}
			c.rng = rand.New(rand.NewPCG(w.Scenario.Seed, uint64(g+1)<<32|uint64(nth)))
			w.Clients = append(w.Clients, Client{Addr: c.addr, Group: g})
			for _, d := range group.Demand {
				w.await(&feed{Demand: d, client: c, left: d.Units})
			}
		}
	}
}

// await schedules the next unit of a feed.
func (w *world) await(f *feed) {
	if at, ok := f.next(f.client.rng); ok && at < w.end {
		w.events.push(event{at: at, what: unitDue, feed: f})
	}
}

func (w *world) play(e *event) {
	switch e.what {
	case unitDue:
		w.chains++
		w.send(e.at, e.feed.client.newUnit(e.feed, w.chains))
		if !e.feed.Sequential {
			w.await(e.feed)
		}
	case send:
		w.send(e.at, e.unit)
	case arrive:
		w.arrive(e.at, e.unit)
	case answered:
		w.answered(e.at, e.unit)
	}
}

// send puts an attempt on a connection; what would start after the end of the
// scenario is not sent, and its chain stays open.
func (w *world) send(at int64, u *unit) {
	if at >= w.end {
		return
	}
	u.attempt++
	u.sent, u.lost = at, false
	conn, fresh := w.connect(at, u.client)
	u.conn = conn
	arrival := at + u.client.way()
	if fresh { // the handshake takes a round trip before the request can leave
		arrival += 2 * int64(u.client.group.Latency)
	}
	w.events.push(event{at: arrival, what: arrive, unit: u})
}

// connect takes the client's most recently used open connection, or dials.
func (w *world) connect(at int64, c *client) (conn int, fresh bool) {
	w.expire(at, c)
	if n := len(c.idle); n > 0 {
		conn = c.idle[n-1]
		c.idle = c.idle[:n-1]
		return conn, false
	}
	opened := w.base + at + int64(c.group.Latency)
	w.Conns = append(w.Conns, Conn{Src: c.source(), Client: c.id, Opened: opened})
	return len(w.Conns) - 1, true
}

// expire closes the connections of a client that were idle too long.
func (w *world) expire(at int64, c *client) {
	kept := c.idle[:0]
	for _, i := range c.idle {
		conn := &w.Conns[i]
		if until := conn.lastUse + int64(c.group.Idle); until <= at {
			conn.Closed = w.base + until + int64(c.group.Latency)
			continue
		}
		kept = append(kept, i)
	}
	c.idle = kept
}

// arrive lets the server answer, and works out what the client will see of it.
func (w *world) arrive(at int64, u *unit) {
	group := u.client.group
	u.answer = w.server.answer(at)
	back := u.answer.done + u.client.way()
	conn := &w.Conns[u.conn]
	conn.requests++
	row := Row{
		Start: w.base + at, End: w.base + u.answer.done,
		Client: u.client.id, Conn: u.conn, ConnSeq: conn.requests, Path: u.path,
		Status: u.answer.status, RetryAfter: u.answer.wait, Hinted: u.answer.hinted,
		Chain: u.chain, Attempt: u.attempt,
	}
	if patience := u.sent + int64(group.Timeout); group.Timeout > 0 && back > patience {
		left := max(patience+int64(group.Latency), at+1)
		conn.Closed, conn.Aborted = w.base+left, true
		if u.answer.done > left { // the work is done all the same, for nobody
			row.Status, row.Outcome, row.End = 0, capture.Reset, conn.Closed
			row.RetryAfter, row.Hinted = 0, false
		}
		u.lost = true
		back = max(patience, at)
	}
	w.Rows = append(w.Rows, row)
	w.events.push(event{at: back, what: answered, unit: u})
}

// answered lets the client act on an answer, or on the lack of one.
func (w *world) answered(at int64, u *unit) {
	if !u.lost {
		w.Conns[u.conn].lastUse = at
		u.client.idle = append(u.client.idle, u.conn)
	}
	if u.lost || u.answer.status != 200 {
		delay, again := u.client.group.Policy.Delay(u.retry(), u.client.rng)
		if again {
			u.prev = delay
			w.events.push(event{at: at + int64(delay), what: send, unit: u})
			return
		}
	}
	if u.feed.Sequential && u.feed.left > 0 {
		u.feed.left--
		w.events.push(event{at: at, what: unitDue, feed: u.feed})
	}
}

func (u *unit) retry() policy.Retry {
	r := policy.Retry{N: u.attempt, Prev: u.prev}
	if !u.lost && u.answer.hinted {
		r.HasHint = true
		r.Hint = hintWait(u.answer.wait)
	}
	return r
}

// closeIdle ends the connections whose time runs out before the scenario does;
// the others are still open when the tap stops.
func (w *world) closeIdle() {
	for i := range w.Conns {
		conn := &w.Conns[i]
		group := &w.Scenario.Groups[w.Clients[conn.Client].Group]
		until := conn.lastUse + int64(group.Idle)
		if conn.Closed == 0 && until < w.end {
			conn.Closed = w.base + until + int64(group.Latency)
		}
	}
}
