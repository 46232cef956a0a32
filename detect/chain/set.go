package chain

import (
	"maps"
	"slices"
)

// Set is the state of all chains, divided into shards by operation.
type Set struct {
	opt    Options
	shards []Matcher
	model  *model
	last   int64 // latest barrier
	swept  int64 // number of the latest sweep of idle keys
}

// NewSet returns an empty Set.
func NewSet(o Options) *Set {
	o = o.withDefaults()
	s := &Set{opt: o, shards: make([]Matcher, o.Shards), model: newModel()}
	for i := range s.shards {
		s.shards[i] = Matcher{opt: o, model: s.model, lessons: lessons{templates: make([]templateDelta, 1)}}
	}
	return s
}

// ShardOf returns the shard that keeps an operation.
func (s *Set) ShardOf(op uint64) int { return int(mix(op, 0) % uint64(len(s.shards))) }

// Shard returns a shard; between barriers one goroutine at a time may use it.
func (s *Set) Shard(i int) *Matcher { return &s.shards[i] }

// Barrier ends a tick at now: what the shards learned becomes what they all use
// in the next tick, and what is too old or too much leaves. No shard may be in
// use meanwhile.
func (s *Set) Barrier(now int64) {
	dt := 1.
	if s.last != 0 {
		dt = float64(max(now-s.last, 0)) / 1e9
	}
	s.last = now
	s.admit()
	for i := range s.shards {
		s.shards[i].quits = s.shards[i].quits[:0]
		s.shards[i].tick(now)
	}
	s.evict()
	s.sweep(now)
	for i := range s.shards {
		s.model.take(&s.shards[i].lessons)
	}
	s.model.refresh(dt)
}

// Quit is a chain whose last failure was not retried in time.
type Quit struct {
	Client   uint32 // of its first attempt
	Attempts int32
}

// Quits tells the chains that were given up, as the latest Barrier found. A retry
// that comes later still takes none of it back.
func (s *Set) Quits(tell func(Quit)) {
	for i := range s.shards {
		for _, q := range s.shards[i].quits {
			tell(q)
		}
	}
}

// admit gives the templates that were new in this tick a slot.
func (s *Set) admit() {
	var shapes []uint64
	for i := range s.shards {
		shapes = append(shapes, s.shards[i].lessons.shapes...)
	}
	slices.Sort(shapes)
	s.model.fresh.admit(slices.Compact(shapes))
	for i := range s.shards {
		l := &s.shards[i].lessons
		for len(l.templates) < len(s.model.fresh.slots) {
			l.templates = append(l.templates, templateDelta{})
		}
	}
}

// Stats sums what the shards count.
func (s *Set) Stats() (sum Stats) {
	for i := range s.shards {
		m := &s.shards[i]
		sum.Open += m.failures.opened - m.failures.linger
		sum.Linger += m.failures.linger
		sum.Keys += m.stats.Keys
		sum.Capped += m.stats.Capped
		sum.Evicted += m.stats.Evicted
		sum.GaveUp += m.stats.GaveUp
		sum.soft += m.stats.soft
		sum.First += m.stats.First
		sum.Timing.add(m.stats.Timing)
		sum.Layers.add(m.stats.Layers)
		for l, n := range m.stats.Matched {
			sum.Matched[l] += n
		}
	}
	sum.Retries = float64(sum.soft) / 65535
	return sum
}

// Clone returns an independent copy, to be made between barriers: it runs on as
// the original does.
func (s *Set) Clone() *Set {
	c := *s
	c.model = s.model.clone()
	c.shards = slices.Clone(s.shards)
	for i := range c.shards {
		m := &c.shards[i]
		m.model = c.model
		m.keys = m.keys.clone()
		m.freeKeys = slices.Clone(m.freeKeys)
		m.quits = nil
		m.byHash = m.byHash.clone()
		m.byID = m.byID.clone()
		m.failures.all = slices.Clone(m.failures.all)
		m.failures.free = slices.Clone(m.failures.free)
		m.lessons.notes = slices.Clone(m.lessons.notes)
		m.lessons.shapes = slices.Clone(m.lessons.shapes)
		m.lessons.templates = slices.Clone(m.lessons.templates)
		m.candidates = nil
	}
	return &c
}

func (md *model) clone() *model {
	c := *md
	c.waits.kernels = slices.Clone(md.waits.kernels)
	c.known = md.known.clone()
	c.beyond.kernels = slices.Clone(md.beyond.kernels)
	c.fresh.slots = slices.Clone(md.fresh.slots)
	c.fresh.index = maps.Clone(md.fresh.index)
	return &c
}
