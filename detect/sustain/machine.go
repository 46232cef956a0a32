// Package sustain tells a self-sustaining retry loop from a draining backlog, a
// server fault and plain lack of capacity, from counts per second.
//
// It is a state machine on first attempts, not on all requests: a loop is seen
// by new demand having fallen back after a burst while first attempts go on
// failing and less is served than arrives (signatures-trial,
// rising-share-after-burst). A metastable failure in the sense of Bronson et
// al., HotOS 2021, and Huang et al., OSDI 2022.
package sustain

import "math"

// Second is what happened in one second. FirstEnded, FirstFailed and
// FirstRefused are counted by the time of the outcome, as are Refused, Failed
// and Good; First, Attempts, Retries and Impatient by the time of the request.
type Second struct {
	At           int64 // start of the second, Unix ns
	First        int64 // first attempts
	FirstEnded   int64 // outcomes of first attempts
	FirstFailed  int64
	FirstRefused int64
	Attempts     int64 // all requests
	Retries      int64
	Refused      int64
	Failed       int64
	Good         int64 // first success of a chain
	Impatient    int64 // retries before the hint, at once (below 50 ms), or beyond the fourth without a hint kept to
	MedianGap    int64 // median wait before a retry, ns; 0 unknown
	Known        bool  // false where the input does not tell these counts
}

// Options set what is known beforehand.
type Options struct {
	Capacity float64 // requests the server can serve per second, if the operator knows; 0 unknown
}

// phase is the state of the machine.
type phase uint8

const (
	warming phase = iota // no calm baseline yet
	calm
	burst
	afterBurst
	fault
)

func (p phase) String() string {
	return [...]string{"warming", "calm", "burst", "after-burst", "fault"}[p]
}

const (
	second = int64(1e9)
	keep   = 32 // seconds of history: the longest window is 30
)

// Limits of signatures-trial, rising-share-after-burst, unless said otherwise.
const (
	calmShare  = .05 // failing share of first attempts over 5 s that counts as calm
	faultShare = .2  // failing share that, without a rise of demand, is a fault
	faultCusum = 2   // sd
	cusumK     = .5  // sd: allowance of the CUSUM
	cusumH     = 5   // sd: decision limit
	peakRatio  = 1.5 // least peak of a burst over base
	endSeconds = 3   // consecutive seconds at base level that end a burst
	shareSpan  = 5   // seconds over which a failing share is taken

	// A burst that harms nobody for this long is a new level of demand.
	newLevel = 30
	// The CUSUM is capped (in sd) so that it falls soon after the base has followed
	// a slow growth.
	cusumCap = 10
	// Fewest failures in 5 s that begin a run of failures, and that make a fault: one
	// may be anything, of ten requests two are the share of a fault.
	runFailures   = 2
	faultFailures = 3
)

// Machine follows the seconds of one service. It holds no pointer.
type Machine struct {
	opt     Options
	seconds int // ticked so far
	phase   phase

	past [keep]Second // by place modulo keep
	n    int          // seconds put into past since the last break, without bound
	base baseline

	cusum     float64 // in requests; over sd it is compared with the limits
	riseAt    int64   // first second of the present rise of the CUSUM; 0 none
	risePeak  int64   // most first attempts in a second since then
	risePeakT int64

	burstAt, burstPeakAt, burstEndAt int64
	burstSeen                        int64 // the second in which the burst was recognised
	burstPeak                        int64
	burstEnded, burstFailed          int64 // outcomes of first attempts in the burst
	quiet                            int   // seconds at base level in a row
	harmless                         int   // seconds of the burst in a row with a calm failing share

	firstOutcome int64 // second of the input's first outcome of a first attempt; 0 none
	runFrom      int64 // first second of the run of failures that lasts until now; 0 none
	lastGap      int64 // latest known median gap

	calmEnded, calmFailed int64 // outcomes of first attempts in calm

	served served
	tip    regression
}

