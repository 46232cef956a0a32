package accesslog

import (
	"bytes"

	"stormwatch/capture"
)

// signals are the roles that say more of an exchange than most logs do.
const signals uint64 = 1<<roleRetryAfter | 1<<roleRetryMillis | 1<<roleShown | 1<<roleAnswer | 1<<roleDeadline | 1<<roleIdempotency | 1<<roleStainless | 1<<roleAmzRequest | 1<<roleEnvoyAttempts |
	1<<roleFromOne | 1<<roleFromZero | 1<<roleFromAbsent |
	1<<roleRequestID | 1<<roleUpstreamAddr | 1<<roleUpstreamCode | 1<<roleRetries | 1<<roleAttempts | 1<<roleTryList | 1<<roleSampling | 1<<roleCounter | 1<<roleDateField

// signals takes what the line says of waits, attempts and tries.
func (b *builder) signals(x *capture.Exchange) {
	r := &b.r
	b.hint(x)
	if t := r.get(roleIdempotency); t != nil {
		x.IdemKey = capture.HashID(b.plain(t))
	}
	if t := r.get(roleRequestID); t != nil {
		x.RequestID = capture.HashRequestID(b.plain(t))
	}
	if t := r.get(roleDeadline); t != nil {
		x.Deadline = r.ask.Deadline(b.plain(t), x.Start)
	} else if t := r.get(roleAmzRequest); t != nil {
		x.Deadline = amzRequest.Deadline(b.plain(t), x.Start)
	}
	for _, c := range counters {
		if t := r.get(c.role); t != nil {
			if a, ok := capture.ParseAttempt(c.header, b.plain(t)); ok {
				x.Count(a)
			}
		}
	}
	if r.has&(1<<roleUpstreamCode|1<<roleUpstreamAddr|1<<roleRetries|1<<roleAttempts|1<<roleTryList) != 0 {
		b.tries(x)
	}
	if r.has&(1<<roleSampling|1<<roleCounter) != 0 {
		b.gaps.note(r)
	}
}

var amzRequest = capture.AskFieldOf([]byte("amz-sdk-request"))

// counters are in the order of who prevails, each by a header of its kind.
var counters = [...]struct {
	role   role
	header string
}{
	{roleEnvoyAttempts, "x-envoy-attempt-count"},
	{roleFromOne, "x-attempt-number"},
	{roleFromZero, "x-cloudtasks-taskretrycount"},
	{roleFromAbsent, "retry-attempt"},
	{roleStainless, "x-stainless-retry-count"},
	{roleAmzRequest, "amz-sdk-request"},
}

// signalRole returns what a request header declares of attempts and ids.
func signalRole(header string) role {
	c, stable, passed := capture.Signal(header)
	switch {
	case c == capture.EnvoyAttempts:
		return roleEnvoyAttempts
	case c == capture.StainlessRetries:
		return roleStainless
	case c == capture.AmzAttempt:
		return roleAmzRequest
	case c == capture.FromOne:
		return roleFromOne
	case c == capture.FromZero:
		return roleFromZero
	case c == capture.FromAbsent, c == capture.RPCAttempts:
		return roleFromAbsent
	case c == capture.NoCounter && stable:
		return roleIdempotency
	case passed:
		return roleRequestID
	}
	return roleNone
}

// hint reads what the server said of waits and limits. A log that shows
// Retry-After shows as well where there was none; one that shows only other
// headers does not.
func (b *builder) hint(x *capture.Exchange) {
	r, a := &b.r, b.answers
	if r.has&(1<<roleRetryAfter|1<<roleRetryMillis|1<<roleShown) != 0 {
		b.health.SeesHints = true
	}
	if x.Outcome != capture.Answered || r.has&answered == 0 && !b.health.SeesHints {
		return
	}
	if d := r.get(roleDateField); d != nil {
		x.Date, _ = r.clock.imf(d)
	}
	a.Begin()
	b.plains = b.plains[:0]
	b.told(retryAfter, r.get(roleRetryAfter))
	b.told(retryMillis, r.get(roleRetryMillis))
	if r.said > maxAnswers {
		b.health.Bound(boundAnswers)
	}
	for _, s := range r.answers[:min(r.said, maxAnswers)] {
		b.told(s.field, dashless(s.text))
	}
	x.Conclude(a.Settle(x, b.health.SeesHints))
}

const boundAnswers = "more limit headers in one line than are read"

const answered uint64 = 1<<roleRetryAfter | 1<<roleRetryMillis | 1<<roleShown | 1<<roleAnswer | 1<<roleDateField

var retryAfter, retryMillis = capture.FieldOf([]byte("retry-after")), capture.FieldOf([]byte("retry-after-ms"))

// told takes a header of the response, its escapes resolved; they stay so until
// the line has been read.
func (b *builder) told(f capture.Field, text []byte) {
	if m := b.r.esc.mark(); m != 0 && bytes.IndexByte(text, m) >= 0 {
		from := len(b.plains)
		b.plains = appendPlain(b.plains, text, b.r.esc)
		text = b.plains[from:]
	}
	if len(text) > 0 {
		b.answers.Tell(f, text)
	}
}

// maxTries bounds the tries listed of one request.
const maxTries = 64

