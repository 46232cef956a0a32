package herd

import (
	"math/bits"
	"slices"
)

// A round is a return of the herd: bins in which three or more clients retried,
// at most one bin apart from each other. A burst is often wider than a bin, and
// one burst must not count as two rounds; so a new round needs a pause of two
// bins, or, for timers too fast to leave one, half a second since its start.
const (
	roundClients = 3
	roundPause   = 3 // bins, from the start of the last
	roundLongest = 10
)

// rounds tells rounds apart, also across ticks.
type rounds struct {
	start, last int64 // of the present round: its first bin and its latest
}

// follow takes the bins of the tick at that belong to rounds. It returns how
// many rounds begin in it, and the start of the last of the bins, or 0.
func (r *rounds) follow(mask uint32, at int64) (begun, last int64) {
	for ; mask != 0; mask &= mask - 1 {
		last = at + int64(bits.TrailingZeros32(mask))*int64(Bin)
		begun += r.next(last, int64(Bin))
	}
	return begun, last
}

// next takes a bin of the given width that belongs to a round, and returns 1 if one
// begins in it.
func (r *rounds) next(at, width int64) (begun int64) {
	if r.last == 0 || at-r.last >= roundPause*width || at-r.start >= roundLongest*width {
		r.start = at
		begun = 1
	}
	r.last = at
	return begun
}

// roundBins returns the bins, one bit each, that belong to a round.
func (t *tally) roundBins() (mask uint32) {
	for b, n := range t.retry.clients {
		if n >= roundClients {
			mask |= 1 << b
		}
	}
	return mask
}

// sum reduces a tally to the second's counts, rounds apart.
func (t *tally) sum() tick {
	k := tick{clients: t.retry.windowClients, peak: slices.Max(t.all[:])}
	k.c, k.p, k.retries, k.squares = t.retry.pairs()
	k.index = t.retry.index
	k.firstC, k.firstP, _, _ = t.first.pairs()
	return k
}
