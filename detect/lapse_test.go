package detect

import "testing"

// What a shared address showed is hidden for as long as a finding of it would hold.
func TestHiddenFaultLapses(t *testing.T) {
	var j judge
	j.hide(1<<instant|1<<early, 100*tick)
	j.hide(1<<early, 108*tick)
	for _, c := range []struct {
		what deed
		at   int64
		want bool
	}{{instant, 110, true}, {instant, 111, false}, {early, 118, true}, {early, 119, false}, {endless, 100, false}, {endless, 5, false}} {
		if got := j.hides(c.what, c.at*tick); got != c.want {
			t.Errorf("fault %d at %d s: hidden %v, want %v", c.what, c.at, got, c.want)
		}
	}
}
