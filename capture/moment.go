package capture

import (
	"bytes"
	"net/http"
	"time"
)

// httpDate reads an HTTP date (RFC 9110 section 5.6.7) as Unix seconds. The form
// that servers must send is read without allocating.
func httpDate(b []byte) (seconds int64, ok bool) {
	const form = "Fri, 31 Dec 1999 23:59:59 GMT"
	if len(b) == len(form) && b[3] == ',' && b[4] == ' ' && b[16] == ' ' && string(b[25:]) == " GMT" {
		c := cursor{b: b[5:25]}
		day, month, year := c.digits(2, 2, ' '), c.month(' '), c.digits(4, 4, ' ')
		if second := c.clock(); c.done() && weekday(b[:3]) && isDay(year, month, day) {
			return unix(year, month, day) + second, true
		}
	}
	if len(b) < 8 || len(b) > 40 || b[0] < 'A' { // a date starts with a weekday
		return 0, false
	}
	at, err := http.ParseTime(string(b))
	return at.Unix(), err == nil
}

// moment reads a time as resets have it, in Unix milliseconds: an HTTP date, RFC
// 3339 (without its seconds or its zone too, which then is UTC), or what
// JavaScript makes of a Date (ECMA-262 section 21.4.4.41).
func moment(b []byte) (ms int64, ok bool) {
	const longest = 80 // JavaScript adds the zone's name
	if len(b) < 16 || len(b) > longest {
		return 0, false
	}
	if b[0] >= '0' && b[0] <= '9' {
		return isoMoment(b)
	}
	if s, ok := httpDate(b); ok {
		return s * 1e3, true
	}
	i := bytes.IndexByte(b, ' ')
	if i != 3 {
		return 0, false
	}
	c := cursor{b: b[i+1:]}
	month, day, year := c.month(' '), c.digits(2, 2, ' '), c.digits(4, 4, ' ')
	at := unix(year, month, day) + c.clock()
	if c.bad || !isDay(year, month, day) || !bytes.HasPrefix(c.b, []byte(" GMT")) {
		return 0, false
	}
	c.b = c.b[len(" GMT"):]
	at -= c.zone()
	return at * 1e3, !c.bad && (len(c.b) == 0 || c.b[0] == ' ')
}

func isoMoment(b []byte) (ms int64, ok bool) {
	c := cursor{b: b}
	year, month, day := c.digits(4, 4, '-'), c.digits(2, 2, '-'), c.digits(2, 2, 0)
	if len(c.b) == 0 || c.b[0] != 'T' && c.b[0] != 't' && c.b[0] != ' ' {
		return 0, false
	}
	c.b = c.b[1:]
	hour, minute := c.digits(2, 2, ':'), c.digits(2, 2, 0)
	if hour > 24 || minute > 59 || !isDay(year, month, day) {
		return 0, false
	}
	at := unix(year, month, day) + hour*3600 + minute*60
	part := int64(0)
	if len(c.b) > 0 && c.b[0] == ':' {
		c.b = c.b[1:]
		at += c.digits(2, 2, 0)
		part = c.fraction()
	}
	if len(c.b) > 0 {
		at -= c.zone()
	}
	return at*1e3 + part, c.done()
}

func weekday(b []byte) bool {
	switch string(b) {
	case "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun":
		return true
	}
	return false
}

// isDay tells whether there is such a day.
func isDay(year, month, day int64) bool {
	if year < 1 || month < 1 || month > 12 || day < 1 {
		return false
	}
	last := 30 + (month+month/8)%2
	if month == 2 {
		last = 28
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			last = 29
		}
	}
	return day <= last
}

// unix returns the seconds of a date's midnight, UTC (days of the proleptic
// Gregorian calendar, counted from March).
func unix(year, month, day int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	days := 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1 - 719468
	return days * 24 * 3600
}

// cursor reads a text from its front. bad tells that something was not there.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) done() bool { return !c.bad && len(c.b) == 0 }

// digits reads a number of some digits, and what must stand after it, if not 0.
func (c *cursor) digits(least, most int, after byte) (n int64) {
	i := 0
	for i < len(c.b) && i < most && c.b[i] >= '0' && c.b[i] <= '9' {
		n = n*10 + int64(c.b[i]-'0')
		i++
	}
	c.bad = c.bad || i < least
	c.b = c.b[i:]
	c.skip(after)
	return n
}

