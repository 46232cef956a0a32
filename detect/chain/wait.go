package chain

// wait keeps a failure until its retry comes or it is too old.
func (m *Matcher) wait(r *Result, byAddr, byCred int32) {
	i := m.failures.add()
	before := float32(0)
	if r.Link.Parent != 0 {
		before = float32(max(float64(r.Link.Gap)/1e9, shortest))
	}
	o := &m.failures.all[i]
	*o = open{
		seq: r.Seq, root: r.Link.Root, start: r.Start, end: r.End, addr: r.Addr, cred: r.Cred, idem: r.Idem, hint: r.Hint,
		byAddr: -1, byCred: -1, nextA: -1, nextC: -1, day: -1, rootClient: r.Link.RootClient, attempt: max(r.Link.Attempt, 1), sure: max(r.Link.Sure, 1),
		before: before, n: r.N, status: r.Status, reason: r.Reason, outcome: r.Outcome, counter: r.Counter,
		advice: r.Advice, relative: r.Relative, raced: r.Raced, bound: r.Link.obeys(), deadline: earlier(r.Deadline, r.Link.Deadline),
		relay: r.Relay, body: r.Body, id: r.ID, hidden: r.Link.Hidden, together: r.Link.Together,
		class: classOf(r), worth: worthRetrying(r) || r.Link.Attempt > 1, live: true,
	}
	if o.root == 0 {
		o.root, o.rootClient = r.Seq, r.Client
	}
	m.expose(o)
	m.list(i, byAddr, false)
	if byCred >= 0 {
		m.list(i, byCred, true)
	}
	m.keepID(r.Op, i)
	m.failures.schedule(i, max(o.dueAt(0), m.last+1))
}

// earlier is the earlier of two moments, of which 0 is none.
func earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// longestExposure is how long of a kernel a failure's exposure
// follows at most, in seconds.
const longestExposure = 60

// While few retries have been seen, the quantiles are those of a prior, and say
// nothing: in a storm that starts at once nobody would seem to retry before the
// first one does (TestStormFromColdStart). These stand in, in seconds.
var unknownWait = [quartiles]float64{15, 30, 45, 60}

const waitsToTrust = 10 // retries at which quantiles count half

// expose plans when quarters of the failure count as not retried: at quantiles of
// the wait its kind has, past the hint if there is one.
func (m *Matcher) expose(o *open) {
	bank, held := &m.model.waits, float64(o.held())/1e9
	if held > 0 {
		bank = &m.model.beyond
	}
	kernel := bank.of(o.class, o.attempt)
	n, grown := bank.heard(kernel)
	known := n / (n + waitsToTrust)
	for q := range o.due {
		t := min(longestExposure, known*grown*float64(kernel.quantile[q])+(1-known)*unknownWait[q])
		if q == quartiles-1 {
			t = max(t, 2.2*float64(o.before)-held) // a doubling timer goes beyond what was seen so far
		}
		o.due[q] = uint16(min(t, longest.Seconds()) * (1e9 / dueUnit))
	}
}

// list puts a failure on the list of a key; the oldest leaves a full one.
func (m *Matcher) list(i, at int32, byCred bool) {
	k := m.keys.at(at)
	o := &m.failures.all[i]
	if byCred {
		o.byCred, o.nextC = at, k.open
	} else {
		o.byAddr, o.nextA = at, k.open
	}
	k.open = i
	if k.opens++; int(k.opens) <= m.opt.MaxOpen {
		return
	}
	oldest := i
	for next := i; next >= 0; {
		oldest = next
		if o := &m.failures.all[next]; byCred {
			next = o.nextC
		} else {
			next = o.nextA
		}
	}
	m.unlist(oldest, byCred)
	if o := &m.failures.all[oldest]; o.byAddr < 0 && o.byCred < 0 {
		m.stats.Capped++
		m.dropID(oldest)
		m.failures.drop(oldest)
	}
}

