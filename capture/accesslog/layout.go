package accesslog

import "fmt"

// layout is how a date is written: a strftime pattern taken apart. The zero
// value reads the profiles of ISO 8601 that servers write (RFC 3339, with a
// blank for the T, a comma for the point, a zone without a colon or none).
type layout struct{ parts []part }

// part is a literal or one element of a date.
type part struct {
	verb byte   // strftime's letter; 0 for a literal
	lit  string // of verb 0
	size int    // digits of a fraction, 0 for any number of them
}

// Letters of parts that strftime has not.
const (
	verbFraction = '.'
	verbMillis   = '3' // since 1970
	verbMicros   = '6'
	verbAny      = '?' // a time of day with or without a fraction and zone
)

// moment is a time read from a line.
type moment struct {
	ns   int64
	step int64 // resolution; 0 where no time was read
	wall bool  // ns is what a clock on the wall shows: the zone is not known
}

// strftime takes a pattern apart. Envoy's %3f and the like are fractions.
func strftime(pattern string) (*layout, error) {
	l := &layout{}
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '%' {
			l.lit(pattern[i : i+1])
			continue
		}
		i++
		size := 0
		for i < len(pattern) && (isDigit(pattern[i]) || pattern[i] == '-' || pattern[i] == 'E' || pattern[i] == '*') {
			if isDigit(pattern[i]) {
				size = int(pattern[i] - '0')
			}
			i++
		}
		if i == len(pattern) {
			return nil, fmt.Errorf("the date pattern %q ends in %%", pattern)
		}
		if err := l.verb(pattern[i], size); err != nil {
			return nil, err
		}
	}
	if !l.dated() {
		return nil, fmt.Errorf("the date pattern %q gives no day and time, nor seconds since 1970", pattern)
	}
	return l, nil
}

func (l *layout) lit(s string) {
	if n := len(l.parts); n > 0 && l.parts[n-1].verb == 0 {
		l.parts[n-1].lit += s
		return
	}
	l.parts = append(l.parts, part{lit: s})
}

// verb adds one conversion; those that stand for several are spelled out.
func (l *layout) verb(c byte, size int) error {
	long := map[byte]string{'T': "%H:%M:%S", 'D': "%m/%d/%y", 'F': "%Y-%m-%d", 'R': "%H:%M", 'c': "%a %b %e %H:%M:%S %Y", 'r': "%I:%M:%S %p"}
	if s, ok := long[c]; ok {
		for i := 0; i < len(s); i++ {
			if s[i] != '%' {
				l.lit(s[i : i+1])
				continue
			}
			i++
			if err := l.verb(s[i], 0); err != nil {
				return err
			}
		}
		return nil
	}
	switch c {
	case 'Y', 'y', 'm', 'd', 'e', 'b', 'h', 'B', 'H', 'k', 'I', 'l', 'M', 'S', 'p', 'z', 'Z', 'a', 'A', 's', 'j':
		l.parts = append(l.parts, part{verb: c})
		if c == 'S' && size > 0 { // Envoy's %E3S: seconds with a fraction
			l.lit(".")
			l.parts = append(l.parts, part{verb: verbFraction, size: size})
		}
	case 'f', 'N', 'L':
		l.parts = append(l.parts, part{verb: verbFraction, size: size})
	case '%':
		l.lit("%")
	case 'n':
		l.lit("\n")
	case 't':
		l.lit("\t")
	default:
		return fmt.Errorf("the date conversion %%%c is not known", c)
	}
	return nil
}

// dated tells whether the parts give a moment.
func (l *layout) dated() bool {
	var have [256]bool
	for _, p := range l.parts {
		have[p.verb] = true
	}
	day := (have['m'] || have['b'] || have['h'] || have['B']) && (have['d'] || have['e'])
	hour := have['H'] || have['k'] || (have['I'] || have['l']) && have['p']
	return have['s'] || have[verbMillis] || have[verbMicros] || day && hour || have[verbAny]
}

// mustLayout is for the patterns of this package.
func mustLayout(pattern string) layout {
	l, err := strftime(pattern)
	if err != nil {
		panic(err)
	}
	return *l
}
