// Package rules holds what stormwatch judges by, as data: the features a rule
// may use, the signatures, and the mitigations they call for.
package rules

import "time"

// Scope says whose features a signature is judged on.
type Scope string

// Scopes.
const (
	Population Scope = "population"
	Agent      Scope = "agent"
	Client     Scope = "client"
)

// FeatureID numbers the features.
type FeatureID int

// Features, in the order of the table that Features returns.
const (
	Z FeatureID = iota
	Rho
	Coincidences
	Rounds
	HerdClients
	Jitter
	JitterGaps
	RhoFirst
	Slots
	Refusals
	RefusedClients
	MissingShare
	MissingLow
	HintedRetries
	EarlyRetries
	EarlyShare
	EarlyMedianS
	Seconds
	CalmSeconds
	Baseline
	BasePerS
	FreshPerS
	FreshMedian10
	GoodputPerS
	CapacityPerS
	CapacityN
	AttemptsPerS
	BurstPeak
	BurstEnded
	SinceEndS
	HoldS
	DeficitZ
	FailingShare
	FailingRiseZ
	FailingRise
	ServerFault
	FreshServed
	FirstRefusedShare
	RefusalShareOfFailures
	RetryShare
	ImpatientShare
	ExceedsCapacity
	AvoidableShare
	featureCount
)

// Feature is a measure that a rule may use.
type Feature struct {
	ID      FeatureID
	Name    string // as rules spell it
	Unit    string // "" for plain numbers
	Meaning string
}

var features = [featureCount]Feature{
	{Z, "z", "sd", "how far coincidences of retries exceed chance"},
	{Rho, "rho", "x", "coincidences of retries over those expected by chance"},
	{Coincidences, "coincidences", "", "pairs of retries by different clients within 50 ms"},
	{Rounds, "rounds", "", "returns of three or more clients within 50 ms, at least 150 ms apart"},
	{HerdClients, "herd_clients", "clients", "most clients that retried within one second"},
	{Jitter, "jitter", "", "spread of waits: interquartile range over median, per agent and attempt"},
	{JitterGaps, "jitter_gaps", "", "waits behind the jitter figure"},
	{RhoFirst, "rho_first", "x", "the same ratio on first attempts: the traffic's own rhythm"},
	{Slots, "slots", "", "50 ms slots that the retries fill as if spread evenly"},
	{Refusals, "refusals", "", "refusals in the last minute"},
	{RefusedClients, "refused_clients", "clients", "clients refused in the last minute"},
	{MissingShare, "missing_share", "", "share of refusals without a wait in any header known"},
	{MissingLow, "missing_low", "", "lower bound of that share (Wilson, z 2.58)"},
	{HintedRetries, "hinted_retries", "", "retries of this client after a refusal that named a wait"},
	{EarlyRetries, "early_retries", "", "those of them sent before the wait was over"},
	{EarlyShare, "early_share", "", "share of hinted retries that were early"},
	{EarlyMedianS, "early_by", "s", "how early they were on average"},
	{Seconds, "seconds", "s", "seconds judged so far"},
	{CalmSeconds, "calm_seconds", "s", "calm seconds behind the baseline"},
	{Baseline, "baseline", "", "1 when calm traffic was seen before the incident"},
	{BasePerS, "base_per_s", "/s", "first attempts per second in calm"},
	{FreshPerS, "fresh_per_s", "/s", "first attempts per second now"},
	{FreshMedian10, "fresh_median", "/s", "median of first attempts per second over ten seconds"},
	{GoodputPerS, "goodput_per_s", "/s", "requests served per second now"},
	{CapacityPerS, "capacity_per_s", "/s", "most that was served per second, a lower bound of capacity"},
	{CapacityN, "capacity_n", "", "requests behind that figure"},
	{AttemptsPerS, "attempts_per_s", "/s", "attempts per second now"},
	{BurstPeak, "burst_peak", "/s", "most first attempts per second in the burst"},
	{BurstEnded, "burst_ended", "", "1 when new demand has fallen back after a burst"},
	{SinceEndS, "since_end", "s", "time since the burst ended"},
	{HoldS, "hold", "s", "time that must pass after the burst"},
	{DeficitZ, "deficit_z", "sd", "how far useful work stays below new demand"},
	{FailingShare, "failing_share", "", "share of first attempts that fail"},
	{FailingRiseZ, "failing_rise_z", "sd", "how far the failing share rose since the burst"},
	{FailingRise, "failing_rise", "", "rise of the failing share since the burst"},
	{ServerFault, "server_fault", "", "1 when failures came without a rise of demand"},
	{FreshServed, "fresh_served", "", "1 when new demand is no more than was served before"},
	{FirstRefusedShare, "first_refused_share", "", "share of first attempts that are refused"},
	{RefusalShareOfFailures, "refusal_share", "", "share of failing first attempts that are refusals"},
	{RetryShare, "retry_share", "", "share of attempts that are retries"},
	{ImpatientShare, "impatient_share", "", "share of attempts that are early, immediate or beyond the fourth"},
	{ExceedsCapacity, "exceeds_capacity", "sd", "how far new demand exceeds what was ever served"},
	{AvoidableShare, "avoidable_share", "", "share of attempts that patient clients would not send"},
}

// Features returns the vocabulary, indexed by FeatureID.
func Features() []Feature { return features[:] }

// Values are the features of one subject at one moment. The zero Values know
// nothing.
type Values struct {
	Clock     int64 // clock resolution in nanoseconds
	Exchanges bool  // single exchanges are known, not only counts of intervals
	SeesHints bool  // response headers are visible

	x     [featureCount]float64
	n     [featureCount]int64
	known [featureCount]bool
}

// Reset forgets all features.
func (v *Values) Reset() { v.known = [featureCount]bool{} }

// Set gives a feature its value, measured on n.
func (v *Values) Set(id FeatureID, x float64, n int64) {
	v.x[id], v.n[id], v.known[id] = x, n, true
}

// Get returns a feature.
func (v *Values) Get(id FeatureID) (x float64, n int64, known bool) {
	return v.x[id], v.n[id], v.known[id]
}

func featureByName(name string) (FeatureID, bool) {
	for _, f := range features {
		if f.Name == name {
			return f.ID, true
		}
	}
	return 0, false
}

// Needs are the conditions under which a signature can be judged at all.
type Needs struct {
	Clock    time.Duration `yaml:"clock"`    // the coarsest clock that can show it
	Evidence string        `yaml:"evidence"` // "exchanges", or "" for counts too
	Hints    bool          `yaml:"hints"`    // response headers must be visible
	Baseline bool          `yaml:"baseline"` // calm traffic before the incident must have been seen
	Min      minima        `yaml:"min"`      // least values, checked before any expression runs
}
