package detect

import (
	"cmp"
	"math"
	"slices"
	"time"

	"stormwatch/capture"
	"stormwatch/detect/herd"
	"stormwatch/rules"
)

// starts tell of clients that begin together: first requests on new connections, in
// windows of a second that slide by half of one, so that the clock's whole seconds
// do not part what belongs together (signatures-trial, sync-start).
type starts struct {
	seen   bool // the input shows which request of its connection one is
	halves [3]startHalf
	rate   [startRates]int32 // clients that began, by second modulo startRates
	from   int64             // first second counted
	begun  bool

	next beginning // of the second judged last, which the one after it must confirm
	now  beginning // what is told in this second
	gone [2]int64
}

// beginning is the window of a second that says most.
type beginning struct {
	at     int64 // of its first call
	n      int   // clients that began in it
	before float64
	same   float64 // share of its first calls that the three commonest make up
	shown  [maxProvenance]seenAt
}

const (
	// Limits of signatures-trial, sync-start.
	startRates  = 30 // seconds over which the rate before is taken
	startFew    = 10 // clients below which a window is not looked at
	startExcess = 5. // roots of the rate, and as many clients more, by which a start exceeds it: one second of a million does by chance (TestStartsNull)
	startSame   = .5 // share of the first calls that the three commonest make up
	startWarm   = 5 * tick

	startBits    = 4096     // of a bitmap that counts distinct clients: to 2 % up to 5,000 a second (linear counting)
	startCalls   = 64       // calls told apart: of three that make up half of all, none is crowded out
	startLately  = 3        // seconds just before a start: where demand grows they say more than half a minute
	startHalfLen = tick / 2 // windows slide by this, so that the whole seconds of the clock part nothing
)

// startHalf is half a second.
type startHalf struct {
	who   [startBits / 64]uint64
	calls [startCalls]startCall
	n     int32 // first calls
	first int64 // moment of the first
	shown [maxProvenance]seenAt
}

type startCall struct {
	op uint64
	n  int32
}

// seenAt is where an exchange was read.
type seenAt struct {
	capture.Provenance
	source uint8
}

func (h *startHalf) add(f *flight) {
	client, op, at := f.rec.client, f.op, f.rec.Start
	bitmap(h.who[:]).set(mix(uint64(client)+1, mixGolden))
	if h.n == 0 || at < h.first {
		h.first = at
	}
	if h.n < maxProvenance {
		h.shown[h.n] = seenAt{f.rec.At, f.rec.source}
	}
	h.n++
	// A call whose place is taken by a commoner one is one of many.
	c := &h.calls[mix(op, mixWy)%startCalls]
	switch {
	case c.op == op:
		c.n++
	case c.n == 0:
		*c = startCall{op, 1}
	default:
		c.n--
	}
}

// restartAfter is from what wait on a request that repeats a failed one may be that of
// a process that was started again.
const restartAfter = int64(8 * time.Second)

// note counts a request.
func (s *starts) note(f *flight, second int64) {
	switch {
	case f.rec.ConnSeq == 0:
		return
	case f.rec.ConnSeq > 1 || f.noChain || f.link.Attempt > 1 && (f.link.Gap < restartAfter || f.hinted()) || f.rec.Flags&capture.Midstream != 0:
		s.seen = true
		return
	}
	s.seen = true
	half := 1
	if f.rec.Start-second >= startHalfLen {
		half = 2
	}
	s.halves[half].add(f)
}

// judge reads the second that began at now, and makes room for the next. A start
// together is over at once: where as many go on beginning, it is new demand. So a
// second is told of when the one after it is known.
func (s *starts) judge(now int64) {
	if !s.begun {
		s.begun, s.from = true, now
	}
	whole := distinct(&s.halves[1], &s.halves[2])
	s.now, s.next = s.next, beginning{}
	if s.now.n < startFew || 2*whole > s.now.n {
		s.now = beginning{at: s.now.at, before: s.now.before}
	}
	if n := distinct(&s.halves[0], &s.halves[1]); n > whole {
		s.next = s.window(n, &s.halves[0], &s.halves[1], now-tick)
	} else if whole > 0 {
		s.next = s.window(whole, &s.halves[1], &s.halves[2], now)
	}
	s.rate[startSlot(now)] = int32(whole)
	s.halves[0], s.halves[1], s.halves[2] = s.halves[2], startHalf{}, startHalf{}
}

