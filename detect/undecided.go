package detect

import "stormwatch/capture"

// undecided is what live input has taken while it does not show yet from whose side it
// is seen. Where it turns out to be a client's, all of it is judged anew, by other
// clients: nothing of the first minute is lost.
type undecided struct {
	on   bool
	held []waiter // in the order in which they were judged
}

const (
	decideAfter = 60 * tick // a choice: most hosts that are called at all are called within a minute
	decideMost  = 1 << 15   // exchanges held, 10 MB: so many show it as well
)

// look takes in who calls whom, and tells that it is a server's side as soon as that
// is plain.
func (l *Live) look(in *Inlet, x *capture.Exchange, names *capture.Interner) {
	if !l.side.on || x.Outcome == capture.Pending {
		return
	}
	if in.outlook.note(x, names); in.outlook.crowded {
		l.side = undecided{}
	}
}

// hold keeps what is judged until it is decided from whose side it was seen.
func (l *Live) hold(w waiter) {
	if !l.side.on {
		return
	}
	l.side.held = append(l.side.held, w)
	if len(l.side.held) == decideMost {
		l.decide()
	}
}

// ripe tells whether the input has shown what it will show of its side.
func (l *Live) ripe() bool { return l.side.on && l.e.begun && l.e.now-l.e.first >= decideAfter }

// decide tells from whose side the input is seen, and judges anew what was taken for a
// server's and is a client's.
func (l *Live) decide() {
	open, held := l.side.on, l.side.held
	l.side = undecided{}
	if !open || !outward(l.inlets) {
		return
	}
	before := l.e
	l.names.turn()
	l.gate = newGate(newEngine(before.opt, &l.names.roster))
	l.e.sources = before.sources
	l.names.leaving = &leaving{idle: leaveAfter, forget: l.forget}
	l.tape = tape{}
	if s := l.sift; s != nil { // its clients have other numbers now
		l.sift = &sift{name: s.name, filter: s.filter, lasting: s.lasting}
	}
	for _, in := range l.inlets {
		in.late = 0
	}
	for _, w := range held {
		l.names.group(&w.rec, w.target)
		l.admit(w)
	}
	for i := range l.wait {
		l.names.group(&l.wait[i].rec, l.wait[i].target)
	}
	l.e.advance(before.now)
}

// turn numbers clients anew, from the client's side. Texts, routes and agents keep
// their numbers.
func (n *names) turn() {
	n.outward, n.upstream, n.named = true, !n.byKey, false
	n.byAddr, n.byCred, n.byName = newAddrTable(), map[uint64]uint32{}, map[capture.Symbol]uint32{}
	n.byUpstream, n.credOf, n.credBy = map[uint64]uint32{}, map[uint64]int{}, map[uint32]uint64{}
	n.labels, n.titles, n.excess, n.creds = []string{otherClients}, nil, 0, 0
}
