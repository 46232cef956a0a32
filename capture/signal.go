package capture

import "bytes"

// Counter names what kind of header an attempt number was read from, and with
// which number its first attempt begins. Senders that are told apart here differ
// in more than that.
type Counter uint8

// Counters.
const (
	NoCounter        Counter = iota
	EnvoyAttempts            // x-envoy-attempt-count, first 1; a proxy's, not the client's
	StainlessRetries         // x-stainless-retry-count, first 0
	AmzAttempt               // amz-sdk-request: attempt=N, first 1
	RPCAttempts              // grpc-previous-rpc-attempts, first 0 by being absent
	GoogAttempt              // x-goog-api-client: gccl-attempt-count/N, first 1
	FromOne                  // others whose first attempt carries 1
	FromZero                 // others whose first attempt carries 0
	FromAbsent               // others whose first attempt carries none, and the second 1
	FromEither               // aeg-delivery-count: documents and emulators differ, 0 or 1
)

// Proxy tells whether a proxy on the way counts, and not the client itself.
func (c Counter) Proxy() bool { return c == EnvoyAttempts }

// Always tells whether a first attempt carries the number as well, so that it is
// known for one.
func (c Counter) Always() bool {
	switch c {
	case StainlessRetries, AmzAttempt, GoogAttempt, FromOne, FromZero:
		return true
	}
	return false
}

// Attempt is an attempt number that the request itself declares, normalised so
// that the first attempt is 1.
type Attempt struct {
	N       uint16
	Counter Counter
}

// form is how a field holds its number.
type form uint8

const (
	formDigits form = iota
	formAmz         // ttl=...; attempt=2; max=3, in any order (botocore and the Go SDK differ)
	formGoog        // a list of names/values, an id and a number among them
	formNone
)

// What the value of an id says when it comes again.
const (
	idNone    uint8 = iota
	idTrace         // hops pass it on, and perhaps other requests of the same origin share it
	idRequest       // hops pass it on; attempts may share it or not
	idStable        // all attempts at one operation share it
	idKey           // the same, and the server is to act on it: it prevails
)

// signal is what a request field declares of attempts.
type signal struct {
	counter Counter
	form    form
	id      uint8
}

// signals are the fields by lower-case name. Fields that configure a proxy's
// retries (x-envoy-max-retries, x-envoy-retry-on, x-portkey-retry-count,
// l5d-retry-limit, Upstash-Retries) look alike and are none of them.
//
// Sources: Envoy's HTTP header documentation; the AWS, Google Cloud Storage,
// Stainless, Kiota and Svix SDKs; gRPC A6; Segment's and RudderStack's libraries;
// the webhook documentation of Cloud Tasks, App Engine, Upstash QStash, Slack,
// Hookdeck, Event Grid, Atlassian, Bitbucket and Square; Standard Webhooks; OASIS
// repeatable requests; Stripe, PayPal and Checkout.com for their keys.
var signals = map[string]signal{
	"x-envoy-attempt-count":       {counter: EnvoyAttempts},
	"x-stainless-retry-count":     {counter: StainlessRetries},
	"amz-sdk-request":             {counter: AmzAttempt, form: formAmz},
	"grpc-previous-rpc-attempts":  {counter: RPCAttempts},
	"x-goog-api-client":           {counter: GoogAttempt, form: formGoog, id: idStable},
	"retry-attempt":               {counter: FromAbsent},
	"x-retry-count":               {counter: FromAbsent},
	"rsa-retry-attempt":           {counter: FromAbsent},
	"svix-retry-count":            {counter: FromAbsent},
	"x-slack-retry-num":           {counter: FromAbsent},
	"x-atlassian-webhook-retry":   {counter: FromAbsent},
	"square-retry-number":         {counter: FromAbsent},
	"x-cloudtasks-taskretrycount": {counter: FromZero},
	"x-appengine-taskretrycount":  {counter: FromZero},
	"upstash-retried":             {counter: FromZero},
	"x-hookdeck-attempt-count":    {counter: FromOne},
	"x-attempt-number":            {counter: FromOne},
	"aeg-delivery-count":          {counter: FromEither},

	"idempotency-key":                {form: formNone, id: idKey},
	"x-idempotency-key":              {form: formNone, id: idKey},
	"cko-idempotency-key":            {form: formNone, id: idKey},
	"x-amz-pay-idempotency-key":      {form: formNone, id: idKey},
	"paypal-request-id":              {form: formNone, id: idKey},
	"repeatability-request-id":       {form: formNone, id: idKey},
	"idempotency-token":              {form: formNone, id: idKey},
	"x-idempotency-token":            {form: formNone, id: idKey},
	"i-twilio-idempotency-token":     {form: formNone, id: idKey},
	"svix-id":                        {form: formNone, id: idStable},
	"x-github-delivery":              {form: formNone, id: idStable},
	"x-shopify-webhook-id":           {form: formNone, id: idStable},
	"x-hook-uuid":                    {form: formNone, id: idStable},
	"x-request-uuid":                 {form: formNone, id: idStable},
	"amz-sdk-invocation-id":          {form: formNone, id: idStable},
	"x-goog-gcs-idempotency-token":   {form: formNone, id: idStable},
	"svix-req-id":                    {form: formNone, id: idStable},
	"webhook-id":                     {form: formNone, id: idStable},
	"x-cloudtasks-taskname":          {form: formNone, id: idStable},
	"x-appengine-taskname":           {form: formNone, id: idStable},
	"upstash-message-id":             {form: formNone, id: idStable},
	"x-hookdeck-eventid":             {form: formNone, id: idStable},
	"x-atlassian-webhook-identifier": {form: formNone, id: idStable},
	"x-request-id":                   {form: formNone, id: idRequest},
	"x-correlation-id":               {form: formNone, id: idTrace},
	"x-amzn-trace-id":                {form: formNone, id: idTrace},
	"x-ms-client-request-id":         {form: formNone, id: idRequest},
	"traceparent":                    {form: formNone, id: idTrace},
}

