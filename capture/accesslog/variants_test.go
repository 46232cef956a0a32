package accesslog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stormwatch/capture"
)

// What clients sent, in logs of which other versions write otherwise: by the
// documentation of each server.
type variant struct {
	name, text string
	rows       int
	client     string
	method     string
	host       string
	target     string
	status     uint16
	start, end int64 // ns after 08:11:06Z, of the last row
}

func checkVariants(t *testing.T, cases []variant) {
	t.Helper()
	for _, c := range cases {
		out := mustRead(t, c.text, Options{Until: time.Unix(utc0811, 0)})
		if len(out.rows) != c.rows {
			t.Errorf("%s: %d rows, %s; %+v", c.name, len(out.rows), Sniff([]byte(c.text), nil).describe(), out.health.Skipped)
			continue
		}
		x := out.rows[c.rows-1]
		got := variant{c.name, c.text, c.rows, x.Src.Addr().String(), x.method, x.host, x.target, x.Status, x.Start - utc0811*second, x.End - utc0811*second}
		if got != c {
			t.Errorf("%s: client %s, %s %s %s %d, %d to %d; want %s, %s %s %s %d, %d to %d", c.name,
				got.client, got.method, got.host, got.target, got.status, got.start, got.end, c.client, c.method, c.host, c.target, c.status, c.start, c.end)
		}
	}
}

// A duration is read in the unit of who wrote it.
func TestUnitsOfVersions(t *testing.T) {
	const w3c = "date time c-ip cs-method cs-uri-stem cs-uri-query sc-status time-taken cs-host\n2026-11-30 08:11:06 192.0.2.1 GET /a q=1 429 25.5 api.example\n"
	azure := func(instance, took string) string {
		return `{"time":"2026-11-30T08:11:06Z","category":"ApplicationGatewayAccessLog","properties":{"instanceId":"` + instance + `","clientIP":"192.0.2.1","httpMethod":"GET","requestUri":"/a","requestQuery":"q=1","httpStatus":429,"timeTaken":` + took + `,"host":"api.example"}}` + "\n"
	}
	want := variant{rows: 1, client: "192.0.2.1", method: "GET", host: "api.example", target: "/a?q=1", status: 429}
	var cases []variant
	for _, c := range []struct {
		name, text string
		took       time.Duration
	}{
		{"W3C, the standard's seconds", "#Version: 1.0\n#Date: 2026-11-30 08:00:00\n#Fields: " + w3c, 25500 * time.Millisecond},
		{"W3C, ASP.NET Core", "#Version: 1.0\n#Start-Date: 2026-11-30 08:00:00\n#Fields: " + w3c, 25500 * time.Microsecond},
		{"W3C, Oracle Web Cache", "#Version: 1.0\n#Software: Oracle9iAS Web Cache/2.0.0.2.0\n#Start-Date: 2026-11-30 08:00:00\n#Fields: " + w3c, 25500 * time.Millisecond},
		{"W3C, IIS", "#Software: Microsoft Internet Information Services 10.0\n#Version: 1.0\n#Date: 2026-11-30 08:00:00\n#Fields: " + strings.Replace(w3c, "25.5", "25", 1), 25 * time.Millisecond},
		{"Application Gateway v1", azure("ApplicationGatewayRole_IN_0", "205"), 205 * time.Millisecond},
		{"Application Gateway v2", azure("appgw_2", "0.205"), 205 * time.Millisecond},
		{"nginx's request_time", `{"time":"2026-11-30T08:11:06Z","remote_addr":"192.0.2.1","method":"GET","http_host":"api.example","uri":"/a?q=1","status":429,"request_time":0.205}` + "\n", 205 * time.Millisecond},
		{"request_time of who knows what", `{"time":"2026-11-30T08:11:06Z","remote_addr":"192.0.2.1","method":"GET","http_host":"api.example","uri":"/a?q=1","status":429,"request_time":205}` + "\n", 0},
	} {
		v := want
		v.name, v.text, v.start = c.name, c.text, -int64(c.took)
		cases = append(cases, v)
	}
	checkVariants(t, cases)
}

// A target in absolute form is a host and a path, wherever it stands.
func TestAbsoluteTargets(t *testing.T) {
	want := variant{rows: 1, client: "192.0.2.1", method: "GET", host: "api.example", target: "/a?q=1", status: 429}
	var cases []variant
	for name, text := range map[string]string{
		"varnishncsa": `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET http://api.example/a?q=1 HTTP/1.1" 429 25 "-" "x"`,
		"its port":    `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET https://api.example:443/a?q=1 HTTP/1.1" 429 25 "-" "x"`,
		"in JSON":     `{"time":"2026-11-30T08:11:06Z","remote_addr":"192.0.2.1","method":"GET","uri":"http://api.example/a?q=1","status":429}`,
		"in the line": `{"time":"2026-11-30T08:11:06Z","remote_addr":"192.0.2.1","request":"GET http://api.example/a?q=1 HTTP/1.1","status":429}`,
	} {
		v := want
		v.name, v.text = name, text+"\n"
		cases = append(cases, v)
	}
	checkVariants(t, cases)
}

