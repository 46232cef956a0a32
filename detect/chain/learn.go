package chain

// lessons are what a shard learned since the last barrier, in fixed point, so
// that the sums over shards do not depend on their number.
type lessons struct {
	notes     []note
	shapes    []uint64 // templates without a slot
	templates []templateDelta
	children  [classes][quitAttempts + 1]int64
	failures  [classes][quitAttempts + 1]int64
	credit    [classes][2][experts]int64
	requests  int64
	ids       passed
	whole     int64 // of these, how many started on a whole second
}

type templateDelta struct{ keys, repeats, starts, asked, served, busy int64 }

// note is a wait seen, with a weight in 1/unit.
type note struct {
	of      noteOf
	class   uint8
	attempt uint8
	slot    uint16 // template, or kind of ratio
	bin     uint16
	weight  uint16
}

type noteOf uint8

const (
	noteWait noteOf = iota
	noteBeyond
	noteRatio
	noteFresh
)

// exposed counts quarters of a failure as having had their chance of a retry.
func (l *lessons) exposed(class uint8, attempt int32, quarters int64) {
	l.failures[class][0] += quarters * (unit / quartiles)
	l.failures[class][min(attempt, quitAttempts)] += quarters * (unit / quartiles)
}

// leastWeight is the least probability worth learning from.
const leastWeight = .01

// learn takes from a request what it teaches, each possible parent by its
// probability.
func (m *Matcher) learn(r *Request, w *who, d *decision) {
	if d.certain {
		if d.pick >= 0 {
			m.hazard(r, d.pick)
			m.retried(r, d.pick, 1)
		}
	} else if d.retry > 0 {
		sum := 0.
		for j := range m.candidates {
			sum += m.candidates[j].rate
		}
		for j := range m.candidates {
			if p := d.retry * m.candidates[j].rate / sum; p >= leastWeight {
				m.retried(r, j, p)
			}
		}
	}
	weight := d.fresh
	if len(m.candidates) > 0 && !d.certain {
		weight *= unclear
	}
	slot := m.keys.at(w.own).tmpl
	if t := &m.lessons.templates[slot]; w.voice >= 0 {
		switch m.keys.at(w.voice).state {
		case failed:
			t.asked += unit
		case succeeded:
			t.asked, t.served = t.asked+unit, t.served+unit
			if w.onBeat {
				weight = 1
			}
		}
	}
	if w.voice >= 0 && slot != 0 && weight >= leastWeight {
		m.lessons.notes = append(m.lessons.notes, note{of: noteFresh, slot: slot, bin: uint16(placeOf(w.sinceFresh).bin), weight: uint16(weight * unit)})
	}
}

// retried learns from a retry of a candidate, seen with a probability.
func (m *Matcher) retried(r *Request, j int, p float64) {
	c := &m.candidates[j]
	o := &m.failures.all[c.open]
	l := &m.lessons
	retry := int64(p * unit)
	l.children[o.class][0] += retry
	l.children[o.class][min(o.attempt, quitAttempts)] += retry
	w := int64(p * m.belief(o.class, p) * unit)
	n := note{of: noteWait, class: o.class, attempt: uint8(min(o.attempt, attempts)), bin: uint16(c.wait.bin), weight: uint16(w)}
	l.notes = append(l.notes, n)
	if c.heard[expertBeyondFine] && c.beyond.bin >= 0 {
		n.of, n.bin = noteBeyond, uint16(c.beyond.bin)
		l.notes = append(l.notes, n)
	}
	if c.heard[expertRatio] {
		n.of, n.bin, n.slot = noteRatio, uint16(c.ratio.bin), uint16(1-late(o.attempt))
		l.notes = append(l.notes, n)
	}
	for e, x := range c.credit {
		l.credit[o.class][late(o.attempt)][e] += int64(x * float64(w))
	}
	if r.Cred != 0 {
		if o.byCred >= 0 && o.cred == r.Cred {
			m.keys.at(o.byCred).linked(p, o.addr != r.Addr)
		}
		if o.byAddr >= 0 && o.addr == r.Addr {
			m.keys.at(o.byAddr).linked(p, o.cred != r.Cred)
		}
	}
}

// doubtFrom is how many retries of a class make half of belief: 5, 10, 20, 40 and 100 were
// tried over the scenarios of TestQualityOfChains and TestIncidents.
const doubtFrom = 10

// belief is how much of a wait that is a retry's with probability p counts as one when
// waits are learned: all of it while hardly any are known; later those that are likely
// count more, or what was asked anew between two sharp timers would be learned as a wait
// of its own, and then be taken for retries ever more often. How many retry is learned
// from all.
func (m *Matcher) belief(class uint8, p float64) float64 {
	n := float64(m.model.quits.children[class][0]) / unit
	return 1 - (1-p)*n/(n+doubtFrom)
}

// take merges what a shard learned into the model and leaves it empty.
func (md *model) take(l *lessons) {
	for _, n := range l.notes {
		switch n.of {
		case noteWait:
			md.waits.learn(n.class, n.attempt, int(n.bin), int64(n.weight))
			md.known.learn(n.class, n.attempt, int(n.bin), int64(n.weight))
		case noteBeyond:
			md.beyond.learn(n.class, n.attempt, int(n.bin), int64(n.weight))
		case noteRatio:
			md.ratios[n.slot].add(int(n.bin), int64(n.weight))
		case noteFresh:
			md.fresh.slots[n.slot].waits.add(int(n.bin), int64(n.weight))
		}
	}
	for i := range l.templates {
		d, t := &l.templates[i], &md.fresh.slots[i]
		t.keys += d.keys
		t.repeats += d.repeats
		t.starts += d.starts
		t.asked += d.asked
		t.served += d.served
		t.busy += d.busy
	}
	for c := range l.children {
		for a := range l.children[c] {
			md.quits.children[c][a] += l.children[c][a]
			md.quits.lapsed[c][a] += l.failures[c][a]
		}
		for late := range l.credit[c] {
			for e, x := range l.credit[c][late] {
				md.blend.credit[c][late][e] += x
			}
		}
	}
	md.ids.add(&l.ids)
	md.requests += l.requests
	md.whole += l.whole
	*l = lessons{notes: l.notes[:0], shapes: l.shapes[:0], templates: l.templates}
	clear(l.templates)
}

// enoughToTell is how many requests show whether the clock has whole seconds only.
const enoughToTell = 20

// refresh makes all frozen parameters anew, dt seconds after the last time.
func (md *model) refresh(dt float64) {
	md.wholeSeconds = md.requests >= enoughToTell && md.whole == md.requests
	md.waits.refresh(md.own)
	md.beyond.refresh(md.own)
	for i := range md.ratios {
		md.ratios[i].refresh(float64(md.own))
	}
	md.known.refresh()
	md.quits.refresh()
	md.blend.refresh()
	md.ids.refresh()
	md.fresh.refresh(dt, md.own)
}
