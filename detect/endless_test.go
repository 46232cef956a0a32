package detect

import (
	"testing"

	"stormwatch/detect/chain"
)

// A chain counts as endless once: whichever attempt passes the bound first, and though
// the bound moves while its waits are told to be bursts, or no longer.
func TestEndlessOnce(t *testing.T) {
	expected := [5]float32{1, 1, 1, 1, 1}
	link := func(root uint64, attempt int32, confidence float32) *chain.Link {
		expected[root] = 1 + confidence*expected[root]
		return &chain.Link{Root: root, Parent: 1, Attempt: attempt, Confidence: confidence, Sure: expected[root]}
	}
	var c endlessChains
	told := map[uint64][]int32{}
	for attempt := int32(2); attempt <= 40; attempt++ {
		for root := uint64(1); root <= 4; root++ {
			l := &layering{}
			sure := float32(1)
			switch {
			case root == 2 && attempt == 11: // seven more follow the doubtful link and the four that may be expected with it
				sure = .3
			case root == 4: // ten may be expected at the most
				sure = .9
			case root == 3 && attempt < 25: // bursts of three, until one wait does not fit
				l.begun, l.chains = true, newWatch(false)
				r := l.chains.begin(root, 1, 0, 0, 0)
				for range attempt - 1 {
					gap := int64(tick / 10)
					if r.n%3 == 2 {
						gap = 5 * tick
					}
					l.chains.next(r, 1, gap, 0, false)
				}
			}
			if c.note(link(root, attempt, sure), int64(attempt)*tick, l) {
				told[root] = append(told[root], attempt)
			}
		}
	}
	if len(told[4]) > 0 {
		t.Errorf("a chain of doubtful links is told at attempts %v", told[4])
	}
	for root, want := range map[uint64]int32{1: 11, 2: 18, 3: 25} {
		if got := told[root]; len(got) != 1 || got[0] != want {
			t.Errorf("chain %d is told at attempts %v, want %d alone", root, got, want)
		}
	}
}
