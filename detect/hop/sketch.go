// Package hop tells how two sources of one service relate: whether they saw the
// same exchanges at one hop, the same requests at two, or different ones, as the
// hosts behind a balancer do; and by how much their clocks differ.
package hop

// Sighting is an exchange as one source saw it.
type Sighting struct {
	Start, End int64  // Unix ns, by the source's own clock
	Client     uint64 // who asked, as far as the source knows
	What       uint64 // what was asked
	Failed     bool   // in vain, though the same may succeed later
}

const (
	maxKeys = 2048 // what was asked, so many kinds of it; about 400 KB a source
	maxSeen = 6    // times one kind may be asked to be of use: what everybody asks for matches by chance
)

// Sketch is a bounded sample of what a source saw. It keeps the same keys in every
// source, those with the fewest high bits, so that two sketches can be compared.
type Sketch struct {
	keys        map[uint64]*seen
	level       uint // keys with so many high bits zero are kept
	first, last int64
	n           int64
}

// seen are the sightings of one key; a key seen more than maxSeen times keeps none.
type seen struct {
	n  int
	at [maxSeen]Sighting
}

// NewSketch returns an empty sketch.
func NewSketch() *Sketch { return &Sketch{keys: map[uint64]*seen{}} }

// Add takes in an exchange; key is a well mixed hash of what was asked.
func (s *Sketch) Add(key uint64, x Sighting) {
	if s.n == 0 {
		s.first, s.last = x.Start, x.Start
	}
	s.n++
	s.first, s.last = min(s.first, x.Start), max(s.last, x.Start)
	if !kept(key, s.level) {
		return
	}
	k := s.keys[key]
	if k == nil {
		k = &seen{}
		s.keys[key] = k
	}
	if k.n < maxSeen {
		k.at[k.n] = x
	}
	k.n++
	for len(s.keys) > maxKeys {
		s.level++
		for key := range s.keys {
			if !kept(key, s.level) {
				delete(s.keys, key)
			}
		}
	}
}

func kept(key uint64, level uint) bool { return key>>(64-level) == 0 }

// rare returns the sightings of a key, none if it was asked too often.
func (s *Sketch) rare(key uint64) []Sighting {
	k := s.keys[key]
	if k == nil || k.n > maxSeen {
		return nil
	}
	return k.at[:k.n]
}
