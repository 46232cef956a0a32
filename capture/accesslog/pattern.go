package accesslog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stormwatch/capture"
)

// patternFormat compiles `<ip> - <user> [<time>] "<request>" <status> <_>`:
// names in angle brackets are fields, <_> is passed over, all else stands for
// itself. A duration may name its unit: <took:ms>.
func patternFormat(format string) (*scanner, error) {
	pieces, err := patternPieces(format)
	if err != nil {
		return nil, err
	}
	return compile(format, pieces, escapeC)
}

func patternPieces(format string) (pieces []piece, err error) {
	for at := 0; at < len(format); {
		i := strings.IndexByte(format[at:], '<')
		if i < 0 {
			return append(pieces, piece{lit: format[at:], at: at}), nil
		}
		if i > 0 {
			pieces = append(pieces, piece{lit: format[at : at+i], at: at})
		}
		at += i
		n := strings.IndexByte(format[at:], '>')
		if n < 0 {
			return nil, &FormatError{format, at, "< is never closed by >"}
		}
		f, err := patternField(format[at+1 : at+n])
		if err != nil {
			return nil, &FormatError{format, at, err.Error()}
		}
		f.name = format[at : at+n+1]
		pieces = append(pieces, piece{field: f, at: at})
		at += n + 1
	}
	return pieces, nil
}

// patternFields are the names that a pattern knows.
var patternFields = map[string]field{
	"ip": {role: roleAddr}, "addr": {role: roleAddr}, "client": {role: roleAddr}, "remote_addr": {role: roleAddr}, "peer": {role: roleAddr, kind: kindIP},
	"port": {role: rolePort, kind: kindNumber}, "user": {role: roleUser}, "key": {role: roleKey},
	"time": {role: roleEndTime}, "end": {role: roleEndTime}, "start": {role: roleStartTime},
	"address": {role: roleAddr, kind: kindIP, size: 1}, "vhost": {role: roleHost, kind: kindHost}, "add": {role: roleTook, unit: second, sum: true}, "counter": {role: roleCounter, kind: kindNumber},
	"frac": {role: roleFraction, kind: kindNumber, unit: int64(time.Millisecond)}, "iso": {role: roleEndTime, kind: kindDate, lay: &isoLayout}, "gin": {role: roleEndTime, kind: kindDate, lay: &ginLayout}, "ctime": {role: roleStartTime, kind: kindDate, lay: &ctimeLayout},
	"clf": {role: roleEndTime, kind: kindCLF}, "clfstart": {role: roleStartTime, kind: kindCLF},
	"request": {role: roleRequest}, "method": {role: roleMethod}, "uri": {role: roleTarget}, "target": {role: roleTarget}, "path": {role: rolePath}, "query": {role: roleQuery}, "url": {role: roleURL},
	"host": {role: roleHost}, "agent": {role: roleAgent}, "ua": {role: roleAgent}, "forwarded": {role: roleForwarded}, "xff": {role: roleForwarded},
	"status": {role: roleCode, kind: kindStatus}, "bytes": {kind: kindNumber}, "number": {kind: kindNumber},
	"took": {role: roleTook, unit: second}, "duration": {role: roleTook, unit: second},
	"retry_after": {role: roleRetryAfter}, "retry_after_ms": {role: roleRetryMillis}, "id": {role: roleRequestID}, "idempotency_key": {role: roleIdempotency},
	"upstream_addr": {role: roleUpstreamAddr}, "upstream_status": {role: roleUpstreamCode}, "upstream_time": {role: roleUpstreamTook},
	"retries": {role: roleRetries, kind: kindNumber}, "attempts": {role: roleAttempts}, "limit": {role: roleLimited}, "server": {role: roleServer},
	"flags": {role: roleFlags}, "details": {role: roleDetails}, "termination": {role: roleTermination},
	"rt": {role: roleTook, kind: kindMillis}, "lone": {role: roleTook, kind: kindMillis, size: 1}, "msec": {role: roleEndTime, kind: kindEpochTime}, "elapsed": {role: roleTook, kind: kindNumber, unit: int64(time.Millisecond), pad: true},
}

var ginLayout = mustLayout("%Y/%m/%d - %H:%M:%S")

var ctimeLayout = mustLayout("%a %b %e %H:%M:%S %Y")

func patternField(name string) (field, error) {
	if strings.HasPrefix(name, "_") {
		return field{}, nil
	}
	name, unit, ok := strings.Cut(name, ":")
	f, known := patternFields[name]
	if a := capture.FieldOf([]byte(name)); a != 0 && !known {
		f, known = field{role: roleAnswer, answer: a}, true
	}
	if !known {
		return f, fmt.Errorf("<%s> is not known; known are <_>, %s", name, "<"+strings.Join(slices.Sorted(maps.Keys(patternFields)), ">, <")+">")
	}
	if ok {
		if f.unit = unitOf(unit); f.unit == 0 || f.role != roleTook && f.role != roleEndTime && f.role != roleStartTime {
			return f, fmt.Errorf("<%s:%s>: a duration or time may have the unit ns, us, ms or s", name, unit)
		}
	}
	return f, nil
}
