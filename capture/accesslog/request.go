package accesslog

import "bytes"

// splitRequest cuts `GET /path HTTP/1.1`. Method and target are empty where the
// client sent no request (a TLS hello, nothing, noise): that line counts, but
// its bytes may be anything, even a body, and are not kept. A target may hold
// spaces, and HTTP/0.9 sends no version.
func splitRequest(b []byte) (method, target []byte) {
	n := methodEnd(b)
	if n == 0 {
		return nil, nil
	}
	method, rest := b[:n], b[n:]
	if len(rest) > 0 {
		rest = rest[1:]
	}
	const version = len(" HTTP/1.1")
	i := len(rest) - version
	if i < 0 || rest[i] != ' ' {
		i = bytes.LastIndexByte(rest, ' ')
	}
	if i >= 0 && bytes.HasPrefix(rest[i+1:], httpVersion) {
		rest = rest[:i]
	}
	return method, rest
}

var httpVersion = []byte("HTTP/")

// methodEnd returns where the method ends that a request line starts with, 0 if
// there is none, by nginx's own rule (ngx_http_parse_request_line): capital
// letters, '_' and '-'.
func methodEnd(b []byte) int {
	const longest = 24 // the longest registered one, UPDATEREDIRECTREF, has 17
	n := 0
	for n < len(b) && isMethodByte(b[n]) {
		n++
	}
	if n > longest || n < len(b) && b[n] != ' ' {
		return 0
	}
	return n
}

func isMethodByte(c byte) bool { return c >= 'A' && c <= 'Z' || c == '_' || c == '-' }

func isMethod(b []byte) bool { return len(b) > 0 && methodEnd(b) == len(b) }

// appendUnescaped appends b with the escapes of nginx (\xHH) and Apache (\xhh,
// \", \\, \n, \t, \r, \b, \v) resolved. An unknown escape stays as it is.
func appendUnescaped(dst, b []byte) []byte {
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 || i+1 == len(b) {
			return append(dst, b...)
		}
		dst = append(dst, b[:i]...)
		b = b[i:]
		if c, n := unescape(b); n > 0 {
			dst = append(dst, c)
			b = b[n:]
			continue
		}
		dst = append(dst, b[0])
		b = b[1:]
	}
}

// unescape reads the escape at the start of b, which has two bytes at least.
func unescape(b []byte) (c byte, n int) {
	switch b[1] {
	case '"', '\\':
		return b[1], 2
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'b':
		return '\b', 2
	case 'v':
		return '\v', 2
	case 'x':
		if len(b) < 4 {
			return 0, 0
		}
		hi, ok1 := hexDigit(b[2])
		lo, ok2 := hexDigit(b[3])
		if ok1 && ok2 {
			return hi<<4 | lo, 4
		}
	}
	return 0, 0
}
