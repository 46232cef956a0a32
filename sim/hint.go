package sim

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Hint says which Retry-After a refusal carries, in whole seconds.
type Hint struct {
	Slot     bool          // the time until a slot comes free, rounded up
	Min, Max time.Duration // otherwise drawn from Min..Max; both 0: no header
}

// maxHint bounds a hint of a scenario.
const maxHint = 24 * time.Hour

// UnmarshalText reads "none", "slot", a duration such as "3s", or a range such
// as "2s..5s".
func (h *Hint) UnmarshalText(text []byte) error {
	s := string(text)
	switch s {
	case "none":
		*h = Hint{}
		return nil
	case "slot":
		*h = Hint{Slot: true}
		return nil
	}
	low, high, ranged := strings.Cut(s, "..")
	if !ranged {
		high = low
	}
	a, errA := time.ParseDuration(low)
	b, errB := time.ParseDuration(high)
	if errA != nil || errB != nil || a < time.Second || b < a || b > maxHint || a%time.Second != 0 || b%time.Second != 0 {
		return fmt.Errorf("hint %q: want none, slot, whole seconds such as 3s, or a range such as 2s..5s", s)
	}
	*h = Hint{Min: a, Max: b}
	return nil
}

// seconds returns the value of the header; ok is false where there is none. free
// is how long until a slot comes free.
func (h Hint) seconds(free time.Duration, rng *rand.Rand) (s int64, ok bool) {
	switch {
	case h.Slot:
		return int64(max((free+time.Second-1)/time.Second, 0)), true
	case h.Max > 0:
		a, b := int64(h.Min/time.Second), int64(h.Max/time.Second)
		return a + rng.Int64N(max(b-a, 0)+1), true
	}
	return 0, false
}

// hintWait is the wait that a Retry-After of so many seconds names.
func hintWait(seconds int64) time.Duration { return time.Duration(seconds) * time.Second }
