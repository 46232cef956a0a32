package policy

import (
	"fmt"
	"slices"
)

// Timing is how the waits of catalogued policies that wait alike are distributed, as
// they are observed.
type Timing struct {
	policy Policy
	retry  int // up to which they wait alike
}

// Timings lists those of the catalogue, up to a retry; each once. Policies whose next
// delay hangs on the one before are left out: they are about as broad as a guess.
func Timings(retry int) (all []Timing) {
	var keys []string
	for _, l := range libraries {
		p, err := Parse(l.text)
		if own := p.ownFamily(); err != nil || own == Decorrelated || own == SmoothJitter || p.spans(1) == nil {
			continue
		}
		key := ""
		for n := 1; n <= retry; n++ {
			key += fmt.Sprint(p.spans(n))
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
			all = append(all, Timing{p, retry})
		}
	}
	return all
}

// Shares tells how likely the wait before retry n falls between each two of the edges,
// in seconds and ascending: from the first that it may, and no longer than it may.
func (t Timing) Shares(n int, edges []float64) (first int, shares []float64) {
	const never = 1e-6
	spans := t.policy.spans(min(n, t.retry))
	low := spans[0].low
	for _, s := range spans {
		low = min(low, s.low)
	}
	from := low.Seconds() - early(low.Seconds())
	for first+2 < len(edges) && edges[first+1] <= from {
		first++
	}
	o, below := observed(spans, 0), 0.
	if first > 0 {
		below = o.reaches(edges[first])
	}
	for i := first + 1; i < len(edges) && below < 1-never; i++ {
		up := o.reaches(edges[i])
		shares = append(shares, max(0, up-below))
		below = up
	}
	return first, shares
}
