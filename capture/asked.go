package capture

import (
	"bytes"
	"math"
	"time"
)

// AskField is a header field of a request that says when its caller stops waiting;
// 0 is none of them.
type AskField uint8

// asks is what such a field says.
type asks uint8

const (
	asksTimeout asks = iota // gRPC's: 100m
	asksTTL                 // amz-sdk-request: ttl=20260807T233447Z
	asksMillis              // from now on, in ms
	asksSeconds             // from now on, in seconds
	asksFromNow             // from now on: seconds, or a duration
	asksMoment              // a moment, in any form
	asksNanos               // two moments in Unix ns, the second one the deadline
)

type askRow struct {
	name string
	asks asks
}

// askRows are the fields.
var askRows = [...]askRow{
	{},
	{name: "grpc-timeout", asks: asksTimeout},
	{name: "amz-sdk-request", asks: asksTTL},
	{name: "connect-timeout-ms", asks: asksMillis}, // Connect protocol
	{name: "x-envoy-expected-rq-timeout-ms", asks: asksMillis},
	{name: "x-request-timeout-ms", asks: asksMillis},
	{name: "x-timeout-ms", asks: asksMillis},
	{name: "x-stainless-timeout", asks: asksSeconds},
	{name: "x-server-timeout", asks: asksSeconds}, // Google's clients
	{name: "x-request-timeout", asks: asksFromNow},
	{name: "request-timeout", asks: asksFromNow},
	{name: "x-request-deadline", asks: asksMoment},
	{name: "request-deadline", asks: asksMoment},
	{name: "x-deadline", asks: asksMoment},
	{name: "finagle-ctx-com.twitter.finagle.deadline", asks: asksNanos},
	{name: "l5d-ctx-deadline", asks: asksNanos},
}

var askNames = indexNames(len(askRows), func(i int) string { return askRows[i].name })

// AskFieldOf finds a field by its name, in any case; "_" counts as "-". It does
// not allocate.
func AskFieldOf(name []byte) AskField { return AskField(askNames.find(name)) }

// Deadline returns when the caller stops waiting, Unix ns, of a request that was
// sent at start; 0 where the field does not say.
func (f AskField) Deadline(value []byte, start int64) int64 {
	if f == 0 {
		return 0
	}
	value = bytes.TrimSpace(value)
	wait, ok := int64(0), false
	switch askRows[f].asks {
	case asksTimeout:
		wait, ok = rpcTimeout(value)
	case asksTTL:
		return ttl(value)
	case asksMillis:
		var n int64
		n, ok = decimal(value)
		wait = times(n, second/1000)
	case asksSeconds:
		var n int64
		n, ok = decimal(value)
		wait = times(n, second)
	case asksFromNow:
		if n, number := decimal(value); number {
			wait, ok = times(n, second), true
		} else {
			wait, ok = duration(value)
		}
	case asksMoment:
		return deadlineAt(value)
	case asksNanos:
		_, text, _ := bytes.Cut(value, []byte(" "))
		n, _ := large(text)
		return n
	}
	if !ok || wait <= 0 || wait >= maxWait {
		return 0
	}
	return start + wait
}

// rpcTimeout reads grpc-timeout: at most eight digits and a unit (gRPC over
// HTTP/2, "Timeout").
func rpcTimeout(b []byte) (ns int64, ok bool) {
	if len(b) < 2 || len(b) > 9 {
		return 0, false
	}
	n, ok := digits(b[:len(b)-1])
	unit := int64(0)
	switch b[len(b)-1] {
	case 'H':
		unit = int64(time.Hour)
	case 'M':
		unit = int64(time.Minute)
	case 'S':
		unit = second
	case 'm':
		unit = int64(time.Millisecond)
	case 'u':
		unit = int64(time.Microsecond)
	case 'n':
		unit = 1
	}
	return times(n*1000, max(unit, 1)), ok && unit != 0
}

// ttl reads the ttl of amz-sdk-request, a basic ISO 8601 time in UTC.
func ttl(b []byte) int64 {
	_, text, ok := bytes.Cut(b, []byte("ttl="))
	if !ok {
		return 0
	}
	c := cursor{b: text}
	year, month, date := c.digits(4, 4, 0), c.digits(2, 2, 0), c.digits(2, 2, 'T')
	h, m, s := c.digits(2, 2, 0), c.digits(2, 2, 0), c.digits(2, 2, 'Z')
	if c.bad || h > 23 || m > 59 || s > 60 {
		return 0
	}
	return instant(year, month, date, h*3600+m*60+s, 0)
}

// instant is a moment in Unix ns; 0 where it is none, or not of these times.
func instant(year, month, date, seconds, ms int64) int64 {
	if year < 1971 || year > 2200 || !isDay(year, month, date) {
		return 0
	}
	return (unix(year, month, date)+seconds)*second + ms*1e6
}

// deadlineAt reads a moment: Unix seconds, ms, us or ns, told apart by their
// size, or a date.
func deadlineAt(b []byte) int64 {
	whole, _, _ := bytes.Cut(b, []byte("."))
	if v, ok := large(whole); ok {
		for _, u := range [...]int64{second, 1e6, 1e3, 1} {
			if v >= 1e18/u && v < 9e18/u { // 2001 to 2255
				return v * u
			}
		}
		return 0
	}
	at, ok := moment(b)
	if !ok || at < 1 || at > 1<<43 {
		return 0
	}
	return at * 1e6
}

// large reads a number of at most 19 digits, as many as Unix ns have; a larger
// one is 0.
func large(b []byte) (n int64, ok bool) {
	const digits = 19
	if n, ok = digitsUpTo(b, math.MaxInt64); !ok || len(b) > digits || n < 0 {
		return 0, ok
	}
	return n, true
}
