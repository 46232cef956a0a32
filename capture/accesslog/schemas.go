package accesslog

import (
	"bytes"
	"maps"
	"time"
)

const (
	oneNano   = int64(time.Nanosecond)
	oneMicro  = int64(time.Microsecond)
	oneMilli  = int64(time.Millisecond)
	oneSecond = second
)

// schemas are the JSON logs that are known by their keys. What each of their
// times means is in the servers' own documentation or source, named beside it.
var schemas = []schema{
	{ // pkg/middlewares/accesslog: StartUTC is taken before, time when the line is written
		name: "traefik-json", about: "Traefik's JSON", evidence: "RetryAttempts; the origin's status; Retry-After where response headers are kept", marks: []string{"downstreamstatus", "startutc|startlocal|duration", "requestpath"},
		fields: map[string]field{
			"startutc": {role: roleStartTime}, "startlocal": {role: roleStartTime}, "duration": {role: roleTook, unit: oneNano}, "downstreamstatus": {role: roleCode}, "originstatus": {role: roleUpstreamCode},
			"clientaddr": {role: roleAddr}, "clienthost": {role: roleAddr, rank: 1}, "clientport": {role: rolePort}, "clientusername": {role: roleUser},
			"requestmethod": {role: roleMethod}, "requestpath": {role: roleTarget}, "requesthost": {role: roleHost}, "requestcount": {role: roleCounter},
			"retryattempts": {role: roleRetries}, "serviceaddr": {role: roleServer}, "traceid": {role: roleRequestID}, "trace_id": {role: roleRequestID}, "time": {role: roleEndTime},
		},
		headers: []headerKeys{{"request_", requestHeader}, {"downstream_", responseHeader}},
	},
	{ // modules/caddyhttp/server.go: ts is written when the request has been handled; duration in seconds
		name: "caddy-json", about: "Caddy", evidence: "Retry-After and the other response headers", marks: []string{"logger|resp_headers", "request.uri", "duration"},
		must: map[string]must{"msg": {"handled request", otherStage}}, // http.log.error and reverse_proxy tell of the same request
		fields: map[string]field{
			"ts": {role: roleEndTime}, "duration": {role: roleTook, unit: oneSecond}, "status": {role: roleCode},
			"request.client_ip": {role: roleAddr}, "request.remote_ip": {role: roleAddr, rank: 1}, "request.remote_addr": {role: roleAddr, rank: 2}, "request.remote_port": {role: rolePort},
			"request.method": {role: roleMethod}, "request.uri": {role: roleTarget}, "request.host": {role: roleHost}, "user_id": {role: roleUser}, "resp_headers": {role: roleShown},
		},
		headers: []headerKeys{{"request.headers.", requestHeader}, {"resp_headers.", responseHeader}},
	},
	{ // Istio's and Envoy Gateway's defaults: start_time is the request's, duration in ms
		name: "envoy-json", about: "Istio's and Envoy Gateway's JSON", evidence: "flags (URX, UO, RL), who answered, request id; tries where upstream_request_attempt_count is added", marks: []string{"start_time|@timestamp", "response_code", "response_flags|downstream_remote_address"},
		fields: map[string]field{
			"start_time": {role: roleStartTime}, "duration": {role: roleTook, unit: oneMilli}, "response_code": {role: roleCode}, "response_flags": {role: roleFlags}, "response_code_details": {role: roleDetails},
			"method": {role: roleMethod}, "path": {role: roleTarget}, "x-envoy-origin-path": {role: roleTarget}, "authority": {role: roleHost}, ":authority": {role: roleHost},
			"user_agent": {role: roleAgent}, "user-agent": {role: roleAgent}, "x_forwarded_for": {role: roleForwarded}, "x-forwarded-for": {role: roleForwarded},
			"request_id": {role: roleRequestID}, "x-request-id": {role: roleRequestID}, "downstream_remote_address": {role: roleAddr}, "upstream_host": {role: roleServer}, "upstream_cluster": {role: roleCluster},
			"upstream_request_attempt_count": {role: roleAttempts}, "retry_after": {role: roleRetryAfter}, "retry-after": {role: roleRetryAfter},
		},
		fallback: true, finish: envoy,
	},
	{ // linkerd2-proxy, access log in JSON: timestamp is when the request came
		name: "linkerd-json", about: "Linkerd's access log in JSON", evidence: "none", marks: []string{"processing_ns", "total_ns", "status"},
		fields: map[string]field{
			"timestamp": {role: roleStartTime}, "total_ns": {role: roleTook, unit: oneNano}, "status": {role: roleCode}, "client.addr": {role: roleAddr}, "method": {role: roleMethod}, "uri": {role: roleURL}, "host": {role: roleHost},
			"user_agent": {role: roleAgent}, "trace_id": {role: roleRequestID},
		},
	},
	{ // www.fastly.com/documentation, "Useful log formats": its example notes time.start
		name: "fastly-json", about: "Fastly's example in JSON", evidence: "what its keys name", marks: []string{"fastly_server|fastly_is_edge", "response_status|status"}, fallback: true,
		fields: map[string]field{"timestamp": {role: roleStartTime}, "time_start": {role: roleStartTime}, "time_elapsed": {role: roleTook, unit: oneMicro}, "url": {role: roleTarget}},
	},
	{ // docs.aws.amazon.com, standard logging v2 in JSON: the fields of the text, day and time apart
		name: "cloudfront-json", about: "AWS CloudFront in JSON", evidence: "who refused (x-edge-detailed-result-type)", marks: []string{"sc-status", "x-edge-location|x-edge-request-id|x-edge-result-type", "cs-uri-stem"},
		fields: cloudfrontKeys(), finish: dayAndHour,
	},
	{ // apisix/utils/log-util.lua: start_time in ms, latency from then on in ms
		name: "apisix-json", about: "APISIX's http-logger and its kin", evidence: "Retry-After", marks: []string{"apisix_latency", "start_time", "latency"},
		fields: map[string]field{
			"start_time": {role: roleStartTime, unit: oneMilli}, "latency": {role: roleTook, unit: oneMilli}, "response.status": {role: roleCode}, "request.method": {role: roleMethod}, "request.uri": {role: roleTarget}, "client_ip": {role: roleAddr},
			"upstream": {role: roleServer}, "consumer.username": {role: roleUser}, "response.headers": {role: roleShown},
		},
		headers: []headerKeys{{"request.headers.", requestHeader}, {"response.headers.", responseHeader}},
	},
	{ // pino-http/logger.js: responseTime in ms, written when the answer has been sent, with all its headers
		name: "pino-http", about: "Node's pino-http", evidence: "Retry-After, where its serializers keep headers", marks: []string{"req", "res", "responsetime"}, fallback: true,
		fields: map[string]field{"responsetime": {role: roleTook, unit: oneMilli}, "res.headers": {role: roleShown}}, finish: withRequest,
	},
	{ // Serilog.AspNetCore/RequestLoggingMiddleware.cs: Elapsed in ms, written at the end
		name: "serilog-json", about: "Serilog's request logging in JSON", evidence: "none", marks: []string{"requestmethod", "requestpath", "statuscode", "elapsed"}, fallback: true,
		fields: map[string]field{"elapsed": {role: roleTook, unit: oneMilli}, "properties.elapsed": {role: roleTook, unit: oneMilli}}, finish: withRequest,
	},
	{ // logstash-logback-encoder, LogstashAccessEncoder: elapsed_time in ms
		name: "logback-access", about: "Logback's access log in JSON", evidence: "none", marks: []string{"requested_uri", "status_code", "elapsed_time"}, fallback: true,
		fields: map[string]field{"elapsed_time": {role: roleTook, unit: oneMilli}},
	},
	{ // labstack/echo/middleware/logger.go, samber/slog-http: latency in ns, as Go's time.Duration comes in JSON
		name: "echo-json", about: "Echo's logger and slog-http in JSON", evidence: "none", marks: []string{"latency_human|route", "latency", "status", "uri|params"}, fallback: true,
		fields: map[string]field{"latency": {role: roleTook, unit: oneNano}, "response.latency": {role: roleTook, unit: oneNano}}, finish: withRequest,
	},
	{ // developers.cloudflare.com/logs, HTTP requests: both ends; ns, s or RFC 3339
		name: "cloudflare-json", about: "Cloudflare Logpush, HTTP requests", evidence: "the origin's status, actions of the edge, sampling", marks: []string{"edgeresponsestatus", "clientrequesturi|clientrequestpath|rayid"},
		fields: map[string]field{
			"edgestarttimestamp": {role: roleStartTime}, "edgeendtimestamp": {role: roleEndTime}, "edgeresponsestatus": {role: roleCode}, "originresponsestatus": {role: roleUpstreamCode},
			"clientip": {role: roleAddr}, "clientsrcport": {role: rolePort}, "clientrequesthost": {role: roleHost}, "clientrequestmethod": {role: roleMethod}, "clientrequesturi": {role: roleTarget},
			"clientrequestpath": {role: rolePath}, "clientrequestuseragent": {role: roleAgent}, "rayid": {role: roleRequestID}, "edgeratelimitaction": {role: roleDetails}, "securityaction": {role: roleDetails}, "sampleinterval": {role: roleSampling},
		},
		finish: cloudflare,
	},
	{ // go-grpc-middleware, interceptors/logging: one line at the start, one at the end, of which that has the code
		name: "grpc-json", about: "gRPC's logging middleware for Go in JSON", evidence: "gRPC's status", marks: []string{"grpc.service", "grpc.method"}, fields: grpcKeys, finish: grpcCall, fallback: true,
	},
	{
		name: "grpc-logfmt", about: "the same, key=value", evidence: "gRPC's status", marks: []string{"grpc.service", "grpc.method"}, fields: grpcKeys, finish: grpcCall, fallback: true, pairs: true,
	},
	{ // cloud.google.com/logging, LogEntry and HttpRequest: timestamp is when the request came, latency a text with s
		name: "gcp-json", about: "Google Cloud load balancers", evidence: "who answered (statusDetails)", marks: []string{"httprequest.requesturl", "httprequest.status"},
		fields: map[string]field{
			"timestamp": {role: roleStartTime}, "httprequest.latency": {role: roleTook, unit: oneSecond}, "httprequest.status": {role: roleCode}, "httprequest.requestmethod": {role: roleMethod},
			"httprequest.requesturl": {role: roleURL}, "httprequest.useragent": {role: roleAgent}, "httprequest.remoteip": {role: roleAddr}, "jsonpayload.statusdetails": {role: roleDetails},
			"trace": {role: roleRequestID}, "jsonpayload.enforcedsecuritypolicy.outcome": {role: roleLimited},
		},
		finish: googleCloud,
	},
	{ // learn.microsoft.com, Application Gateway and Front Door access logs: times are of the end, timeTaken in seconds
		name: "azure-json", about: "Azure Application Gateway and Front Door", evidence: "the server's status", marks: []string{"properties.httpstatus|properties.httpstatuscode", "properties.httpmethod"},
		fields: map[string]field{
			"timestamp": {role: roleEndTime}, "time": {role: roleEndTime}, "properties.timetaken": {role: roleTook, unit: oneSecond}, "properties.httpstatus": {role: roleCode}, "properties.httpstatuscode": {role: roleCode},
			"properties.clientip": {role: roleAddr}, "properties.clientport": {role: rolePort}, "properties.httpmethod": {role: roleMethod}, "properties.requesturi": {role: roleURL, rank: 1}, "properties.originalrequesturiwithargs": {role: roleURL},
			"properties.requestquery": {role: roleQuery}, "properties.useragent": {role: roleAgent}, "properties.host": {role: roleHost, rank: 1}, "properties.originalhost": {role: roleHost},
			"properties.transactionid": {role: roleRequestID}, "properties.trackingreference": {role: roleRequestID}, "properties.serverstatus": {role: roleUpstreamCode}, "properties.serverrouted": {role: roleServer}, "properties.errorinfo": {role: roleDetails}, "properties.instanceid": {role: roleMessage},
		},
		finish: azure,
	},
	{ // kubernetes.io, audit: one stage of several of a request; both ends are there
		name: "k8s-audit", about: "Kubernetes audit, ResponseComplete", evidence: "none; clients retry with new ids", marks: []string{"auditid", "requesturi", "stage"},
		must: map[string]must{"stage": {"ResponseComplete", otherStage}},
		fields: map[string]field{
			"requestreceivedtimestamp": {role: roleStartTime}, "stagetimestamp": {role: roleEndTime}, "responsestatus.code": {role: roleCode}, "requesturi": {role: roleTarget}, "verb": {role: roleMethod},
			"user.username": {role: roleUser}, "sourceips": {role: roleAddr}, "useragent": {role: roleAgent}, "auditid": {role: roleRequestID},
		},
		finish: kubernetes,
	},
	{ // kong/pdk/log.lua: started_at is the request's, ms; latencies in ms
		name: "kong-json", about: "Kong's http-log and file-log", evidence: "each try: server and status; Retry-After; request id", marks: []string{"latencies.request|latencies.proxy", "response.status", "started_at"},
		fields: map[string]field{
			"started_at": {role: roleStartTime}, "latencies.request": {role: roleTook, unit: oneMilli}, "response.status": {role: roleCode}, "request.method": {role: roleMethod}, "request.uri": {role: roleTarget}, "request.url": {role: roleURL, rank: 1},
			"client_ip": {role: roleAddr}, "consumer.username": {role: roleUser}, "consumer.id": {role: roleUser, rank: 1}, "request.id": {role: roleRequestID}, "tries": {role: roleTryList}, "upstream_status": {role: roleUpstreamCode}, "response.headers": {role: roleShown},
		},
		headers: []headerKeys{{"request.headers.", requestHeader}, {"response.headers.", responseHeader}},
	},
	{ // docs.aws.amazon.com, API Gateway logging variables: requestTime is when it came; numbers are texts
		name: "apigw-json", about: "AWS API Gateway", evidence: "throttled or quota, by the error's type", marks: []string{"requestid", "requesttime|requesttimeepoch", "httpmethod|routekey", "status"},
		fields: map[string]field{
			"requesttime": {role: roleStartTime}, "requesttimeepoch": {role: roleStartTime}, "responselatency": {role: roleTook, unit: oneMilli}, "status": {role: roleCode}, "integrationstatus": {role: roleUpstreamCode},
			"ip": {role: roleAddr}, "sourceip": {role: roleAddr}, "user": {role: roleUser}, "caller": {role: roleUser, rank: 1}, "apikeyid": {role: roleKey}, "httpmethod": {role: roleMethod}, "path": {role: roleTarget}, "resourcepath": {role: rolePath},
			"routekey": {role: rolePath}, "domainname": {role: roleHost}, "useragent": {role: roleAgent}, "requestid": {role: roleRequestID}, "errorresponsetype": {role: roleDetails}, "error.responsetype": {role: roleDetails}, "responsetype": {role: roleDetails},
		},
		finish: apiGateway,
	},
	{ // techdocs.akamai.com, DataStream 2: reqTimeSec is when it came, in seconds; turnAroundTimeMSec and the like are parts of it
		name: "akamai-json", about: "Akamai DataStream 2", evidence: "none", marks: []string{"reqtimesec", "statuscode", "cliip"},
		fields: map[string]field{
			"reqtimesec": {role: roleStartTime, unit: oneSecond}, "statuscode": {role: roleCode}, "cliip": {role: roleAddr}, "reqmethod": {role: roleMethod}, "reqpath": {role: rolePath}, "querystr": {role: roleQuery}, "reqhost": {role: roleHost},
			"ua": {role: roleAgent}, "xforwardedfor": {role: roleForwarded}, "reqid": {role: roleRequestID}, "transfertimemsec": {role: roleTook, unit: oneMilli}, "errorcode": {role: roleDetails},
		},
	},
	{ // zeek's http.log as JSON: ts is the request's
		name: "zeek-json", about: "Zeek http.log as JSON", evidence: "none", marks: []string{"id.orig_h", "uri", "status_code"}, fields: zeekFields,
	},
	{ // kubernetes.github.io/ingress-nginx, "Log format", its example in JSON: duration is $request_time
		name: "ingress-nginx-json", about: "ingress-nginx's documented JSON", evidence: "what its keys name; request id", marks: []string{"vhost", "request_proto", "duration", "x_forward_for|request_length"},
		fallback: true, fields: map[string]field{"duration": {role: roleTook, unit: oneSecond}},
	},
	{ // docs.upsun.com, HTTP log: times in ns
		name: "upsun-json", about: "Upsun and Platform.sh HTTP log", evidence: "none", marks: []string{"timestamp_ns", "payload.status|payload.response.status|response.status"}, fallback: true,
		fields: map[string]field{"timestamp_ns": {role: roleEndTime}},
	},
	{ // lograge: duration in ms; the time is the line's
		name: "lograge-json", about: "lograge with its JSON formatter", evidence: "none", marks: []string{"controller", "action", "duration", "status"}, fallback: true,
		fields: map[string]field{"duration": {role: roleTook, unit: oneMilli}},
	},
	{
		name: "lograge", about: "lograge, key=value", evidence: "none", pairs: true, marks: []string{"controller", "action", "duration", "status"}, fallback: true,
		fields: map[string]field{"duration": {role: roleTook, unit: oneMilli}},
	},
	{ // devcenter.heroku.com, HTTP routing: the router writes at the end; connect and service in ms
		name: "heroku", about: "Heroku's router", evidence: "client's address, request id, error code", pairs: true, marks: []string{"dyno", "service", "connect", "status", "fwd"},
		fields: map[string]field{
			"connect": {role: roleTook, unit: oneMilli, sum: true}, "service": {role: roleTook, unit: oneMilli, sum: true}, "status": {role: roleCode}, "method": {role: roleMethod}, "path": {role: roleTarget}, "host": {role: roleHost},
			"fwd": {role: roleForwarded}, "request_id": {role: roleRequestID}, "dyno": {role: roleServer}, "code": {role: roleDetails},
		},
		finish: heroku,
	},
	{ // ltsv.org, "Labels for Web server's Log"
		name: "ltsv", about: "labelled values with tabs between them (LTSV)", evidence: "what its labels name", tabs: true, fallback: true, finish: withRequest,
		fields: map[string]field{
			"host": {role: roleAddr}, "req": {role: roleRequest}, "forwardedfor": {role: roleForwarded}, "reqtime": {role: roleTook, unit: oneSecond}, "reqtime_microsec": {role: roleTook, unit: oneMicro}, "vhost": {role: roleHost},
			"ua": {role: roleAgent}, "uri": {role: roleTarget}, "upstream_response_time": {role: roleUpstreamTook},
		},
	},
	{name: "json", about: "any JSON lines whose keys are usual ones, or are named with --map", evidence: "what the keys name: upstream_status, retry_after, attempts, request_id", fallback: true, finish: withRequest},
	{name: "logfmt", about: "any key=value lines, likewise", evidence: "as for json", pairs: true, fallback: true, finish: withRequest},
}

