package policy

import (
	"math"
	"time"
)

// How a wait was observed decides how well models are told apart: the class of
// an observation is its clock's resolution and how much longer than the client's
// own wait it may be.
const (
	clocks  = 4
	slacks  = 3
	classes = clocks * slacks
)

var (
	// ticks are the resolutions that tables are made for; a finer clock than the
	// second is served by the next coarser.
	ticks = [clocks]time.Duration{2 * time.Millisecond, 20 * time.Millisecond, 200 * time.Millisecond, time.Second}
	// most are the largest slacks of each class.
	mostSlack = [slacks]time.Duration{20 * time.Millisecond, 250 * time.Millisecond, 2 * time.Second}
	// delays are what the way between client and observer adds: exponential, with
	// one of these means (seconds), and how likely each. In the first class
	// the shortest is a neighbour and the longest a client overseas.
	delays = [slacks][4]delay{
		{{.0005, .03}, {.008, .43}, {.050, .50}, {.250, .04}},
		{{.008, .10}, {.050, .35}, {.250, .37}, {1, .18}},
		{{.050, .10}, {.250, .35}, {1, .37}, {4, .18}},
	}
)

type delay struct{ mean, weight float64 }

// classOf finds the class of an observation; ok is false where it is too vague.
func classOf(resolution, slack time.Duration) (class int, ok bool) {
	clock, noise := 0, 0
	for clock < clocks && resolution > ticks[clock] {
		clock++
	}
	for noise < slacks && slack > mostSlack[noise] {
		noise++
	}
	return clock*slacks + noise, clock < clocks && noise < slacks
}

// tick is the clock's resolution in seconds, 0 where it resolves what matters.
func tick(class int) float64 {
	if class < slacks {
		return 0
	}
	return ticks[class/slacks].Seconds()
}

// early is how much before its time a delay may seem to end: timers and clocks
// are not exact.
func early(seconds float64) float64 { return max(.001, .002*seconds) }

// part is a span late by one of the delays: all that tells how likely an observed
// wait is, worked out once for all the moments that are asked for.
type part struct {
	low, high float64 // seconds
	from, to  float64 // before which nothing of it is observed, and after which all is
	mean      float64 // of the delay
	weight    float64
}

// observed are the parts of what is observed of waits of these spans: uniform,
// plus an exponential delay, plus, on a coarse clock, the difference of two
// roundings, which is triangular on [-tick, tick].
func observed(spans []span, class int) observation {
	o := observation{tick: tick(class), from: math.Inf(1)}
	for _, s := range spans {
		low, high := s.low.Seconds(), s.high.Seconds()
		low -= early(low)
		for _, d := range delays[class%slacks] {
			p := part{low, high, low, high + 40*d.mean, d.mean, s.weight * d.weight}
			o.parts = append(o.parts, p)
			o.from, o.to = min(o.from, p.from), max(o.to, p.to)
			o.all += p.weight
		}
	}
	return o
}

// observation is a distribution of observed waits.
type observation struct {
	parts    []part
	tick     float64
	from, to float64 // as those of its parts
	all      float64 // of their weights
}

// reaches is the chance that a wait is observed as at most x seconds.
func (o *observation) reaches(x float64) (p float64) {
	switch {
	case x+o.tick <= o.from:
		return 0
	case x-o.tick >= o.to:
		return o.all
	}
	for i := range o.parts {
		switch d := &o.parts[i]; {
		case x+o.tick <= d.from:
		case x-o.tick >= d.to:
			p += d.weight
		default:
			p += d.weight * d.cumulative(x, o.tick)
		}
	}
	return p
}

func (d *part) cumulative(x, tick float64) float64 {
	if tick == 0 {
		return (integral(x-d.low, d.mean) - integral(x-d.high, d.mean)) / (d.high - d.low)
	}
	bend := func(y float64) float64 {
		return thrice(y+tick, d.mean) - 2*thrice(y, d.mean) + thrice(y-tick, d.mean)
	}
	return min(1, max(0, (bend(x-d.low)-bend(x-d.high))/(tick*tick*(d.high-d.low))))
}

// integral of 1 - exp(-y/mean) from 0 to y.
func integral(y, mean float64) float64 {
	switch {
	case y <= 0:
		return 0
	case y > 40*mean: // the exponential is less than the rounding
		return y - mean
	}
	return y + mean*math.Expm1(-y/mean)
}

// thrice integrates it twice more.
func thrice(y, mean float64) float64 {
	if y <= 0 {
		return 0
	}
	return y*y*y/6 - mean*y*y/2 + mean*mean*y + mean*mean*mean*math.Expm1(-y/mean)
}

// person is the density, per logarithm of seconds, of the time that people take
// before they click again: lognormal, medians 0.7, 2, 6 and 18 s, deviation 1.
func person(x float64) (d float64) {
	for _, median := range [...]float64{.7, 2, 6, 18} {
		z := math.Log(x / median)
		d += math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / 4
	}
	return d
}

// anything is a density, per logarithm, over the millisecond to the hour: what a
// wait is that no policy explains.
func anything(float64) float64 { return 1 / math.Log(3.6e6) }

// blurred is what a density becomes on a clock of a coarse tick, at x seconds.
func blurred(density func(float64) float64, x, tick float64) float64 {
	if tick == 0 || x > 16*tick {
		return density(x)
	}
	const steps = 64
	sum := 0.
	for i := range steps {
		u := (2*float64(i)+1)/steps - 1 // of the tick, from -1 to 1
		if y := x + u*tick; y > 0 {
			sum += density(y) / y * (1 - math.Abs(u)) * 2 / steps
		}
	}
	return sum * max(x, tick) // of a wait of no tick the measure is one tick
}
