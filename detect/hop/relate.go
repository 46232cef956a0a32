package hop

import (
	"maps"
	"slices"
	"time"
)

// Relation is what two sources are to each other.
type Relation uint8

// Relations. Unclear is the zero value: too little can be compared.
const (
	Unclear Relation = iota
	Apart            // different requests
	Same             // the same exchanges, seen at one hop
	Layer            // the same requests, seen at two hops
)

// Link is how source b relates to source a.
type Link struct {
	Relation Relation
	Offset   time.Duration // b's clock less a's, where they saw the same
	Error    time.Duration // half the spread of the middle half of it
	Share    float64       // of what could be compared, how much both saw
	N        int           // sightings both saw
	Inside   bool          // Layer: b's exchanges lie within a's, so b is behind a
	ByID     bool          // ids that both logged say so
}

// Two sources saw the same where at least sameShare of the smaller one's sightings
// have a counterpart at one clock offset. Hosts behind a balancer stay far below:
// a chain whose attempts are a constant wait apart and go to different hosts makes
// an offset of that wait fit, but for the pairs that went to one host or in the
// other order: 0.62 was the most in TestHostsBehindABalancer. Fewer than fewest
// sightings tell nothing.
const (
	sameShare = .8
	apartAt   = .7 // between that most and sameShare nothing is claimed
	fewest    = 20
	halves    = 2                // of the shorter of two successive sources must lie within the other
	tenths    = 10               // of its time, less than which in common makes them successive
	farthest  = 15 * time.Minute // clocks further apart than that are not compared
)

// Relate compares two sketches. within is how exactly times can be compared: the
// coarser clock, and the time a request may take from one to the other.
func Relate(a, b *Sketch, within time.Duration) Link {
	if b.first-a.last > int64(farthest) || a.first-b.last > int64(farthest) {
		return Link{Relation: Apart}
	}
	level := max(a.level, b.level)
	diffs := differences(a, b, level)
	offset, spread := densest(diffs, 2*int64(within))
	pairs := pair(a, b, level, offset, int64(within))
	ofA, ofB := a.comparable(b, level, -offset), b.comparable(a, level, offset)
	n := min(ofA, ofB)
	link := Link{Offset: time.Duration(offset), Error: time.Duration(spread), N: len(pairs)}
	if n < fewest {
		return link
	}
	link.Share = float64(len(pairs)) / float64(n)
	switch {
	case link.Share < apartAt:
		return Link{Relation: Apart, Share: link.Share, N: len(pairs)}
	case link.Share < sameShare:
		return link
	}
	if tenths*common(a, b, 0) < shorter(a, b) && halves*common(a, b, offset) < shorter(a, b) {
		return Link{Relation: Apart, Share: link.Share, N: link.N}
	}
	link.Relation, link.Inside = related(pairs), inside(pairs)
	return link
}

// common is the time in which both saw something, at an offset of b's clock. Where
// one source ends about when the other begins, as where a host takes over from
// another, clients that retry at a constant wait fit themselves a few rounds later,
// at an offset that lays only the ends over each other.
func common(a, b *Sketch, offset int64) int64 {
	return min(a.last, b.last-offset) - max(a.first, b.first-offset)
}

func shorter(a, b *Sketch) int64 { return min(a.last-a.first, b.last-b.first) }

// differences are those of the starts of all pairs of sightings with one key.
func differences(a, b *Sketch, level uint) (out []int64) {
	for key := range b.keys {
		if !kept(key, level) {
			continue
		}
		for _, x := range b.rare(key) {
			for _, y := range a.rare(key) {
				if d := x.Start - y.Start; d <= int64(farthest) && d >= -int64(farthest) {
					out = append(out, d)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// densest returns the middle of the window of the given width that holds most
// differences, and half the spread of the middle half of those.
func densest(sorted []int64, width int64) (middle, spread int64) {
	from, to := 0, 0
	for i, j := 0, 0; j < len(sorted); j++ {
		for sorted[j]-sorted[i] > width {
			i++
		}
		if j-i > to-from {
			from, to = i, j
		}
	}
	if len(sorted) == 0 {
		return 0, 0
	}
	in := sorted[from : to+1]
	return in[len(in)/2], (in[len(in)*3/4] - in[len(in)/4]) / 2
}

type pairing struct{ a, b Sighting }

// pair gives each sighting of b a counterpart in a that lies within the tolerance
// of the offset, each at most once.
func pair(a, b *Sketch, level uint, offset, within int64) (out []pairing) {
	for _, key := range slices.Sorted(maps.Keys(b.keys)) {
		if !kept(key, level) {
			continue
		}
		as := slices.Clone(a.rare(key))
		for _, x := range b.rare(key) {
			i := slices.IndexFunc(as, func(y Sighting) bool {
				d := x.Start - y.Start - offset
				return d <= within && d >= -within
			})
			if i >= 0 {
				out = append(out, pairing{as[i], x})
				as = slices.Delete(as, i, i+1)
			}
		}
	}
	return out
}

// comparable counts the sightings of s that o would have seen too, had it seen the
// same: those within o's time, of a key that o did not see too often.
func (s *Sketch) comparable(o *Sketch, level uint, offset int64) (n int) {
	for key := range s.keys {
		if k := o.keys[key]; !kept(key, level) || k != nil && k.n > maxSeen {
			continue
		}
		for _, x := range s.rare(key) {
			if t := x.Start - offset; t >= o.first && t <= o.last {
				n++
			}
		}
	}
	return n
}