// zeekFields are the columns of zeek's http.log (base/protocols/http/main.zeek).
var zeekFields = map[string]field{
	"ts": {role: roleStartTime}, "id.orig_h": {role: roleAddr}, "id.orig_p": {role: rolePort}, "method": {role: roleMethod}, "host": {role: roleHost}, "uri": {role: roleTarget}, "user_agent": {role: roleAgent}, "status_code": {role: roleCode},
}

// The finishers look at what only their kind of log says.

// cloudflare: an action of the edge is no matter for the origin.
func cloudflare(r *reading) fault {
	if d := r.get(roleDetails); bytes.EqualFold(d, []byte("unknown")) || bytes.EqualFold(d, []byte("none")) {
		r.has &^= 1 << roleDetails
	}
	return ""
}

// googleCloud: Cloud Armor says THROTTLE where a rate limit refused.
func googleCloud(r *reading) fault {
	if r.code == 429 && bytes.Equal(r.get(roleDetails), []byte("denied_by_security_policy")) {
		r.set(roleLimited, limiterRefused) // the policy's own status for a rate that was exceeded
		return ""
	}
	if l := r.get(roleLimited); l != nil && !bytes.Equal(l, []byte("THROTTLE")) && !bytes.Equal(l, []byte("RATE_BASED_BAN")) {
		r.has &^= 1 << roleLimited
	}
	return ""
}

