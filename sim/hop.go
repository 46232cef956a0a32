package sim

import (
	"math/rand/v2"
	"net/netip"
	"time"
)

// hop is a process that sends requests and retries them: a client, or an
// instance of a layer.
type hop struct {
	*Sender
	retry    outcomes
	readings []Reading // of hints, the first that applies
	addr     netip.Addr
	server   netip.AddrPort
	rng      *rand.Rand // its own, so that one group's change leaves the others' draws alone
	idle     []int      // open connections without a request, least recently used first
	ports    *ports
	layer    *Layer

	budget   budget
	adaptive *adaptive
	pacer    *pacer
	heeder   *heeder
}

// hops are the instances of a layer on one way, which take turns.
type hops struct {
	all  []*hop
	next int
}

func (h *hops) take() *hop {
	h.next++
	return h.all[(h.next-1)%len(h.all)]
}

// equip gives a hop what its Sender asks for.
func (h *hop) equip(s *Sender, server *Server) {
	h.Sender = s
	h.retry, _ = readOutcomes(s.RetryOn) // Validate has read it
	if s.Policy.ReadsHint() {
		h.readings = s.readings(server)
	}
	h.server = server.Address
	if !h.addr.Is4() {
		h.server = server.Address6
	}
	h.budget, h.adaptive, h.pacer = s.Budget.open(), newAdaptive(s.Adaptive), newPacer(s.Pace)
	if s.ByLimits {
		h.heeder = &heeder{}
	}
}

// travel draws the time that a message takes between a hop and the next.
func (h *hop) travel() int64 {
	d := int64(h.Latency)
	if h.Noise > 0 {
		d += int64(h.rng.ExpFloat64() * float64(h.Noise))
	}
	return d
}

// hint returns the wait that the hop reads in an answer.
func (h *hop) hint(o *outcome, now int64) (wait time.Duration, ok bool) {
	for i := range h.readings {
		if wait, ok = h.readings[i].wait(o, now); ok {
			return wait, true
		}
	}
	return 0, false
}

// client is one client of a run.
type client struct {
	hop
	own      netip.Addr // its own; the next hop may see another
	id       int        // index in Result.Clients
	nth      int        // in its group
	group    *Group
	keys     *keyring
	rotateOn outcomes
	way      []*hops // the layers between it and the server
	pages    uint64  // units begun
}

// Ports from which connections are dialled, in turn.
const (
	firstPort = 32768
	portCount = 28000
)

// ports hands out the ports of one address. Those of a client's own address
// begin at a place of its own; an address that many share looks which are free.
type ports struct {
	first, dials int
	used         map[int]int // of a shared address: index of the connection by port
}

// port returns a port that no open connection has, unless all are taken.
func (p *ports) port(free func(conn int) bool) int {
	for range portCount {
		port := firstPort + (p.first+p.dials)%portCount
		p.dials++
		if conn, taken := p.used[port]; !taken || free(conn) {
			return port
		}
	}
	return firstPort + (p.first+p.dials)%portCount
}

// connect takes the hop's most recently used open connection, or dials.
func (w *world) connect(at int64, h *hop) (conn int, fresh bool) {
	w.expire(at, h)
	if n := len(h.idle); n > 0 {
		conn = h.idle[n-1]
		h.idle = h.idle[:n-1]
		return conn, false
	}
	opened := at + int64(h.Latency)
	port := h.ports.port(func(i int) bool {
		c := &w.Conns[i]
		return c.Closed != 0 || !c.busy && c.lastUse+int64(c.hop.Idle) <= at
	})
	conn = len(w.Conns)
	if h.ports.used != nil {
		h.ports.used[port] = conn
	}
	w.Conns = append(w.Conns, Conn{
		Src: netip.AddrPortFrom(h.addr, uint16(port)), Dst: h.server, Opened: w.base + opened,
		hop: h, busy: true, lastUse: at,
	})
	return conn, true
}

// expire closes the connections of a hop that were idle too long.
func (w *world) expire(at int64, h *hop) {
	kept := h.idle[:0]
	for _, i := range h.idle {
		if until := w.Conns[i].lastUse + int64(h.Idle); until <= at {
			w.close(i, until)
			continue
		}
		kept = append(kept, i)
	}
	h.idle = kept
}

// close has the hop of a connection end it at a moment of the hop's.
func (w *world) close(i int, at int64) {
	c := &w.Conns[i]
	c.Closed = w.base + at + int64(c.hop.Latency)
}

// restart closes what a client has open, as a process that begins anew.
func (w *world) restart(at int64, c *client) {
	w.expire(at, &c.hop)
	for _, i := range c.idle {
		w.close(i, at)
	}
	c.idle = c.idle[:0]
}

// closeIdle ends the connections whose time runs out before the scenario does;
// the others are still open when the tap stops.
func (w *world) closeIdle() {
	for i := range w.Conns {
		c := &w.Conns[i]
		if until := c.lastUse + int64(c.hop.Idle); c.Closed == 0 && !c.busy && until < w.end {
			w.close(i, until)
		}
	}
}
