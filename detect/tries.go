package detect

import "stormwatch/capture"

// tryLists are the lists of tries that lines of a log declare, each kept once and
// numbered from 1: a few servers in a few orders give few. What a try took is not
// kept. Beyond the bound lists are counted and not shown.
type tryLists struct {
	all   [][]capture.Try
	index map[uint64]uint32
	held  int
}

const maxTriesHeld = 1 << 16 // 1 MB

// keep returns the number of a list, 0 where there is no room for it.
func (l *tryLists) keep(list []capture.Try) uint32 {
	h := uint64(len(list))
	for i := range list {
		t := &list[i]
		h = mix(h^(uint64(t.Server)<<32|uint64(t.Status)<<8), mixGolden) ^ uint64(bit64(t.Fresh))
	}
	if at, ok := l.index[h]; ok {
		return at
	}
	if len(list) == 0 || l.held+len(list) > maxTriesHeld {
		return 0
	}
	kept := make([]capture.Try, len(list))
	for i, t := range list {
		t.Took = -1
		kept[i] = t
	}
	if l.index == nil {
		l.index = map[uint64]uint32{}
	}
	l.held += len(list)
	l.all = append(l.all, kept)
	l.index[h] = uint32(len(l.all))
	return uint32(len(l.all))
}

func bit64(b bool) int {
	if b {
		return 1
	}
	return 0
}

// list returns the tries of a number.
func (l *tryLists) list(at uint32) []capture.Try {
	if at == 0 || int(at) > len(l.all) {
		return nil
	}
	return l.all[at-1]
}

// keepTries puts the list of tries that x names in its batch among the inlet's
// own, where it says more than the status does.
func (in *Inlet) keepTries(b *capture.Batch, x *capture.Exchange) {
	at := x.TryAt
	if x.TryAt = 0; at != 0 && x.Tries > 1 {
		x.TryAt = at
		list := b.TriesOf(x)
		if repeatsDoubtful(list) {
			x.Flags |= capture.Repeated
		}
		x.TryAt = in.tries.keep(list)
	}
}

// repeatsDoubtful tells whether the hop tried again what a server may have done.
func repeatsDoubtful(list []capture.Try) bool {
	for i := 1; i < len(list); i++ {
		if !list[i].Fresh && list[i-1].Doubtful() {
			return true
		}
	}
	return false
}

// tried returns the engine's own number of one of the inlet's lists.
func (in *Inlet) tried(n *names, at uint32) uint32 {
	list := in.tries.list(at)
	if list == nil {
		return 0
	}
	for int(at) >= len(in.triedAs) {
		in.triedAs = append(in.triedAs, 0)
	}
	if in.triedAs[at] == 0 {
		own := make([]capture.Try, len(list))
		for i, t := range list {
			t.Server = in.symbol(n, t.Server)
			own[i] = t
		}
		in.triedAs[at] = n.tries.keep(own)
	}
	return in.triedAs[at]
}

// behind counts what lines declare of the attempts that the logging hop made at
// the servers behind it, and who refused. None of it is a request of a client.
type behind struct {
	requests, attempts, again int64 // requests that tell of their tries; the tries; those that repeat another
	retried, rescued          int64 // requests tried again; of these, those that came out well
	byHop, byUpstream         int64 // refusals by who made them
}

func (b *behind) count(r *record) {
	if r.Tries > 0 {
		b.requests++
		b.attempts += int64(r.Tries)
		b.again += int64(r.Again)
		if r.Again > 0 {
			b.retried++
			if !r.Failed() {
				b.rescued++
			}
		}
	}
	if !r.Refused() {
		return
	}
	switch r.Origin {
	case capture.OriginHop:
		b.byHop++
	case capture.OriginUpstream:
		b.byUpstream++
	case capture.OriginUnknown:
	}
}

func (b *behind) add(o *behind) {
	b.requests += o.requests
	b.attempts += o.attempts
	b.again += o.again
	b.retried += o.retried
	b.rescued += o.rescued
	b.byHop += o.byHop
	b.byUpstream += o.byUpstream
}

// Behind is what a log tells of the attempts that its hop made at the servers
// behind it. They are no requests of clients and in no other total.
type Behind struct {
	Requests, Attempts int64  // requests that tell of their attempts at servers, and these
	Retries            int64  // attempts that repeat another
	Retried, Rescued   int64  // requests repeated so; of these, those that came out well
	Amplification      Number // attempts per such request
	PerLogical         Number // attempts at servers per logical request: both layers together
	RefusedByHop       int64  // refusals that the hop made itself
	RefusedByUpstream  int64  // refusals that it passed on
}

func (e *engine) behind() Behind {
	p := &e.pop.total.behind
	b := Behind{
		Requests: p.requests, Attempts: p.attempts, Retries: p.again, Retried: p.retried, Rescued: p.rescued,
		RefusedByHop: p.byHop, RefusedByUpstream: p.byUpstream,
	}
	if p.requests > 0 {
		b.Amplification = Some(share(p.attempts, p.requests))
		if first := e.pop.total.first; first > 0 {
			b.PerLogical = Some(share(p.attempts, first))
		}
	}
	return b
}

// Tried is one attempt that a hop declares it made at a server behind it.
type Tried struct {
	Server string
	Status int  // 0: no answer, or not told
	Fresh  bool // it repeats none: the first, or the first after an internal redirect
}

// Matcher says on what the links of chains rest, and how well timing alone does
// on this traffic, where requests themselves say what they are.
type Matcher struct {
	Declared, Inferred int64 // retries, by what the links to them rest on
	Compared           int64 // requests of which both can be told
	Retries            int64 // of these, retries
	Found, Right       int64 // what timing takes for retries, and how many of these of the right request
	// Layered are requests with two counters, the client's and that of a proxy behind
	// it; the highest numbers of both are how often each tries.
	Layered                       int64
	ClientAttempts, ProxyAttempts int
}

func (e *engine) matcher() Matcher {
	s := e.chains.Stats()
	m := Matcher{
		Compared: int64(s.Timing.Declared), Retries: int64(s.Timing.Retries), Found: int64(s.Timing.Found), Right: int64(s.Timing.Right),
	}
	m.Layered, m.ClientAttempts, m.ProxyAttempts = int64(s.Layers.Requests), int(s.Layers.Client), int(s.Layers.Proxy)
	for _, n := range s.Matched[:3] {
		m.Inferred += int64(n)
	}
	m.Declared = max(e.pop.total.retries-m.Inferred, 0)
	return m
}
