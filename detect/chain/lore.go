package chain

import "maps"

// Lore is what a Set has learned of its traffic as a whole: how long clients wait
// before they retry, how many do, and how often they ask anew. It holds nothing of
// single requests, and the same however long the traffic was.
type Lore struct{ model *model }

// Lore returns what has been learned so far.
func (s *Set) Lore() Lore {
	md := s.model.clone()
	md.own = 1
	for i := range md.fresh.slots {
		t := &md.fresh.slots[i]
		t.keys, t.waits.dirty = 0, i > 0
		// Where hardly anything succeeds, nobody knows what is asked for when nothing
		// fails.
		if i > 0 && float64(t.served) < paceServed*float64(t.asked) {
			t.waits, t.starts = kernel{dirty: true}, 0
		}
	}
	for _, b := range [...]*bank{&md.waits, &md.beyond} {
		for i := range b.kernels {
			b.kernels[i].dirty, b.kernels[i].told = i > 0, b.kernels[i].n
		}
	}
	for i := range md.ratios {
		md.ratios[i].dirty = true
	}
	md.refresh(0)
	return Lore{md}
}

// Begin has a Set that has seen nothing begin with what another learned of the same
// traffic: the first retries of a recording are then no harder to tell than the last.
func (s *Set) Begin(l Lore) {
	if l.model == nil {
		return
	}
	s.model = l.model.clone()
	s.ready(s.model)
}

// Revise has a Set that has seen nothing judge by what another learned of the same
// traffic, and learn anew: what was a guess when nothing was known does not count
// beside what is known better now.
func (s *Set) Revise(l Lore) {
	s.model = newModel()
	s.model.fresh.index = maps.Clone(l.model.fresh.index)
	for range l.model.fresh.slots[1:] {
		s.model.fresh.slots = append(s.model.fresh.slots, template{waits: kernel{dirty: true}})
	}
	s.ready(l.model)
}

// ready has the shards judge by a model.
func (s *Set) ready(by *model) {
	for i := range s.shards {
		s.shards[i].model = by
		s.shards[i].lessons.templates = make([]templateDelta, len(by.fresh.slots))
	}
}
