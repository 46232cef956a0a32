package herd

import "time"

// A wave is often wider than a bin of 50 ms: agents that lost one server within a
// second come back within a second, every minute. So coincidence is measured at two
// wider scales too, each with bins a twentieth of its window, as at the first.
//
// What the wide windows cannot take for granted is that the rate is the same
// throughout: demand itself comes and goes within 5 or 20 s. So a return counts as a
// round there only where a bin holds over twice the mean of the twenty that end with it,
// and where half of those in it or more are third or later attempts: the first retry
// copies the shape of the demand that was refused, the second was refused with its
// wave. How many bins a round fills tells whether the scale is that of the waves.
//
// Retries of all attempts count for C and P, as at the first scale.

// Scale numbers the widths at which coincidence is measured.
type Scale uint8

// Scales, the finest first.
const (
	Instant Scale = iota // 50 ms of 1 s
	Quarter              // 250 ms of 5 s
	Second               // 1 s of 20 s
	Scales
)

const wider = int(Scales) - 1

// Width is the width of a scale's bins.
func (s Scale) Width() time.Duration {
	return [Scales]time.Duration{Bin, 5 * Bin, Window}[min(s, Scales-1)]
}

// wideAt is how a wider scale lies on the ticks.
var wideAt = [wider]struct {
	perTick int64 // bins of a tick
	ticks   int64 // of a window
	from    int   // its first cell in a tick's cells
}{{4, 5, 0}, {1, 20, 4}}

// wideCells are the cells of a tick at both wider scales: four and one.
const wideCells = 5

// wideTick counts the retries of one tick at the wider scales.
type wideTick struct {
	n, clients, again [wideCells]uint32
	same              [wideCells]int64 // pairs of one client within the cell
	sameWindow        [wider]int64     // with all that the client sent in the window so far
	index             int64            // sum of the retries' numbers
}

func (t *wideTick) add(o *wideTick) {
	for c := range t.n {
		t.n[c] += o.n[c]
		t.clients[c] += o.clients[c]
		t.again[c] += o.again[c]
		t.same[c] += o.same[c]
	}
	for s := range t.sameWindow {
		t.sameWindow[s] += o.sameWindow[s]
	}
	t.index += o.index
}

// most is what a Member counts of one client within a window at most; what it sends
// beyond is left out of the pairs, so that they stay those of different clients.
const most = 1<<16 - 1

// wide counts a retry at the wider scales, for everyone and for the agent group with
// which the client began the widest window, whose parts the others are. It must come
// before the retry is counted at the first scale, which tells of the client's last.
func (s *Shard) wide(m *Member, g uint8, attempt int32, start int64) {
	last, quarter := m.window[retryKind], binOf(start)/5
	sec, since := BinOf(start, second), int64(windowOf(start)-last)
	before := func(ticks int64) bool { return last == 0 || BinOf(sec, ticks) != BinOf(sec-since, ticks) }
	switch {
	case before(wideAt[1].ticks):
		m.inWide, m.wideGroup = [wider]uint16{}, g
	case before(wideAt[0].ticks):
		m.inWide[0] = 0
	}
	inSecond := m.n[retryKind]
	if last == 0 || since != 0 {
		inSecond, m.inQuarter = 0, 0
	}
	if m.bin[retryKind]/5 != quarter {
		m.inQuarter = 0
	}
	if m.inWide[1] == most {
		return
	}
	in := [wider]uint16{m.inQuarter, inSecond}
	s.tallies[0].wide.count(quarter, in, m.inWide, attempt)
	if m.wideGroup != 0 {
		t := &s.tallies[m.wideGroup]
		t.wide.count(quarter, in, m.inWide, attempt)
		t.touched = true
	}
	m.inQuarter++
	m.inWide[0]++
	m.inWide[1]++
}

// roundAttempt is the first attempt that was refused with the wave before it.
const roundAttempt = 3

func (t *wideTick) count(quarter uint8, in, inWindow [wider]uint16, attempt int32) {
	t.index += number(attempt)
	for s, c := range [wider]int{int(quarter), wideAt[1].from} {
		t.n[c]++
		t.same[c] += int64(in[s])
		t.sameWindow[s] += int64(inWindow[s])
		if in[s] == 0 {
			t.clients[c]++
		}
		if attempt >= roundAttempt {
			t.again[c]++
		}
	}
}
