package capture

import (
	"bytes"
	"time"
)

// MaxHint bounds a wait in seconds that is kept as a number: ten years. What is
// larger is kept as that much, which is absurd in any unit.
const MaxHint = 10 * 365 * 24 * 3600

// ParseRetryAfter reads a Retry-After field (RFC 9110 section 10.2.3): delay
// seconds, or a date that is judged against the server's own clock. date is the
// Date field of the same response in Unix seconds, or, where that is 0, fallback
// is used: the moment the response was seen, in Unix seconds. A date that has
// passed is a wait of 0, as is "0". A fraction, which some servers send and some
// clients drop, has a kind of its own. Anything else is Malformed and never 0.
// Raw is left for the caller to set.
func ParseRetryAfter(value []byte, date, fallback int64) Hint {
	value = bytes.TrimSpace(value)
	h := Hint{State: Present, Kind: Malformed}
	if len(value) == 0 {
		return h
	}
	if n, ok := digits(value); ok {
		h.Kind, h.Wait = RetryAfterSeconds, n*int64(time.Second)
		return h
	}
	if n, ok := decimal(value); ok {
		h.Kind, h.Wait = RetryAfterDecimal, times(n, int64(time.Second))
		return h
	}
	at, ok := httpDate(value)
	if !ok {
		return h
	}
	if date == 0 {
		date = fallback
	}
	h.Kind = RetryAfterDate
	h.Wait = min(max(at-date, 0), MaxHint) * int64(time.Second)
	return h
}

// ParseRetryAfterMillis reads retry-after-ms and x-ms-retry-after-ms, whole or
// decimal milliseconds (azcore and Stainless clients).
func ParseRetryAfterMillis(value []byte) Hint {
	value = bytes.TrimSpace(value)
	h := Hint{State: Present, Kind: Malformed}
	if dot := bytes.IndexByte(value, '.'); dot > 0 {
		if _, ok := digits(value[dot+1:]); !ok {
			return h
		}
		value = value[:dot]
	}
	if n, ok := digitsUpTo(value, MaxHint*1000); ok {
		h.Kind, h.Wait = RetryAfterMillis, n*int64(time.Millisecond)
	}
	return h
}

// digits reads 1*DIGIT, clamped to MaxHint.
func digits(b []byte) (int64, bool) { return digitsUpTo(b, MaxHint) }

func digitsUpTo(b []byte, most int64) (int64, bool) {
	if len(b) == 0 {
		return 0, false
	}
	n := int64(0)
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = min(n*10+int64(c-'0'), most)
	}
	return n, true
}
