package accesslog

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// wrap is something that carries log lines of others.
type wrap uint8

// Wraps, in the order in which a line is looked at.
const (
	wrapNone    wrap = iota
	wrapCRI          // 2026-11-30T08:11:06.123Z stdout F line: Kubernetes' container logs
	wrapJSON         // {"log":"line\n",..}: docker's json-file, journald, collectors
	wrap5424         // <190>1 2026-11-30T08:11:06Z host app pid id - line: syslog, RFC 5424
	wrapHeroku       // 2026-11-30T08:11:06Z app[process]: line
	wrapSyslog       // <190>Nov 30 08:11:06 host tag[pid]: line: syslog, RFC 3164, and journalctl
	wrapPod          // [pod/name/container] line: kubectl logs --prefix
	wrapCompose      // web-1  | line: docker compose logs
	wrapStamp        // 2026-11-30T08:11:06Z line: kubectl logs --timestamps
	wrapStern        // pod container line: stern
	wrapRuby         // I, [2026-11-30T08:11:06.123456 #12]  INFO -- : line: Ruby's Logger, with Rails' tags
	wrapLabels       // {app="web"} line: logcli, behind a time
	wrapStream       // ecs/web/0123abcd line: aws logs tail, behind a time
	wrapShort        // 2026-11-30T08:11:06 line: aws logs tail --format short, in UTC
	wrapColour       // lines coloured for a terminal
	wrapText         // 2026-11-30 08:11:06,123 INFO [logger] (thread) line: an application's own logging
	wrapTail         // 2026-11-30T08:11:06.123Z INFO logger {line}: the same, of JSON
	wraps
)

var wrapNames = [wraps]string{
	wrapNone: "plain", wrapCRI: "CRI", wrapJSON: "JSON with the line in it (docker, journald)", wrap5424: "syslog RFC 5424", wrapHeroku: "Heroku drain",
	wrapSyslog: "syslog RFC 3164", wrapPod: "kubectl --prefix", wrapCompose: "docker compose", wrapStamp: "a time before each line", wrapStern: "stern",
	wrapRuby: "Ruby's Logger", wrapLabels: "labels of Loki", wrapStream: "a log stream of CloudWatch", wrapShort: "a time without zone before each line",
	wrapColour: "colours of a terminal", wrapText: "what an application's logging puts before a line", wrapTail: "a text before a JSON object",
}

// String names a wrap.
func (w wrap) String() string { return wrapNames[w] }

// chain is the wraps around each line of a log, the outermost first.
type chain []wrap

// String names the wraps of a chain.
func (c chain) String() string {
	var names []string
	for _, w := range c {
		names = append(names, w.String())
	}
	return strings.Join(names, ", ")
}

func (c chain) same(d chain) bool { return bytes.Equal(c.key(), d.key()) }

func (c chain) key() (b []byte) {
	for _, w := range c {
		b = append(b, byte(w))
	}
	return b
}

const maxWraps = 3

// unwrapper takes the lines of one log out of what is around them.
type unwrapper struct {
	chain chain
	stamp moment // of the outermost wrap that has one
	clock clock
	json  [maxWraps]*jsonCutter
	r     reading
	bufs  [maxWraps][]byte
	parts [2][]byte // of a line that comes in pieces: standard output and error
	piece bool      // what was looked at last is a piece of a line
	which int
}

// open returns the line inside, valid until the next call. more means that the
// line is not whole yet; ok is false where the wraps are not there.
func (u *unwrapper) open(line []byte) (inner []byte, more, ok bool) {
	u.stamp, u.piece, u.which = moment{}, false, 0
	for i, w := range u.chain {
		if line, ok = u.peel(w, line, i); !ok {
			return nil, false, false
		}
	}
	p := &u.parts[u.which]
	if !u.piece && len(*p) == 0 {
		return line, false, true
	}
	if len(*p)+len(line) <= maxLine {
		*p = append(*p, line...)
	}
	if u.piece {
		return nil, true, true
	}
	line = *p
	*p = (*p)[:0]
	return line, false, true
}

