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
	WithinMs
	WaveBins
	WaveShare
	WaitS
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
	Retries
	ImmediateRetries
	ImmediateShare
	SkewedRetries
	SkewS
	SkewSpreadS
	OverwaitedRetries
	OverwaitedShare
	OverwaitedLow
	UnsafeLow
	RescaledRetries
	RescaledShare
	FinalRetries
	BodyErrorRetries
	CredentialChanges
	UnsafeRepeats
	OverdueAttempts
	EndlessChains
	SpentRequests
	SpentShare
	Parked
	ParkedClients
	ParkedLow
	Uncovered
	UncoveredShare
	UncoveredLow
	MalformedShare
	MalformedLow
	AbsurdShare
	AbsurdLow
	ZeroShare
	ZeroLow
	DisagreeShare
	DisagreeLow
	KeptRetries
	KeptRefusedShare
	KeptRefusedLow
	WaitsRead
	LongestChain
	Growth
	CeilingS
	CeilingHighS
	AttemptCap
	IgnoredShare
	LayeredRequests
	LayerBoundaries
	LayerHold
	LayerChance
	LayerCount
	LayerMultiplier
	LayerWorst
	HopRepeated
	HopMultiplier
	PenaltyRises
	WiderRefusals
	WiderShare
	StartingClients
	StartingShare
	StartingBefore
	StartingExcess
	StartingSame
	StartingAgain
	QuotaRefusals
	QuotaSeconds
	QuotaInstances
	QuotaRefusalShare
	QuotaLargest
	QuotaDemand
	QuotaServed
	QuotaExcess
	LateRetries
	LateRefusedShare
	LateRefusedLow
	LateVainShare
	SpreadS
	WavePerS
	ServedBestPerS
	Reproduction
	DrainS
	GoodputSlope
	GoodputInvariant
	Hysteresis
	RelayedRepeats
	IgnoredDates
	CallBursts
	BurstCalls
	HotPolls
	PollGapS
	PollAskedS
	Restarts
	PagesAgain
	ElsewhereAgain
	ElsewhereShare
	ElsewhereLow
	ElsewhereClients
	ElsewhereBefore
	ElsewhereBeforeShare
	BriefSessions
	BriefShare
	BriefLow
	BriefClients
	SessionsBefore
	BriefBeforeShare
	LastingSessions
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
	both     = []Scope{Population, Client}
)

