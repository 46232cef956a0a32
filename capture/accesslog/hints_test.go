package accesslog

import (
	"fmt"
	"strings"
	"testing"

	"stormwatch/capture"
)

// said gives what a row says of waits and limits.
func said(x *row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %v", x.Reason, x.Hint.State)
	if x.Hint.State == capture.Present {
		fmt.Fprintf(&b, " %v %.3f", x.Hint.Kind, float64(x.Hint.Wait)/1e9)
	}
	if x.Limit.Form != capture.NoHint {
		fmt.Fprintf(&b, " reset %v %.3f", x.Limit.Form, float64(x.Limit.Reset)/1e9)
	}
	if x.Limit.Left != 0 {
		fmt.Fprintf(&b, " left %d", x.Limit.Left-1)
	}
	if x.Advice != capture.NoAdvice {
		fmt.Fprintf(&b, " advice %d", x.Advice)
	}
	if x.Deadline != 0 {
		fmt.Fprintf(&b, " within %.3f", float64(x.Deadline-x.Start)/1e9)
	}
	return b.String()
}

// TestLoggedHeaders has the headers of the table in the formats that can log
// them. The end of each request is 1796026266.5.
func TestLoggedHeaders(t *testing.T) {
	const nginx = `nginx:$msec $remote_addr "$request" $status `
	line := func(rest string) string { return `1796026266.500 192.0.2.1 "GET /a HTTP/1.1" ` + rest + "\n" }
	for _, c := range []struct{ name, format, line, want string }{
		{"nginx, sent", nginx + `ra="$sent_http_retry_after" left="$sent_http_x_ratelimit_remaining" reset="$sent_http_x_ratelimit_reset"`, line(`429 ra="-" left="0" reset="1796026300"`), "throttle present reset-epoch 33.500 reset reset-epoch 33.500 left 0"},
		{"nginx, both", nginx + `ra="$sent_http_retry_after" reset="$sent_http_ratelimit_reset"`, line(`429 ra="2" reset="33"`), "throttle present retry-after-seconds 2.000 reset reset-seconds 33.000"},
		{"nginx, upstream", nginx + `left="$upstream_http_ratelimit"`, line(`429 left="\x22day\x22;r=0;t=30"`), "throttle present reset-seconds 30.000 reset reset-seconds 30.000 left 0"},
		{"nginx, a success", nginx + `ra="$sent_http_retry_after" left="$sent_http_x_ratelimit_remaining" reset="$sent_http_x_ratelimit_reset"`, line(`200 ra="-" left="4" reset="60"`), "ok absent reset reset-seconds 60.000 left 4"},
		{"nginx, no Retry-After logged", nginx + `left="$sent_http_x_ratelimit_remaining" reset="$sent_http_x_ratelimit_reset"`, line(`429 left="-" reset="-"`), "throttle not-observable"},
		{"nginx, what is left alone", nginx + `left="$sent_http_x_ratelimit_remaining"`, line(`429 left="0"`), "throttle not-observable left 0"},
		{"nginx, GitHub's 403", nginx + `left="$upstream_http_x_ratelimit_remaining" reset="$upstream_http_x_ratelimit_reset"`, line(`403 left="0" reset="1796026300"`), "throttle present reset-epoch 33.500 reset reset-epoch 33.500 left 0"},
		{"nginx, AWS's 400", nginx + `type="$upstream_http_x_amzn_errortype"`, line(`400 type="ThrottlingException:http://x"`), "throttle not-observable"},
		{"nginx, advice", nginx + `again="$sent_http_x_should_retry"`, line(`500 again="false"`), "server-error not-observable advice 2"},
		{"nginx, another wait", nginx + `in="$sent_http_x_retry_in"`, line(`429 in="1.5s"`), "throttle present other-duration 1.500"},
		{"nginx, deadline", nginx + `timeout="$http_grpc_timeout"`, line(`200 timeout="250m"`), "ok not-observable within 0.250"},
		{"nginx, ttl", nginx + `amz="$http_amz_sdk_request"`, line(`200 amz="ttl=20261130T081110Z; attempt=1"`), "ok not-observable within 3.500"},
		{"Apache", `apache:%h %l %u %t "%r" %>s %{X-RateLimit-Reset}o %{X-RateLimit-Remaining}o %{Retry-After}o`, `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET /a HTTP/1.1" 429 58 0 -` + "\n", "throttle present reset-seconds 58.000 reset reset-seconds 58.000 left 0"},
		{"Envoy", `envoy:[%START_TIME%] "%REQ(:METHOD)% %REQ(:PATH)% %PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% %DURATION% "%RESP(X-ENVOY-RATELIMITED)%" "%RESP(RateLimit-Reset)%" "%RESP(RETRY-AFTER)%"`, `[2026-11-30T08:11:06.500Z] "GET /a HTTP/1.1" 503 - 3 "true" "12" "-"` + "\n", "throttle present reset-seconds 12.000 reset reset-seconds 12.000"},
		{"HAProxy, samples", `haproxy:%ci:%cp [%tr] %ft %b/%s %ST "%HM %HU" %[res.hdr(x-ratelimit-remaining)] %[res.hdr(X-RateLimit-Reset)] %[var(txn.retry_after)]`, `192.0.2.1:5 [30/Nov/2026:08:11:06.500] f b/s 429 "GET /a" 0 7 3` + "\n", "throttle present retry-after-seconds 3.000 reset reset-seconds 7.000 left 0"},
		{"a pattern", `<time> <ip> "<request>" <status> <ratelimit_reset> <x_ratelimit_remaining>`, `1796026266.500 192.0.2.1 "GET /a HTTP/1.1" 429 9 0` + "\n", "throttle present reset-seconds 9.000 reset reset-seconds 9.000 left 0"},
	} {
		out := readAs(t, c.format, c.line)
		if len(out.rows) != 1 {
			t.Errorf("%s: %+v", c.name, out.health.Skipped)
			continue
		}
		if got := said(&out.rows[0]); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// TestLoggedKeys has them under keys of JSON and of pairs.
func TestLoggedKeys(t *testing.T) {
	const head = `{"time":"2026-11-30T08:11:06.5Z","client_ip":"192.0.2.1","method":"GET","path":"/a",`
	for _, c := range []struct{ name, line, want string }{
		{"bare keys", head + `"status":429,"retry_after":"2","ratelimit_reset":33,"x_ratelimit_remaining":0}`, "throttle present retry-after-seconds 2.000 reset reset-seconds 33.000 left 0"},
		{"reset alone", head + `"status":429,"x_ratelimit_reset":"1796026300"}`, "throttle present reset-epoch 33.500 reset reset-epoch 33.500"},
		{"nginx's names", head + `"status":429,"sent_http_x_rate_limit_reset":"33","upstream_http_x_rate_limit_remaining":"1"}`, "throttle present reset-seconds 33.000 reset reset-seconds 33.000 left 1"},
		{"nested", head + `"status":403,"response":{"headers":{"X-RateLimit-Remaining":"0","X-RateLimit-Reset":["1796026300"]}}}`, "throttle present reset-epoch 33.500 reset reset-epoch 33.500 left 0"},
		{"OpenTelemetry", head + `"status":429,"http.response.header.x-ratelimit-reset":"5","http.request.header.grpc-timeout":"2S"}`, "throttle present reset-seconds 5.000 reset reset-seconds 5.000 within 2.000"},
		{"escaped", head + `"status":429,"ratelimit":"\"a\";r=0;t=4"}`, "throttle present reset-seconds 4.000 reset reset-seconds 4.000 left 0"},
		{"null and empty", head + `"status":429,"x_ratelimit_reset":null,"ratelimit_reset":""}`, "throttle not-observable"},
		{"a success", head + `"status":200,"x_ratelimit_reset":"5","x_ratelimit_remaining":"0"}`, "ok not-observable reset reset-seconds 5.000 left 0"},
		{"Caddy", `{"level":"info","ts":1796026266.5,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"192.0.2.1","method":"GET","uri":"/a","host":"a","headers":{"Idempotency-Key":["k"]}},"duration":0.01,"status":429,"resp_headers":{"X-Ratelimit-Reset":["58"],"Server":["Caddy"]}}`, "throttle present reset-seconds 58.000 reset reset-seconds 58.000"},
		{"Traefik", `{"ClientAddr":"192.0.2.1:5","DownstreamStatus":429,"Duration":1000000,"RequestMethod":"GET","RequestPath":"/a","StartUTC":"2026-11-30T08:11:06.5Z","downstream_X-Retry-In":"1.5s","downstream_Retry-After":"2"}`, "throttle present retry-after-seconds 2.000"},
		{"Kong", `{"latencies":{"request":5,"proxy":1},"started_at":1796026266500,"client_ip":"192.0.2.1","request":{"method":"GET","uri":"/a"},"response":{"status":429,"headers":{"x-ratelimit-remaining-minute":"0","x-ratelimit-limit-minute":"5","ratelimit-reset":"12"}}}`, "throttle present reset-seconds 12.000 reset reset-seconds 12.000 left 0"},
		{"pairs", `time=2026-11-30T08:11:06.5Z client_ip=192.0.2.1 method=GET path=/a status=429 ratelimit_reset=33 x_ratelimit_remaining=0`, "throttle present reset-seconds 33.000 reset reset-seconds 33.000 left 0"},
	} {
		out := mustRead(t, c.line+"\n"+c.line+"\n", Options{})
		if len(out.rows) != 2 {
			t.Errorf("%s: %d rows, %+v", c.name, len(out.rows), out.health.Skipped)
			continue
		}
		for i := range out.rows {
			if got := said(&out.rows[i]); got != c.want {
				t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
			}
		}
	}
}

// TestLoggedW3C: IIS and others log headers as sc(Name).
func TestLoggedW3C(t *testing.T) {
	out := mustRead(t, "#Fields: date time c-ip cs-method cs-uri-stem sc-status sc(X-RateLimit-Reset) sc(X-RateLimit-Remaining)\n2026-11-30 08:11:06 192.0.2.1 GET /a 429 33 0\n2026-11-30 08:11:07 192.0.2.1 GET /a 200 - -\n", Options{})
	if len(out.rows) != 2 || said(&out.rows[0]) != "throttle present reset-seconds 33.000 reset reset-seconds 33.000 left 0" || said(&out.rows[1]) != "ok not-observable" {
		t.Errorf("%+v", out)
	}
}

// More headers in a line than are read are left out and counted.
func TestManyLoggedHeaders(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"time":"2026-11-30T08:11:06Z","client_ip":"192.0.2.1","method":"GET","path":"/a","status":429`)
	for i := range 40 {
		fmt.Fprintf(&b, `,"ratelimit_remaining":"%d"`, 100-i)
	}
	b.WriteString("}\n")
	out := mustRead(t, b.String(), Options{})
	if len(out.rows) != 1 || out.rows[0].Limit.Left != 100-maxAnswers+2 || len(out.health.Bounds) != 1 {
		t.Errorf("%+v %+v", out.rows, out.health.Bounds)
	}
}
