package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxWait bounds every duration of a policy's text, and the others its counts and
// factors: beyond them a text is a slip of the pen rather than a policy.
const (
	maxWait     = 24 * time.Hour
	maxAttempts = 1_000_000
	maxFactor   = 100
)

func (p *Policy) set(key, value string) (err error) {
	switch key {
	case "base":
		p.Base, err = wait(value)
	case "cap":
		p.Cap, err = limit(value)
	case "add":
		p.Add, err = wait(value)
	case "floor":
		p.Floor, err = wait(value)
	case "longest":
		p.Longest, err = limit(value)
	case "multiplier":
		p.Multiplier, err = factor(value, 1)
	case "low":
		p.Low, err = factor(value, 0)
	case "high":
		p.High, err = factor(value, 0)
	case "growth":
		p.Growth, err = oneOf(value, GrowLinear, GrowLessOne, GrowQuadratic)
	case "over":
		p.Over, err = oneOf(value, Clip, UseOwn, GiveUp)
	case "own":
		p.Own, err = oneOf(value, None, Immediate, Fixed, Linear, Square, Exponential, ImmediateFirst,
			FullJitter, EqualJitter, ScaledJitter, AdditiveJitter, Decorrelated, SmoothJitter)
	case "attempts":
		p.Attempts, err = strconv.Atoi(value)
		if err != nil || p.Attempts < 1 || p.Attempts > maxAttempts {
			err = fmt.Errorf("want a whole number from 1 to %d", maxAttempts)
		}
	case "waits":
		err = p.setWaits(value)
	}
	return err
}

func (p *Policy) setWaits(value string) (err error) {
	waits := strings.Split(value, ",")
	if len(waits) > MaxWaits {
		return fmt.Errorf("want at most %d waits", MaxWaits)
	}
	for i, w := range waits {
		if p.Waits[i], err = wait(w); err != nil {
			return err
		}
	}
	return nil
}

// get returns the text of a parameter, "" where it has its default.
func (p *Policy) get(key string) string {
	switch key {
	case "base":
		return duration(p.Base)
	case "cap":
		return duration(p.Cap)
	case "add":
		return duration(p.Add)
	case "floor":
		return duration(p.Floor)
	case "longest":
		return duration(p.Longest)
	case "multiplier":
		return number(p.Multiplier)
	case "low":
		if p.High != 0 { // 0 is a value here
			return strconv.FormatFloat(p.Low, 'g', -1, 64)
		}
	case "high":
		return number(p.High)
	case "growth":
		return p.Growth
	case "over":
		return p.Over
	case "own":
		return p.Own
	case "attempts":
		return number(float64(p.Attempts))
	case "waits":
		var waits []string
		for _, w := range p.Waits {
			if w > 0 {
				waits = append(waits, w.String())
			}
		}
		return strings.Join(waits, ",")
	}
	return ""
}

func duration(d time.Duration) string {
	switch d {
	case 0:
		return ""
	case NoLimit:
		return "none"
	}
	return d.String()
}

func number(f float64) string {
	if f == 0 {
		return ""
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func wait(value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 || d > maxWait {
		return 0, fmt.Errorf("want a duration above 0 and up to %s, such as 200ms", maxWait)
	}
	return d, nil
}

// limit reads a bound, which may be none.
func limit(value string) (time.Duration, error) {
	if value == "none" {
		return NoLimit, nil
	}
	d, err := wait(value)
	if err != nil {
		err = fmt.Errorf("%w, or none", err)
	}
	return d, err
}

func factor(value string, least float64) (float64, error) {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || !(f >= least && f <= maxFactor) {
		return 0, fmt.Errorf("want a number from %g to %d", least, maxFactor)
	}
	return f, nil
}

func oneOf(value string, names ...string) (string, error) {
	if !slices.Contains(names, value) {
		return "", fmt.Errorf("want one of %s", strings.Join(names, ", "))
	}
	return value, nil
}