// Of the lines that tell of one request, that of its end counts; a connection that
// was idle is no request.
func TestLinesBesideTheRequest(t *testing.T) {
	caddy := func(logger, msg string) string {
		return `{"level":"info","ts":1796026266.0,"logger":"` + logger + `","msg":"` + msg + `","request":{"remote_ip":"192.0.2.1","method":"GET","host":"api.example","uri":"/a","headers":{}},"duration":0.25,"status":502,"resp_headers":{}}` + "\n"
	}
	checkVariants(t, []variant{
		{
			"Caddy", caddy("http.handlers.reverse_proxy", "upstream roundtrip") + caddy("http.log.error.log0", "dial tcp 10.0.0.1:80: connect: connection refused") + caddy("http.log.access.log0", "handled request"),
			1, "192.0.2.1", "GET", "api.example", "/a", 502, -250e6, 0,
		},
		{
			"HTTP.sys", "#Software: Microsoft HTTP API 2.0\n#Version: 1.0\n#Date: 2026-11-30 08:11:00\n#Fields: date time c-ip c-port s-ip s-port cs-version cs-method cs-uri streamid sc-status s-siteid s-reason s-queuename\n" +
				"2026-11-30 08:11:05 192.0.2.9 5000 10.0.0.1 80 - - - - - - Timer_ConnectionIdle -\n2026-11-30 08:11:06 192.0.2.1 5000 10.0.0.1 80 HTTP/1.1 GET /a - 503 1 QueueFull pool\n",
			1, "192.0.2.1", "GET", "", "/a", 503, 0, 0,
		},
		{
			"an HTTP API's route", `{"requestId":"i","ip":"192.0.2.1","requestTime":"30/Nov/2026:08:11:06 +0000","routeKey":"GET /pets/{id}","status":"429","protocol":"HTTP/1.1"}` + "\n",
			1, "192.0.2.1", "GET", "", "/pets/{id}", 429, 0, 0,
		},
	})
}

// What applications put before the lines of their access log is taken off, and its
// time serves lines that have none.
func TestLinesOfApplications(t *testing.T) {
	const (
		common = `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET /a HTTP/1.1" 429 25`
		agents = common + ` "-" "x/1"`
		object = `{"remote_ip": "192.0.2.1", "method": "GET", "uri": "/a", "status": 429, "duration": "25ms"}`
	)
	want := variant{rows: 6, client: "192.0.2.1", method: "GET", target: "/a", status: 429}
	var cases []variant
	for _, c := range []struct {
		name, line string
		start, end time.Duration
	}{
		{"Reactor Netty", `2026-11-30 08:11:06.500  INFO 1 --- [or-http-epoll-1] reactor.netty.http.server.AccessLog      : ` + common, 0, 0},
		{"Spring Boot 3", `2026-11-30T08:11:06.500Z  INFO 1 --- [gw] [or-http-epoll-1] r.n.http.server.AccessLog : ` + common + ` 25`, 0, 0},
		{"WildFly", `2026-11-30 08:11:06,500 INFO  [io.undertow.accesslog] (default task-1) ` + agents, 0, 0},
		{"Hypercorn", `[2026-11-30 08:11:06 +0000] [8] [INFO] ` + agents, 0, 0},
		{"Python's logging", `INFO:werkzeug:192.0.2.1 - - [30/Nov/2026 08:11:06] "GET /a HTTP/1.1" 429 -`, 0, 0},
		{"the same, with a port", `INFO:access:192.0.2.1:4000 - - [30/Nov/2026 08:11:06] "GET /a HTTP/1.1" 429 -`, 0, 0},
		{"nginx to journald, twice named", `Nov 30 08:11:06 web1 nginx[77]: web1 nginx: ` + agents, 0, 0},
		{"syslog without a colon", `<190>2026-11-30T08:11:06Z web1 nginx ` + agents, 0, 0},
		{"docker service logs", `shop_web.1.n6a7b8c9d0e1@node-1    | ` + agents, 0, 0},
		{"uvicorn with a time", `2026-11-30 08:11:06,500 INFO:     192.0.2.1:4000 - "GET /a HTTP/1.1" 429 Too Many Requests`, 500 * time.Millisecond, 500 * time.Millisecond},
		{"uvicorn with more", `2026-11-30 08:11:06,500 - uvicorn.access - INFO - 192.0.2.1:4000 - "GET /a HTTP/1.1" 429`, 500 * time.Millisecond, 500 * time.Millisecond},
		{"Werkzeug in colour", "192.0.2.1 - - [30/Nov/2026 08:11:06] \"\x1b[31m\x1b[1mGET /a HTTP/1.1\x1b[0m\" 429 -", 0, 0},
		{"zap's console", "2026-11-30T08:11:06.500Z\tINFO\thttp/log.go:12\trequest\t" + object, 475 * time.Millisecond, 500 * time.Millisecond},
		{"fluentd's files", "2026-11-30T08:11:06+00:00\tnginx.access\t" + `{"remote":"192.0.2.1","host":"-","user":"-","method":"GET","path":"/a","code":"429","size":"25","referer":"-","agent":"x"}`, 0, 0},
		{"Python's logging of JSON", `INFO:access:  ` + `{"time": "2026-11-30T08:11:06.5Z", "remote_addr": "192.0.2.1", "method": "GET", "path": "/a", "status": 429}`, 500 * time.Millisecond, 500 * time.Millisecond},
		{"forwarded for, where the address is", `192.0.2.1, 10.0.0.2 - - [30/Nov/2026:08:11:06 +0000] "GET /a HTTP/1.1" 429 25 "-" "x"`, 0, 0},
	} {
		v := want
		v.name, v.text, v.start, v.end = c.name, strings.Repeat(c.line+"\n", v.rows), int64(c.start), int64(c.end)
		cases = append(cases, v)
	}
	checkVariants(t, cases)
	mixed := "192.0.2.1 - - [30/Nov/2026 08:11:06] \"\x1b[33mGET /a HTTP/1.1\x1b[0m\" 429 -\n192.0.2.1 - - [30/Nov/2026 08:11:06] \"GET /a HTTP/1.1\" 200 -\n"
	if out := mustRead(t, mixed, Options{}); len(out.rows) != 2 || out.rows[0].target != "/a" || out.rows[1].target != "/a" || out.health.SkippedTotal() != 0 {
		t.Errorf("some in colour: %+v, %+v", out.rows, out.health.Skipped)
	}
}

