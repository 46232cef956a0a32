// Package detect turns exchanges and tallies into chains, features, findings and
// a verdict: a bounded Snapshot that is never changed once it is published.
//
// It knows event time only. Nothing here reads a clock.
package detect

import (
	"stormwatch/capture"
	"stormwatch/detect/hop"
)

// Number is a measure that may be unknown; unknown is not zero.
type Number struct {
	V     float64
	Known bool
}

// Some is a known Number.
func Some(v float64) Number { return Number{v, true} }

// View says which part of the state a Snapshot shall hold.
type View struct {
	TopK       int          // clients listed; 0 means 500
	Client     string       // label of the client whose chains are wanted; "" none
	From, To   int64        // range of the timeline, Unix ns; 0 means all
	Bins       int          // timeline bins at most; 0 means 240
	Filter     ClientFilter // clients that pass are listed; nil lists all
	FilterName string       // for whoever plays the recording: another filter has another
	Lasting    bool         // the Filter asks what clients are (label, name, agent, route), not what they did
	Whole      bool         // judge the input as a whole: the verdict is the worst it has been
	Arrivals   bool         // the retries' arrivals are wanted, folded by Period
	Period     int64        // ns; 0 means the one that fits best
}

// ClientFilter selects rows of the client table.
type ClientFilter func(*Client) bool

// Filtered says how far a filter reaches into a Snapshot.
type Filtered struct {
	Name        string  // of the filter; "" none
	Whole       bool    // all there is in it is of the clients that pass, as if there were no others; else their rows alone
	Clients, Of int     // with Whole: so many clients pass, of all
	Share       float64 // 0..1: how far the pass over the recording is that makes it whole
	From        int64   // live, with Whole: what was before was no longer there to be judged; 0 all is in it
}

// Snapshot is all that a screen or report shows. Slices are never nil-sensitive
// and never changed after publication.
type Snapshot struct {
	Seq         uint64 // grows with each publication
	At          int64  // event time up to which the engine has judged, Unix ns
	Start, End  int64  // the input's first and (for recorded input) last event; 0 without input
	Perspective string // "server" or "client"
	Live        bool
	Loaded      float64 // share of a recorded input read, 0..1
	Filtered    Filtered

	Sources        []Source
	Verdict        Verdict
	Totals         Totals
	Behind         Behind
	Matcher        Matcher
	Recent         Recent
	Findings       []Finding // live ones first, then by severity, score and name; of a whole input by severity first
	NotJudged      []NotJudged
	Clients        []Client // by avoidable load, then retries, then failures; TopK at most
	ClientCount    int      // all clients, listed or not
	ClientsMatched int      // those that pass the filter
	ClientsOthers  Client   // the sum of those not listed
	Mitigations    []Mitigation
	Timeline       Timeline
	Events         []Event // in time order
	Chains         []Chain // of View.Client, latest last
	Layers         Layers
	Arrivals       Arrivals // if View.Arrivals
	Growth         []Growth // what grew most since before the incident, first
	Newcomers      Number   // share of the clients of the incident that were not seen before it
	Reach          []Reach  // how much of the avoidable load few clients make
	Limit          Limit
	Habits         []Habit // how each agent's clients wait, most waits first; at most 64
	Victims        int     // clients refused though they do not retry: nobody to act on
}

// Source is one input and its health.
type Source struct {
	Name, Kind, Vantage string
	Primary             bool    // its exchanges make the totals; others corroborate
	OffsetSeconds       float64 // how far its clock is ahead of the primary source's, where that is known
	Unsure              bool    // not counted for its name or its kind alone
	PerRequest          Number  // another hop's exchanges for each of the primary's, of ids that both saw
	Behind              Number  // of the primary: exchanges at all hops behind it for each of its own, likewise
	Repeats             hop.Fan // what Behind rests on: what the hop made of its requests, by ids
	Health              capture.Health
	Note                string   // e.g. why it is not summed
	Shared              []string // labels of clients that the note names
	Quiet               int64    // live: for how long nothing has come from it, ns of the caller's clock
	Age                 int64    // live: how old its latest event is by the caller's clock, ns
}

// State is the verdict's word.
type State uint8

// States in rising order of alarm, Unknown apart.
const (
	Unknown State = iota
	Clear
	Recovering
	Watch
	Overloaded
	Storm
)

func (s State) String() string {
	return [...]string{"unknown", "clear", "recovering", "watch", "overload", "storm"}[s]
}

// Cause names what the verdict holds responsible.
type Cause uint8

// Causes.
const (
	CauseNone Cause = iota
	CauseUnknown
	CauseClients
	CauseLoop
	CauseDraining
	CauseCapacity
	CauseServer
	CauseMixed
)

func (c Cause) String() string {
	return [...]string{"none", "unknown", "client-behaviour", "sustaining-loop", "draining", "capacity", "server-fault", "mixed"}[c]
}

// Verdict is what someone woken up must read first.
type Verdict struct {
	State         State
	Cause         Cause
	Confidence    float64 // 0..1
	Since         int64   // onset; 0 when State is Clear or Unknown
	SinceCensored bool    // the input starts inside it: the onset is Since or earlier
	Trend         string  // "growing", "steady", "falling", "ended" or ""
	What, Who     string  // one sentence each
	Party         Party   // what Who says, in parts
	Do, Dont      string
	NextEvidence  []string
}

// Party is who is behind an incident: so many clients of all, what they do, and
// the agent and route they share. Zero parts are not known.
type Party struct {
	Clients, Of        int
	Does, Agent, Route string
}

