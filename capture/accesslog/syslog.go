package accesslog

import "bytes"

// rfc5424 reads syslog's header, perhaps with the length that TCP puts before
// it (RFC 6587 section 3.4.1).
func (u *unwrapper) rfc5424(line []byte) (inner []byte, ok bool) {
	n := leadingDigits(line)
	if n > 0 && n < 8 && hasPrefix(line[n:], " <") {
		line = line[n+1:]
	}
	if line, ok = priority(line); !ok || !hasPrefix(line, "1 ") {
		return nil, false
	}
	line = line[2:]
	if rest, ok := u.time(line); ok {
		line = rest
	} else if hasPrefix(line, "- ") {
		line = line[1:]
	} else {
		return nil, false
	}
	for range 4 { // host, application, process, message id
		if len(line) == 0 || line[0] != ' ' {
			return nil, false
		}
		i := bytes.IndexByte(line[1:], ' ')
		if i < 1 {
			return nil, false
		}
		line = line[1+i:]
	}
	line = line[1:]
	switch {
	case len(line) > 0 && line[0] == '-':
		line = line[1:]
	default:
		for len(line) > 0 && line[0] == '[' {
			end := structured(line)
			if end < 0 {
				return nil, false
			}
			line = line[end:]
		}
	}
	return bytes.TrimPrefix(bytes.TrimPrefix(line, space), byteOrderMark), true
}

// structured finds the end of [id name="value"..], in which ] is escaped.
func structured(b []byte) int {
	quoted := false
	for i := 1; i < len(b); i++ {
		switch {
		case b[i] == '\\':
			i++
		case b[i] == '"':
			quoted = !quoted
		case b[i] == ']' && !quoted:
			return i + 1
		}
	}
	return -1
}

// priority reads <190>.
func priority(line []byte) (rest []byte, ok bool) {
	if len(line) < 3 || line[0] != '<' {
		return line, false
	}
	n := leadingDigits(line[1:])
	if n == 0 || n > 3 || 1+n >= len(line) || line[1+n] != '>' {
		return line, false
	}
	return line[n+2:], true
}

var (
	syslogLayout  = mustLayout("%b %e %H:%M:%S")
	preciseLayout = mustLayout("%b %e %H:%M:%S.%f") // journalctl -o short-precise
)

// syslog reads "Nov 30 08:11:06 host tag[pid]: ", with a date of ISO 8601 in its
// place where rsyslog is set so; Heroku has no host.
func (u *unwrapper) syslog(w wrap, line []byte) (inner []byte, ok bool) {
	if rest, ok := priority(line); ok {
		line = rest
	}
	rest, ok := u.time(line)
	if !ok {
		if w == wrapHeroku || len(line) < 15 || line[3] != ' ' {
			return nil, false
		}
		t, n := u.clock.read(&preciseLayout, line)
		if n == 0 {
			t, n = u.clock.read(&syslogLayout, line)
		}
		switch {
		case n > 0:
			u.stamped(t)
		case !dateless(line):
			return nil, false
		default:
			n = 15
		}
		rest = line[n:]
	}
	i := tagEnd(rest)
	if i < 0 {
		return nil, false
	}
	words := bytes.Count(bytes.TrimSpace(rest[:i]), space) + 1
	tag := rest[bytes.LastIndexByte(rest[:i], ' ')+1 : i]
	switch {
	case w == wrapHeroku && (words != 1 || len(tag) == 0 || tag[len(tag)-1] != ']'):
		return nil, false
	case w == wrapSyslog && words > 2:
		return nil, false
	}
	return bytes.TrimPrefix(rest[i+1:], space), true
}

// dateless tells whether "Nov 30 08:11:06" stands there, whose year is not known.
func dateless(b []byte) bool {
	return month(b[:3]) != 0 && b[6] == ' ' && b[9] == ':' && b[12] == ':' && isDigit(b[5]) && isDigit(b[7]) && isDigit(b[14])
}

// tagEnd finds the colon after a tag, within the first words.
func tagEnd(b []byte) int {
	const longest = 200
	for i := 0; i < len(b) && i < longest; i++ {
		if b[i] == ':' && (i+1 == len(b) || b[i+1] == ' ') {
			return i
		}
		if b[i] == '"' || b[i] == '{' || b[i] == '=' {
			return -1
		}
	}
	return -1
}
