package accesslog

import (
	"fmt"
	"strings"
	"time"
)

// envoyFormat compiles an Envoy format string (command operators of its access
// log: %NAME%, %NAME(argument)%, %NAME(argument):length%). Envoy writes no
// escapes in text, and "-" for what it does not know.
func envoyFormat(format string) (*scanner, error) {
	pieces, err := envoyPieces(format)
	if err != nil {
		return nil, err
	}
	return compile(format, pieces, escapeNone)
}

func envoyPieces(format string) (pieces []piece, err error) {
	for at := 0; at < len(format); {
		i := strings.IndexByte(format[at:], '%')
		if i < 0 {
			return append(pieces, piece{lit: envoyLiteral(format[at:]), at: at}), nil
		}
		if i > 0 {
			pieces = append(pieces, piece{lit: envoyLiteral(format[at : at+i]), at: at})
		}
		at += i
		if at+1 < len(format) && format[at+1] == '%' {
			pieces = append(pieces, piece{lit: "%", at: at})
			at += 2
			continue
		}
		f, next, err := envoyOperator(format, at)
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, piece{field: f, at: at})
		at = next
	}
	return pieces, nil
}

// envoyLiteral drops the \n at the end that configurations write out.
func envoyLiteral(s string) string {
	return strings.TrimSuffix(strings.TrimSuffix(s, `\n`), "\n")
}

// envoyOperator reads the operator at a place. A date format in its argument
// holds % signs, so the argument is read first.
func envoyOperator(format string, at int) (f field, next int, err error) {
	i := at + 1
	for i < len(format) && isNameByte(format[i]) {
		i++
	}
	name, arg := format[at+1:i], ""
	if name == "" {
		return f, 0, &FormatError{format, at, "% without the name of an operator"}
	}
	if i < len(format) && format[i] == '(' {
		n := strings.Index(format[i:], ")")
		if n < 0 {
			return f, 0, &FormatError{format, i, "( is never closed by )"}
		}
		arg, i = format[i+1:i+n], i+n+1
	}
	if i < len(format) && format[i] == ':' {
		for i++; i < len(format) && isDigit(format[i]); i++ {
		}
	}
	if i == len(format) || format[i] != '%' {
		return f, 0, &FormatError{format, at, fmt.Sprintf("%%%s is never closed by %%", name)}
	}
	if f, err = envoyField(name, arg); err != nil {
		return f, 0, &FormatError{format, at, err.Error()}
	}
	f.name = format[at : i+1]
	return f, i + 1, nil
}

// envoyFields are operators without an argument that mean something here.
var envoyFields = map[string]field{
	"DURATION":      {role: roleTook, kind: kindNumber, unit: int64(time.Millisecond)},
	"RESPONSE_CODE": {role: roleCode, kind: kindStatus}, "RESPONSE_CODE_DETAILS": {role: roleDetails},
	"RESPONSE_FLAGS": {role: roleFlags}, "RESPONSE_FLAGS_LONG": {role: roleFlags},
	"DOWNSTREAM_REMOTE_ADDRESS": {role: roleAddr}, "DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT": {role: roleAddr}, "DOWNSTREAM_REMOTE_PORT": {role: rolePort, kind: kindNumber},
	"UPSTREAM_HOST": {role: roleServer}, "UPSTREAM_REMOTE_ADDRESS": {role: roleServer},
	"UPSTREAM_CLUSTER": {role: roleCluster}, "UPSTREAM_CLUSTER_RAW": {role: roleCluster},
	"UPSTREAM_REQUEST_ATTEMPT_COUNT": {role: roleAttempts, kind: kindNumber},
	"BYTES_RECEIVED":                 {kind: kindNumber}, "BYTES_SENT": {kind: kindNumber},
	"STREAM_ID": {}, "TRACE_ID": {role: roleRequestID},
}

func envoyField(name, arg string) (field, error) {
	switch name {
	case "START_TIME":
		return envoyTime(roleStartTime, arg)
	case "REQ", "REQ_WITHOUT_QUERY":
		return envoyHeader(arg, envoyRequest), nil
	case "RESP":
		return envoyHeader(arg, responseHeader), nil
	case "TRAILER":
		return envoyHeader(arg, responseHeader), nil
	case "GRPC_STATUS", "GRPC_STATUS_NUMBER":
		return field{role: roleRPC}, nil
	case "DYNAMIC_METADATA", "FILTER_STATE", "METADATA", "ENVIRONMENT":
		return field{}, nil
	case "EMIT_TIME":
		return envoyTime(roleEndTime, arg)
	case "START_TIME_LOCAL", "EMIT_TIME_LOCAL":
		f, err := envoyTime(roleStartTime, arg)
		if name == "EMIT_TIME_LOCAL" {
			f.role = roleEndTime
		}
		return f, err
	}
	f, ok := envoyFields[name]
	if !ok {
		for i := 0; i < len(name); i++ {
			if c := name[i]; (c < 'A' || c > 'Z') && c != '_' && !isDigit(c) {
				return f, fmt.Errorf("%%%s%% is no operator: their names are in capital letters", name)
			}
		}
	}
	return f, nil
}

// envoyTime reads the argument of %START_TIME%: strftime, and none for
// 2026-11-30T08:11:06.123Z. Times are UTC.
func envoyTime(what role, arg string) (field, error) {
	f := field{role: what, kind: kindDate, lay: &layout{}}
	if arg == "" {
		return f, nil
	}
	l, err := strftime(arg)
	f.lay = l
	return f, err
}

// envoyHeader reads X?Y: header X, or Y where that is missing.
func envoyHeader(arg string, meaning func(string) field) field {
	first, second, _ := strings.Cut(arg, "?")
	f := meaning(first)
	if f.role == roleNone && second != "" {
		f = meaning(second)
	}
	return f
}

func envoyRequest(name string) field {
	switch strings.ToLower(name) {
	case ":method":
		return field{role: roleMethod}
	case ":path", "x-envoy-original-path":
		return field{role: roleTarget}
	}
	return requestHeader(name)
}
