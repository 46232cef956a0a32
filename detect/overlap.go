package detect

// overlap counts, for each two sources, how many of their portless exchanges lie
// where both have some, and how many of these are alike.
type overlap struct {
	span  map[uint8][2]int64 // first and last start of each source, inclusive
	all   map[uint8]int64
	in    map[[2]uint8]int64 // exchanges of the first source within the span of the second
	both  map[[2]uint8]int64 // alike; the lower source first
	start int64
	group map[uint64]map[uint8]int64
}

func newOverlap(ins []*Inlet, from, to int64) *overlap {
	o := &overlap{
		span: map[uint8][2]int64{}, all: map[uint8]int64{},
		in: map[[2]uint8]int64{}, both: map[[2]uint8]int64{}, group: map[uint64]map[uint8]int64{},
	}
	for _, in := range ins {
		if in.portless > 0 {
			o.span[uint8(in.index)] = [2]int64{max(in.from, from), min(in.to, to-1)}
		}
	}
	return o
}

func (o *overlap) count(x *record, target []byte) error {
	if s, ok := o.span[x.source]; x.Src.Port != 0 || !ok || x.Start < s[0] || x.Start > s[1] {
		return nil
	}
	if x.Start != o.start || len(o.group) == maxGroup {
		o.close()
		o.start = x.Start
	}
	o.all[x.source]++
	shared := false
	for other, s := range o.span {
		if other != x.source && x.Start >= s[0] && x.Start <= s[1] {
			o.in[[2]uint8{x.source, other}]++
			shared = true
		}
	}
	if !shared {
		return nil
	}
	k := likeness(x, target)
	if o.group[k] == nil {
		o.group[k] = map[uint8]int64{}
	}
	o.group[k][x.source]++
	return nil
}

// close counts the pairs of the group of one start.
func (o *overlap) close() {
	for _, by := range o.group {
		for a, n := range by {
			for b, m := range by {
				if a < b {
					o.both[[2]uint8{a, b}] += min(n, m)
				}
			}
		}
	}
	clear(o.group)
}

// Two logs of one hop repeat each other where nine in ten lines of the smaller
// one, within the time of both, are in the other: two hosts behind a balancer
// share a line now and then, by chance and only where the clock is coarse.
const (
	repeatShare = .9
	repeatFewer = 10 // fewer lines may agree by chance, unless all of both do
)

func (o *overlap) repeats(pair [2]uint8, both int64) bool {
	a, b := pair[0], pair[1]
	smaller := min(o.in[pair], o.in[[2]uint8{b, a}])
	if smaller < repeatFewer {
		return both == o.all[a] && both == o.all[b]
	}
	return float64(both) >= repeatShare*float64(smaller)
}