var features = [featureCount]Feature{
	{ID: Z, Name: "z", Unit: "sd", Scopes: together, Meaning: "how far coincidences of retries exceed chance, those of the same clients after each wait taken for one"},
	{ID: Rho, Name: "rho", Unit: "x", Scopes: together, Meaning: "coincidences of retries over those expected by chance, 20 at most"},
	{ID: Coincidences, Name: "coincidences", Unit: "pairs", Scopes: together, Meaning: "pairs of retries by different clients within the width looked at"},
	{ID: Rounds, Name: "rounds", Unit: "rounds", Scopes: together, Meaning: "returns of three or more clients within that width, most of a wait apart; above 50 ms, of third and later attempts that stand out"},
	{ID: HerdClients, Name: "herd_clients", Unit: "clients", Scopes: together, Meaning: "most clients that retried within one second"},
	{ID: WithinMs, Name: "within_ms", Unit: "ms", Scopes: together, Meaning: "width within which retries coincide: a rule that reads it is judged at 50, 250 and 1,000 ms"},
	{ID: WaveBins, Name: "wave_bins", Scopes: together, Meaning: "widths that a return fills, on average; 1 at 50 ms, where it is not counted"},
	{ID: WaveShare, Name: "wave_share", Scopes: together, Meaning: "share of the retries that come in returns; 1 at 50 ms, where it is not counted"},
	{ID: WaitS, Name: "wait_s", Unit: "s", Scopes: together, Meaning: "median wait before a retry"},
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
	{ID: Retries, Name: "retries", Unit: "retries", Scopes: single, Meaning: "retries whose failed attempt was seen"},
	{ID: ImmediateRetries, Name: "immediate_retries", Unit: "retries", Scopes: single, Meaning: "retries within 50 ms of the failure"},
	{ID: ImmediateShare, Name: "immediate_share", Scopes: single, Meaning: "share of retries within 50 ms of the failure"},
	{ID: SkewedRetries, Name: "skewed_retries", Unit: "retries", Scopes: both, Meaning: "retries before the date that the server named"},
	{ID: SkewS, Name: "skew_s", Unit: "s", Scopes: both, Meaning: "how far retries miss the dates that the server named, on average; below 0 is early"},
	{ID: SkewSpreadS, Name: "skew_spread_s", Unit: "s", Scopes: both, Meaning: "standard deviation of skew_s"},
	{ID: OverwaitedRetries, Name: "overwaited_retries", Unit: "retries", Scopes: single, Meaning: "hinted retries later than three times the wait and five seconds"},
	{ID: OverwaitedShare, Name: "overwaited_share", Scopes: single, Meaning: "share of hinted retries that came far too late"},
	{ID: OverwaitedLow, Name: "overwaited_low", Scopes: single, Meaning: "lower bound (Wilson, z 2.58) of the share of hinted clients that ever came far too late"},
	{ID: UnsafeLow, Name: "unsafe_low", Scopes: both, Meaning: "lower bound (Wilson, z 2.58) of the share of clients with a write that may have been done who ever sent one again"},
	{ID: RescaledRetries, Name: "rescaled_retries", Unit: "retries", Scopes: single, Meaning: "early retries that fit the wait read in another unit"},
	{ID: RescaledShare, Name: "rescaled_share", Scopes: single, Meaning: "share of hinted retries that fit the wait read in another unit"},
	{ID: FinalRetries, Name: "final_retries", Unit: "retries", Scopes: single, Meaning: "retries of answers that no waiting cures"},
	{ID: BodyErrorRetries, Name: "body_error_retries", Unit: "retries", Scopes: single, Meaning: "retries of a success whose body is an error"},
	{ID: CredentialChanges, Name: "credential_changes", Unit: "retries", Scopes: single, Meaning: "retries of a refusal with another credential"},
	{ID: UnsafeRepeats, Name: "unsafe_repeats", Unit: "writes", Scopes: both, Meaning: "writes sent again, without a key that says so, though the first may have been done"},
	{ID: OverdueAttempts, Name: "overdue_attempts", Unit: "attempts", Scopes: single, Meaning: "attempts after the deadline of their caller"},
	{ID: EndlessChains, Name: "endless_chains", Unit: "chains", Scopes: single, Meaning: "chains of more than ten attempts, as far as the clock tells these from those of an inner layer"},
	{ID: SpentRequests, Name: "spent_requests", Unit: "requests", Scopes: single, Meaning: "requests although the last answer said that nothing is left"},
	{ID: SpentShare, Name: "spent_share", Scopes: single, Meaning: "share of the requests after such an answer that did not wait for the reset"},
	{ID: Parked, Name: "parked", Scopes: single, Meaning: "1 if the client has never come back after a refusal that named a wait"},
	{ID: ParkedClients, Name: "parked_clients", Unit: "clients", Scopes: single, Meaning: "clients that have not come back"},
	{ID: ParkedLow, Name: "parked_low", Scopes: single, Meaning: "lower bound (Wilson, z 2.58) of the share of such refused clients that have not come back"},
	{ID: Uncovered, Name: "uncovered_retries", Unit: "retries", Scopes: both, Meaning: "retries that keep to no usable wait, in the last quarter of a minute"},
	{ID: UncoveredShare, Name: "uncovered_share", Scopes: both, Meaning: "share of the attempts of that time that are such retries"},
	{ID: UncoveredLow, Name: "uncovered_low", Scopes: both, Meaning: "lower bound of uncovered_share (Wilson, z 2.58)"},
	{ID: MalformedShare, Name: "malformed_share", Scopes: everyone, Meaning: "share of refusals whose wait is neither digits nor a date"},
	{ID: MalformedLow, Name: "malformed_low", Scopes: everyone, Meaning: "lower bound of malformed_share (Wilson, z 2.58)"},
	{ID: AbsurdShare, Name: "absurd_share", Scopes: everyone, Meaning: "share of refusals whose wait is above an hour"},
	{ID: AbsurdLow, Name: "absurd_low", Scopes: everyone, Meaning: "lower bound of absurd_share (Wilson, z 2.58)"},
	{ID: ZeroShare, Name: "zero_share", Scopes: everyone, Meaning: "share of refusals whose wait is 0 or already past"},
	{ID: ZeroLow, Name: "zero_low", Scopes: everyone, Meaning: "lower bound of zero_share (Wilson, z 2.58)"},
	{ID: DisagreeShare, Name: "disagree_share", Scopes: everyone, Meaning: "share of refusals with two waits that are at odds"},
	{ID: DisagreeLow, Name: "disagree_low", Scopes: everyone, Meaning: "lower bound of disagree_share (Wilson, z 2.58)"},
	{ID: KeptRetries, Name: "kept_retries", Unit: "retries", Scopes: everyone, Meaning: "retries of the last minute that kept to the wait, and ended"},
	{ID: KeptRefusedShare, Name: "kept_refused_share", Scopes: everyone, Meaning: "share of them that were refused again on a route that served nobody then"},
	{ID: KeptRefusedLow, Name: "kept_refused_low", Scopes: everyone, Meaning: "lower bound of kept_refused_share (Wilson, z 2.58)"},
	{ID: WaitsRead, Name: "waits_read", Unit: "waits", Scopes: together, Meaning: "waits by which the retry policy was read"},
	{ID: LongestChain, Name: "longest_chain", Unit: "attempts", Scopes: together, Meaning: "attempts of the longest chain"},
	{ID: Growth, Name: "growth", Unit: "x", Scopes: together, Meaning: "how much longer each wait is than the one before, while they grow"},
	{ID: CeilingS, Name: "ceiling_s", Unit: "s", Scopes: together, Meaning: "where waits stop growing"},
	{ID: CeilingHighS, Name: "ceiling_high_s", Unit: "s", Scopes: together, Meaning: "upper bound of ceiling_s (z 2.58)"},
	{ID: AttemptCap, Name: "attempt_cap", Unit: "attempts", Scopes: together, Meaning: "attempts after which these clients give up, where they do"},
	{ID: IgnoredShare, Name: "ignored_share", Scopes: together, Meaning: "share of those waits that a hint had told otherwise"},
	{ID: LayeredRequests, Name: "layered_requests", Unit: "requests", Scopes: together, Meaning: "requests that show by themselves that two layers retry: by two counters, by declared tries, by their ids"},
	{ID: LayerBoundaries, Name: "layer_boundaries", Unit: "waits", Scopes: together, Meaning: "waits between bursts of one length, by which layers are told from timing"},
	{ID: LayerHold, Name: "layer_hold", Scopes: together, Meaning: "share of them that are longer than all waits of the bursts on both sides"},
	{ID: LayerChance, Name: "layer_chance", Scopes: together, Meaning: "chance of so many in one layer (Chernoff's bound)"},
	{ID: LayerCount, Name: "layers", Unit: "layers", Scopes: together, Meaning: "layers that retry"},
	{ID: LayerMultiplier, Name: "layer_multiplier", Unit: "attempts", Scopes: together, Meaning: "attempts for each request that was retried"},
	{ID: LayerWorst, Name: "layer_worst", Unit: "attempts", Scopes: together, Meaning: "the same, if each layer used all its attempts"},
	{ID: HopRepeated, Name: "hop_repeated", Unit: "requests", Scopes: together, Meaning: "requests that a hop sent on again when they had failed, by ids which it and the hop behind it logged"},
	{ID: HopMultiplier, Name: "hop_multiplier", Unit: "x", Scopes: together, Meaning: "requests that it sent on for each that it received, but for those to other services"},
	{ID: PenaltyRises, Name: "penalty_rises", Unit: "rises", Scopes: single, Meaning: "requests sent before the wait was over that were told to wait longer than before, never less, eight times as long in the end"},
	{ID: WiderRefusals, Name: "wider_refusals", Unit: "seconds", Scopes: single, Meaning: "seconds in which a new request was sent while the wait named to another one ran, of ten seconds or more, and was refused"},
	{ID: WiderShare, Name: "wider_share", Scopes: single, Meaning: "share of such new requests that were refused"},
	{ID: StartingClients, Name: "starting_clients", Unit: "clients", Scopes: everyone, Meaning: "clients that send a first request on a new connection within one second"},
	{ID: StartingShare, Name: "starting_share", Scopes: everyone, Meaning: "the same as a share of all clients seen so far"},
	{ID: StartingBefore, Name: "starting_before_per_s", Unit: "/s", Scopes: everyone, Meaning: "such clients per second in the half minute before"},
	{ID: StartingExcess, Name: "starting_excess", Unit: "sd", Scopes: everyone, Meaning: "how far starting_clients exceeds that rate and five more"},
	{ID: StartingSame, Name: "starting_same", Scopes: everyone, Meaning: "share of their first calls that the three commonest make up"},
	{ID: StartingAgain, Name: "starting_again", Scopes: everyone, Boolean: true, Meaning: "clients began together twice before, as far apart as now: a schedule"},
	{ID: QuotaRefusals, Name: "quota_refusals", Unit: "answers", Scopes: everyone, Meaning: "refusals, for want of quota, of the credential that has most of them, in the last minute"},
	{ID: QuotaSeconds, Name: "quota_seconds", Unit: "s", Scopes: everyone, Meaning: "seconds of that time in which it was refused"},
	{ID: QuotaInstances, Name: "quota_instances", Unit: "clients", Scopes: everyone, Meaning: "addresses that use it"},
	{ID: QuotaRefusalShare, Name: "quota_refusal_share", Scopes: everyone, Meaning: "its share of all refusals"},
	{ID: QuotaLargest, Name: "quota_largest", Scopes: everyone, Meaning: "the busiest address's share of its first attempts, at most"},
	{ID: QuotaDemand, Name: "quota_demand_per_s", Unit: "/s", Scopes: everyone, Meaning: "its first attempts per second"},
	{ID: QuotaServed, Name: "quota_served_per_s", Unit: "/s", Scopes: everyone, Meaning: "what of it was served per second"},
	{ID: QuotaExcess, Name: "quota_excess", Unit: "sd", Scopes: everyone, Meaning: "how far its first attempts exceed what was served"},
	{ID: LateRetries, Name: "late_retries", Unit: "retries", Scopes: everyone, Meaning: "third and later attempts that came out in the last minute, refused or served"},
	{ID: LateRefusedShare, Name: "late_refused_share", Scopes: everyone, Meaning: "share of them that were refused while others on the route were served"},
	{ID: LateRefusedLow, Name: "late_refused_low", Scopes: everyone, Meaning: "lower bound of late_refused_share (Wilson, z 2.58)"},
	{ID: LateVainShare, Name: "late_vain_share", Scopes: everyone, Meaning: "share of them that were refused while nobody on the route was served"},
	{ID: SpreadS, Name: "spread_s", Unit: "s", Scopes: everyone, Meaning: "width over which jitter spreads a wait: twice its interquartile range"},
	{ID: WavePerS, Name: "wave_per_s", Unit: "/s", Scopes: everyone, Meaning: "rate at which all clients refused in the last minute come back, if they are spread so"},
	{ID: ServedBestPerS, Name: "served_best_per_s", Unit: "/s", Scopes: everyone, Meaning: "most that was served per second, over five seconds of the last minute"},
	{ID: Reproduction, Name: "reproduction", Scopes: everyone, Meaning: "retries that each attempt begets, of m attempts at most (m-1)/m"},
	{ID: DrainS, Name: "drain_s", Unit: "s", Scopes: everyone, Meaning: "time until the backlog is gone, if demand stays as it is"},
	{ID: GoodputSlope, Name: "goodput_slope", Scopes: everyone, Meaning: "useful answers more for each attempt more; near 0, retrying buys nothing, below it costs"},
	{ID: GoodputInvariant, Name: "goodput_invariant", Scopes: everyone, Boolean: true, Meaning: "more is failing than three in ten, and what is served does not depend on how much is sent: retrying buys nothing"},
	{ID: Hysteresis, Name: "hysteresis", Scopes: everyone, Meaning: "failing share at the demand of the calm, less that of the calm"},
	{ID: RelayedRepeats, Name: "relayed_repeats", Unit: "writes", Scopes: both, Meaning: "of unsafe_repeats, those that a hop on the way sent, as its log lists or what the hop behind it saw shows"},
	{ID: IgnoredDates, Name: "ignored_dates", Unit: "retries", Scopes: single, Meaning: "early retries where the wait was a date, and the clocks agree"},
	{ID: CallBursts, Name: "call_bursts", Unit: "bursts", Scopes: single, Meaning: "bursts of ten calls and more of one request, each sent at once after the one before had succeeded, and at least 1 s apart"},
	{ID: BurstCalls, Name: "burst_calls", Unit: "calls", Scopes: single, Meaning: "calls in them but the first of each"},
	{ID: HotPolls, Name: "hot_polls", Unit: "polls", Scopes: single, Meaning: "reads sent again, after success, in less than a tenth of the time that the server had named for that"},
	{ID: PollGapS, Name: "poll_gap_s", Unit: "s", Scopes: single, Meaning: "pause before hot polls, on average"},
	{ID: PollAskedS, Name: "poll_asked_s", Unit: "s", Scopes: single, Meaning: "pause that the server had named, on average"},
	{ID: Restarts, Name: "restarts", Unit: "times", Scopes: single, Meaning: "times a client asked again for the same pages, which it had been served, and was refused at the same one"},
	{ID: PagesAgain, Name: "pages_again", Unit: "pages", Scopes: single, Meaning: "pages that it asked for again in these"},
	{ID: ElsewhereAgain, Name: "redirects_again", Unit: "answers", Scopes: everyone, Meaning: "redirects of the last minute to who had got one for the same in the ten seconds before, up to six times in a row"},
	{ID: ElsewhereShare, Name: "redirects_again_share", Scopes: everyone, Meaning: "their share of the redirects of the last minute"},
	{ID: ElsewhereLow, Name: "redirects_again_low", Scopes: everyone, Meaning: "lower bound of redirects_again_share (Wilson, z 2.58)"},
	{ID: ElsewhereClients, Name: "redirected_clients", Unit: "clients", Scopes: everyone, Meaning: "clients of the last minute that were redirected three times in a row for one request"},
	{ID: ElsewhereBefore, Name: "redirects_before", Unit: "answers", Scopes: everyone, Meaning: "redirects before that minute, while few were asked for again"},
	{ID: ElsewhereBeforeShare, Name: "redirects_before_share", Scopes: everyone, Meaning: "redirects_again_share of that time"},
	{ID: BriefSessions, Name: "brief_sessions", Unit: "sessions", Scopes: everyone, Meaning: "upgraded connections (101) that ended within a second of their request, in the last minute"},
	{ID: BriefShare, Name: "brief_share", Scopes: everyone, Meaning: "their share of the upgrades of the last minute"},
	{ID: BriefLow, Name: "brief_low", Scopes: everyone, Meaning: "lower bound of brief_share (Wilson, z 2.58)"},
	{ID: BriefClients, Name: "brief_clients", Unit: "clients", Scopes: everyone, Meaning: "clients of the last minute with five such sessions in a row, no more than 10 s apart"},
	{ID: SessionsBefore, Name: "sessions_before", Unit: "sessions", Scopes: everyone, Meaning: "upgraded connections before that minute, while no more than usual ended at once"},
	{ID: BriefBeforeShare, Name: "brief_before_share", Scopes: everyone, Meaning: "brief_share of that time"},
	{ID: LastingSessions, Name: "lasting_sessions", Unit: "sessions", Scopes: everyone, Meaning: "upgraded connections that lasted longer than a second, since the start, on the route where most did not"},
}

// Features returns the vocabulary, indexed by FeatureID. It is not to be changed.
func Features() []Feature { return features[:] }

// FeatureNamed returns the feature that rules spell so.
func FeatureNamed(name string) (FeatureID, bool) {
	for i := range features {
		if features[i].Name == name {
			return features[i].ID, true
		}
	}
	return 0, false
}
