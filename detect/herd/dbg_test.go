package herd

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestDbg(t *testing.T) {
	for seed := range 40 {
		s := storm{clients: 20, spread: .02, wait: floorFull}
		ev := s.events(rand.New(rand.NewPCG(uint64(seed), 2)))
		h := NewHerd(2, 8)
		tick := 0
		feed(h, population(ev), ev, func(int64) {
			tick++
			r := h.Reading(1)
			if fires(&r) {
				fmt.Printf("seed %d tick %d J %.4f n %d z %.1f rho %.2f C %d cl %d rounds %d\n", seed, tick, r.J, r.JGaps, r.Z, r.Rho, r.Coincidences, r.Clients, r.Rounds)
			}
		})
	}
	ns := nulls()
	for _, k := range []int{4, 8} {
		n := ns[k]
		for seed := range 2000 {
			ev := n.events(rand.New(rand.NewPCG(uint64(seed), 1)))
			h := NewHerd(2, 8)
			tick := 0
			hit := false
			feed(h, population(ev), ev, func(int64) {
				tick++
				r := h.Reading(1)
				if fires(&r) && !hit {
					hit = true
					fmt.Printf("%s seed %d tick %d J %.4f n %d z %.1f rho %.2f C %d cl %d rounds %d\n", n.name, seed, tick, r.J, r.JGaps, r.Z, r.Rho, r.Coincidences, r.Clients, r.Rounds)
				}
			})
		}
	}
}
