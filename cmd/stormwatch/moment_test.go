package main

import (
	"testing"
	"time"

	"stormwatch/detect"
)

func TestMoment(t *testing.T) {
	berlin := time.FixedZone("", 3600)
	at := time.Date(2026, 3, 2, 3, 10, 0, 0, time.UTC).UnixNano()
	for text, want := range map[string]detect.Bound{
		"":                           {},
		"15m":                        {Ago: 900e9},
		"-15m":                       {Ago: 900e9},
		"1h30m":                      {Ago: 5400e9},
		"2026-03-02T03:10:00Z":       {At: at},
		"2026-03-02T04:10:00+01:00":  {At: at},
		"2026-03-02 04:10":           {At: at},
		"2026-03-02T04:10:00":        {At: at},
		"02/Mar/2026:03:10:00 +0000": {At: at},
		"03:10":                      {Clock: 190 * 60e9, Zone: berlin},
		"03:10:30":                   {Clock: 190*60e9 + 30e9, Zone: berlin},
	} {
		if got, err := moment("since", text, berlin); err != nil || got != want {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, bad := range []string{"yesterday", "0s", "25:00", "2026-13-01", "-1"} {
		if b, err := moment("since", bad, time.UTC); err == nil {
			t.Errorf("%s is taken: %+v", bad, b)
		}
	}
}

func mustMoment(t *testing.T, text string) detect.Bound {
	t.Helper()
	b, err := moment("since", text, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func FuzzMoment(f *testing.F) {
	for _, s := range []string{"15m", "03:10", "2026-03-02 03:10", "2026-03-02T03:10:00Z", "-1h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if b, err := moment("since", text, time.UTC); err == nil {
			b.Resolve(1796026266e9)
		}
	})
}
