package accesslog

import (
	"strings"

	"stormwatch/capture"
)

// aliasOf looks a key up among the names that people give to fields, and then without
// the objects around it that loggers and collectors put fields in.
func aliasOf(key string) meaning {
	m, rest := usual(key), key
	for depth := 0; depth < 3 && m.role == roleNone; depth++ {
		i := strings.IndexByte(rest, '.')
		if i < 0 || !holders[rest[:i]] {
			break
		}
		within := rest[:i]
		rest = rest[i+1:]
		if m = usual(rest); m.role == roleEndTime && (within == "request" || within == "req") {
			m.role = roleStartTime // a time of the request itself
		}
		m.rank = min(m.rank, 150) + 60
	}
	if m.role != roleNone {
		m.name = key
	}
	return m
}

// holders are keys under which loggers and collectors put what a program logs.
var holders = map[string]bool{
	"meta": true, "_source": true, "result": true, "fields": true, "data": true, "context": true, "contextmap": true, "mdc": true, "properties": true, "state": true, "jsonpayload": true, "log_processed": true, "log": true, "attributes": true,
	"extra": true, "payload": true, "record": true, "request": true, "response": true, "req": true, "res": true, "json": true, "access": true, "message": true, "msg": true, "http": true,
}

// usual looks a key up as it is.
func usual(key string) meaning {
	flat := strings.ReplaceAll(key, "-", "_")
	m, ok := aliases[flat]
	if !ok {
		m, ok = squeezed[strings.ReplaceAll(flat, "_", "")]
	}
	if ok {
		m.name = key
		return m
	}
	if header, ok := strings.CutPrefix(flat, "http_"); ok || strings.HasPrefix(flat, "x_") {
		if r := signalRole(strings.ReplaceAll(header, "_", "-")); r != roleNone {
			return meaning{field: field{name: key, role: r}, rank: 6}
		}
	}
	if f, ok := headerVariable(key); ok && f.role != roleNone {
		f.name = key
		return meaning{field: f, rank: 20}
	}
	if a := capture.FieldOf([]byte(flat)); a != 0 {
		return meaning{field: field{name: key, role: roleAnswer, answer: a}, rank: 20}
	}
	if unit := durationKey(flat); unit != 0 {
		return meaning{field: field{name: key, role: roleTook, unit: unit}, rank: 5}
	}
	return meaning{}
}

// durationKey tells the unit of a duration by its key: request_time_ms,
// latency_us. A name without a unit tells none.
func durationKey(key string) int64 {
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		key = key[i+1:]
	}
	if i := strings.LastIndexByte(key, '_'); i >= 0 && durations[strings.ReplaceAll(key[:i], "_", "")] {
		return units[key[i+1:]]
	}
	for unit, ns := range units { // durationMs; of a lone s it cannot be told
		if base, ok := strings.CutSuffix(key, unit); ok && unit != "s" && durations[strings.ReplaceAll(base, "_", "")] {
			return ns
		}
	}
	return 0
}

// durations are names of how long a request took, as they stand before a unit.
var durations = map[string]bool{
	"duration": true, "dur": true, "elapsed": true, "latency": true, "took": true, "responsetime": true, "requesttime": true, "timetaken": true, "rt": true, "processingtime": true, "totaltime": true,
	"time": true, "elapsedtime": true, "requestduration": true, "executiontime": true, "total": true,
}

var units = map[string]int64{
	"ns": 1, "nanos": 1, "nanoseconds": 1,
	"us": oneMicro, "micros": oneMicro, "usec": oneMicro, "microseconds": oneMicro,
	"ms": oneMilli, "millis": oneMilli, "msec": oneMilli, "milliseconds": oneMilli,
	"s": oneSecond, "sec": oneSecond, "secs": oneSecond, "seconds": oneSecond,
}

// squeezed are the aliases without their underscores, as requestMethod comes.
var squeezed = func() map[string]meaning {
	all := map[string]meaning{}
	for name, m := range aliases {
		short := strings.ReplaceAll(name, "_", "")
		if old, ok := all[short]; !ok || m.rank < old.rank {
			all[short] = m
		}
	}
	return all
}()

