package accesslog

import (
	"fmt"
	"strings"
	"time"
)

// apacheFormat compiles what stands in Apache's LogFormat (mod_log_config):
// %-directives with modifiers, and the escapes \" \\ \n \t of its quoted string.
// A format copied with the quotes of the configuration file may keep them.
func apacheFormat(format string) (*scanner, error) {
	pieces, err := apachePieces(format)
	if err != nil {
		return nil, err
	}
	return compile(format, pieces, escapeC)
}

func apachePieces(format string) (pieces []piece, err error) {
	var lit strings.Builder
	start := 0
	flush := func(next int) {
		if lit.Len() > 0 {
			pieces = append(pieces, piece{lit: lit.String(), at: start})
			lit.Reset()
		}
		start = next
	}
	for at := 0; at < len(format); {
		c := format[at]
		switch {
		case c == '\\' && at+1 < len(format):
			n := strings.IndexByte(`nt"\`, format[at+1])
			if n < 0 {
				lit.WriteByte('\\')
				at++
				continue
			}
			lit.WriteByte("\n\t\"\\"[n])
			at += 2
		case c == '%' && at+1 < len(format) && format[at+1] == '%':
			lit.WriteByte('%')
			at += 2
		case c == '%':
			f, next, err := apacheDirective(format, at)
			if err != nil {
				return nil, err
			}
			if f.kind == kindCLF {
				lit.WriteByte('[')
			}
			flush(next)
			pieces = append(pieces, piece{field: f, at: at})
			if f.kind == kindCLF {
				lit.WriteByte(']')
			}
			at = next
		default:
			lit.WriteByte(c)
			at++
		}
	}
	flush(len(format))
	return joinTargets(pieces, "%U", "%q"), nil
}

// apacheDirective reads the directive at a place: %, modifiers (a list of
// statuses, < and >), {argument}, and the letter.
func apacheDirective(format string, at int) (f field, next int, err error) {
	i := at + 1
	for i < len(format) && (isDigit(format[i]) || strings.IndexByte("!,<>", format[i]) >= 0) {
		i++
	}
	arg := ""
	if i < len(format) && format[i] == '{' {
		n := strings.IndexByte(format[i:], '}')
		if n < 0 {
			return f, 0, &FormatError{format, i, "{ is never closed by }"}
		}
		arg, i = format[i+1:i+n], i+n+1
	}
	if i == len(format) {
		return f, 0, &FormatError{format, at, "% without the letter of a directive"}
	}
	name := format[at : i+1]
	letter := format[i]
	if letter == '^' && i+2 < len(format) { // %^FB, %{..}^ti, %{..}^to
		f.name = format[at : i+3]
		return f, i + 3, nil
	}
	f, ok := apacheField(letter, arg)
	if letter == 't' {
		if f, err = apacheTime(arg); err != nil {
			return f, 0, &FormatError{format, at, err.Error()}
		}
	} else if !ok {
		return f, 0, &FormatError{format, at, fmt.Sprintf("%s is no directive of mod_log_config", name)}
	}
	f.name = name
	return f, i + 1, nil
}

// apacheField returns what a directive means, times apart. %t and the durations
// count from the request; %h may be a name.
func apacheField(letter byte, arg string) (field, bool) {
	switch letter {
	case 'a', 'h':
		if arg == "c" {
			return field{}, true // the peer of the connection, a proxy: %a is who it speaks for
		}
		return field{role: roleAddr}, true
	case 'l', 'A', 'e', 'f', 'k', 'P', 'X', 'n', 'R', 'v', 'V', 'C', 'L', 'p':
		return apacheText(letter, arg), true
	case 'u':
		return field{role: roleUser}, true
	case 'r':
		return field{role: roleRequest}, true
	case 'm':
		return field{role: roleMethod}, true
	case 'U':
		return field{role: rolePath, head: '/'}, true
	case 'q':
		return field{role: roleQuery, head: '?'}, true
	case 'H':
		return field{}, true
	case 's':
		return field{role: roleCode, kind: kindStatus}, true
	case 'b', 'B', 'O', 'I', 'S':
		return field{kind: kindNumber}, true
	case 'D':
		return field{role: roleTook, kind: kindNumber, unit: int64(time.Microsecond)}, true
	case 'T':
		unit := unitOf(arg)
		if arg == "" {
			unit = second
		}
		return field{role: roleTook, kind: kindNumber, unit: unit}, unit != 0
	case 'i':
		return field{role: requestHeader(arg)}, true
	case 'o':
		return field{role: responseHeader(arg)}, true
	}
	return field{}, false
}

func apacheText(letter byte, arg string) (f field) {
	switch {
	case letter == 'v' || letter == 'V':
		f.role = roleHost
	case letter == 'L':
		f.role = roleRequestID
	case letter == 'e' && strings.EqualFold(arg, "UNIQUE_ID"):
		f.role = roleRequestID
	case letter == 'e' && strings.HasPrefix(arg, "BALANCER_WORKER_NAME"):
		f.role = roleServer
	case letter == 'p' && arg == "remote":
		f.role, f.kind = rolePort, kindNumber
	case letter == 'p' || letter == 'k' || letter == 'P' && arg != "tid" && arg != "hextid":
		f.kind = kindNumber
	case letter == 'C' || letter == 'n':
		f.role = secretHeader(strings.ToLower(arg), "")
	}
	return f
}

// apacheTime reads %t and %{format}t: strftime, or one of sec, msec, usec,
// msec_frac, usec_frac, each with begin: or end: before it.
func apacheTime(arg string) (field, error) {
	what := roleStartTime
	if rest, ok := strings.CutPrefix(arg, "end:"); ok {
		what, arg = roleEndTime, rest
	}
	arg = strings.TrimPrefix(arg, "begin:")
	switch arg {
	case "":
		return field{role: what, kind: kindCLF}, nil
	case "sec":
		return field{role: what, kind: kindNumber, unit: second}, nil
	case "msec":
		return field{role: what, kind: kindNumber, unit: int64(time.Millisecond)}, nil
	case "usec":
		return field{role: what, kind: kindNumber, unit: int64(time.Microsecond)}, nil
	case "msec_frac":
		return field{role: roleFraction, kind: kindFixed, size: 3, unit: int64(time.Millisecond)}, nil
	case "usec_frac":
		return field{role: roleFraction, kind: kindFixed, size: 6, unit: int64(time.Microsecond)}, nil
	case "%z":
		return field{role: roleZone}, nil
	}
	l, err := strftime(arg)
	return field{role: what, kind: kindDate, lay: l}, err
}

// requestHeader returns what a request header means; responseHeader likewise.
func requestHeader(name string) role {
	switch name = strings.ToLower(name); name {
	case "user-agent":
		return roleAgent
	case "x-forwarded-for", "x-real-ip", "forwarded", "cf-connecting-ip", "true-client-ip", "x-client-ip", "fastly-client-ip", "x-envoy-external-address":
		return roleForwarded
	case "host", ":authority":
		return roleHost
	case "x-b3-traceid":
		return roleRequestID
	case "gccl-invocation-id":
		return roleIdempotency
	}
	if r := signalRole(name); r != roleNone {
		return r
	}
	return secretHeader(name, "")
}

func responseHeader(name string) role {
	switch strings.ToLower(name) {
	case "retry-after":
		return roleRetryAfter
	case "retry-after-ms", "x-ms-retry-after-ms":
		return roleRetryMillis
	case "date":
		return roleDateField
	case "x-request-id":
		return roleRequestID
	case "x-envoy-attempt-count": // in an answer: how often Envoy tried
		return roleAttempts
	}
	return roleNone
}

// joinTargets makes one field of a path and the query right after it, which have
// no literal between them.
func joinTargets(pieces []piece, pathName, queryName string) []piece {
	out := pieces[:0]
	for _, p := range pieces {
		if n := len(out); n > 0 && p.field.role == roleQuery && p.field.name == queryName && out[n-1].field.role == rolePath {
			out[n-1].field.role = roleTarget
			out[n-1].field.name += p.field.name
			continue
		}
		out = append(out, p)
	}
	return out
}
