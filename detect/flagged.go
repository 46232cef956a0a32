package detect

import "slices"

// flaggedConducts keeps what the sums of the client signatures hold of each client
// that carries a flag: few do, so that it stands apart from their histories.
type flaggedConducts struct {
	all  []conduct
	free []uint32
}

// of returns what is held of a client that carries a flag.
func (f *flaggedConducts) of(h *history) *conduct { return &f.all[h.told-1] }

// set notes what is held of a client from now on.
func (f *flaggedConducts) set(h *history, now *conduct) {
	if h.told == 0 {
		if n := len(f.free); n > 0 {
			h.told, f.free = f.free[n-1], f.free[:n-1]
		} else {
			f.all = append(f.all, conduct{})
			h.told = uint32(len(f.all))
		}
	}
	*f.of(h) = *now
}

// drop forgets a client that carries no flag any more, if it did.
func (f *flaggedConducts) drop(h *history) {
	if h.told != 0 {
		f.free = append(f.free, h.told)
		h.told = 0
	}
}

func (f *flaggedConducts) clone() flaggedConducts {
	return flaggedConducts{slices.Clone(f.all), slices.Clone(f.free)}
}
