package detect

// Layers tells how many attempts each layer of retries makes of one original
// request, outermost first. Rows is empty where no more than one layer retries, unless
// ids prove that it is a hop.
type Layers struct {
	Rows       []Layer
	Multiplier Number // attempts at the innermost layer for each original request
	Worst      Number // the same, if every layer used all its attempts
	Proof      string // "counters", "declared tries", "ids", "timing"
	Inferred   bool   // by timing alone
}

// Layer is a place on the way of a request that sends it again.
type Layer struct {
	Name       string
	PerRequest Number // attempts it sends for each original request
	Most       int    // attempts it made at one request at most; 0 unknown
	Seen       bool   // its traffic is in the input; else it is concluded from another's
	Pressure   bool   // where the attempts arrive
}

// Arrivals shows when retries come, folded by a period: a fleet in step is an
// upright bar, jitter an even field.
type Arrivals struct {
	Period, Spread int64            // ns; of the gaps that make up the period, their median absolute deviation
	Start, Width   int64            // of the first cell, and of each; ns; the last of a row may be cut by its end
	Rows           [][]int32        // successive periods, 40 at most, and within each the retries by phase, 120 cells at most
	Candidates     []int64          // periods worth folding by, best first
	Strength       Number           // length of the mean phase vector, 0..1
	PeakOverMean   Number           // of the phases
	Coincidence    Number           // z of retries against first attempts
	Excess         Number           // rho: the same as a ratio
	Jitter         Number           // J: spread of a client's gaps as a share of the gap
	Peak50ms       Number           // most arrivals in 50 ms
	Slots          Number           // equivalent slots that the retries use of a period, of the cells of a row
	Clients        []ClientArrivals // the 40 busiest at most, for the unfolded picture
}

// ClientArrivals are one client's retries over the span of all rows, which the
// cells divide equally. Only what is still kept of single exchanges is counted.
type ClientArrivals struct {
	Label string
	Cells []int32
}

// Growth is a part of the demand beside what it was before the incident.
type Growth struct {
	Kind, Name   string  // "route", "agent" or "client"; its label
	Before, PerS float64 // first attempts per second
	New          Number  // share of its clients that were not seen before the incident
}

// Reach says what acting on few clients would spare.
type Reach struct {
	Clients, Of int     // the first Clients in order of avoidable load, of all
	Share       float64 // of the avoidable load
}
