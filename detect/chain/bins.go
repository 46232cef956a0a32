package chain

import "math"

// Waits fall into logarithmic bins from half a millisecond up: fine ones, 24 per
// octave, that resolve a timer, in coarse ones, 3 per octave, that a few waits
// can fill. 22 octaves reach 2097 s, beyond the age of every open failure.
const (
	shortest   = 0.0005 // seconds; what is shorter falls into the first bin
	octaves    = 22
	perOctave  = 24
	fineBins   = octaves * perOctave
	finePer    = 8 // fine bins per coarse one
	coarseBins = fineBins / finePer
)

// A ratio of two waits falls into bins of the same fineness, from 1/256 to 256.
const (
	ratioOctaves = 8
	ratioBins    = 2 * ratioOctaves * perOctave
)

// place is where a wait lies: its fine bin, how far into it, and the wait.
type place struct {
	bin  int
	frac float64
	wait float64 // seconds
	per  float64 // fine bins per second there
}

// placeOf finds the bin of a wait in seconds.
func placeOf(wait float64) place {
	if wait < shortest {
		wait = shortest
	}
	x := log2(wait*(1/shortest)) * perOctave
	b := int(x)
	if b >= fineBins {
		return place{fineBins - 1, 1, wait, perSecond / wait}
	}
	return place{b, x - float64(b), wait, perSecond / wait}
}

// ratioOf finds the bin of one wait over another.
func ratioOf(wait, before float64) place {
	x := (log2(wait/before) + ratioOctaves) * perOctave
	switch {
	case x < 0:
		return place{0, 0, wait, perSecond / wait}
	case x >= ratioBins:
		return place{ratioBins - 1, 1, wait, perSecond / wait}
	}
	b := int(x)
	return place{b, x - float64(b), wait, perSecond / wait}
}

// edge is the lower end of a fine bin in seconds.
func edge(bin int) float64 { return shortest * math.Exp2(float64(bin)/perOctave) }

// perSecond is how many fine bins a second holds, at a wait of one.
const perSecond = perOctave / math.Ln2

// logSteps divides an octave for log2; the error of interpolating is below
// 1/(8 ln 2) of a step squared, 3e-6.
const logSteps = 256

var logTable = func() (t [logSteps + 1]float64) {
	for i := range t {
		t[i] = math.Log2(1 + float64(i)/logSteps)
	}
	return t
}()

// log2 is the binary logarithm of a positive normal number, from a table: it is
// taken several times per request.
func log2(x float64) float64 {
	const mantissa = 52
	bits := math.Float64bits(x)
	exponent := float64(int(bits>>mantissa&0x7ff) - 1023)
	m := float64(bits&(1<<mantissa-1)) * (logSteps / float64(1<<mantissa))
	i := int(m)
	return exponent + logTable[i] + (m-float64(i))*(logTable[i+1]-logTable[i])
}
