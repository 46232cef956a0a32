package stub_test

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"stormwatch/policy"
)

// TestCatalogue holds the waits of real clients against what the catalogue of
// policies says of their libraries. How often they try is not compared: for some
// it was chosen. A policy that the catalogue lacks is passed over.
func TestCatalogue(t *testing.T) {
	compared := 0
	for _, tr := range truths(t) {
		c := find(tr.Client)
		if c == nil || c.catalogue == "" {
			continue
		}
		p, ok := policy.Library(c.catalogue)
		if !ok {
			t.Logf("%s: the catalogue has no %s", c.name, c.catalogue)
			continue
		}
		b, err := os.ReadFile(tr.path())
		if err != nil {
			t.Fatal(err)
		}
		rows, _, _ := read(t, b)
		rows = of(rows, forever)
		for n := 1; n < len(rows); n++ {
			w, s := gap(rows, n), drawn(&p, n, tr.Mode == "hint")
			compared++
			if margin := (s.high - s.low) / 100; w < s.low-margin-slip || w > s.high+margin+float64(calm) {
				t.Errorf("%s %s, %s: waited %.3f s before retry %d, policy %s says %.3f to %.3f", c.name, tr.Version, tr.Mode, w, n, c.catalogue, s.low, s.high)
			}
		}
	}
	if compared < 60 {
		t.Errorf("only %d waits were compared", compared)
	}
}

// drawn is the range in which a policy waits before retry n, from many draws.
func drawn(p *policy.Policy, n int, hinted bool) (s span) {
	rng := rand.New(rand.NewPCG(1, 2))
	p.Attempts = 0
	for i := range 2000 {
		d, again := p.Delay(policy.Retry{N: n, Hint: hintSeconds * time.Second, HasHint: hinted}, rng)
		if !again {
			return span{-1, -1} // it would not retry
		}
		if w := d.Seconds(); i == 0 {
			s = span{w, w}
		} else {
			s = span{min(s.low, w), max(s.high, w)}
		}
	}
	return s
}
