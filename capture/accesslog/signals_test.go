package accesslog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stormwatch/capture"
)

const triesFormat = `nginx:$msec $remote_addr "$request" $status us="$upstream_status" ua="$upstream_addr" urt="$upstream_response_time" lrs=$limit_req_status lcs=$limit_conn_status ra="$sent_http_retry_after"`

func triesLine(status int, us, ua, urt, lrs string) string {
	return fmt.Sprintf(`1796026266.500 192.0.2.1 "GET /a HTTP/1.1" %d us="%s" ua="%s" urt="%s" lrs=%s lcs=- ra="-"`+"\n", status, us, ua, urt, lrs)
}

// nginx lists tries with ", ", and begins anew after an internal redirect with
// " : " (ngx_http_upstream_module, $upstream_addr).
func TestTriesOfNginx(t *testing.T) {
	for _, c := range []struct {
		us, ua, urt string
		status      int
		want        string
		retries     uint64
		origin      capture.Origin
	}{
		{"502, 200", "10.0.0.1:80, 10.0.0.2:80", "0.001, 0.250", 200, "10.0.0.1:80 502 1ms, 10.0.0.2:80 200 250ms", 1, capture.OriginUpstream},
		{"504, -", "10.0.0.1:80, 10.0.0.2:80", "1.001, 0.504", 499, "10.0.0.1:80 504 1.001s, 10.0.0.2:80 0 504ms", 1, capture.OriginUnknown},
		{"502, 502, 429", "a:1, b:1, c:1", "0.000, -, 0.002", 429, "a:1 502 0s, b:1 502 -1ns, c:1 429 2ms", 2, capture.OriginUpstream},
		{"404 : 200", "10.0.0.1:80 : unix:/run/b", "0.001 : 0.002", 200, "10.0.0.1:80 404 1ms, new unix:/run/b 200 2ms", 0, capture.OriginUpstream},
		{"502, 404 : 502, 200", "a:1, b:1 : c:1, d:1", "0.1, 0.2 : 0.3, 0.4", 200, "a:1 502 100ms, b:1 404 200ms, new c:1 502 300ms, d:1 200 400ms", 2, capture.OriginUpstream},
		{"429", "10.0.0.1:80", "0.001", 429, "10.0.0.1:80 429 1ms", 0, capture.OriginUpstream},
		{"-", "-", "-", 503, "", 0, capture.OriginHop},
		{"503", "a:1", "0.001", 429, "a:1 503 1ms", 0, capture.OriginHop},
		{"502", "backend", "-", 502, "backend 502 -1ns", 0, capture.OriginUnknown},
	} {
		out := readAs(t, triesFormat, triesLine(c.status, c.us, c.ua, c.urt, "-"))
		if len(out.rows) != 1 {
			t.Fatalf("%s: %+v", c.us, out.health.Skipped)
		}
		x := out.rows[0]
		var got []string
		for i, y := range x.tries {
			s := fmt.Sprintf("%s %d %v", y.server, y.Status, time.Duration(y.Took))
			if i > 0 && y.Fresh {
				s = "new " + s
			}
			got = append(got, s)
		}
		if strings.Join(got, ", ") != c.want || int(x.Tries) != len(got) || out.health.Retries != c.retries || x.Origin != c.origin {
			t.Errorf("%s: %q, %d tries, %d retries, made by %v", c.us, got, x.Tries, out.health.Retries, x.Origin)
		}
	}
}

// The lists stand in their batch, whatever came before.
func TestTriesStandInTheirBatch(t *testing.T) {
	var text strings.Builder
	for i := range 2000 {
		if i%3 == 0 {
			text.WriteString(triesLine(200, "200", "a:1", "0.1", "-"))
		} else {
			text.WriteString(triesLine(200, "502, 200", fmt.Sprintf("a:%d, b:%d", i%50, i%50), "0.1, 0.2", "-"))
		}
	}
	out := readAs(t, triesFormat, text.String())
	for i, x := range out.rows {
		if i%3 != 0 && (len(x.tries) != 2 || x.tries[0].server != fmt.Sprintf("a:%d", i%50) || x.tries[1].Status != 200) {
			t.Fatalf("row %d: %+v", i, x.tries)
		}
	}
	if out.health.Retries != 1333 {
		t.Errorf("%d retries, want 1333", out.health.Retries)
	}
}

func TestEndlessListOfTries(t *testing.T) {
	out := readAs(t, triesFormat, triesLine(200, strings.Repeat("502, ", 5000)+"200", "-", "-", "-"))
	if len(out.rows) != 1 || len(out.rows[0].tries) != maxTries {
		t.Errorf("%+v", out.health)
	}
}

