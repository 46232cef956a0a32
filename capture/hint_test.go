package capture

import (
	"math"
	"strings"
	"testing"
	"time"
)

// Unix seconds of Fri, 31 Dec 1999 23:58:00 GMT (date -u -d).
const twoMinutesBefore = 946684680

func TestRetryAfter(t *testing.T) {
	const date = "Fri, 31 Dec 1999 23:59:59 GMT" // RFC 9110 section 10.2.3
	for _, c := range []struct {
		name, value    string
		date, fallback int64
		kind           HintKind
		wait           int64 // seconds
	}{
		{"RFC 9110, seconds", "120", 0, 0, RetryAfterSeconds, 120},
		{"RFC 9110, date against the server's clock", date, twoMinutesBefore, 5, RetryAfterDate, 119},
		{"RFC 9110, date without a Date", date, 0, twoMinutesBefore + 60, RetryAfterDate, 59},
		{"date that has passed", date, twoMinutesBefore + 3600, 0, RetryAfterDate, 0},
		{"date at this moment", date, twoMinutesBefore + 119, 0, RetryAfterDate, 0},
		{"RFC 850 date", "Friday, 31-Dec-99 23:59:59 GMT", twoMinutesBefore, 0, RetryAfterDate, 119},
		{"asctime date", "Fri Dec 31 23:59:59 1999", twoMinutesBefore, 0, RetryAfterDate, 119},
		{"date in a far year", "Fri, 31 Dec 9999 23:59:59 GMT", twoMinutesBefore, 0, RetryAfterDate, MaxHint},
		{"zero", "0", 0, 0, RetryAfterSeconds, 0},
		{"spaces", "  7\t", 0, 0, RetryAfterSeconds, 7},
		{"leading zeros", "007", 0, 0, RetryAfterSeconds, 7},
		{"an epoch", "999999999", 0, 0, RetryAfterSeconds, MaxHint},
		{"beyond int64", "99999999999999999999999999", 0, 0, RetryAfterSeconds, MaxHint},
		{"absurdly long", strings.Repeat("9", 1<<16), 0, 0, RetryAfterSeconds, MaxHint},
		{"words", "2 minutes", 0, 0, Malformed, 0},
		{"negative", "-1", 0, 0, Malformed, 0},
		{"signed", "+1", 0, 0, Malformed, 0},
		{"decimal", "2.0", 0, 0, RetryAfterDecimal, 2}, // Shopify's
		{"decimal without its fraction", "1.", 0, 0, Malformed, 0},
		{"two points", "1.2.3", 0, 0, Malformed, 0},
		{"unit", "5s", 0, 0, Malformed, 0},
		{"empty", "", 0, 0, Malformed, 0},
		{"blank", " \t ", 0, 0, Malformed, 0},
		{"other digits", "１２", 0, 0, Malformed, 0},
		{"ISO date", "1999-12-31T23:59:59Z", 0, 0, Malformed, 0},
		{"date in another zone", "Fri, 31 Dec 1999 23:59:59 PST", 0, 0, Malformed, 0},
		{"long text", "F" + strings.Repeat("x", 1<<16), 0, 0, Malformed, 0},
		{"two values", "120, 60", 0, 0, Malformed, 0},
		{"NUL", "12\x00", 0, 0, Malformed, 0},
	} {
		h := ParseRetryAfter([]byte(c.value), c.date, c.fallback)
		if h.State != Present || h.Kind != c.kind || h.Usable() != (c.kind != Malformed) {
			t.Errorf("%s: %v %v, want %v", c.name, h.State, h.Kind, c.kind)
		}
		if h.Usable() && h.Wait != c.wait*int64(time.Second) {
			t.Errorf("%s: %v, want %d s", c.name, time.Duration(h.Wait), c.wait)
		}
	}
}

func TestRetryAfterMillis(t *testing.T) {
	for value, want := range map[string]int64{ // ms; -1 malformed
		"250": 250, "0": 0, "1500.75": 1500, " 20 ": 20, "": -1, "-5": -1, "1.x": -1, ".5": -1, "1.": -1, "1e3": -1, "5ms": -1,
	} {
		h := ParseRetryAfterMillis([]byte(value))
		switch {
		case want < 0 && h.Kind != Malformed, want >= 0 && h.Kind != RetryAfterMillis:
			t.Errorf("%q: %v", value, h.Kind)
		case want >= 0 && h.Wait != want*int64(time.Millisecond):
			t.Errorf("%q: %v, want %d ms", value, time.Duration(h.Wait), want)
		}
	}
	if h := ParseRetryAfterMillis([]byte(strings.Repeat("9", 400))); h.Kind != RetryAfterMillis || h.Wait < MaxHint*1000*int64(time.Millisecond)/1000 {
		t.Errorf("an absurd wait must stay absurd: %v", time.Duration(h.Wait))
	}
}

func TestAttemptHeaders(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        Attempt
		ok          bool
	}{
		{"x-envoy-attempt-count", "1", Attempt{1, EnvoyAttempts}, true},
		{"x-envoy-attempt-count", "3", Attempt{3, EnvoyAttempts}, true},
		{"x-envoy-attempt-count", "0", Attempt{}, false},
		{"x-stainless-retry-count", "0", Attempt{1, StainlessRetries}, true},
		{"x-stainless-retry-count", "2", Attempt{3, StainlessRetries}, true},
		{"amz-sdk-request", "attempt=1; max=3", Attempt{1, AmzAttempt}, true},
		{"amz-sdk-request", "ttl=20260101T000000Z; attempt=2; max=3", Attempt{2, AmzAttempt}, true},
		{"amz-sdk-request", "max=3", Attempt{}, false},
		{"amz-sdk-request", "attempt=", Attempt{}, false},
		{"x-envoy-attempt-count", "99999999999", Attempt{}, false},
		{"x-envoy-attempt-count", "-1", Attempt{}, false},
		{"grpc-previous-rpc-attempts", "1", Attempt{2, RPCAttempts}, true},
		{"grpc-previous-rpc-attempts", "0", Attempt{1, RPCAttempts}, true},
		{"retry-count", "1", Attempt{}, false},
	} {
		if got, ok := ParseAttempt(c.name, []byte(c.value)); got != c.want || ok != c.ok {
			t.Errorf("%s: %q: %+v %v", c.name, c.value, got, ok)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, v := range []string{"120", "Fri, 31 Dec 1999 23:59:59 GMT", "2 minutes", "-1", "1.5", "", "99999999999999999999", "Fri Dec 31 23:59:59 1999"} {
		f.Add([]byte(v), int64(twoMinutesBefore), int64(0))
	}
	f.Add([]byte("Fri, 31 Dec 9999 23:59:59 GMT"), int64(math.MinInt64), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, value []byte, date, fallback int64) {
		before := string(value)
		for _, h := range []Hint{ParseRetryAfter(value, date, fallback), ParseRetryAfterMillis(value)} {
			if h.State != Present || h.Kind == NoHint || h.Raw != 0 {
				t.Errorf("%q: %+v", value, h)
			}
			if h.Wait < 0 || h.Wait > MaxHint*int64(time.Second) || h.Kind == Malformed && h.Wait != 0 {
				t.Errorf("%q: a wait of %d", value, h.Wait)
			}
		}
		for _, name := range []string{"x-envoy-attempt-count", "x-stainless-retry-count", "amz-sdk-request"} {
			if a, ok := ParseAttempt(name, value); ok != (a.N > 0) {
				t.Errorf("%s: %q: %+v %v", name, value, a, ok)
			}
		}
		if string(value) != before {
			t.Error("the header's bytes were changed")
		}
	})
}
