package capture

import (
	"net/http"
	"testing"
	"time"
)

// FuzzAnswer: whatever fields say, waits are within bounds, a failure to read is
// never a wait, and the same answer is read the same way.
func FuzzAnswer(f *testing.F) {
	for i := 1; i < len(fieldRows); i += 3 {
		f.Add(uint8(i), "1613462460", uint8(0), "30", uint16(429))
	}
	for _, v := range []string{
		"1613462401.250", "1.25", "6m0s", "12ms", "-1", "0", "2021-02-16T08:05Z", "2021-02-16T08:05:01.999999999+23:59", "Tue Feb 16 2021 09:02:42 GMT+0100 (CET)",
		`"default";r=50;t=30`, "limit=100, remaining=50, reset=30", "100, 100;window=60, 10000;window=86400", "60:transaction, 2700:default;error", "32/40",
		"Tue, 16 Feb 2021 08:00:47 GMT", "99999999999999999999999", "1e9", "\x00", `"a;r=1`, "17;", "1613462460000", "9223372036854775807s",
	} {
		f.Add(uint8(fieldNames.find([]byte("x-ratelimit-reset"))), v, uint8(fieldNames.find([]byte("ratelimit"))), v, uint16(503))
		f.Add(uint8(fieldNames.find([]byte("retry-after"))), v, uint8(fieldNames.find([]byte("x-sentry-rate-limits"))), v, uint16(403))
		f.Add(uint8(fieldNames.find([]byte("x-retry-after"))), v, uint8(fieldNames.find([]byte("x-shopify-shop-api-call-limit"))), v, uint16(200))
	}
	f.Fuzz(func(t *testing.T, one uint8, a string, two uint8, b string, status uint16) {
		if int(one) >= len(fieldRows) || int(two) >= len(fieldRows) {
			return
		}
		read := func(answers *Answers) Exchange {
			x := Exchange{Status: status, Date: noon, End: noon * second}
			answers.Begin()
			answers.Tell(Field(one), []byte(a))
			answers.Tell(Field(two), []byte(b))
			told := answers.Settle(&x, true)
			x.Reason = ReasonOf(status).Because(told.Mark)
			x.Refusal(told.Reset)
			return x
		}
		x := read(NewAnswers(NewInterner(10, 1000), &Health{}))
		if y := read(NewAnswers(NewInterner(10, 1000), &Health{})); x != y {
			t.Errorf("read as %+v, then as %+v", x, y)
		}
		if h := x.Hint; h.State == NotObservable || h.Wait < 0 || h.Wait > maxWait || !h.Usable() && h.Wait != 0 || (h.State == Present) != (h.Kind != NoHint) {
			t.Errorf("%q %q: hint %+v", a, b, h)
		}
		if l := x.Limit; l.Reset < 0 || l.Reset > maxWait || (l.Form == NoHint || l.Form == Malformed) && l.Reset != 0 {
			t.Errorf("%q %q: limit %+v", a, b, l)
		}
		if x.Hint.Kind.String() == "" && x.Hint.State == Present {
			t.Errorf("kind %d has no name", x.Hint.Kind)
		}
	})
}

