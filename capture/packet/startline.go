package packet

import "bytes"

// methods are those that may begin a message after a loss, where any word could
// be taken for one (RFC 9110, RFC 5789, RFC 4918, RFC 3253, UPnP, PURGE of caches).
var methods = [...]string{
	"GET", "POST", "PUT", "HEAD", "DELETE", "PATCH", "OPTIONS", "CONNECT", "TRACE",
	"PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "REPORT", "SEARCH", "MERGE", "CHECKOUT",
	"MKACTIVITY", "MKCALENDAR", "BIND", "REBIND", "UNBIND", "ACL", "LINK", "UNLINK", "SOURCE", "QUERY", "PURGE", "BAN",
	"SUBSCRIBE", "UNSUBSCRIBE", "NOTIFY", "M-SEARCH", "RPC_IN_DATA", "RPC_OUT_DATA", "BITS_POST", "CCM_POST",
}

const longestMethod = 24

// known tells whether b is a method, or the beginning of one when partial.
func known(b []byte, partial bool) bool {
	for _, m := range methods {
		if string(b) == m || partial && len(b) < len(m) && string(b) == m[:len(b)] {
			return true
		}
	}
	return false
}

// starts tells whether b begins with a message, as far as it goes.
func (p *parser) starts(b []byte) bool {
	if p.request {
		return startsRequest(b, p.searching)
	}
	const version = "HTTP/1."
	if n := min(len(b), len(version)); string(b[:n]) != version[:n] {
		return false
	}
	return len(b) < 12 || p.strictStatus(b)
}

// strictStatus tells whether b begins with a status line up to its code.
func (p *parser) strictStatus(b []byte) bool {
	return len(b) >= 12 && string(b[:7]) == "HTTP/1." && digit(b[7]) && b[8] == ' ' &&
		b[9] >= '1' && b[9] <= '9' && digit(b[10]) && digit(b[11]) && (len(b) == 12 || b[12] == ' ' || b[12] == '\r' || b[12] == '\n')
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func startsRequest(b []byte, searching bool) bool {
	i := 0
	for i < len(b) && i < longestMethod && (letter(b[i]) || b[i] == '-' || b[i] == '_') {
		i++
	}
	if i == len(b) {
		return i > 0 && known(b, true)
	}
	if i < 3 || b[i] != ' ' {
		return false
	}
	end := bytes.IndexByte(b, '\n')
	if end < 0 { // the line goes on in the next packet
		return known(b[:i], false) && (i+1 == len(b) || b[i+1] == '/' || b[i+1] == '*' || letter(b[i+1]))
	}
	if searching {
		return versioned(b[:end]) && known(b[:i], false)
	}
	return versioned(b[:end]) || b[i+1] == '/' && known(b[:i], false) // HTTP/0.9, or a version that is none
}

// versioned tells whether a request line ends in a version of HTTP/1.
func versioned(line []byte) bool {
	line = trimEnd(line)
	n := len(line) - len(" HTTP/1.1")
	return n > 0 && string(line[n:len(line)-1]) == " HTTP/1." && digit(line[len(line)-1])
}

// find looks for the beginning of a message inside b: for a request at the
// beginning of a line. It is -1 where there is none.
func (p *parser) find(b []byte) int {
	for off := 0; ; {
		if !p.request {
			i := bytes.Index(b[off:], []byte("HTTP/1."))
			if i < 0 {
				return -1
			}
			if off += i; p.strictStatus(b[off:]) {
				return off
			}
			off += 7
			continue
		}
		i := bytes.Index(b[off:], []byte(" HTTP/1."))
		if i < 0 {
			return -1
		}
		line := off + bytes.LastIndexByte(b[off:off+i], '\n') + 1
		if startsRequest(b[line:], true) {
			return line
		}
		off += i + 8
	}
}
