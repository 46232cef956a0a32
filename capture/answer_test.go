package capture

import (
	"strings"
	"testing"
	"time"
)

// noon is the server's clock in these tests: Tue, 16 Feb 2021 08:00:00 GMT, and
// what the vendors' examples are counted from.
const noon = 1613462400

// settle reads the fields of an answer.
func settle(a *Answers, x *Exchange, fields ...string) Settled {
	a.Begin()
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		a.Tell(FieldOf([]byte(name)), []byte(value))
	}
	told := a.Settle(x, true)
	x.Reason = ReasonOf(x.Status).Because(told.Mark)
	x.Refusal(told.Reset)
	return told
}

func refusal(status uint16) Exchange {
	return Exchange{Status: status, Date: noon, End: noon*second + 200e6, Host: 5}
}

// TestHeaders checks every row of the table of headers: the wait that a client is
// to keep, the limit's state, and the form. Times are worked out by hand from the
// vendors' examples; -1 stands for not told.
func TestHeaders(t *testing.T) {
	const s, ms = second, second / 1000
	for _, c := range []struct {
		vendor string
		fields []string
		hint   HintKind // NoHint: absent
		wait   int64
		form   HintKind // of the limit's reset
		reset  int64
		left   int64
	}{
		{"RFC 9110, seconds", []string{"Retry-After: 120"}, RetryAfterSeconds, 120 * s, NoHint, 0, -1},
		{"RFC 9110, date", []string{"Retry-After: Tue, 16 Feb 2021 08:02:00 GMT"}, RetryAfterDate, 120 * s, NoHint, 0, -1},
		{"Shopify, REST", []string{"Retry-After: 2.0", "X-Shopify-Shop-Api-Call-Limit: 40/40"}, RetryAfterDecimal, 2 * s, NoHint, 0, 0},
		{"Shopify, REST, room", []string{"X-Shopify-Shop-Api-Call-Limit: 32/40"}, NoHint, 0, NoHint, 0, 8},
		{"Discord, old", []string{"Retry-After: 64.57"}, RetryAfterDecimal, 64570 * ms, NoHint, 0, -1},
		{"OpenAI's SDKs", []string{"Retry-After: 1", "retry-after-ms: 250"}, RetryAfterMillis, 250 * ms, NoHint, 0, -1},
		{"Azure Cosmos DB", []string{"x-ms-retry-after-ms: 12"}, RetryAfterMillis, 12 * ms, NoHint, 0, -1},
		{"AWS, 2026", []string{"x-amz-retry-after: 1500"}, RetryAfterMillis, 1500 * ms, NoHint, 0, -1},
		{"Traefik", []string{"Retry-After: 2", "X-Retry-In: 1.5s"}, RetryAfterSeconds, 2 * s, NoHint, 0, -1},
		{"Traefik alone", []string{"X-Retry-In: 1.5s"}, OtherDuration, 1500 * ms, NoHint, 0, -1},
		{"Docker Hub, before June 2025", []string{"X-Retry-After: 1613462460"}, OtherEpoch, 59800 * ms, NoHint, 0, -1},
		{"Docker Hub, since", []string{"X-Retry-After: 60"}, OtherSeconds, 60 * s, NoHint, 0, -1},
		{"Docker Hub, quota", []string{"ratelimit-limit: 100;w=21600", "ratelimit-remaining: 0;w=21600"}, NoHint, 0, NoHint, 0, 0},
		{"MailerLite", []string{"X-RateLimit-Retry-After: 59"}, OtherSeconds, 59 * s, NoHint, 0, -1},
		{"GitHub", []string{"X-RateLimit-Limit: 60", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1613466000", "X-RateLimit-Resource: core"}, ResetEpoch, 3599800 * ms, ResetEpoch, 3599800 * ms, 0},
		{"Discord", []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1613462401.250", "X-RateLimit-Reset-After: 1.25", "X-RateLimit-Bucket: abcd"}, ResetSeconds, 1250 * ms, ResetSeconds, 1250 * ms, 0},
		{"Discord, reset alone", []string{"X-RateLimit-Reset: 1613462401.250"}, ResetEpoch, 1050 * ms, ResetEpoch, 1050 * ms, -1},
		{"express-rate-limit, legacy", []string{"X-RateLimit-Limit: 5", "X-RateLimit-Remaining: 4", "X-RateLimit-Reset: 1613463300"}, ResetEpoch, 899800 * ms, ResetEpoch, 899800 * ms, 4},
		{"@fastify/rate-limit", []string{"x-ratelimit-limit: 1000", "x-ratelimit-remaining: 0", "x-ratelimit-reset: 58", "retry-after: 60"}, RetryAfterSeconds, 60 * s, ResetSeconds, 58 * s, 0},
		{"Reddit", []string{"X-Ratelimit-Used: 2", "X-Ratelimit-Remaining: 598.0", "X-Ratelimit-Reset: 351"}, ResetSeconds, 351 * s, ResetSeconds, 351 * s, 598},
		{"Atlassian", []string{"X-RateLimit-Reset: 2021-02-16T08:05Z", "X-RateLimit-NearLimit: true"}, ResetDate, 299800 * ms, ResetDate, 299800 * ms, -1},
		{"lemlist", []string{"X-RateLimit-Reset: Tue Feb 16 2021 09:02:42 GMT+0100 (Central European Standard Time)"}, ResetDate, 161800 * ms, ResetDate, 161800 * ms, -1},
		{"Helix ALM 2019", []string{"X-RateLimit-Reset: 17"}, ResetSeconds, 17 * s, ResetSeconds, 17 * s, -1},
		{"Okta", []string{"X-Rate-Limit-Limit: 600", "X-Rate-Limit-Remaining: 0", "X-Rate-Limit-Reset: 1613462430"}, ResetEpoch, 29800 * ms, ResetEpoch, 29800 * ms, 0},
		{"Prisjakt", []string{"X-Rate-Limit-Reset: 29750", "Retry-After: 30"}, RetryAfterSeconds, 30 * s, ResetMillis, 29750 * ms, -1},
		{"IETF, to draft 06; Kong", []string{"RateLimit-Limit: 100", "RateLimit-Remaining: 0", "RateLimit-Reset: 47"}, ResetSeconds, 47 * s, ResetSeconds, 47 * s, 0},
		{"GitLab", []string{"RateLimit-Limit: 60", "RateLimit-Observed: 67", "RateLimit-Remaining: 0", "RateLimit-Reset: 1613462447", "RateLimit-ResetTime: Tue, 16 Feb 2021 08:00:47 GMT"}, ResetEpoch, 46800 * ms, ResetEpoch, 46800 * ms, 0},
		{"GitLab, time alone", []string{"RateLimit-ResetTime: Tue, 16 Feb 2021 08:00:47 GMT"}, ResetDate, 46800 * ms, ResetDate, 46800 * ms, -1},
		{"draft 07", []string{"RateLimit: limit=100, remaining=50, reset=30", "RateLimit-Policy: 100;w=60"}, ResetSeconds, 30 * s, ResetSeconds, 30 * s, 50},
		{"draft of 2025", []string{`RateLimit: "default";r=50;t=30`, `RateLimit-Policy: "default";q=100;w=60;qu="requests";pk=:c2RmYXM=:`}, ResetSeconds, 30 * s, ResetSeconds, 30 * s, 50},
		{"express, draft 8", []string{`RateLimit: "100-in-1min"; r=50; t=30`}, ResetSeconds, 30 * s, ResetSeconds, 30 * s, 50},
		{"draft of 2025, merged lines, least left", []string{`RateLimit: "day";r=900;t=3600, "minute";r=50;t=30`}, ResetSeconds, 30 * s, ResetSeconds, 30 * s, 50},
		{"draft of 2025, two lines", []string{`RateLimit: "day";r=900;t=3600`, `RateLimit: "minute";r=50;t=30;new=1`}, ResetSeconds, 30 * s, ResetSeconds, 30 * s, 50},
		{"draft of 2025, quoted comma, no t", []string{`RateLimit: "a,b;t=9";r=0`}, NoHint, 0, NoHint, 0, 0},
		{"WHOOP", []string{"X-RateLimit-Limit: 100, 100;window=60, 10000;window=86400", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 3"}, ResetSeconds, 3 * s, ResetSeconds, 3 * s, 0},
		{"Kong, per window", []string{"X-RateLimit-Limit-Minute: 5", "X-RateLimit-Remaining-Minute: 0", "X-RateLimit-Limit-Hour: 100", "X-RateLimit-Remaining-Hour: 87", "RateLimit-Remaining: 0", "RateLimit-Reset: 12"}, ResetSeconds, 12 * s, ResetSeconds, 12 * s, 0},
		{"OpenAI, tokens spent", []string{"x-ratelimit-remaining-requests: 59", "x-ratelimit-reset-requests: 1s", "x-ratelimit-remaining-tokens: 0", "x-ratelimit-reset-tokens: 6m0s"}, ResetDuration, 360 * s, ResetDuration, 360 * s, 0},
		{"OpenAI, requests spent", []string{"x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 12ms", "x-ratelimit-remaining-tokens: 149984", "x-ratelimit-reset-tokens: 6m0s"}, ResetDuration, 12 * ms, ResetDuration, 12 * ms, 0},
		{"Azure OpenAI, junk", []string{"x-ratelimit-reset-requests: 0", "x-ratelimit-reset-tokens: -1"}, NoHint, 0, NoHint, 0, -1},
		{"Azure OpenAI", []string{"x-ratelimit-reset-requests: 10", "x-ratelimit-remaining-requests: 0"}, ResetSeconds, 10 * s, ResetSeconds, 10 * s, 0},
		{"Anthropic", []string{"anthropic-ratelimit-requests-remaining: 0", "anthropic-ratelimit-requests-reset: 2021-02-16T08:00:30Z", "anthropic-ratelimit-tokens-reset: 2021-02-16T08:10:00Z"}, ResetDate, 29800 * ms, ResetDate, 29800 * ms, 0},
		{"Anthropic, unified", []string{"anthropic-ratelimit-unified-reset: 1613466000"}, ResetEpoch, 3599800 * ms, ResetEpoch, 3599800 * ms, -1},
		{"Sentry", []string{"X-Sentry-Rate-Limits: 60:transaction, 2700:default;error;security"}, OtherSeconds, 60 * s, NoHint, 0, -1},
		{"RapidAPI", []string{"x-ratelimit-requests-remaining: 0", "x-ratelimit-requests-reset: 77"}, ResetSeconds, 77 * s, ResetSeconds, 77 * s, 0},
		{"ms epoch", []string{"X-RateLimit-Reset: 1613462460000"}, ResetEpochMillis, 59800 * ms, ResetEpochMillis, 59800 * ms, -1},
		{"a decimal of seconds", []string{"X-RateLimit-Reset: 44.5"}, ResetSeconds, 44500 * ms, ResetSeconds, 44500 * ms, -1},
		{"a duration", []string{"X-RateLimit-Reset: 1m30s"}, ResetDuration, 90 * s, ResetDuration, 90 * s, -1},
		{"a window of an hour, and more than a day", []string{"X-RateLimit-Limit-Hour: 5", "X-RateLimit-Reset: 1800000"}, ResetMillis, 1800 * s, ResetMillis, 1800 * s, -1},
		{"an epoch that has just passed", []string{"X-RateLimit-Reset: 1613462398"}, ResetEpoch, 0, ResetEpoch, 0, -1},
		{"an epoch of years ago", []string{"X-RateLimit-Reset: 1500000000"}, Malformed, 0, Malformed, 0, -1},
		{"less than nothing", []string{"X-RateLimit-Reset: -5"}, Malformed, 0, Malformed, 0, -1},
		{"words", []string{"X-RateLimit-Reset: soon"}, Malformed, 0, Malformed, 0, -1},
		{"hints that disagree", []string{"Retry-After: 2", "RateLimit-Reset: 33"}, RetryAfterSeconds, 2 * s, ResetSeconds, 33 * s, -1},
		{"both right (throttled)", []string{"Retry-After: 1", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 6"}, RetryAfterSeconds, 1 * s, ResetSeconds, 6 * s, 0},
		{"a window of minutes beside a short wait", []string{"Retry-After: 1", "X-RateLimit-Reset: 900"}, RetryAfterSeconds, 1 * s, ResetSeconds, 900 * s, -1},
		{"malformed beside a reset", []string{"Retry-After: soon", "X-RateLimit-Reset: 6"}, Malformed, 0, ResetSeconds, 6 * s, -1},
		{"a millisecond twin that cannot be read", []string{"Retry-After: 1", "retry-after-ms: x"}, RetryAfterSeconds, 1 * s, NoHint, 0, -1},
		{"nothing", []string{"Server: x", "X-Ratelimit: yes"}, NoHint, 0, NoHint, 0, -1},
	} {
		x := refusal(429)
		settle(NewAnswers(NewInterner(100, 10_000), &Health{}), &x, c.fields...)
		switch {
		case c.hint == NoHint && x.Hint != (Hint{State: Absent}):
			t.Errorf("%s: hint %+v, want none", c.vendor, x.Hint)
		case c.hint != NoHint && (x.Hint.State != Present || x.Hint.Kind != c.hint || x.Hint.Wait != c.wait):
			t.Errorf("%s: hint %v %v %v, want %v of %v", c.vendor, x.Hint.State, x.Hint.Kind, time.Duration(x.Hint.Wait), c.hint, time.Duration(c.wait))
		case c.hint != NoHint && x.Hint.Raw == 0:
			t.Errorf("%s: the hint as it was sent is lost", c.vendor)
		}
		if x.Limit.Form != c.form || x.Limit.Reset != c.reset || int64(x.Limit.Left)-1 != c.left {
			t.Errorf("%s: limit %v %v, %d left, want %v %v, %d", c.vendor, x.Limit.Form, time.Duration(x.Limit.Reset), int64(x.Limit.Left)-1, c.form, time.Duration(c.reset), c.left)
		}
	}
}

// TestHeadersOfSuccess checks that the state of a limit on an answer that is no
// refusal is no wait.
func TestHeadersOfSuccess(t *testing.T) {
	for _, status := range []uint16{200, 404, 500} {
		x := refusal(status)
		settle(NewAnswers(NewInterner(100, 1000), &Health{}), &x, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1613466000")
		if x.Hint.State != Absent || x.Limit.Form != ResetEpoch || !x.Limit.Exhausted() {
			t.Errorf("%d: %+v %+v", status, x.Hint, x.Limit)
		}
	}
	x := refusal(429)
	a := NewAnswers(NewInterner(100, 1000), &Health{})
	a.Begin()
	if a.Settle(&x, false); x.Hint.State != NotObservable {
		t.Errorf("of fields that were not all seen: %+v", x.Hint)
	}
}

// TestReasons follows detection by header: what refused, whatever the status.
func TestReasons(t *testing.T) {
	for _, c := range []struct {
		status uint16
		fields []string
		reason Reason
		advice Advice
	}{
		{429, nil, Throttle, NoAdvice},
		{503, nil, Overload, NoAdvice},
		{509, nil, Throttle, NoAdvice},
		{529, nil, Overload, NoAdvice},
		{402, nil, Quota, NoAdvice},
		{403, nil, Forbidden, NoAdvice},
		{403, []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1613466000"}, Throttle, NoAdvice}, // GitHub, primary
		{403, []string{"X-RateLimit-Remaining: 7", "X-RateLimit-Reset: 1613466000"}, Forbidden, NoAdvice},
		{403, []string{"Retry-After: 60"}, Throttle, NoAdvice}, // GitHub, secondary; fastify's ban
		{404, []string{"X-RateLimit-Remaining: 0"}, ClientError, NoAdvice},
		{400, []string{"x-amzn-ErrorType: ThrottlingException:http://internal.amazon.com/coral/com.amazon.coral.availability/"}, Throttle, NoAdvice},
		{400, []string{"x-amzn-ErrorType: ValidationException"}, ClientError, NoAdvice},
		{200, []string{"x-amzn-ErrorType: ThrottlingException"}, OK, NoAdvice},
		{503, []string{"x-envoy-ratelimited: true"}, Throttle, NoAdvice},
		{503, []string{"x-envoy-overloaded: true"}, Overload, NoAdvice},
		{503, []string{"finagle-http-nack: true"}, Overload, MayRetry},
		{503, []string{"finagle-http-nonretryable-nack: true"}, Overload, MustNotRetry},
		{400, []string{"x-should-retry: true"}, ClientError, MayRetry},
		{503, []string{"X-Should-Retry: false"}, Overload, MustNotRetry},
		{409, []string{"Stripe-Should-Retry: true"}, ClientError, MayRetry},
		{409, []string{"Stripe-Should-Retry: perhaps"}, ClientError, NoAdvice},
	} {
		x := refusal(c.status)
		settle(NewAnswers(NewInterner(100, 1000), &Health{}), &x, c.fields...)
		if x.Reason != c.reason || x.Advice != c.advice {
			t.Errorf("%d %v: %v %v, want %v %v", c.status, c.fields, x.Reason, x.Advice, c.reason, c.advice)
		}
	}
}

// TestFieldNames checks that each field is found by its name, in any case and as
// logs write it, and that no other name is taken for one.
func TestFieldNames(t *testing.T) {
	for i := 1; i < len(fieldRows); i++ {
		name := Field(i).Name()
		for _, n := range []string{name, strings.ToUpper(name), strings.ReplaceAll(name, "-", "_")} {
			if FieldOf([]byte(n)) != Field(i) {
				t.Errorf("%s is found as %s", n, FieldOf([]byte(n)).Name())
			}
		}
	}
	for _, n := range []string{"", "x", "-", "server", "content-type", "x-ratelimit-rese", "x-ratelimit-resets", "retry-afte\x00"} {
		if f := FieldOf([]byte(n)); f != 0 {
			t.Errorf("%q is taken for %s", n, f.Name())
		}
	}
}

// TestAnswersSteadyState checks that answers cost no allocation once their hosts
// and clients are known, new values of them included.
func TestAnswersSteadyState(t *testing.T) {
	a := NewAnswers(NewInterner(1<<16, 1<<20), &Health{})
	names := [][]byte{[]byte("X-RateLimit-Limit"), []byte("X-RateLimit-Remaining"), []byte("X-RateLimit-Reset"), []byte("Server"), []byte("RateLimit")}
	values := [][]byte{[]byte("100"), []byte("7"), []byte("60"), []byte("x"), []byte(`"a";r=7;t=60`)}
	at := int64(noon) * second
	run := func() {
		for client := range byte(20) {
			x := Exchange{Status: 200, Date: at / second, End: at, Host: 5}
			x.Src.IP[15] = client
			a.Begin()
			for i := range names {
				a.Tell(FieldOf(names[i]), values[i])
			}
			a.Settle(&x, true)
			at += second
		}
	}
	run()
	if n := testing.AllocsPerRun(50, run); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkAnswer(b *testing.B) {
	a := NewAnswers(NewInterner(1<<16, 1<<20), &Health{})
	names := [][]byte{[]byte("Content-Type"), []byte("X-RateLimit-Limit"), []byte("X-RateLimit-Remaining"), []byte("X-RateLimit-Reset"), []byte("Server")}
	values := [][]byte{[]byte("text/plain"), []byte("100"), []byte("7"), []byte("60"), []byte("x")}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		x := Exchange{Status: 200, Date: noon + int64(i), End: (noon + int64(i)) * second, Host: 5}
		a.Begin()
		for i := range names {
			a.Tell(FieldOf(names[i]), values[i])
		}
		a.Settle(&x, true)
	}
}
