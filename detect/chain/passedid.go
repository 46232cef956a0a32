package chain

// Ids that hops pass on (X-Request-Id, trace ids) come in three kinds, which only
// the traffic tells apart: one for each attempt, which says nothing; one for all
// attempts at an operation; and one for much more, such as a trace of a job that
// asks for one thing over and over. passed counts what shows the difference.
type passed struct {
	linked, linkedSame   int64 // retries of which both attempts have an id; of these, those with one id
	renewed, renewedSame int64 // requests after a success of the same key, likewise
}

func (p *passed) add(o *passed) {
	p.linked += o.linked
	p.linkedSame += o.linkedSame
	p.renewed += o.renewed
	p.renewedSame += o.renewedSame
}

const (
	tooWide       = .05 // share of requests after a success that have its id, above which an id is no operation's
	oneForAll     = .8  // share of retries with the id of the attempt before, above which another id is another operation
	linksToTrust  = 5   // an id does not come again by chance
	sureLink      = .95 // confidence from which a link by timing speaks against shared ids
	renewToTrust  = 2   // weight of the prior, that an id is of one operation
	halveLinks    = 1 << 20
	someAreShared = .25
)

// passedIDs is what has been learned of them, frozen between barriers.
type passedIDs struct {
	passed
	proves   bool // an id that comes again after a failure is a retry
	excludes bool // another id is another operation
	shared   bool // attempts do share ids: worth a look-up across addresses
}

func (p *passedIDs) refresh() {
	if p.linked > halveLinks || p.renewed > halveLinks {
		p.linked, p.linkedSame, p.renewed, p.renewedSame = p.linked/2, p.linkedSame/2, p.renewed/2, p.renewedSame/2
	}
	p.proves = float64(p.renewedSame) <= tooWide*float64(p.renewed+renewToTrust)
	p.shared = p.proves && p.linkedSame > 0 && float64(p.linkedSame) >= someAreShared*float64(p.linked)
	p.excludes = p.proves && p.linked >= linksToTrust && float64(p.linkedSame) >= oneForAll*float64(p.linked)
}

// pickPassed picks the latest failure with the id of a request, if that proves
// anything.
func (m *Matcher) pickPassed(r *Request, d *decision) bool {
	if r.ID == 0 || !m.model.ids.proves {
		return false
	}
	for j := range m.candidates {
		if o := m.open(j); o.id == r.ID && o.idem == 0 && (d.pick < 0 || o.seq > m.open(d.pick).seq) {
			d.pick = j
		}
	}
	return d.pick >= 0
}

// otherOperation tells whether ids say that a request does not retry a failure.
func (m *Matcher) otherOperation(r *Request, o *open) bool {
	return m.model.ids.excludes && r.ID != 0 && o.id != 0 && o.id != r.ID
}

// notePassed learns from a link.
func (m *Matcher) notePassed(r *Request, d *decision) {
	if d.pick < 0 || r.ID == 0 {
		return
	}
	switch o := m.open(d.pick); {
	case o.id == r.ID:
		m.lessons.ids.linked++
		m.lessons.ids.linkedSame++
	case o.id != 0 && d.confidence >= sureLink:
		m.lessons.ids.linked++
	}
}

// renew learns from a request that follows another of its key.
func (m *Matcher) renew(r *Request, k *key) {
	if k.state == succeeded && r.ID != 0 && k.lastID != 0 {
		m.lessons.ids.renewed++
		if k.lastID == uint32(r.ID) {
			m.lessons.ids.renewedSame++
		}
	}
	k.lastID = uint32(r.ID)
}
