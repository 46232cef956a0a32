// Package capture defines what every source of traffic becomes: an Exchange,
// one observed request and its outcome, or a Tally, the counts of an interval.
//
// Times are Unix nanoseconds of event time. A Batch belongs to the source that
// made it and is valid until the Sink returns.
package capture

import (
	"context"
	"net/netip"
	"strconv"
	"time"
)

// Endpoint is an IP address (IPv4 mapped into 16 bytes) and a port; the port is
// 0 where the source does not know it. It holds no pointer.
type Endpoint struct {
	IP   [16]byte
	Port uint16
}

// Addr returns the address, IPv4 unmapped.
func (e Endpoint) Addr() netip.Addr { return netip.AddrFrom16(e.IP).Unmap() }

// IsZero tells whether no address is known.
func (e Endpoint) IsZero() bool { return e.IP == [16]byte{} }

// String returns "ip:port", or the address alone where the port is unknown.
func (e Endpoint) String() string {
	if e.IsZero() {
		return ""
	}
	a := e.Addr()
	if e.Port == 0 {
		return a.String()
	}
	return netip.AddrPortFrom(a, e.Port).String()
}

// Span is a part of Batch.Text.
type Span struct{ Off, Len uint32 }

// Outcome tells how an exchange ended.
type Outcome uint8

// Outcomes. Pending is an announced request whose outcome is still to come.
const (
	Answered Outcome = iota
	NoAnswer
	Reset
	Truncated
	Pending
)

func (o Outcome) String() string {
	return [...]string{"answered", "no-answer", "reset", "truncated", "pending"}[o]
}

// Reason is why an exchange succeeded or failed; it is judged before the status.
type Reason uint8

// Reasons. Unjudged is the zero value: capture could not tell.
const (
	Unjudged Reason = iota
	OK
	Throttle
	Quota
	Overload
	Auth
	Forbidden
	BodyRefusal
	ClientError
	ServerError
	Redirect
)

func (r Reason) String() string {
	return [...]string{"unknown", "ok", "throttle", "quota", "overload", "auth", "forbidden", "body-refusal", "client-error", "server-error", "redirect"}[r]
}

// ReasonOf gives the reason that a status alone supports.
func ReasonOf(status uint16) Reason {
	switch {
	case status == 0:
		return Unjudged
	case status == 429, status == 420, status == 509: // those of Twitter and of bandwidth limits, which AWS's SDKs take for throttles too
		return Throttle
	case status == 503, status == 529: // Anthropic's, and others': overloaded
		return Overload
	case status == 402:
		return Quota
	case status == 401, status == 407:
		return Auth
	case status == 403:
		return Forbidden
	case status >= 500:
		return ServerError
	case status >= 400:
		return ClientError
	case status >= 300 && status != 304:
		return Redirect
	}
	return OK
}

// Flags mark what a capture could not show of an exchange, and what it showed beside it.
type Flags uint8

// Flags of an Exchange.
const (
	Gap       Flags = 1 << iota // bytes of it were lost by the capture
	Midstream                   // its connection was joined after it began
	Orphan                      // a response whose request was not seen
	Late                        // it arrived after the watermark had passed its start
	Unnamed                     // what it asked for could not be read: nothing may be matched with it
	GaveUp                      // its client ended the wait: it closed, reset or cancelled before the answer was whole
	Repeated                    // a hop behind the one that saw it sent it on again though an earlier try may have been carried out
	Brief                       // its connection was upgraded (101), and ended within BriefSession; End is its end
)

// BriefSession is up to how long after an upgrade its connection counts as one that
// came to nothing. It is a choice: who sends a message and reads the answer to it may
// be as quick, but does not come back for the same within seconds, again and again.
const BriefSession = int64(time.Second)

// Origin tells who made an answer, as far as a log shows it.
type Origin uint8

// Origins.
const (
	OriginUnknown  Origin = iota
	OriginHop             // the logging hop itself: its limiter, a full queue, no server left
	OriginUpstream        // a server behind it
)

func (o Origin) String() string { return [...]string{"unknown", "hop", "upstream"}[o] }

// Try is one attempt that the logging hop declares it made at a server behind
// it, to answer one request.
type Try struct {
	Took   int64 // ns; negative where the log does not say
	Server Symbol
	Status uint16 // 0: no answer, or not told
	Fresh  bool   // it retries none: the first one, or the first after an internal redirect
	Reach  Reach
}

// Reach tells whether a try got as far as its server, where the log says so.
type Reach uint8

// Reaches.
const (
	ReachUnknown Reach = iota
	Reached
	Unreached // no connection came about
)

// quickly is up to how long a connection takes to be refused: a round trip in the data
// centre, with room. A server that has begun to work fails later, mostly.
const quickly = int64(5 * time.Millisecond)

// Doubtful tells whether the server may have done what this try asked although no
// success came of it (RFC 9110 section 9.2.2): a request that never reached it was not
// done, nor one that it refused.
func (t *Try) Doubtful() bool {
	switch t.Status {
	case 500, 504:
		return t.Reach != Unreached
	case 0, 502: // what a proxy logs of a server that does not answer, or cannot be connected to
		return t.Reach == Reached || t.Reach == ReachUnknown && t.Took > quickly
	}
	return false
}

// Provenance says where in its source an exchange was read: frames A and B of a
// capture (request and response, 0 if none), or line A of a log.
type Provenance struct {
	A, B uint64
	Line bool
}

