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
	x.At = capture.Provenance{A: b.at, Line: true}
	b.who(x)
	b.what(x)
	b.ended(x)
	if x.Status == 101 && r.step > 0 && r.step < second && x.End-x.Start <= capture.BriefSession {
		x.Flags |= capture.Brief // its line is written when the session has ended
	}
	if r.has&signals != 0 || b.health.SeesHints {
		b.signals(x)
	}
	if !b.opt.Live {
		return
	}
	if b.mark.late(x.Start) {
		x.Flags |= capture.Late
		b.health.Late++
	}
	took := x.End - x.Start
	if b.started { // how long it took shows in how late its line comes
		took = max(b.mark.newest-x.Start, 0)
	}
	b.mark.note(x.End, took)
}

// who sets the client: its address, what it says it forwards for, its
// credential, which is compared and never kept.
func (b *builder) who(x *capture.Exchange) {
	r := &b.r
	if t := r.get(roleKey); t != nil {
		x.Credential = b.opt.Secrets.Holder(b.plain(t))
	} else if t := r.get(roleUser); t != nil {
		x.Credential = b.opt.Secrets.Holder(b.plain(t))
	}
	if b.opt.Client.Header != "" {
		b.named(x)
	}
	if t := r.get(roleAgent); t != nil {
		x.Agent = b.intern(t)
	}
	if t := r.get(roleForwarded); t != nil {
		if ip, ok := isForwarded(t); ok {
			x.Forwarded = b.intern(t)
			if x.Src.IP == ([16]byte{}) {
				x.Src.IP = ip // the format has no other
			}
			if len(b.opt.Trusted) > 0 {
				if ip, ok = behind(r.ip, t, b.opt.Trusted); ok {
					x.Src = capture.Endpoint{IP: ip}
				}
			}
		}
	} else if t := r.get(roleAddr); t != nil { // a name
		x.Forwarded = b.intern(t)
	}
}

// isForwarded tells whether a text is a list of addresses (X-Forwarded-For), or
// what RFC 7239 has in its place: formats may have other things there. ip is the
// first address.
func isForwarded(b []byte) (ip [16]byte, ok bool) {
	first, _, _ := bytes.Cut(b, comma)
	first = bytes.Trim(first, ` "`)
	if len(first) > 4 && bytes.EqualFold(first[:4], []byte("for=")) {
		first, _, _ = bytes.Cut(first[4:], []byte(";"))
		first = bytes.Trim(first, `"`)
		ok = true
	}
	if ip, found := parseIP(first); found {
		return ip, true
	}
	host, _ := splitPort(first)
	if ip, found := parseIP(host); found {
		return ip, true
	}
	return ip, ok
}

// what sets method, host and target.
func (b *builder) what(x *capture.Exchange) {
	r := &b.r
	if r.has&elsewhere == 0 && !b.format.whole { // all of it is in the request line
		method, to := splitRequest(r.get(roleRequest))
		x.Method = b.intern(method)
		if h, rest, ok := splitAbsolute(to); ok {
			x.Host, to = b.intern(withoutPort(h)), rest
		}
		x.Target.Off = uint32(len(b.batch.Text))
		b.batch.Text = capture.AppendMasked(b.batch.Text, b.plainTarget(to))
		x.Target.Len = uint32(len(b.batch.Text)) - x.Target.Off
		return
	}
	method, to := r.get(roleMethod), r.get(roleTarget)
	if r.shows(roleRequest) && len(method) == 0 && len(to) == 0 && len(r.get(rolePath)) == 0 && len(r.get(roleURL)) == 0 {
		method, to = splitRequest(r.text[roleRequest])
	} else if method = bytes.TrimRight(method, " "); method != nil && !isMethod(method) {
		method = nil
	}
	if to == nil && r.has&(1<<rolePath|1<<roleURL) == 0 && hasPrefix(r.get(roleRequest), "/") {
		to = r.text[roleRequest] // the method stands apart
	}
	x.Method = b.intern(method)
	at := r.get(roleHost)
	whole := b.format.whole
	if u := r.get(roleURL); u != nil && to == nil && r.has&(1<<rolePath) == 0 {
		to, whole = u, true
	}
	if _, _, absolute := splitAbsolute(to); whole || absolute {
		if h, rest, ok := splitURL(to); ok {
			to = rest
			if at == nil {
				at = h
			}
		}
	}
	if at != nil {
		x.Host = b.intern(withoutPort(at))
	}
	x.Target.Off = uint32(len(b.batch.Text))
	switch {
	case to != nil && (r.get(roleQuery) == nil || bytes.IndexByte(to, '?') >= 0):
		b.batch.Text = capture.AppendMasked(b.batch.Text, b.plainTarget(to))
	case to != nil:
		b.pathAndQuery(to)
	case r.shows(rolePath):
		b.pathAndQuery(r.text[rolePath])
	}
	x.Target.Len = uint32(len(b.batch.Text)) - x.Target.Off
}

