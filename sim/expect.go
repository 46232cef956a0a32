package sim

import (
	"fmt"
	"slices"
	"strings"
)

// Expect is the conclusion that a reader of the traffic should reach.
type Expect struct {
	State    string    `yaml:"state"`
	Cause    string    `yaml:"cause"`
	Exit     int       `yaml:"exit"`
	Findings []Finding `yaml:"findings"`
	Quiet    bool      `yaml:"quiet"` // nothing above info, so that every finding is a remark
	Later    bool      `yaml:"later"` // not concluded yet: tests do not hold the conclusion against it
	// ChainsLater: attempts are not all told apart yet; tests do not hold chains
	// against the truth.
	ChainsLater bool `yaml:"chains_later"`
}

// Finding is a signature to be raised; Clients names the group at fault, "" all.
type Finding struct {
	Signature string `yaml:"signature"`
	Scope     string `yaml:"scope"`
	Clients   string `yaml:"clients"`
	Info      bool   `yaml:"info"`  // no more than a remark: it may stand beside quiet
	Later     bool   `yaml:"later"` // not judged yet: may be raised or not
}

var (
	states = []string{"storm", "overload", "watch", "recovering", "clear", "unknown"}
	causes = []string{"none", "unknown", "client-behaviour", "sustaining-loop", "draining", "capacity", "server-fault", "mixed"}
)

// Conclusion is what a reader of a scenario's traffic has concluded.
type Conclusion struct {
	State, Cause string
	Exit         int      // -1: it has none
	Raised       []string // signatures above info
	Remarks      []string // signatures at info
}

// Misses lists in what a conclusion differs from what is expected. What is
// expected later is not held against it, and what is not named is left open, save
// for signatures above info: whatever is not expected is a miss.
func (e *Expect) Misses(c Conclusion) (misses []string) {
	if e.Later {
		return nil
	}
	miss := func(format string, args ...any) { misses = append(misses, fmt.Sprintf(format, args...)) }
	if e.State != "" && c.State != e.State {
		miss("state %s, want %s", c.State, e.State)
	}
	if e.Cause != "" && c.Cause != e.Cause {
		miss("cause %s, want %s", c.Cause, e.Cause)
	}
	if e.State != "" && c.Exit >= 0 && c.Exit != e.Exit {
		miss("exit code %d, want %d", c.Exit, e.Exit)
	}
	for _, f := range e.Findings {
		among := c.Raised
		if f.Info {
			among = c.Remarks
		}
		if !f.Later && !slices.Contains(among, f.Signature) {
			miss("%s is not raised", f.Signature)
		}
	}
	for _, name := range c.Raised {
		if !slices.ContainsFunc(e.Findings, func(f Finding) bool { return f.Signature == name && !f.Info }) {
			miss("%s is raised", name)
		}
	}
	return misses
}

func (e *Expect) validate(groups []Group) error {
	if e.State != "" && !slices.Contains(states, e.State) {
		return fmt.Errorf("expect: state %q: want one of %s", e.State, strings.Join(states, ", "))
	}
	if e.Cause != "" && !slices.Contains(causes, e.Cause) {
		return fmt.Errorf("expect: cause %q: want one of %s", e.Cause, strings.Join(causes, ", "))
	}
	for _, f := range e.Findings {
		if f.Signature == "" {
			return fmt.Errorf("expect: a finding has no signature")
		}
		if e.Quiet && !f.Info {
			return fmt.Errorf("expect: quiet, and a finding %s: want one or the other, or say info", f.Signature)
		}
		if f.Clients != "" && !slices.ContainsFunc(groups, func(g Group) bool { return g.Name == f.Clients }) {
			return fmt.Errorf("expect: finding %s: clients %q is not the name of a group", f.Signature, f.Clients)
		}
	}
	return nil
}
