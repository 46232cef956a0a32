// Package report writes a Snapshot in the forms that people and programs read.
// Each form is a function of a writer and a snapshot.
package report

import (
	"fmt"
	"time"

	"stormwatch/capture"
	"stormwatch/detect"
)

// Options are what the forms have in common.
type Options struct {
	Version  string
	Top      int  // clients listed in text; 0 means 10
	Snippets bool // text: configuration under each mitigation
}

func clean(s string) string { return capture.Clean(s) }

// clip cleans a text and shortens it to n characters.
func clip(s string, n int) string {
	r := []rune(clean(s))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:max(n-1, 0)]) + "…"
}

func utc(ns int64) time.Time { return time.Unix(0, ns).UTC() }

func clock(ns int64) string { return utc(ns).Format("15:04:05") }

func percent(n detect.Number) string {
	if !n.Known {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", 100*n.V)
}

func rate(n detect.Number, unit string) string {
	switch {
	case !n.Known:
		return "–"
	case n.V >= 100:
		return fmt.Sprintf("%.0f%s", n.V, unit)
	}
	return fmt.Sprintf("%.1f%s", n.V, unit)
}

// word tells in a word how sure a confidence is.
func word(c float64) string {
	switch {
	case c >= .8:
		return "high"
	case c >= .6:
		return "medium"
	}
	return "low"
}
