package chain

import (
	"cmp"
	"slices"
)

const (
	idleKey    = 600 * second // a key not asked for so long is forgotten
	sweepEvery = 64 * second
	lingerOf   = 16 // part of the open failures that may linger
	keepOf     = 8  // a full Set keeps 7 of 8 parts, so that it is not full again at once
)

// aged is something that can be ordered by age across all shards.
type aged struct {
	at    int64
	tie   uint64
	shard int32
	pos   int32
}

// evict brings failures and keys below their bounds, the oldest first: by age
// over all shards, so that it does not depend on how many there are.
func (s *Set) evict() {
	open, keys, lingering := 0, 0, 0
	for i := range s.shards {
		lingering += s.shards[i].failures.linger
		open += s.shards[i].failures.opened
		keys += s.shards[i].stats.Keys
	}
	if limit := s.opt.MaxFailures; open > limit {
		s.evictFailures(open-limit+limit/keepOf, false)
	}
	if limit := s.opt.MaxFailures / lingerOf; lingering > limit {
		s.evictFailures(lingering-limit+limit/keepOf, true)
	}
	if limit := 2 * s.opt.MaxFailures; keys > limit {
		s.evictKeys(keys - limit + limit/keepOf)
	}
}

// evictFailures drops the oldest, all of them or those that linger.
func (s *Set) evictFailures(n int, lingering bool) {
	var all []aged
	for sh := range s.shards {
		for i := range s.shards[sh].failures.all {
			if o := &s.shards[sh].failures.all[i]; o.live && (o.lingers || !lingering) {
				all = append(all, aged{o.end, o.seq, int32(sh), int32(i)})
			}
		}
	}
	for _, a := range oldest(all, n) {
		m := &s.shards[a.shard]
		if !lingering {
			m.stats.Evicted++
		}
		m.discard(a.pos)
	}
}

func (s *Set) evictKeys(n int) {
	var all []aged
	for sh := range s.shards {
		for i := range int32(s.shards[sh].keys.len()) {
			if k := s.shards[sh].keys.at(i); k.live && k.opens == 0 {
				all = append(all, aged{k.last, k.hash, int32(sh), i})
			}
		}
	}
	for sh := range s.shards {
		for _, p := range s.shards[sh].byHash.parts {
			for _, c := range p.cells {
				if c.pos == seedling {
					all = append(all, aged{c.start, c.hash, int32(sh), -1})
				}
			}
		}
	}
	for _, a := range oldest(all, n) {
		m := &s.shards[a.shard]
		m.stats.Evicted++
		if a.pos < 0 {
			m.dropSeed(*m.byHash.find(a.tie))
			continue
		}
		m.dropKey(a.pos)
	}
}

func oldest(all []aged, n int) []aged {
	slices.SortFunc(all, func(a, b aged) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.tie, b.tie)) })
	return all[:min(n, len(all))]
}

// sweep forgets keys that have been idle for long, now and then.
func (s *Set) sweep(now int64) {
	if now/sweepEvery == s.swept {
		return
	}
	s.swept = now / sweepEvery
	for sh := range s.shards {
		m := &s.shards[sh]
		for i := range int32(m.keys.len()) {
			if k := m.keys.at(i); k.live && k.opens == 0 && now-k.last > idleKey {
				m.dropKey(i)
			}
		}
		m.sweepSeeds(now - idleKey)
	}
}