// Caddy's console encoder has the time before the object.
func TestCaddyConsole(t *testing.T) {
	const line = "2026/11/30 08:11:06.500\tINFO\thttp.log.access.log0\thandled request\t" +
		`{"request": {"remote_ip": "192.0.2.1", "method": "GET", "host": "api.example", "uri": "/a", "headers": {"User-Agent": ["x"]}}, "duration": 0.25, "status": 429, "resp_headers": {"Retry-After": ["3"]}}` + "\n"
	checkVariants(t, []variant{{"console", strings.Repeat(line, 3), 3, "192.0.2.1", "GET", "api.example", "/a", 429, 250e6, 500e6}})
	if x := mustRead(t, line, Options{}).rows[0]; x.Hint.Wait != 3*second {
		t.Errorf("hint %+v", x.Hint)
	}
}

// Keys are found however their writer spells them, and within the objects that loggers
// and collectors put them in; durations are in the unit of who is known to write them.
func TestKeysOfLoggers(t *testing.T) {
	const ms = time.Millisecond
	want := variant{rows: 2, client: "192.0.2.1", method: "GET", target: "/a", status: 429}
	var cases []variant
	for _, c := range []struct {
		name, line, host string
		start, end       time.Duration
	}{
		{"camel case", `{"timestamp":"2026-11-30T08:11:06.500Z","requestMethod":"GET","requestPath":"/a","responseCode":429,"durationMs":25,"clientIp":"192.0.2.1","userAgent":"x"}`, "", 475 * ms, 500 * ms},
		{"Envoy, keys of one's own", `{"startTime":"2026-11-30T08:11:06.475Z","requestMethod":"GET","requestPath":"/a","responseCode":429,"responseFlags":"RL","durationMs":25,"clientAddress":"192.0.2.1:50"}`, "", 475 * ms, 500 * ms},
		{"Contour", `{"@timestamp":"2026-11-30T08:11:06.475Z","authority":"api.example","bytes_received":0,"downstream_remote_address":"192.0.2.1:50","duration":25,"method":"GET","path":"/a","response_code":429,"response_flags":"-","upstream_host":"10.0.0.1:80","upstream_service_time":"24"}`, "api.example", 475 * ms, 500 * ms},
		{"Envoy through Filebeat", `{"@timestamp":"2026-11-30T08:11:09.000Z","start_time":"2026-11-30T08:11:06.475Z","duration":25,"method":"GET","path":"/a","response_code":429,"response_flags":"-","downstream_remote_address":"192.0.2.1:50"}`, "", 475 * ms, 500 * ms},
		{"Linkerd", `{"client.addr":"192.0.2.1:5000","client.id":"web.prod","host":"api.example","method":"GET","processing_ns":"34472","request_bytes":"","response_bytes":"12","status":429,"timestamp":"2026-11-30T08:11:06.475000000Z","total_ns":"25000000","trace_id":"","uri":"http://api.example/a","user_agent":"x","version":"HTTP/2.0"}`, "api.example", 475 * ms, 500 * ms},
		{"CloudFront in JSON", `{"date":"2026-11-30","time":"08:11:06","x-edge-location":"FRA2","c-ip":"192.0.2.1","cs-method":"GET","cs(Host)":"d1.cloudfront.net","cs-uri-stem":"/a","sc-status":"429","cs(User-Agent)":"x","cs-uri-query":"-","x-edge-result-type":"Error","time-taken":"0.025"}`, "d1.cloudfront.net", -25 * ms, 0},
		{"APISIX", `{"start_time":1796026266475,"latency":25,"upstream_latency":20,"apisix_latency":5,"client_ip":"192.0.2.1","request":{"method":"GET","uri":"/a","headers":{"host":"api.example"}},"response":{"status":429,"headers":{"retry-after":"3"}},"upstream":"10.0.0.1:80"}`, "api.example", 475 * ms, 500 * ms},
		{"pino-http", `{"level":30,"time":1796026266500,"req":{"id":1,"method":"GET","url":"/a","headers":{"host":"api.example"},"remoteAddress":"192.0.2.1","remotePort":7},"res":{"statusCode":429,"headers":{"retry-after":"3"}},"responseTime":25,"msg":"request errored"}`, "api.example", 475 * ms, 500 * ms},
		{"express-winston", `{"level":"info","message":"HTTP GET /a","meta":{"req":{"url":"/a","headers":{"host":"api.example"},"method":"GET","originalUrl":"/a"},"res":{"statusCode":429},"ip":"192.0.2.1","responseTime":25},"timestamp":"2026-11-30T08:11:06.500Z"}`, "api.example", 500 * ms, 500 * ms},
		{"Serilog, compact", `{"@t":"2026-11-30T08:11:06.5000000Z","@mt":"HTTP {RequestMethod} {RequestPath} responded {StatusCode} in {Elapsed:0.0000} ms","@r":["25.0000"],"RequestMethod":"GET","RequestPath":"/a","StatusCode":429,"Elapsed":25.0,"ClientIp":"192.0.2.1"}`, "", 475 * ms, 500 * ms},
		{"Serilog", `{"Timestamp":"2026-11-30T08:11:06.5000000+00:00","Level":"Information","Properties":{"RequestMethod":"GET","RequestPath":"/a","StatusCode":429,"Elapsed":25.0,"ClientIp":"192.0.2.1"}}`, "", 475 * ms, 500 * ms},
		{"ASP.NET's console", `{"Timestamp":"2026-11-30T08:11:06.500Z","EventId":2,"Category":"Microsoft.AspNetCore.Hosting.Diagnostics","Message":"Request finished HTTP/1.1 GET /a","State":{"ElapsedMilliseconds":25.0,"StatusCode":429,"Method":"GET","Host":"api.example","Path":"/a","RemoteIp":"192.0.2.1"}}`, "api.example", 475 * ms, 500 * ms},
		{"Logback", `{"@timestamp":"2026-11-30T08:11:06.500Z","@version":"1","method":"GET","status_code":429,"requested_url":"GET /a HTTP/1.1","requested_uri":"/a","remote_host":"192.0.2.1","elapsed_time":25}`, "", 475 * ms, 500 * ms},
		{"Echo", `{"time":"2026-11-30T08:11:06.5Z","id":"","remote_ip":"192.0.2.1","host":"api.example","method":"GET","uri":"/a","status":429,"error":"","latency":25000000,"latency_human":"25ms"}`, "api.example", 475 * ms, 500 * ms},
		{"slog-http", `{"time":"2026-11-30T08:11:06.500Z","level":"WARN","msg":"429","request":{"time":"2026-11-30T08:11:06.475Z","method":"GET","host":"api.example","path":"/a","query":"","params":{},"route":"","ip":"192.0.2.1:5000","length":0},"response":{"time":"2026-11-30T08:11:06.500Z","latency":25000000,"status":429,"length":12},"id":"r"}`, "api.example", 475 * ms, 500 * ms},
		{"OpenTelemetry", `{"timestamp":"2026-11-30T08:11:06.500Z","attributes":{"http.request.method":"GET","url.path":"/a","http.response.status_code":429,"client.address":"192.0.2.1","server.address":"api.example"}}`, "api.example", 500 * ms, 500 * ms},
		{"Google's containers", `{"insertId":"x","jsonPayload":{"method":"GET","path":"/a","status":429,"duration_ms":25,"client_ip":"192.0.2.1"},"resource":{"type":"k8s_container"},"timestamp":"2026-11-30T08:11:06.500Z"}`, "", 475 * ms, 500 * ms},
		{"Elasticsearch", `{"_index":"x","_source":{"@timestamp":"2026-11-30T08:11:06.500Z","http":{"request":{"method":"GET"},"response":{"status_code":429}},"url":{"path":"/a"},"source":{"ip":"192.0.2.1"}}}`, "", 500 * ms, 500 * ms},
		{"Datadog", `{"id":"x","attributes":{"status":"info","timestamp":"2026-11-30T08:11:06.500Z","attributes":{"http":{"method":"GET","status_code":429,"url":"/a"},"network":{"client":{"ip":"192.0.2.1"}}}}}`, "", 500 * ms, 500 * ms},
		{"Fluent Bit, merged", `{"date":1796026266.5,"stream":"stdout","log_processed":{"status":429,"method":"GET","uri":"/a","remote_addr":"192.0.2.1"},"kubernetes":{"pod_name":"p","host":"node1"}}`, "", 500 * ms, 500 * ms},
		{"Fastly", `{"timestamp":"2026-11-30T08:11:06+0000","client_ip":"192.0.2.1","host":"api.example","url":"/a","request_method":"GET","request_user_agent":"x","response_state":"ERROR","response_status":429,"fastly_server":"cache-fra","fastly_is_edge":true,"time_elapsed":25000}`, "api.example", 0, 25 * ms},
	} {
		v := want
		v.name, v.text, v.host, v.start, v.end = c.name, strings.Repeat(c.line+"\n", v.rows), c.host, int64(c.start), int64(c.end)
		cases = append(cases, v)
	}
	checkVariants(t, cases)
	for name, line := range map[string]string{"pino-http": cases[7].text, "APISIX": cases[6].text} {
		if x := mustRead(t, line, Options{}).rows[0]; x.Hint.Wait != 3*second {
			t.Errorf("%s: hint %+v", name, x.Hint)
		}
	}
	if x := mustRead(t, `{"timestamp":"2026-11-30T08:11:06.500Z","attributes":{"http.request.method":"GET","url.path":"/a","http.response.status_code":200,"http.request.resend_count":2}}`+"\n", Options{}).rows[0]; x.Attempt.N != 3 {
		t.Errorf("sent anew twice: %+v", x.Attempt)
	}
}

