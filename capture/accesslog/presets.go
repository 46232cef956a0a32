package accesslog

import "strings"

// Parts that formats share.
const (
	clfHead      = `<peer> <_ident> <user> [<clf>] "<request>" <status> <bytes>`
	clfStartHead = `<peer> <_ident> <user> [<clfstart>] "<request>" <status> <bytes>`
	combinedHead = clfHead + ` "<_referer>" "<agent>"`
	envoyHead    = `[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% `
	envoyBytes   = `%BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" "%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%"`
	istioTail    = ` %UPSTREAM_CLUSTER_RAW% %UPSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_REMOTE_ADDRESS% %REQUESTED_SERVER_NAME% %ROUTE_NAME%`
	haproxyHead  = `%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc %ac/%fc/%bc/%sc/%rc %sq/%bq %hr %hs %{+Q}r`
	haproxyTorn  = `%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc %ac/%fc/%bc/%sc/%rc %sq/%bq %hr %hs "%r` // cut off at the length that syslog allows
	ingressHead  = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" $request_length $request_time [$proxy_upstream_name] `
	elbTimes     = ` <add> <add> <add> <status> <upstream_status> <bytes> <bytes> "<request>" "<agent>"`
)

// presetSources are the formats known by name, JSON apart. Where a server writes
// when it has answered, its time is the end; where it notes when a request came,
// the start.
var presetSources = []presetSource{
	{
		name: "combined", formats: []string{combinedHead}, tails: []string{` "<xff>" <rt> <msec>`, ` <rt> <msec>`, ` "<xff>"`, ` <lone>`}, loose: true, weight: 20, family: "clf",
		about: "nginx and Apache combined; X-Forwarded-For and $request_time $msec may follow", evidence: "none; $request_time $msec gives a clock of 1 ms",
	},
	{
		name: "combined-pairs", weight: 30, family: "clf", open: func() cutter { return newPairTail() },
		about: "combined that goes on in pairs: rt=$request_time us=\"$upstream_status\" rid=$request_id ...", evidence: "what the pairs name: tries, limiter, Retry-After, request id",
	},
	{
		name: "combined-more", formats: []string{clfHead + ` <_numbers> "<_referer>" "<agent>"`}, loose: true, weight: 12, family: "clf",
		about: "combined with more numbers before the referer (lighttpd, Apache %D, Tomcat)", evidence: "none",
	},
	{
		name: "common", formats: []string{clfHead}, loose: true, weight: 10, family: "clf",
		about: "the Common Log Format", evidence: "none",
	},
	{
		name: "vhost-combined", formats: []string{`<vhost> <address> <_ident> <user> [<clf>] "<request>" <status> <bytes> "<_referer>" "<agent>"`, `<vhost> <address> <_ident> <user> [<clf>] "<request>" <status> <bytes>`},
		loose: true, weight: 22, family: "vhost", about: "Apache vhost_combined and nginx-proxy: the host first", evidence: "none",
	},
	{
		name: "lighttpd", formats: []string{`<peer> <vhost> <user> [<clf>] "<request>" <status> <bytes> "<_referer>" "<agent>"`, `<peer> <vhost> <user> [<clf>] "<request>" <status> <bytes> <_numbers> "<_referer>" "<agent>"`},
		loose: true, weight: 25, family: "clf", about: "lighttpd: the host in the place of ident", evidence: "none",
	},
	{
		name: "ingress-nginx", language: "nginx", weight: 40, loose: true,
		formats: []string{
			ingressHead + `[$proxy_alternative_upstream_name] $upstream_addr $upstream_response_length $upstream_response_time $upstream_status $req_id`,
			ingressHead + `$upstream_addr $upstream_response_length $upstream_response_time $upstream_status $req_id`,
			ingressHead + `$upstream_addr $upstream_response_length $upstream_response_time $upstream_status`,
		},
		about: "Kubernetes ingress-nginx", evidence: "each try: server, status, time; request id; 429 or 503 of the limiter (no server)",
	},
	{
		name: "nginx-error", weight: 30, beside: true, open: func() cutter { return newErrorLog() }, about: "nginx error.log: lines of limit_req and limit_conn", evidence: "each refusal of the limiter, and nothing else",
	},
	{
		name: "nginx-proxy-manager", language: "nginx", weight: 40,
		formats: []string{
			`[$time_local] $upstream_cache_status $upstream_status $status - $request_method $scheme $host "$request_uri" [Client $remote_addr] [Length $body_bytes_sent] [Gzip $gzip_ratio] [Sent-to $server] "$http_user_agent" "$http_referer"`,
			`[$time_local] $status - $request_method $scheme $host "$request_uri" [Client $remote_addr] [Length $body_bytes_sent] [Gzip $gzip_ratio] "$http_user_agent" "$http_referer"`,
			`[$time_local] $host $remote_addr $request_time "$request" $status $body_bytes_sent $bytes_sent $http_referer $http_user_agent`,
		},
		about: "Nginx Proxy Manager and NPMplus", evidence: "the upstream's status",
	},
	{
		name: "kong", formats: []string{combinedHead + ` kong_request_id: "<id>"`}, weight: 40, family: "clf", about: "Kong's access log", evidence: "request id",
	},
	{ // apisix/cli/config.lua, access_log_format
		name: "apisix", language: "nginx", weight: 45, loose: true, family: "clf",
		formats: []string{`$remote_addr - $remote_user [$time_local] $http_host "$request" $status $body_bytes_sent $request_time "$http_referer" "$http_user_agent" $upstream_addr $upstream_status $upstream_response_time`},
		about:   "APISIX's access log", evidence: "each try: server, status, time",
	},
	{ // gin/logger.go, defaultLogFormatter
		name: "gin", weight: 40, loose: true, formats: []string{`[GIN] <gin> | <status> | <took> | <client> | <method> "<uri>"`}, about: "Gin's logger", evidence: "none",
	},
	{ // chi/middleware/logger.go
		name: "chi", weight: 40, formats: []string{`<iso> [<id>] "<request>" from <client> - <status> <_size> in <took>`, `<iso> "<request>" from <client> - <status> <_size> in <took>`}, about: "chi's logger", evidence: "request id",
	},
	{
		name: "envoy", language: "envoy", formats: []string{envoyHead + envoyBytes}, loose: true, weight: 40, esc: escapeNone, utc: true, family: "envoy",
		about: "Envoy's default text", evidence: "flags (URX, UO, RL), request id; tries where %UPSTREAM_REQUEST_ATTEMPT_COUNT% is added",
	},
	{
		name: "istio", language: "envoy", weight: 45, loose: true, esc: escapeNone, utc: true, family: "envoy",
		formats: []string{
			envoyHead + `%RESPONSE_CODE_DETAILS% %CONNECTION_TERMINATION_DETAILS% "%UPSTREAM_TRANSPORT_FAILURE_REASON%" ` + envoyBytes + istioTail,
			envoyHead + `"%DYNAMIC_METADATA(istio.mixer:status)%" "%UPSTREAM_TRANSPORT_FAILURE_REASON%" ` + envoyBytes + istioTail,
		},
		about: "Istio's default text", evidence: "flags, who answered (via_upstream, local_rate_limited), request id, inbound or outbound",
	},
	{
		name: "envoy-storm", language: "envoy", formats: []string{strings.TrimSpace(EnvoyStorm)}, weight: 46, esc: escapeNone, utc: true, family: "envoy", about: "Envoy with the line below", evidence: "tries, Retry-After, request id, attempt headers",
	},
	{
		name: "haproxy-storm", language: "haproxy", formats: []string{haproxyStorm()}, weight: 46, esc: escapeHash, about: "HAProxy with the lines below", evidence: "retries, Retry-After, request id, attempt headers",
	},
	{
		name: "haproxy", language: "haproxy", formats: []string{haproxyHead, haproxyTorn}, loose: true, weight: 40, esc: escapeHash,
		about: "HAProxy option httplog and httpslog, captures or not", evidence: "retries and redispatches, who ended the session (PR--: refused by the proxy)",
	},
	{
		name: "haproxy-clf", formats: []string{clfStartHead + ` "" "" <port> <frac> "<_f>" "<_b>" "<server>" <number> <number> <number> <number> <took:ms> "<termination>" <number> <number> <number> <number> <retries>`},
		loose: true, weight: 45, esc: escapeHash, family: "clf", about: "HAProxy option httplog clf", evidence: "retries and redispatches, who ended the session",
	},
	{
		name: "traefik", formats: []string{clfStartHead + ` "<_referer>" "<agent>" <counter> "<_router>" "<server>" <took:ms>ms`, clfStartHead + ` <_referer> "<agent>" <counter> "<_router>" "<server>" <took:ms>ms`, clfStartHead + ` <_referer> <agent> <counter> <_router> <server> <took:ms>ms`},
		weight: 45, family: "clf", about: "Traefik's common format", evidence: "none; the JSON format has RetryAttempts",
	},
	{
		name: "alb", weight: 45, loose: true, whole: true, gone: 460, utc: true,
		formats: []string{
			`<_type> <time> <_elb> <client> <upstream_addr>` + elbTimes + ` <_cipher> <_tls> <_group> "<id>" "<_domain>" "<_cert>" <_rule> <start> "<_actions>" "<_redirect>" "<details>"`,
			`<_type> <time> <_elb> <client> <upstream_addr>` + elbTimes,
		},
		about: "AWS Application Load Balancer", evidence: "whether the target or the balancer answered",
	},
	{
		name: "elb", weight: 42, loose: true, whole: true, utc: true, formats: []string{`<start> <_elb> <client> <upstream_addr>` + elbTimes},
		about: "AWS Classic Load Balancer", evidence: "whether the target or the balancer answered",
	},
	{
		name: "s3", weight: 42, loose: true, formats: []string{`<_owner> <host> [<clfstart>] <peer> <user> <id> <_operation> <_key> "<request>" <status> <details> <_sent> <_size> <took:ms> <_turn> "<_referer>" "<agent>"`},
		about: "AWS S3 server access log", evidence: "503 SlowDown",
	},
	{ // docs.aws.amazon.com, API Gateway, "Set up CloudWatch logging": its formats CLF and CSV
		name: "apigw", weight: 42, formats: []string{`<peer> <_caller> <user> [<clfstart>]"<request>" <status> <bytes> <id>`, `<address>,<_caller>,<user>,<clfstart>,<method>,<path>,<_proto>,<status>,<bytes>,<id>`},
		loose: true, family: "clf", about: "AWS API Gateway as CLF or CSV", evidence: "request id",
	},
	{ // docs.aws.amazon.com, CloudFront, "Real-time logs": all fields, in the order that it has them in
		name: "cloudfront-real-time", weight: 45, esc: escapeURL,
		formats: []string{"<msec>\t<client>\t<_ttfb>\t<status>\t<bytes>\t<method>\t<_scheme>\t<_host>\t<uri>\t<bytes>\t<_edge>\t<id>\t<host>\t<took>\t<_version>\t<_ip>\t<agent>\t<_referer>\t<_cookie>\t<_query>\t<_result>\t<xff>\t<_rest>"},
		about:   "AWS CloudFront's real-time log with all its fields", evidence: "none",
	},
	{
		name: "cloudfront", weight: 45, esc: escapeURL, gone: 0, open: func() cutter { return newColumns(columnKind{fields: w3cFields, common: cloudfrontColumns, sep: '\t'}) },
		about: "AWS CloudFront, as its #Fields line has it", evidence: "who refused (x-edge-detailed-result-type)",
	},
	{
		name: "w3c", weight: 40, esc: escapePlus, open: func() cutter { return newColumns(columnKind{fields: w3cFields, common: iisColumns}) },
		about: "IIS and others, W3C extended, as their #Fields line has it", evidence: "none",
	},
	{
		name: "zeek", weight: 45, esc: escapeZeek, open: func() cutter { return newColumns(columnKind{fields: zeekFields, sep: '\t', zeek: true}) },
		about: "Zeek http.log, as its #fields line has it", evidence: "none",
	},
	{
		name: "squid", weight: 40, whole: true, formats: []string{`<msec> <elapsed> <peer> <_result>/<status> <bytes> <method> <url> <user> <_hierarchy>/<_peer> <_type>`},
		loose: true, about: "Squid's native format", evidence: "none",
	},
	{
		name: "uvicorn", weight: 30, timeless: true, formats: []string{`INFO:     <client> - "<request>" <status> <_text>`, `INFO: <client> - "<request>" <status> <_text>`}, loose: true,
		about: "uvicorn: lines have no time, so it must stand before them (journald, CRI, docker)", evidence: "none",
	},
	{
		name: "uwsgi", weight: 40, formats: []string{`[pid: <_pid>] <peer> (<user>) {<_vars>} [<ctime>] <method> <uri> => generated <_n> bytes in <took> (HTTP/<_v> <status>)`}, loose: true,
		about: "uWSGI's default", evidence: "none",
	},
	{
		name: "zoraxy", weight: 40, formats: []string{`<_day> <_hour> [<time>] [router:<_router>] [origin:<host>] [client: <ip>] [useragent: <agent>] <method> <uri> <status>`, `[<time>] [router:<_router>] [origin:<host>] [client: <ip>] [useragent: <agent>] <method> <uri> <status>`},
		about: "Zoraxy", evidence: "none",
	},
	{
		name: "clf-like", weight: 4, family: "clf", loose: true, formats: []string{`<client> <_ids>[<time>] "<request>" <status>`},
		about: "what has an address, a date in brackets, a request in quotes and a status, in this order", evidence: "none: name the format to have more read",
	},
	{
		name: "dateless", weight: 6, formats: []string{`<peer> <_ident> <user> "<request>" <status> <bytes>`, `<client> - "<request>" <status>`, `<address> "<request>" <status> <bytes> "<_referer>" "<agent>"`, `<address> "<request>" <status>`}, loose: true,
		about: "common without a date, where one stands before it (syslog, journald, CRI)", evidence: "none",
	},
}