// Totals are sums over the whole input so far.
type Totals struct {
	Exchanges, LogicalRequests, Retries int64
	Refused, Failed, Succeeded          int64
	ClientErrors                        int64  // answered 4xx that is no refusal, 404 for one: neither failed nor succeeded
	RetryShare, Amplification           Number // retries/exchanges; exchanges/logical requests
	PerSuccess                          Number // exchanges per successful logical request
	GaveUp, Wasted                      Number
	GoodputPerS, CapacityPerS           Number
	HeadroomPerS, TippingPerS           Number
	Peak50ms                            Number // most arrivals in one 50 ms bin
	RecoverS, DetectS                   Number // from the incident's onset to its end, and to the first grave finding
}

// Recent are rates over the last ten judged seconds.
type Recent struct {
	Seconds                                 float64
	AttemptsPerS, FirstPerS, GoodputPerS    Number
	RefusedShare, FailingShare, RetryShare  Number
	Amplification                           Number // since the onset, while there is an incident
	RefusedShareBefore, AmplificationBefore Number // before the incident, where seen
}

// Severity of a finding.
type Severity uint8

// Severities in rising order.
const (
	Info Severity = iota
	Low
	Medium
	High
	Critical
)

func (s Severity) String() string {
	return [...]string{"info", "low", "medium", "high", "critical"}[s]
}

// Part is one summand of a score.
type Part struct {
	Name        string
	Points, Max float64
}

// Evidence is one measured feature behind a finding.
type Evidence struct {
	Name, Unit, Meaning string
	Value               float64
	N                   int64
	Threshold           string // the rule's condition on it, as text; "" if none
	P                   Number // p-value where the feature has one
}

// Finding is one signature raised.
type Finding struct {
	Signature, Scope       string
	Score                  float64 // the sum of the parts, at most 1
	Parts                  []Part
	Severity               Severity
	Confidence             float64
	Onset, Detected, Ended int64 // Unix ns; Ended 0 while it lasts
	OnsetCensored          bool
	Clients                []string // empty: the whole population
	ClientCount            int
	Route, Layer, Agent    string
	Says                   string
	When, FalsePositives   string // the rule's condition and its stated error rate
	Evidence               []Evidence
	At                     []string // provenance of a few rows
	Mitigations            []string
}

// Active tells whether the finding still holds.
func (f *Finding) Active() bool { return f.Ended == 0 }

// NotJudged says why a signature could not be judged.
type NotJudged struct{ Signature, Reason string }

// PolicyEstimate names a retry policy read from timing.
type PolicyEstimate struct {
	Family, Name string // "" where it cannot be told
	Probability  float64
	Says         string // in a sentence, also why it cannot be told
}

// Client is one row of the client table.
type Client struct {
	Label, Name, Agent, Route string
	Attempts, OK, Refused     int64
	Failed, Retries, First    int64
	Amplification             Number
	GapMedianS, GapMADS       Number
	EvenP                     Number // bound on the chance of waits as even as its latest, did it send at random: 1, .01, .001 or .0001
	EarlyShare                Number // retries sent before the wait the server named
	AvoidablePerS             Number
	Victim                    bool // refused, though it does not retry
	Policy                    PolicyEstimate
	Hints                     Obedience
	Behind                    int // about how many clients share the address, or at least; 0: nothing says that several do
	Signatures                []string
	Score                     float64
	LastSeen                  int64
}

// Mitigation is one thing to do, ready to be read aloud.
type Mitigation struct {
	ID, Title, Who, When    string
	Expect                  string // expected effect in words
	Risk, Dont, Undo, Check string
	Stop                    string   // when to leave it, or go no further with it; "" not told
	Because                 []string // signatures that call for it
	Snippets                []Snippet
}

// Snippet is configuration or code for one product.
type Snippet struct{ For, Text string }

// Timeline holds counts in whole-number bins aligned to the clock.
type Timeline struct {
	Start, Width int64 // of the first bin, and of each; ns
	Bins         []Bin
}

// Bin counts one interval of the timeline.
type Bin struct {
	Attempts, First, Retries    int64
	Success, Refused, OtherFail int64 // by the time of the outcome
	MaxPerS                     int64 // most attempts in one second of it
}

// Event is a moment worth jumping to.
type Event struct {
	At   int64
	Kind string // "onset", "peak", "on", "off", "state", "end"
	Text string
}

// Level is how well an attempt's place in its chain is known (E0 to E5).
type Level uint8

func (l Level) String() string { return "E" + string(rune('0'+min(l, 5))) }

// Attempt is one request of a chain.
type Attempt struct {
	N          int // 1-based
	Start, End int64
	Gap        Number // seconds since the previous attempt's end; unknown for the first
	Status     int    // 0 without an answer
	Outcome    capture.Outcome
	Reason     capture.Reason
	RPC        capture.RPCStatus
	Hint       capture.Hint
	HintRaw    string
	Early      Number // seconds before the hinted moment at which it was sent
	Evidence   Level
	Confidence float64
	At         string
	Tries      int     // attempts at servers behind, made for it by the logging hop; 0 where it does not say
	Tried      []Tried // these, where they are listed and more than one
	Origin     capture.Origin
}

// Chain is a request and its retries.
type Chain struct {
	ID                                string // client label # ordinal
	Client, Agent, Method, Host, Path string
	Attempts                          []Attempt // bounded; More counts those left out
	More                              int
	Ended                             string // "success", "gave up", "refused for good", "open"
	Policy                            PolicyEstimate
}
