package capture

import (
	"fmt"
	"testing"
)

// answers is what a host sends to one client at some seconds.
func resets(t *testing.T, field string, client byte, host Symbol, a *Answers, at, values []int64) (last Limit) {
	t.Helper()
	for i := range at {
		x := Exchange{Status: 200, Date: noon + at[i], End: (noon+at[i])*second + 100e6, Host: host}
		x.Src.IP[15] = client
		settle(a, &x, field+": "+fmt.Sprint(values[i]))
		last = x.Limit
	}
	return last
}

// TestUnits tells hosts apart that send other units under one name, from the
// numbers alone and within three answers.
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		name, field string
		at, values  []int64
		want        HintKind
		wait        int64 // ns, at the last answer
	}{
		{"GitHub", "X-RateLimit-Reset", []int64{0, 6, 12}, []int64{noon + 600, noon + 600, noon + 600}, ResetEpoch, 587_900e6},
		{"@fastify/rate-limit", "X-RateLimit-Reset", []int64{0, 6, 12}, []int64{600, 594, 588}, ResetSeconds, 588e9},
		{"GitLab", "RateLimit-Reset", []int64{0, 6, 12}, []int64{noon + 60, noon + 60, noon + 60}, ResetEpoch, 47_900e6},
		{"Kong", "RateLimit-Reset", []int64{0, 6, 12}, []int64{60, 54, 48}, ResetSeconds, 48e9},
		{"Prisjakt, ms left", "X-Rate-Limit-Reset", []int64{0, 6, 12}, []int64{40_000, 34_020, 27_990}, ResetMillis, 27_990e6},
		{"ms left, as many as an epoch", "X-Rate-Limit-Reset", []int64{0, 10, 30}, []int64{2_500_000_000, 2_499_990_000, 2_499_970_000}, ResetMillis, 2_499_970e9},
		{"always the whole window", "X-RateLimit-Reset", []int64{0, 6, 12, 20}, []int64{60, 60, 60, 60}, ResetSeconds, 60e9},
		{"new windows between", "X-RateLimit-Reset", []int64{0, 6, 12, 18}, []int64{6000, 60, 54, 48}, ResetSeconds, 48e9},
		{"too close together to tell", "X-RateLimit-Reset", []int64{0, 1, 2}, []int64{5000, 4000, 3000}, ResetSeconds, 3000e9},
	} {
		a := NewAnswers(NewInterner(100, 1000), &Health{})
		got := resets(t, c.field, 1, 7, a, c.at, c.values)
		if got.Form != c.want || got.Reset != c.wait {
			t.Errorf("%s: %v %d, want %v %d", c.name, got.Form, got.Reset, c.want, c.wait)
		}
	}
}

// What is learned from some clients of a host holds for all of its, and for no
// other host.
func TestUnitsAreOfTheHost(t *testing.T) {
	a := NewAnswers(NewInterner(100, 1000), &Health{})
	for client := range byte(3) { // a pair each
		resets(t, "X-RateLimit-Reset", client, 7, a, []int64{0, 6}, []int64{40_000, 34_000})
	}
	if got := resets(t, "X-RateLimit-Reset", 99, 7, a, []int64{20}, []int64{30_000}); got.Form != ResetMillis || got.Reset != 30e9 {
		t.Errorf("a new client: %+v", got)
	}
	if got := resets(t, "X-RateLimit-Reset", 99, 8, a, []int64{20}, []int64{30_000}); got.Form != ResetSeconds {
		t.Errorf("another host: %+v", got)
	}
	// Three pairs that say otherwise: the host has changed.
	if got := resets(t, "X-RateLimit-Reset", 1, 7, a, []int64{100, 110, 120, 130}, []int64{600, 590, 580, 570}); got.Form != ResetSeconds {
		t.Errorf("after a change: %+v", got)
	}
}

// What is left grows again when a window ends: such pairs say nothing.
func TestUnitsNewWindow(t *testing.T) {
	a := NewAnswers(NewInterner(100, 1000), &Health{})
	var last Limit
	for i, left := range []int{1, 9, 8, 7} {
		x := Exchange{Status: 200, Date: noon + int64(i)*6, End: (noon + int64(i)*6) * second, Host: 7}
		settle(a, &x, fmt.Sprintf("X-RateLimit-Reset: %d", []int{6010, 10, 4, 3}[i]), fmt.Sprintf("X-RateLimit-Remaining: %d", left))
		last = x.Limit
	}
	if last.Form != ResetSeconds || last.Reset != 3e9 {
		t.Errorf("%+v", last)
	}
}

// The state is bounded, what falls out is counted, and the same input gives the
// same readings.
func TestUnitsAreBounded(t *testing.T) {
	var h Health
	a := NewAnswers(NewInterner(1<<16, 1<<20), &h)
	for i := range 3 * maxSeries {
		x := Exchange{Status: 200, Date: noon, End: noon*second + int64(i)*7*second, Host: Symbol(i % (2 * maxUnits)), Credential: uint64(i + 1)}
		settle(a, &x, "X-RateLimit-Reset: 60")
	}
	u := &a.units
	if len(u.series) > maxSeries || len(u.learned) > maxUnits || len(u.clients) > maxSeries || len(u.hosts) > maxUnits {
		t.Errorf("%d limits of %d hosts are kept", len(u.series), len(u.learned))
	}
	if len(h.Bounds) != 1 || h.Bounds[0].Count == 0 {
		t.Errorf("bounds: %+v", h.Bounds)
	}
}
