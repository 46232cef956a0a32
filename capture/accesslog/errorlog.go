package accesslog

import "bytes"

// errorLog reads the lines of nginx's error.log that tell of a request which
// limit_req or limit_conn refused. Its other lines are no requests.
type errorLog struct{ limited firstOf }

func newErrorLog() *errorLog {
	return &errorLog{firstOf{
		mustPattern(`<iso> [<_level>] <_pid>: *<_conn> limiting requests, excess: <_n> by zone <_zone>, client: <peer>, server: <_server>, request: "<request>", <_more>host: "<host>", referrer: "<_referrer>"`),
		mustPattern(`<iso> [<_level>] <_pid>: *<_conn> limiting requests, excess: <_n> by zone <_zone>, client: <peer>, server: <_server>, request: "<request>", <_more>host: "<host>"`),
		mustPattern(`<iso> [<_level>] <_pid>: *<_conn> limiting requests, excess: <_n> by zone <_zone>, client: <peer>, server: <_server>, request: "<request>"`),
		mustPattern(`<iso> [<_level>] <_pid>: *<_conn> limiting connections by zone <_zone>, client: <peer>, server: <_server>, request: "<request>", <_more>host: "<host>", referrer: "<_referrer>"`),
		mustPattern(`<iso> [<_level>] <_pid>: *<_conn> limiting connections by zone <_zone>, client: <peer>, server: <_server>, request: "<request>", <_more>host: "<host>"`),
		mustPattern(`<iso> [<_level>] <_pid>: *<_conn> limiting connections by zone <_zone>, client: <peer>, server: <_server>, request: "<request>"`),
	}}
}

func mustPattern(format string) *scanner {
	s, err := patternFormat(format)
	if err != nil {
		panic(err)
	}
	s.loose = true
	return s
}

const (
	delayed    fault = "delayed by limit_req: how it ended is in the access log"
	dryRun     fault = "a dry run of a limiter, which refused nothing"
	notErrors  fault = "not a line of nginx's error.log"
	noRefusal  fault = "not about a limiter"
	tornErrors fault = "a limiter's line that is torn"
)

// beside is what stands between the lines of an access log where a container writes both
// to one stream. What a limiter refused has a line there as well, so that it must not
// count twice.
const beside fault = "a line of the server's error log: how a request ended is in its access log"

// ofErrorLog tells whether a line is of nginx's error.log, or of Apache's
// (server/log.c: [Mon Nov 30 08:11:06.123456 2026] [core:error] ...).
func ofErrorLog(line []byte) bool {
	if len(line) < 30 {
		return false
	}
	if line[0] == '[' {
		return line[4] == ' ' && line[8] == ' ' && line[14] == ':' && month(line[5:8]) != 0 && bytes.Contains(line, []byte("] ["))
	}
	return line[4] == '/' && line[7] == '/' && line[10] == ' ' && line[19] == ' ' && line[20] == '[' && bytes.IndexByte(line[20:], '#') > 0
}

const ofServer fault = "a message of the server itself, not of a request"

// aside tells what a line is that no format reads, where it is one that servers write
// between those of requests; "" where it may be anything.
func aside(line []byte) fault {
	switch {
	case ofErrorLog(line):
		return beside
	case ofKlog(line), ofEnvoy(line), ofHAProxy(line):
		return ofServer
	case bytes.HasSuffix(line, []byte(": SSL handshake failure")), bytes.HasSuffix(line, []byte(": Connection closed during SSL handshake")): // HAProxy
		return noRequestColumn
	}
	return ""
}

// ofKlog knows lines of Kubernetes' programs, the controller of ingress-nginx among them
// (klog: I1130 08:11:06.123456       7 controller.go:168] text).
func ofKlog(line []byte) bool {
	return len(line) > 30 && bytes.IndexByte([]byte("IWEF"), line[0]) >= 0 && leadingDigits(line[1:]) == 4 && line[5] == ' ' && line[8] == ':' && line[11] == ':' && line[14] == '.' && bytes.Contains(line, []byte("] "))
}

// ofEnvoy knows lines of Envoy's own log: [2026-11-30 08:11:06.123][1][info][upstream] text.
func ofEnvoy(line []byte) bool {
	return len(line) > 30 && line[0] == '[' && line[5] == '-' && line[11] == ' ' && line[20] == '.' && hasPrefix(line[24:], "][")
}

// ofHAProxy knows what HAProxy tells of its servers and itself.
func ofHAProxy(line []byte) bool {
	for _, c := range [...]struct{ head, then string }{{"Server ", " is "}, {"Proxy ", " st"}, {"Health check for ", "server "}, {"backend ", " has no server available"}} {
		if hasPrefix(line, c.head) && bytes.Contains(line[:min(len(line), maxPrefix)], []byte(c.then)) {
			return true
		}
	}
	return false
}

func (e *errorLog) cut(line []byte, r *reading) fault {
	r.reset()
	switch {
	case len(line) < 30 || line[4] != '/' || line[7] != '/' || line[19] != ' ' || line[20] != '[':
		return notErrors
	case bytes.Contains(line, []byte(" delaying request")):
		return delayed
	case bytes.Contains(line, []byte(", dry run")):
		return dryRun
	case !bytes.Contains(line, []byte(" limiting ")):
		return noRefusal
	}
	if e.limited.cut(line, r) != "" {
		return tornErrors
	}
	r.coded = true // which status it was is not told
	r.set(roleLimited, limiterRefused)
	return ""
}
