package sustain

import "math"

const (
	// The peak fades by half in 30 minutes of calm, so that yesterday's machine
	// does not judge today's.
	fadePerSecond = 0.99961498
	// A joined incident shows what the server can do only while most requests are
	// new ones (signatures-trial, capacity-not-behaviour: retry share <= .33) and a
	// fair part of them succeeds; else its goodput may be a collapse's.
	politeShare  = .33
	brokenShare  = .7
	servedFewest = 3 // seconds of a mean
)

// served is the peak-hold of goodput, a lower bound on capacity: the most that
// was served per second over 3 to 5 s (detection.md 7.1, Chat).
type served struct {
	peak      float64
	n         int64 // successes behind the peak
	seen      bool  // some of it was not inside a possible collapse
	saturated bool  // requests were refused or failed while about as much was served
}

func (v *served) take(m *Machine, five *window) {
	share := five.share()
	if share <= calmShare {
		v.peak *= fadePerSecond
	}
	if five.seconds < servedFewest || five.good == 0 {
		return
	}
	mean := five.per(five.good)
	if five.calm() || m.phase == burst || share <= brokenShare && ratio(five.retries, five.attempts) <= politeShare {
		v.seen = true
	}
	if mean >= v.peak {
		v.peak, v.n = mean, five.good
	}
	if share > calmShare && five.allFailed >= faultFailures && mean >= .9*v.peak {
		v.saturated = true
	}
}

func (v *served) fade(seconds int64) {
	v.peak *= math.Pow(fadePerSecond, float64(seconds))
}

// regression fits goodput = alpha - beta * attempts over the seconds of an
// incident: rejecting costs the server beta useful answers each (detection.md
// 7.1).
type regression struct{ n, x, y, xx, xy, yy float64 }

// Seconds whose goodput is below this share of the peak are left out: without
// that, beta collapses (measured in the trial: .0025 instead of .031).
const aliveShare = .05

func (g *regression) take(m *Machine, s *Second) {
	x, y := float64(s.Attempts), float64(s.Good)
	if m.runFrom == 0 || y <= aliveShare*m.served.peak || float64(s.Failed) <= calmShare*x {
		return
	}
	g.n++
	g.x += x
	g.y += y
	g.xx += x * x
	g.xy += x * y
	g.yy += y * y
}

const (
	fitFewest = 8 // seconds: six degrees of freedom,
	fitT      = 3 // at which a slope differs by so many standard errors from 0 in 2.4 % by chance (Student)
)

// tipping returns the load at which goodput falls to the fresh demand, if the
// fit determines it.
func (g *regression) tipping(fresh float64) (load float64, known bool) {
	if g.n < fitFewest {
		return 0, false
	}
	sxx := g.xx - g.x*g.x/g.n
	sxy := g.xy - g.x*g.y/g.n
	syy := g.yy - g.y*g.y/g.n
	if sxx <= 0 {
		return 0, false
	}
	beta := -sxy / sxx
	residual := max(syy-beta*beta*sxx, 0) / (g.n - 2)
	if beta <= 0 || beta*beta*sxx < fitT*fitT*residual {
		return 0, false
	}
	alpha := (g.y + beta*g.x) / g.n
	load = (alpha - fresh) / beta
	return load, load > fresh && !math.IsInf(load, 0)
}
