package capture

// HintState tells whether a server named a wait. The zero value is the honest
// one: the source could not have seen it.
type HintState uint8

// Hint states.
const (
	NotObservable HintState = iota
	Absent
	Present
)

func (s HintState) String() string { return [...]string{"not-observable", "absent", "present"}[s] }

// HintKind is the form in which a wait was named.
type HintKind uint8

// Hint kinds.
const (
	NoHint HintKind = iota
	RetryAfterSeconds
	RetryAfterDate
	RetryAfterMillis // retry-after-ms, x-ms-retry-after-ms
	Malformed        // a wait was named, in no form this project knows
	RPCPushback      // grpc-retry-pushback-ms
	DoNotRetry       // a negative or unreadable pushback: the client must not retry (gRPC A6)
)

func (k HintKind) String() string {
	return [...]string{"", "retry-after-seconds", "retry-after-date", "retry-after-ms", "malformed", "grpc-retry-pushback-ms", "do-not-retry"}[k]
}

// Hint is the wait a server named. Wait is in nanoseconds and holds only when
// State is Present and Kind is neither Malformed nor DoNotRetry. A parse failure
// is never a wait of zero.
type Hint struct {
	Wait  int64
	Raw   Symbol
	State HintState
	Kind  HintKind
}

// Usable tells whether the hint names a wait that a client could have kept to.
func (h Hint) Usable() bool {
	return h.State == Present && h.Kind != Malformed && h.Kind != DoNotRetry
}

// Counter names a header that carries an attempt number.
type Counter uint8

// Counters, with the number their first attempt carries.
const (
	NoCounter        Counter = iota
	EnvoyAttempts            // x-envoy-attempt-count, first 1
	StainlessRetries         // x-stainless-retry-count, first 0
	AmzAttempt               // amz-sdk-request: attempt=N, first 1
	RPCAttempts              // grpc-previous-rpc-attempts, first 0 by being absent
)

// Attempt is an attempt number that the request itself declares, normalised so
// that the first attempt is 1.
type Attempt struct {
	N       uint16
	Counter Counter
}
