package chain

// key finds or makes a key.
func (m *Matcher) key(hash uint64, r *Request) (i int32, known bool) {
	i = m.find(hash, r.Addr)
	if known = i >= 0; !known {
		i = m.newKey(hash, r.Start)
		m.keys.at(i).home = uint32(r.Addr)
	}
	m.shape(i, r.Template)
	return i, known
}

// otherKey finds the key by address of a request that has a credential. It is
// made only where several addresses use the credential: machines that share it
// are told apart by it.
func (m *Matcher) otherKey(hash uint64, r *Request, w *who) {
	k := m.keys.at(w.own)
	k.shared = k.shared || k.home != uint32(r.Addr)
	if k.shared {
		w.other, w.otherKnown = m.key(hash, r)
		return
	}
	w.other = m.find(hash, r.Addr)
	w.otherKnown = w.other >= 0
}

func (m *Matcher) newKey(hash uint64, now int64) int32 {
	i := m.place(key{hash: hash, first: now, last: now, lastFresh: now, open: -1, live: true})
	m.stats.Keys++
	m.byHash.put(hash, i)
	return i
}

// place finds room for a key.
func (m *Matcher) place(k key) (i int32) {
	if n := len(m.freeKeys); n > 0 {
		i, m.freeKeys = m.freeKeys[n-1], m.freeKeys[:n-1]
	} else {
		i = m.keys.more()
	}
	*m.keys.at(i) = k
	return i
}

func (m *Matcher) dropKey(i int32) {
	k := m.keys.at(i)
	m.byHash.remove(k.hash)
	m.lessons.templates[k.tmpl].keys--
	k.live = false
	m.freeKeys = append(m.freeKeys, i)
	m.stats.Keys--
}

// shape gives a key its template, once that has a slot.
func (m *Matcher) shape(i int32, template uint64) {
	k := m.keys.at(i)
	if k.tmpl != 0 {
		return
	}
	k.tmpl = m.slotOf(template)
}

// slotOf returns the slot of a template for a key that has none, and asks for one
// where there is none yet.
func (m *Matcher) slotOf(template uint64) uint16 {
	slot := m.model.fresh.slot(template)
	if slot != 0 {
		m.lessons.templates[slot].keys++
	} else if len(m.model.fresh.slots) < maxTemplates {
		m.lessons.shapes = append(m.lessons.shapes, template)
	}
	return slot
}
