package chain

// Most requests are the only one of their operation and identity, and succeed. Of
// such a key nothing need be remembered but when it came, what shape it has and
// that it is there: it stays in its cell of the table as a seed, a quarter of a
// key's size and one cache line to touch, and grows into a key at its second
// request or first failure. Whether it has grown does not show.

// seedling is the position of a seed in its cell: none.
const seedling = 1<<32 - 1

// sow takes the first request of a key by address; false if it is not the first,
// has a credential, or says something of its place that may decide.
func (m *Matcher) sow(r *Request) (l Link, ok bool) {
	if r.Cred != 0 || r.Idem != 0 || r.ID != 0 || r.N != 0 || r.Relay.N != 0 {
		return l, false
	}
	hash := addrHash(r.Op, r.Addr)
	if m.byHash.find(hash) != nil {
		return l, false
	}
	tmpl := m.slotOf(r.Template)
	m.byHash.add(cell{hash: hash, pos: seedling, start: r.Start, tmpl: tmpl})
	m.stats.Keys++
	m.lessons.templates[tmpl].starts += unit
	m.stats.First++
	return Link{Root: r.Seq, RootClient: r.Client, Attempt: 1, Level: E2, Confidence: 1}, true
}

// find finds the key of a hash, grown if it was a seed; negative if there is none.
func (m *Matcher) find(hash, addr uint64) int32 {
	c := m.byHash.find(hash)
	switch {
	case c == nil:
		return -1
	case c.pos != seedling:
		return int32(c.pos - 1)
	}
	i := m.place(key{
		hash: hash, first: c.start, last: c.start, lastFresh: c.start, open: -1, live: true,
		tmpl: c.tmpl, state: c.state, home: uint32(addr),
	})
	c.pos = uint32(i) + 1
	return i
}

// Succeeded is Outcome of a request that did not fail.
func (m *Matcher) Succeeded(op, addr, cred uint64) {
	if cred != 0 {
		m.succeed(credHash(op, cred))
	}
	m.succeed(addrHash(op, addr))
}

func (m *Matcher) succeed(hash uint64) {
	switch c := m.byHash.find(hash); {
	case c == nil:
	case c.pos == seedling:
		c.state = succeeded
	default:
		m.keys.at(int32(c.pos - 1)).finish(false)
	}
}

// dropSeed forgets a seed.
func (m *Matcher) dropSeed(c cell) {
	m.byHash.remove(c.hash)
	m.dropped(c.tmpl)
}

// dropped counts a seed that is there no more.
func (m *Matcher) dropped(tmpl uint16) {
	m.lessons.templates[tmpl].keys--
	m.stats.Keys--
}

// sweepSeeds forgets the seeds sown before a moment. Closing the gap that one
// leaves moves others back, past the end of the table too, but only such as were
// looked at.
func (m *Matcher) sweepSeeds(before int64) {
	for k := range m.byHash.parts {
		p := &m.byHash.parts[k]
		for i := 0; i < len(p.cells); {
			c := &p.cells[i]
			if c.pos != seedling || c.start >= before {
				i++
				continue
			}
			m.dropped(c.tmpl)
			p.vacate(i)
		}
	}
}

// Touch reads what Request and Outcome will look at first, so that it is in the
// cache by then: called for several before the first of them, their waits for
// memory overlap.
func (m *Matcher) Touch(op, addr uint64) { m.touched += m.byHash.touch(addrHash(op, addr)) }
