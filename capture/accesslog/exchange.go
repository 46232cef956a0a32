package accesslog

import (
	"bytes"

	"stormwatch/capture"
)

// exchange adds what was read of a line to the batch.
func (b *builder) exchange() {
	r := &b.r
	b.batch.Exchanges = append(b.batch.Exchanges, capture.Exchange{})
	x := &b.batch.Exchanges[len(b.batch.Exchanges)-1]
	x.Start, x.End = r.start.ns, r.end.ns
	x.Src.IP, x.Src.Port = r.ip, r.port
	x.At = capture.Provenance{A: b.number, Line: true}
	b.who(x)
	b.what(x)
	outcome(x, r.code)
	if !b.opt.Live {
		return
	}
	if b.mark.late(x.Start) {
		x.Flags |= capture.Late
		b.health.Late++
	}
	b.mark.note(x.End, x.End-x.Start)
}

// who sets the client: its address, what it says it forwards for, its
// credential, which is compared and never kept.
func (b *builder) who(x *capture.Exchange) {
	r := &b.r
	if t := r.get(roleKey); t != nil {
		x.Credential = b.opt.Secrets.Hash(b.plain(t))
	} else if t := r.get(roleUser); t != nil {
		x.Credential = b.opt.Secrets.Hash(b.plain(t))
	}
	if t := r.get(roleAgent); t != nil {
		x.Agent = b.intern(t)
	}
	if t := r.get(roleForwarded); t != nil && isForwarded(t) {
		x.Forwarded = b.intern(t)
	} else if t := r.get(roleAddr); t != nil { // a name
		x.Forwarded = b.intern(t)
	}
}

// isForwarded tells whether a text is a list of addresses (X-Forwarded-For), or
// what RFC 7239 has in its place: formats may have other things there.
func isForwarded(b []byte) bool {
	first, _, _ := bytes.Cut(b, comma)
	if _, ok := parseIP(bytes.TrimSpace(first)); ok {
		return true
	}
	host, _ := splitPort(first)
	if _, ok := parseIP(host); ok {
		return true
	}
	return len(b) > 4 && bytes.EqualFold(b[:4], []byte("for="))
}

// what sets method, host and target.
func (b *builder) what(x *capture.Exchange) {
	r := &b.r
	method, target := r.get(roleMethod), r.get(roleTarget)
	if r.shows(roleRequest) {
		if m, t := splitRequest(r.text[roleRequest]); method == nil && target == nil && !r.shows(rolePath) {
			method, target = m, t
		}
	} else if method != nil && !isMethod(method) {
		method = nil
	}
	x.Method = b.intern(method)
	if t := r.get(roleHost); t != nil {
		x.Host = b.intern(t)
	}
	x.Target.Off = uint32(len(b.batch.Text))
	switch {
	case target != nil:
		b.batch.Text = capture.AppendMasked(b.batch.Text, b.plain(target))
	case r.shows(rolePath):
		b.pathAndQuery()
	}
	x.Target.Len = uint32(len(b.batch.Text)) - x.Target.Off
}

// pathAndQuery joins what the format has in two fields. A query may come with
// its question mark.
func (b *builder) pathAndQuery() {
	whole := append(b.whole[:0], b.plain(b.r.text[rolePath])...)
	if q := b.plain(bytes.TrimPrefix(b.r.get(roleQuery), question)); len(q) > 0 {
		whole = append(append(whole, '?'), q...)
	}
	b.batch.Text = capture.AppendMasked(b.batch.Text, whole)
	b.whole = whole
}

// outcome judges a logged status. What nginx logs as 499 (the client left), 444
// (it closed without a word) and 000 never reached the client as an answer.
func outcome(x *capture.Exchange, status uint16) {
	switch {
	case status < 100, status == 499, status == 444:
		x.Outcome = capture.NoAnswer
	default:
		x.Status, x.Reason = status, capture.ReasonOf(status)
	}
}

// plain resolves escapes; the result is valid until the next call.
func (b *builder) plain(field []byte) []byte {
	if m := b.r.esc.mark(); m == 0 || bytes.IndexByte(field, m) < 0 {
		return field
	}
	b.text = appendPlain(b.text[:0], field, b.r.esc)
	return b.text
}

// intern gives a text its symbol. The latest ones are found by the text as the
// line has it, before its escapes are resolved.
func (b *builder) intern(field []byte) capture.Symbol {
	if len(field) == 0 {
		return 0
	}
	l := &b.latest[(len(field)*31+int(field[len(field)/2])+int(field[len(field)-1])*7)%len(b.latest)]
	if l.symbol != 0 && string(field) == string(l.text) {
		return l.symbol
	}
	plain := b.plain(field)
	symbol := b.names.Intern(plain[:min(len(plain), maxAgent)])
	if symbol != capture.Other && len(field) <= maxAgent {
		l.text, l.symbol = append(l.text[:0], field...), symbol
	}
	return symbol
}

// named is a text as lines have it, and its symbol.
type named struct {
	text   []byte
	symbol capture.Symbol
}

var (
	space      = []byte(" ")
	comma      = []byte(",")
	question   = []byte("?")
	unixSocket = []byte("unix:")
)
