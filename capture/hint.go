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
	RetryAfterMillis // retry-after-ms, x-ms-retry-after-ms, x-amz-retry-after
	Malformed        // a wait was named, in no form this project knows
	RPCPushback      // grpc-retry-pushback-ms
	DoNotRetry       // a negative or unreadable pushback: the client must not retry (gRPC A6)

	RetryAfterDecimal // Retry-After with a fraction: some clients read it, others drop it
	OtherSeconds      // seconds in a field of the vendor's own
	OtherEpoch        // Unix seconds in such a field
	OtherDuration     // a duration such as 1.5s in such a field
	InBody            // a member of the body that says retry_after or the like

	// The end of a limit's window, where nothing else names a wait.
	ResetSeconds     // seconds left
	ResetMillis      // milliseconds left
	ResetEpoch       // Unix seconds
	ResetEpochMillis // Unix milliseconds
	ResetDuration    // a duration such as 6m0s
	ResetDate        // a date
	hintKinds
)

// FromReset tells whether the wait is the end of a limit's window.
func (k HintKind) FromReset() bool { return k >= ResetSeconds && k < hintKinds }

func (k HintKind) String() string {
	return kindNames[k]
}

var kindNames = [hintKinds]string{
	RetryAfterSeconds: "retry-after-seconds", RetryAfterDate: "retry-after-date", RetryAfterMillis: "retry-after-ms", Malformed: "malformed",
	RPCPushback: "grpc-retry-pushback-ms", DoNotRetry: "do-not-retry", RetryAfterDecimal: "retry-after-decimal",
	OtherSeconds: "other-seconds", OtherEpoch: "other-epoch", OtherDuration: "other-duration", InBody: "body",
	ResetSeconds: "reset-seconds", ResetMillis: "reset-ms", ResetEpoch: "reset-epoch", ResetEpochMillis: "reset-epoch-ms",
	ResetDuration: "reset-duration", ResetDate: "reset-date",
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