// New returns a Machine that has seen nothing.
func New(o Options) *Machine { return &Machine{opt: o} }

// Clone returns a copy.
func (m *Machine) Clone() *Machine {
	c := *m
	return &c
}

// Skip tells that so many silent seconds were jumped over: whatever went on is
// over, the baseline stays.
func (m *Machine) Skip(seconds int64) {
	if seconds <= 0 {
		return
	}
	m.n = 0
	m.cusum, m.riseAt = 0, 0
	m.runFrom = 0
	m.settle()
	m.served.fade(seconds)
}

// settle ends whatever was going on.
func (m *Machine) settle() {
	m.burstAt, m.burstPeakAt, m.burstEndAt, m.burstPeak = 0, 0, 0, 0
	m.burstEnded, m.burstFailed, m.quiet, m.harmless = 0, 0, 0, 0
	m.tip = regression{}
	m.phase = warming
	if m.base.known() {
		m.phase = calm
	}
}

// Tick takes the next second.
func (m *Machine) Tick(s Second) {
	m.seconds++
	if !s.Known {
		return
	}
	m.past[m.n%keep] = s
	m.n++
	if s.MedianGap > 0 {
		m.lastGap = s.MedianGap
	}
	if m.firstOutcome == 0 && s.FirstEnded > 0 {
		m.firstOutcome = s.At
	}
	five := m.last(shareSpan)
	m.followRun(&five)
	m.followRise(&s)
	m.step(&s, &five)
	m.served.take(m, &five)
	m.tip.take(m, &s)
}

// at returns the second i before the latest.
func (m *Machine) at(i int) *Second { return &m.past[(m.n-1-i)%keep] }

// last sums the n latest seconds, or as many as there are.
func (m *Machine) last(n int) window {
	w := window{seconds: min(n, m.n, keep)}
	for i := range w.seconds {
		w.add(m.at(i))
	}
	return w
}

// since sums the seconds that begin at or after from, at most n of them.
func (m *Machine) since(from int64, n int) window {
	var w window
	for i := range min(n, m.n, keep) {
		s := m.at(i)
		if s.At < from {
			break
		}
		w.seconds++
		w.add(s)
	}
	return w
}

// followRun keeps the first second of the run of failures that lasts until now.
func (m *Machine) followRun(five *window) {
	if five.failed < runFailures || five.share() < calmShare {
		m.runFrom = 0
		return
	}
	if m.runFrom != 0 {
		return
	}
	for i := five.seconds - 1; i >= 0; i-- {
		if s := m.at(i); float64(s.FirstFailed) >= calmShare*float64(max(s.FirstEnded, 1)) {
			m.runFrom = s.At
			return
		}
	}
}

// followRise runs the CUSUM on first attempts.
func (m *Machine) followRise(s *Second) {
	if !m.base.known() {
		return
	}
	sd := m.base.sd
	m.cusum = min(m.cusum+float64(s.First)-m.base.median-cusumK*sd, cusumCap*sd)
	if m.cusum <= 0 {
		m.cusum, m.riseAt, m.risePeak = 0, 0, 0
		return
	}
	if m.riseAt == 0 {
		m.riseAt, m.risePeak = s.At, 0
	}
	if s.First > m.risePeak {
		m.risePeak, m.risePeakT = s.First, s.At
	}
}

// surging tells whether demand has risen into a burst.
func (m *Machine) surging() bool {
	return m.riseAt != 0 && m.cusum > cusumH*m.base.sd && float64(m.risePeak) >= peakRatio*m.base.median
}

// step moves the machine by one second.
func (m *Machine) step(s *Second, five *window) {
	switch m.phase {
	case warming, calm:
		m.stepCalm(s, five)
	case burst:
		m.stepBurst(s, five)
	case afterBurst:
		switch {
		case five.calm():
			m.settle()
		case m.surging() && m.riseAt > m.burstEndAt:
			m.phase, m.burstEndAt, m.quiet = burst, 0, 0
			m.enterBurst(s)
		}
	case fault:
		if five.calm() && five.seconds == shareSpan {
			m.settle()
		}
	}
}