// longestSignal is the length of the longest name.
const longestSignal = 30

// signalStarts are the first letters that the names of each length have, one bit
// each: most fields of a request are told by it to be none of them.
var signalStarts = func() (starts [longestSignal + 1]uint32) {
	for name := range signals {
		starts[len(name)] |= 1 << (name[0] & 31)
	}
	return starts
}()

// mayDeclare tells whether a name looks like one of them.
func mayDeclare(name []byte) bool {
	n := uint(len(name))
	return n-1 < longestSignal && signalStarts[n]&(1<<(name[0]&31)) != 0
}

// signalOf finds a field by its name, in any case.
func signalOf(name []byte) (s signal, ok bool) {
	if !mayDeclare(name) {
		return s, false
	}
	var lower [longestSignal]byte
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	s, ok = signals[string(lower[:len(name)])]
	return s, ok
}

// Declare takes what a field of the request says of attempts and ids; it passes
// over all other fields. Of several ids a key that the server is to act on
// prevails, else the first.
func (x *Exchange) Declare(name, value []byte) {
	if mayDeclare(name) {
		x.declare(name, value)
	}
}

func (x *Exchange) declare(name, value []byte) {
	s, ok := signalOf(name)
	if !ok {
		return
	}
	value = bytes.TrimSpace(value)
	if a, ok := s.number(value); ok {
		x.Count(a)
	}
	id := value
	if s.form == formGoog {
		id = listed(value, "gccl-invocation-id/")
	}
	switch {
	case s.id == idKey, s.id == idStable && x.IdemKey == 0:
		if hash := HashID(id); hash != 0 {
			x.IdemKey = hash
		}
	case s.id == idRequest, s.id == idTrace && x.RequestID == 0:
		if hash := HashRequestID(id); hash != 0 {
			x.RequestID = hash
		}
	}
}

// HashRequestID is HashID for an id that hops pass on: of a trace context it takes
// the trace alone, since each hop has a span of its own (W3C Trace Context section
// 3.2, X-Amzn-Trace-Id).
func HashRequestID(id []byte) uint64 {
	const version, trace = 3, 32
	if len(id) == 55 && id[2] == '-' && id[version+trace] == '-' && id[52] == '-' {
		id = id[version : version+trace]
	} else if i := bytes.Index(id, []byte("Root=")); i >= 0 {
		id, _, _ = bytes.Cut(id[i:], []byte(";"))
	}
	return HashID(id)
}

// Signal tells what a request header of that name, in any case, declares: an
// attempt number, an id that all attempts share, or one that hops pass on.
func Signal(name string) (c Counter, stable, passed bool) {
	s, _ := signalOf([]byte(name))
	return s.counter, s.id == idStable || s.id == idKey, s.id == idRequest || s.id == idTrace
}

// Count takes an attempt number: the client's own, and beside it that of a proxy.
func (x *Exchange) Count(a Attempt) {
	switch {
	case a.Counter == NoCounter:
	case a.Counter.Proxy() && x.Attempt.Counter != NoCounter && !x.Attempt.Counter.Proxy():
		x.Inner = a
	case !a.Counter.Proxy() && x.Attempt.Counter.Proxy():
		x.Inner, x.Attempt = x.Attempt, a
	default:
		x.Attempt = a
	}
}

// TriedInAll takes the number of tries that a proxy says it made for the request:
// what x-envoy-attempt-count means in a response.
func (x *Exchange) TriedInAll(value []byte) {
	if n, ok := digits(bytes.TrimSpace(value)); ok && n >= 1 && n <= 1<<15 {
		x.Tries, x.Again, x.TryAt = uint16(n), uint16(n-1), 0
	}
}

// ParseAttempt reads a header that carries an attempt number; its name is in any
// case. ok is false for other headers and for values that carry no number.
func ParseAttempt(name string, value []byte) (a Attempt, ok bool) {
	s, ok := signalOf([]byte(name))
	if !ok {
		return a, false
	}
	return s.number(bytes.TrimSpace(value))
}

// number reads the attempt number of a field.
func (s signal) number(value []byte) (a Attempt, ok bool) {
	switch s.form {
	case formNone:
		return a, false
	case formAmz:
		i := bytes.Index(value, []byte("attempt="))
		if i < 0 {
			return a, false
		}
		value = value[i+len("attempt="):]
		if end := bytes.IndexAny(value, "; "); end >= 0 {
			value = value[:end]
		}
	case formGoog:
		value = listed(value, "gccl-attempt-count/")
	}
	n, ok := digits(value)
	switch s.counter {
	case StainlessRetries, RPCAttempts, FromZero, FromAbsent, FromEither:
		n++
	}
	if !ok || n < 1 || n > 1<<15 {
		return Attempt{}, false
	}
	return Attempt{N: uint16(n), Counter: s.counter}, true
}

// listed returns what follows a prefix in a list divided by blanks.
func listed(list []byte, prefix string) []byte {
	for len(list) > 0 {
		one := list
		if i := bytes.IndexByte(list, ' '); i >= 0 {
			one, list = list[:i], list[i+1:]
		} else {
			list = nil
		}
		if len(one) > len(prefix) && string(one[:len(prefix)]) == prefix {
			return one[len(prefix):]
		}
	}
	return nil
}
