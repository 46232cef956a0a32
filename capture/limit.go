package capture

// Limit is the state of a limit as an answer tells it, whatever its status.
type Limit struct {
	// Reset is how long after the answer the limit's window is said to end, in
	// nanoseconds; it holds where Form is neither NoHint nor Malformed. Where the
	// answer names its wait in no other way, this is also its Hint.
	Reset int64
	Left  uint32   // 1 plus the requests left; 0 not told
	Form  HintKind // how Reset was told; NoHint: not at all
	By    LimitBy
}

// LimitBy is by what an answer says that its limit counts.
type LimitBy uint8

// What answers name.
const (
	ByUntold LimitBy = iota
	ByAll            // everybody together
	ByCredential
	ByAddress
	ByRoute // a resource or a group of routes
	limitBys
)

func (b LimitBy) String() string {
	return [limitBys]string{"", "everybody", "credential", "address", "route"}[b]
}

// Exhausted tells whether the answer said that nothing is left.
func (l Limit) Exhausted() bool { return l.Left == 1 }

// Relative tells whether a wait in this form is a length of time, which a reader
// who expects a moment takes for one long past.
func (k HintKind) Relative() bool {
	switch k {
	case NoHint, RetryAfterDate, Malformed, DoNotRetry:
		return false
	}
	return true
}

// Advice is what a server says of trying again, whatever the status
// (x-should-retry, Stripe-Should-Retry).
type Advice uint8

// Advice.
const (
	NoAdvice Advice = iota
	MayRetry
	MustNotRetry
)
