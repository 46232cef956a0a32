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
