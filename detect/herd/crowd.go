package herd

import (
	"math"
	"slices"
)

// crowd is an agent group's coincidence at one of the wider scales.
type crowd struct {
	windows  []crowdWindow // by number modulo their count; the latest is open
	number   int64         // of the open window
	bin      int64         // the latest that was counted, from the Unix epoch
	trail    [bins]uint32  // the twenty bins that end with it, by number modulo 20
	inWindow int64         // retries of the open window
	rounds   rounds
	round    struct{ n, bins int64 } // the present one: its retries, and the bins it fills
	last     int64                   // start of the last bin of a round; 0 none
	hot      uint8                   // cells of the latest tick that belong to a round, a bit each
	begun    bool
}

// crowdWindow is what a window amounts to.
type crowdWindow struct {
	c, p, n    int64
	index      int64 // sum of the retries' numbers
	rounds     int64 // returns
	firstRound int64 // start of the first of them
	inRounds   int64 // retries in them
	spanned    int64 // and each of these times the bins that its round fills
}

// crowdsOf makes room for a group's crowds: windows for as long as a ring of ticks
// remembers, and the open one.
func crowdsOf() (out [wider]crowd) {
	for s := range out {
		out[s].windows = make([]crowdWindow, ticks/wideAt[s].ticks+1)
	}
	return out
}

// turn makes room for the tick at, and empties what it pushes out.
func (c *crowd) turn(scale int, at int64) {
	w := &wideAt[scale]
	sec := BinOf(at, second)
	number, bin := BinOf(sec, w.ticks), sec*w.perTick+w.perTick-1
	if !c.begun {
		c.number, c.bin, c.begun = number-int64(len(c.windows)), bin-int64(bins), true
	}
	for range min(number-c.number, int64(len(c.windows))) {
		c.number++
		c.windows[c.place(c.number)] = crowdWindow{}
		c.inWindow = 0
	}
	if c.number != number { // a jump emptied all of them
		c.number = number
	}
	for k := max(c.bin+1, bin-int64(bins)+1); k <= bin; k++ {
		c.trail[trailAt(k)] = 0
	}
	c.bin, c.hot = bin, 0
}

func (c *crowd) place(number int64) int {
	n := int64(len(c.windows))
	return int(number - BinOf(number, n)*n)
}

func trailAt(bin int64) int { return int(bin - BinOf(bin, int64(bins))*int64(bins)) }

// add counts the tick for which turn made room.
func (c *crowd) add(scale int, t *wideTick) {
	w := &wideAt[scale]
	win := &c.windows[c.place(c.number)]
	n := int64(0)
	for i := range w.perTick {
		cell := w.from + int(i)
		k, bin := int64(t.n[cell]), c.bin-w.perTick+1+i
		c.trail[trailAt(bin)] = t.n[cell]
		win.c += k*(k-1)/2 - t.same[cell]
		n += k
		if c.stands(t, cell) {
			c.hot |= 1 << i
			c.join(win, k, bin*int64(Scale(scale+1).Width()), int64(Scale(scale+1).Width()))
		}
	}
	win.n += n
	win.index += t.index
	win.p += n*(n-1)/2 + n*c.inWindow - t.sameWindow[scale]
	c.inWindow += n
}

// join adds a bin of n retries to the present round, or begins one.
func (c *crowd) join(win *crowdWindow, n, at, width int64) {
	if begun := c.rounds.next(at, width); begun > 0 {
		if win.rounds == 0 {
			win.firstRound = at
		}
		win.rounds += begun
		c.round.n, c.round.bins = 0, 0
	}
	before := c.round.n * c.round.bins
	c.round.n += n
	c.round.bins++
	win.inRounds += n
	win.spanned += c.round.n*c.round.bins - before
	c.last = c.rounds.last
}

const (
	standsOut = 2.25 // times the mean of twenty bins: waves that fill half of the time reach twice
	againPart = 2    // at least one in so many of a round's retries is a third attempt or later
)