// What a limiter refused stands in both logs of a server; where they are in one stream it
// counts once, and other errors are no lines that cannot be read.
func TestErrorLogBesideTheAccessLog(t *testing.T) {
	access := func(i, status int) string {
		return fmt.Sprintf(`192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET /%d HTTP/1.1" %d 25 "-" "x"`+"\n", i, status)
	}
	const limited = `2026/11/30 08:11:06 [error] 29#29: *7 limiting requests, excess: 0.500 by zone "api", client: 192.0.2.1, server: _, request: "GET /1 HTTP/1.1", host: "a"` + "\n"
	const refused = `2026/11/30 08:11:06 [error] 29#29: *8 connect() failed (111: Connection refused) while connecting to upstream, client: 192.0.2.1, server: _, request: "GET /2 HTTP/1.1", upstream: "http://10.0.0.1:80/2", host: "a"` + "\n"
	const apache = `[Mon Nov 30 08:11:06.123456 2026] [proxy:error] [pid 9:tid 8] [client 192.0.2.1:40] AH01114: HTTP: failed to make connection to backend: 10.0.0.1` + "\n"
	for name, c := range map[string]struct {
		text string
		rows int
	}{
		"few errors":       {strings.Repeat(access(0, 200)+access(1, 503)+limited, 40), 80},
		"mostly errors":    {strings.Repeat(access(2, 502)+refused+refused+limited, 40), 40},
		"the errors first": {strings.Repeat(limited, 250) + strings.Repeat(access(1, 503), 40), 290},
		"Apache's":         {strings.Repeat(access(2, 502)+apache, 40), 40},
		"ingress-nginx's":  {strings.Repeat(access(2, 502)+`I1130 08:11:06.123456       7 controller.go:168] "Configuration changes detected, backend reload required"`+"\n", 40), 40},
		"Envoy's":          {strings.Repeat(`[2026-11-30T08:11:06.250Z] "GET /a HTTP/2" 200 - 0 12 25 24 "203.0.113.9" "x" "id" "a" "10.0.0.1:80"`+"\n[2026-11-30 08:11:06.123][1][info][upstream] [source/common/upstream/cluster_manager_impl.cc:200] cm init: all clusters initialized\n", 40), 40},
		"HAProxy's":        {strings.Repeat("192.0.2.1:50 [30/Nov/2026:08:11:06.250] fe be/s1 0/0/1/24/25 503 12 - - ---- 1/1/0/0/0 0/0 \"GET /a HTTP/1.1\"\nServer be/s1 is DOWN, reason: Layer4 timeout, check duration: 2001ms. 1 active and 0 backup servers left.\n192.0.2.1:51 [30/Nov/2026:08:11:06.250] fe/1: SSL handshake failure\nbackend be has no server available!\n", 40), 40},
		"alone":            {strings.Repeat(limited+refused, 40), 40},
	} {
		out := mustRead(t, c.text, Options{})
		if len(out.rows) != c.rows || out.health.Unreadable() != 0 {
			t.Errorf("%s: %d rows, want %d; %+v", name, len(out.rows), c.rows, out.health.Skipped)
		}
	}
}

