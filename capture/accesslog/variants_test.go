package accesslog

import (
	"strings"
	"testing"
	"time"
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
