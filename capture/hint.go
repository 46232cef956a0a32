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
