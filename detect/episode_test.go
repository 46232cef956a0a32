package detect

import (
	"testing"

	"stormwatch/rules"
)

// A finding that ends and comes again within half a minute is one, with the onset and the
// proof of the first and the end of the last; another scope, or a longer absence,
// makes another.
func TestEpisodes(t *testing.T) {
	a, b := &rules.Signature{ID: "a", Scope: rules.Population}, &rules.Signature{ID: "b", Scope: rules.Population}
	j := judge{found: []found{
		{sig: a, onset: 10, detected: 12, over: 30, censored: true, at: []string{"first"}},
		{sig: b, onset: 11, detected: 13, over: 20},
		{sig: a, onset: 25, detected: 45, over: 90, at: []string{"second"}},
		{sig: a, onset: 119, detected: 125, over: 130},
		{sig: a, onset: 119, detected: 125, over: 131, groups: 2},
		{sig: a, onset: 160, detected: 195},
		{sig: b, onset: 50, detected: 81, over: 90},
	}}
	for i := range j.found {
		f := &j.found[i]
		f.onset, f.detected, f.over = f.onset*tick, f.detected*tick, f.over*tick
	}
	want := []struct {
		id                    string
		onset, detected, over int64
		censored              bool
	}{{"a", 10, 12, 130, true}, {"b", 11, 13, 20, false}, {"a", 119, 125, 131, false}, {"a", 160, 195, 0, false}, {"b", 50, 81, 90, false}}
	got := j.episodes()
	if len(got) != len(want) {
		t.Fatalf("%d episodes, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		g := &got[i]
		if g.sig.ID != w.id || g.onset != w.onset*tick || g.detected != w.detected*tick || g.over != w.over*tick || g.censored != w.censored {
			t.Errorf("%d: %s %d %d %d %v, want %+v", i, g.sig.ID, g.onset/tick, g.detected/tick, g.over/tick, g.censored, w)
		}
	}
	if len(got[0].at) != 1 || got[0].at[0] != "first" {
		t.Errorf("proof of the first is %q", got[0].at)
	}
	if len(j.found) != 7 || j.found[0].over != 30*tick {
		t.Error("what was found has changed")
	}
}
