package detect

import "stormwatch/capture"

// echoes finds writes that one hop saw once and another, behind it, carried out more
// often: what lies between sent them again. It follows them by the id that hops pass
// on, beside what was asked for, since an id may stand for all that one request sets
// off.
type echoes struct {
	recent  []echo                    // by source, id, operation and host; a later one takes the place of another
	several map[echoKey]map[uint8]int // what a source saw a host asked more than once, by source; how often
	lost    []uint64                  // repeats that there was no room for, by source
}

type echo struct {
	key uint64 // 0 none
	at  int64
	n   int
}

// echoKey is a write: its id and what was asked for.
type echoKey struct{ id, op uint64 }

const (
	echoesKept = 1 << 15 // 768 KB, only where there are two sources with such writes
	echoSpan   = 600 * tick
	maxEchoes  = 4096
)

func newEchoes(sources int) *echoes {
	return &echoes{several: map[echoKey]map[uint8]int{}, lost: make([]uint64, sources)}
}

// may tells whether an exchange is a write with an id that may have been carried out.
// One with a key may be sent as often as one likes.
func (o *echoes) may(n *names, x *record) bool {
	if x.RequestID == 0 || x.IdemKey != 0 {
		return false
	}
	if m := n.texts.Text(x.Method); m != "POST" && m != "PATCH" {
		return false
	}
	return x.Outcome == capture.Answered && x.Judged() && !x.Failed() || doubtful(x.Status, x.Outcome)
}

// see takes in an exchange of any source. The same asked of another host is no repeat
// but a query that is spread over several; a proxy that names each server it tries as
// the host cannot be told from that.
func (o *echoes) see(n *names, op uint64, x *record) {
	if !o.may(n, x) {
		return
	}
	if o.recent == nil {
		o.recent = make([]echo, echoesKept)
	}
	asked := mix(op^mix(uint64(x.Host)+1, mixGolden), mixWy)
	key := mix(x.RequestID^asked^uint64(x.source)+1, mixGolden) | 1
	r := &o.recent[key>>32%echoesKept]
	switch {
	case r.key == key && x.Start-r.at <= echoSpan:
		r.at, r.n = x.Start, r.n+1
		o.again(echoKey{x.RequestID, op}, x.source, r.n)
	default:
		*r = echo{key, x.Start, 1}
	}
}

func (o *echoes) again(k echoKey, source uint8, n int) {
	by := o.several[k]
	if by == nil {
		if len(o.several) == maxEchoes {
			o.lost[source]++
			return
		}
		by = map[uint8]int{}
		o.several[k] = by
	}
	by[source] = max(by[source], n)
}

// settle keeps those that a hop in front saw, and saw less often. outer tells whether
// the first source lies in front of the second.
func (o *echoes) settle(r *Recording, ins []*Inlet, outer func(a, b uint8) bool) error {
	if len(o.several) == 0 {
		return nil
	}
	seen := map[echoKey]map[uint8]int{}
	err := r.merge(ins, func(x *record, target []byte) error {
		if k := (echoKey{x.RequestID, targetOf(x, target)}); x.RequestID != 0 && o.several[k] != nil {
			if seen[k] == nil {
				seen[k] = map[uint8]int{}
			}
			seen[k][x.source]++
		}
		return nil
	})
	for k, by := range o.several {
		if !behindMore(by, seen[k], outer) {
			delete(o.several, k)
		}
	}
	return err
}

// behindMore tells whether a source saw a write more often than those in front of it.
func behindMore(by, seen map[uint8]int, outer func(a, b uint8) bool) bool {
	for b, n := range by {
		front := 0
		for a, m := range seen {
			if outer(a, b) {
				front += m
			}
		}
		if front > 0 && n > front {
			return true
		}
	}
	return false
}

// mark marks the first exchange of such a write.
func (o *echoes) mark(x *record, target []byte) {
	if o == nil || x.RequestID == 0 || len(o.several) == 0 {
		return
	}
	if k := (echoKey{x.RequestID, targetOf(x, target)}); o.several[k] != nil {
		x.Flags |= capture.Repeated
		delete(o.several, k)
	}
}

// targetOf is what was asked for, whatever the host is called inside.
func targetOf(x *record, target []byte) uint64 {
	return hash(uint64(x.Method)<<32, canonical(target))
}
