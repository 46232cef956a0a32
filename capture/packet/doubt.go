package packet

import (
	"cmp"
	"slices"
)

const (
	// farAhead is how far a time stamp may run ahead of all before it and be
	// believed at once. Beyond that it may be a broken clock's, which must not end
	// what is silent until then.
	farAhead = 60e9
	// enoughAgree are as many packets as must say the same.
	enoughAgree = 3
)

// doubt holds packets back whose time stamps run far ahead, until others agree:
// then time has passed, with nothing to capture, as where what follows comes later
// still. Where the next packets go on as before, it was the clock: the packets get
// the time at hand. Of the first packets of a capture the middle one is right.
type doubt struct {
	held [enoughAgree]frame
	data [enoughAgree][]byte // buffers of theirs
	n    int
}

// take reads a packet, now or when it is known what to make of its time stamp.
func (in *intake) take(f *frame) {
	newest := in.newest
	switch {
	case newest != 0 && f.t-newest <= farAhead:
		if in.doubt.n > 0 {
			in.resolve(newest)
		}
		in.packet(f, false)
		return
	case newest != 0 && in.doubt.n > 0 && f.t-in.doubt.held[0].t > farAhead:
		in.resolve(in.believed()) // still later: the one silence ended, and another
	case newest != 0 && in.doubt.n > 0 && in.doubt.held[0].t-f.t > farAhead:
		in.resolve(newest) // no two of them agree
	}
	h := &in.doubt
	h.data[h.n] = append(h.data[h.n][:0], f.data...)
	h.held[h.n] = *f
	h.held[h.n].data = h.data[h.n]
	if h.n++; h.n == enoughAgree {
		in.resolve(in.believed())
	}
}

// conclude reads the packets held when no more will come: two that agree are believed.
func (in *intake) conclude() {
	switch newest := in.newest; {
	case in.doubt.n == 1 && newest != 0:
		in.resolve(newest)
	case in.doubt.n > 0:
		in.resolve(in.believed())
	}
}

// believed is the latest time that the packets held agree on: that of the middle
// one.
func (in *intake) believed() int64 {
	held := slices.Clone(in.doubt.held[:in.doubt.n])
	slices.SortFunc(held, func(a, b frame) int { return cmp.Compare(a.t, b.t) })
	return held[len(held)/2].t
}

// resolve reads the packets held. Those whose time stamps run ahead of now get
// that time.
func (in *intake) resolve(now int64) {
	h := &in.doubt
	n := h.n
	h.n = 0
	stepped := false
	for i := range h.held[:n] {
		f := &h.held[i]
		if f.t-now > farAhead {
			f.t, stepped = now, true
		}
		in.packet(f, true)
	}
	if stepped {
		in.then(func(s *Source) { s.out.health.ClockSteps++ })
	}
}
