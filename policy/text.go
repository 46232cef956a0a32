package policy

import (
	"fmt"
	"slices"
	"strings"
)

// backoff are the parameters of b(n), hinted those of a policy that reads hints.
var (
	backoff = []string{"base", "cap", "multiplier", "growth", "attempts"}
	hinted  = []string{"own", "base", "cap", "multiplier", "growth", "low", "high", "floor", "add", "longest", "over", "attempts"}
)

// uses lists the parameters that each family reads, needs those that it cannot
// do without.
var (
	uses = map[string][]string{
		None:           {},
		Immediate:      {"attempts"},
		Fixed:          {"base", "attempts"},
		Linear:         {"base", "cap", "attempts"},
		Square:         {"base", "cap", "attempts"},
		Exponential:    backoff,
		ImmediateFirst: backoff,
		Schedule:       {"waits", "attempts"},
		FullJitter:     backoff,
		EqualJitter:    backoff,
		ScaledJitter:   append([]string{"low", "high", "floor"}, backoff...),
		AdditiveJitter: append([]string{"add"}, backoff...),
		Decorrelated:   {"base", "cap", "attempts"},
		SmoothJitter:   {"base", "cap", "attempts"},
		HintExact:      hinted,
		HintFloor:      hinted,
		HintScaled:     hinted,
		HintMax:        hinted,
	}
	needs = map[string][]string{
		Fixed: {"base"}, Linear: {"base"}, Square: {"base"}, Exponential: {"base"}, ImmediateFirst: {"base"}, Schedule: {"waits"},
		FullJitter: {"base"}, EqualJitter: {"base"}, ScaledJitter: {"base", "low", "high"}, AdditiveJitter: {"base", "add"}, Decorrelated: {"base"}, SmoothJitter: {"base"},
		HintFloor: {"base"}, HintScaled: {"low", "high"},
	}
)

// Families returns the names that Parse knows, sorted.
func Families() []string {
	names := make([]string, 0, len(uses))
	for name := range uses {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Parse reads a policy from one line: a family, then its parameters in any order.
//
//	none
//	fixed base=1s
//	full-jitter base=200ms cap=20s multiplier=2 attempts=4
//	hint-exact own=scaled-jitter base=500ms low=0.75 high=1 longest=1m over=own
//	schedule waits=1s,5s,30s
//
// Every family that waits by itself needs a base; the others are said where one
// is missing. Units are those of time.ParseDuration; cap and longest may be
// "none". A parameter that the family does not read is an error.
func Parse(text string) (Policy, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return Policy{}, fmt.Errorf("policy is empty: name one of %s", strings.Join(Families(), ", "))
	}
	known, ok := uses[words[0]]
	if !ok {
		return Policy{}, fmt.Errorf("policy %q is not known: use one of %s", words[0], strings.Join(Families(), ", "))
	}
	p := Policy{Name: words[0], Family: words[0]}
	seen := map[string]bool{}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		if !slices.Contains(known, key) {
			return Policy{}, fmt.Errorf("policy %s: parameter %q is not one of its own (%s)", p.Family, key, strings.Join(known, ", "))
		}
		if seen[key] {
			return Policy{}, fmt.Errorf("policy %s: parameter %s is given twice", p.Family, key)
		}
		seen[key] = true
		if err := p.set(key, value); err != nil {
			return Policy{}, fmt.Errorf("policy %s: %s=%s: %w", p.Family, key, value, err)
		}
	}
	if err := p.complete(seen); err != nil {
		return Policy{}, fmt.Errorf("policy %s: %w", p.Family, err)
	}
	return p, nil
}

// complete tells which parameters are missing or at odds.
func (p *Policy) complete(seen map[string]bool) error {
	missing := needs[p.Family]
	if p.ReadsHint() {
		missing = append(slices.Clone(missing), needs[p.ownFamily()]...)
	}
	for _, key := range missing {
		if !seen[key] {
			return fmt.Errorf("%s is missing, such as %s", key, example[key])
		}
	}
	if seen["low"] != seen["high"] || p.Low > p.High {
		return fmt.Errorf("low=%g high=%g: want both, the lower one first", p.Low, p.High)
	}
	return nil
}

var example = map[string]string{"base": "base=200ms", "waits": "waits=1s,5s", "low": "low=0.8", "high": "high=1.2", "add": "add=100ms"}

// String returns the text that Parse reads back as the same policy.
func (p Policy) String() string {
	family := p.Family
	if family == "" {
		family = None
	}
	var b strings.Builder
	b.WriteString(family)
	for _, key := range uses[family] {
		if value := p.get(key); value != "" {
			b.WriteString(" " + key + "=" + value)
		}
	}
	return b.String()
}

// UnmarshalText reads a policy as Parse does, or the name of a library's;
// scenario files use it.
func (p *Policy) UnmarshalText(text []byte) error {
	if q, ok := Library(string(text)); ok {
		*p = q
		return nil
	}
	q, err := Parse(string(text))
	if err == nil {
		*p = q
	}
	return err
}

// MarshalText writes a policy as String does.
func (p Policy) MarshalText() ([]byte, error) { return []byte(p.String()), nil }