// What a limiter refused is a throttle, whatever the status; what it delayed or
// would have refused in a dry run is not.
func TestLimiter(t *testing.T) {
	for _, c := range []struct {
		status int
		lrs    string
		us     string
		reason capture.Reason
		origin capture.Origin
	}{
		{503, "REJECTED", "-", capture.Throttle, capture.OriginHop},
		{429, "REJECTED", "-", capture.Throttle, capture.OriginHop},
		{503, "PASSED", "503", capture.Overload, capture.OriginUpstream},
		{429, "PASSED", "429", capture.Throttle, capture.OriginUpstream},
		{200, "DELAYED", "200", capture.OK, capture.OriginUpstream},
		{503, "REJECTED_DRY_RUN", "503", capture.Overload, capture.OriginUpstream},
		{200, "REJECTED", "-", capture.OK, capture.OriginHop}, // error_page turned it into an answer
	} {
		out := readAs(t, triesFormat, triesLine(c.status, c.us, "-", "-", c.lrs))
		if x := out.rows[0]; x.Reason != c.reason || x.Origin != c.origin || int(x.Status) != c.status {
			t.Errorf("%d %s: %v by %v", c.status, c.lrs, x.Reason, x.Origin)
		}
	}
	both := strings.Replace(triesLine(503, "-", "-", "-", "REJECTED"), "lcs=-", "lcs=PASSED", 1)
	if x := readAs(t, triesFormat, both).rows[0]; x.Reason != capture.Throttle {
		t.Errorf("of two limiters one refused: %v", x.Reason)
	}
}

// Waits in logs are read as those in captures are.
func TestHints(t *testing.T) {
	const end = 1796026266 // 08:11:06
	for _, value := range []string{"2", "0", "-", "", "Mon, 30 Nov 2026 08:11:36 GMT", "Mon, 30 Nov 2026 08:11:00 GMT", "Monday, 30-Nov-26 08:11:36 GMT", "soon", "1.5", "99999999999", "Mon, 31 Nov 2026 08:11:36 GMT", "Mon, 30 Nov 2099 08:11:36 GMT"} {
		line := fmt.Sprintf(`1796026266.500 192.0.2.1 "GET /a HTTP/1.1" 429 us="-" ua="-" urt="-" lrs=- lcs=- ra="%s"`+"\n", value)
		out := readAs(t, triesFormat, line)
		want := capture.Hint{State: capture.Absent}
		if value != "-" && value != "" {
			want = capture.ParseRetryAfter([]byte(value), 0, end)
		}
		got := out.rows[0].Hint
		got.Raw = 0
		if got != want {
			t.Errorf("%q: %+v, want %+v", value, got, want)
		}
		if !out.health.SeesHints {
			t.Errorf("%q: a format with Retry-After shows waits", value)
		}
	}
	out := readAs(t, `nginx:$msec $status ra="$sent_http_retry_after" ms="$sent_http_retry_after_ms" date="$sent_http_date"`,
		`1796026266.500 429 ra="5" ms="1500" date="-"`+"\n"+`1796026266.500 429 ra="Mon, 30 Nov 2026 09:00:10 GMT" ms="x" date="Mon, 30 Nov 2026 09:00:00 GMT"`+"\n"+`1796026266.500 499 ra="-" ms="-" date="-"`+"\n")
	if h := out.rows[0].Hint; h.Kind != capture.RetryAfterMillis || h.Wait != 1500e6 {
		t.Errorf("the finer unit prevails: %+v", h)
	}
	if h := out.rows[1].Hint; h.Kind != capture.RetryAfterDate || h.Wait != 10*second || out.rows[1].Date != at(t, "2026-11-30T09:00:00")/second {
		t.Errorf("a date is judged by the server's own clock: %+v", h)
	}
	if h := out.rows[2].Hint; h.State != capture.NotObservable {
		t.Errorf("who left saw no header: %+v", h)
	}
}

// Every header that numbers attempts is read where a format logs it, each from its
// own base, and configuration is not.
func TestEveryCounterOfALog(t *testing.T) {
	for _, c := range []struct {
		header, values string
		kind           capture.Counter
	}{
		{"x_envoy_attempt_count", "1 2 3", capture.EnvoyAttempts},
		{"x_stainless_retry_count", "0 1 2", capture.StainlessRetries},
		{"retry_attempt", "- 1 2", capture.FromAbsent},
		{"x_retry_count", "- 1 2", capture.FromAbsent},
		{"x_slack_retry_num", "- 1 2", capture.FromAbsent},
		{"x_cloudtasks_taskretrycount", "0 1 2", capture.FromZero},
		{"upstash_retried", "0 1 2", capture.FromZero},
		{"x_hookdeck_attempt_count", "1 2 3", capture.FromOne},
		{"x_attempt_number", "1 2 3", capture.FromOne},
		{"x_envoy_max_retries", "1 2 3", capture.NoCounter},
		{"x_portkey_retry_count", "1 2 3", capture.NoCounter},
		{"upstash_retries", "1 2 3", capture.NoCounter},
	} {
		v := strings.Fields(c.values)
		apache := "apache:%{msec}t %>s n=\"%{" + strings.ReplaceAll(c.header, "_", "-") + "}i\""
		for format, clock := range map[string]string{`nginx:$msec $status n="$http_` + c.header + `"`: "1796026266.500", apache: "1796026266500"} {
			lines := ""
			for _, n := range v {
				lines += clock + " 503 n=\"" + n + "\"\n"
			}
			out := readAs(t, format, lines)
			for i := range out.rows {
				want := capture.Attempt{N: uint16(i + 1), Counter: c.kind}
				if v[i] == "-" || c.kind == capture.NoCounter {
					want = capture.Attempt{}
				}
				if got := out.rows[i].Attempt; got != want {
					t.Errorf("%s: %q is %+v, want %+v", format, v[i], got, want)
				}
			}
			if len(out.rows) != len(v) {
				t.Errorf("%s: %d lines read", format, len(out.rows))
			}
		}
	}
	out := readAs(t, `nginx:$msec $status a="$http_x_stainless_retry_count" b="$http_x_envoy_attempt_count"`, `1796026266.500 503 a="1" b="3"`+"\n")
	if x := out.rows[0]; x.Attempt.N != 2 || x.Inner != (capture.Attempt{N: 3, Counter: capture.EnvoyAttempts}) {
		t.Errorf("two counters: %+v and %+v", x.Attempt, x.Inner)
	}
}

