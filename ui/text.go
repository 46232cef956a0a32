package ui

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"stormwatch/detect"
	"stormwatch/report"
)

// unknown is printed where a number is not known; it is never 0.
const unknown = "–"

const second = int64(time.Second)

// percent prints a share of 0..1 as "79%", below one percent as "0.3%".
func percent(n detect.Number) string {
	if !report.Known(n) {
		return unknown
	}
	p := 100 * n.V
	if p != 0 && math.Abs(p) < 1 {
		return strconv.FormatFloat(p, 'f', 1, 64) + "%"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + "%"
}

// times prints a factor as "4.7x", near one as "1.03x".
func times(n detect.Number) string {
	switch {
	case !report.Known(n):
		return unknown
	case n.V >= 100:
		return strconv.FormatFloat(n.V, 'f', 0, 64) + "x"
	case n.V < 2:
		return strconv.FormatFloat(n.V, 'f', 2, 64) + "x"
	}
	return strconv.FormatFloat(n.V, 'f', 1, 64) + "x"
}

// perSecond prints a rate as "39/s", below ten as "3.2/s".
func perSecond(n detect.Number) string {
	switch {
	case !report.Known(n):
		return unknown
	case n.V != 0 && math.Abs(n.V) < 10 && n.V != math.Trunc(n.V):
		return strconv.FormatFloat(n.V, 'f', 1, 64) + "/s"
	case math.Abs(n.V) >= 1e6:
		return short(int64(min(n.V, math.MaxInt32*1e6))) + "/s"
	}
	return strconv.FormatFloat(n.V, 'f', 0, 64) + "/s"
}

// seconds prints a gap as "1.000s", with fewer decimals as it grows.
func seconds(n detect.Number) string {
	switch {
	case !report.Known(n):
		return unknown
	case math.Abs(n.V) < 10:
		return strconv.FormatFloat(n.V, 'f', 3, 64) + "s"
	case math.Abs(n.V) < 100:
		return strconv.FormatFloat(n.V, 'f', 2, 64) + "s"
	case math.Abs(n.V) < 1000:
		return strconv.FormatFloat(n.V, 'f', 1, 64) + "s"
	}
	return span(int64(min(math.Abs(n.V), 1e9)) * second)
}

// gap prints a client's median gap and its spread, "1.000s ±3ms".
func gap(median, mad detect.Number) string {
	switch {
	case !report.Known(median):
		return unknown
	case !report.Known(mad):
		return seconds(median)
	case mad.V < 0.9995:
		return fmt.Sprintf("%s ±%.0fms", seconds(median), 1000*mad.V)
	case mad.V < 1000:
		return fmt.Sprintf("%s ±%.1fs", seconds(median), mad.V)
	}
	return seconds(median) + " ±" + span(int64(min(mad.V, 1e9))*second)
}

// score prints 0..1 with two decimals.
func score(v float64) string {
	if math.IsNaN(v) {
		return unknown
	}
	return strconv.FormatFloat(min(max(v, -9), 9), 'f', 2, 64)
}

// short prints a count in at most five columns: "9999", "12.3k", "4.0M".
func short(n int64) string {
	f := float64(n)
	for _, unit := range []string{"", "k", "M", "G", "T", "P"} {
		switch {
		case unit == "" && f < 10_000:
			return strconv.FormatInt(n, 10)
		case unit != "" && f < 99.95:
			return strconv.FormatFloat(f, 'f', 1, 64) + unit
		case unit != "" && f < 999.5:
			return strconv.FormatFloat(f, 'f', 0, 64) + unit
		}
		f /= 1000
	}
	return strconv.FormatFloat(f, 'f', 1, 64) + "E"
}

// clock prints the time of day of t (Unix ns), UTC.
func clock(t int64) string {
	if t == 0 {
		return unknown
	}
	return time.Unix(0, t).UTC().Format("15:04:05")
}

// clockTenths is clock with tenths of a second.
func clockTenths(t int64) string {
	if t == 0 {
		return unknown
	}
	return time.Unix(0, t).UTC().Format("15:04:05.0")
}

// stamp prints date and time, UTC.
func stamp(t int64) string {
	if t == 0 {
		return "no event yet"
	}
	return time.Unix(0, t).UTC().Format("2006-01-02 15:04:05Z")
}

// span prints a length of time as "42s", "6m12s", "3h07m" or "2d04h".
func span(d int64) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	s := d / second
	switch {
	case s < 60:
		return fmt.Sprintf("%s%ds", sign, s)
	case s < 3600:
		return fmt.Sprintf("%s%dm%02ds", sign, s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%s%dh%02dm", sign, s/3600, s/60%60)
	}
	return fmt.Sprintf("%s%dd%02dh", sign, s/86400, s/3600%24)
}

// wrap breaks a text at spaces into lines of at most w columns.
func wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	const longest = 4000 // columns shown of any one text
	s = safe(strings.ReplaceAll(s[:min(len(s), 4*longest)], "\n", " "), longest)
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		switch {
		case line == "":
			line = word
		case width(line)+1+width(word) <= w:
			line += " " + word
		default:
			lines = append(lines, fit(line, w))
			line = word
		}
	}
	if line != "" {
		lines = append(lines, fit(line, w))
	}
	return lines
}