// More formats of programs that are widely used.
func TestMoreFormats(t *testing.T) {
	const ms = time.Millisecond
	want := variant{rows: 2, client: "192.0.2.1", method: "GET", target: "/a?q=1", status: 429}
	var cases []variant
	for _, c := range []struct {
		name, line, host string
		start, end       time.Duration
	}{
		{"APISIX", `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] api.example:9080 "GET /a?q=1 HTTP/1.1" 429 25 0.025 "-" "x/1" 10.0.0.1:80, 10.0.0.2:80 502, 429 0.001, 0.002 "http://api.example:9080"`, "", -25 * ms, 0},
		{"APISIX, no server", `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] api.example "GET /a?q=1 HTTP/1.1" 429 25 0.000 "-" "x/1" - - - "http://api.example"`, "api.example", 0, 0},
		{"Gin", `[GIN] 2026/11/30 - 08:11:06 | 429 |   25.5ms |       192.0.2.1 | GET      "/a?q=1"`, "", -25500 * time.Microsecond, 0},
		{"Gin, in colour", "[GIN] 2026/11/30 - 08:11:06 |\x1b[90;43m 429 \x1b[0m|      25ms |       192.0.2.1 |\x1b[97;44m GET     \x1b[0m \"/a?q=1\"", "", -25 * ms, 0},
		{"chi", `2026/11/30 08:11:06 [box/Rq7-000001] "GET http://api.example/a?q=1 HTTP/1.1" from 192.0.2.1:5000 - 429 12B in 25ms`, "api.example", -25 * ms, 0},
		{"LTSV", "time:30/Nov/2026:08:11:06 +0000\thost:192.0.2.1\tforwardedfor:203.0.113.9\treq:GET /a?q=1 HTTP/1.1\tstatus:429\tsize:512\treferer:-\tua:curl/8.5\treqtime:0.025\tapptime:0.024\tvhost:api.example", "api.example", -25 * ms, 0},
		{"LTSV, Apache", "host:192.0.2.1\tident:-\tuser:-\ttime:[30/Nov/2026:08:11:06 +0000]\tmethod:GET\turi:/a?q=1\tprotocol:HTTP/1.1\tstatus:429\tsize:512\treqtime_microsec:25000", "", -25 * ms, 0},
		{"API Gateway, CLF", `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000]"GET /a?q=1 HTTP/1.1" 429 12 c6af9ac6-7b61`, "", 0, 0},
		{"API Gateway, CSV", `192.0.2.1,-,-,30/Nov/2026:08:11:06 +0000,GET,/a?q=1,HTTP/1.1,429,12,c6af9ac6-7b61`, "", 0, 0},
		{"CloudFront, real time", "1796026266.500\t192.0.2.1\t0.002\t429\t512\tGET\thttps\td1.cloudfront.net\t/a?q=1\t57\tFRA2-C1\treq==\tapi.example\t0.025\tHTTP/2.0\tIPv4\tcurl/8.5\t-\t-\tq=1\tError\t-\tTLSv1.3\tX\tMiss\t-\t-\ttext/html\t512\t-\t-\t5000\tMiss\tDE\tgzip\t*/*\t*\thost:x\thost\t5", "api.example", 475 * ms, 500 * ms},
	} {
		v := want
		if c.name == "APISIX" {
			c.host = "api.example:9080"
		}
		v.name, v.text, v.host, v.start, v.end = c.name, strings.Repeat(c.line+"\n", v.rows), c.host, int64(c.start), int64(c.end)
		cases = append(cases, v)
	}
	checkVariants(t, cases)
	if out := mustRead(t, cases[0].text, Options{}); len(out.rows[0].tries) != 2 || out.rows[0].tries[0].Status != 502 || out.health.Retries != 2 {
		t.Errorf("APISIX: tries %+v, %d retries", out.rows[0].tries, out.health.Retries)
	}
}

