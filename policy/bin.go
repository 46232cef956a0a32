package policy

import (
	"math"
	"math/bits"
	"time"
)

// Waits are sorted into bins of 1/64 octave (1.6 % to 0.8 % wide) from 1.024 ms
// to an hour and more; bin 0 takes what is shorter, the last what is longer. The
// edges are whole microseconds, so a wait's bin never depends on rounding.
const (
	subBits = 6
	subs    = 1 << subBits
	lowOct  = 10 // 2^10 us
	octaves = 22 // up to 2^32 us, 71 min
	bins    = 1 + octaves*subs

	// shortest is where bin 0 begins, as far as densities are concerned: a
	// quarter of a millisecond, less than which no clock or network resolves.
	shortest = 256 * time.Microsecond
	// perNat turns nats into the whole units in which evidence is summed.
	perNat = 64
	// perOctave are the units in which logarithms of waits are summed.
	perOctave = 64
)

func binOf(d time.Duration) int {
	us := uint64(max(d, 0)) / 1000
	oct := bits.Len64(us) - 1
	switch {
	case oct < lowOct:
		return 0
	case oct >= lowOct+octaves:
		return bins - 1
	}
	return 1 + (oct-lowOct)<<subBits + int(us>>(oct-subBits))&(subs-1)
}

// edge is the lower edge of a bin in seconds.
func edge(bin int) float64 {
	if bin == 0 {
		return shortest.Seconds()
	}
	oct, sub := (bin-1)>>subBits, (bin-1)&(subs-1)
	return math.Ldexp(float64(subs+sub), oct+lowOct-subBits) / 1e6
}

// middle is the geometric middle of a bin in seconds.
func middle(bin int) float64 { return math.Sqrt(edge(bin) * edge(bin+1)) }

// edges, middles and widths are those of the bins: lower edges in seconds, one more
// than there are bins, geometric middles, and how wide a bin is as a logarithm. The
// tables of every retry and model ask for them.
var edges, middles, widths = func() (e [bins + 1]float64, m, w [bins]float64) {
	for i := range e {
		e[i] = edge(i)
	}
	for i := range m {
		m[i], w[i] = middle(i), math.Log(edge(i+1)/edge(i))
	}
	return e, m, w
}()

// logs are the logarithms of the bins' middles, in perOctave-ths above 1 us.
var logs = func() (l [bins]uint16) {
	for i := range l {
		l[i] = logUnits(middle(i))
	}
	return l
}()

func logUnits(seconds float64) uint16 {
	return uint16(math.Round(perOctave * math.Log2(seconds*1e6)))
}

// fromLog is the inverse of logUnits.
func fromLog(units float64) float64 { return math.Exp2(units/perOctave) / 1e6 }
