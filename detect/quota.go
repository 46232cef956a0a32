package detect

import (
	"math"
	"slices"

	"stormwatch/rules"
)

// quotas count, by credential, who draws on a limit: many instances, each modest, may
// exceed it together. A credential is followed from its first refusal on.
type quotas struct {
	keys  []uint64 // credentials, in the order of their first refusals
	slots []quota
	left  int64 // refusals of credentials for which there was no room
	epoch int64
	any   bool
}

const (
	quotaSlots   = 64         // credentials followed: they are looked for one by one
	quotaEpoch   = 30 * tick  // a reading covers the present epoch and the one before: the minute of all windows
	quotaIdle    = 120 * tick // as long as a failure may wait for its retry (chain, defaultMaxAge): who is not seen again then has left
	quotaBuckets = 64         // of instances: the busiest one's share comes out too high where two share one, never too low
)

type quota struct {
	last, since int64
	now, before quotaCounts
	refusedAt   int64 // second of the latest refusal
}

type quotaCounts struct {
	first, good    int64
	refused, other int64 // refusals for want of quota; for another reason
	seconds        int64 // in which it was refused
	instances      [16]uint64
	byInstance     [quotaBuckets]int32 // first attempts
}

func (c *quotaCounts) add(o *quotaCounts) {
	c.first += o.first
	c.good += o.good
	c.refused += o.refused
	c.other += o.other
	c.seconds += o.seconds
	bitmap(c.instances[:]).or(o.instances[:])
	for i := range c.byInstance {
		c.byInstance[i] += o.byInstance[i]
	}
}

func (q *quotas) turn(now int64) {
	if !q.any || now-q.epoch < quotaEpoch {
		return
	}
	twice := now-q.epoch >= 2*quotaEpoch
	q.epoch = now
	for i := range q.slots {
		s := &q.slots[i]
		s.before, s.now = s.now, quotaCounts{}
		if twice {
			s.before = quotaCounts{}
		}
		s.since = max(s.since, now-quotaEpoch)
	}
}

func (q *quotas) clone() quotas {
	c := *q
	c.keys, c.slots = slices.Clone(q.keys), slices.Clone(q.slots)
	return c
}

// note counts a request or an outcome in the second that begins at now.
func (q *quotas) note(f *flight, outcome bool, now int64) {
	x := &f.rec
	if x.Credential == 0 || !q.any && (!outcome || !x.Refused()) {
		return
	}
	if !q.any {
		q.any, q.epoch = true, now
	}
	s := q.place(x.Credential, outcome && x.Refused(), now)
	if s == nil {
		return
	}
	s.last = now
	if !outcome {
		if f.link.Attempt <= 1 {
			s.now.begin(f.addr)
		}
		return
	}
	switch {
	case !x.Failed():
		s.now.good++
	case !x.Refused():
	case limited(x):
		s.now.refused++
		if s.refusedAt != now {
			s.refusedAt = now
			s.now.seconds++
		}
	default:
		s.now.other++
	}
}

// place finds a credential, and makes room for it where it is new and refused: what is
// hashed of a credential differs from run to run, so its place must not depend on it.
func (q *quotas) place(key uint64, refused bool, now int64) *quota {
	if i := slices.Index(q.keys, key); i >= 0 {
		return &q.slots[i]
	}
	if !refused {
		return nil
	}
	if len(q.keys) < quotaSlots {
		q.keys, q.slots = append(q.keys, key), append(q.slots, quota{since: now})
		return &q.slots[len(q.slots)-1]
	}
	for i := range q.slots {
		if now-q.slots[i].last >= quotaIdle {
			q.keys[i], q.slots[i] = key, quota{since: now}
			return &q.slots[i]
		}
	}
	q.left++
	return nil
}

// begin counts a first attempt of an instance.
func (c *quotaCounts) begin(instance uint64) {
	c.first++
	h := mix(instance, mixWy)
	bitmap(c.instances[:]).set(h)
	c.byInstance[h>>32%quotaBuckets]++
}

// quotaFeatures set what tells of the credential that is refused most. Where nobody
// is refused, or nobody shows a credential, there is no quota to speak of.
func (e *engine) quotaFeatures(v *rules.Values) {
	var most quotaCounts
	since, all := e.now, int64(0)
	for i := range e.pop.quotas.slots {
		s := &e.pop.quotas.slots[i]
		c := s.before
		c.add(&s.now)
		all += c.refused + c.other
		if c.refused > most.refused {
			most, since = c, s.since
		}
	}
	n := most.refused
	largest := int32(0)
	for _, k := range most.byInstance {
		largest = max(largest, k)
	}
	w, _ := e.pop.last(e.now, window)
	span := max(seconds(e.now-since), 1)
	v.Set(rules.QuotaRefusals, float64(n), n)
	v.Set(rules.QuotaSeconds, float64(most.seconds), n)
	v.Set(rules.QuotaInstances, math.Round(bitmap(most.instances[:]).count()), n)
	v.Set(rules.QuotaRefusalShare, share(n, max(all, w.refused, 1)), n)
	v.Set(rules.QuotaLargest, share(int64(largest), most.first), most.first)
	v.Set(rules.QuotaDemand, float64(most.first)/span, most.first)
	v.Set(rules.QuotaServed, float64(most.good)/span, most.good)
	excess := 0.
	if sum := most.first + most.good; sum > 0 {
		excess = float64(most.first-most.good) / math.Sqrt(float64(sum))
	}
	v.Set(rules.QuotaExcess, excess, most.first)
}
