package accesslog

import (
	"fmt"
	"strings"
)

// Format tells how the lines of a log are cut. It is never changed once made and
// may serve several sources.
type Format struct {
	name     string // of a preset, or the format string with its language
	esc      escape
	utc      bool     // times without a zone are UTC by definition
	whole    bool     // targets are whole URLs: scheme and host are taken off
	gone     uint16   // a status that means the client left, beside 499 and 444
	hints    bool     // a field shows Retry-After
	partial  bool     // the configuration says that requests may be left out
	weight   int      // of two formats that read the same lines, the one of more weight is meant
	family   string   // formats of one family read the same lines in the same way
	marks    []string // keys by which a JSON log is known
	json     bool
	machine  bool          // one of the JSON or key=value formats
	beside   bool          // another log in the same file has the same requests
	timeless bool          // lines that have no time are read all the same
	open     func() cutter // the state of one log
}

// cutter cuts the lines of one log into records.
type cutter interface {
	cut(line []byte, r *reading) fault
}

// cut implements cutter: a scanner has no state.
func (s *scanner) cut(line []byte, r *reading) fault { return s.scan(line, r) }

// Name returns the preset's name, or the format string.
func (f *Format) Name() string { return f.name }

// scanned makes the format of a scanner.
func scanned(name string, s *scanner, esc escape) *Format {
	return &Format{
		name: name, esc: esc, hints: s.has(roleRetryAfter) || s.has(roleRetryMillis), open: func() cutter { return s },
		timeless: !s.has(roleStartTime) && !s.has(roleEndTime),
	}
}

// ParseFormat reads what names a format: a preset of Formats, or a format string
// as servers have it in their configuration, with its language before it:
//
//	nginx:$remote_addr - $remote_user [$time_local] "$request" $status ...
//	apache:%h %l %u %t "%r" %>s %b
//	envoy:[%START_TIME%] "%REQ(:METHOD)% ..." %RESPONSE_CODE% ...
//	haproxy:%ci:%cp [%tr] %ft %b/%s ... %ST ...
//	<ip> - <user> [<time>] "<request>" <status> <_>
//
// nginx-json: and nginx-none: are nginx strings with escape=json and escape=none.
func ParseFormat(spec string) (*Format, error) {
	if f := preset(spec); f != nil {
		return f, nil
	}
	language, format, ok := strings.Cut(spec, ":")
	if ok {
		f, err := compileFormat(language, strings.TrimSpace(unquoteFormat(format)))
		if f != nil || err != nil {
			return f, err
		}
	}
	if strings.Contains(spec, "<") {
		s, err := patternFormat(spec)
		if err == nil {
			err = s.judged(spec)
		}
		if err != nil {
			return nil, err
		}
		return scanned(spec, s, escapeC), nil
	}
	hint := ""
	switch {
	case strings.Contains(spec, "$"):
		hint = "; put nginx: before an nginx log_format"
	case strings.Contains(spec, "%"):
		hint = "; put apache:, envoy: or haproxy: before a format string"
	}
	return nil, fmt.Errorf("log format %q is no preset and no format string%s ('stormwatch formats' lists what is understood)", spec, hint)
}

// compileFormat compiles a format string; nil where the language is none.
func compileFormat(language, format string) (f *Format, err error) {
	var s *scanner
	esc := escapeC
	switch language {
	case "nginx":
		s, err = nginxFormat(format, escapeC)
	case "nginx-json":
		esc = escapeJSON
		s, err = nginxFormat(format, escapeJSON)
	case "nginx-none":
		esc = escapeNone
		s, err = nginxFormat(format, escapeNone)
	case "apache":
		s, err = apacheFormat(format)
	case "envoy":
		esc = escapeNone
		s, err = envoyFormat(format)
	case "haproxy":
		esc = escapeHash
		s, err = haproxyFormat(format)
	default:
		return nil, nil
	}
	if err == nil {
		err = s.judged(format)
	}
	if err != nil {
		return nil, err
	}
	f = scanned(language+":"+format, s, esc)
	f.utc = language == "envoy"
	return f, nil
}

// unquoteFormat takes off what surrounds a format in a configuration file: one
// pair of quotes around all of it. nginx joins several quoted pieces; so does
// this.
func unquoteFormat(s string) string {
	t := strings.TrimSpace(s)
	if len(t) < 2 || t[0] != '\'' || t[len(t)-1] != '\'' {
		if len(t) > 2 && t[0] == '"' && t[len(t)-1] == '"' && strings.Contains(t[1:len(t)-1], `\"`) {
			return t[1 : len(t)-1]
		}
		return s
	}
	var out strings.Builder
	in := false
	for i := 0; i < len(t); i++ {
		switch {
		case t[i] == '\'':
			in = !in
		case in && t[i] == '\\' && i+1 < len(t) && (t[i+1] == '\'' || t[i+1] == '\\'):
			i++
			out.WriteByte(t[i])
		case in:
			out.WriteByte(t[i])
		case t[i] != ' ' && t[i] != '\n' && t[i] != '\t' && t[i] != '\r':
			return s // quotes that are part of the format
		}
	}
	return out.String()
}
