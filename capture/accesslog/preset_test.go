package accesslog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stormwatch/capture"
)

// at gives nanoseconds of a moment in UTC.
func at(t *testing.T, text string) int64 {
	t.Helper()
	m, err := time.Parse("2006-01-02T15:04:05.999999999", text)
	if err != nil {
		t.Fatal(err)
	}
	return m.UnixNano()
}

// presetCase is a line of a known kind, and what stands in it by the server's
// documentation.
type presetCase struct {
	format     string
	line       string
	start, end string
	src        string
	method     string
	host       string
	target     string
	agent      string
	forwarded  string
	status     uint16
	outcome    capture.Outcome
	reason     capture.Reason
	origin     capture.Origin
	tries      string // server status took, after | where it is fresh but not the first
	count      int    // tries counted and not listed
	hint       string
	user       bool
	id         bool
}

var presetCases = []presetCase{
	{
		format: "combined", line: `192.0.2.1 - bob [30/Nov/2026:13:41:06 +0530] "GET /a HTTP/1.1" 200 25 "-" "x/1" "198.51.100.7, 10.0.0.1" 0.250 1796026266.500`,
		start: "2026-11-30T08:11:06.25", end: "2026-11-30T08:11:06.5", src: "192.0.2.1", method: "GET", target: "/a", agent: "x/1", forwarded: "198.51.100.7, 10.0.0.1", status: 200, reason: capture.OK, user: true,
	},
	{
		format: "common", line: `192.0.2.1 - - [30/Nov/2026:13:41:06 +0530] "GET /a HTTP/1.1" 429 25`,
		start: "2026-11-30T08:11:06", end: "2026-11-30T08:11:06", src: "192.0.2.1", method: "GET", target: "/a", status: 429, reason: capture.Throttle,
	},
	{
		format: "combined-more", line: `192.0.2.1 - - [30/Nov/2026:13:41:06 +0530] "GET /a HTTP/1.1" 304 - 3551 "-" "Mozilla/5.0"`,
		start: "2026-11-30T08:11:06", end: "2026-11-30T08:11:06", src: "192.0.2.1", method: "GET", target: "/a", agent: "Mozilla/5.0", status: 304, reason: capture.OK,
	},
	{
		format: "vhost-combined", line: `api.example:80 2001:db8::1 - - [30/Nov/2026:13:41:06 +0530] "GET /a HTTP/1.1" 503 25 "-" "x"`,
		start: "2026-11-30T08:11:06", end: "2026-11-30T08:11:06", src: "2001:db8::1", method: "GET", host: "api.example", target: "/a", agent: "x", status: 503, reason: capture.Overload,
	},
	{
		format: "lighttpd", line: `192.0.2.1 api.example - [30/Nov/2026:13:41:06 +0530] "GET /a HTTP/1.1" 200 25 "-" "x"`,
		start: "2026-11-30T08:11:06", end: "2026-11-30T08:11:06", src: "192.0.2.1", method: "GET", host: "api.example", target: "/a", agent: "x", status: 200, reason: capture.OK,
	},
	{
		format: "ingress-nginx", line: `2001:db8::1 - - [30/Nov/2026:08:11:06 +0000] "GET /a HTTP/2.0" 502 552 "https://l/" "x" 27 0.250 [ns-svc-80] [] [2001:db8::7]:5000, [2001:db8::8]:5000 0, 0 0.200, 0.050 502, 502 3db73c`,
		start: "2026-11-30T08:11:05.75", end: "2026-11-30T08:11:06", src: "2001:db8::1", method: "GET", target: "/a", agent: "x", status: 502, reason: capture.ServerError, id: true,
		tries: "[2001:db8::7]:5000 502 200ms; [2001:db8::8]:5000 502 50ms",
	},
	{
		format: "ingress-nginx", line: `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET /a HTTP/2.0" 429 0 "-" "x" 27 0.000 [ns-svc-80] [] - - - - 3db73c`,
		start: "2026-11-30T08:11:06", end: "2026-11-30T08:11:06", src: "192.0.2.1", method: "GET", target: "/a", agent: "x", status: 429, reason: capture.Throttle, origin: capture.OriginHop, id: true,
	},
	{
		format: "envoy", line: `[2026-11-30T08:11:06.250Z] "GET /a HTTP/1.1" 503 UO 0 81 13 - "198.51.100.7,10.0.0.1" "x" "f666" "api:80" "-"`,
		start: "2026-11-30T08:11:06.25", end: "2026-11-30T08:11:06.263", src: "198.51.100.7", method: "GET", host: "api", target: "/a", agent: "x", forwarded: "198.51.100.7,10.0.0.1", status: 503, reason: capture.Overload, origin: capture.OriginHop, id: true,
	},
	{
		format: "istio", line: `[2026-11-30T08:11:06.250Z] "HEAD / HTTP/1.1" 429 RL local_rate_limited - "-" 0 0 0 - "192.0.2.1" "curl/8" "467a" "api.local" "-" inbound|80|| - 10.0.0.1:80 192.0.2.1:4000 outbound_.80_._... default`,
		start: "2026-11-30T08:11:06.25", end: "2026-11-30T08:11:06.25", src: "192.0.2.1:4000", method: "HEAD", host: "api.local", target: "/", agent: "curl/8", forwarded: "192.0.2.1", status: 429, reason: capture.Throttle, origin: capture.OriginHop, id: true,
	},
	{
		format: "istio", line: `[2026-11-30T08:11:06.250Z] "GET / HTTP/1.1" 429 - via_upstream - "-" 0 0 5 - "-" "curl/8" "467a" "api.local" "10.0.0.9:80" outbound|80|| - 10.0.0.1:80 192.0.2.1:4000 - default`,
		start: "2026-11-30T08:11:06.25", end: "2026-11-30T08:11:06.255", src: "192.0.2.1:4000", method: "GET", host: "api.local", target: "/", agent: "curl/8", status: 429, reason: capture.Throttle, origin: capture.OriginUpstream, id: true,
	},
	{ // the layout before 1.9: two quoted fields after the flags
		format: "istio", line: `[2026-11-30T08:11:06.250Z] "GET /index HTTP/1.1" 503 URX "-" "-" 0 81 13 13 "-" "p" "f666" "svc" "172.17.0.15:5000" outbound|80||svc - 10.0.0.1:80 192.0.2.1:4000 - default`,
		start: "2026-11-30T08:11:06.25", end: "2026-11-30T08:11:06.263", src: "192.0.2.1:4000", method: "GET", host: "svc", target: "/index", agent: "p", status: 503, reason: capture.Overload, origin: capture.OriginUpstream, id: true,
	},
	{
		format: "haproxy", line: `127.0.0.1:32932 [30/Nov/2026:08:11:11.394] fe be/b 0/3006/0/-1/4011 504 198 - - sH-- 2/2/0/0/+3 0/0 {k|} {} "GET /slow?ms=1 HTTP/1.1"`,
		start: "2026-11-30T08:11:11.394", end: "2026-11-30T08:11:15.405", src: "127.0.0.1:32932", method: "GET", target: "/slow?ms=1", status: 504, reason: capture.ServerError, origin: capture.OriginHop, count: 4,
	},
	{
		format: "haproxy", line: `127.0.0.1:42666 [30/Nov/2026:08:11:11.394] fe fe/<NOSRV> 0/-1/-1/-1/0 429 225 - - PR-- 1/1/0/0/0 0/0 "GET /l HTTP/1.1"`,
		start: "2026-11-30T08:11:11.394", end: "2026-11-30T08:11:11.394", src: "127.0.0.1:42666", method: "GET", target: "/l", status: 429, reason: capture.Throttle, origin: capture.OriginHop, count: 1,
	},
	{ // httpslog goes on, and syslog may cut a long line within the request
		format: "haproxy", line: `192.0.2.1:42 [30/Nov/2026:08:11:11.394] fe~ be/a 0/0/0/1/1 200 7 - - ---- 1/1/0/0/0 0/0 "GET /cut`,
		start: "2026-11-30T08:11:11.394", end: "2026-11-30T08:11:11.395", src: "192.0.2.1:42", method: "GET", target: "/cut", status: 200, reason: capture.OK, origin: capture.OriginUpstream, count: 1,
	},
	{
		format: "haproxy", line: `192.0.2.1:42 [30/Nov/2026:08:11:11.394] fe~ be/a 0/0/0/-1/5000 -1 0 - - CH-- 1/1/0/0/0 0/0 "GET /left HTTP/1.1" 0/0000000000000000/0/0/0 api.example/TLSv1.3/X`,
		start: "2026-11-30T08:11:11.394", end: "2026-11-30T08:11:16.394", src: "192.0.2.1:42", method: "GET", target: "/left", outcome: capture.NoAnswer, count: 1,
	},
	{
		format: "haproxy-clf", line: `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET /a HTTP/1.1" 200 207 "" "" 42334 250 "fe" "be" "a" 0 0 0 1 7 "----" 1 1 0 0 2 0 0 "" "" "{a}" ""`,
		start: "2026-11-30T08:11:06.25", end: "2026-11-30T08:11:06.257", src: "192.0.2.1:42334", method: "GET", target: "/a", status: 200, reason: capture.OK, origin: capture.OriginUpstream, count: 3,
	},
	{
		format: "traefik", line: `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET /en/ HTTP/2.0" 200 2814 - "Mozilla/5.0 (x)" 13 "r" "http://172.19.0.6:14008" 247ms`,
		start: "2026-11-30T08:11:06", end: "2026-11-30T08:11:06.247", src: "192.0.2.1", method: "GET", target: "/en/", agent: "Mozilla/5.0 (x)", status: 200, reason: capture.OK,
	},
	{
		format: "kong", line: `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET /a HTTP/1.1" 200 25 "-" "x" kong_request_id: "abc"`,
		start: "2026-11-30T08:11:06", end: "2026-11-30T08:11:06", src: "192.0.2.1", method: "GET", target: "/a", agent: "x", status: 200, reason: capture.OK, id: true,
	},
	{
		format: "alb", line: `https 2026-11-30T08:11:06.186641Z app/a/b 192.0.2.1:44740 10.0.0.1:80 0.086 0.048 0.037 503 503 0 57 "GET https://www.example.com:443/r?x=1 HTTP/1.1" "curl/7" E TLSv1.2 arn:x "Root=1-5" "www.example.com" "arn:y" 1 2026-11-30T08:11:06.015000Z "forward" "-" "-" "10.0.0.1:80" "503" "-" "-"`,
		start: "2026-11-30T08:11:06.015641", end: "2026-11-30T08:11:06.186641", src: "192.0.2.1:44740", method: "GET", host: "www.example.com", target: "/r?x=1", agent: "curl/7", status: 503, reason: capture.Overload, origin: capture.OriginUpstream, tries: "10.0.0.1:80 503 -1ns", id: true,
	},
	{ // no target: the balancer's own answer; the times are unknown, the start is not
		format: "alb", line: `http 2026-11-30T08:11:06.500000Z app/a/b 192.0.2.1:44740 - -1 -1 -1 503 - 0 57 "GET http://e:80/ HTTP/1.1" "-" - - arn:x "Root=1-5" "-" "-" 1 2026-11-30T08:11:06.250000Z "forward" "-" "-" "-" "-" "-" "-"`,
		start: "2026-11-30T08:11:06.25", end: "2026-11-30T08:11:06.5", src: "192.0.2.1:44740", method: "GET", host: "e", target: "/", status: 503, reason: capture.Overload, origin: capture.OriginHop, id: true,
	},
	{ // 460: the client left
		format: "alb", line: `h2 2026-11-30T08:11:06.500000Z app/a/b 192.0.2.1:44740 10.0.0.1:80 0.001 -1 -1 460 - 0 0 "GET https://e:443/ HTTP/2.0" "x" - - arn:x "Root=1-5" "e" "-" 1 2026-11-30T08:11:06.250000Z "forward" "-" "-" "10.0.0.1:80" "-" "-" "-"`,
		start: "2026-11-30T08:11:06.499", end: "2026-11-30T08:11:06.5", src: "192.0.2.1:44740", method: "GET", host: "e", target: "/", agent: "x", outcome: capture.NoAnswer, tries: "10.0.0.1:80 0 -1ns", id: true,
	},
	{
		format: "elb", line: `2026-11-30T08:11:06.500000Z my-lb 192.0.2.1:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://www.example.com:80/ HTTP/1.1" "curl/7.38.0" - -`,
		start: "2026-11-30T08:11:06.5", end: "2026-11-30T08:11:06.501178", src: "192.0.2.1:2817", method: "GET", host: "www.example.com", target: "/", agent: "curl/7.38.0", status: 200, reason: capture.OK, origin: capture.OriginUpstream, tries: "10.0.0.1:80 200 -1ns",
	},
	{
		format: "s3", line: `79a5 bucket1 [30/Nov/2026:08:11:06 +0000] 192.0.2.3 79a5 3E57427F3EXAMPLE REST.GET.OBJECT s3/x "GET /bucket1/x HTTP/1.1" 503 SlowDown - 2 70 10 "-" "S3Console/0.4" - a SigV4 E H b.s3.amazonaws.com TLSv1.2`,
		start: "2026-11-30T08:11:06", end: "2026-11-30T08:11:06.07", src: "192.0.2.3", method: "GET", host: "bucket1", target: "/bucket1/x", agent: "S3Console/0.4", status: 503, reason: capture.Overload, user: true, id: true,
	},
	{
		format: "squid", line: `1796026266.834      3 127.0.0.1 TCP_MISS/429 414 GET http://api.example:18092/v1/items? - HIER_DIRECT/127.0.0.1 text/plain`,
		start: "2026-11-30T08:11:06.831", end: "2026-11-30T08:11:06.834", src: "127.0.0.1", method: "GET", host: "api.example:18092", target: "/v1/items?", status: 429, reason: capture.Throttle,
	},
	{
		format: "uwsgi", line: `[pid: 88185|app: 0|req: 1/1] 127.0.0.1 () {38 vars in 696 bytes} [Mon Nov 30 08:11:06 2026] POST /u => generated 47 bytes in 129 msecs (HTTP/1.1 200) 9 headers in 378 bytes (1 switches on core 3)`,
		start: "2026-11-30T08:11:06", end: "2026-11-30T08:11:06.129", src: "127.0.0.1", method: "POST", target: "/u", status: 200, reason: capture.OK,
	},
	{
		format: "nginx-error", line: `2026/11/30 08:11:06 [error] 4065#4065: *42952950 limiting requests, excess: 5.428 by zone "z", client: ::1, server: , request: "GET /a HTTP/1.1", host: "la03.d.sb"`,
		start: "2026-11-30T08:11:06", end: "2026-11-30T08:11:06", src: "::1", method: "GET", host: "la03.d.sb", target: "/a", reason: capture.Throttle, origin: capture.OriginHop,
	},
	{
		format: "nginx-proxy-manager", line: `[30/Nov/2026:08:11:06 +0000] - 404 404 - GET http e.local "/x" [Client 192.0.2.4] [Length 192] [Gzip 3.10] [Sent-to up] "M" "-"`,
		start: "2026-11-30T08:11:06", end: "2026-11-30T08:11:06", src: "192.0.2.4", method: "GET", host: "e.local", target: "/x", agent: "M", status: 404, reason: capture.ClientError, origin: capture.OriginUpstream, tries: " 404 -1ns",
	},
	{
		format: "zoraxy", line: `2026/11/30 09:11:06 [2026-11-30 08:11:06.150624] [router:host-http] [origin:test.com] [client: 192.168.1.1] [useragent: M [x] y] POST /xmlrpc.php 404`,
		start: "2026-11-30T08:11:06.150624", end: "2026-11-30T08:11:06.150624", src: "192.168.1.1", method: "POST", host: "test.com", target: "/xmlrpc.php", agent: "M [x] y", status: 404, reason: capture.ClientError,
	},
	{
		format: "clf-like", line: `192.0.2.10 a b [2026-11-30T08:11:06.969716 +0000] "GET /v1 HTTP/1.1" 429 anything`,
		start: "2026-11-30T08:11:06.969716", end: "2026-11-30T08:11:06.969716", src: "192.0.2.10", method: "GET", target: "/v1", status: 429, reason: capture.Throttle,
	},
	{
		format: "traefik-json", line: `{"ClientAddr":"192.0.2.1:39490","ClientHost":"192.0.2.1","ClientUsername":"-","DownstreamStatus":503,"Duration":215563,"OriginStatus":503,"RequestHost":"t.local","RequestMethod":"GET","RequestPath":"/a?b","RetryAttempts":2,"ServiceAddr":"10.0.0.1:80","StartUTC":"2026-11-30T08:11:06.000000250Z","request_User-Agent":"x","downstream_Retry-After":"3","time":"2026-11-30T08:11:07Z"}`,
		start: "2026-11-30T08:11:06.00000025", end: "2026-11-30T08:11:06.000215813", src: "192.0.2.1:39490", method: "GET", host: "t.local", target: "/a?b", agent: "x", status: 503, reason: capture.Overload, origin: capture.OriginUpstream, count: 3, hint: "3s",
	},
	{
		format: "caddy-json", line: `{"level":"error","ts":1796026266.5,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":"127.0.0.1","remote_port":"48066","client_ip":"192.0.2.9","method":"GET","host":"api.example","uri":"/v1","headers":{"X-Forwarded-For":["192.0.2.10"],"X-Api-Key":["k"],"User-Agent":["p/2"]}},"user_id":"","duration":0.25,"size":25,"status":429,"resp_headers":{"Retry-After":["2"]}}`,
		start: "2026-11-30T08:11:06.25", end: "2026-11-30T08:11:06.5", src: "192.0.2.9:48066", method: "GET", host: "api.example", target: "/v1", agent: "p/2", forwarded: "192.0.2.10", status: 429, reason: capture.Throttle, hint: "2s", user: true,
	},
	{
		format: "caddy-json", line: `{"level":"info","ts":"2026-11-30T08:11:06.500Z","logger":"http.log.access","msg":"handled request","request":{"remote_addr":"127.0.0.1:9","method":"GET","host":"a","uri":"/","headers":{}},"duration":"250ms","status":0,"resp_headers":{}}`,
		start: "2026-11-30T08:11:06.25", end: "2026-11-30T08:11:06.5", src: "127.0.0.1:9", method: "GET", host: "a", target: "/", outcome: capture.NoAnswer,
	},
	{
		format: "envoy-json", line: `{"start_time":"2026-11-30T08:11:06.250Z","duration":15,"response_code":"429","response_flags":"RL","response_code_details":"request_rate_limited","method":"GET","path":"/r","authority":"r:9080","user_agent":"c","x_forwarded_for":null,"request_id":"9f","upstream_request_attempt_count":0,"upstream_host":"-","upstream_cluster":"outbound|80||x","downstream_remote_address":"[2001:db8::6]:5000"}`,
		start: "2026-11-30T08:11:06.25", end: "2026-11-30T08:11:06.265", src: "[2001:db8::6]:5000", method: "GET", host: "r:9080", target: "/r", agent: "c", status: 429, reason: capture.Throttle, origin: capture.OriginHop, id: true,
	},
	{
		format: "cloudflare-json", line: `{"ClientIP":"192.0.2.1","ClientRequestHost":"w.e","ClientRequestMethod":"GET","ClientRequestURI":"/x","ClientRequestUserAgent":"M","EdgeResponseStatus":429,"EdgeStartTimestamp":1796026266250000000,"EdgeEndTimestamp":"2026-11-30T08:11:06.5Z","OriginResponseStatus":0,"RayID":"87","SampleInterval":1}`,
		start: "2026-11-30T08:11:06.25", end: "2026-11-30T08:11:06.5", src: "192.0.2.1", method: "GET", host: "w.e", target: "/x", agent: "M", status: 429, reason: capture.Throttle, origin: capture.OriginHop, id: true,
	},
	{
		format: "gcp-json", line: `{"httpRequest":{"requestMethod":"GET","requestUrl":"https://e.com:443/a?b=1","requestSize":"577","status":429,"userAgent":"M","remoteIp":"192.0.2.1:9989","latency":"0.250s"},"jsonPayload":{"statusDetails":"denied_by_security_policy","enforcedSecurityPolicy":{"outcome":"THROTTLE"}},"timestamp":"2026-11-30T08:11:06.250000Z","receiveTimestamp":"2026-11-30T08:11:07Z","trace":"t"}`,
		start: "2026-11-30T08:11:06.25", end: "2026-11-30T08:11:06.5", src: "192.0.2.1:9989", method: "GET", host: "e.com", target: "/a?b=1", agent: "M", status: 429, reason: capture.Throttle, origin: capture.OriginHop, id: true,
	},
	{
		format: "azure-json", line: `{"timeStamp":"2026-11-30T08:11:06.5+00:00","properties":{"clientIP":"192.0.2.1","clientPort":443,"httpMethod":"GET","originalRequestUriWithArgs":"/a?b","requestUri":"/a","httpStatus":502,"timeTaken":0.25,"serverStatus":"429","serverRouted":"10.0.0.4:80","transactionId":"t","originalHost":"e.com","userAgent":"M"}}`,
		start: "2026-11-30T08:11:06.25", end: "2026-11-30T08:11:06.5", src: "192.0.2.1:443", method: "GET", host: "e.com", target: "/a?b", agent: "M", status: 502, reason: capture.ServerError, origin: capture.OriginHop, tries: " 429 -1ns", id: true,
	},
	{
		format: "k8s-audit", line: `{"kind":"Event","auditID":"57a","stage":"ResponseComplete","requestURI":"/api/v1/pods?watch=true\u0026x=1","verb":"watch","user":{"username":"u"},"sourceIPs":["192.0.2.1","10.0.0.1"],"userAgent":"kubectl","responseStatus":{"metadata":{},"code":429},"requestReceivedTimestamp":"2026-11-30T08:11:06.250000Z","stageTimestamp":"2026-11-30T08:11:06.500000Z"}`,
		start: "2026-11-30T08:11:06.25", end: "2026-11-30T08:11:06.5", src: "192.0.2.1", method: "GET", target: "/api/v1/pods?watch=true&x=1", agent: "kubectl", status: 429, reason: capture.Throttle, user: true, id: true,
	},
	{
		format: "kong-json", line: `{"started_at":1796026266250,"client_ip":"192.0.2.1","latencies":{"request":250,"kong":1,"proxy":249},"request":{"method":"POST","uri":"/a","url":"http://e:8000/a","id":"q","headers":{"user-agent":"x","idempotency-key":"i"}},"response":{"status":200,"headers":{"x":"y"}},"tries":[{"ip":"10.0.0.1","port":80,"code":502,"balancer_latency":1},{"ip":"10.0.0.2","port":80,"balancer_latency":0}],"upstream_status":"200"}`,
		start: "2026-11-30T08:11:06.25", end: "2026-11-30T08:11:06.5", src: "192.0.2.1", method: "POST", target: "/a", agent: "x", status: 200, reason: capture.OK, origin: capture.OriginUpstream, tries: "10.0.0.1 502 1ms; 10.0.0.2 200 0s", hint: "absent", id: true,
	},
	{ // Kong's own limiter: no try was made
		format: "kong-json", line: `{"started_at":1796026266250,"client_ip":"192.0.2.1","latencies":{"request":2,"kong":2},"request":{"method":"GET","uri":"/a","headers":{}},"response":{"status":429,"headers":{"retry-after":"7"}},"tries":[]}`,
		start: "2026-11-30T08:11:06.25", end: "2026-11-30T08:11:06.252", src: "192.0.2.1", method: "GET", target: "/a", status: 429, reason: capture.Throttle, origin: capture.OriginHop, hint: "7s",
	},
	{
		format: "apigw-json", line: `{"requestId":"48","ip":"192.0.2.1","caller":"-","user":"-","requestTime":"30/Nov/2026:08:11:06 +0000","requestTimeEpoch":"1796026266250","httpMethod":"GET","path":"/prod/pets/1","resourcePath":"/pets/{id}","status":"429","responseLatency":"3","errorResponseType":"THROTTLED"}`,
		start: "2026-11-30T08:11:06.25", end: "2026-11-30T08:11:06.253", src: "192.0.2.1", method: "GET", target: "/prod/pets/1", status: 429, reason: capture.Throttle, origin: capture.OriginHop, id: true,
	},
	{
		format: "akamai-json", line: `{"reqTimeSec":"1796026266.250","statusCode":"503","cliIP":"192.0.2.1","reqMethod":"GET","reqPath":"/a","queryStr":"b=1","reqHost":"e.com","UA":"x","reqId":"1"}`,
		start: "2026-11-30T08:11:06.25", end: "2026-11-30T08:11:06.25", src: "192.0.2.1", method: "GET", host: "e.com", target: "/a?b=1", agent: "x", status: 503, reason: capture.Overload, id: true,
	},
	{
		format: "zeek-json", line: `{"ts":1796026266.25,"uid":"C","id.orig_h":"192.0.2.1","id.orig_p":46562,"id.resp_h":"10.0.0.1","trans_depth":1,"method":"GET","host":"e","uri":"/a","user_agent":"x","status_code":429}`,
		start: "2026-11-30T08:11:06.25", end: "2026-11-30T08:11:06.25", src: "192.0.2.1:46562", method: "GET", host: "e", target: "/a", agent: "x", status: 429, reason: capture.Throttle,
	},
	{
		format: "heroku", line: `at=error code=H12 desc="Request timeout" method=GET path="/api?x" host=h.com request_id=8f fwd="192.0.2.1,10.0.0.1" dyno=web.1 connect= service=30000ms status=503 bytes=0`,
		start: "", end: "", src: "192.0.2.1", method: "GET", host: "h.com", target: "/api?x", forwarded: "192.0.2.1,10.0.0.1", status: 503, reason: capture.Overload, id: true,
	},
	{
		format: "lograge", line: `time=2026-11-30T08:11:06.500Z method=GET path=/x format=json controller=C action=a status=429 duration=250.5 view=40.43`,
		start: "2026-11-30T08:11:06.2495", end: "2026-11-30T08:11:06.5", method: "GET", target: "/x", status: 429, reason: capture.Throttle,
	},
	{
		format: "logfmt", line: `ts=2026-11-30T08:11:06.500Z level=info msg="say \"hi\"" method=POST path=/x status=201 duration_ms=250 remote_addr=192.0.2.1:55`,
		start: "2026-11-30T08:11:06.25", end: "2026-11-30T08:11:06.5", src: "192.0.2.1:55", method: "POST", target: "/x", status: 201, reason: capture.OK,
	},
	{
		format: "json", line: `{"time":"2026-11-30T13:41:06+05:30","msec":"1796026266.500","remote_addr":"192.0.2.1","method":"GET","host":"e","uri":"/a?b","status":"503","request_time":0.250,"upstream_response_time":0.200, 0.050,"upstream_status":"502, 503","limit_req_status":"","retry_after":"","user_agent":"caf\xc3\xa9 \"x\"","request_id":"r","api_key":"k"}`,
		start: "2026-11-30T08:11:06.25", end: "2026-11-30T08:11:06.5", src: "192.0.2.1", method: "GET", host: "e", target: "/a?b", agent: `café "x"`, status: 503, reason: capture.Overload, origin: capture.OriginUpstream, tries: " 502 200ms; | 503 50ms", hint: "absent", user: true, id: true,
	},
}