// stands tells whether a cell is part of a round: three or more clients return in it,
// for the second time or more, and over twice as many as in the bins before it on average.
func (c *crowd) stands(t *wideTick, cell int) bool {
	n := int64(t.n[cell])
	if t.clients[cell] < roundClients || againPart*int64(t.again[cell]) < n {
		return false
	}
	sum := int64(0)
	for _, k := range c.trail {
		sum += int64(k)
	}
	return float64(int64(bins)*n) >= standsOut*float64(sum)
}

// Coincidence is how far the retries of an agent group come together at a scale.
type Coincidence struct {
	Z, Rho    float64
	Pairs     int64   // of retries by different clients within a bin
	Rounds    int     // returns
	Bins      float64 // that a return fills, on average over its retries; 1 at the first scale, where it is not counted
	Share     float64 // of all retries, those in returns; 1 at the first scale likewise
	LastRound int64   // start of the last bin of one, Unix ns; 0 none
}

// At returns an agent group's coincidence at a scale, over the last 120 s, as of the
// last barrier.
func (h *Herd) At(agent int, s Scale) Coincidence {
	if s == Instant || s >= Scales {
		r := h.Reading(agent)
		return Coincidence{Z: r.Z, Rho: r.Rho, Pairs: r.Coincidences, Rounds: r.Rounds, Bins: 1, Share: 1, LastRound: r.LastRound}
	}
	gr := &h.groups[h.clamp(agent)]
	if gr.crowds == nil {
		return Coincidence{Rho: 1}
	}
	return gr.crowds[s-1].read(int(s)-1, h.end, h.Reading(agent).MedianGap)
}

// LastRound is the start of the last bin of an agent group's latest return at a scale,
// Unix ns; 0 where there is none.
func (h *Herd) LastRound(agent int, s Scale) int64 {
	gr := &h.groups[h.clamp(agent)]
	switch {
	case gr.ring == nil:
		return 0
	case s == Instant || s >= Scales:
		return h.Reading(agent).LastRound
	case gr.crowds == nil:
		return 0
	}
	return gr.crowds[s-1].last
}

// read sums up the windows. Of the open one only the bins that are over are there to
// coincide in.
func (c *crowd) read(scale int, end, wait int64) (out Coincidence) {
	w := &wideAt[scale]
	var closed crowdWindow
	for i := range c.windows {
		if i != c.place(c.number) {
			closed.add(&c.windows[i])
		}
	}
	open := c.windows[c.place(c.number)]
	over := (BinOf(end, second) - c.number*w.ticks) * w.perTick
	e, v := expected(closed.p, int64(bins))
	eo, vo := expected(open.p, min(max(over, 1), int64(bins)))
	closed.add(&open)
	out.Pairs, out.LastRound, out.Rho = closed.c, c.last, 1
	out.Rounds = apart(int(closed.rounds), c.first(), c.last, wait)
	if closed.inRounds > 0 {
		out.Bins = float64(closed.spanned) / float64(closed.inRounds)
		out.Share = float64(closed.inRounds) / float64(closed.n)
	}
	if e+eo > 0 && v+vo > 0 {
		out.Rho = float64(closed.c) / (e + eo)
		out.Z = (float64(closed.c) - e - eo) / math.Sqrt((v+vo)*repeats(closed.index, closed.n, wait))
	}
	return out
}

// first is the start of the window in which the earliest round that is remembered began.
func (c *crowd) first() int64 {
	for n := c.number - int64(len(c.windows)) + 1; n <= c.number; n++ {
		if w := &c.windows[c.place(n)]; w.rounds > 0 {
			return w.firstRound
		}
	}
	return c.last
}

func (w *crowdWindow) add(o *crowdWindow) {
	w.c += o.c
	w.p += o.p
	w.n += o.n
	w.index += o.index
	w.rounds += o.rounds
	w.inRounds += o.inRounds
	w.spanned += o.spanned
}

// expected is how many of p pairs fall into one of m bins by chance, and the variance.
func expected(p, m int64) (mean, variance float64) {
	mean = float64(p) / float64(m)
	return mean, mean * (1 - 1/float64(m))
}

func (c *crowd) clone() crowd {
	d := *c
	d.windows = slices.Clone(c.windows)
	return d
}