// What is no unit makes no duration, and what is a status or a path is one in whatever
// form it comes.
func TestOddValues(t *testing.T) {
	const ms = time.Millisecond
	want := variant{rows: 2, client: "192.0.2.1", method: "GET", target: "/a", status: 429}
	var cases []variant
	for _, c := range []struct {
		name, line string
		start, end time.Duration
	}{
		{"µs, escaped", `{"ts":1796026266.5,"method":"GET","path":"/a","status":429,"ip":"192.0.2.1","elapsed":"25.5\u00b5s"}`, 500*ms - 25500, 500 * ms},
		{"µs, as it is", `{"ts":1796026266.5,"method":"GET","path":"/a","status":429,"ip":"192.0.2.1","elapsed":"25.5µs"}`, 500*ms - 25500, 500 * ms},
		{"a unit of no time", `{"ts":1796026266.5,"method":"GET","path":"/a","status":429,"ip":"192.0.2.1","duration":"25x500"}`, 500 * ms, 500 * ms},
		{"a status with its name", `{"ts":1796026266.5,"method":"GET","path":"/a","status":"429 Too Many Requests","ip":"192.0.2.1"}`, 500 * ms, 500 * ms},
		{"a status made a fraction", `{"ts":1796026266.5,"method":"GET","path":"/a","status":429.0,"ip":"192.0.2.1"}`, 500 * ms, 500 * ms},
		{"a path called request", `{"time":"[30/Nov/2026:08:11:06 +0000]","remoteIP":"192.0.2.1","request":"/a","method":"GET","status":"429"}`, 0, 0},
		{"Python's time", `{"asctime":"2026-11-30 08:11:06,500","levelname":"INFO","method":"GET","path":"/a","status":429,"remote_addr":"192.0.2.1"}`, 500 * ms, 500 * ms},
		{"Log4j", `{"instant":{"epochSecond":1796026266,"nanoOfSecond":500000000},"level":"INFO","contextMap":{"method":"GET","uri":"/a","status":"429","clientIp":"192.0.2.1"}}`, 500 * ms, 500 * ms},
		{"Log4j, old", `{"timeMillis":1796026266500,"level":"INFO","contextMap":{"method":"GET","uri":"/a","status":"429","clientIp":"192.0.2.1"}}`, 500 * ms, 500 * ms},
		{"Grafana", `logger=context uname=a t=2026-11-30T08:11:06.500Z level=info msg="Request Completed" method=GET path=/a status=429 remote_addr=192.0.2.1 time_ms=25 duration=25ms`, 475 * ms, 500 * ms},
		{"two durations and more", `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET /a HTTP/1.1" 429 512 "-" "curl/8.5" 0.025 0.024 . -`, 0, 0},
		{"actix", `[2026-11-30T08:11:06Z INFO  actix_web::middleware::logger] 192.0.2.1 "GET /a HTTP/1.1" 429 12 "-" "curl/8.5" 0.025000`, 0, 0},
		{"a time in brackets", `[2026-11-30T08:11:06.500+00:00] 192.0.2.1 "GET /a HTTP/1.1" 429 512 0.025 "curl/8.5"`, 500 * ms, 500 * ms},
	} {
		v := want
		v.name, v.text, v.start, v.end = c.name, strings.Repeat(c.line+"\n", v.rows), int64(c.start), int64(c.end)
		cases = append(cases, v)
	}
	const w3c = "#Software: SGOS 6.7\n#Version: 1.0\n#Start-Date: 2026-11-30 08:00:00\n#Fields: date time time-taken c-ip sc-status cs-method cs-uri-scheme cs-host cs-uri-path cs-uri-query\n2026-11-30 08:11:06 25 192.0.2.1 429 GET http api.example /a ?q=1\n"
	cases = append(cases, variant{"a proxy's columns", w3c, 1, "192.0.2.1", "GET", "api.example", "/a?q=1", 429, -25e6, 0})
	checkVariants(t, cases)
	const armor = `{"httpRequest":{"latency":"0.025s","remoteIp":"192.0.2.1","requestMethod":"GET","requestUrl":"https://a/b","status":429},"jsonPayload":{"statusDetails":"denied_by_security_policy"},"timestamp":"2026-11-30T08:11:06.250Z"}`
	if x := mustRead(t, armor+"\n", Options{}).rows[0]; x.Reason != capture.Throttle || x.Origin != capture.OriginHop {
		t.Errorf("Cloud Armor: %v by %v", x.Reason, x.Origin)
	}
}

