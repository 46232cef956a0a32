package ui

import (
	"fmt"

	"stormwatch/detect"
)

// staleAfter is the age of a live source's latest event from which what it shows is
// told as past: a log that is followed but no longer written.
const staleAfter = 5 * 60 * second

// old tells whether the latest event of a live source is long past.
func old(s *detect.Snapshot, src *detect.Source) bool { return s.Live && src.Age > staleAfter }

// stale is the age of the latest event of the sources that count, if it is long past,
// else 0.
func stale(s *detect.Snapshot) (age int64) {
	for i := range s.Sources {
		src := &s.Sources[i]
		switch {
		case !src.Primary || src.Health.To == 0:
		case !old(s, src):
			return 0
		case age == 0 || src.Age < age:
			age = src.Age
		}
	}
	return age
}

// ago tells a length of time before now, from two days on in whole days.
func ago(d int64) string {
	const day = 24 * 3600 * second
	if d < 2*day {
		return span(d) + " ago"
	}
	return fmt.Sprintf("%d days ago", d/day)
}