// down tells whether a rise of demand that was seen at a moment is but what is asked
// of a server that is down: failures had begun by then, and for some seconds after
// their first nothing is served at all, though no more is asked than it may well serve.
// One that is overrun is asked for more, and serves what it can at first, or fails only
// once its queue is full.
func (m *Machine) down(seen int64) bool {
	if m.runFrom == 0 || seen < m.runFrom {
		return false
	}
	w := m.since(m.runFrom+second, keep)
	asked := m.since(m.runFrom, keep)
	may := m.served.peak * float64(asked.seconds)
	few := float64(asked.first) < peakRatio*may+noise*math.Sqrt(may)
	return few && w.seconds >= endSeconds && w.failed >= faultFailures && w.good == 0
}

func (m *Machine) stepCalm(s *Second, five *window) {
	if m.base.known() {
		switch {
		case m.surging() && m.down(s.At):
			m.phase = fault
			return
		case m.surging() && (m.runFrom == 0 || m.runFrom >= m.riseAt-second):
			m.phase, m.burstAt = burst, m.riseAt
			m.enterBurst(s)
			return
		case five.share() > faultShare && five.failed >= faultFailures && m.cusum < faultCusum*m.base.sd:
			m.phase = fault
			return
		}
	}
	if five.calm() {
		m.calmEnded += s.FirstEnded
		m.calmFailed += s.FirstFailed
		m.base.admit(s.First)
		if m.base.known() {
			m.phase = calm
		}
	}
}

// enterBurst counts what the burst has done before it was recognised.
func (m *Machine) enterBurst(s *Second) {
	w := m.since(m.riseAt, keep)
	m.burstSeen = s.At
	m.burstEnded += w.ended
	m.burstFailed += w.failed
	m.raisePeak(m.risePeak, m.risePeakT)
	m.stepQuiet(s)
}

func (m *Machine) raisePeak(n, at int64) {
	if n > m.burstPeak {
		m.burstPeak, m.burstPeakAt = n, at
	}
}

func (m *Machine) stepBurst(s *Second, five *window) {
	m.burstEnded += s.FirstEnded
	m.burstFailed += s.FirstFailed
	m.raisePeak(s.First, s.At)
	m.stepQuiet(s)
	if five.calm() {
		m.harmless++
	} else {
		m.harmless = 0
	}
	switch {
	case m.down(m.burstSeen):
		m.settle()
		m.phase, m.cusum, m.riseAt = fault, 0, 0
	case m.quiet >= endSeconds:
		m.endBurst(five)
	case m.harmless >= newLevel:
		m.rebase()
	}
}

func (m *Machine) stepQuiet(s *Second) {
	if float64(s.First) <= m.base.median+3*m.base.sd {
		m.quiet++
	} else {
		m.quiet = 0
	}
}

// endBurst ends the burst if the quiet seconds are at base level on average too.
func (m *Machine) endBurst(five *window) {
	w := m.last(endSeconds)
	if float64(w.first)/endSeconds > m.base.median+3*m.base.sd/sqrt3 {
		return
	}
	m.burstEndAt = m.at(endSeconds - 1).At
	m.burstEnded -= w.ended
	m.burstFailed -= w.failed
	m.phase, m.cusum, m.riseAt = afterBurst, 0, 0
	if five.calm() {
		m.settle()
	}
}

const sqrt3 = 1.7320508

// rebase takes the demand of the last seconds as the new base.
func (m *Machine) rebase() {
	m.base = baseline{}
	for i := newLevel - 1; i >= 0; i-- {
		m.base.admit(m.at(i).First)
	}
	m.cusum, m.riseAt = 0, 0
	m.settle()
}
