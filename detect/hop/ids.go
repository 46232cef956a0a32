package hop

import (
	"cmp"
	"slices"
	"time"
)

// Ids that hops pass on prove what targets only suggest, so that fewer are enough.
const fewestIDs = 5

// slack is what clocks and rounding may add to a request's way between two hops,
// beyond twice the coarser clock's resolution.
const slack = 2 * time.Millisecond

// RelateByID compares two sketches whose keys are hashes of ids that hops pass on.
// An exchange at an inner hop lies within that of the outer one, whatever the outer
// one waits for, so each pair bounds the clocks' offset from both sides; the offset
// is the one with which most bounds agree (Marzullo's algorithm, as in NTP: RFC 5905
// section 11.2.1). b may be one of several hosts behind a, which together saw all.
func RelateByID(a, b *Sketch, resolution time.Duration) Link {
	if a == nil || b == nil || b.first-a.last > int64(farthest) || a.first-b.last > int64(farthest) {
		return Link{}
	}
	level := max(a.level, b.level)
	tolerance := int64(2*resolution + slack)
	keys := shared(a, b, level)
	if len(keys) < fewestIDs {
		return Link{N: len(keys)}
	}
	offset := agreed(bounds(a, b, keys, tolerance))
	ofA, ofB := a.comparable(b, level, -offset), b.comparable(a, level, offset)
	ab := enclosed(a, b, keys, offset, tolerance)  // those of b within one of a
	ba := enclosed(b, a, keys, -offset, tolerance) // those of a within one of b
	link := Link{N: len(keys), ByID: true, Inside: float64(len(ab))*float64(ofA) >= float64(len(ba))*float64(ofB)}
	if float64(len(ab)) >= sameShare*float64(ofB) && float64(len(ba)) >= sameShare*float64(ofA) {
		link.Inside = inside(ab) // both ways within the tolerance: the shorter ones lie within
	}
	pairs, n := ab, ofB
	if !link.Inside {
		pairs, n = ba, ofA
	}
	if n < fewestIDs || float64(len(pairs)) < sameShare*float64(n) {
		return Link{N: len(keys)}
	}
	link.Share = float64(len(pairs)) / float64(n)
	link.Relation = Layer
	if both := float64(len(keys)); related(pairs) == Same && both >= sameShare*float64(min(ofA, ofB)) && once(a, b, keys) {
		link.Relation = Same
	}
	link.Offset, link.Error = middle(a, b, keys)
	return link
}

// Fan is what a hop made of the requests it received, as far as ids tell that both
// its side and the one behind it saw. One id at several services is no repetition, nor
// what was asked again though it had succeeded.
type Fan struct {
	Requests, Attempts int     // at the outer hop; at the inner ones, whatever was asked
	Repeated, Retries  int     // ids of which a failed attempt was sent again; how often
	Most               int     // attempts at one thing at most
	At                 []int64 // when those requests came, by the outer clock, Unix ns, in order
}

// PerRequest is how many attempts the hop makes for each request, first ones and those
// after a failure.
func (f *Fan) PerRequest() float64 {
	if f.Requests == 0 {
		return 1
	}
	return 1 + float64(f.Retries)/float64(f.Requests)
}

// Within counts the requests sent on again that came between two moments.
func (f *Fan) Within(from, to int64) int {
	i, _ := slices.BinarySearch(f.At, from)
	j, _ := slices.BinarySearch(f.At, to)
	return j - i
}

// Fanned counts what outer and inner hops saw of ids that both have. Each side may be
// several hosts.
func Fanned(outer, inner []*Sketch) (f Fan) {
	level := uint(0)
	count := func(side []*Sketch) map[uint64]int {
		n := map[uint64]int{}
		for _, s := range side {
			if s == nil {
				continue
			}
			level = max(level, s.level)
			for key, k := range s.keys {
				n[key] += k.n
			}
		}
		return n
	}
	ofOuter, ofInner := count(outer), count(inner)
	for key, n := range ofInner {
		if m := ofOuter[key]; m > 0 && kept(key, level) {
			f.Requests += m
			f.Attempts += n
			f.repeat(outer, inner, key, int(m))
		}
	}
	slices.Sort(f.At)
	return f
}

// repeat counts what of an id was sent again, and was not received as often: clients
// may keep an id when they retry.
func (f *Fan) repeat(outer, inner []*Sketch, key uint64, received int) {
	type tries struct{ n, failed int }
	at := map[uint64]tries{}
	each(inner, key, func(x Sighting) {
		t := at[x.What]
		if t.n++; x.Failed {
			t.failed++
		}
		at[x.What] = t
	})
	again := 0
	for _, t := range at {
		if k := min(t.failed, t.n-received); k > 0 {
			again += k
			f.Most = max(f.Most, k+1)
		}
	}
	if again == 0 {
		return
	}
	f.Repeated++
	f.Retries += again
	each(outer, key, func(x Sighting) { f.At = append(f.At, x.Start) })
}

