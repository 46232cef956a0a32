package accesslog

import (
	"fmt"
	"strings"
)

// nginxFormat compiles what stands in nginx's log_format (ngx_http_log_module):
// $name and ${name} are variables, all else stands for itself. A format with
// escape=none writes no escapes.
func nginxFormat(format string, esc escape) (*scanner, error) {
	pieces, err := nginxPieces(format)
	if err != nil {
		return nil, err
	}
	pieces = joinArgs(pieces)
	markLists(pieces)
	return compile(format, pieces, esc)
}

func nginxPieces(format string) (pieces []piece, err error) {
	for at := 0; at < len(format); {
		i := strings.IndexByte(format[at:], '$')
		if i < 0 {
			return append(pieces, piece{lit: format[at:], at: at}), nil
		}
		if i > 0 {
			pieces = append(pieces, piece{lit: format[at : at+i], at: at})
		}
		at += i
		from, end, next := at+1, 0, 0
		if from < len(format) && format[from] == '{' {
			from++
			n := strings.IndexByte(format[from:], '}')
			if n < 0 {
				return nil, &FormatError{format, at, "${ is never closed by }"}
			}
			end, next = from+n, from+n+1
		} else {
			for end = from; end < len(format) && isNameByte(format[end]); {
				end++
			}
			next = end
		}
		if end == from {
			return nil, &FormatError{format, at, "$ without the name of a variable"}
		}
		name := format[from:end]
		f, ok := nginxVariable(strings.ToLower(name))
		if !ok {
			return nil, &FormatError{format, at, fmt.Sprintf("$%s is no name of a variable", name)}
		}
		f.name = "$" + name
		pieces = append(pieces, piece{field: f, at: at})
		at = next
	}
	return pieces, nil
}

func isNameByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }

// nginxVariables are those that mean something here (nginx.org, alphabetical
// index of variables). Times are of the log phase: the end of the request.
var nginxVariables = map[string]field{
	"remote_addr": {role: roleAddr}, "realip_remote_addr": {}, "remote_port": {role: rolePort, kind: kindNumber}, "remote_user": {role: roleUser},
	"time_local": {role: roleEndTime, kind: kindCLF}, "time_iso8601": {role: roleEndTime, kind: kindDate, lay: &layout{}},
	"msec": {role: roleEndTime, kind: kindNumber, unit: second}, "request_time": {role: roleTook, kind: kindNumber, unit: second},
	"request": {role: roleRequest}, "request_method": {role: roleMethod}, "request_uri": {role: roleTarget, head: '/'},
	"uri": {role: rolePath, head: '/'}, "document_uri": {role: rolePath, head: '/'}, "args": {role: roleQuery}, "query_string": {role: roleQuery},
	"host": {role: roleHost}, "http_host": {role: roleHost}, "server_name": {role: roleHost},
	"http_user_agent": {role: roleAgent}, "http_x_forwarded_for": {role: roleForwarded}, "proxy_add_x_forwarded_for": {role: roleForwarded},
	"http_x_real_ip": {role: roleForwarded}, "http_cf_connecting_ip": {role: roleForwarded}, "http_true_client_ip": {role: roleForwarded},
	"status": {role: roleCode, kind: kindStatus}, "upstream_addr": {role: roleUpstreamAddr}, "upstream_status": {role: roleUpstreamCode},
	"upstream_response_time": {role: roleUpstreamTook}, "upstream_connect_time": {role: roleUpstreamConn}, "limit_req_status": {role: roleLimited}, "limit_conn_status": {role: roleLimited},
	"request_id": {role: roleRequestID}, "req_id": {role: roleRequestID}, "http_x_request_id": {role: roleRequestID}, "http_traceparent": {role: roleRequestID},
	"sent_http_retry_after": {role: roleRetryAfter}, "upstream_http_retry_after": {role: roleRetryAfter},
	"sent_http_retry_after_ms": {role: roleRetryMillis}, "upstream_http_retry_after_ms": {role: roleRetryMillis}, "sent_http_x_ms_retry_after_ms": {role: roleRetryMillis},
	"sent_http_date": {role: roleDateField}, "upstream_http_date": {role: roleDateField},
	"http_idempotency_key": {role: roleIdempotency}, "http_x_idempotency_key": {role: roleIdempotency}, "http_amz_sdk_invocation_id": {role: roleIdempotency},
	"http_amz_sdk_request": {role: roleAmzRequest}, "http_x_stainless_retry_count": {role: roleStainless}, "http_x_envoy_attempt_count": {role: roleEnvoyAttempts},
	"http_x_api_key": {role: roleKey}, "http_api_key": {role: roleKey}, "http_apikey": {role: roleKey}, "http_authorization": {role: roleKey}, "http_x_auth_token": {role: roleKey},
	"body_bytes_sent": {kind: kindNumber}, "bytes_sent": {kind: kindNumber}, "request_length": {kind: kindNumber}, "connection": {kind: kindNumber},
	"connection_requests": {kind: kindNumber}, "pid": {kind: kindNumber}, "server_port": {kind: kindNumber}, "pipe": {},
}