func TestPresets(t *testing.T) {
	for i, c := range presetCases {
		t.Run(fmt.Sprintf("%s %d", c.format, i), func(t *testing.T) {
			f := preset(c.format)
			if f == nil {
				t.Fatalf("no preset %s", c.format)
			}
			line := c.line
			if c.format == "heroku" { // its time stands before it
				line = "2026-11-30T08:11:36.5+00:00 heroku[router]: " + line
				c.start, c.end = "2026-11-30T08:11:06.5", "2026-11-30T08:11:36.5"
			}
			out := mustRead(t, line+"\n", Options{Format: f})
			if len(out.rows) != 1 {
				t.Fatalf("not read: %+v", out.health.Skipped)
			}
			checkRow(t, out.rows[0], &c)
		})
	}
}

func checkRow(t *testing.T, x row, c *presetCase) {
	t.Helper()
	if x.Start != at(t, c.start) || x.End != at(t, c.end) {
		t.Errorf("%s to %s", time.Unix(0, x.Start).UTC(), time.Unix(0, x.End).UTC())
	}
	if got := x.Src.String(); got != c.src || x.method != c.method || x.host != c.host || x.target != c.target || x.agent != c.agent || x.forwarded != c.forwarded {
		t.Errorf("read %q %q %q %q %q %q", x.Src, x.method, x.host, x.target, x.agent, x.forwarded)
	}
	if x.Status != c.status || x.Outcome != c.outcome || x.Reason != c.reason || x.Origin != c.origin {
		t.Errorf("%d %v %v %v", x.Status, x.Outcome, x.Reason, x.Origin)
	}
	var tries []string
	for i, y := range x.tries {
		if i > 0 && y.Fresh {
			tries = append(tries, "fresh")
		}
		tries = append(tries, strings.TrimPrefix(fmt.Sprintf("%s %d %v", y.server, y.Status, time.Duration(y.Took)), "?"))
	}
	if got, want := strings.Join(tries, "; "), strings.ReplaceAll(c.tries, "| ", " "); got != want || c.tries == "" && int(x.Tries) != c.count {
		t.Errorf("tries %q, %d; want %q", got, x.Tries, want)
	}
	hint := ""
	switch x.Hint.State {
	case capture.Absent:
		hint = "absent"
	case capture.Present:
		hint = time.Duration(x.Hint.Wait).String()
	}
	if c.hint != hint && (c.hint != "" || hint != "absent") {
		t.Errorf("hint %q, want %q", hint, c.hint)
	}
	if (x.Credential != 0) != c.user || (x.RequestID != 0) != c.id {
		t.Errorf("credential %v, id %v", x.Credential != 0, x.RequestID != 0)
	}
}

// A log of each kind is known by its lines, whatever is around them.
func TestPresetsAreFound(t *testing.T) {
	for i, c := range presetCases {
		line := c.line
		if strings.HasSuffix(line, "/cut") {
			continue // a torn line
		}
		if c.format == "heroku" {
			line = "2026-11-30T08:11:36.5+00:00 heroku[router]: " + line
		}
		g := Sniff([]byte(strings.Repeat(line+"\n", 3)), nil)
		if !g.Sure() || g.formats[0].name != c.format {
			t.Errorf("case %d, %s: taken for %s, sure %v", i, c.format, g.describe(), g.Sure())
		}
	}
}
