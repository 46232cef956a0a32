package detect

import (
	"cmp"
	"slices"

	"stormwatch/detect/herd"
)

// fold fills the picture of a period.
func (a *arrivals) fold(period int64, out *Arrivals) {
	period = min(max(period, shortestFold), longestFold)
	f, width, from, to := a.span(period)
	strength, phase := a.vector(float64(period))
	out.Period, out.Spread, out.Strength = period, a.spread(period), Some(strength)
	// The herd, if there is one, stands upright in the middle.
	start := from + int64((phase-.5)*float64(period))
	if start > from {
		start -= period
	}
	rows := (to - start + period - 1) / period
	if rows > foldRows {
		start += (rows - foldRows) * period
		rows = foldRows
	}
	out.Start = start
	out.Width = (period + foldCells*width - 1) / (foldCells * width) * width
	cells := (period + out.Width - 1) / out.Width
	flat := make([]int32, rows*cells)
	out.Rows = make([][]int32, rows)
	for r := range out.Rows {
		out.Rows[r] = flat[int64(r)*cells : int64(r+1)*cells : int64(r+1)*cells]
	}
	phases := make([]int64, cells)
	sum := int64(0)
	f.each(width, max(from, start), to, func(mid, n int64) {
		if mid < start {
			return
		}
		r := (mid - start) / period
		if r >= rows {
			return
		}
		c := (mid - start - r*period) / out.Width
		out.Rows[r][c] += int32(n)
		phases[c] += n
		sum += n
	})
	if sum == 0 {
		return
	}
	for !slices.ContainsFunc(out.Rows[0], func(n int32) bool { return n > 0 }) {
		out.Rows, out.Start = out.Rows[1:], out.Start+period
	}
	squares := 0.
	for _, n := range phases {
		squares += float64(n) * float64(n)
	}
	out.PeakOverMean = Some(float64(slices.Max(phases)) * float64(cells) / float64(sum))
	out.Slots = Some(float64(sum) * float64(sum) / squares)
}

// arrivals builds the picture of the retries' arrivals, folded by a period or, if
// that is 0, by the one that fits best.
func (e *engine) arrivals(period int64) (out Arrivals) {
	a := &e.pop.arrivals
	if !a.started {
		return out
	}
	out.Candidates = a.candidates()
	if period <= 0 && len(out.Candidates) > 0 {
		period = out.Candidates[0]
	}
	if period <= 0 {
		return out
	}
	a.fold(period, &out)
	herdNumbers(&out, e.herd.Reading(0))
	out.Clients = e.recent.arrivals(e, out.Start, out.Start+int64(len(out.Rows))*out.Period)
	return out
}

func herdNumbers(out *Arrivals, r herd.Reading) {
	if r.Retries > 0 {
		out.Coincidence, out.Excess = Some(r.Z), Some(r.Rho)
	}
	if r.JKnown {
		out.Jitter = Some(r.J)
	}
	if r.Peak50ms > 0 {
		out.Peak50ms = Some(float64(r.Peak50ms))
	}
}

// arrivals returns the retries between from and to of the clients that sent most
// of those still kept.
func (r *ring) arrivals(e *engine, from, to int64) []ClientArrivals {
	if to <= from {
		return nil
	}
	n := map[uint32]int{}
	retry := func(k *kept) bool { return k.attempt > 1 && k.start >= from && k.start < to }
	for i := range r.at {
		if k := &r.at[i]; retry(k) {
			n[k.client]++
		}
	}
	ids := make([]uint32, 0, len(n))
	for id := range n {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(x, y uint32) int {
		return cmp.Or(-cmp.Compare(n[x], n[y]), cmp.Compare(e.names.labels[x], e.names.labels[y]), cmp.Compare(x, y))
	})
	ids = ids[:min(len(ids), foldClients)]
	out := make([]ClientArrivals, len(ids))
	place := map[uint32]int{}
	for i, id := range ids {
		out[i] = ClientArrivals{Label: e.names.labels[id], Cells: make([]int32, foldCells)}
		place[id] = i
	}
	for i := range r.at {
		k := &r.at[i]
		if p, ok := place[k.client]; ok && retry(k) {
			out[p].Cells[int(float64(k.start-from)/float64(to-from)*foldCells)]++
		}
	}
	return out
}
