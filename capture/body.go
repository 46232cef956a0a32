package capture

import "bytes"

// How many bytes of an answer's body are looked at for why it says no: its first
// ones, of a failure and of an answer that says all is well.
const (
	BodyWindow   = 1024
	BodyWindowOK = 512
)

// Decision is what a body says of the answer it came with. Nothing else of it is
// kept.
type Decision struct {
	Reason Reason // Unjudged where it says nothing
	Wait   Hint   // present where it names a wait; Raw is left to the caller
	Raw    []byte // the wait as it was sent: a part of the body
}

// Apply takes a decision into its answer, after the fields. A wait in a body counts
// where the fields name none.
func (d *Decision) Apply(x *Exchange, s *Settled, names *Interner) {
	reason := d.Reason
	if d.Wait.State == Present && x.Hint.State != Present {
		x.Hint = d.Wait
		x.Hint.Raw = names.Intern(d.Raw[:min(len(d.Raw), maxRaw)])
		if x.Status == 403 && reason == Unjudged {
			reason = Throttle
		}
	}
	switch {
	case reason == Unjudged:
	case x.Status < 400: // the status says that all is well
		x.Reason = reason
	default:
		s.Mark = reason
	}
}

// LooksAt tells how many bytes of a body are wanted; 0 for none. media is the
// Content-Type, encoded that a Content-Encoding is set.
func LooksAt(status uint16, media []byte, encoded bool) int {
	switch {
	case encoded, status < 200, status >= 300 && status < 400, status == 204:
		return 0
	case status >= 400:
		return BodyWindow
	case len(media) == 0, hasFold(media, "json"), hasFold(media, "xml"):
		return BodyWindowOK
	}
	return 0
}

// hasFold tells whether b holds a text in lower case, in any case.
func hasFold(b []byte, lower string) bool {
	for i := 0; i+len(lower) <= len(b); i++ {
		if sameName(b[i:i+len(lower)], lower) {
			return true
		}
	}
	return false
}

// Decide reads the first bytes of a body: JSON or XML, perhaps cut off. Of an
// answer that is no failure by its status, a plain no counts alone (valid: false,
// ok: false, an error in the place of data), as BodyRefusal, or by the code beside it.
func Decide(status uint16, body []byte) (d Decision) {
	body = bytes.TrimPrefix(body, byteOrderMark)
	for len(body) > 0 && body[0] <= ' ' {
		body = body[1:]
	}
	switch {
	case len(body) == 0:
	case body[0] == '<':
		d.Reason = decideXML(status, body)
	case body[0] == '{' || body[0] == '[':
		if status < 400 && !doubtful(body) {
			return d
		}
		j := jsonBody{b: body, fine: status < 400, broken: status >= 500}
		j.read()
		d = j.decide()
	}
	return d
}

var byteOrderMark = []byte("\ufeff")

// decideXML reads <Error><Code>SlowDown</Code>, which object stores send with a
// status of 200 as well.
func decideXML(status uint16, b []byte) Reason {
	if status < 400 && !bytes.Contains(b, []byte("<Error>")) {
		return Unjudged
	}
	_, code, ok := bytes.Cut(b, []byte("<Code>"))
	code, _, closed := bytes.Cut(code, []byte("<"))
	reason := Unjudged
	if ok && closed {
		reason = codeReason(code)
	}
	if reason == Unjudged && status < 400 {
		return BodyRefusal
	}
	return reason
}

// jsonBody walks through a JSON text that may be cut off.
type jsonBody struct {
	b    []byte
	fine bool // the status says that all is well
	at   int

	broken bool // the status is of the server's own failures: words alone say no better

	depth  int
	top    topKey // the key at the top that the place is under
	code   Reason
	no     bool // a plain no at the top
	why    bool // something beside it that tells why
	erring bool // an error in the place of data
	data   bool // data beside it
	inner  bool // an item of it was refused for load: 429
	outer  bool // the whole was, by a number at the top
	flag   bool // errors: true
	wait   Hint
	raw    []byte
}

// topKey is what a key at the top of a body is about.
type topKey uint8

const (
	topOther topKey = iota
	topError
	topData
)

const maxBodyDepth = 24

func (j *jsonBody) read() {
	for j.at < len(j.b) && j.depth <= maxBodyDepth {
		switch j.b[j.at] {
		case '{', '[':
			j.depth++
		case '}', ']':
			if j.depth--; j.depth <= 0 {
				return
			}
		case '"':
			key, ok := j.text()
			if !ok {
				return
			}
			if j.space(); j.at < len(j.b) && j.b[j.at] == ':' {
				j.at++
				if !j.member(key) {
					return
				}
			}
			continue
		}
		j.at++
	}
}

// text reads the string at hand, its escapes left as they are.
func (j *jsonBody) text() (s []byte, ok bool) {
	from := j.at + 1
	for i := from; i < len(j.b); i++ {
		switch j.b[i] {
		case '\\':
			i++
		case '"':
			j.at = i + 1
			return j.b[from:i], true
		}
	}
	return nil, false
}

func (j *jsonBody) space() {
	for j.at < len(j.b) && j.b[j.at] <= ' ' {
		j.at++
	}
}

