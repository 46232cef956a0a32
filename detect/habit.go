package detect

import (
	"cmp"
	"slices"

	"stormwatch/policy"
)

// Habit is how the clients of one agent wait before they try again.
type Habit struct {
	Agent    string // "" where requests name none
	Clients  int    // that retried
	Retries  int64
	Waits    int    // scored for the policy
	Says     string // the policy in words, or why it cannot be told
	Sure     bool
	Policy   PolicyEstimate // the likeliest, empty where nothing can be told
	RunnerUp string         // the policy that comes next; "" none is near
	Odd      float64        // its probability
	Hints    Obedience
}

// habitOf is a Habit in the making.
type habitOf struct {
	Habit
	obeys      obeys
	unmeasured bool // no wait could be scored, and none kept to a hint or broke it
}

// fewestScored is how many waits there must be before a policy is named: one chain
// of three retries tells nearly as many as more do (policy's quality test).
const fewestScored = 3

// toldHabit is what evidence was read as, for the next who asks the same of it.
type toldHabit struct {
	sum policy.Evidence
	policy.Reading
	read bool
}

// reading reads the policy of a group as of now, which costs much; where nothing has
// come since the last time, it is the same. What is judged does not depend on it.
func (e *engine) reading(group int, sum *policy.Evidence) *policy.Reading {
	for len(e.toldHabits) <= group {
		e.toldHabits = append(e.toldHabits, toldHabit{})
	}
	t := &e.toldHabits[group]
	if !t.read || t.sum != *sum {
		*t = toldHabit{*sum, sum.Reading(), true}
	}
	return &t.Reading
}

// readHabits reads the policies of all agents.
func (e *engine) readHabits() (all [agentGroups]habitOf) {
	for g := range e.names.agentOf {
		h := &all[g]
		sum := e.habits.of(g)
		h.Agent, h.Waits = e.names.texts.Text(e.names.agentOf[g]), sum.Waits()
		r := e.reading(g, &sum)
		h.Says, h.RunnerUp, h.Odd = r.Sentence(), r.RunnerUp, r.RunnerUpOdd
		h.unmeasured = h.Waits+r.Honoured+r.Ignored+r.Unscored == 0
		if h.Waits < fewestScored {
			continue
		}
		if h.Policy.Says = h.Says; r.Sure {
			h.Sure, h.Policy = true, estimate(r)
		}
	}
	return all
}

// estimate names the policy of a sure reading.
func estimate(r *policy.Reading) PolicyEstimate {
	out := PolicyEstimate{Family: r.Family, Probability: r.FamilyProbability, Says: r.Sentence()}
	if r.Named && len(r.Names) > 0 {
		out.Name, out.Probability = r.Names[0], r.Probability
	}
	return out
}

// count adds a client of the agent.
func (h *habitOf) count(c *client, of *history) {
	if c.retries == 0 {
		return
	}
	h.Clients++
	h.Retries += int64(c.retries)
	h.obeys.merge(&of.obeys)
}

// told lists the habits of those who retried, most retries first.
func told(all *[agentGroups]habitOf) (out []Habit) {
	for g := range all {
		h := &all[g]
		if h.Retries == 0 {
			continue
		}
		if h.unmeasured {
			h.Says = "cannot tell: the waits before its retries cannot be measured here"
		}
		h.Hints = h.obeys.reading()
		out = append(out, h.Habit)
	}
	slices.SortStableFunc(out, func(a, b Habit) int {
		return cmp.Or(-cmp.Compare(a.Retries, b.Retries), cmp.Compare(a.Agent, b.Agent))
	})
	return out
}
