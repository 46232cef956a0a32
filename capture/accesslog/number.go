package accesslog

import (
	"bytes"
	"math"
	"time"
)

// Powers of ten up to the most that an int64 of nanoseconds needs.
var tens = [...]int64{1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// decimal reads `12`, `12.5`, `-1` or `1.2e-05` at the start of b as so many of
// a unit, in nanoseconds. step is the weight of the last digit. n is how many
// bytes it took; 0 if b starts with no number, or with one beyond an int64.
func decimal(b []byte, unit int64) (ns, step int64, n int) {
	i, neg := 0, false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		neg = b[i] == '-'
		i++
	}
	first, whole := i, int64(0)
	for ; i < len(b) && isDigit(b[i]); i++ {
		if whole > math.MaxInt64/10-1 {
			return 0, 0, 0
		}
		whole = whole*10 + int64(b[i]-'0')
	}
	if i == first {
		return 0, 0, 0
	}
	if unit > 1 && whole > math.MaxInt64/unit {
		return 0, 0, 0
	}
	ns, step = whole*unit, unit
	if i+1 < len(b) && b[i] == '.' && isDigit(b[i+1]) {
		for i++; i < len(b) && isDigit(b[i]); i++ {
			if step /= 10; step > 0 {
				add := int64(b[i]-'0') * step
				if ns > math.MaxInt64-add {
					return 0, 0, 0
				}
				ns += add
			}
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i, ns, step = power(b, i, ns, step); i == 0 {
			return 0, 0, 0
		}
	}
	if neg {
		ns = -ns
	}
	return ns, max(step, 1), i
}

// power applies the exponent at b[i]; i is 0 afterwards where that cannot be.
// What follows an e that is no exponent is not taken.
func power(b []byte, i int, ns, step int64) (next int, scaled, scaledStep int64) {
	j, down := i+1, false
	if j < len(b) && (b[j] == '-' || b[j] == '+') {
		down = b[j] == '-'
		j++
	}
	first, e := j, 0
	for ; j < len(b) && isDigit(b[j]) && j < first+3; j++ {
		e = e*10 + int(b[j]-'0')
	}
	switch {
	case j == first:
		return i, ns, step
	case down && e >= len(tens):
		return j, 0, 1
	case down:
		return j, ns / tens[e], step / tens[e]
	case e >= len(tens) || ns > math.MaxInt64/tens[e] || step > math.MaxInt64/tens[e]:
		return 0, 0, 0
	}
	return j, ns * tens[e], step * tens[e]
}

// duration reads a whole text as a duration: a number of a unit, a number with a
// unit of its own (247ms, 0.123s), or several of these (1m2.5s). Negative ones,
// by which servers say that there is none, are refused.
func duration(b []byte, unit int64) (ns, step int64, ok bool) {
	if len(b) == 0 || b[0] == '-' {
		return 0, 0, false
	}
	for len(b) > 0 {
		v, s, n := decimal(b, unit)
		if n == 0 {
			return 0, 0, false
		}
		u, m := suffix(b[n:])
		switch {
		case m == 0 && n < len(b), m > 0 && u == 0:
			return 0, 0, false
		case m > 0:
			if v, s, n = decimal(b, u); n == 0 {
				return 0, 0, false
			}
		}
		if ns > math.MaxInt64-v {
			return 0, 0, false
		}
		ns += v
		if step == 0 || s < step {
			step = s
		}
		b = b[n+m:]
	}
	return ns, step, ns <= longest
}

// longest is the most that is taken for a duration: a year.
const longest = 366 * 24 * int64(time.Hour)

// suffix reads the name of a unit at the start of b.
func suffix(b []byte) (unit int64, n int) {
	if hasPrefix(b, `\u00b5s`) || hasPrefix(b, `\u03bcs`) || hasPrefix(b, `\u00B5s`) || hasPrefix(b, `\u03BCs`) { // µs, as JSON may have it
		return int64(time.Microsecond), len(`\u00b5s`)
	}
	for n < len(b) && !isDigit(b[n]) && b[n] != '.' {
		n++
	}
	return unitOf(string(bytes.TrimSpace(b[:n]))), n
}

// unitOf returns the nanoseconds of a unit; 0 if the name is none.
func unitOf(name string) int64 {
	switch name {
	case "ns":
		return 1
	case "us", "µs", "μs", "micros":
		return int64(time.Microsecond)
	case "ms", "msecs":
		return int64(time.Millisecond)
	case "s", "secs":
		return second
	case "m":
		return int64(time.Minute)
	case "h":
		return int64(time.Hour)
	}
	return 0
}

// epoch reads a whole text as a moment since 1970, in seconds, milliseconds,
// microseconds or nanoseconds, by its size: the ranges of the present are far
// apart. unit fixes it, if not 0.
func epoch(b []byte, unit int64) (ns, step int64, ok bool) {
	digits := 0
	for digits < len(b) && isDigit(b[digits]) {
		digits++
	}
	if unit == 0 {
		switch {
		case digits <= 11: // up to the year 5138 in seconds
			unit = second
		case digits <= 14:
			unit = int64(time.Millisecond)
		case digits <= 17:
			unit = int64(time.Microsecond)
		default:
			unit = 1
		}
	}
	ns, step, n := decimal(b, unit)
	if n == 0 || n != len(b) || ns < earliest {
		return 0, 0, false
	}
	return ns, step, true
}

// count reads a whole text as a small number that is not negative.
func count(b []byte) (n int, ok bool) {
	const most = 1 << 30
	for _, c := range b {
		if !isDigit(c) || n > most {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, len(b) > 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