const otherStage fault = "another stage of a request that has a line of its own for its end"

// envoy: what collectors and Contour call @timestamp is when the line was taken in, and
// in Contour's own logs, which have no start_time, when the request came.
func envoy(r *reading) fault {
	if r.start.step == 0 {
		r.start = r.end
	}
	r.end = moment{}
	return ""
}

// cloudfrontKeys are the columns of CloudFront as keys.
func cloudfrontKeys() map[string]field {
	all := maps.Clone(w3cFields)
	all["date"], all["time"] = field{role: roleDay}, field{role: roleHour}
	all["time-taken"] = field{role: roleTook, unit: oneSecond}
	return all
}

// dayAndHour joins a date and a time of day, in UTC.
func dayAndHour(r *reading) fault {
	day, hour := r.get(roleDay), r.get(roleHour)
	if len(day) != len("2026-11-30") || len(hour) != len("08:11:06") {
		return ""
	}
	var text [len("2026-11-30 08:11:06")]byte
	copy(text[copy(text[:], day):], " ")
	copy(text[len(day)+1:], hour)
	if t, n := r.clock.read(&isoLayout, text[:]); n == len(text) {
		t.wall = false
		r.at(roleEndTime, t)
	}
	return ""
}

// azure: the Application Gateway of the first version, whose instances have names of
// their own, logs timeTaken in milliseconds.
func azure(r *reading) fault {
	if bytes.HasPrefix(r.get(roleMessage), []byte("ApplicationGatewayRole")) {
		r.took, r.step = r.took/1000, r.step/1000
	}
	return ""
}

