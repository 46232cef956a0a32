package accesslog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stormwatch/capture"
)

// schema says what the keys of a JSON log, of key=value pairs or of a header
// line mean.
type schema struct {
	name     string
	about    string
	evidence string
	marks    []string         // keys that only this kind of log has
	fields   map[string]field // by key in lower case
	must     map[string]must  // keys that must have a value
	headers  []headerKeys
	pairs    bool // key=value, not JSON
	fallback bool // keys that are not known here may be in the table of aliases
	finish   func(*reading) fault
}

// must is the value that a key has in lines that are wanted.
type must struct {
	value     string
	otherwise fault
}

// headerKeys are keys that stand for headers: request_User-Agent.
type headerKeys struct {
	prefix  string
	meaning func(string) field
}

// withRequest passes over records that have a status but no request: any program
// logs such things.
func withRequest(r *reading) fault {
	what := r.has&(1<<roleRequest|1<<roleTarget|1<<rolePath|1<<roleURL) != 0
	who := r.get(roleMethod) != nil || r.get(roleRequest) != nil || r.get(roleAgent) != nil || r.ip != [16]byte{}
	if !what || !who {
		return noRequestKey
	}
	return ""
}

const noRequestKey fault = "no request in it"

// meaning is what a key means. Of several keys of one role that with the lowest
// rank is taken.
type meaning struct {
	field
	rank      uint8 // from 1
	must      string
	otherwise fault
}

// meaning finds what a key means.
func (s *schema) meaning(key string) meaning {
	key = strings.ToLower(key)
	if m, ok := s.must[key]; ok {
		return meaning{must: m.value, otherwise: m.otherwise, rank: 1}
	}
	if f, ok := s.fields[key]; ok {
		f.name = key
		return meaning{field: f, rank: 1 + f.rank}
	}
	for _, h := range s.headers {
		if rest, ok := strings.CutPrefix(key, h.prefix); ok {
			f := h.meaning(strings.ReplaceAll(rest, "_", "-"))
			if f.name = key; f.role != roleRetryAfter {
				f.unit = int64(time.Millisecond)
			}
			return meaning{field: f, rank: 2}
		}
	}
	if !s.fallback {
		return meaning{}
	}
	return aliasOf(key)
}

