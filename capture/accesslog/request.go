package accesslog

import "bytes"

// splitRequest cuts `GET /path HTTP/1.1`. Method and target are empty where the
// client sent no request (a TLS hello, nothing, noise): that line counts, but
// its bytes may be anything, even a body, and are not kept. A target may hold
// spaces, and HTTP/0.9 sends no version.
func splitRequest(b []byte) (method, target []byte) {
	method, rest, _ := bytes.Cut(b, space)
	if !isMethod(method) {
		return nil, nil
	}
	if i := bytes.LastIndexByte(rest, ' '); i >= 0 && bytes.HasPrefix(rest[i+1:], httpVersion) {
		rest = rest[:i]
	}
	return method, rest
}

var httpVersion = []byte("HTTP/")

// isMethod uses nginx's own rule (ngx_http_parse_request_line): capital letters,
// '_' and '-'.
func isMethod(b []byte) bool {
	const longest = 24 // the longest registered one, UPDATEREDIRECTREF, has 17
	if len(b) == 0 || len(b) > longest {
		return false
	}
	for _, c := range b {
		if (c < 'A' || c > 'Z') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

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
