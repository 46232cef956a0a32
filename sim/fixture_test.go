package sim

import (
	"path/filepath"
	"testing"
	"time"
)

// fixture is what a committed scenario must show for its expectation to be fair.
type fixture struct {
	calm             float64 // seconds without refusals at its start
	refusedLow, high float64 // share of refusals afterwards
}

func TestFixturesShowWhatTheyExpect(t *testing.T) {
	tests := map[string]fixture{
		"pcaps/healthy":             {0, 0, .02},
		"pcaps/lockstep-bare-429":   {30, .7, .95},
		"pcaps/retry-after-ignored": {15, .5, .8},
		"pcaps/capacity-growth":     {15, .1, .4},
		"logs/nginx-first":          {15, .5, .95},
		"prometheus/first":          {300, .95, 1},
	}
	for name, want := range tests {
		sc, err := Load(filepath.Join("../testdata", name, "scenario.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		r := Run(sc)
		early, refused, later := 0, 0, 0
		for i := range r.Rows {
			row := &r.Rows[i]
			if at := float64(row.Start-sc.Start.UnixNano()) / 1e9; at < want.calm {
				if row.Refused() {
					early++
				}
				continue
			}
			later++
			if row.Refused() {
				refused++
			}
		}
		share := float64(refused) / float64(later)
		t.Logf("%-26s %6d exchanges, %d refusals in the calm, then %.2f refused", name, len(r.Rows), early, share)
		if early > 0 || share < want.refusedLow || share > want.high {
			t.Errorf("%s: %d refusals in the calm, then share %.2f, want none, then %.2f to %.2f", name, early, share, want.refusedLow, want.high)
		}
	}
}

// In the captures, those who ignore the hint come early and those who obey never
// do; the herd keeps one rhythm.
func TestFixtureClientsKeepTheirPolicies(t *testing.T) {
	sc, err := Load("../testdata/pcaps/retry-after-ignored/scenario.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r := Run(sc)
	last := map[uint64]*Row{}
	early, retries := map[string]int{}, map[string]int{}
	for i := range r.Rows {
		row := &r.Rows[i]
		if before := last[row.Chain]; before != nil {
			retries[r.Group(row).Name]++
			if time.Duration(row.Start-before.End) < before.Wait {
				early[r.Group(row).Name]++
			}
		}
		last[row.Chain] = row
	}
	if early["obedient"] > 0 || retries["obedient"] < 20 {
		t.Errorf("obedient clients: %d of %d retries early, want none of many", early["obedient"], retries["obedient"])
	}
	if share := float64(early["importer"]) / float64(retries["importer"]); share < .9 {
		t.Errorf("importers: %.2f of their retries early, want nearly all", share)
	}
}