// kubernetes names verbs, not methods.
func kubernetes(r *reading) fault {
	if m, ok := kubernetesVerbs[string(r.get(roleMethod))]; ok {
		r.text[roleMethod] = m
	}
	return ""
}

var kubernetesVerbs = map[string][]byte{
	"get": []byte("GET"), "list": []byte("GET"), "watch": []byte("GET"), "create": []byte("POST"), "update": []byte("PUT"), "patch": []byte("PATCH"), "delete": []byte("DELETE"), "deletecollection": []byte("DELETE"),
}

// apiGateway: it says itself what refused.
func apiGateway(r *reading) fault {
	if key := r.get(rolePath); key != nil && key[0] != '/' { // the routeKey of an HTTP API: GET /pets/{id}
		if method, path := splitRequest(key); len(path) > 0 {
			if r.text[rolePath] = path; r.get(roleMethod) == nil {
				r.set(roleMethod, method)
			}
		}
	}
	switch string(r.get(roleDetails)) {
	case "THROTTLED", "QUOTA_EXCEEDED":
		r.set(roleLimited, limiterRefused)
	}
	return ""
}

var limiterRefused = []byte("REJECTED")

// heroku: H27 and H28 are clients that left.
func heroku(r *reading) fault {
	switch string(r.get(roleDetails)) {
	case "H27", "H28", "H18":
		r.code = 0
	}
	return ""
}
