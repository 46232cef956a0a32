package sim

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Forms in which a header tells a wait, as they are met in the wild.
const (
	inSeconds  = "seconds"  // whole, rounded up: RFC 9110, RateLimit-Reset
	inFloat    = "float"    // seconds with a fraction
	inMillis   = "ms"       // retry-after-ms, x-ms-retry-after-ms
	inDuration = "duration" // 1.5s, as Go writes it
	inDate     = "date"     // an HTTP date
	inEpoch    = "epoch"    // Unix seconds, rounded up
	inEpochMS  = "epoch-ms"
	inISO      = "iso" // RFC 3339
)

var forms = []string{inSeconds, inFloat, inMillis, inDuration, inDate, inEpoch, inEpochMS, inISO}

// isMoment tells whether a form names a moment rather than a span, so that it may
// lie in the past.
func isMoment(form string) bool {
	return slices.Contains([]string{inDate, inEpoch, inEpochMS, inISO}, form)
}

// appendForm writes a wait. now is the writer's clock in Unix ns. Like common
// servers, a date is now plus the wait, cut to the second.
func appendForm(b []byte, form string, wait time.Duration, now int64) []byte {
	at := now + int64(wait)
	switch form {
	case inFloat:
		return strconv.AppendFloat(b, float64(ceil(wait, time.Millisecond))/1e3, 'f', -1, 64)
	case inMillis:
		return strconv.AppendInt(b, ceil(wait, time.Millisecond), 10)
	case inDuration:
		return append(b, wait.Round(time.Millisecond).String()...)
	case inDate:
		return time.Unix(0, at).UTC().AppendFormat(b, http.TimeFormat)
	case inEpoch:
		return strconv.AppendInt(b, ceil(time.Duration(at), time.Second), 10)
	case inEpochMS:
		return strconv.AppendInt(b, ceil(time.Duration(at), time.Millisecond), 10)
	case inISO:
		return time.Unix(0, at).UTC().AppendFormat(b, time.RFC3339)
	}
	return strconv.AppendInt(b, ceil(wait, time.Second), 10)
}

// ceil counts units, the last one perhaps not whole.
func ceil(d, unit time.Duration) int64 {
	n := int64(d / unit)
	if d > 0 && d%unit > 0 {
		n++
	}
	return n
}

// readForm reads what a header says as a wait of that form. now is the reader's
// clock in Unix ns. A moment that has passed is a wait of 0.
func readForm(text, form string, now int64) (wait time.Duration, ok bool) {
	text = strings.TrimSpace(text)
	switch form {
	case inDuration:
		d, err := time.ParseDuration(text)
		return max(d, 0), err == nil
	case inDate:
		at, err := http.ParseTime(text)
		return since(at, now), err == nil
	case inISO:
		at, err := time.Parse(time.RFC3339, text)
		return since(at, now), err == nil
	case inFloat:
		f, err := strconv.ParseFloat(text, 64)
		return span(f * 1e9), err == nil && f >= 0
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, false
	}
	unit := time.Second
	if form == inMillis || form == inEpochMS {
		unit = time.Millisecond
	}
	wait = time.Duration(min(n, uint64(2*longest/unit))) * unit
	if form == inEpoch || form == inEpochMS {
		wait -= time.Duration(now)
	}
	return min(max(wait, 0), longest), true
}

func since(at time.Time, now int64) time.Duration {
	return max(at.Sub(time.Unix(0, now)), 0)
}

// span converts nanoseconds; what is beyond a century is as good as for ever.
func span(ns float64) time.Duration {
	if !(ns < float64(longest)) {
		return longest
	}
	return max(time.Duration(ns), 0)
}

// longest bounds waits, so that moments do not overflow.
const longest = 100 * 365 * 24 * time.Hour
