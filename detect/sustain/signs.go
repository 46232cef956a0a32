package sustain

import "math"

// Signs are what the seconds tell besides (detection.md 7.1 and 7.2): they explain a
// conclusion, and decide none.
type Signs struct {
	Reproduction      float64 // retries that an attempt begets: the storm's reproduction number; with m attempts at most (m-1)/m
	ReproductionKnown bool
	DrainS            float64 // seconds until the backlog is gone, if demand stays as it is
	DrainKnown        bool    // only while it drains
	Slope             float64 // useful answers lost for each attempt more
	SlopeKnown        bool
	Invariant         bool    // what is served does not depend on how much is asked: retrying buys nothing
	Hysteresis        float64 // how much more fails at the demand of the calm than did in the calm
	HysteresisKnown   bool    // only after a burst
}

const (
	invariant    = .005 // useful answers for an attempt (detection.md 7.2)
	invariantOf  = .3   // failing share from which that says something (the same)
	longestDrain = 3600 // seconds; beyond, it is no forecast
)

func (m *Machine) readSigns(r *Reading) {
	ten := m.last(tenSeconds)
	// Retries answer attempts that came one wait before.
	lag := int(min(max(math.Round(float64(m.lastGap)/float64(second)), 0), keep-tenSeconds))
	then := m.last(tenSeconds + lag)
	recent := m.last(lag)
	if asked := then.attempts - recent.attempts; asked > 0 {
		r.Reproduction, r.ReproductionKnown = float64(ten.retries)/float64(asked), true
	}
	if m.tip.n >= fitFewest {
		r.Slope, r.SlopeKnown = m.tip.slope(), true
		r.Invariant = math.Abs(r.Slope) < invariant && r.FailingShare > invariantOf
	}
	if m.phase == afterBurst && m.calmEnded > 0 {
		r.Hysteresis, r.HysteresisKnown = r.FailingShare-ratio(m.calmFailed, m.calmEnded), true
	}
	m.readDrain(r, lag)
}

// readDrain forecasts the end of a backlog: what has failed and will come back, over
// what is served beyond the fresh demand.
func (m *Machine) readDrain(r *Reading, lag int) {
	if m.phase != afterBurst || r.Goodput <= r.Fresh || !r.ReproductionKnown {
		return
	}
	waiting := m.last(max(lag, 1))
	comeBack := 1.
	if failing := ratio(waiting.allFailed, waiting.attempts); failing > 0 {
		comeBack = min(1, r.Reproduction/failing)
	}
	if s := comeBack * float64(waiting.allFailed) / (r.Goodput - r.Fresh); s <= longestDrain {
		r.DrainS, r.DrainKnown = s, true
	}
}

// slope is by how much useful work changes with each attempt.
func (g *regression) slope() float64 {
	sxx := g.xx - g.x*g.x/g.n
	if sxx <= 0 {
		return 0
	}
	return (g.xy - g.x*g.y/g.n) / sxx
}
