package accesslog

import (
	"bytes"
	"time"
)

// clock turns what a layout read into a moment; it remembers the last day.
type clock struct {
	y, m, d int
	day     int64     // Unix seconds of midnight, UTC
	until   time.Time // dates that have no year are before it
	loc     *time.Location
	hour    int64 // wall hour for which offset holds
	offset  int64 // seconds east of UTC
	cached  bool
}

// parts of a date, as they are read.
type civil struct {
	y, mon, d, h, min, s int
	pm                   int8 // 0 not said, 1 am, 2 pm
	frac, step           int64
	east                 int64 // seconds
	zoned, epoch         bool
	ns                   int64
}

// read reads a date at the start of b and tells how many bytes it took, 0 if
// there is none.
func (c *clock) read(l *layout, b []byte) (t moment, n int) {
	v := civil{step: second}
	if len(l.parts) == 0 {
		n = v.iso(b)
	} else {
		n = v.parts(l, b)
	}
	if n == 0 {
		return t, 0
	}
	if t, ok := c.settle(&v); ok {
		return t, n
	}
	return moment{}, 0
}

func (v *civil) parts(l *layout, b []byte) int {
	at := 0
	for i := range l.parts {
		p := &l.parts[i]
		if p.verb == 0 {
			if !hasPrefix(b[at:], p.lit) {
				return 0
			}
			at += len(p.lit)
			continue
		}
		n := v.part(p, b[at:])
		if n == 0 {
			return 0
		}
		at += n
	}
	return at
}

// part reads one element.
func (v *civil) part(p *part, b []byte) (n int) {
	switch p.verb {
	case 'Y':
		v.y, n = fixedInt(b, 4)
	case 'y':
		if v.y, n = fixedInt(b, 2); v.y < 69 { // POSIX strptime
			v.y += 2000
		} else {
			v.y += 1900
		}
	case 'm':
		v.mon, n = fixedInt(b, 2)
	case 'd', 'e':
		v.d, n = paddedInt(b)
	case 'j':
		_, n = fixedInt(b, 3)
	case 'b', 'h', 'B':
		v.mon, n = monthName(b, p.verb == 'B')
	case 'H', 'k', 'I', 'l':
		v.h, n = paddedInt(b)
	case 'M':
		v.min, n = fixedInt(b, 2)
	case 'S':
		v.s, n = fixedInt(b, 2)
	case 'p':
		if len(b) >= 2 && b[1]|0x20 == 'm' {
			if n, v.pm = 2, 1; b[0]|0x20 == 'p' {
				v.pm = 2
			}
		}
	case 'a', 'A', 'Z':
		for n < len(b) && isLetter(b[n]) {
			n++
		}
		if p.verb == 'Z' && !v.zoned && (string(b[:n]) == "UTC" || string(b[:n]) == "GMT") {
			v.zoned = true
		}
	case 'z':
		n = v.zone(b)
	case 's':
		n = v.since(b, second)
	case verbMillis:
		n = v.since(b, int64(time.Millisecond))
	case verbMicros:
		n = v.since(b, int64(time.Microsecond))
	case verbFraction:
		n = v.fraction(b, p.size)
	}
	return n
}

// iso reads 2026-11-30T08:11:06.123+05:30 and what is like it.
func (v *civil) iso(b []byte) int {
	if len(b) < 19 || b[4] != b[7] || b[4] != '-' && b[4] != '/' || b[13] != ':' || b[16] != ':' || b[10] != 'T' && b[10] != 't' && b[10] != ' ' {
		return 0
	}
	var n [6]int
	v.y, n[0] = fixedInt(b, 4)
	v.mon, n[1] = fixedInt(b[5:], 2)
	v.d, n[2] = fixedInt(b[8:], 2)
	v.h, n[3] = fixedInt(b[11:], 2)
	v.min, n[4] = fixedInt(b[14:], 2)
	v.s, n[5] = fixedInt(b[17:], 2)
	if n != [6]int{4, 2, 2, 2, 2, 2} {
		return 0
	}
	at := 19
	if at+1 < len(b) && (b[at] == '.' || b[at] == ',') {
		if n := v.fraction(b[at+1:], 0); n > 0 {
			at += 1 + n
		}
	}
	rest := b[at:]
	if len(rest) > 5 && rest[0] == ' ' && (rest[1] == '+' || rest[1] == '-') && isDigit(rest[2]) && isDigit(rest[5]) {
		if n := v.zone(rest[1:]); n > 0 {
			return at + 1 + n
		}
	}
	return at + v.zone(rest)
}

// fraction reads the digits after the point.
func (v *civil) fraction(b []byte, size int) (n int) {
	v.frac, v.step = 0, second
	for n < len(b) && isDigit(b[n]) && (size == 0 || n < size) {
		if v.step /= 10; v.step > 0 {
			v.frac += int64(b[n]-'0') * v.step
		}
		n++
	}
	v.step = max(v.step, 1)
	if size > 0 && n < size {
		return 0
	}
	return n
}