// Attempt headers and ids that a format logs are kept, ids as numbers.
func TestAttemptSignals(t *testing.T) {
	const format = `nginx:$msec $status $request_id idem="$http_idempotency_key" amz="$http_amz_sdk_request" sl="$http_x_stainless_retry_count" ea="$http_x_envoy_attempt_count" inv="$http_amz_sdk_invocation_id" k="$http_x_api_key"`
	out := readAs(t, format, `1796026266.500 503 r1 idem="i1" amz="-" sl="-" ea="3" inv="-" k="-"
1796026266.600 200 r2 idem="i1" amz="ttl=1; attempt=2; max=3" sl="-" ea="1" inv="-" k="s3cret"
1796026266.700 200 r2 idem="-" amz="-" sl="1" ea="-" inv="v" k="s3cret"
1796026266.800 200 - idem="-" amz="-" sl="x" ea="-" inv="-" k="other"
`)
	if len(out.rows) != 4 {
		t.Fatalf("%+v", out.health)
	}
	a, b, c, d := out.rows[0], out.rows[1], out.rows[2], out.rows[3]
	if a.IdemKey == 0 || a.IdemKey != b.IdemKey || c.IdemKey == 0 || c.IdemKey == a.IdemKey || d.IdemKey != 0 {
		t.Errorf("idempotency keys %d %d %d %d", a.IdemKey, b.IdemKey, c.IdemKey, d.IdemKey)
	}
	if a.RequestID == 0 || a.RequestID == b.RequestID || b.RequestID != c.RequestID || d.RequestID != 0 || a.RequestID != capture.HashID([]byte("r1")) {
		t.Errorf("request ids %d %d %d %d", a.RequestID, b.RequestID, c.RequestID, d.RequestID)
	}
	want := []capture.Attempt{{N: 3, Counter: capture.EnvoyAttempts}, {N: 2, Counter: capture.AmzAttempt}, {N: 2, Counter: capture.StainlessRetries}, {}}
	for i, x := range out.rows {
		if x.Attempt != want[i] {
			t.Errorf("row %d: attempt %+v, want %+v", i, x.Attempt, want[i])
		}
	}
	if a.Credential != 0 || b.Credential == 0 || b.Credential != c.Credential || d.Credential == b.Credential {
		t.Errorf("keys %d %d %d %d", a.Credential, b.Credential, c.Credential, d.Credential)
	}
}

// Two sidecars log one call; ids are handed on to other calls, and clients retry
// with the same id.
func TestSidecars(t *testing.T) {
	line := func(side, id, path string, code int) string {
		return fmt.Sprintf(`{"start_time":"2026-11-30T08:11:06.250Z","duration":15,"response_code":%d,"response_flags":"-","method":"GET","path":"%s","authority":"r:9080","request_id":"%s","upstream_cluster":"%s|80||x","downstream_remote_address":"10.0.0.6:5000"}`+"\n", code, path, id, side)
	}
	out := mustRead(t, line("outbound", "1", "/a", 200)+line("inbound", "1", "/a", 200)+ // one call
		line("inbound", "2", "/a", 503)+line("outbound", "2", "/a", 503)+ // another
		line("outbound", "2", "/b", 200)+ // caused by it
		line("outbound", "3", "/c", 503)+line("outbound", "3", "/c", 503)+line("inbound", "3", "/c", 503)+line("inbound", "3", "/c", 503), Options{})
	if len(out.rows) != 5 || out.health.Skipped[0].Count != 4 || !out.health.Skipped[0].Sound || out.health.Unreadable() != 0 {
		t.Errorf("%d rows, %+v", len(out.rows), out.health)
	}
}