// aliases are names by which logs call a field, in the order in which they are
// believed. Of times, what is written when a request has ended is an end.
var aliases = func() map[string]meaning {
	all := map[string]meaning{}
	add := func(f field, names ...string) {
		for i, n := range names {
			all[n] = meaning{field: f, rank: uint8(min(10+i, 250))}
		}
	}
	add(field{role: roleEndTime}, "msec", "end_time", "end", "event.end", "@timestamp", "timestamp", "time", "ts", "datetime", "date", "asctime", "timestamp_ms", "ts_ms", "time_millis", "@t", "t", "time_iso8601", "time_local", "logged_at", "timestamp_ns")
	add(field{role: roleStartTime}, "start_time", "start", "started_at", "event.start", "request_start", "startutc", "starteddatetime", "requesttime", "requesttimeepoch")
	add(field{role: roleCode}, "status", "status_code", "statuscode", "response_code", "http.response.status_code", "http.status_code", "response.status", "resp.status", "http_status", "http_status_code", "httpstatus", "sc_status", "response_status", "response_status_code", "response.status_code", "http_response_code", "res.statuscode", "res.status", "code", "downstreamstatus", "edgeresponsestatus")
	add(field{role: roleForwarded}, "x_forwarded_for", "x_forward_for", "xff", "http_x_forwarded_for", "forwarded_for", "fwd")
	add(field{role: roleAddr}, "client_ip", "clientip", "remote_addr", "remote_ip", "client.address", "client.ip", "source.ip", "source.address", "ip", "client", "src_ip", "source_ip", "remote_host", "clienthost", "req.remoteaddress", "remoteaddr", "clientaddr", "peer", "downstream_remote_address", "addr", "remote", "host_ip", "client_address", "client.addr", "network.client.ip", "source_address", "peer.address", "peer_address", "remote_address")
	add(field{role: rolePort}, "req.remoteport", "remote_port", "client_port", "client.port", "source.port", "src_port")
	add(field{role: roleRequest}, "request", "request_line", "req")
	add(field{role: roleMethod}, "method", "request_method", "http_method", "http.request.method", "http.method", "httpmethod", "requestmethod", "req.method", "verb")
	add(field{role: roleTarget}, "request_uri", "uri", "requesturi", "target", "http.target", "req.url", "requested_uri", "original_url", "request_path_and_query")
	add(field{role: roleURL}, "url", "url.full", "url.original", "http.url", "request_url", "requesturl")
	add(field{role: rolePath}, "path", "url.path", "request_path", "uri_path", "http.path", "resourcepath", "endpoint", "route")
	add(field{role: roleQuery}, "query", "query_string", "request_query", "querystring", "args", "url.query", "http.query")
	add(field{role: roleHost}, "http_host", "vhost", "authority", ":authority", "server_name", "request_host", "url.domain", "server.address", "http.host", "http.hostname", "host", "domain", "domainname")
	add(field{role: roleAgent}, "user_agent", "http_user_agent", "useragent", "ua", "agent", "user_agent.original", "http.user_agent", "http_agent", "request_user_agent")
	add(field{role: roleRequestID}, "request_id", "x_request_id", "req_id", "requestid", "http_x_request_id", "http.request.id", "correlation_id", "traceparent", "trace_id", "trace.id", "rayid", "id")
	add(field{role: roleUpstreamCode}, "upstream_status", "upstream.status", "originstatus", "originresponsestatus")
	add(field{role: roleUpstreamAddr}, "upstream_addr", "upstream.addr", "upstream_host")
	add(field{role: roleUpstreamTook}, "upstream_response_time")
	add(field{role: roleUpstreamConn}, "upstream_connect_time")
	add(field{role: roleRetries}, "retryattempts", "retries", "retry_count")
	add(field{role: roleAttempts}, "upstream_request_attempt_count", "attempts", "attempt_count")
	add(field{role: roleRetryAfter}, "retry_after", "sent_http_retry_after", "resp_headers.retry_after", "response.headers.retry_after", "upstream_http_retry_after", "http.response.header.retry_after")
	add(field{role: roleRetryMillis}, "retry_after_ms", "sent_http_retry_after_ms", "resp_headers.retry_after_ms", "response.headers.retry_after_ms", "x_ms_retry_after_ms")
	add(field{role: roleIdempotency}, "idempotency_key", "http_idempotency_key", "x_idempotency_key", "amz_sdk_invocation_id", "http_amz_sdk_invocation_id")
	add(field{role: roleAmzRequest}, "amz_sdk_request", "http_amz_sdk_request")
	add(field{role: roleStainless}, "x_stainless_retry_count", "http_x_stainless_retry_count", "stainless_retry_count")
	add(field{role: roleEnvoyAttempts}, "x_envoy_attempt_count", "http_x_envoy_attempt_count")
	add(field{role: roleFromAbsent}, "http.request.resend_count", "http.resend_count") // OpenTelemetry, HTTP conventions: left out of the first one
	add(field{role: roleKey}, "api_key", "apikey", "x_api_key", "http_x_api_key", "authorization", "http_authorization", "token")
	add(field{role: roleUser}, "remote_user", "user", "username", "user.name", "user_id", "userid", "clientusername", "account", "tenant")
	add(field{role: roleRPC}, "grpc_status", "grpc.code", "grpc_code", "grpc.status", "grpc_status_code", "grpc.status_code", "grpc_status_number", "rpc.grpc.status_code")
	add(field{role: roleLimited}, "limit_req_status", "limit_conn_status")
	add(field{role: roleFlags}, "response_flags")
	add(field{role: roleDetails}, "response_code_details")
	add(field{role: roleCluster}, "upstream_cluster")
	add(field{role: roleSampling}, "sampleinterval", "sample_interval")
	add(field{role: roleTook}, "duration", "latency", "elapsed", "took", "latency_human", "response_time", "responsetime", "dur", "time_taken", "elapsed_time") // where the value has a unit
	all["instant.epochsecond"] = meaning{field: field{role: roleEndTime, unit: second}, rank: 4}                                                                // Log4j's JSON
	all["instant.nanoofsecond"] = meaning{field: field{role: roleFraction, unit: 1}, rank: 4}
	all["event.duration"] = meaning{field: field{role: roleTook, unit: oneNano}, rank: 4}          // Elastic Common Schema
	all["request_time"] = meaning{field: field{role: roleTook, unit: second, some: true}, rank: 4} // nginx's name for it, always with three decimals
	return all
}()
