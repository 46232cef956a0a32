package sustain

import "math"

// Reading is what the seconds so far amount to. Rates are per second. Fresh,
// Goodput, AttemptsPerS and FailingShare are taken over the last five seconds,
// after a burst over those since its end; shares without more said over ten.
type Reading struct {
	Seconds       int    // ticked so far
	CalmSeconds   int    // behind the base, at most 60
	Baseline      bool   // calm traffic was seen before whatever goes on now
	Phase         string // "warming", "calm", "burst", "after-burst" or "fault"
	Base, BaseSD  float64
	Fresh         float64 // first attempts
	FreshMedian10 float64 // median of first attempts over ten seconds
	Goodput       float64 // first successes of chains
	AttemptsPerS  float64

	Capacity        float64 // the operator's figure, or the most ever served: a lower bound
	CapacityN       int     // successes behind it; 0 for the operator's figure
	CapacityKnown   bool
	Headroom        float64 // Capacity - Fresh: negative when demand alone is too much
	HeadroomKnown   bool    // only where the server was seen saturated, or the operator told
	Tipping         float64 // load above which less is served than newly arrives
	TippingKnown    bool
	ExceedsCapacity float64 // by how many sd the median demand exceeds Capacity

	BurstAt, BurstPeakAt, BurstEndAt int64   // Unix ns; 0 none
	BurstPeak                        float64 // most first attempts in a second
	Hold                             float64 // seconds to wait after a burst before judging

	DeficitZ     float64 // by how many sd goodput stays below fresh demand, over about 60 expected arrivals since the burst
	FailingShare float64 // of first attempts
	FailingRise  float64 // that share since the burst's end, less that in the burst
	FailingRiseZ float64 // two-proportion z of the rise
	FreshServed  bool    // fresh demand is no more than was served before, within noise
	ServerFault  bool    // failures came without a rise of demand

	Refusals10             int64 // in the last ten seconds
	FirstRefusedShare      float64
	RefusalShareOfFailures float64 // of failing first attempts
	RetryShare             float64 // of all attempts
	ImpatientShare         float64 // of all attempts
	Onset                  int64   // first second of the failures that last until now; 0 none
	OnsetCensored          bool    // the input begins with them: they may be older
	Signs
}

const (
	tenSeconds = 10
	// The deficit is taken over about so many expected arrivals, 6 to 30 s
	// (signatures-trial).
	deficitArrivals              = 60
	deficitShortest, deficitLong = 6, 30
	censorSpan                   = 5 // seconds from the first outcome, as shareSpan
	noise                        = 2 // sd within which demand counts as served before
)

// Reading returns what is known after the last Tick.
func (m *Machine) Reading() Reading {
	r := Reading{
		Seconds: m.seconds, CalmSeconds: m.base.count(), Baseline: m.base.known(), Phase: m.phase.String(),
		ServerFault: m.phase == fault, Onset: m.runFrom,
		BurstAt: m.burstAt, BurstPeakAt: m.burstPeakAt, BurstEndAt: m.burstEndAt, BurstPeak: float64(m.burstPeak),
		Hold: max(endSeconds, 2*float64(m.lastGap)/float64(second)),
	}
	if r.Baseline {
		r.Base, r.BaseSD = m.base.median, m.base.sd
	}
	r.OnsetCensored = m.runFrom != 0 && m.runFrom < m.firstOutcome+censorSpan*second
	m.readRates(&r)
	m.readCapacity(&r)
	m.readShares(&r)
	if m.phase == afterBurst {
		m.readAfter(&r)
	}
	m.readSigns(&r)
	return r
}

func (m *Machine) readRates(r *Reading) {
	w := m.since(m.recent(), shareSpan)
	r.Fresh, r.Goodput, r.AttemptsPerS = w.per(w.first), w.per(w.good), w.per(w.attempts)
	r.FailingShare = w.share()
	var v [tenSeconds]float64
	n := min(tenSeconds, m.n)
	for i := range n {
		v[i] = float64(m.at(i).First)
	}
	r.FreshMedian10 = median(v[:n])
}

// recent is the moment before which seconds say nothing about now.
func (m *Machine) recent() int64 {
	if m.phase == afterBurst {
		return m.burstEndAt
	}
	return math.MinInt64
}

func (m *Machine) readCapacity(r *Reading) {
	r.Capacity, r.CapacityN, r.CapacityKnown = m.served.peak, int(m.served.n), m.served.seen
	r.HeadroomKnown = m.served.seen && m.served.saturated
	if m.opt.Capacity > 0 {
		r.Capacity, r.CapacityN, r.CapacityKnown, r.HeadroomKnown = m.opt.Capacity, 0, true, true
	}
	if !r.CapacityKnown {
		r.Capacity, r.CapacityN = 0, 0
		return
	}
	r.Headroom = r.Capacity - r.Fresh
	if f := r.FreshMedian10; f > 0 {
		r.ExceedsCapacity = (f - r.Capacity) / math.Sqrt(f/float64(min(tenSeconds, m.n)))
	}
	long := m.since(m.recent(), deficitLong) // five seconds of demand vary too much to be divided by so small a slope
	r.Tipping, r.TippingKnown = m.tip.tipping(long.per(long.first))
}

func (m *Machine) readShares(r *Reading) {
	w := m.last(tenSeconds)
	r.Refusals10 = w.allRefused
	r.FirstRefusedShare = ratio(w.refused, w.ended)
	r.RefusalShareOfFailures = ratio(w.refused, w.failed)
	r.RetryShare = ratio(w.retries, w.attempts)
	r.ImpatientShare = ratio(w.impatient, w.attempts)
}

// readAfter reads what the seconds since the end of a burst show.
func (m *Machine) readAfter(r *Reading) {
	span := deficitLong
	if m.base.median > 0 {
		span = int(min(max(math.Ceil(deficitArrivals/m.base.median), deficitShortest), deficitLong))
	}
	w := m.since(m.burstEndAt, span)
	d, g := float64(w.first), float64(w.good)
	if d+g > 0 {
		r.DeficitZ = (d - g) / math.Sqrt(d+g)
	}
	r.FreshServed = r.CapacityKnown && w.per(w.first) <= r.Capacity+noise*math.Sqrt(r.Capacity/float64(max(w.seconds, 1)))
	if w.ended == 0 || m.burstEnded == 0 {
		return
	}
	now, then := w.share(), ratio(m.burstFailed, m.burstEnded)
	r.FailingRise = now - then
	p := ratio(w.failed+m.burstFailed, w.ended+m.burstEnded)
	if v := p * (1 - p) * (1/float64(w.ended) + 1/float64(m.burstEnded)); v > 0 {
		r.FailingRiseZ = (now - then) / math.Sqrt(v)
	}
}
