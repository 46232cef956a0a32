package ui

import (
	"math"
	"testing"

	"stormwatch/detect"
	"stormwatch/report"
)

func TestFigures(t *testing.T) {
	some, none := detect.Some, detect.Number{V: 3}
	for _, c := range []struct{ got, want string }{
		{percent(some(.79)), "79%"},
		{percent(some(.003)), "0.3%"},
		{percent(some(0)), "0%"},
		{percent(none), "–"},
		{percent(some(math.NaN())), "–"},
		{times(some(4.66)), "4.7x"},
		{times(some(1.03)), "1.03x"},
		{times(some(1234)), "1234x"},
		{times(none), "–"},
		{perSecond(some(39)), "39/s"},
		{perSecond(some(3.25)), "3.2/s"},
		{perSecond(some(0)), "0/s"},
		{perSecond(none), "–"},
		{perSecond(some(math.Inf(1))), "–"},
		{seconds(some(.0004)), "0.000s"},
		{seconds(some(62.04)), "62.04s"},
		{seconds(some(7260)), "2h01m"},
		{gap(some(1), some(.003)), "1.000s ±3ms"},
		{gap(some(3), some(1.5)), "3.000s ±1.5s"},
		{gap(some(3), none), "3.000s"},
		{gap(none, some(1)), "–"},
		{score(.955), "0.95"},
		{score(math.NaN()), "–"},
		{report.Count(61204), "61,204"},
		{report.Count(uint64(999)), "999"},
		{report.Count(-1234567), "-1,234,567"},
		{short(9999), "9999"},
		{short(12_345), "12.3k"},
		{short(123_456), "123k"},
		{short(4_000_000), "4.0M"},
		{short(math.MaxInt64), "9.2E"},
		{clock(0), "–"},
		{clock(at("03:12:40")), "03:12:40"},
		{stamp(at("03:12:40")), "2026-08-14 03:12:40Z"},
		{span(372 * second), "6m12s"},
		{span(42 * second), "42s"},
		{span(-3 * second), "-3s"},
		{span(11_220 * second), "3h07m"},
		{span(187_200 * second), "2d04h"},
		{report.Sure(.93), "high"},
		{report.Sure(.7), "medium"},
		{report.Sure(.2), "low"},
		{report.BlankQuery("/v1/charge?cursor=8812&limit=5&flag"), "/v1/charge?cursor=•&limit=•&flag"},
		{report.BlankQuery("/v1"), "/v1"},
		{fit("go-resty/2.7.0", 10), "go-resty/…"},
		{fit("日本語", 5), "日本…"},
		{fit("abc", 3), "abc"},
		{fit("abc", 0), ""},
		{speedName(.25), "x1/4"},
		{speedName(0), "max"},
		{speedName(64), "x64"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// A number that is not known must never look like one.
func TestUnknownIsNotZero(t *testing.T) {
	var c detect.Client
	for _, f := range fields(stormSnapshot(), 400, 12) {
		switch f.head {
		case "AMP", "GAP", "EARLY", "AVOID", "POLICY":
			if got := f.text(&c); got != unknown {
				t.Errorf("%s of a client without figures is %q", f.head, got)
			}
		}
	}
}

func TestWrap(t *testing.T) {
	got := wrap("  lower the  concurrency\nof everyone-at-once-now ", 12)
	want := []string{"lower the", "concurrency", "of", "everyone-at…"}
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d is %q, want %q", i, got[i], want[i])
		}
	}
}