// each calls see for the sightings of a key.
func each(side []*Sketch, key uint64, see func(Sighting)) {
	for _, s := range side {
		if s != nil {
			for _, x := range s.rare(key) {
				see(x)
			}
		}
	}
}

// Attempts is Fanned's count of requests at the outer hop, and of attempts at the inner.
func Attempts(outer, inner []*Sketch) (requests, attempts int) {
	f := Fanned(outer, inner)
	return f.Requests, f.Attempts
}

// shared are the keys that both saw, sorted.
func shared(a, b *Sketch, level uint) (keys []uint64) {
	for key := range b.keys {
		if kept(key, level) && len(a.rare(key)) > 0 && len(b.rare(key)) > 0 {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// bound is an end of an interval in which an offset lies.
type bound struct {
	at    int64
	opens bool
}

// bounds are those that each pair of sightings sets on the offset, whichever of
// the two encloses the other.
func bounds(a, b *Sketch, keys []uint64, tolerance int64) (out []bound) {
	for _, key := range keys {
		for _, x := range b.rare(key) {
			for _, y := range a.rare(key) {
				from, to := x.Start-y.Start, x.End-y.End
				if from = min(from, to) - tolerance; from >= -int64(farthest) && from <= int64(farthest) {
					out = append(out, bound{from, true}, bound{max(x.Start-y.Start, to) + tolerance, false})
				}
			}
		}
	}
	slices.SortFunc(out, func(x, y bound) int {
		if c := cmp.Compare(x.at, y.at); c != 0 {
			return c
		}
		return cmp.Compare(bit(y.opens), bit(x.opens))
	})
	return out
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// agreed returns the middle of where most intervals overlap.
func agreed(ends []bound) (middle int64) {
	open, most := 0, 0
	for i, e := range ends {
		if !e.opens {
			open--
			continue
		}
		if open++; open > most && i+1 < len(ends) {
			most, middle = open, e.at+(ends[i+1].at-e.at)/2
		}
	}
	return middle
}

// enclosed pairs each sighting of the inner with the one of the outer that encloses
// it and is nearest; several may lie within one.
func enclosed(outer, inner *Sketch, keys []uint64, offset, tolerance int64) (out []pairing) {
	for _, key := range keys {
		ys := outer.rare(key)
		for _, x := range inner.rare(key) {
			best := -1
			for i, y := range ys {
				if x.Start-y.Start-offset >= -tolerance && x.End-y.End-offset <= tolerance && (best < 0 || distance(x, y, offset) < distance(x, ys[best], offset)) {
					best = i
				}
			}
			if best >= 0 {
				out = append(out, pairing{ys[best], x})
			}
		}
	}
	return out
}

func distance(b, a Sighting, offset int64) int64 {
	d := b.Start - a.Start - offset
	return max(d, -d)
}

// once tells whether both saw about the same number of exchanges for an id.
func once(a, b *Sketch, keys []uint64) bool {
	same := 0
	for _, key := range keys {
		if a.keys[key].n == b.keys[key].n {
			same++
		}
	}
	return float64(same) >= sameShare*float64(len(keys))
}

// related tells whether both saw the same clients.
func related(pairs []pairing) Relation {
	same := 0
	for _, p := range pairs {
		if p.a.Client == p.b.Client {
			same++
		}
	}
	if float64(same) >= sameShare*float64(len(pairs)) {
		return Same
	}
	return Layer
}

// inside tells whether b's exchanges are the shorter ones.
func inside(pairs []pairing) bool {
	n := 0
	for _, p := range pairs {
		if p.b.End-p.b.Start <= p.a.End-p.a.Start {
			n++
		}
	}
	return 2*n >= len(pairs)
}

// middle returns how far b's clock is ahead of a's, and how sure that is. What one hop saw of an id, from the first start to the last end, fills
// what the other saw but for the way between them: the eighth with least room
// between them tells most (the minimum filter of NTP, RFC 5905 section 10).
func middle(a, b *Sketch, keys []uint64) (offset, within time.Duration) {
	type fit struct{ at, room int64 }
	fits := make([]fit, 0, len(keys))
	for _, key := range keys {
		x, y := hull(b.rare(key)), hull(a.rare(key))
		head, tail := x.Start-y.Start, x.End-y.End
		fits = append(fits, fit{head/2 + tail/2, max(head-tail, tail-head)})
	}
	slices.SortStableFunc(fits, func(x, y fit) int { return cmp.Compare(x.room, y.room) })
	fits = fits[:min(len(fits), max(len(fits)/8, fewestIDs))]
	room := fits[len(fits)/2].room
	slices.SortFunc(fits, func(x, y fit) int { return cmp.Compare(x.at, y.at) })
	mid := fits[len(fits)/2].at
	spread := (fits[len(fits)*3/4].at - fits[len(fits)/4].at) / 2
	return time.Duration(mid), time.Duration(max(spread, room/2))
}

// hull spans sightings.
func hull(all []Sighting) Sighting {
	out := all[0]
	for _, x := range all[1:] {
		out.Start, out.End = min(out.Start, x.Start), max(out.End, x.End)
	}
	return out
}
