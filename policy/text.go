package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxWait bounds every duration of a policy's text, and maxAttempts its count:
// beyond them a text is a slip of the pen rather than a policy.
const (
	maxWait       = 24 * time.Hour
	maxAttempts   = 1_000_000
	maxMultiplier = 100
)

// uses lists the parameters that each family reads.
var uses = map[string][]string{
	None:        {},
	Immediate:   {"attempts"},
	Fixed:       {"base", "attempts"},
	Exponential: {"base", "cap", "multiplier", "attempts"},
	FullJitter:  {"base", "cap", "multiplier", "attempts"},
	EqualJitter: {"base", "cap", "multiplier", "attempts"},
	HintExact:   {"base", "cap", "multiplier", "attempts"},
	HintFloor:   {"base", "cap", "multiplier", "attempts"},
}

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
//
// base is required by every family that waits by itself. Units are those of
// time.ParseDuration. A parameter that the family does not read is an error.
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
	if slices.Contains(known, "base") && !seen["base"] {
		return Policy{}, fmt.Errorf("policy %s: base is missing, such as base=200ms", p.Family)
	}
	return p, nil
}

func (p *Policy) set(key, value string) (err error) {
	switch key {
	case "base":
		p.Base, err = wait(value)
	case "cap":
		p.Cap, err = wait(value)
	case "multiplier":
		p.Multiplier, err = strconv.ParseFloat(value, 64)
		if err != nil || !(p.Multiplier >= 1 && p.Multiplier <= maxMultiplier) {
			err = fmt.Errorf("want a number from 1 to %d", maxMultiplier)
		}
	case "attempts":
		p.Attempts, err = strconv.Atoi(value)
		if err != nil || p.Attempts < 1 || p.Attempts > maxAttempts {
			err = fmt.Errorf("want a whole number from 1 to %d", maxAttempts)
		}
	}
	return err
}

func wait(value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 || d > maxWait {
		return 0, fmt.Errorf("want a duration above 0 and up to %s, such as 200ms", maxWait)
	}
	return d, nil
}

// String returns the text that Parse reads back as the same policy.
func (p Policy) String() string {
	family := p.Family
	if family == "" {
		family = None
	}
	var b strings.Builder
	b.WriteString(family)
	for _, key := range uses[family] {
		switch {
		case key == "base":
			b.WriteString(" base=" + p.Base.String())
		case key == "cap" && p.Cap != 0:
			b.WriteString(" cap=" + p.Cap.String())
		case key == "multiplier" && p.Multiplier != 0:
			b.WriteString(" multiplier=" + strconv.FormatFloat(p.Multiplier, 'g', -1, 64))
		case key == "attempts" && p.Attempts != 0:
			b.WriteString(" attempts=" + strconv.Itoa(p.Attempts))
		}
	}
	return b.String()
}

// UnmarshalText reads a policy as Parse does; scenario files use it.
func (p *Policy) UnmarshalText(text []byte) error {
	q, err := Parse(string(text))
	if err == nil {
		*p = q
	}
	return err
}

// MarshalText writes a policy as String does.
func (p Policy) MarshalText() ([]byte, error) { return []byte(p.String()), nil }
