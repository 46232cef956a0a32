package detect

import (
	"cmp"
	"fmt"
	"slices"
)

// reachSteps are the numbers of clients of which it is told what acting on them
// spares.
var reachSteps = [...]int{1, 2, 3, 5, 10, 20, 50, 100, 200, 500}

// reaching adds the avoidable load of clients up. It keeps the greatest only, so
// that its size is bounded.
type reaching struct {
	top     []float64 // not in order
	sum     float64
	of      int // clients
	loading int // those of them whose load could be avoided
	victims int
}

func (r *reaching) add(c *Client) {
	const most = 500 // as many as are listed (defaultTop)
	r.of++
	if c.Victim {
		r.victims++
	}
	x := c.AvoidablePerS.V
	if x <= 0 {
		return
	}
	r.loading++
	r.sum += x
	if r.top = append(r.top, x); len(r.top) >= 4*most {
		r.sort()
		r.top = r.top[:most]
	}
}

func (r *reaching) sort() {
	slices.SortFunc(r.top, func(a, b float64) int { return cmp.Compare(b, a) })
}

// steps tells how much of the load the first clients make, for a few numbers of
// them up to those that make all of it.
func (r *reaching) steps() (out []Reach) {
	if r.loading == 0 {
		return nil
	}
	r.sort()
	part := 0.0
	for i, x := range r.top {
		part += x
		if n := i + 1; n == r.loading || slices.Contains(reachSteps[:], n) {
			out = append(out, Reach{Clients: n, Of: r.of, Share: min(part/r.sum, 1)})
		}
	}
	return out
}

// worthSparing tells whether what could be avoided is enough of an incident's
// traffic that it matters who sends it.
func (e *engine) worthSparing(whole bool) bool {
	const least = .05 // half of impatientOf, from which clients make a storm
	s := &e.judge.state
	sum := &s.sum
	switch {
	case whole && s.worst.Since != s.since && s.worst.Since != 0:
		sum = &s.worstSum
	case s.since == 0:
		return false
	}
	return share(sum.impatient, sum.attempts) >= least
}

// Worthwhile returns the fewest clients that make most of the avoidable load, or
// else the most that there are; ok is false where these are more than a fifth of all
// clients, or more than a hundred: then it is not a few that must be acted on.
func Worthwhile(reach []Reach) (r Reach, ok bool) {
	const most, few, listed = .5, 5, 100
	for _, r = range reach {
		if r.Share >= most {
			return r, r.Clients*few <= r.Of && r.Clients <= listed
		}
	}
	return r, false
}

// reachText adds to the sentence on who is behind an incident whether acting on a
// few would do.
func reachText(reach []Reach) string {
	r, ok := Worthwhile(reach)
	if !ok {
		return ""
	}
	return fmt.Sprintf("throttle %d of %d clients: %.0f %% of the avoidable load", r.Clients, r.Of, 100*r.Share)
}
