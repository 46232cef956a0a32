package policy

import (
	"math"
	"time"
)

// Growth is how the waits themselves run, whatever policy they come from: the
// regression of their logarithms on the number of the retry.
type Growth struct {
	First       time.Duration // geometric mean of the waits before the first retries; 0 unknown
	Multiplier  float64       // from retry to retry, while they grow; 0 unknown
	Ceiling     time.Duration // where they stop growing, the highest of jittered ones: e times their geometric mean with full jitter, whose deviation is 1; 0 where they do not, or too few were seen
	CeilingHigh time.Duration // upper bound of Ceiling, by how many waits tell it (z 2.58) and how wide their jitter may be
	Jitter      float64       // spread among waits before the same retry, as interquartile range over median; negative: unknown
	Freedom     int           // waits beyond one for each retry: how well Jitter is known

	deviation float64 // of the logarithm, in nats
}

// Steps of growth, in perOctave-ths: less is flat, as much is growth. A quarter
// of an octave is a factor of 1.19, three eighths 1.30.
const (
	flat  = perOctave / 4
	grows = perOctave * 3 / 8
)

// growth reads the sums. Waits shorter than two ticks of the clock show nothing
// and are left out.
func (e *Evidence) growth() (g Growth) {
	g.Jitter = -1
	var means, waits []float64 // from the first retry that shows something
	var least float64
	if r := tick(e.coarsest()); r > 0 {
		least = float64(logUnits(2 * r))
	}
	within, n := float64(e.squares), 0
	for i, c := range e.counts {
		if c == 0 {
			if len(means) > 0 {
				break
			}
			continue
		}
		mean := float64(e.sums[i]) / float64(c)
		within -= float64(c) * mean * mean
		n += int(c) - 1
		if mean < least {
			means, waits = nil, nil
			continue
		}
		if i == 0 {
			g.First = seconds(fromLog(mean))
		}
		means, waits = append(means, mean), append(waits, float64(c))
	}
	if e.later > 0 && len(means) == tracked {
		means, waits = append(means, float64(e.laterSum)/float64(e.later)), append(waits, float64(e.later))
	}
	if n > 0 && least == 0 {
		g.Freedom = n
		g.deviation = math.Sqrt(max(within/float64(n), 0)) / perOctave * math.Ln2
		g.Jitter = spread(g.deviation)
	}
	if top := g.climb(means, len(means) > tracked); top > 0 {
		g.stop(means[top+1:], waits[top+1:])
	}
	return g
}

// climb finds the multiplier in the mean logarithms, and the step that ends the growth,
// 0 where none does. pooled: the last of them is that of all later retries, so many
// steps up that it only shows a ceiling.
func (g *Growth) climb(means []float64, pooled bool) int {
	if len(means) < 2 {
		return 0
	}
	top := len(means) - 1 // the step that ends the growth
	for top > 0 && means[top]-means[top-1] < flat {
		top--
	}
	if top == 0 {
		g.Multiplier = math.Exp2((means[len(means)-1] - means[0]) / float64(len(means)-1) / perOctave)
		return 0
	}
	last := top // a step up as high as the others
	if pooled && top == len(means)-1 {
		last--
	}
	g.Multiplier = math.Exp2((means[last] - means[0]) / float64(last) / perOctave)
	if top == len(means)-1 || (means[top]-means[0])/float64(top) < grows || falls(means) {
		return 0
	}
	return top
}

// Deviations of the logarithm, in nats. What the network adds to short waits, and the
// clock takes, makes that of full jitter less than it is.
const (
	mostScaled = .4 // with scaled jitter
	fullJitter = 1. // of what is drawn evenly from zero up
)

// stop finds the ceiling in the steps that no longer grow.
func (g *Growth) stop(means, waits []float64) {
	var n, sum float64
	for i, w := range waits {
		n += w
		sum += w * means[i]
	}
	mean, most := fromLog(sum/n), g.deviation
	if g.Jitter < 0 || most > mostScaled {
		most = max(most, fullJitter)
	}
	// For what is drawn evenly, the highest is as far above the geometric mean as the
	// quartiles are apart: 1.73 deviations of a narrow jitter, 1 of full jitter.
	g.Ceiling = seconds(mean * math.Exp(spread(g.deviation)))
	g.CeilingHigh = seconds(mean * math.Exp(spread(most)+2.58*most/math.Sqrt(n)))
}

// falls tells whether waits become much shorter again from one retry to the next, as
// where one layer begins anew after another has waited: they have no ceiling.
func falls(means []float64) bool {
	for i := 1; i < len(means); i++ {
		if means[i-1]-means[i] >= grows {
			return true
		}
	}
	return false
}

// spread turns the deviation of a logarithm into the interquartile range over the
// median: 1.73 times for a narrow uniform jitter, 1 for full jitter whose
// deviation is 1; between them within a tenth (equal jitter: .30 for .33).
func spread(deviation float64) float64 { return 1.73 * deviation / (1 + .73*deviation) }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// family is what the growth alone makes of the waits; "" where it is unclear. The
// deviations of unjittered and scaled waits lie below .1 and .35, that of full
// jitter is 1.
func (g *Growth) family() string {
	switch {
	case g.Jitter < 0 || g.Freedom < 8 || g.Multiplier == 0:
		return ""
	case g.deviation < .06 && g.Multiplier < 1.15:
		return Fixed
	case g.deviation < .06:
		return Exponential
	case g.deviation < mostScaled && g.deviation > .1:
		return ScaledJitter
	case g.deviation > .75 && g.deviation < 1.25:
		return FullJitter
	}
	return ""
}

// coarsest is the coarsest class that was observed.
func (e *Evidence) coarsest() int {
	class := 0
	for c := range classes {
		if e.classes>>c&1 != 0 {
			class = c
		}
	}
	return class
}
