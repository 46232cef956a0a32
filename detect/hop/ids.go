package hop

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Ids that hops pass on prove what targets only suggest, so that fewer are enough.
const fewestIDs = 5

// closestOf is the part of the pairs from which a clock offset is taken: those of
// which both hops saw about the same length, since there the way between them and
// what waits on it are shortest (the minimum filter of NTP, RFC 5905 section 10).
const closestOf = 8

// RelateByID compares two sketches whose keys are hashes of ids that hops pass on.
// Its offset is finer than that of Relate: an exchange at the inner hop lies
// within that of the outer one, so the offset is taken from the middles of those
// that leave least room.
func RelateByID(a, b *Sketch, within time.Duration) Link {
	if a == nil || b == nil || b.first-a.last > int64(farthest) || a.first-b.last > int64(farthest) {
		return Link{}
	}
	level := max(a.level, b.level)
	offset, _ := densest(differences(a, b, level), 2*int64(within))
	pairs := nested(a, b, level, offset, int64(within))
	n := min(a.comparable(b, level, -offset), b.comparable(a, level, offset))
	if n < fewestIDs || float64(len(pairs)) < sameShare*float64(n) {
		return Link{N: len(pairs)}
	}
	link := Link{Relation: related(pairs), Share: float64(len(pairs)) / float64(n), N: len(pairs), ByID: true}
	link.Inside = inside(pairs)
	link.Offset, link.Error = middles(pairs)
	link.PerRequest = perRequest(a, b, level)
	return link
}

// nested gives each sighting of b the counterpart in a that starts next to it and
// encloses it, or lies within it: a hop may hold a request up before it passes it on.
func nested(a, b *Sketch, level uint, offset, within int64) (out []pairing) {
	for _, key := range slices.Sorted(maps.Keys(b.keys)) {
		if !kept(key, level) {
			continue
		}
		as := slices.Clone(a.rare(key))
		for _, x := range b.rare(key) {
			best := -1
			for i, y := range as {
				from, to := x.Start-y.Start-offset, x.End-y.End-offset
				if from >= -within && to <= within || from <= within && to >= -within {
					if best < 0 || distance(x, y, offset) < distance(x, as[best], offset) {
						best = i
					}
				}
			}
			if best >= 0 {
				out = append(out, pairing{as[best], x})
				as = slices.Delete(as, best, best+1)
			}
		}
	}
	return out
}

func distance(b, a Sighting, offset int64) int64 {
	d := b.Start - a.Start - offset
	return max(d, -d)
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

// middles returns how far b's clock is ahead of a's, and how sure that is.
func middles(pairs []pairing) (offset, within time.Duration) {
	room := func(p pairing) int64 {
		d := (p.a.End - p.a.Start) - (p.b.End - p.b.Start)
		return max(d, -d)
	}
	best := slices.Clone(pairs)
	slices.SortStableFunc(best, func(x, y pairing) int { return cmp.Compare(room(x), room(y)) })
	best = best[:min(len(best), max(len(best)/closestOf, fewestIDs))]
	at := make([]int64, len(best))
	for i, p := range best {
		at[i] = (p.b.Start-p.a.Start)/2 + (p.b.End-p.a.End)/2
	}
	slices.Sort(at)
	spread := (at[len(at)*3/4] - at[len(at)/4]) / 2
	return time.Duration(at[len(at)/2]), time.Duration(max(spread, room(best[len(best)/2])/2))
}

// perRequest is how many exchanges b saw for each that a saw, of ids that both did:
// more than one where a hop between them, or a itself, tries again.
func perRequest(a, b *Sketch, level uint) float64 {
	ofA, ofB := 0, 0
	for _, key := range slices.Sorted(maps.Keys(b.keys)) {
		if x := a.keys[key]; x != nil && kept(key, level) {
			ofA += x.n
			ofB += b.keys[key].n
		}
	}
	if ofA == 0 {
		return 0
	}
	return float64(ofB) / float64(ofA)
}
