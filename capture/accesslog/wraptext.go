package accesslog

import "bytes"

// isColoured tells whether a terminal would show parts of a line in colour.
func isColoured(line []byte) bool { return bytes.Contains(line, colourStart) }

var colourStart = []byte("\x1b[")

// appendColourless appends line without ESC [ .. m (ECMA-48, SGR).
func appendColourless(dst, line []byte) []byte {
	for {
		i := bytes.Index(line, colourStart)
		if i < 0 {
			return append(dst, line...)
		}
		dst = append(dst, line[:i]...)
		n := i + len(colourStart)
		for n < len(line) && (isDigit(line[n]) || line[n] == ';') {
			n++
		}
		if n == len(line) || line[n] != 'm' {
			dst = append(dst, line[i:i+len(colourStart)]...)
			line = line[i+len(colourStart):]
			continue
		}
		line = line[n+1:]
	}
}

const maxPrefix = 256 // bytes that are looked through for where a line begins

// logged finds a line of an access log behind what the logging of an application puts
// before it: time, level, thread and logger, in forms that each sets up for itself. It
// begins at the address that stands before the date in brackets, or before the request.
func (u *unwrapper) logged(line []byte) (inner []byte, ok bool) {
	if first, _, _ := bytes.Cut(line, space); startsAddress(first) {
		return nil, false
	}
	end := requestAnchor(line)
	if end < 0 {
		return nil, false
	}
	words := 3 // address, ident, user
	switch {
	case line[end+1] == '[':
	case line[end-1] == '-':
		words = 2 // address, -
	default:
		words = 1
	}
	from := end
	for range words {
		if from < 0 {
			return nil, false
		}
		from = bytes.LastIndexByte(line[:from], ' ')
	}
	if from = addressIn(line, from+1); from < 0 {
		return nil, false
	}
	u.leading(line)
	return line[from:], true
}

// requestAnchor finds the blank before `[30/Nov/2026:08:11:06 +0000] "` or before the
// quote of `- "GET ` or of `192.0.2.1 "GET `; -1 where there is none within reach.
func requestAnchor(line []byte) int {
	near := line[:min(len(line), maxPrefix)]
	for i := 1; i+2 < len(near); i++ {
		if near[i] != ' ' {
			continue
		}
		switch near[i+1] {
		case '[':
			n := bytes.IndexByte(near[i:], ']')
			if n > 0 && isDigit(near[i+2]) && hasPrefix(line[i+n:], `] "`) {
				return i
			}
		case '"':
			if n := methodEnd(near[i+2:]); n > 0 && (near[i-1] == '-' || isDigit(near[i-1]) || near[i-1] == ']') {
				return i
			}
		}
	}
	return -1
}

// addressIn finds the address in the word at a place; a logger's name and a colon may
// stand before it. -1 where there is none.
func addressIn(line []byte, from int) int {
	word := line[from:]
	if n := bytes.IndexByte(word, ' '); n >= 0 {
		word = word[:n]
	}
	for i := 0; i < len(word); i++ {
		if (i == 0 || word[i-1] == ':') && startsAddress(word[i:]) {
			return from + i
		}
	}
	return -1
}

// startsAddress tells whether a word is an address, perhaps with a port or a comma.
func startsAddress(word []byte) bool {
	word = bytes.TrimRight(word, ",")
	if _, ok := parseIP(word); ok {
		return true
	}
	host, _ := splitPort(word)
	_, ok := parseIP(host)
	return ok
}

// leading takes the time that a line begins with, perhaps in brackets.
func (u *unwrapper) leading(line []byte) {
	if t, n := u.clock.read(&isoLayout, bytes.TrimPrefix(line, bracket)); n > 0 {
		u.stamped(t)
	}
}

var bracket = []byte("[")

// tail finds a JSON object behind a text, as console encoders of zap and Caddy and the
// files of fluentd have it.
func (u *unwrapper) tail(line []byte) (inner []byte, ok bool) {
	if len(line) == 0 || line[0] == '{' || line[len(line)-1] != '}' {
		return nil, false
	}
	for i := 1; i+1 < len(line) && i < maxPrefix; i++ {
		if line[i] != '{' || line[i-1] > ' ' {
			continue
		}
		if at := skipSpace(line, i+1); at == len(line) || line[at] != '"' {
			return nil, false
		}
		u.leading(line)
		return line[i:], true
	}
	return nil, false
}
