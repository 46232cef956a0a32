package sim

import (
	"fmt"
	"slices"
	"strconv"
)

// defaultRetryOn is what most libraries retry.
var defaultRetryOn = []string{"429", "500", "502", "503", "504", "lost"}

// outcomes is a set of outcomes, as RetryOn and RotateOn list them.
type outcomes struct {
	statuses        []uint16
	lost, bodyError bool
}

func readOutcomes(words []string) (set outcomes, err error) {
	for _, word := range words {
		switch word {
		case "lost":
			set.lost = true
		case inBody:
			set.bodyError = true
		default:
			n, err := strconv.Atoi(word)
			if err != nil || n < 400 || n > 599 {
				return set, fmt.Errorf("%q: want a status from 400 to 599, lost or body", word)
			}
			set.statuses = append(set.statuses, uint16(n))
		}
	}
	return set, nil
}

// has tells whether o is one of them. What a process rejected itself counts as
// the refusal that it saved.
func (s *outcomes) has(o *outcome) bool {
	switch {
	case o.local:
		return true
	case o.lost:
		return s.lost
	case o.bodyError:
		return s.bodyError
	}
	return slices.Contains(s.statuses, o.status)
}
