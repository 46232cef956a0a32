package report

import (
	"math"
	"strconv"
	"strings"
	"time"

	"stormwatch/detect"
)

// number is a float that is null where unknown, and rounded so that its text
// does not depend on the last bits of a sum.
type number detect.Number

// MarshalJSON implements json.Marshaler.
func (n number) MarshalJSON() ([]byte, error) { return appendNumber(nil, detect.Number(n)), nil }

func appendNumber(b []byte, n detect.Number) []byte {
	if !Known(n) {
		return append(b, "null"...)
	}
	v := n.V
	if math.Abs(v) < 1e12 {
		if v = math.Round(v*1e6) / 1e6; v == 0 {
			v = 0 // not -0
		}
		return strconv.AppendFloat(b, v, 'f', -1, 64)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// measure is a number that is always known; where it is none after all, null
// keeps the rest of the report readable.
type measure float64

// MarshalJSON implements json.Marshaler.
func (m measure) MarshalJSON() ([]byte, error) {
	return appendNumber(nil, detect.Some(float64(m))), nil
}

// moment is a time, null for none.
type moment int64

// MarshalJSON implements json.Marshaler.
func (m moment) MarshalJSON() ([]byte, error) { return appendMoment(nil, int64(m)), nil }

func appendMoment(b []byte, ns int64) []byte {
	if ns == 0 {
		return append(b, "null"...)
	}
	b = utc(ns).AppendFormat(append(b, '"'), time.RFC3339Nano)
	return append(b, '"')
}

// text is a string that may have come from traffic.
type text string

// MarshalJSON implements json.Marshaler.
func (t text) MarshalJSON() ([]byte, error) { return appendText(nil, string(t)), nil }

// appendText quotes a text.
func appendText(b []byte, s string) []byte {
	return append(appendEscaped(append(b, '"'), s), '"')
}

// appendEscaped cleans a text, which makes it UTF-8 without control characters,
// so that only two characters need a backslash (RFC 8259, section 7).
func appendEscaped(b []byte, s string) []byte {
	s = clean(s)
	from := 0
	for i := 0; i < len(s); i++ {
		if s[i] == '"' || s[i] == '\\' {
			b = append(append(b, s[from:i]...), '\\', s[i])
			from = i + 1
		}
	}
	return append(b, s[from:]...)
}

// maybe is a text that is null where there is none.
type maybe string

// MarshalJSON implements json.Marshaler.
func (m maybe) MarshalJSON() ([]byte, error) { return appendMaybe(nil, string(m)), nil }

func appendMaybe(b []byte, s string) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return appendText(b, s)
}

// lines is a text of several lines from a rule file: configuration, whose line
// ends and tabs matter.
type lines string

// MarshalJSON implements json.Marshaler.
func (l lines) MarshalJSON() ([]byte, error) {
	b := []byte{'"'}
	for from := 0; ; {
		n := strings.IndexAny(string(l[from:]), "\n\t")
		if n < 0 {
			return append(appendEscaped(b, string(l[from:])), '"'), nil
		}
		b = appendEscaped(b, string(l[from:from+n]))
		b = append(b, '\\', map[byte]byte{'\n': 'n', '\t': 't'}[l[from+n]])
		from += n + 1
	}
}
