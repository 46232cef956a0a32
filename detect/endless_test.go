package detect

import (
	"testing"

	"stormwatch/detect/chain"
)

// A chain counts as endless once: whichever attempt passes the bound first, and though
// the bound moves while its waits are told to be bursts, or no longer.
func TestEndlessOnce(t *testing.T) {
	link := func(root uint64, attempt int32, confidence float32) *chain.Link {
		l := &chain.Link{Root: root, Parent: 1, Attempt: attempt}
		l.Confidence = confidence
		return l
	}
	var c endlessChains
	told := map[uint64][]int32{}
	for attempt := int32(2); attempt <= 40; attempt++ {
		for root := uint64(1); root <= 3; root++ {
			l := &layering{}
			sure := float32(1)
			switch {
			case root == 2 && attempt == 11: // the very attempt is linked with little confidence
				sure = .3
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
	for root, want := range map[uint64]int32{1: 11, 2: 12, 3: 25} {
		if got := told[root]; len(got) != 1 || got[0] != want {
			t.Errorf("chain %d is told at attempts %v, want %d alone", root, got, want)
		}
	}
}