// aliasOf looks a key up among the names that people give to fields.
func aliasOf(key string) meaning {
	flat := strings.ReplaceAll(key, "-", "_")
	if m, ok := aliases[flat]; ok {
		m.name = key
		return m
	}
	if header, ok := strings.CutPrefix(flat, "http_"); ok || strings.HasPrefix(flat, "x_") {
		if r := signalRole(strings.ReplaceAll(header, "_", "-")); r != roleNone {
			return meaning{field: field{name: key, role: r}, rank: 6}
		}
	}
	if f, ok := headerVariable(key); ok && (f.role == roleAnswer || f.role == roleDeadline || f.role == roleIdempotency) {
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
	i := strings.LastIndexByte(key, '_')
	if i < 0 {
		return 0
	}
	switch key[:i] {
	case "duration", "dur", "elapsed", "latency", "took", "response_time", "request_time", "time_taken", "rt", "processing_time", "total_time", "time", "elapsed_time":
	default:
		return 0
	}
	switch key[i+1:] {
	case "ns", "nanos", "nanoseconds":
		return 1
	case "us", "micros", "usec", "microseconds":
		return int64(time.Microsecond)
	case "ms", "millis", "msec", "milliseconds":
		return int64(time.Millisecond)
	case "s", "sec", "secs", "seconds":
		return second
	}
	return 0
}

// aliases are names by which logs call a field, in the order in which they are
// believed. Of times, what is written when a request has ended is an end.
var aliases = func() map[string]meaning {
	all := map[string]meaning{}
	add := func(f field, names ...string) {
		for i, n := range names {
			all[n] = meaning{field: f, rank: uint8(min(10+i, 250))}
		}
	}
	add(field{role: roleEndTime}, "msec", "end_time", "end", "event.end", "@timestamp", "timestamp", "time", "ts", "datetime", "date", "time_iso8601", "time_local", "logged_at", "timestamp_ns")
	add(field{role: roleStartTime}, "start_time", "start", "started_at", "event.start", "request_start", "startutc", "starteddatetime", "requesttime", "requesttimeepoch")
	add(field{role: roleCode}, "status", "status_code", "statuscode", "response_code", "http.response.status_code", "http.status_code", "response.status", "resp.status", "http_status", "http_status_code", "httpstatus", "sc_status", "response_status", "response.status_code", "res.statuscode", "res.status", "code", "downstreamstatus", "edgeresponsestatus")
	add(field{role: roleForwarded}, "x_forwarded_for", "x_forward_for", "xff", "http_x_forwarded_for", "forwarded_for", "fwd")
	add(field{role: roleAddr}, "client_ip", "clientip", "remote_addr", "remote_ip", "client.address", "client.ip", "source.ip", "source.address", "ip", "client", "src_ip", "source_ip", "remote_host", "clienthost", "req.remoteaddress", "remoteaddr", "clientaddr", "peer", "downstream_remote_address", "addr", "remote", "host_ip")
	add(field{role: rolePort}, "req.remoteport", "remote_port", "client_port", "client.port", "source.port", "src_port")
	add(field{role: roleRequest}, "request", "request_line", "req")
	add(field{role: roleMethod}, "method", "request_method", "http_method", "http.request.method", "http.method", "httpmethod", "requestmethod", "req.method", "verb")
	add(field{role: roleTarget}, "request_uri", "uri", "requesturi", "target", "http.target", "req.url", "request_path_and_query")
	add(field{role: roleURL}, "url", "url.full", "url.original", "http.url", "request_url", "requesturl")
	add(field{role: rolePath}, "path", "url.path", "request_path", "uri_path", "http.path", "resourcepath", "endpoint", "route")
	add(field{role: roleQuery}, "query", "query_string", "request_query", "querystring", "args", "url.query", "http.query")
	add(field{role: roleHost}, "http_host", "vhost", "authority", ":authority", "server_name", "request_host", "url.domain", "server.address", "http.host", "host", "domain", "domainname")
	add(field{role: roleAgent}, "user_agent", "http_user_agent", "useragent", "ua", "agent", "user_agent.original", "http.user_agent", "http_agent")
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
	add(field{role: roleKey}, "api_key", "apikey", "x_api_key", "http_x_api_key", "authorization", "http_authorization", "token")
	add(field{role: roleUser}, "remote_user", "user", "username", "user.name", "user_id", "userid", "clientusername", "account", "tenant")
	add(field{role: roleLimited}, "limit_req_status", "limit_conn_status")
	add(field{role: roleFlags}, "response_flags")
	add(field{role: roleDetails}, "response_code_details")
	add(field{role: roleCluster}, "upstream_cluster")
	add(field{role: roleSampling}, "sampleinterval", "sample_interval")
	add(field{role: roleTook}, "duration", "latency", "elapsed", "took", "response_time", "responsetime", "dur", "time_taken", "elapsed_time") // where the value has a unit
	all["event.duration"] = meaning{field: field{role: roleTook, unit: oneNano}, rank: 4}                                                      // Elastic Common Schema
	all["request_time"] = meaning{field: field{role: roleTook, unit: second, some: true}, rank: 4}                                             // nginx's name for it, always with three decimals
	return all
}()

// mapped makes a schema of what --map says: status=resp.code,dur=took:ms.
func mapped(spec string) (*schema, error) {
	s := &schema{name: "map", fields: map[string]field{}, fallback: true}
	names := map[string]string{"dur": "took", "client": "ip", "end": "time", "retry-after": "retry_after", "url": "url", "xff": "forwarded", "ua": "agent"}
	for _, pair := range strings.Split(spec, ",") {
		name, key, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok || name == "" || key == "" {
			return nil, fmt.Errorf("--map %q: %q is not field=key, as in status=resp.code,dur=took:ms", spec, pair)
		}
		if long, ok := names[name]; ok {
			name = long
		}
		unit := ""
		if i := strings.LastIndexByte(key, ':'); i > 0 && unitOf(key[i+1:]) != 0 {
			key, unit = key[:i], ":"+key[i+1:]
		}
		f, err := patternField(name + unit)
		if err != nil {
			return nil, fmt.Errorf("--map %q: %w", spec, err)
		}
		f.kind, f.pad = kindText, false
		s.fields[strings.ToLower(key)] = f
	}
	return s, nil
}

// ParseMap makes a format for JSON or key=value lines of what their keys mean:
// status=resp.code,dur=took:ms,key=auth.client. Keys that are not named are
// looked up among the usual ones.
func ParseMap(spec string) (*Format, error) {
	s, err := mapped(spec)
	if err != nil {
		return nil, err
	}
	f := &Format{name: "map:" + spec, esc: escapeJSON, machine: true, timeless: true}
	f.open = func() cutter {
		return &eitherCutter{jsonCutter{schema: s, known: map[string]keyed{}}, pairCutter{schema: s, known: map[string]meaning{}}}
	}
	return f, nil
}

// unmapped tells of keys that --map names and no line has: others are used in their
// place where they are usual, so that it would not show.
func (b *builder) unmapped() {
	for i := range b.formats {
		e, ok := b.formats[i].cutter.(*eitherCutter)
		if !ok || b.health.Read == 0 {
			continue
		}
		seen := map[string]bool{}
		for k := range e.json.known {
			seen[strings.ToLower(k)] = true
		}
		for k := range e.pairs.known {
			seen[strings.ToLower(k)] = true
		}
		var missing []string
		for k := range e.json.schema.fields {
			if !seen[k] {
				missing = append(missing, k)
			}
		}
		if len(missing) == 0 {
			continue
		}
		const shown = 20
		keys := slices.Sorted(maps.Keys(seen))
		for k := range seen { // what holds others is no key itself
			if i := strings.LastIndexByte(k, '.'); i > 0 && seen[k[:i]] {
				keys = slices.DeleteFunc(keys, func(s string) bool { return s == k[:i] })
			}
		}
		if len(keys) > shown {
			keys = append(keys[:shown], "...")
		}
		slices.Sort(missing)
		b.health.Note(fmt.Sprintf("--map: no line has the key %s; the keys there are: %s", strings.Join(missing, ", "), strings.Join(keys, ", ")))
	}
}

// eitherCutter reads JSON objects, and pairs where a line is none.
type eitherCutter struct {
	json  jsonCutter
	pairs pairCutter
}

func (e *eitherCutter) cut(line []byte, r *reading) fault {
	if len(line) > 0 && line[0] == '{' {
		return e.json.cut(line, r)
	}
	return e.pairs.cut(line, r)
}