// elsewhere are roles that tell of a request beside its line.
const elsewhere uint64 = 1<<roleMethod | 1<<roleTarget | 1<<rolePath | 1<<roleQuery | 1<<roleURL | 1<<roleHost

// splitAbsolute takes scheme and host off a target in absolute form (RFC 9112 section
// 3.2.2), which is what clients send to proxies and what Varnish and Linkerd log.
func splitAbsolute(to []byte) (host, target []byte, ok bool) {
	if len(to) == 0 || to[0] != 'h' || !hasPrefix(to, "http://") && !hasPrefix(to, "https://") {
		return nil, to, false
	}
	return splitURL(to)
}

// splitURL takes scheme and host off a target.
func splitURL(u []byte) (host, target []byte, ok bool) {
	i := bytes.Index(u, []byte("://"))
	if i <= 0 || i > 10 {
		return nil, u, false
	}
	rest := u[i+3:]
	if n := bytes.IndexAny(rest, "/?"); n >= 0 {
		return rest[:n], rest[n:], true
	}
	return rest, []byte("/"), true
}

// withoutPort takes the port off a host where the scheme has it by default.
func withoutPort(h []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(h, []byte(":443")), []byte(":80"))
}

// pathAndQuery joins what the format has in two fields. A query may come with
// its question mark.
func (b *builder) pathAndQuery(path []byte) {
	whole := append(b.whole[:0], b.plainTarget(path)...)
	if q := b.plainTarget(bytes.TrimPrefix(b.r.get(roleQuery), question)); len(q) > 0 {
		whole = ownQuery(whole, q)
	}
	b.batch.Text = capture.AppendMasked(b.batch.Text, whole)
	b.whole = whole
}

// ownQuery adds the parameters of a query that were sent to dst, without those that
// Azure's Application Gateway puts among them: a cache's word, an id of the line, the
// server and its status.
func ownQuery(dst, query []byte) []byte {
	if !bytes.Contains(query, []byte("X-AzureApplicationGateway-")) {
		return append(append(dst, '?'), query...)
	}
	sign := byte('?')
	for len(query) > 0 {
		var one []byte
		one, query, _ = bytes.Cut(query, []byte("&"))
		if hasPrefix(one, "X-AzureApplicationGateway-") || hasPrefix(one, "SERVER-ROUTED=") || hasPrefix(one, "SERVER-STATUS=") {
			continue
		}
		dst = append(append(dst, sign), one...)
		sign = '&'
	}
	return dst
}

// plain resolves escapes; the result is valid until the next call.
func (b *builder) plain(field []byte) []byte {
	if m := b.r.esc.mark(); m == 0 || bytes.IndexByte(field, m) < 0 {
		return field
	}
	b.text = appendPlain(b.text[:0], field, b.r.esc)
	return b.text
}

// plainTarget is plain for a target, whose + and %HH are its own.
func (b *builder) plainTarget(field []byte) []byte {
	if b.r.esc == escapePlus || b.r.esc == escapeURL {
		return field
	}
	return b.plain(field)
}

// intern gives a text its symbol. The latest ones are found by the text as the
// line has it, before its escapes are resolved.
func (b *builder) intern(field []byte) capture.Symbol {
	if len(field) == 0 {
		return 0
	}
	l := &b.latest[(uint(len(field))*31+uint(field[len(field)/2])+uint(field[len(field)-1])*7)%uint(len(b.latest))]
	if l.symbol != 0 && l.esc == b.r.esc && string(field) == string(l.text) {
		return l.symbol
	}
	plain := b.plain(field)
	symbol := b.names.Intern(plain[:min(len(plain), maxAgent)])
	if symbol != capture.Other && len(field) <= maxAgent {
		l.text, l.symbol, l.esc = append(l.text[:0], field...), symbol, b.r.esc
	}
	return symbol
}

// named is a text as lines have it, and its symbol.
type named struct {
	text   []byte
	symbol capture.Symbol
	esc    escape
}

var (
	space      = []byte(" ")
	comma      = []byte(",")
	question   = []byte("?")
	unixSocket = []byte("unix:")
)
