package accesslog

import (
	"fmt"
	"strings"
	"time"
)

// haproxyFormat compiles an HAProxy log-format (configuration manual, "Custom
// log format"): %name, %{flags}name, %[expression]; "\ " is a blank. HAProxy
// writes #HH for bytes that it escapes.
func haproxyFormat(format string) (*scanner, error) {
	pieces, err := haproxyPieces(format)
	if err != nil {
		return nil, err
	}
	return compile(format, pieces, escapeHash)
}

func haproxyPieces(format string) (pieces []piece, err error) {
	var lit strings.Builder
	start := 0
	flush := func(next int) {
		if lit.Len() > 0 {
			pieces = append(pieces, piece{lit: lit.String(), at: start})
			lit.Reset()
		}
		start = next
	}
	quoteAll := false
	for at := 0; at < len(format); {
		c := format[at]
		switch {
		case c == '\\' && at+1 < len(format):
			lit.WriteByte(format[at+1])
			at += 2
		case c == '%' && at+1 < len(format) && format[at+1] == '%':
			lit.WriteByte('%')
			at += 2
		case c == '%':
			f, quoted, next, err := haproxyVariable(format, at)
			if err != nil {
				return nil, err
			}
			if f.name == haproxyOptions {
				quoteAll, at = quoted, next
				continue
			}
			quoted = quoted || quoteAll
			if quoted {
				lit.WriteByte('"')
			}
			flush(next)
			pieces = append(pieces, piece{field: f, at: at})
			if quoted {
				lit.WriteByte('"')
			}
			at = next
		default:
			lit.WriteByte(c)
			at++
		}
	}
	flush(len(format))
	return pieces, nil
}

// haproxyOptions is %{+Q}o and the like: flags for all that comes after.
const haproxyOptions = "%o"

func haproxyVariable(format string, at int) (f field, quoted bool, next int, err error) {
	i := at + 1
	if i < len(format) && format[i] == '{' {
		n := strings.IndexByte(format[i:], '}')
		if n < 0 {
			return f, false, 0, &FormatError{format, i, "{ is never closed by }"}
		}
		quoted = strings.Contains(format[i:i+n], "+Q")
		i += n + 1
	}
	if i < len(format) && format[i] == '[' {
		end := closing(format, i)
		if end < 0 {
			return f, false, 0, &FormatError{format, i, "[ is never closed by ]"}
		}
		f = haproxySample(format[i+1 : end])
		f.name = format[at : end+1]
		return f, quoted, end + 1, nil
	}
	from := i
	for i < len(format) && isLetter(format[i]) {
		i++
	}
	name := format[from:i]
	if name == "" {
		return f, false, 0, &FormatError{format, at, "% without the name of a variable"}
	}
	f, n := haproxyField(name)
	if n == 0 {
		return f, false, 0, &FormatError{format, at, fmt.Sprintf("%%%s is no variable of HAProxy's", name)}
	}
	f.name = "%" + name[:n]
	return f, quoted, from + n, nil
}