// peel takes one wrap off.
func (u *unwrapper) peel(w wrap, line []byte, depth int) (inner []byte, ok bool) {
	line = bytes.TrimLeft(line, " \t")
	switch w {
	case wrapCRI:
		return u.cri(line)
	case wrapJSON:
		return u.object(line, depth)
	case wrap5424:
		return u.rfc5424(line)
	case wrapHeroku, wrapSyslog:
		return u.syslog(w, line)
	case wrapPod:
		if !hasPrefix(line, "[pod/") {
			return nil, false
		}
		i := bytes.Index(line, []byte("] "))
		return line[i+2:], i > 0
	case wrapCompose:
		return compose(line)
	case wrapStamp:
		rest, ok := u.time(line)
		return bytes.TrimPrefix(rest, space), ok && hasPrefix(rest, " ")
	case wrapStern:
		return stern(line)
	case wrapRuby:
		return u.ruby(line)
	case wrapLabels:
		return labels(line)
	case wrapStream:
		return logStream(line)
	case wrapShort:
		return u.short(line)
	case wrapColour:
		u.bufs[depth] = appendColourless(u.bufs[depth][:0], line)
		return u.bufs[depth], true
	case wrapText:
		return u.logged(line)
	case wrapTail:
		return u.tail(line)
	}
	return line, true
}

// time reads a date of ISO 8601 with its zone, which all wraps write.
func (u *unwrapper) time(line []byte) (rest []byte, ok bool) {
	if len(line) < 20 || line[10] != 'T' {
		return line, false
	}
	t, n := u.clock.read(&isoLayout, line)
	if n == 0 || t.wall {
		return line, false
	}
	u.stamped(t)
	return line[n:], true
}

func (u *unwrapper) stamped(t moment) {
	if u.stamp.step == 0 {
		u.stamp = t
	}
}

// cri reads what the container runtimes of Kubernetes write (KEP "CRI logging"):
// P marks a piece of a line, F its last.
func (u *unwrapper) cri(line []byte) (inner []byte, ok bool) {
	rest, ok := u.time(line)
	if !ok {
		return nil, false
	}
	switch {
	case hasPrefix(rest, " stdout "):
		u.which = 0
	case hasPrefix(rest, " stderr "):
		u.which = 1
	default:
		return nil, false
	}
	rest = rest[len(" stdout "):]
	if len(rest) == 0 || rest[0] != 'F' && rest[0] != 'P' {
		return nil, false
	}
	u.piece = rest[0] == 'P'
	if i := bytes.IndexByte(rest, ' '); i >= 0 {
		return rest[i+1:], true
	}
	return nil, true
}

// object takes the line out of a JSON object.
func (u *unwrapper) object(line []byte, depth int) (inner []byte, ok bool) {
	if len(line) == 0 || line[0] != '{' {
		return nil, false
	}
	j := u.json[depth]
	if j == nil {
		j = &jsonCutter{schema: &carrier, known: map[string]keyed{}}
		u.json[depth] = j
	}
	if f := j.cut(line, &u.r); f != "" && f != noStatusKey {
		return nil, false
	}
	if !u.r.shows(roleMessage) {
		return nil, false
	}
	text := u.r.text[roleMessage]
	buf := u.bufs[depth][:0]
	if len(text) > 0 && text[0] == '[' && text[len(text)-1] == ']' {
		if buf, ok = byteList(buf, text); !ok {
			return nil, false
		}
	} else {
		buf = appendPlain(buf, text, escapeJSON)
	}
	u.bufs[depth] = buf
	if t := u.r.end; t.step != 0 && !t.wall {
		u.stamped(t)
	}
	u.which = 0
	if string(u.r.get(roleServer)) == "stderr" {
		u.which = 1
	}
	end := len(buf)
	if end > 0 && buf[end-1] == '\n' {
		end--
	} else if u.r.shows(roleServer) && end >= dockerPiece {
		u.piece = true
	}
	return buf[:end], true
}

// dockerPiece is where docker cuts lines (daemon/logger/copier.go): only the
// last piece of one ends in a newline.
const dockerPiece = 16 << 10

// byteList reads [49,57,..]: journald writes texts that are no UTF-8 so.
func byteList(dst, list []byte) ([]byte, bool) {
	for _, one := range bytes.Split(list[1:len(list)-1], comma) {
		n, ok := count(bytes.TrimSpace(one))
		if !ok || n > 255 {
			return dst, false
		}
		dst = append(dst, byte(n))
	}
	return dst, true
}

