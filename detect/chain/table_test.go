package chain

import (
	"math/rand/v2"
	"testing"
)

// TestCrowdedTable adds and removes hashes, few and many in a part, evenly spread and
// crowded at the end of it, and looks each of them up.
func TestCrowdedTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		var tab table
		want := map[uint64]int32{}
		var all []uint64
		for i := range 40 << (round % 8) {
			h := rng.Uint64() | 1
			switch round % 3 {
			case 1:
				h |= 1<<(64-partBits) - 1<<20 // homes at the end: they go on at the beginning
			case 2:
				h |= 0xff << 50
			}
			if _, ok := want[h]; ok {
				continue
			}
			tab.put(h, int32(i))
			want[h], all = int32(i), append(all, h)
			if rng.IntN(3) == 0 {
				k := rng.IntN(len(all))
				tab.remove(all[k])
				delete(want, all[k])
				all[k] = all[len(all)-1]
				all = all[:len(all)-1]
			}
		}
		if tab.len() != len(want) {
			t.Fatalf("round %d: %d hashes, want %d", round, tab.len(), len(want))
		}
		for h, pos := range want {
			if got := tab.get(h); got != pos {
				t.Fatalf("round %d: %x is at %d, want %d", round, h, got, pos)
			}
		}
		if tab.get(rng.Uint64()&^1) >= 0 {
			t.Fatalf("round %d: a hash that was never put is there", round)
		}
	}
}
