package herd

// Member is what the Herd remembers of one client. It holds no pointer and
// belongs in the client's record; the zero Member has done nothing.
type Member struct {
	window    [kinds]uint32 // second of its latest event, plus one
	n         [kinds]uint16 // events in that second
	inBin     [kinds]uint16 // events in the bin of the latest
	bin       [kinds]uint8
	group     [kinds]uint8 // agent group all events of that second count for
	wideGroup uint8        // the same of the widest window
	waves     uint8        // retries that fell into a round at a wider scale, 255 at most
	// Retries in the quarter of a second of the latest, and in the windows of the wider
	// scales.
	inQuarter uint16
	inWide    [wider]uint16
	// Attempt numbers (one bit each) at which it has waited in this epoch of the
	// waits and in the one before, so that a cell counts each client once.
	waited, waitedBefore uint16
}

// Waves is how many of the client's retries fell into a round at a wider scale, 255 at
// most.
func (m *Member) Waves() int { return int(m.waves) }

const (
	firstKind = iota
	retryKind
	kinds
)

// Shard accumulates one tick of the clients of one shard.
type Shard struct {
	tallies []tally // by agent group
	waits   []wait
}

// tally counts one tick of one agent group.
type tally struct {
	all          [bins]uint32 // every arrival
	first, retry counts
	wide         wideTick
	touched      bool
}

// counts are what pairs of events by different clients are computed from.
type counts struct {
	n             [bins]uint32
	clients       [bins]uint32 // distinct
	same          [bins]int64  // pairs of one client within the bin
	sameWindow    int64        // pairs of one client within the second
	index         int64        // sum of the retries' numbers
	windowClients uint32
}

// First counts a first attempt that starts at start, Unix ns. Calls for a Member
// come in order of start.
func (s *Shard) First(m *Member, agent int, start int64) {
	g := s.clamp(agent)
	s.arrive(g, binOf(start))
	s.count(m, firstKind, g, start, 0)
}

// shortest is the least wait, in ns, of a retry that is counted for coincidence
// and jitter: two bins. Retries that follow at once copy the clustering of the
// refusals (signatures-trial, lockstep).
const shortest = 2 * int64(Bin)

// Retry counts a retry: attempt is its 1-based number, 2 or more, start its
// moment in Unix ns, and gap the ns since the previous attempt's end. Retries
// with a gap below 100 ms count as arrivals only.
func (s *Shard) Retry(m *Member, agent int, attempt int32, start, gap int64) {
	g := s.clamp(agent)
	s.arrive(g, binOf(start))
	if gap < shortest || attempt < 2 {
		return
	}
	s.wait(m, g, attempt, start, gap)
	s.wide(m, g, attempt, start)
	s.count(m, retryKind, g, start, number(attempt))
}

// number is that of a retry, as far as a Reading may hold so many of one client.
func number(attempt int32) int64 { return int64(min(attempt-1, ticks*int32(second/shortest))) }

func (s *Shard) clamp(agent int) uint8 { return uint8(min(max(agent, 0), len(s.tallies)-1)) }

func (s *Shard) arrive(g, bin uint8) {
	s.tallies[0].all[bin]++
	s.tallies[0].touched = true
	if g != 0 {
		s.tallies[g].all[bin]++
		s.tallies[g].touched = true
	}
}

// count adds an event of a client. A client that speaks as several agents within
// one second counts for the first of them, so that its pairs with itself can be
// removed exactly; what it sends within one second beyond 65,535 is left out.
func (s *Shard) count(m *Member, kind int, g uint8, start, number int64) {
	w, bin := windowOf(start), binOf(start)
	switch {
	case m.window[kind] != w:
		m.window[kind], m.n[kind], m.inBin[kind], m.group[kind], m.bin[kind] = w, 0, 0, g, bin
	case m.bin[kind] != bin:
		m.bin[kind], m.inBin[kind] = bin, 0
	}
	if m.n[kind] == most {
		return
	}
	s.tallies[0].of(kind).add(bin, m.inBin[kind], m.n[kind], number)
	if own := m.group[kind]; own != 0 {
		s.tallies[own].of(kind).add(bin, m.inBin[kind], m.n[kind], number)
		s.tallies[own].touched = true
	}
	m.n[kind]++
	m.inBin[kind]++
}

func windowOf(start int64) uint32 { return uint32(BinOf(start, second)) + 1 }

func (t *tally) of(kind int) *counts {
	if kind == firstKind {
		return &t.first
	}
	return &t.retry
}

// add counts an event of a client that already has inBin events in the bin and
// inWindow in the second.
func (c *counts) add(bin uint8, inBin, inWindow uint16, number int64) {
	c.index += number
	c.n[bin]++
	c.same[bin] += int64(inBin)
	c.sameWindow += int64(inWindow)
	if inBin == 0 {
		c.clients[bin]++
	}
	if inWindow == 0 {
		c.windowClients++
	}
}

// pairs returns the pairs of different clients by bin and by window, the events,
// and the sum of their squares by bin.
func (c *counts) pairs() (inBin, inWindow, n, squares int64) {
	for b, k := range c.n {
		k := int64(k)
		inBin += k*(k-1)/2 - c.same[b]
		n += k
		squares += k * k
	}
	return inBin, n*(n-1)/2 - c.sameWindow, n, squares
}

func (t *tally) add(o *tally) {
	for b := range t.all {
		t.all[b] += o.all[b]
	}
	t.first.merge(&o.first)
	t.retry.merge(&o.retry)
	t.wide.add(&o.wide)
	t.touched = true
}

func (c *counts) merge(o *counts) {
	for b := range c.n {
		c.n[b] += o.n[b]
		c.clients[b] += o.clients[b]
		c.same[b] += o.same[b]
	}
	c.sameWindow += o.sameWindow
	c.index += o.index
	c.windowClients += o.windowClients
}

func (s *Shard) reset() {
	for g := range s.tallies {
		if s.tallies[g].touched {
			s.tallies[g] = tally{}
		}
	}
	s.waits = s.waits[:0]
}
