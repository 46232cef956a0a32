package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"stormwatch/detect"
)

// unknown is printed where a number is not known; it is never 0.
const unknown = "–"

// Known tells whether a number can be printed.
func Known(n detect.Number) bool { return n.Known && !math.IsNaN(n.V) && !math.IsInf(n.V, 0) }

func utc(ns int64) time.Time { return time.Unix(0, ns).UTC() }

func date(ns int64) string { return utc(ns).Format("2006-01-02 15:04:05") }

func clock(ns int64) string { return utc(ns).Format("15:04:05") }

// percent prints a share of 0..1: "79 %", below one percent "0.3 %".
func percent(n detect.Number) string {
	if !Known(n) {
		return unknown
	}
	digits := 0
	if p := math.Abs(100 * n.V); p != 0 && p < 1 {
		digits = 1
	}
	return strconv.FormatFloat(100*n.V, 'f', digits, 64) + " %"
}

// times prints a factor: "4.7x", below two "1.03x".
func times(n detect.Number) string {
	switch {
	case !Known(n):
		return unknown
	case n.V < 2:
		return strconv.FormatFloat(n.V, 'f', 2, 64) + "x"
	}
	return strconv.FormatFloat(n.V, 'f', 1, 64) + "x"
}

// perSecond prints a rate: "39/s", below ten "3.2/s".
func perSecond(n detect.Number) string {
	switch {
	case !Known(n):
		return unknown
	case math.Abs(n.V) < 10:
		return strconv.FormatFloat(n.V, 'f', 1, 64) + "/s"
	}
	return strconv.FormatFloat(n.V, 'f', 0, 64) + "/s"
}

// gap prints a wait in seconds: "1.000s", from ten seconds on "12.3s".
func gap(n detect.Number) string {
	switch {
	case !Known(n):
		return unknown
	case math.Abs(n.V) < 10:
		return strconv.FormatFloat(n.V, 'f', 3, 64) + "s"
	}
	return strconv.FormatFloat(n.V, 'f', 1, 64) + "s"
}

// Figure prints a measured value in as few digits as tell it.
func Figure(v float64, unit string) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return unknown
	}
	s := strconv.FormatFloat(v, 'g', 4, 64)
	if unit == "" {
		return s
	}
	return s + " " + unit
}

// score prints 0..1 with two decimals.
func score(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// Count prints 61204 as "61,204".
func Count[N int | int64 | uint64](n N) string {
	s := fmt.Sprint(n)
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// several prints a count with its noun: "1 client", "388 clients".
func several[N int | int64 | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Count(n) + " " + noun + "s"
}

// span prints a length of time: "1µs", "40ms", "5.5s", "6m12s".
func span(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.String()
}

// Sure tells in a word how sure a confidence is: "high", "medium" or "low".
func Sure(c float64) string {
	switch {
	case c >= .8:
		return "high"
	case c >= .6:
		return "medium"
	}
	return "low"
}

// glyph goes with the word of a state, so that neither colour nor language is
// needed to tell them apart.
func glyph(s detect.State) string {
	switch s {
	case detect.Storm:
		return "▲"
	case detect.Overloaded:
		return "■"
	case detect.Watch:
		return "●"
	case detect.Recovering:
		return "◌"
	case detect.Clear:
		return "✓"
	case detect.Unknown:
	}
	return "?"
}

// until is the end of a span: the time of day, with the date where that is another.
func until(start, end int64) string {
	if date(start)[:10] != date(end)[:10] {
		return date(end)
	}
	return clock(end)
}

const inputStarts = "input starts here"

// Start words what stands at the first moment of a Snapshot: the input's start or,
// where a live filter could not look back so far, that of what was kept.
func Start(s *detect.Snapshot) string {
	if s.Filtered.From != 0 {
		return "kept from here on"
	}
	return inputStarts
}

// since prints an onset; one before what stands at the start is a bound only.
func since(ns int64, censored bool, start string, format func(int64) string) string {
	switch {
	case ns == 0:
		return unknown
	case censored:
		return "<= " + format(ns) + " UTC, " + start
	}
	return format(ns) + " UTC"
}