// Of two fields for one thing in a line's pairs, the one that is not empty counts.
func TestPairsThatAreEmpty(t *testing.T) {
	const head = `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "POST /a HTTP/1.1" 429 25 "-" "x" rt=0.250 msec=1796026266.500 `
	for _, tail := range []string{`idem="-" inv="i1"`, `idem="i1" inv="-"`, `idem="i1" inv="i2"`} {
		out := mustRead(t, head+tail+"\n", Options{})
		if len(out.rows) != 1 || out.rows[0].IdemKey != capture.HashID([]byte("i1")) {
			t.Errorf("%s: %+v", tail, out.rows)
		}
	}
}

// nginx's error.log ends in the host, or in the page that a request came from.
func TestHostBeforeReferrer(t *testing.T) {
	for _, kind := range []string{"limiting requests, excess: 0.500 by zone \"api\"", "limiting connections by zone \"api\""} {
		for _, tail := range []string{`host: "api.example"`, `host: "api.example", referrer: "https://a/?x=\"y"`, `upstream: "http://10.0.0.1/a", host: "api.example", referrer: "https://a/"`} {
			out := mustRead(t, `2026/11/30 08:11:06 [error] 29#29: *7 `+kind+`, client: 192.0.2.1, server: _, request: "GET /a HTTP/1.1", `+tail+"\n", Options{})
			if len(out.rows) != 1 || out.rows[0].host != "api.example" || out.rows[0].target != "/a" {
				t.Errorf("%s: %+v", tail, out.rows)
			}
		}
	}
}