// FuzzDecide: no body breaks the reading, and a wait of one is within bounds.
func FuzzDecide(f *testing.F) {
	for _, s := range []string{
		`{"valid":false,"reason":"rate_limited"}`, `{"errors":[{"extensions":{"code":"THROTTLED"}}]}`, `{"__type":"x#Throttling`, `<Error><Code>SlowDown</Code>`, `{"a":"\`, `[[[[{"retry_after":1.5}`, `{"retryDelay":"34.07s"}`, "{\"message\":\"try again in 6ms.\"", `{"error":{"code":429`,
	} {
		f.Add(uint16(429), []byte(s))
		f.Add(uint16(200), []byte(s))
	}
	f.Fuzz(func(t *testing.T, status uint16, body []byte) {
		d := Decide(status, body)
		if w := d.Wait; w.Wait < 0 || w.Wait > maxWait || w.State == Present && w.Kind != InBody {
			t.Errorf("%q: %+v", body, w)
		}
		if d.Reason.String() == "" {
			t.Errorf("reason %d", d.Reason)
		}
	})
}

// FuzzAsk: deadlines are moments or nothing.
func FuzzAsk(f *testing.F) {
	for i := 1; i < len(askRows); i++ {
		f.Add(uint8(i), "100m")
		f.Add(uint8(i), "ttl=20210216T080003Z; attempt=2")
		f.Add(uint8(i), "1613462400000000000 1613462403000000000")
	}
	f.Add(uint8(ask("x-request-deadline")), "9999-12-31T23:59:59Z")
	f.Fuzz(func(t *testing.T, i uint8, value string) {
		if int(i) >= len(askRows) {
			return
		}
		a := AskField(i)
		if at := a.Deadline([]byte(value), noon*second); at < 0 {
			t.Errorf("%s: %q: %d", askRows[i].name, value, at)
		}
	})
}

// FuzzHTTPDate compares with the standard library.
func FuzzHTTPDate(f *testing.F) {
	for _, s := range []string{"Fri, 31 Dec 1999 23:59:59 GMT", "Friday, 31-Dec-99 23:59:59 GMT", "Fri Dec 31 23:59:59 1999", "Thu, 29 Feb 2024 00:00:00 GMT", "Thu, 29 Feb 2023 00:00:00 GMT", "Fri, 31 Dec 1999 23:59:60 GMT", "fri, 31 dec 1999 23:59:59 GMT", "Xxx, 31 Dec 1999 23:59:59 GMT", "Fri, 00 Dec 1999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 GMT", "Sat, 31 Aug 2024 24:00:00 GMT"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 40 || len(s) < 8 || s[0] < 'A' {
			return
		}
		want, err := http.ParseTime(s)
		got, ok := httpDate([]byte(s))
		if ok != (err == nil) || ok && got != want.Unix() {
			t.Errorf("%q: %d %v, want %v %v", s, got, ok, want, err)
		}
	})
}

// TestMoments has what resets are written as beside HTTP dates; the dates are
// worked out with date -u -d.
func TestMoments(t *testing.T) {
	for s, want := range map[string]int64{ // ms; -1: none
		"2021-02-16T08:05Z":                 1613462700_000,
		"2021-02-16T08:05:01Z":              1613462701_000,
		"2021-02-16T09:05:01.5+01:00":       1613462701_500,
		"2021-02-16T03:05:01.1239-0500":     1613462701_123,
		"2021-02-16 08:05:01":               1613462701_000,
		"2024-02-29T00:00:00Z":              1709164800_000,
		"2023-02-29T00:00:00Z":              -1,
		"2021-13-01T00:00:00Z":              -1,
		"2021-02-16T08:61Z":                 -1,
		"2021-02-16T08:05:01Zulu":           -1,
		"Tue Feb 16 2021 09:02:42 GMT+0100": 1613462562_000,
		"Tue Feb 16 2021 08:02:42 GMT+0000 (Coordinated Universal Time)": 1613462562_000,
		"Tue Feb 30 2021 08:02:42 GMT+0000":                              -1,
		"Tue Feb 16 2021 08:02:42 PST":                                   -1,
		"Tue, 16 Feb 2021 08:05:01 GMT":                                  1613462701_000,
		"Tuesday, 16-Feb-21 08:05:01 GMT":                                1613462701_000,
		"tomorrow at about ten":                                          -1,
	} {
		got, ok := moment([]byte(s))
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
	for s, want := range map[string]time.Duration{"1s": 1e9, "6m0s": 360e9, "12ms": 12e6, "1h2m3.5s": 3723_500e6, "1.5s": 1500e6, "250us": 250e3, "1d": 24 * 3600e9, "": -1, "5": -1, "s": -1, "1x": -1, "1s5": -1, "-1s": -1, "1..5s": -1, "99999999999999999999h": time.Duration(maxWait)} {
		got, ok := duration([]byte(s))
		if !ok {
			got = -1
		}
		if time.Duration(got) != want {
			t.Errorf("%q: %v, want %v", s, time.Duration(got), want)
		}
	}
}
