// Package rules holds what stormwatch judges by, as data: the features a rule
// may use, the signatures, and the mitigations they call for.
package rules

// Scope says whose features a signature is judged on.
type Scope string

// Scopes, widest first. No feature is measured by route yet, so that a rule of
// that scope is refused when it is loaded.
const (
	Population Scope = "population"
	Agent      Scope = "agent"
	Route      Scope = "route"
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
	EarlyMeanS
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
	Unit    string // "" for plain numbers and shares
	Meaning string
	Scopes  []Scope // whose values are measured
	Boolean bool    // 1 is yes and 0 is no; rules use the name as a condition
}

var (
	together = []Scope{Population, Agent} // timing across clients
	everyone = []Scope{Population}
	single   = []Scope{Client}
)

var features = [featureCount]Feature{
	{ID: Z, Name: "z", Unit: "sd", Scopes: together, Meaning: "how far coincidences of retries exceed chance"},
	{ID: Rho, Name: "rho", Unit: "x", Scopes: together, Meaning: "coincidences of retries over those expected by chance, 20 at most"},
	{ID: Coincidences, Name: "coincidences", Unit: "pairs", Scopes: together, Meaning: "pairs of retries by different clients within 50 ms"},
	{ID: Rounds, Name: "rounds", Unit: "rounds", Scopes: together, Meaning: "returns of three or more clients within 50 ms, at least 150 ms apart"},
	{ID: HerdClients, Name: "herd_clients", Unit: "clients", Scopes: together, Meaning: "most clients that retried within one second"},
	{ID: Jitter, Name: "jitter", Scopes: together, Meaning: "spread of waits: interquartile range over median, per agent and attempt"},
	{ID: JitterGaps, Name: "jitter_gaps", Unit: "waits", Scopes: together, Meaning: "waits behind the jitter figure"},
	{ID: RhoFirst, Name: "rho_first", Unit: "x", Scopes: together, Meaning: "rho of first attempts: the traffic's own rhythm"},
	{ID: Slots, Name: "slots", Unit: "slots", Scopes: together, Meaning: "50 ms slots that the retries fill as if spread evenly"},
	{ID: Refusals, Name: "refusals", Unit: "answers", Scopes: everyone, Meaning: "refusals in the last minute"},
	{ID: RefusedClients, Name: "refused_clients", Unit: "clients", Scopes: everyone, Meaning: "clients refused in the last minute"},
	{ID: MissingShare, Name: "missing_share", Scopes: everyone, Meaning: "share of refusals without a wait in any known header"},
	{ID: MissingLow, Name: "missing_low", Scopes: everyone, Meaning: "lower bound of missing_share (Wilson, z 2.58)"},
	{ID: HintedRetries, Name: "hinted_retries", Unit: "retries", Scopes: single, Meaning: "retries after a refusal that named a usable wait"},
	{ID: EarlyRetries, Name: "early_retries", Unit: "retries", Scopes: single, Meaning: "hinted retries sent before the wait was over"},
	{ID: EarlyShare, Name: "early_share", Scopes: single, Meaning: "share of hinted retries that were early"},
	{ID: EarlyMeanS, Name: "early_mean_s", Unit: "s", Scopes: single, Meaning: "how early the early retries were, on average"},
	{ID: Seconds, Name: "seconds", Unit: "s", Scopes: everyone, Meaning: "seconds judged so far"},
	{ID: CalmSeconds, Name: "calm_seconds", Unit: "s", Scopes: everyone, Meaning: "calm seconds behind the baseline"},
	{ID: Baseline, Name: "baseline", Scopes: everyone, Boolean: true, Meaning: "calm traffic was seen before the incident"},
	{ID: BasePerS, Name: "base_per_s", Unit: "/s", Scopes: everyone, Meaning: "first attempts per second in calm"},
	{ID: FreshPerS, Name: "fresh_per_s", Unit: "/s", Scopes: everyone, Meaning: "first attempts per second now"},
	{ID: FreshMedian10, Name: "fresh_median10", Unit: "/s", Scopes: everyone, Meaning: "median over ten seconds of first attempts per second"},
	{ID: GoodputPerS, Name: "goodput_per_s", Unit: "/s", Scopes: everyone, Meaning: "requests served per second now"},
	{ID: CapacityPerS, Name: "capacity_per_s", Unit: "/s", Scopes: everyone, Meaning: "most that was served per second, a lower bound of capacity"},
	{ID: CapacityN, Name: "capacity_n", Unit: "requests", Scopes: everyone, Meaning: "requests behind capacity_per_s"},
	{ID: AttemptsPerS, Name: "attempts_per_s", Unit: "/s", Scopes: everyone, Meaning: "attempts per second now, first ones and retries"},
	{ID: BurstPeak, Name: "burst_peak", Unit: "/s", Scopes: everyone, Meaning: "most first attempts per second in the burst"},
	{ID: BurstEnded, Name: "burst_ended", Scopes: everyone, Boolean: true, Meaning: "new demand has fallen back after a burst"},
	{ID: SinceEndS, Name: "since_end_s", Unit: "s", Scopes: everyone, Meaning: "time since the burst ended"},
	{ID: HoldS, Name: "hold_s", Unit: "s", Scopes: everyone, Meaning: "time to let pass after the burst before judging"},
	{ID: DeficitZ, Name: "deficit_z", Unit: "sd", Scopes: everyone, Meaning: "how far useful work stays below new demand"},
	{ID: FailingShare, Name: "failing_share", Scopes: everyone, Meaning: "share of first attempts that fail"},
	{ID: FailingRiseZ, Name: "failing_rise_z", Unit: "sd", Scopes: everyone, Meaning: "how far the failing share rose since the burst, in standard errors"},
	{ID: FailingRise, Name: "failing_rise", Scopes: everyone, Meaning: "rise of the failing share since the burst"},
	{ID: ServerFault, Name: "server_fault", Scopes: everyone, Boolean: true, Meaning: "failures came without a rise of demand"},
	{ID: FreshServed, Name: "fresh_served", Scopes: everyone, Boolean: true, Meaning: "new demand is no more than was served before, within noise"},
	{ID: FirstRefusedShare, Name: "first_refused_share", Scopes: everyone, Meaning: "share of first attempts that are refused"},
	{ID: RefusalShareOfFailures, Name: "refusal_share_of_failures", Scopes: everyone, Meaning: "share of failing first attempts that are refusals"},
	{ID: RetryShare, Name: "retry_share", Scopes: everyone, Meaning: "share of attempts that are retries"},
	{ID: ImpatientShare, Name: "impatient_share", Scopes: everyone, Meaning: "share of traffic that is early, immediate or beyond-fourth uncovered retries"},
	{ID: ExceedsCapacity, Name: "exceeds_capacity", Unit: "sd", Scopes: everyone, Meaning: "how far fresh_median10 exceeds capacity_per_s and its noise"},
	{ID: AvoidableShare, Name: "avoidable_share", Scopes: everyone, Meaning: "share of attempts that patient clients would not send"},
}

// Features returns the vocabulary, indexed by FeatureID. It is not to be changed.
func Features() []Feature { return features[:] }

func featureByName(name string) (FeatureID, bool) {
	for i := range features {
		if features[i].Name == name {
			return features[i].ID, true
		}
	}
	return 0, false
}