// unlist takes a failure off one of its lists.
func (m *Matcher) unlist(i int32, byCred bool) {
	o := &m.failures.all[i]
	at := o.byAddr
	if byCred {
		at = o.byCred
	}
	if at < 0 {
		return
	}
	k := m.keys.at(at)
	link := &k.open
	for *link != i {
		if p := &m.failures.all[*link]; byCred {
			link = &p.nextC
		} else {
			link = &p.nextA
		}
	}
	if byCred {
		*link, o.nextC, o.byCred = o.nextC, -1, -1
	} else {
		*link, o.nextA, o.byAddr = o.nextA, -1, -1
	}
	k.opens--
}

// discard forgets a failure.
func (m *Matcher) discard(i int32) {
	m.unlist(i, false)
	m.unlist(i, true)
	m.dropID(i)
	m.failures.drop(i)
}

// own returns the key that speaks for a failure: by credential if it has one.
func (m *Matcher) own(o *open) *key { return m.keys.at(m.ownList(o)) }

func (m *Matcher) ownList(o *open) int32 {
	if o.byCred >= 0 {
		return o.byCred
	}
	return o.byAddr
}

// claim closes a failure whose retry came.
func (m *Matcher) claim(i int32, now int64) {
	o := &m.failures.all[i]
	k, q := m.own(o), m.model.quits.of(o.class, o.attempt)
	if o.step < quartiles {
		m.lessons.exposed(o.class, o.attempt, quartiles-int64(o.step))
		m.busy(o, now-o.end)
	} else {
		k.relented(q)
		if o.worth {
			m.stats.GaveUp--
		}
	}
	k.ended(true, q)
	m.discard(i)
}

// busy notes a time in which a key waited for a retry: what came then says little
// about fresh requests.
func (m *Matcher) busy(o *open, ns int64) {
	ns = max(ns, 0)
	if o.byAddr >= 0 {
		m.keys.at(o.byAddr).busy += ns
	}
	if o.byCred >= 0 {
		m.keys.at(o.byCred).busy += ns
	}
	m.lessons.templates[m.own(o).tmpl].busy += ns
}

// tick looks at the failures whose time has come.
func (m *Matcher) tick(now int64) {
	from, to := m.last/second+1, now/second
	if m.last == 0 || to-from >= days {
		from = to - days + 1
	}
	for s := from; s <= to; s++ {
		f := &m.failures
		next := f.diary[s&(days-1)]
		f.diary[s&(days-1)] = 0
		for next > 0 {
			i := next - 1
			next = f.all[i].nextT
			f.all[i].day = -1
			m.look(i, now)
		}
	}
	m.last = now
}

// look counts the exposure of a failure, and drops it when it is too old.
func (m *Matcher) look(i int32, now int64) {
	o := &m.failures.all[i]
	for o.step < quartiles && o.dueAt(o.step) <= now {
		m.lessons.exposed(o.class, o.attempt, 1)
		if o.step++; o.step == quartiles {
			m.lapse(o)
		}
	}
	age := m.opt.MaxAge
	if o.lingers {
		age = longest
	}
	due := o.end + int64(age) + o.held()
	switch {
	case now >= due && !o.lingers && m.alone(o):
		o.lingers = true
		m.failures.linger++
		due += int64(longest - m.opt.MaxAge)
	case now >= due:
		if o.step < quartiles {
			m.lapse(o)
		}
		m.discard(i)
		return
	}
	if o.step < quartiles {
		due = min(due, o.dueAt(o.step))
	}
	m.failures.schedule(i, max(due, now+1))
}

// alone tells whether nothing was asked for of its key since a failure.
func (m *Matcher) alone(o *open) bool { return m.own(o).last == o.start }

// lapse counts a failure whose retry is no longer expected.
func (m *Matcher) lapse(o *open) {
	m.busy(o, o.dueAt(quartiles-1)-o.end)
	m.own(o).ended(false, m.model.quits.of(o.class, o.attempt))
	if o.worth {
		m.stats.GaveUp++
		m.quits = append(m.quits, Quit{o.rootClient, o.attempt})
	}
}
