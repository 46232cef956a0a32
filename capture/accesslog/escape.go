package accesslog

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// escape is how a format writes bytes that it cannot write as they are.
type escape uint8

// Escapes.
const (
	escapeC     escape = iota // \xHH, \" and the like: nginx and Apache
	escapeNone                // none
	escapeHash                // #HH: HAProxy
	escapeJSON                // JSON's, and \xHH, which Apache writes into it
	escapePlus                // a blank is +: W3C logs of IIS
	escapeURL                 // %HH, perhaps twice: CloudFront
	escapeZeek                // \xHH only
	escapeQuote               // "" in a quoted field of a CSV
)

// quotes tells whether a backslash keeps a quote from ending a field.
func (e escape) quotes() bool { return e == escapeC || e == escapeJSON }

// appendPlain appends b with its escapes resolved. What is no escape stays.
func appendPlain(dst, b []byte, e escape) []byte {
	switch e {
	case escapeNone:
		return append(dst, b...)
	case escapeC, escapeZeek:
		return appendUnescaped(dst, b)
	case escapeJSON:
		return appendUnquoted(dst, b)
	case escapeHash:
		return appendHex(dst, b, '#')
	case escapePlus:
		for _, c := range b {
			if c == '+' {
				c = ' '
			}
			dst = append(dst, c)
		}
		return dst
	case escapeURL:
		from := len(dst)
		dst = appendHex(dst, b, '%')
		if bytes.IndexByte(dst[from:], '%') >= 0 { // old logs encode agents twice
			dst = appendHex(dst[:from], append([]byte(nil), dst[from:]...), '%')
		}
		return dst
	case escapeQuote:
		for i := 0; i < len(b); i++ {
			if dst = append(dst, b[i]); b[i] == '"' && i+1 < len(b) && b[i+1] == '"' {
				i++
			}
		}
	}
	return dst
}

// mark is the byte without which a text has no escapes; 0 for none.
func (e escape) mark() byte {
	return [...]byte{escapeC: '\\', escapeNone: 0, escapeHash: '#', escapeJSON: '\\', escapePlus: '+', escapeURL: '%', escapeZeek: '\\', escapeQuote: '"'}[e]
}

// appendHex resolves a mark and two hexadecimal digits.
func appendHex(dst, b []byte, mark byte) []byte {
	for {
		i := bytes.IndexByte(b, mark)
		if i < 0 || i+2 >= len(b) {
			return append(dst, b...)
		}
		dst = append(dst, b[:i]...)
		hi, ok1 := hexDigit(b[i+1])
		lo, ok2 := hexDigit(b[i+2])
		if ok1 && ok2 {
			dst, b = append(dst, hi<<4|lo), b[i+3:]
			continue
		}
		dst, b = append(dst, mark), b[i+1:]
	}
}

// appendUnquoted resolves the escapes of a JSON string (RFC 8259 section 7), and
// those of Apache that strict JSON has not.
func appendUnquoted(dst, b []byte) []byte {
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 || i+1 == len(b) {
			return append(dst, b...)
		}
		dst = append(dst, b[:i]...)
		b = b[i:]
		switch b[1] {
		case '/':
			dst, b = append(dst, '/'), b[2:]
			continue
		case 'f':
			dst, b = append(dst, '\f'), b[2:]
			continue
		case 'u':
			if r, n := unicodeEscape(b); n > 0 {
				dst, b = utf8.AppendRune(dst, r), b[n:]
				continue
			}
		}
		if c, n := unescape(b); n > 0 {
			dst, b = append(dst, c), b[n:]
			continue
		}
		dst, b = append(dst, b[0]), b[1:]
	}
}

// unicodeEscape reads \u and four hex digits, or two of these that are a surrogate
// pair (RFC 8259 section 7).
func unicodeEscape(b []byte) (r rune, n int) {
	one := func(b []byte) rune {
		if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
			return -1
		}
		v := rune(0)
		for _, c := range b[2:6] {
			d, ok := hexDigit(c)
			if !ok {
				return -1
			}
			v = v<<4 | rune(d)
		}
		return v
	}
	if r = one(b); r < 0 {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		if pair := utf16.DecodeRune(r, one(b[6:])); pair != utf8.RuneError {
			return pair, 12
		}
		return utf8.RuneError, 6
	}
	return r, 6
}
