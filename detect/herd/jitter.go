package herd

// Fewest gaps and clients of a cell, and fewest gaps of all, from which J is
// computed (signatures-trial, lockstep).
const (
	cellGaps    = 3
	cellClients = 3
	allGaps     = 8
)

// pool is scratch space: cells of both epochs added up, as running sums.
type pool struct {
	runs []run
	sums []int64
}

// run is a cell in the pool. sums[from+i] counts its waits in the bins low..low+i.
type run struct {
	from, low, n int
	gaps         int64
	scale        float64 // its median, ns
	judged       bool
}

// jitter returns J of an agent group, the gaps behind it, the median of all
// waits in ns, and how many waits had no cell.
func (w *waits) jitter(g int) (j float64, gaps int64, median, lost int64) {
	p := &w.pool
	p.runs, p.sums = p.runs[:0], p.sums[:0]
	from, to := int32(g*attempts), int32((g+1)*attempts)
	if g == 0 {
		to = int32(len(w.now.index))
	}
	for i, k := 0, 0; i < len(w.before.cells) || k < len(w.now.cells); {
		var old, now *cell
		if i < len(w.before.cells) {
			old = &w.before.cells[i]
		}
		if k < len(w.now.cells) {
			now = &w.now.cells[k]
		}
		switch {
		case now == nil || old != nil && old.key < now.key:
			now = nil
			i++
		case old == nil || now.key < old.key:
			old = nil
			k++
		default:
			i++
			k++
		}
		if key := keyOf(old, now); key >= from && key < to {
			p.add(w, old, now)
		}
	}
	for a := range w.now.lost {
		if g == 0 || a == g {
			lost += w.now.lost[a] + w.before.lost[a]
		}
	}
	gaps = p.judgedGaps()
	if gaps >= allGaps {
		j = p.quantile(.75, gaps) - p.quantile(.25, gaps)
	}
	return j, gaps, int64(p.medianOfAll()), lost
}

func keyOf(old, now *cell) int32 {
	if old != nil {
		return old.key
	}
	return now.key
}

// add puts a cell, of whose epochs one may be missing, into the pool.
func (p *pool) add(w *waits, old, now *cell) {
	r := run{from: len(p.sums)}
	low, high := int32(waitBins), int32(0)
	clients := int64(0)
	if old != nil {
		low, high, clients = old.lowest, old.highest, old.clients
	}
	if now != nil {
		low, high = min(low, now.lowest), max(high, now.highest)
		if old == nil {
			clients = now.clients
		} else {
			clients += now.newClients
		}
	}
	for b := low; b <= high; b++ {
		if old != nil {
			r.gaps += int64(w.before.counts[old.place*waitBins+b])
		}
		if now != nil {
			r.gaps += int64(w.now.counts[now.place*waitBins+b])
		}
		p.sums = append(p.sums, r.gaps)
	}
	r.low, r.n = int(low), int(high-low+1)
	r.judged = r.gaps >= cellGaps && clients >= cellClients
	r.scale = p.at(&r, float64(r.gaps)/2)
	p.runs = append(p.runs, r)
}

// at returns the wait in ns below which n waits of the run lie, waits being
// spread evenly inside their bin.
func (p *pool) at(r *run, n float64) float64 {
	lo, hi := 0, r.n-1
	for lo < hi {
		mid := (lo + hi) / 2
		if float64(p.sums[r.from+mid]) >= n {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	below := int64(0)
	if lo > 0 {
		below = p.sums[r.from+lo-1]
	}
	inside := float64(p.sums[r.from+lo] - below)
	return waitAt(float64(r.low+lo) + (n-float64(below))/inside)
}

// below returns how many waits of the run are shorter than ns.
func (p *pool) below(r *run, ns float64) float64 {
	at := placeOf(ns) - float64(r.low)
	switch {
	case at <= 0:
		return 0
	case at >= float64(r.n):
		return float64(r.gaps)
	}
	i := int(at)
	before := int64(0)
	if i > 0 {
		before = p.sums[r.from+i-1]
	}
	return float64(before) + (at-float64(i))*float64(p.sums[r.from+i]-before)
}

func (p *pool) judgedGaps() (n int64) {
	for i := range p.runs {
		if p.runs[i].judged {
			n += p.runs[i].gaps
		}
	}
	return n
}

// quantile returns the ratio of wait to its cell's median below which the share
// q of the n judged waits lies.
func (p *pool) quantile(q float64, n int64) float64 {
	want := q * float64(n)
	return bisect(0x1p-16, 0x1p16, func(x float64) bool {
		sum := 0.0
		for i := range p.runs {
			if r := &p.runs[i]; r.judged {
				sum += p.below(r, x*r.scale)
			}
		}
		return sum >= want
	})
}

// medianOfAll returns the median wait over all cells, in ns; 0 without any.
func (p *pool) medianOfAll() float64 {
	n := int64(0)
	for i := range p.runs {
		n += p.runs[i].gaps
	}
	if n == 0 {
		return 0
	}
	return bisect(1<<lowOctave, longest, func(ns float64) bool {
		sum := 0.0
		for i := range p.runs {
			sum += p.below(&p.runs[i], ns)
		}
		return sum >= float64(n)/2
	})
}

// bisect returns the least x between lo and hi, to a thousandth of a per cent, at
// which enough holds; enough must go on holding above it.
func bisect(lo, hi float64, enough func(float64) bool) float64 {
	for hi > lo*(1+1e-5) {
		mid := lo + (hi-lo)/2
		if hi > 4*lo {
			mid = 2 * lo
		}
		if enough(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}