// closing finds the ] of the [ at a place; brackets nest in sample expressions.
func closing(s string, at int) int {
	depth := 0
	for i := at; i < len(s); i++ {
		switch s[i] {
		case '[', '(':
			depth++
		case ']', ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

var haproxyMillis = field{kind: kindNumber, unit: int64(time.Millisecond)}

// haproxyFields are HAProxy's variables; dates are local unless they say more,
// and of the first byte of the request (%tr) or the connection (%t).
var haproxyFields = map[string]field{
	"ci": {role: roleAddr}, "cp": {role: rolePort, kind: kindNumber},
	"t": {role: roleStartTime, kind: kindDate, lay: &haproxyDate}, "tr": {role: roleStartTime, kind: kindDate, lay: &haproxyDate},
	"T": {role: roleStartTime, kind: kindCLF}, "trg": {role: roleStartTime, kind: kindCLF}, "trl": {role: roleStartTime, kind: kindCLF}, "Tl": {role: roleStartTime, kind: kindCLF},
	"Ts": {role: roleStartTime, kind: kindNumber, unit: second}, "ms": {role: roleFraction, kind: kindFixed, size: 3, unit: int64(time.Millisecond)},
	"Ta": {role: roleTook, kind: kindNumber, unit: int64(time.Millisecond)}, "Tt": {role: roleTook, kind: kindNumber, unit: int64(time.Millisecond)},
	"TR": haproxyMillis, "Tw": haproxyMillis, "Tc": haproxyMillis, "Tr": haproxyMillis, "Tq": haproxyMillis, "Th": haproxyMillis, "Ti": haproxyMillis, "Td": haproxyMillis, "Tu": haproxyMillis,
	"ST": {role: roleCode, kind: kindStatus}, "B": {kind: kindNumber}, "U": {kind: kindNumber}, "CC": {}, "CS": {},
	"tsc": {role: roleTermination}, "ts": {role: roleTermination}, "rc": {role: roleRetries, kind: kindNumber},
	"ac": {kind: kindNumber}, "fc": {kind: kindNumber}, "bc": {kind: kindNumber}, "sc": {kind: kindNumber}, "sq": {kind: kindNumber}, "bq": {kind: kindNumber},
	"lc": {}, "rt": {role: roleCounter, kind: kindNumber}, "pid": {kind: kindNumber},
	"f": {}, "ft": {}, "b": {}, "s": {role: roleServer}, "bi": {}, "bp": {}, "fi": {}, "fp": {}, "si": {}, "sp": {}, "H": {},
	"hr": {role: roleCaptures, kind: kindBraces}, "hs": {role: roleNone, kind: kindBraces}, "hrl": {}, "hsl": {},
	"r": {role: roleRequest}, "HM": {role: roleMethod}, "HP": {role: rolePath}, "HPO": {role: rolePath}, "HU": {role: roleTarget}, "HQ": {role: roleQuery}, "HV": {},
	"ID": {role: roleRequestID}, "sslc": {}, "sslv": {}, "o": {},
}

var haproxyDate = mustLayout("%d/%b/%Y:%H:%M:%S.%3f")

// haproxyField finds the longest variable that a name begins with: letters may
// follow it.
func haproxyField(name string) (f field, n int) {
	for n = min(len(name), 4); n > 0; n-- {
		if f, ok := haproxyFields[name[:n]]; ok {
			return f, n
		}
	}
	return field{}, 0
}

// haproxySample reads what a sample expression fetches, where it is a header.
func haproxySample(expression string) field {
	fetch, _, _ := strings.Cut(expression, ",")
	name, arg, ok := strings.Cut(fetch, "(")
	arg = strings.Trim(strings.TrimSuffix(arg, ")"), `"' `)
	header, _, _ := strings.Cut(arg, ",")
	switch strings.TrimSpace(name) {
	case "req.hdr", "req.fhdr", "hdr", "req.hdr_ip", "hdr_ip":
		if ok {
			return requestHeader(header)
		}
	case "res.hdr", "res.fhdr", "shdr":
		return responseHeader(header)
	case "var": // named after what is in it: var(txn.retry_after)
		if i := strings.IndexByte(header, '.'); i >= 0 {
			header = header[i+1:]
		}
		f := aliasOf(strings.ToLower(header)).field
		return field{role: f.role, answer: f.answer, ask: f.ask}
	case "src":
		return field{role: roleAddr}
	case "src_port":
		return field{role: rolePort}
	case "method", "capture.req.method":
		return field{role: roleMethod}
	case "path":
		return field{role: rolePath}
	case "pathq", "url", "capture.req.uri":
		return field{role: roleTarget}
	case "query":
		return field{role: roleQuery}
	case "status", "txn.status":
		return field{role: roleCode}
	case "unique-id", "uuid":
		return field{role: roleRequestID}
	}
	return field{}
}
