package detect

import "math"

const (
	outerTimes  = 1.5 // how much longer than all inner waits the outer one is
	alikeTimes  = 1.2 // the same where the bursts on both sides are alike, wait by wait: none of the 2,746 runs of TestLayersNull passes
	alikeWithin = .1  // waits differ by so much of the longer, or less
)

// boundary tells whether the k-th boundary between bursts of a can be judged, which
// it cannot where the server named that wait, and whether it holds.
func (r *run) boundary(stride, a, k int, together bool) (judged, held bool) {
	at := func(j int) int { return j*stride - 1 }
	outer := at(k * a)
	if r.hinted>>outer&1 == 1 {
		return false, false
	}
	longest := uint32(0)
	for j := (k-1)*a + 1; j < (k+1)*a; j++ {
		if j == k*a {
			continue
		}
		if together && r.same>>at(j)&1 == 0 {
			return true, false
		}
		longest = max(longest, r.gaps[at(j)])
	}
	times := outerTimes
	if r.alike(stride, a, k) {
		times = alikeTimes
	}
	return true, float64(r.gaps[outer]) > times*float64(longest)
}

// alike tells whether the bursts on both sides of a boundary wait the same: an inner
// layer that begins anew. The first wait of the outer one may be hardly longer.
func (r *run) alike(stride, a, k int) bool {
	for j := 1; j < a; j++ {
		x, y := float64(r.gaps[((k-1)*a+j)*stride-1]), float64(r.gaps[(k*a+j)*stride-1])
		if math.Abs(x-y) > alikeWithin*max(x, y) {
			return false
		}
	}
	return true
}

// burst is the least length of bursts of which a run shows two or more, all their
// boundaries holding; 1 where there is none.
func (r *run) burst() int32 {
	for a := shortestBurst; a <= longestBurst; a++ {
		k, held := 1, true
		for ; held && (k+1)*a-1 <= int(r.n); k++ {
			_, held = r.boundary(1, a, k, false)
		}
		if held && k > fewestBounds {
			return int32(a)
		}
	}
	return 1
}