// member reads the value of a key; what is within an object or a list comes
// later. It is false where the text ends.
func (j *jsonBody) member(key []byte) bool {
	j.space()
	if j.at == len(j.b) {
		return false
	}
	if j.depth == 1 {
		j.top = topKeyOf(key)
	}
	switch c := j.b[j.at]; {
	case c == '"':
		v, ok := j.text()
		if ok {
			j.say(key, v, true)
		}
		return ok
	case c == '{' || c == '[':
		i := j.at + 1
		for i < len(j.b) && j.b[i] <= ' ' {
			i++
		}
		filled := i < len(j.b) && j.b[i] != '}' && j.b[i] != ']'
		if j.depth == 1 && filled {
			j.erring = j.erring || j.top == topError
			j.data = j.data || j.top == topData
		}
		return true
	}
	from := j.at
	for j.at < len(j.b) && j.b[j.at] > ' ' && j.b[j.at] != ',' && j.b[j.at] != '}' && j.b[j.at] != ']' {
		j.at++
	}
	if j.at == len(j.b) {
		return false
	}
	j.say(key, j.b[from:j.at], false)
	return true
}

func topKeyOf(key []byte) topKey {
	switch string(key) {
	case "error", "errors":
		return topError
	case "data", "result":
		return topData
	}
	return topOther
}

// say takes a text, number or word.
func (j *jsonBody) say(key, v []byte, quoted bool) {
	heard := !j.fine || j.depth == 1 || j.top == topError // what data say of themselves is no decision
	switch string(key) {
	case "valid", "ok", "success", "allowed":
		j.no = j.no || j.depth == 1 && string(v) == "false"
	case "__type", "code", "type", "reason", "errorCode", "error_code", "errcode":
		if heard && quoted {
			j.coded(codeReason(v))
			j.why = j.why || j.depth == 1 && string(key) != "type"
		}
		j.number(key, v, quoted, heard)
	case "error", "errors":
		if j.depth == 1 {
			switch {
			case quoted && len(v) > 0:
				if !j.broken || bytes.IndexByte(v, ' ') < 0 {
					j.coded(codeReason(v))
				}
				j.erring, j.why = true, true
			case string(v) == "true":
				j.flag, j.why = true, true
			}
		}
	case "status", "statusCode", "status_code":
		if heard && quoted {
			j.coded(codeReason(v))
		}
		j.number(key, v, quoted, heard)
	case "message", "detail", "description":
		j.why = j.why || j.depth == 1
		if heard && quoted {
			j.tryAgain(v)
		}
	case "documentation_url":
		if bytes.HasSuffix(v, []byte("secondary-rate-limits")) || bytes.HasSuffix(v, []byte("#abuse-rate-limits")) {
			j.coded(Throttle)
		}
	case "retry_after", "retryAfter", "retry_after_seconds", "retryAfterSeconds":
		if n, ok := decimal(v); ok && heard {
			j.waits(times(n, second), v)
		} else if d, ok := duration(v); ok && heard {
			j.waits(d, v)
		}
	case "retry_after_ms", "retryAfterMs":
		if n, ok := decimal(v); ok && heard {
			j.waits(times(n, second/1000), v)
		}
	case "retryDelay": // google.rpc.RetryInfo
		if d, ok := duration(v); ok && heard {
			j.waits(d, v)
		}
	}
}

// number takes a status that stands in a body.
func (j *jsonBody) number(key, v []byte, quoted, heard bool) {
	if quoted || string(v) != "429" {
		return
	}
	if heard {
		j.coded(Throttle)
	}
	j.inner = j.inner || string(key) == "status"
	j.outer = j.outer || j.depth == 1
}

// coded keeps the first code that is known; a quota says more than a throttle.
func (j *jsonBody) coded(r Reason) {
	if r == Quota || j.code == Unjudged {
		j.code = r
	}
}

func (j *jsonBody) waits(ns int64, raw []byte) {
	if j.wait.State != Present {
		j.wait, j.raw = Hint{Wait: ns, State: Present, Kind: InBody}, raw
	}
}

// tryAgain reads "try again in 20s" as OpenAI writes it.
func (j *jsonBody) tryAgain(text []byte) {
	_, rest, ok := bytes.Cut(text, []byte("try again in "))
	if !ok {
		return
	}
	end := 0
	for end < len(rest) && (rest[end] >= '0' && rest[end] <= '9' || rest[end] >= 'a' && rest[end] <= 'z' || rest[end] == '.') {
		end++
	}
	rest = bytes.TrimRight(rest[:end], ".")
	if d, ok := duration(rest); ok {
		j.waits(d, rest)
	}
}

// decide sums up. A no to the question that was asked (valid: false) is a
// refusal by body whatever the code beside it; of an error in the place of data
// the code prevails.
func (j *jsonBody) decide() (d Decision) {
	d.Wait, d.Raw = j.wait, j.raw
	if !j.fine {
		d.Reason = j.code
		return d
	}
	failing := j.erring && !j.data
	switch {
	case j.no && j.why:
		d.Reason = BodyRefusal
	case j.flag && j.inner, j.outer && j.why:
		d.Reason = Throttle
	case (failing || j.flag || j.no) && j.code != Unjudged:
		d.Reason = j.code
	case j.code != Unjudged && j.erring:
		d.Reason = j.code
	case failing:
		d.Reason = BodyRefusal
	default:
		d.Wait, d.Raw = Hint{}, nil
	}
	return d
}