func startSlot(now int64) int {
	k := herd.BinOf(now, tick)
	return int(k - herd.BinOf(k, startRates)*startRates)
}

// window reads a window; the second before which the rate is taken is given. Where
// demand grows, what began just before says more than half a minute does.
func (s *starts) window(n int, a, b *startHalf, before int64) (m beginning) {
	m.n, m.at, m.shown = n, a.first, a.shown
	if a.n == 0 {
		m.at, m.shown = b.first, b.shown
	}
	sum, lately, seconds := 0, 0, 0
	for t := before - tick; t >= s.from && seconds < startRates-2; t -= tick {
		sum += int(s.rate[startSlot(t)])
		if seconds++; seconds == startLately {
			lately = sum
		}
	}
	m.before = max(float64(sum)/float64(max(seconds, 1)), float64(lately)/startLately)
	both := a.calls
	for i := range both {
		if both[i].op == b.calls[i].op || both[i].n == 0 {
			both[i].n += b.calls[i].n
		} else {
			both[i].n = max(both[i].n, b.calls[i].n)
		}
	}
	slices.SortFunc(both[:], func(x, y startCall) int { return -cmp.Compare(x.n, y.n) })
	m.same = float64(both[0].n+both[1].n+both[2].n) / float64(max(a.n+b.n, 1))
	return m
}

// distinct counts the clients of two halves.
func distinct(a, b *startHalf) int {
	both := a.who
	bitmap(both[:]).or(b.who[:])
	return int(math.Round(bitmap(both[:]).count()))
}

// scheduleOf is the part of its period by which a schedule may slip: 2 %, more than a
// minute's cron does, less than two restarts in a row agree by chance.
const scheduleOf = 50

// scheduled tells whether starts at this moment come as long after the last as that
// came after the one before: a schedule, not a restart.
func (s *starts) scheduled() bool {
	last, before := s.gone[0], s.gone[1]
	if before == 0 {
		return false
	}
	a, b := s.now.at-last, last-before
	d := a - b
	return max(d, -d) <= max(tick, b/scheduleOf)
}

// remember keeps when clients began together, once for each time.
func (s *starts) remember() {
	if s.now.at-s.gone[0] > startWarm || s.gone[0] == 0 {
		s.gone[0], s.gone[1] = s.now.at, s.gone[0]
	}
}

// startFeatures set what tells of a common start in the second judged last.
func (e *engine) startFeatures(v *rules.Values) {
	s := &e.pop.starts
	if !s.seen || e.now-s.from <= startWarm {
		return
	}
	n := int64(s.now.n)
	excess := 0.
	if s.now.n >= startFew {
		// The count of a second varies by its root; some more for a rate of nearly none.
		excess = (float64(n) - s.now.before - startExcess) / math.Sqrt(max(s.now.before, 1))
	}
	share := 0.
	if e.pop.clients > 0 {
		share = min(1, float64(n)/float64(e.pop.clients))
	}
	scheduled := false
	if s.now.n >= startFew && excess > startExcess && s.now.same >= startSame {
		scheduled = s.scheduled()
		s.remember()
	}
	v.Set(rules.StartingClients, float64(n), n)
	v.Set(rules.StartingShare, share, n)
	v.Set(rules.StartingBefore, s.now.before, n)
	v.Set(rules.StartingExcess, excess, n)
	v.Set(rules.StartingSame, s.now.same, n)
	v.Set(rules.StartingAgain, bit(scheduled), n)
}

// shown names a few of the first calls.
func (e *engine) shown(b *beginning) (at []string) {
	for i := range b.shown {
		if p := &b.shown[i]; p.Provenance != (capture.Provenance{}) {
			at = append(at, e.at(&p.Provenance, p.source))
		}
	}
	return at
}