// carrier finds the line in a JSON object. stream marks docker's json-file.
var carrier = schema{name: "carrier", fields: map[string]field{
	"log": {role: roleMessage}, "message": {role: roleMessage}, "msg": {role: roleMessage}, "textpayload": {role: roleMessage}, "line": {role: roleMessage},
	"_source.message": {role: roleMessage}, "_source.log": {role: roleMessage}, "_source.@timestamp": {role: roleEndTime}, "result._raw": {role: roleMessage}, "result._time": {role: roleEndTime}, "_raw": {role: roleMessage},
	"jsonpayload.message": {role: roleMessage}, "jsonpayload.log": {role: roleMessage}, "jsonpayload.msg": {role: roleMessage},
	"stream": {role: roleServer}, "time": {role: roleEndTime}, "@timestamp": {role: roleEndTime}, "timestamp": {role: roleEndTime}, "__realtime_timestamp": {role: roleEndTime, unit: oneMicro},
}}

// compose reads "web-1  | ", perhaps in colour.
func compose(line []byte) (inner []byte, ok bool) {
	line = plainColour(line)
	i := 0
	for i < len(line) && (isNameByte(line[i]) || line[i] == '-' || line[i] == '.' || line[i] == '@') { // docker service logs: web.1.id@node
		i++
	}
	end := skipBlanks(line, i)
	if i == 0 || end == i || end >= len(line) || line[end] != '|' {
		return nil, false
	}
	rest := bytes.TrimPrefix(plainColour(line[end+1:]), space)
	return plainColour(rest), true
}

// plainColour takes ESC [ .. m off the start.
func plainColour(b []byte) []byte {
	for hasPrefix(b, "\x1b[") {
		i := bytes.IndexByte(b, 'm')
		if i < 0 || i > 12 {
			return b
		}
		b = b[i+1:]
	}
	return b
}

// stern reads "pod-name container ": a name with a hyphen, as pods have, and
// another; with --all-namespaces one more stands before them.
func stern(line []byte) (inner []byte, ok bool) {
	first, rest := podWord(line)
	second, inner := podWord(rest)
	if first == nil || second == nil {
		return nil, false
	}
	if third, more := podWord(inner); third != nil && isPod(second) {
		return more, true
	}
	return inner, bytes.IndexByte(first, '-') > 0
}

// podWord takes a name of Kubernetes (RFC 1123) and the blank after it off a
// line, perhaps in colour; word is nil where there is none.
func podWord(line []byte) (word, rest []byte) {
	line = plainColour(line)
	i := 0
	for i < len(line) && (line[i] >= 'a' && line[i] <= 'z' || isDigit(line[i]) || line[i] == '-' || line[i] == '.') {
		i++
	}
	word, rest = line[:i], plainColour(line[i:])
	if i == 0 || word[0] == '-' || allDigits(strings.ReplaceAll(string(word), ".", "")) || len(rest) == 0 || rest[0] != ' ' {
		return nil, line
	}
	return word, plainColour(rest[1:])
}

// isPod tells whether a name ends as those do that controllers give: in five
// letters and digits, or in a number.
func isPod(name []byte) bool {
	i := bytes.LastIndexByte(name, '-')
	if i < 1 {
		return false
	}
	end := name[i+1:]
	return len(end) == 5 || allDigits(string(end)) && len(end) > 0
}

// chainsOf lists the ways in which a line may be wrapped: not at all, and what
// is found from the outside in.
func chainsOf(line []byte) (all []chain) {
	all = append(all, nil)
	var u unwrapper
	u.clock.until = anyTime
	var c chain
	for depth := range maxWraps {
		found := false
		for w := wrapCRI; w < wraps; w++ {
			if w == wrapColour && !isColoured(line) { // others of the log may be
				continue
			}
			if inner, ok := u.peel(w, line, depth); ok {
				line, found = append([]byte(nil), inner...), true
				c = append(c, w)
				break
			}
		}
		if !found || len(line) == 0 {
			break
		}
		all = append(all, append(chain(nil), c...))
	}
	return all
}

// anyTime serves where only whether a date is there counts.
var anyTime = time.Unix(utc2001, 0)

const utc2001 = 1_000_000_000

// unwrapFault says that a line has not what is around the others.
func (c chain) unwrapFault() fault { return fault(fmt.Sprintf("not wrapped as the others: %s", c)) }
