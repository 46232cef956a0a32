package herd

import "math"

// Reading is the timing of an agent group over the last 120 ticks; jitter and
// the median wait over the last 30 to 60 s. Only retries that waited 100 ms or
// more are in it, save in Peak50ms.
type Reading struct {
	Z, Rho        float64 // coincidence; Rho is 1 where no pair could coincide
	Coincidences  int64   // pairs of retries by different clients within a bin (C)
	Retries       int64
	Rounds        int     // returns of three or more clients within a bin, at least 150 ms apart
	Clients       int     // most clients that retried within one second
	J             float64 // interquartile range of wait/median of its agent and attempt
	JGaps         int64   // waits behind J
	JKnown        bool
	JLost         int64   // waits left out because all cells were taken
	RhoFirst      float64 // Rho of first attempts: the traffic's own rhythm
	RhoFirstKnown bool
	Slots         float64 // bins the retries would fill if spread evenly: (sum c)^2 / sum c^2
	LastRound     int64   // start of the latest bin in which three or more clients retried, Unix ns; 0 none
	Peak50ms      int64   // most arrivals, first attempts and retries, in one bin
	MedianGap     int64   // median wait before a retry, ns; 0 none
}

// Reading returns the timing of an agent group, 0 being everyone, as of the last
// barrier.
func (h *Herd) Reading(agent int) Reading {
	g := h.clamp(agent)
	gr := &h.groups[g]
	if gr.ring == nil {
		return Reading{}
	}
	if !gr.cached {
		gr.reading, gr.cached = h.read(g), true
	}
	return gr.reading
}

func (h *Herd) read(g int) Reading {
	gr := &h.groups[g]
	s := &gr.sum
	r := Reading{Coincidences: s.c, Retries: s.retries, Rounds: int(s.rounds)}
	r.Z, r.Rho = coincidence(s.c, s.p)
	if s.firstP >= int64(bins) { // at least one pair is expected by chance
		_, r.RhoFirst = coincidence(s.firstC, s.firstP)
		r.RhoFirstKnown = true
	}
	if s.squares > 0 {
		r.Slots = float64(s.retries) * float64(s.retries) / float64(s.squares)
	}
	for i := range gr.ring {
		t := &gr.ring[i]
		r.Clients = max(r.Clients, int(t.clients))
		r.Peak50ms = max(r.Peak50ms, int64(t.peak))
		r.LastRound = max(r.LastRound, t.lastRound)
	}
	r.J, r.JGaps, r.MedianGap, r.JLost = h.waits.jitter(g)
	r.JKnown = r.JGaps >= allGaps
	r.Z /= math.Sqrt(repeats(s.index, s.retries, r.MedianGap))
	r.Rounds = apart(r.Rounds, gr.firstRound(h.end), r.LastRound, r.MedianGap)
	return r
}

// repeats is how many of n retries are one client's: twice their mean number less one,
// were all chains as long; no more than fit into the time of a Reading.
func repeats(index, n, wait int64) float64 {
	if n == 0 {
		return 1
	}
	k := max(2*float64(index)/float64(n)-1, 1)
	if wait > 0 {
		k = min(k, 1+float64(ticks*second)/float64(wait))
	}
	return k
}

// apart bounds a number of rounds by what there was time for: who waits comes back no
// sooner than after most of the wait. Where retries begin at once, chance fills bins
// that are no returns.
func apart(rounds int, first, last, wait int64) int {
	if rounds < 2 || wait <= 0 {
		return rounds
	}
	return min(rounds, 1+int((last-first)*4/(wait*3)))
}

// firstRound is the start of the last bin of the earliest round in the ring.
func (g *group) firstRound(end int64) int64 {
	for k := int64(ticks); k > 0; k-- {
		if t := &g.ring[slot(end-k*second)]; t.lastRound != 0 {
			return t.lastRound
		}
	}
	return 0
}

// coincidence returns z and rho of c pairs within a bin out of p within a window.
func coincidence(c, p int64) (z, rho float64) {
	if p <= 0 {
		return 0, 1
	}
	e := float64(p) / float64(bins)
	d := float64(c) - e
	return d / math.Sqrt(e*(1-1/float64(bins))), float64(c) / e
}
