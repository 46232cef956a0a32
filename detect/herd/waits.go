package herd

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// Waits are kept in cells, one for each agent group and attempt number, as
// histograms over two epochs of 30 s that take turns: a Reading sees the last 30
// to 60 s. An octave of the histogram is 128 bins of equal width, 0.4 to 0.8 %
// of the wait, far below the 5 % that matters.
const (
	epoch     = 30 * second
	attempts  = 16              // attempts 2..16, and all beyond in the last
	fine      = 7               // bits: 128 bins an octave
	lowOctave = 26              // 2^26 ns = 67 ms, just below the shortest wait
	octaves   = 16              // up to 2^42 ns, 73 minutes
	waitBins  = octaves << fine // of one cell
	maxCells  = 256             // cells an epoch keeps: 2 MB
	longest   = 1<<(lowOctave+octaves) - 1
)

// wait is one wait as a shard notes it: cell<<16 | bin<<2 | flags.
type wait uint32

const (
	newHere   wait = 1 << iota // the client's first wait of the cell in this epoch
	newToBoth                  // and it had none in the epoch before
)

func (w wait) cell() int { return int(w >> 16) }
func (w wait) bin() int  { return int(w >> 2 & (waitBins - 1)) }

func waitBin(gap int64) int {
	gap = min(max(gap, 1<<lowOctave), longest)
	o := bits.Len64(uint64(gap)) - 1
	return (o-lowOctave)<<fine | int(gap>>(o-fine))&(1<<fine-1)
}

// waitAt is the inverse of waitBin: the wait in ns at a place inside the bins.
func waitAt(place float64) float64 {
	o := math.Floor(place / (1 << fine))
	return math.Ldexp(1+(place-o*(1<<fine))/(1<<fine), int(o)+lowOctave)
}

// placeOf is the place inside the bins of a wait in ns.
func placeOf(ns float64) float64 {
	m, e := math.Frexp(ns) // ns = m * 2^e, m in [.5, 1)
	return float64((e-1-lowOctave)<<fine) + (2*m-1)*(1<<fine)
}

// wait notes a wait. It must come before the retry itself is counted, since it
// tells epochs by the second of the client's previous retry.
func (s *Shard) wait(m *Member, g uint8, attempt int32, start, gap int64) {
	const perEpoch = uint32(epoch / second)
	now, last := (windowOf(start)-1)/perEpoch, (m.window[retryKind]-1)/perEpoch
	switch {
	case m.window[retryKind] == 0, now != last && now != last+1:
		m.waited, m.waitedBefore = 0, 0
	case now == last+1:
		m.waited, m.waitedBefore = 0, m.waited
	}
	k := min(int(attempt)-2, attempts-1)
	w := wait(int(g)*attempts+k)<<16 | wait(waitBin(gap))<<2
	if bit := uint16(1) << k; m.waited&bit == 0 {
		m.waited |= bit
		w |= newHere
		if m.waitedBefore&bit == 0 {
			w |= newToBoth
		}
	}
	s.waits = append(s.waits, w)
}

// waits are the merged cells of both epochs.
type waits struct {
	now, before half
	number      int64 // of the present epoch
	begun       bool
	pool        pool
}

// half is one epoch: cells by key, and their histograms.
type half struct {
	cells  []cell   // in order of key
	counts []uint32 // waitBins for each place
	index  []int16  // place by key, plus one; 0 none
	lost   []int64  // by agent group: waits left out because all cells were taken
}

type cell struct {
	key             int32
	place           int32 // of its histogram
	gaps            int64
	clients         int64 // distinct in this epoch
	newClients      int64 // those of them without a wait in the epoch before
	lowest, highest int32 // bins in use
}

func newWaits(agents int) waits {
	return waits{now: newHalf(agents), before: newHalf(agents)}
}

func newHalf(agents int) half {
	return half{index: make([]int16, agents*attempts), lost: make([]int64, agents)}
}

// turn begins the epoch of the second at, if it has not begun.
func (w *waits) turn(at int64) {
	n := BinOf(at, epoch)
	if w.begun && n == w.number {
		return
	}
	w.now, w.before = w.before, w.now
	w.now.clear()
	if !w.begun || n != w.number+1 {
		w.before.clear()
	}
	w.number, w.begun = n, true
}

func (h *half) clear() {
	h.cells, h.counts = h.cells[:0], h.counts[:0]
	clear(h.index)
	clear(h.lost)
}

// merge adds the waits that the shards noted. Which cells are admitted depends
// on their keys only, not on the order in which shards are read.
func (w *waits) merge(shards []Shard) {
	h := &w.now
	admitted := len(h.cells)
	for i := range shards {
		for _, x := range shards[i].waits {
			if h.index[x.cell()] == 0 {
				h.index[x.cell()] = -1
			}
		}
	}
	for key, place := range h.index {
		if place == -1 {
			h.admit(int32(key))
		}
	}
	for i := range shards {
		for _, x := range shards[i].waits {
			h.add(x)
		}
	}
	if len(h.cells) > admitted {
		slices.SortFunc(h.cells, func(a, b cell) int { return cmp.Compare(a.key, b.key) })
		for i, c := range h.cells {
			h.index[c.key] = int16(i + 1)
		}
	}
}

func (h *half) admit(key int32) {
	n := len(h.cells)
	if n == maxCells {
		h.index[key] = 0
		return
	}
	h.cells = append(h.cells, cell{key: key, place: int32(n), lowest: waitBins})
	h.counts = slices.Grow(h.counts, waitBins)[:(n+1)*waitBins]
	clear(h.counts[n*waitBins:])
	h.index[key] = int16(n + 1)
}

func (h *half) add(x wait) {
	i := h.index[x.cell()]
	if i <= 0 {
		h.lost[x.cell()/attempts]++
		return
	}
	c, b := &h.cells[i-1], int32(x.bin())
	c.gaps++
	if x&newHere != 0 {
		c.clients++
	}
	if x&newToBoth != 0 {
		c.newClients++
	}
	c.lowest, c.highest = min(c.lowest, b), max(c.highest, b)
	h.counts[int(c.place)*waitBins+int(b)]++
}

func (w *waits) clone() waits {
	c := *w
	c.now, c.before, c.pool = w.now.clone(), w.before.clone(), pool{}
	return c
}

func (h *half) clone() half {
	return half{
		cells: slices.Clone(h.cells), counts: slices.Clone(h.counts),
		index: slices.Clone(h.index), lost: slices.Clone(h.lost),
	}
}
