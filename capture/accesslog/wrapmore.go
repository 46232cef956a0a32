package accesslog

import "bytes"

// short reads a time to the second without its zone and the line behind it, as aws logs
// tail --format short writes them, in UTC; a zone that is given for the log holds here too.
func (u *unwrapper) short(line []byte) (inner []byte, ok bool) {
	const date = len("2026-11-30T08:11:06")
	if len(line) <= date+1 || line[10] != 'T' || line[date] != ' ' {
		return nil, false
	}
	t, n := u.clock.read(&isoLayout, line[:date])
	if n != date || !t.wall {
		return nil, false
	}
	u.stamped(t)
	return line[date+1:], true
}

// ruby reads what Ruby's Logger puts before a line (logger/formatter.rb), and the tags
// in brackets that Rails adds.
func (u *unwrapper) ruby(line []byte) (inner []byte, ok bool) {
	if len(line) < 6 || !hasPrefix(line[1:], ", [") || bytes.IndexByte([]byte("DIWEFA"), line[0]) < 0 {
		return nil, false
	}
	t, n := u.clock.read(&isoLayout, line[4:])
	end := bytes.Index(line, []byte(" -- "))
	if n == 0 || end < 0 {
		return nil, false
	}
	u.stamped(t)
	line = line[end+len(" -- "):]
	colon := bytes.IndexByte(line, ':')
	if colon < 0 {
		return nil, false
	}
	line = bytes.TrimPrefix(line[colon+1:], space)
	for len(line) > 0 && line[0] == '[' {
		i := bytes.Index(line, []byte("] "))
		if i < 0 || bytes.ContainsAny(line[:i], " =\"") {
			break
		}
		line = line[i+2:]
	}
	return line, true
}

// labels reads {name="value", ..} and the blanks behind it.
func labels(line []byte) (inner []byte, ok bool) {
	if len(line) == 0 || line[0] != '{' {
		return nil, false
	}
	rest := line[1:]
	for {
		rest = bytes.TrimLeft(rest, " ,")
		if len(rest) > 0 && rest[0] == '}' {
			inner = bytes.TrimLeft(rest[1:], " \t")
			return inner, len(inner) > 0
		}
		n := 0
		for n < len(rest) && isNameByte(rest[n]) {
			n++
		}
		if n == 0 || !hasPrefix(rest[n:], "=\"") {
			return nil, false
		}
		rest = rest[n+2:]
		end := keyEnd(rest, 0)
		if end < 0 {
			return nil, false
		}
		rest = rest[end+1:]
	}
}

// logStream reads the name of a stream: of ECS, Lambda or an agent, with slashes in
// it, or of an EC2 instance.
func logStream(line []byte) (inner []byte, ok bool) {
	i := bytes.IndexByte(line, ' ')
	if i < 3 || bytes.ContainsAny(line[:i], "\"=:?{,") {
		return nil, false
	}
	word := line[:i]
	slash := bytes.IndexByte(word, '/')
	if len(bytes.Trim(word, "0123456789/")) == 0 { // a date
		return nil, false
	}
	if slash < 1 && !(hasPrefix(word, "i-") && i > 9) {
		return nil, false
	}
	inner = bytes.TrimLeft(line[i:], " ")
	return inner, len(inner) > 0
}
