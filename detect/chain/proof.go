package chain

import "stormwatch/capture"

// declares tells whether a request says by itself that it is a later attempt.
func (r *Request) declares() bool { return r.N > 1 || r.Relay.N > 1 }

// declared decides by what the request says about itself; false if it says
// nothing that decides.
func (m *Matcher) declared(r *Request, d *decision) bool {
	d.pick, d.certain, d.confidence = -1, true, 1
	switch {
	case r.Idem != 0:
		m.pickSame(r, d)
	case r.declares():
		d.level, d.attempt = E5, r.least()
		switch {
		case m.pickBefore(r, d, true):
		case m.pickPassed(r, d):
			d.level = E4
		case m.pickBefore(r, d, false):
		case r.Counter == capture.FromEither && r.N == 2:
			d.attempt = 1 // the sender that begins with 1, not with 0
		default:
			m.pickRepeat(r, d)
		}
	case m.pickPassed(r, d):
		d.level = E4
	case r.N == 1 && r.Counter.Always():
		// The client itself says so. What a proxy counts does not decide: the client
		// behind it may be retrying (chains-trial.md point 9).
		d.level = E5
	default:
		*d = decision{pick: -1}
		return false
	}
	if d.pick >= 0 || d.attempt > 1 {
		d.retry = 1
	} else {
		d.fresh = 1
	}
	return true
}

// least is the number that a request has at least in its chain, by its counters:
// each of the client's attempts before it was one or more of the proxy's.
func (r *Request) least() int32 { return max(int32(r.N), 1) + max(int32(r.Relay.N), 1) - 1 }

// pickSame picks the latest failure that carries the same stable id.
func (m *Matcher) pickSame(r *Request, d *decision) {
	d.level = E4
	for j := range m.candidates {
		if o := m.open(j); o.idem == r.Idem && (d.pick < 0 || o.seq > m.open(d.pick).seq) {
			d.pick = j
		}
	}
	switch {
	case !r.declares():
	case d.pick < 0:
		d.level, d.attempt = E5, r.least()
	case m.precedes(r, m.open(d.pick)):
		d.level = E5
	}
}

// precedes tells whether a failure carries the numbers before those of a request.
// A proxy's retry has the client's number as it was; the client's next attempt
// comes after whichever of the proxy's was the last.
func (m *Matcher) precedes(r *Request, o *open) bool {
	switch {
	case r.Relay.N > 1:
		return o.relay == capture.Attempt{N: r.Relay.N - 1, Counter: r.Relay.Counter} && o.counter == r.Counter && o.n == r.N
	case o.counter == r.Counter:
		return o.n == r.N-1
	}
	absent := r.Counter == capture.FromAbsent || r.Counter == capture.RPCAttempts
	return absent && r.N == 2 && o.counter == capture.NoCounter
}

// pickBefore picks the likeliest failure that carries the numbers before, and, if so
// wanted, the id that hops passed on.
func (m *Matcher) pickBefore(r *Request, d *decision, sameID bool) bool {
	if sameID && r.ID == 0 {
		return false
	}
	sum, best := 0., 0.
	for j := range m.candidates {
		o := m.open(j)
		if o.idem != 0 || !m.precedes(r, o) || sameID && o.id != r.ID || m.otherOperation(r, o) {
			continue
		}
		rate := m.hazard(r, j) + 1e-9
		sum += rate
		if rate > best {
			best, d.pick = rate, j
		}
	}
	if sum > 0 {
		d.confidence = best / sum
	}
	return d.pick >= 0
}

// pickRepeat picks the latest failure that carries the very numbers of a request: a
// layer that does not count tries again below the one that does, and the header
// reads 1, 2, 2.
func (m *Matcher) pickRepeat(r *Request, d *decision) {
	for j := range m.candidates {
		o := m.open(j)
		if o.idem == 0 && o.counter == r.Counter && o.n == r.N && o.relay == r.Relay && !m.otherOperation(r, o) && (d.pick < 0 || o.seq > m.open(d.pick).seq) {
			d.pick = j
		}
	}
	if d.pick >= 0 {
		d.level, d.confidence = E1, repeatedNumber
	}
}

// repeatedNumber is the confidence where it might be another request's, whose first
// attempt was not seen.
const repeatedNumber = .7

// Score says how timing alone does on requests whose place is declared or
// identified, having learned from the traffic so far.
type Score struct {
	Declared uint64 // requests with a known place whose attempt before, if any, was seen
	Retries  uint64 // of these, retries
	Found    uint64 // what timing takes for retries
	Right    uint64 // of these, with the parent that they have
}

func (s *Score) add(o Score) {
	s.Declared += o.Declared
	s.Retries += o.Retries
	s.Found += o.Found
	s.Right += o.Right
}

// Layers is what two counters on one request prove: that the client retries, and a
// proxy behind it retries each of its attempts. Together they make up to Client
// times Proxy attempts of one request.
type Layers struct {
	Requests      uint64 // with both counters
	Client, Proxy uint16 // the highest numbers seen
}

func (l *Layers) add(o Layers) {
	l.Requests += o.Requests
	l.Client, l.Proxy = max(l.Client, o.Client), max(l.Proxy, o.Proxy)
}

func (m *Matcher) noteLayers(r *Request) {
	if r.N > 0 && r.Relay.N > 0 {
		m.stats.Layers.add(Layers{1, r.N, r.Relay.N})
	}
}

// rehearse decides by timing what is known already, to tell how well that does.
func (m *Matcher) rehearse(r *Request, w *who, known *decision) {
	if known.pick < 0 && known.attempt > 1 {
		return
	}
	guess := decision{pick: -1}
	if !w.onBeat {
		m.weighAll(r, w, &guess, true)
	}
	s := &m.stats.Timing
	s.Declared++
	if known.pick >= 0 {
		s.Retries++
	}
	if guess.pick >= 0 {
		s.Found++
		if guess.pick == known.pick {
			s.Right++
		}
	}
}

// sameID adds the failure that carries the stable id of a request, whoever sent
// it: a gateway's attempts may come from several addresses.
func (m *Matcher) sameID(r *Request) {
	id := r.Idem
	if id == 0 && m.model.ids.shared {
		id = r.ID
	}
	if id == 0 {
		return
	}
	i := m.byID.get(mix(r.Op, id))
	if i < 0 {
		return
	}
	o := &m.failures.all[i]
	if o.idem != r.Idem || r.Idem == 0 && o.id != r.ID || r.Start < o.end-overlap || o.cred != r.Cred && o.addr != r.Addr {
		return // another's id may read the same where nothing else is shared
	}
	for j := range m.candidates {
		if m.candidates[j].open == i {
			return
		}
	}
	m.candidates = append(m.candidates, candidate{open: i, list: m.ownList(o), cross: true, proof: true})
}

// keepID has the latest failure of an id found by it.
func (m *Matcher) keepID(op uint64, i int32) {
	o := &m.failures.all[i]
	id := o.idem
	if id == 0 {
		id = o.id
	}
	if id == 0 {
		return
	}
	o.byID = mix(op, id)
	if m.byID.get(o.byID) >= 0 {
		m.byID.remove(o.byID)
	}
	m.byID.put(o.byID, i)
}

// dropID forgets it.
func (m *Matcher) dropID(i int32) {
	if o := &m.failures.all[i]; o.byID != 0 && m.byID.get(o.byID) == i {
		m.byID.remove(o.byID)
	}
}
