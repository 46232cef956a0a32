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
	noRank    = 255 // of an id that is not there
)

// framing is how the length of a message's body is given.
type framing struct {
	length  int64 // -1 unknown
	chunked bool
}

// headers reads a header block; whole is false when its end is missing.
func (s *stream) headers(d int, h []byte, whole bool) {
	p := s.reading(d)
	line, rest := cutLine(h)
	ok := false
	if p.request {
		ok = s.requestHead(d, line, rest, whole)
	} else {
		ok = s.responseHead(d, line, rest, whole)
	}
	s.drop(p)
	p.gapped = !ok && p.gapped
	if ok && s.c.half[d].reading != legible {
		s.c.read(s.t, d)
	}
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
	p := s.reading(d)
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
	if !whole && len(method)+1+len(target) == len(line) || len(target) > maxTarget { // it ends where what was captured ends
		m.target = append(m.target, "..."...)
		x.Flags |= capture.Unnamed
		s.t.out.health.Bound(boundTarget)
	}
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
		case 14, 17:
			f.read(name, value)
		case 15:
			if x.Forwarded == 0 && is(name, "x-forwarded-for") {
				x.Forwarded = names.Intern(clip(value, maxText))
			}
		}
		x.Declare(name, value)
		if at := capture.AskFieldOf(name).Deadline(value, x.Start); at != 0 && (x.Deadline == 0 || at < x.Deadline) {
			x.Deadline = at
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

func (s *stream) responseHead(d int, line, rest []byte, whole bool) bool {
	p := s.reading(d)
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
		m.unasked = status == requestTimeout && s.idle(p.ack)
		s.hold(m)
	}
	p.msg = m
	m.edge = from
	m.x.Status, m.x.End, m.x.Outcome, m.x.At.B = status, p.last, capture.Answered, p.first.frame
	if p.gapped || !whole {
		m.flagGap()
	}
	f := s.responseFields(m, rest, whole)
	switch {
	case status == 101 || m.connect && status < 300:
		m.attended = status == 101 && s.attend(m)
		s.finish(d, p.last)
		s.tunnel()
		if m.attended {
			s.hold(m)
		}
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

// requestTimeout is also what a server says that has waited for a request and got
// none (RFC 9110 section 15.5.9): HAProxy and Node send it before they close.
const requestTimeout = 408

// idle tells whether no request was under way when the server sent something that
// acknowledges ack: all of the client's bytes were seen, and all requests in them have
// been answered.
func (s *stream) idle(ack uint32) bool {
	h, p := &s.c.half[s.client], s.parser[s.client]
	return s.waiting == 0 && h.begun && span(h.next, ack) <= 0 && s.c.waiting(s.client) == 0 &&
		s.breaks[s.client] == s.aligned.breaks[0] && (p == nil || p.msg == nil && len(p.buf) == 0)
}

// tunnel ends the reading of HTTP.
func (s *stream) tunnel() {
	s.giveUp(endEvicted)
	for d := range s.parser {
		p := s.reading(d)
		s.clear(p)
		p.state = shut
	}
	s.release(false)
	s.kind = tunnel
}

func (s *stream) responseFields(m *message, rest []byte, whole bool) (f framing) {
	f.length = -1
	x, answers := &m.x, s.t.out.answers
	answers.Begin()
	var media []byte
	encoded := false
	for name, value := field(&rest); name != nil; name, value = field(&rest) {
		switch len(name) {
		case 4:
			if is(name, "date") {
				x.Date = s.t.out.date(value)
			}
		case 12:
			switch {
			case is(name, "content-type"):
				media = value
			case x.RequestID == 0 && is(name, "x-request-id"): // the server gave it
				x.RequestID = capture.HashRequestID(value)
			}
		case 14:
			f.read(name, value)
		case 16:
			encoded = encoded || is(name, "content-encoding") && !is(value, "identity")
		case 17:
			f.read(name, value)
		case 21:
			if is(name, "x-envoy-attempt-count") { // in an answer: how often Envoy tried
				x.TriedInAll(value)
			}
		}
		if f := capture.FieldOf(name); f != 0 {
			answers.Tell(f, value)
		}
	}
	m.told = answers.Settle(x, whole)
	m.want = int32(capture.LooksAt(x.Status, media, encoded))
	return f
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
	for h := *b; ; {
		colon := 0 // names are short: sought byte by byte
		for colon < len(h) && h[colon] != ':' && h[colon] != '\n' {
			colon++
		}
		i := bytes.IndexByte(h[colon:], '\n')
		if i < 0 {
			*b = h
			return nil, nil
		}
		i += colon
		late := i == colon                  // a continuation may hold it
		for i+1 < len(h) && blank(h[i+1]) { // the value goes on (RFC 9112 section 5.2)
			more := bytes.IndexByte(h[i+1:], '\n')
			if more < 0 {
				break
			}
			i += 1 + more
		}
		line := h[:i]
		if h = h[i+1:]; late {
			colon = bytes.IndexByte(line, ':')
		}
		if colon > 0 && !blank(line[0]) {
			*b = h
			return trimEnd(line[:colon]), trim(line[colon+1:])
		}
	}
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// trim takes blanks and line ends off both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0]-'\t' <= '\r'-'\t') {
		b = b[1:]
	}
	for n := len(b); n > 0 && (b[n-1] == ' ' || b[n-1]-'\t' <= '\r'-'\t'); n-- {
		b = b[:n-1]
	}
	return b
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
