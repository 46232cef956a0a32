package detect

import (
	"slices"
	"testing"
)

// At a moment what still holds comes first; of a whole input what was gravest.
func TestOrderOfFindings(t *testing.T) {
	all := []Finding{
		{Signature: "armed", Severity: Info, Score: .9},
		{Signature: "over", Severity: High, Score: .8, Ended: 7},
		{Signature: "live", Severity: High, Score: .6},
		{Signature: "faint", Severity: Medium, Score: .3},
		{Signature: "b", Severity: Medium, Score: .5},
		{Signature: "a", Severity: Medium, Score: .5},
	}
	for whole, want := range map[bool][]string{
		false: {"live", "a", "b", "faint", "armed", "over"},
		true:  {"live", "over", "a", "b", "faint", "armed"},
	} {
		list := slices.Clone(all)
		slices.SortStableFunc(list, func(a, b Finding) int { return inOrder(&a, &b, whole) })
		var got []string
		for i := range list {
			got = append(got, list[i].Signature)
		}
		if !slices.Equal(got, want) {
			t.Errorf("whole %v: %q, want %q", whole, got, want)
		}
	}
}
