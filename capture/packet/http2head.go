package packet

import (
	"strconv"

	"stormwatch/capture"
)

// headerList is what one header block says. The ordinary fields are written out
// as HTTP/1 would send them (RFC 9113 section 8.8), so that one reader reads both.
type headerList struct {
	text            []byte
	path, authority []byte
	method, host    capture.Symbol
	status          uint16
	connect         bool
	plainGet        bool // a method that gRPC does not use
	blankFirst      bool // the first field could not be resolved
	cut             bool // bytes of the block are missing
	fields          int
	media           mediaKind
	rpc             capture.RPCStatus
	pushback        capture.Hint
	attempt         capture.Attempt
}

// decode reads a header block of direction d. whole tells that nothing in it is
// unknown.
func (h *http2conn) decode(d int, b []byte) (whole bool) {
	f := &h.flow[d]
	pool := &h.s.t.http2
	l, r := &pool.list, &pool.reader
	*l = headerList{text: l.text[:0], path: l.path[:0], authority: l.authority[:0], cut: f.holed}
	whole = !f.holed
	r.begin(&f.table, b)
	var field headerField
	for r.next(&field) {
		l.fields++
		switch {
		case !field.known:
			whole = false
			l.blankFirst = l.blankFirst || l.fields == 1
		case len(field.name) > 0 && field.name[0] == ':':
			h.pseudo(l, &field)
		case len(l.text)+len(field.name)+len(field.value) > maxHeaderText:
			if !l.cut {
				l.cut = true
				h.note(skipHeaderList, f.begun)
			}
			whole = false
		default:
			h.field(l, &field)
		}
	}
	if r.err != nil && !(f.holed && r.err == errHPACKShort) {
		h.note(skipHPACK, f.begun)
	}
	if r.err != nil || f.holed {
		l.cut, whole = true, false
		f.table.forget()
		h.s.lost = true
	}
	h.charge()
	return whole
}

// pseudo reads a pseudo field (RFC 9113 section 8.3).
func (h *http2conn) pseudo(l *headerList, f *headerField) {
	names := h.s.t.out.names
	switch string(f.name) {
	case ":method":
		l.method = names.Intern(clip(f.value, longestMethod))
		l.connect = string(f.value) == "CONNECT"
		l.plainGet = string(f.value) != "POST"
	case ":path":
		l.path = append(l.path[:0], clip(f.value, maxTarget)...)
	case ":authority":
		l.authority = append(l.authority[:0], clip(f.value, maxText)...)
		l.host = names.Intern(l.authority)
	case ":status":
		if v := f.value; len(v) == 3 && v[0] >= '1' && v[0] <= '9' && digit(v[1]) && digit(v[2]) {
			l.status = uint16(v[0]-'0')*100 + uint16(v[1]-'0')*10 + uint16(v[2]-'0')
		}
	}
}

// field writes out an ordinary field.
func (h *http2conn) field(l *headerList, f *headerField) {
	h.rpcField(l, f)
	l.text = appendPlain(l.text, f.name)
	l.text = append(l.text, ": "...)
	if f.hidden {
		l.text = appendHidden(l.text, f.hash)
	} else {
		l.text = appendPlain(l.text, f.value)
	}
	l.text = append(l.text, '\n')
}

// appendPlain appends a text without what ends a line or marks a hidden value.
func appendPlain(dst, text []byte) []byte {
	for _, c := range text {
		if c == '\n' || c == '\r' || c == hiddenMark {
			c = ' '
		}
		dst = append(dst, c)
	}
	return dst
}

// hiddenMark begins the number that stands for a value of which no more is kept.
// No value of HTTP/2 holds one when it comes here.
const hiddenMark = 0

func appendHidden(dst []byte, hash uint64) []byte {
	return strconv.AppendUint(append(dst, hiddenMark), hash, 16)
}

// secret returns the number of a credential. One out of a header table has been
// reduced to it before.
func (s *stream) secret(value []byte) uint64 {
	if s.kind == http2 && len(value) > 1 && value[0] == hiddenMark {
		var hash uint64
		for _, c := range value[1:] {
			digit := uint64(c - '0')
			if c >= 'a' {
				digit = uint64(c-'a') + 10
			}
			hash = hash<<4 | digit
		}
		return hash
	}
	return s.t.out.secrets.Holder(value)
}