// nginxVariable returns what a variable means; those that are not known stay
// texts, as maps and modules make their own.
func nginxVariable(name string) (field, bool) {
	for i := 0; i < len(name); i++ {
		if !isNameByte(name[i]) {
			return field{}, false
		}
	}
	f := nginxVariables[name]
	if h, ok := headerVariable(name); ok && f == (field{}) && h.role != roleAgent && h.role != roleForwarded && h.role != roleHost {
		f = h
	}
	if f == (field{}) {
		if header, ok := strings.CutPrefix(name, "http_"); ok {
			f.role = signalRole(strings.ReplaceAll(header, "_", "-"))
		}
		if f.role == roleNone {
			f.role = secretHeader(strings.TrimPrefix(name, "http_"), name)
		}
	}
	return f, true
}

// secretHeader finds request headers and cookies whose names say that they carry
// a credential.
func secretHeader(header, name string) role {
	if header == name && !strings.HasPrefix(name, "cookie_") && !strings.HasPrefix(name, "arg_") {
		return roleNone
	}
	for _, part := range []string{"api_key", "apikey", "api-key", "auth", "token", "session", "secret"} {
		if strings.Contains(header, part) {
			return roleKey
		}
	}
	return roleNone
}

// joinArgs makes one field of $uri, $is_args and $args, which have no literal
// between them.
func joinArgs(pieces []piece) []piece {
	bare := func(p *piece) string { return strings.Trim(p.field.name, "${}") }
	out := pieces[:0]
	for _, p := range pieces {
		n := len(out)
		if p.field.name == "" || n == 0 || out[n-1].field.role != rolePath && out[n-1].field.role != roleTarget {
			out = append(out, p)
			continue
		}
		switch before := &out[n-1].field; bare(&p) {
		case "is_args":
			before.role, before.name = roleTarget, before.name+p.field.name
		case "args", "query_string":
			if !strings.HasSuffix(before.name, "is_args") && !strings.HasSuffix(before.name, "is_args}") {
				out = append(out, p)
				continue
			}
			before.name += p.field.name
		default:
			out = append(out, p)
		}
	}
	return out
}

// markLists gives the lists of tries that stand outside quotes a form that finds
// their end: they hold blanks.
func markLists(pieces []piece) {
	open := false
	for i := range pieces {
		p := &pieces[i]
		if p.field.name == "" {
			open = open != (strings.Count(p.lit, `"`)%2 == 1)
			continue
		}
		if open || !strings.HasPrefix(p.field.name, "$upstream_") && !strings.HasPrefix(p.field.name, "${upstream_") {
			continue
		}
		switch strings.Trim(p.field.name, "${}") {
		case "upstream_addr":
			p.field.kind = kindAddrList
		case "upstream_status", "upstream_response_time", "upstream_connect_time", "upstream_header_time", "upstream_response_length", "upstream_bytes_received", "upstream_bytes_sent":
			p.field.kind = kindNumList
		}
	}
}