// zone reads Z, +05:30, +0530 or +05.
func (v *civil) zone(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	if b[0] == 'Z' || b[0] == 'z' {
		v.zoned = true
		return 1
	}
	if b[0] != '+' && b[0] != '-' {
		return 0
	}
	h, n := fixedInt(b[1:], 2)
	if n == 0 || h > 23 {
		return 0
	}
	at := 3
	rest := b[3:]
	if len(rest) > 2 && rest[0] == ':' {
		rest = rest[1:]
		at++
	}
	m, n := fixedInt(rest, 2)
	if n == 0 {
		m, at = 0, 3
	} else {
		at += 2
	}
	if m > 59 {
		return 0
	}
	v.east, v.zoned = int64(h*3600+m*60), true
	if b[0] == '-' {
		v.east = -v.east
	}
	return at
}

func (v *civil) since(b []byte, unit int64) int {
	ns, step, n := decimal(b, unit)
	if n == 0 || ns < earliest {
		return 0
	}
	v.ns, v.step, v.epoch = ns, step, true
	return n
}

// settle checks what was read. A leap second is taken as the second after it.
func (c *clock) settle(v *civil) (t moment, ok bool) {
	if v.epoch {
		return moment{ns: v.ns + v.frac, step: v.step}, true
	}
	switch {
	case v.pm == 2 && v.h < 12:
		v.h += 12
	case v.pm == 1 && v.h == 12:
		v.h = 0
	}
	if v.y == 0 {
		v.y = c.yearOf(v.mon, v.d)
	}
	if v.h > 23 || v.min > 59 || v.s > 60 || v.y < 1971 || v.y > 2261 || v.mon < 1 || v.mon > 12 || v.d < 1 {
		return t, false
	}
	if v.y != c.y || v.mon != c.m || v.d != c.d {
		day := time.Date(v.y, time.Month(v.mon), v.d, 0, 0, 0, 0, time.UTC)
		if day.Day() != v.d { // 31 February
			return t, false
		}
		c.y, c.m, c.d, c.day = v.y, v.mon, v.d, day.Unix()
	}
	sec := c.day + int64(v.h*3600+v.min*60+v.s) - v.east
	return moment{ns: sec*second + v.frac, step: v.step, wall: !v.zoned}, true
}

// yearOf gives a date without a year that of the date before, or the latest in
// which it is not after the time told.
func (c *clock) yearOf(mon, d int) int {
	switch {
	case c.y != 0 && mon < c.m-6: // over New Year
		return c.y + 1
	case c.y != 0 && mon > c.m+6:
		return c.y - 1
	case c.y != 0:
		return c.y
	case c.until.IsZero():
		return 0
	}
	y := c.until.UTC().Year()
	if time.Date(y, time.Month(mon), d, 0, 0, 0, 0, time.UTC).After(c.until.Add(36 * time.Hour)) {
		y--
	}
	return y
}

// local gives a wall time its moment in the zone it was written in.
func (c *clock) local(wall int64) int64 {
	if c.loc == nil || c.loc == time.UTC {
		return wall
	}
	quarter := wall / (900 * second) // zones change at quarters of an hour
	if !c.cached || quarter != c.hour {
		at := time.Unix(0, wall).UTC()
		there := time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, c.loc)
		_, east := there.Zone()
		c.hour, c.offset, c.cached = quarter, int64(east), true
	}
	return wall - c.offset*second
}

func fixedInt(b []byte, size int) (v, n int) {
	if len(b) < size {
		return 0, 0
	}
	for _, c := range b[:size] {
		if !isDigit(c) {
			return 0, 0
		}
		v = v*10 + int(c-'0')
	}
	return v, size
}

// paddedInt reads one or two digits, or a blank and a digit.
func paddedInt(b []byte) (v, n int) {
	if v, n = fixedInt(b, 2); n > 0 {
		return v, n
	}
	if len(b) > 1 && b[0] == ' ' && isDigit(b[1]) {
		return int(b[1] - '0'), 2
	}
	return fixedInt(b, 1)
}

// monthName reads Nov, or November where it is long.
func monthName(b []byte, long bool) (m, n int) {
	if len(b) < 3 {
		return 0, 0
	}
	if m = int(month(b[:3])); m == 0 {
		return 0, 0
	}
	for n = 3; long && n < len(b) && isLetter(b[n]); {
		n++
	}
	return m, n
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func hasPrefix(b []byte, s string) bool { return len(b) >= len(s) && string(b[:len(s)]) == s }

// imf reads an HTTP date (RFC 9110 section 5.6.7, IMF-fixdate) to Unix seconds.
func (c *clock) imf(b []byte) (int64, bool) {
	const form = "Mon, 30 Nov 2026 02:43:28 GMT"
	if len(b) != len(form) || !bytes.HasSuffix(b, []byte(" GMT")) {
		return 0, false
	}
	t, n := c.read(&imfLayout, b)
	return t.ns / second, n == len(b)
}

var imfLayout = mustLayout("%a, %d %b %Y %H:%M:%S %Z")