// iisColumns are what IIS logs by default.
var iisColumns = []string{"date", "time", "s-ip", "cs-method", "cs-uri-stem", "cs-uri-query", "s-port", "cs-username", "c-ip", "cs(user-agent)", "cs(referer)", "sc-status", "sc-substatus", "sc-win32-status", "time-taken"}

// cloudfrontColumns are those of CloudFront's standard log.
var cloudfrontColumns = []string{
	"date", "time", "x-edge-location", "sc-bytes", "c-ip", "cs-method", "cs(host)", "cs-uri-stem", "sc-status", "cs(referer)", "cs(user-agent)", "cs-uri-query", "cs(cookie)", "x-edge-result-type", "x-edge-request-id",
	"x-host-header", "cs-protocol", "cs-bytes", "time-taken", "x-forwarded-for", "ssl-protocol", "ssl-cipher", "x-edge-response-result-type", "cs-protocol-version", "fle-status", "fle-encrypted-fields", "c-port",
	"time-to-first-byte", "x-edge-detailed-result-type", "sc-content-type", "sc-content-len", "sc-range-start", "sc-range-end",
}

// haproxyStorm is the log-format within what the guide has for HAProxy.
func haproxyStorm() string {
	_, line, _ := strings.Cut(HAProxyStorm, `log-format "`)
	return strings.TrimSuffix(line, `"`)
}
