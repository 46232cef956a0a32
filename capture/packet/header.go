package packet

import (
	"bytes"
	"math"

	"stormwatch/capture"
)

// How much is kept of texts that traffic can make long, in bytes.
const (
	maxTarget = 8 << 10
	maxText   = 256
	maxHint   = 64
)

// framing is how the length of a message's body is given.
type framing struct {
	length  int64 // -1 unknown
	chunked bool
}

// headers reads a header block; whole is false when its end is missing.
func (s *stream) headers(d int, h []byte, whole bool) {
	p := &s.parser[d]
	line, rest := cutLine(h)
	ok := false
	if p.request {
		ok = s.requestHead(d, line, rest, whole)
	} else {
		ok = s.responseHead(d, line, rest, whole)
	}
	s.drop(p)
	p.gapped = !ok && p.gapped
	if ok && whole {
		p.searching = false
		return
	}
	if p.state != shut {
		s.clear(p)
		p.state, p.searching = atStart, true
	}
}

func cutLine(b []byte) (line, rest []byte) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		return b, nil
	}
	return trimEnd(b[:i]), b[i+1:]
}

func (s *stream) requestHead(d int, line, rest []byte, whole bool) bool {
	p := &s.parser[d]
	m := p.msg
	if m == nil {
		return false
	}
	method, target, ok := requestLine(line)
	if !ok {
		return false
	}
	x := &m.x
	x.Method = s.t.out.names.Intern(clip(method, longestMethod))
	m.head, m.connect = string(method) == "HEAD", string(method) == "CONNECT"
	m.target = capture.AppendMasked(m.target[:0], clip(target, maxTarget))
	s.t.buffered += len(m.target)
	s.count++
	x.ConnSeq = s.count
	f := s.requestFields(x, rest)
	if m.named = true; p.gapped || !whole {
		m.flagGap()
	}
	p.frame(f, 0)
	if !whole {
		p.msg = nil
	} else if p.state == atStart {
		s.finish(d, p.last)
	}
	s.asked(m)
	return true
}

// requestLine takes a request line apart. Where it has no version, it may have
// been cut off, or be that of HTTP/0.9. A target may hold spaces, but not that of
// CONNECT, which is a host and a port.
func requestLine(line []byte) (method, target []byte, ok bool) {
	method, target, ok = bytes.Cut(trimEnd(line), []byte(" "))
	if !ok {
		return nil, nil, false
	}
	whole := versioned(line)
	if z := bytes.LastIndexByte(target, ' '); z >= 0 && (whole || bytes.HasPrefix([]byte("HTTP/1.1"), target[z+1:])) {
		target = target[:z]
	}
	if target = bytes.TrimSpace(target); string(method) == "CONNECT" {
		target, _, _ = bytes.Cut(target, []byte(" "))
	}
	return method, target, len(target) > 0 && (whole || known(method, false))
}

// frame prepares for the body; none is what a message without a length has.
func (p *parser) frame(f framing, none int64) {
	p.torn, p.whole, p.lines = false, true, 0
	if f.length < 0 {
		f.length = none
	}
	switch {
	case f.chunked:
		p.state = inChunkSize
	case f.length < 0:
		p.state = untilClose
	case f.length == 0:
		p.state = atStart
	default:
		p.state, p.remain = inLength, f.length
	}
}

func (s *stream) requestFields(x *capture.Exchange, rest []byte) (f framing) {
	f.length = -1
	names := s.t.out.names
	named := uint64(0)
	for name, value := field(&rest); name != nil; name, value = field(&rest) {
		if s.t.out.client.Is(name) {
			named = s.named(x, value)
		}
		switch len(name) {
		case 4:
			if x.Host == 0 && is(name, "host") {
				x.Host = names.Intern(clip(value, maxText))
			}
		case 9:
			if x.Credential == 0 && is(name, "x-api-key") {
				x.Credential = s.secret(value)
			}
		case 10:
			if x.Agent == 0 && is(name, "user-agent") {
				x.Agent = names.Intern(clip(value, maxText))
			}
		case 13:
			if is(name, "authorization") { // it wins over a key
				x.Credential = s.secret(value)
			}
		case 14:
			f.read(name, value)
		case 15:
			switch {
			case x.Forwarded == 0 && is(name, "x-forwarded-for"):
				x.Forwarded = names.Intern(clip(value, maxText))
			case is(name, "idempotency-key"):
				x.IdemKey = fnv(0, value)
			case is(name, "amz-sdk-request"):
				attempt(x, "amz-sdk-request", value)
			}
		case 17:
			if f.read(name, value); is(name, "x-idempotency-key") {
				x.IdemKey = fnv(0, value)
			}
		case 21:
			switch {
			case is(name, "x-envoy-attempt-count"):
				attempt(x, "x-envoy-attempt-count", value)
			case x.IdemKey == 0 && is(name, "amz-sdk-invocation-id"): // one for all attempts
				x.IdemKey = fnv(0, value)
			}
		case 23:
			if is(name, "x-stainless-retry-count") {
				attempt(x, "x-stainless-retry-count", value)
			}
		}
	}
	if s.t.out.client.Secret() {
		x.Credential = named // and none else, so that those who lack it are seen to
	}
	return f
}

// named sets the client by the header that names it; one that is secret is told as
// a number. A token out of an HTTP/2 header table shows no claim any more.
func (s *stream) named(x *capture.Exchange, value []byte) uint64 {
	switch c := s.t.out.client; {
	case c.Claim != "":
		return s.t.out.secrets.Hash(c.Value(value))
	case c.Secret():
		return s.secret(value)
	default:
		c.Name(x, value, s.t.out.names)
		return 0
	}
}