// tries takes the tries that the hop declares: a list of them, or how many.
func (b *builder) tries(x *capture.Exchange) {
	r := &b.r
	from := len(b.batch.Tries)
	switch {
	case r.shows(roleTryList):
		b.kongTries(r.text[roleTryList])
	case r.shows(roleUpstreamCode) && !noServer(r.text[roleUpstreamCode]) || r.shows(roleUpstreamAddr) && !noServer(r.text[roleUpstreamAddr]):
		b.listTries()
	}
	if n := len(b.batch.Tries) - from; n > 0 {
		x.Tries, x.TryAt = uint16(n), uint32(from+1)
		for _, t := range b.batch.Tries[from:] {
			if !t.Fresh {
				b.health.Retries++
				x.Again++
			}
		}
	}
	n, ok := 0, false
	if t := bytes.TrimPrefix(r.get(roleRetries), []byte("+")); len(t) > 0 { // HAProxy's + is a redispatch
		n, ok = count(t)
		n++
	} else if t := r.get(roleAttempts); t != nil {
		n, ok = count(t)
	}
	if ok && n > int(x.Tries) && n <= 1<<15 {
		b.health.Retries += uint64(n - max(int(x.Tries), 1))
		x.Again += uint16(n - max(int(x.Tries), 1))
		if x.Tries, x.TryAt = uint16(n), 0; from < len(b.batch.Tries) {
			b.batch.Tries = b.batch.Tries[:from]
		}
	}
}

// listTries reads nginx's lists: ", " stands before the next try, " : " before
// the first one after an internal redirect (ngx_http_upstream_module).
func (b *builder) listTries() {
	r := &b.r
	codes, addrs, tooks := elements{b: r.get(roleUpstreamCode)}, elements{b: r.get(roleUpstreamAddr)}, elements{b: r.get(roleUpstreamTook)}
	conns := elements{b: r.get(roleUpstreamConn)}
	lead := &codes
	if codes.b == nil {
		lead = &addrs
	}
	for n := 0; n < maxTries && lead.more(); n++ {
		fresh := n == 0 || lead.group
		code, addr, took := codes.next(), addrs.next(), tooks.next()
		t := capture.Try{Took: -1, Fresh: fresh}
		if v, ok := count(code); ok && v >= 100 && v < 1000 {
			t.Status = uint16(v)
		}
		if len(addr) > 0 && !noServer(addr) {
			t.Server = b.intern(addr)
		}
		if ns, _, ok := duration(took, second); ok {
			t.Took = ns
		}
		t.Reach = reachOf(conns.next())
		b.batch.Tries = append(b.batch.Tries, t)
	}
}

// reachOf reads how long connecting took; "-" stands for a connection that never was
// (ngx_http_upstream_module).
func reachOf(took []byte) capture.Reach {
	switch _, _, ok := duration(took, second); {
	case ok:
		return capture.Reached
	case len(took) == 1 && took[0] == '-':
		return capture.Unreached
	}
	return capture.ReachUnknown
}

// elements walks through a list.
type elements struct {
	b     []byte
	group bool // " : " stood before the next element
	ended bool
}

func (e *elements) more() bool { return len(e.b) > 0 && !e.ended }

func (e *elements) next() []byte {
	if !e.more() {
		return nil
	}
	e.group = false
	for i := 0; i < len(e.b); i++ {
		n := 0
		switch {
		case hasPrefix(e.b[i:], ", "):
			n = 2
		case hasPrefix(e.b[i:], " : "):
			n = 3
		case e.b[i] == ',':
			n = 1
		default:
			continue
		}
		one := e.b[:i]
		e.group = n == 3
		e.b = e.b[i+n:]
		return one
	}
	e.ended = true
	return e.b
}

// kongTries reads Kong's list: [{"ip":"..","port":1,"code":502,"balancer_latency":0},..].
func (b *builder) kongTries(list []byte) {
	if b.tryCutter == nil {
		b.tryCutter = &jsonCutter{schema: &kongTry, known: map[string]keyed{}}
	}
	at := skipSpace(list, 1)
	for n := 0; n < maxTries && at < len(list) && list[at] == '{'; n++ {
		end := skipValue(list, at, 0)
		if end < 0 {
			return
		}
		r := &b.inner
		_ = b.tryCutter.cut(list[at:end], r) // the last try has no code: it was answered
		t := capture.Try{Took: -1, Fresh: n == 0, Status: r.code}
		if r.step != 0 {
			t.Took = r.took
		}
		if s := r.get(roleServer); s != nil {
			t.Server = b.names.Intern(s[:min(len(s), maxAgent)])
		}
		b.batch.Tries = append(b.batch.Tries, t)
		if at = skipSpace(list, end); at < len(list) && list[at] == ',' {
			at = skipSpace(list, at+1)
		}
	}
	if n := len(b.batch.Tries); n > 0 && b.batch.Tries[n-1].Status == 0 {
		b.batch.Tries[n-1].Status = b.r.code
	}
}

var kongTry = schema{name: "kong try", fields: map[string]field{"ip": {role: roleServer}, "code": {role: roleCode}, "balancer_latency": {role: roleTook, unit: oneMilli}}}