func (c *cursor) skip(after byte) {
	switch {
	case after == 0:
	case len(c.b) == 0 || c.b[0] != after:
		c.bad = true
	default:
		c.b = c.b[1:]
	}
}

// month reads the three letters of a month.
func (c *cursor) month(after byte) int64 {
	const months = "JanFebMarAprMayJunJulAugSepOctNovDec"
	if len(c.b) >= 3 {
		for i := 0; i < len(months); i += 3 {
			if months[i:i+3] == string(c.b[:3]) {
				c.b = c.b[3:]
				c.skip(after)
				return int64(i/3) + 1
			}
		}
	}
	c.bad = true
	return 1
}

// clock reads 23:59:59 as seconds.
func (c *cursor) clock() int64 {
	h, m, s := c.digits(2, 2, ':'), c.digits(2, 2, ':'), c.digits(2, 2, 0)
	c.bad = c.bad || h > 23 || m > 59 || s > 59
	return h*3600 + m*60 + s
}

// fraction reads .123456 as milliseconds.
func (c *cursor) fraction() (ms int64) {
	if len(c.b) == 0 || c.b[0] != '.' {
		return 0
	}
	c.b = c.b[1:]
	scale := int64(100)
	for len(c.b) > 0 && c.b[0] >= '0' && c.b[0] <= '9' {
		ms += int64(c.b[0]-'0') * scale
		scale /= 10
		c.b = c.b[1:]
	}
	return ms
}

// zone reads Z, +01:00 or +0100 as seconds east.
func (c *cursor) zone() int64 {
	if len(c.b) == 1 && (c.b[0] == 'Z' || c.b[0] == 'z') {
		c.b = nil
		return 0
	}
	if len(c.b) == 0 || c.b[0] != '+' && c.b[0] != '-' {
		c.bad = true
		return 0
	}
	west := c.b[0] == '-'
	c.b = c.b[1:]
	h := c.digits(2, 2, 0)
	if len(c.b) > 0 && c.b[0] == ':' {
		c.b = c.b[1:]
	}
	east := h*3600 + c.digits(2, 2, 0)*60
	if west {
		return -east
	}
	return east
}

// duration reads a duration as Go writes it (1h2m3.5s, 12ms), days too.
func duration(b []byte) (ns int64, ok bool) {
	for len(b) > 0 {
		i := 0
		for i < len(b) && (b[i] >= '0' && b[i] <= '9' || b[i] == '.') {
			i++
		}
		n, ok := decimal(b[:i])
		if !ok {
			return 0, false
		}
		j := i
		for j < len(b) && (b[j] < '0' || b[j] > '9') {
			j++
		}
		u := int64(0)
		switch string(b[i:j]) {
		case "ns":
			u = 1
		case "us", "µs", "μs":
			u = int64(time.Microsecond)
		case "ms":
			u = int64(time.Millisecond)
		case "s":
			u = int64(time.Second)
		case "m":
			u = int64(time.Minute)
		case "h":
			u = int64(time.Hour)
		case "d":
			u = 24 * int64(time.Hour)
		default:
			return 0, false
		}
		ns, b = min(ns+times(n, u), maxWait), b[j:]
		if len(b) == 0 {
			return ns, true
		}
	}
	return 0, false
}

const maxWait = MaxHint * int64(time.Second)

// times multiplies thousandths by a unit in nanoseconds; beyond ten years it is
// as good as for ever.
func times(thousandths, unit int64) int64 {
	if thousandths/1000 >= maxWait/unit {
		return maxWait
	}
	return thousandths/1000*unit + thousandths%1000*unit/1000
}

// decimal reads 1*DIGIT [ "." 1*DIGIT ] as thousandths, those after the third
// decimal cut off, and large ones kept as large.
func decimal(b []byte) (thousandths int64, ok bool) {
	const most = 1e15 // whole units
	whole, part, point := bytes.Cut(b, []byte("."))
	n, ok := digitsUpTo(whole, most)
	if !ok {
		return 0, false
	}
	n *= 1000
	if point {
		if len(part) == 0 {
			return 0, false
		}
		scale := int64(100)
		for _, c := range part {
			if c < '0' || c > '9' {
				return 0, false
			}
			n += int64(c-'0') * scale
			scale /= 10
		}
	}
	return n, true
}