func attempt(x *capture.Exchange, name string, value []byte) {
	if a, ok := capture.ParseAttempt(name, value); ok {
		x.Attempt = a
	}
}

func (s *stream) responseHead(d int, line, rest []byte, whole bool) bool {
	p := &s.parser[d]
	if !p.strictStatus(line) {
		return false
	}
	status := uint16(line[9]-'0')*100 + uint16(line[10]-'0')*10 + uint16(line[11]-'0')
	from := p.seq
	if p.interim {
		from = p.answer
	}
	if status < 200 && status != 101 { // the answer is still to come
		p.state, p.interim, p.answer = atStart, true, from
		return true
	}
	p.interim = false
	m := s.match(from, p.breaks)
	if status == 101 && upgradesHTTP2(rest) {
		s.upgrade(m)
		return true
	}
	if m == nil {
		m = s.response(p)
		s.hold(m)
	}
	p.msg = m
	m.seq = from
	m.x.Status, m.x.End, m.x.Outcome, m.x.At.B = status, p.last, capture.Answered, p.first.frame
	if p.gapped || !whole {
		m.flagGap()
	}
	f := s.responseFields(&m.x, rest, whole)
	switch {
	case status == 101 || m.connect && status < 300:
		s.finish(d, p.last)
		s.tunnel()
	case status == 204 || status == 304 || m.head || !whole:
		p.state = atStart
		s.finish(d, p.last)
	default:
		if p.frame(f, -1); p.state == atStart {
			s.finish(d, p.last)
		}
	}
	return true
}

// tunnel ends the reading of HTTP.
func (s *stream) tunnel() {
	s.giveUp(endEvicted)
	for d := range s.parser {
		s.clear(&s.parser[d])
		s.parser[d].state = shut
	}
	s.release(false)
	s.kind = tunnel
}

func (s *stream) responseFields(x *capture.Exchange, rest []byte, whole bool) (f framing) {
	f.length = -1
	var after, millis []byte
	found := false
	for name, value := field(&rest); name != nil; name, value = field(&rest) {
		switch len(name) {
		case 4:
			if is(name, "date") {
				x.Date = s.t.out.date(value)
			}
		case 11:
			if after == nil && is(name, "retry-after") {
				after, found = value, true
			}
		case 14:
			if f.read(name, value); millis == nil && is(name, "retry-after-ms") {
				millis, found = value, true
			}
		case 17:
			f.read(name, value)
		case 19:
			if millis == nil && is(name, "x-ms-retry-after-ms") {
				millis, found = value, true
			}
		}
	}
	switch {
	case found:
		x.Hint = s.hint(after, millis, x)
	case whole:
		x.Hint.State = capture.Absent
	}
	return f
}

// hint prefers the finer unit, as the clients do that know it, unless it cannot
// be read.
func (s *stream) hint(after, millis []byte, x *capture.Exchange) capture.Hint {
	if millis != nil {
		h := capture.ParseRetryAfterMillis(millis)
		if h.Usable() || after == nil {
			h.Raw = s.t.out.names.Intern(clip(millis, maxHint))
			return h
		}
	}
	h := capture.ParseRetryAfter(after, x.Date, x.End/1e9)
	h.Raw = s.t.out.names.Intern(clip(after, maxHint))
	return h
}

// read takes the two fields that give the body's length.
func (f *framing) read(name, value []byte) {
	switch {
	case is(name, "content-length"):
		first, rest, more := bytes.Cut(value, []byte(","))
		for same := bytes.TrimSpace(first); more; { // the same length again is no fault (RFC 9110 section 8.6)
			if first, rest, more = bytes.Cut(rest, []byte(",")); !bytes.Equal(bytes.TrimSpace(first), same) {
				return
			}
		}
		if n, ok := length(bytes.TrimSpace(first)); ok {
			f.length = n
		}
	case is(name, "transfer-encoding"):
		f.chunked = f.chunked || len(value) >= 7 && is(value[len(value)-7:], "chunked")
	}
}

func length(value []byte) (n int64, ok bool) {
	for _, c := range value {
		if !digit(c) || n > math.MaxInt64/16 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, len(value) > 0
}

// field takes the next whole field line off b; lines without a colon are passed
// over. name is nil at the end.
func field(b *[]byte) (name, value []byte) {
	for {
		i := bytes.IndexByte(*b, '\n')
		if i < 0 {
			return nil, nil
		}
		for i+1 < len(*b) && ((*b)[i+1] == ' ' || (*b)[i+1] == '\t') { // the value goes on (RFC 9112 section 5.2)
			more := bytes.IndexByte((*b)[i+1:], '\n')
			if more < 0 {
				break
			}
			i += 1 + more
		}
		line := (*b)[:i]
		*b = (*b)[i+1:]
		if colon := bytes.IndexByte(line, ':'); colon > 0 && line[0] != ' ' && line[0] != '\t' {
			return trimEnd(line[:colon]), bytes.TrimSpace(line[colon+1:])
		}
	}
}

// trimEnd takes blanks and CR off the end.
func trimEnd(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t' || b[len(b)-1] == '\r') {
		b = b[:len(b)-1]
	}
	return b
}

// is compares a name with one in lower case.
func is(name []byte, lower string) bool {
	if len(name) != len(lower) {
		return false
	}
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