func (p Provenance) String() string {
	a := strconv.FormatUint(p.A, 10)
	switch {
	case p.Line:
		return "line " + a
	case p.B != 0:
		return "frame " + a + "/" + strconv.FormatUint(p.B, 10)
	}
	return "frame " + a
}

// Exchange is one observed request and its outcome. It holds no pointer.
type Exchange struct {
	Start, End int64  // request's first byte, response's last byte (or when the wait ended)
	ID         uint64 // set only on announced requests: links the announcement to its completion
	Src, Dst   Endpoint
	ConnSeq    uint32 // 1-based ordinal of the request on its connection; 0 unknown

	Method, Host, Agent, Forwarded Symbol
	Client                         Symbol // who sent it, by the field that names clients; 0: that, if any, is a Credential or its address
	Target                         Span   // request target as sent, in Batch.Text, secrets masked by AppendMasked

	Credential uint64 // keyed hash; 0 none seen
	IdemKey    uint64 // hash of an idempotency key or other stable operation id; 0 none
	Line       uint64 // keyed hash of the whole line of a log, which a copy of it shares; 0 none
	RequestID  uint64 // hash of an id that hops pass on; attempts may share it or not; 0 none
	Body       uint64 // digest of the request body; 0 none seen

	Status  uint16
	Outcome Outcome
	Reason  Reason
	Flags   Flags
	RPC     RPCStatus
	Origin  Origin
	// Inner is a proxy's attempt number beside the client's own in Attempt: two
	// counters on one request prove two layers that retry.
	Inner Attempt
	Again uint16 // of the Tries, those that repeat another
	// Tries that the hop declares it made for this one request; 0 where the source
	// does not say. TryAt is 1 plus the place of the first in Batch.Tries, or 0
	// where they are counted but not listed. It means nothing without its batch.
	Tries   uint16
	Hint    Hint
	Limit   Limit
	Advice  Advice
	Attempt Attempt
	TryAt   uint32
	Date    int64 // server Date header, Unix seconds; 0 unknown
	// Deadline is when the caller says it stops waiting, Unix nanoseconds; 0 not told.
	Deadline int64
	At       Provenance
}

// Failed tells whether a client may want to send the request again. An answer
// whose status could not be read is no failure.
func (x *Exchange) Failed() bool {
	return x.Outcome != Answered && !x.lost() || x.Status >= 400 || x.Reason >= Throttle && x.Reason <= ServerError
}

// Refused tells whether the server refused the request for load or quota, in an
// answer, in its body or by resetting an HTTP/2 stream.
func (x *Exchange) Refused() bool {
	return x.Reason == Throttle || x.Reason == Overload || x.Reason == Quota || x.Reason == BodyRefusal
}

// lost tells whether it was the capture that missed the answer: that says nothing
// of the server.
func (x *Exchange) lost() bool {
	return x.Status == 0 && x.Flags&Gap != 0 && (x.Outcome == Truncated || x.Outcome == NoAnswer)
}

// Judged tells whether the capture could see how the exchange came out.
func (x *Exchange) Judged() bool {
	return x.Outcome != Answered && !x.lost() || x.Reason != Unjudged || x.Status != 0 && x.RPC == NoRPC
}

// Effective is the status that clients act on: HTTP's, or the one that says the
// same as a gRPC status, which comes with an HTTP status of 200.
func (x *Exchange) Effective() uint16 {
	if _, ok := x.RPC.Code(); ok {
		return x.RPC.HTTP()
	}
	return x.Status
}

// Count is a number that a source may not know.
type Count struct {
	N     int64
	Known bool
}

// Tally is what happened in one interval, where single exchanges are not known.
// A count that a metric does not give stays unknown: it is not zero.
type Tally struct {
	Start, End                                      int64
	Service, Client                                 Symbol
	Attempts, Logical, Retries, Refused, OK, Failed Count
}

// Batch is what a Source hands to its Sink.
type Batch struct {
	Exchanges []Exchange
	Tallies   []Tally
	Tries     []Try     // those that exchanges of this batch declare
	Text      []byte    // request targets
	Names     *Interner // resolves the Symbols of this batch
	Watermark int64     // no later batch holds an exchange that starts before; 0 none yet
	Health    *Health   // a fresh copy, or nil when unchanged
	Done      float64   // share of a recorded input read so far, 0..1; 0 when unknown
}

// Bytes returns the part of b.Text that s names.
func (b *Batch) Bytes(s Span) []byte {
	end := uint64(s.Off) + uint64(s.Len)
	if end > uint64(len(b.Text)) {
		return nil
	}
	return b.Text[s.Off:end]
}

// TriesOf returns the tries that x lists.
func (b *Batch) TriesOf(x *Exchange) []Try {
	from := int64(x.TryAt) - 1
	if to := from + int64(x.Tries); from >= 0 && to <= int64(len(b.Tries)) {
		return b.Tries[from:to]
	}
	return nil
}

// Sink takes a batch; its error ends the source.
type Sink func(*Batch) error

// Info describes a source before it is read.
type Info struct {
	Name    string // as the user gave it, or the file's name
	Kind    string // "capture", "log", "load test" or "prometheus"
	Vantage string // the hop that saw the traffic; sources of one vantage may be joined into chains
	Live    bool   // follows its input: the end is not known
}

// Source reads an input and hands batches to a sink until its input or context
// ends. The last batch carries the final Health.
type Source interface {
	Info() Info
	Run(ctx context.Context, sink Sink) error
}
