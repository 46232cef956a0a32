package sim

import (
	"math/rand/v2"
	"net/netip"
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
	ports  map[netip.Addr]*ports // of addresses that many share
	buf    []byte
}

// Run plays a scenario that has passed Validate (Parse and Load see to it).
func Run(sc *Scenario) *Result {
	w := &world{
		Result: &Result{Scenario: sc},
		base:   sc.Start.UnixNano(),
		end:    int64(sc.Duration),
		ports:  map[netip.Addr]*ports{},
		server: newFront(&sc.Server, sc.Start.UnixNano(), rand.New(rand.NewPCG(sc.Seed, 0))),
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

func (w *world) play(e *event) {
	stale := e.call != nil && (e.call.over || e.call.try != e.try)
	switch e.what {
	case unitDue:
		w.begin(e.at, e.feed)
	case send:
		w.send(e.at, e.call)
	case paced:
		w.sendNow(e.at, e.call)
	case arrive:
		w.arrive(e.at, e.shot)
	case answered:
		w.answered(e.at, e.shot)
	case returned:
		w.returned(e.at, e.call)
	case expire:
		if !stale {
			w.cancel(e.at, e.call)
			w.settle(e.at, e.call, &outcome{lost: true})
		}
	case hedge:
		if !stale {
			w.hedge(e.at, e.call)
		}
	}
}

// begin starts the unit of a feed that has come due, and its like.
func (w *world) begin(at int64, f *feed) {
	c := f.client
	if f.Restart && f.begun == 0 {
		w.restart(at, c)
	}
	w.chains++
	u := c.newUnit(f, w.chains, at)
	w.ask(at, u)
	for range f.Copies - 1 {
		w.chains++
		like := *u
		like.chain, like.feed = w.chains, &feed{client: c}
		w.ask(at, &like)
	}
	if !f.Sequential {
		w.await(f)
	}
}

func (w *world) ask(at int64, u *unit) {
	u.root = &call{unit: u, hop: &u.client.hop}
	u.client.budget.begin(at)
	w.send(at, u.root)
}

// await schedules the next unit of a feed.
func (w *world) await(f *feed) {
	if at, ok := f.next(f.client.rng); ok && at < w.end {
		w.events.push(event{at: at, what: unitDue, feed: f})
	}
}

// populate makes layers and clients, and puts the first unit of each feed in the
// queue.
func (w *world) populate() {
	layers := map[string][]*hop{}
	for i := range w.Scenario.Layers {
		l := &w.Scenario.Layers[i]
		layers[l.Name] = w.instances(i, l)
	}
	for g := range w.Scenario.Groups {
		group := &w.Scenario.Groups[g]
		var way []*hops
		for _, name := range group.Through {
			way = append(way, &hops{all: layers[name]})
		}
		shared := &keyring{owner: group.Name, count: group.Identity.Keys}
		var nat *ports
		if group.Identity.NAT.IsValid() {
			nat = w.shared(group.Identity.NAT)
		}
		for nth := range group.Count {
			c := w.client(g, nth)
			c.way, c.keys = way, group.keyring(nth, shared)
			if c.ports = nat; nat == nil {
				c.ports = &ports{first: nth * 131}
			}
			for _, d := range group.Demand {
				w.await(&feed{Demand: d, client: c, left: d.Units})
			}
		}
	}
}

func (w *world) client(g, nth int) *client {
	group := &w.Scenario.Groups[g]
	c := &client{id: len(w.Clients), nth: nth, group: group, own: group.address(g, nth)}
	c.addr = c.own
	if nat := group.Identity.NAT; nat.IsValid() {
		c.addr = nat
	}
	c.rng = rand.New(rand.NewPCG(w.Scenario.Seed, uint64(g+1)<<32|uint64(nth)))
	c.rotateOn, _ = readOutcomes(group.Identity.RotateOn) // Validate has read it
	c.equip(&group.Sender, &w.Scenario.Server)
	w.Clients = append(w.Clients, Client{Addr: c.own, Group: g})
	return c
}

// instances makes the processes of layer i.
func (w *world) instances(i int, l *Layer) (all []*hop) {
	for nth := range l.Count {
		h := &hop{layer: l, addr: address(layerNet+i, nth)}
		h.ports = w.shared(h.addr)
		h.rng = rand.New(rand.NewPCG(w.Scenario.Seed, uint64(layerNet+i+1)<<32|uint64(nth)))
		h.equip(&l.Sender, &w.Scenario.Server)
		all = append(all, h)
	}
	return all
}

// shared returns the ports of an address that many connections come from.
func (w *world) shared(addr netip.Addr) *ports {
	p := w.ports[addr]
	if p == nil {
		p = &ports{used: map[int]int{}}
		w.ports[addr] = p
	}
	return p
}
