package policy

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestDebug(t *testing.T) {
	for _, c := range []struct {
		set []library
		tr  traffic
		n   int
	}{
		{table25, traffic{noise: 20 * ms, tick: time.Second, chain: 3}, 12},
		{libraries, traffic{noise: 20 * ms, tick: time.Second, chain: 3}, 20},
	} {
		s := newScorer(c.set)
		for i, l := range c.set {
			p, _ := Parse(l.text)
			p.Attempts = 0
			truth := modelOf(s, l.name)
			if truth < 0 || s.models[truth].members[0].Name != l.name {
				continue
			}
			conf := map[string]int{}
			rng := rand.New(rand.NewPCG(uint64(i), 7))
			for range 100 {
				var e Evidence
				c.tr.observe(&e, s, &p, c.n, rng)
				r := e.read(s)
				b := s.models[bestOf(&e, s)].members[0].Name
				switch {
				case r.Sure && r.Family != p.ownFamily():
					b += " WRONG " + r.Family + " " + strings.Join(r.Names, "/")
				case !r.Sure:
					b += " (" + r.Doubt + ")"
				case !r.Named:
					b += " (unnamed)"
				}
				conf[b]++
			}
			t.Log(c.n, c.tr.tick, l.name, conf)
		}
	}
}