// A gRPC call fails with an HTTP status of 200; logs that have its own status are judged
// by that.
func TestRPCStatus(t *testing.T) {
	const envoy = `envoy:[%START_TIME%] "%REQ(:METHOD)% %REQ(:PATH)% %PROTOCOL%" %RESPONSE_CODE% %GRPC_STATUS% %DURATION% "%DOWNSTREAM_REMOTE_ADDRESS%"`
	const nginx = `nginx:$remote_addr [$time_local] "$request" $status grpc="$sent_http_grpc_status" $request_time`
	line := func(path, status string) string {
		return `[2026-11-30T08:11:06.250Z] "POST ` + path + ` HTTP/2" 200 ` + status + ` 250 "192.0.2.1:40"`
	}
	zap := func(code string) string {
		return `{"level":"info","ts":1796026266.5,"msg":"finished unary call","grpc.start_time":"2026-11-30T08:11:06Z","system":"grpc","grpc.service":"shop.S","grpc.method":"Get","peer.address":"192.0.2.1:40","grpc.code":"` + code + `","grpc.time_ms":250}`
	}
	for name, c := range map[string]struct {
		format, line string
		code         int
		reason       capture.Reason
	}{
		"Envoy, by name":          {envoy, line("/shop.S/Get", "ResourceExhausted"), 8, capture.Throttle},
		"Envoy, by another name":  {envoy, line("/shop.S/Get", "UNAVAILABLE"), 14, capture.Overload},
		"Envoy, a number":         {envoy, line("/shop.S/Get", "4"), 4, capture.ServerError},
		"Envoy, no call":          {envoy, line("/index", "-"), -1, capture.OK},
		"Envoy, an old one's":     {envoy, line("/index/a", "Unknown"), -1, capture.OK},
		"Envoy, unknown":          {envoy, line("/shop.S/Get", "Unknown"), 2, capture.ServerError},
		"Envoy, answered":         {envoy, line("/shop.S/Get", "OK"), 0, capture.OK},
		"nginx":                   {nginx, `192.0.2.1 [30/Nov/2026:08:11:06 +0000] "POST /shop.S/Get HTTP/2.0" 200 grpc="14" 0.250`, 14, capture.Overload},
		"Go's middleware":         {"", zap("Unavailable"), 14, capture.Overload},
		"Go's middleware, spelt":  {"", zap("Canceled"), 1, capture.ReasonOf(499)},
		"Go's middleware, logfmt": {"", `time=2026-11-30T08:11:06.500Z level=INFO msg="finished call" protocol=grpc grpc.component=server grpc.service=shop.S grpc.method=Get peer.address=192.0.2.1:40 grpc.start_time=2026-11-30T08:11:06Z grpc.code=ResourceExhausted grpc.time_ms=250`, 8, capture.Throttle},
	} {
		var opt Options
		if c.format != "" {
			f, err := ParseFormat(c.format)
			if err != nil {
				t.Fatal(err)
			}
			opt.Format = f
		}
		out := mustRead(t, c.line+"\n", opt)
		if len(out.rows) != 1 {
			t.Errorf("%s: %+v", name, out.health.Skipped)
			continue
		}
		x := out.rows[0]
		code, ok := x.RPC.Code()
		if !ok {
			code = -1
		}
		if code != c.code || x.Reason != c.reason || x.Status != 200 || x.method != "POST" || x.Src.Addr().String() != "192.0.2.1" || x.End-x.Start != 250e6 {
			t.Errorf("%s: code %d, %v, %d %s %s %s, %d", name, code, x.Reason, x.Status, x.method, x.target, x.Src, x.End-x.Start)
		}
		if code > 0 && x.target != "/shop.S/Get" {
			t.Errorf("%s: %q", name, x.target)
		}
	}
	started := strings.Replace(zap("OK"), `,"grpc.code":"OK","grpc.time_ms":250`, "", 1)
	if out := mustRead(t, started+"\n"+zap("OK")+"\n", Options{}); len(out.rows) != 1 || out.health.Unreadable() != 0 {
		t.Errorf("a call's start is no call: %d rows, %+v", len(out.rows), out.health.Skipped)
	}
}
