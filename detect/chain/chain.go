// Package chain finds which request is an attempt of which: it links a request
// to the failed one it repeats.
//
// A failure stays open for a while. A later request for the same operation by
// the same client is either its retry or a fresh request, and the rates at which
// the two kinds arrive decide: the hazard of a retry, learned from the traffic
// itself and mixed with a broad prior, against the rate of fresh requests. It is
// stochastic declustering as used for earthquakes (Zhuang, Ogata and Vere-Jones,
// JASA 97:369, 2002). What a request declares about itself (an idempotency key,
// an attempt counter) overrides the statistics.
//
// All times are Unix nanoseconds of event time. A Set divides its state into
// shards by operation; a shard is worked on by one goroutine at a time, and
// parameters change only at Barrier, from integer sums, so that links do not
// depend on how many shards there are.
package chain

import (
	"time"

	"stormwatch/capture"
)

// Evidence levels of a link (detection.md 5.2). A first attempt carries the
// level of the evidence that it is fresh.
const (
	E0 uint8 = iota // best guess, below .6
	E1              // inferred, .6 to .9
	E2              // inferred, .9 or more
	E3              // declared by a proxy's log; not given by this package
	E4              // identified by a stable id
	E5              // declared by a counter
)

// Options bound a Set. Zero values take the defaults.
type Options struct {
	Shards      int           // parts that may be worked on at once; default 1
	MaxOpen     int           // open failures of one key, the oldest leave first; default 16, at most 64
	MaxAge      time.Duration // for how long a failure may be answered by a retry; default and at most 120 s
	MaxFailures int           // open failures, and half the keys remembered, all shards together after a Barrier; default 1<<20
}

// Request is a request at its start.
type Request struct {
	Seq      uint64 // global order, 1-based, unique
	Start    int64
	Op       uint64 // hash of method, host, path with canonical query, and body digest unless there is an Idem
	Template uint64 // hash of method and path with digits removed
	Addr     uint64 // hash of address, forwarded client and agent
	IP       uint64 // hash of the address
	Cred     uint64 // hash of the credential; 0 none
	Client   uint32 // opaque, returned for the root
	Idem     uint64 // hash of a stable operation id; 0 none
	Body     uint64 // digest of the body; 0 none
	ID       uint64 // hash of an id that hops pass on; 0 none
	Counter  capture.Counter
	N        uint16          // attempt number by Counter, the client's own, first 1
	Relay    capture.Attempt // by a proxy on the way
	Deadline int64           // when its caller stops waiting; 0 not told
	Clock    int64           // ns: two moments of its source that are less apart may be the same; 0 exact
}

// Link is the place of a request in its chain. A first attempt has no Parent and
// is its own Root; where a counter declares a later attempt whose parent was not
// seen, Attempt is what was declared and Parent is 0.
type Link struct {
	Parent, Root  uint64 // Seq
	RootClient    uint32
	Attempt       int32   // 1-based
	Sure          float32 // attempts at the same request up to this one that may be expected, each link as sure as it is
	Level         uint8   // E0..E5
	Confidence    float32
	Retry         uint16 // probability that the request is a retry, of whatever, in 1/65535
	Hidden        uint16 // of the attempts, those that may be an inner layer's: their clock does not show the wait before them
	Together      uint8  // such attempts in a row, this one the last
	Gap           int64  // start minus the parent's end, ns; valid if Parent != 0
	Before        int64  // the wait before the parent, ns; 0 where there was none, or it kept to a hint
	ParentStatus  uint16
	ParentReason  capture.Reason
	ParentHint    capture.Hint
	ParentStart   int64
	ParentEnd     int64
	ParentOutcome capture.Outcome
	ParentAdvice  capture.Advice
	ParentCred    uint64
	ParentIdem    uint64
	// ParentRelative tells that the failure named its limit's reset as the time
	// left: read as a moment it is long past.
	ParentRelative bool
	Deadline       int64 // the earliest that an attempt before this one was sent with; 0 none told
}

// obeys tells whether the wait before a request kept to the one that its server
// named, give or take what timers do: its client's own wait is not known then.
func (l *Link) obeys() bool {
	const timers = int64(50e6)
	wait := l.ParentHint.Wait
	return l.ParentHint.Usable() && l.Gap >= wait-max(timers, wait/50)
}

// Result is a request at its end.
type Result struct {
	Seq            uint64
	Op, Addr, Cred uint64
	Start, End     int64
	Status         uint16
	Reason         capture.Reason
	Outcome        capture.Outcome
	Failed         bool
	Hint           capture.Hint
	Link           Link // as returned for this Seq
	Client         uint32
	Idem, Body, ID uint64
	Counter        capture.Counter
	N              uint16
	Relay          capture.Attempt
	Template, IP   uint64
	Advice         capture.Advice
	Relative       bool  // it named its limit's reset as the time left
	Raced          bool  // a connection that was idle was closed under it: its transport may send it once more
	Deadline       int64 // when its caller stops waiting; 0 not told
}

// Stats count what a Set has done since it was made, and holds now.
type Stats struct {
	Open    int       // failures that wait for a retry
	Linger  int       // failures that may still be answered by one, though it is not expected any more
	Keys    int       // pairs of operation and identity remembered
	Capped  uint64    // failures that left because their key had MaxOpen later ones
	Evicted uint64    // failures and keys that left because the Set was full
	GaveUp  uint64    // chains that failed for the last time and were worth a retry
	Retries float64   // expected number of retries, the sum of Link.Retry: unbiased where single links are not sure
	Matched [6]uint64 // links to a parent, by evidence level
	First   uint64    // first attempts
	Timing  Score
	Layers  Layers

	soft uint64 // sum of Link.Retry
}

const (
	defaultMaxOpen     = 16
	limitMaxOpen       = 64
	defaultMaxAge      = 120 * time.Second
	defaultMaxFailures = 1 << 20
)

func (o Options) withDefaults() Options {
	if o.Shards < 1 {
		o.Shards = 1
	}
	if o.MaxOpen < 1 {
		o.MaxOpen = defaultMaxOpen
	}
	o.MaxOpen = min(o.MaxOpen, limitMaxOpen)
	if o.MaxAge <= 0 || o.MaxAge > defaultMaxAge {
		o.MaxAge = defaultMaxAge
	}
	if o.MaxFailures < 1 {
		o.MaxFailures = defaultMaxFailures
	}
	return o
}
