package detect

import (
	"time"

	"stormwatch/capture"
	"stormwatch/detect/chain"
	"stormwatch/policy"
)

// habits are what the waits of each agent group, and of everybody, say of a retry
// policy. Each shard adds to a part of its own; the sums do not depend on how many
// there are.
type habits struct {
	parts [][agentGroups]policy.Evidence
	read  [agentGroups]habit
}

// habit is a group's policy as it was read last.
type habit struct {
	policy.Reading
	waits int // behind it
}

const (
	enoughWaits = 8  // before a policy is read at all: growth needs several steps
	moreWaits   = 10 // parts of what was read, more of which are worth reading anew
)

func newHabits(shards int) habits { return habits{parts: make([][agentGroups]policy.Evidence, shards)} }

func (h *habits) clone() habits {
	c := *h
	c.parts = append([][agentGroups]policy.Evidence(nil), h.parts...)
	return c
}

// wait adds a retry of a chain that is believed in.
func (h *habits) wait(shard int, f *flight, resolution int64) {
	l := &f.link
	hint := l.ParentHint
	w := policy.Wait{
		Retry: int(l.Attempt) - 1, Wait: time.Duration(max(l.Gap, 0)), Prev: time.Duration(l.Before), Resolution: time.Duration(resolution),
		HasHint: f.hinted(), Hint: time.Duration(hint.Wait),
	}
	if hint.Kind == capture.RetryAfterDate {
		w.Resolution = max(w.Resolution, time.Duration(dateClock))
	}
	h.parts[shard][0].Observe(w)
	if f.rec.agent != 0 {
		h.parts[shard][f.rec.agent].Observe(w)
	}
	h.end(shard, f.rec.agent, l.Attempt, policy.Cut) // so long is its chain already
}

// succeed adds the end of a chain that needed retries.
func (h *habits) succeed(shard int, f *flight) {
	h.end(shard, f.rec.agent, f.link.Attempt, policy.Succeeded)
}

func (h *habits) end(shard int, agent uint8, attempts int32, how policy.Ending) {
	h.parts[shard][0].End(int(attempts), how)
	if agent != 0 {
		h.parts[shard][agent].End(int(attempts), how)
	}
}

// quit adds the chains that were given up.
func (e *engine) quit() {
	e.chains.Quits(func(q chain.Quit) {
		if int(q.Client) < e.clients.len() {
			e.habits.end(0, e.clients.at(q.Client).agentGroup, q.Attempts, policy.GaveUp)
		}
	})
}

// of returns the evidence of a group, 0 for everybody.
func (h *habits) of(group int) (sum policy.Evidence) {
	sum = h.parts[0][group]
	for s := 1; s < len(h.parts); s++ {
		sum.Merge(&h.parts[s][group])
	}
	return sum
}

// habit reads a group's policy, anew where there is enough that is new.
func (h *habits) habit(group int) *habit {
	n := 0
	for s := range h.parts {
		n += h.parts[s][group].Waits()
	}
	r := &h.read[group]
	if n >= enoughWaits && n >= r.waits+max(1, r.waits/moreWaits) {
		sum := h.of(group)
		r.Reading, r.waits = sum.Reading(), n
	}
	return r
}
