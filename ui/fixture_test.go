package ui

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"stormwatch/capture"
	"stormwatch/detect"
)

// The fixtures are snapshots made by hand: one incident at a server that can
// serve 40 requests a second, told at several moments and in several ways.

func at(clock string) int64 {
	t, err := time.Parse("2006-01-02 15:04:05", "2026-08-14 "+clock)
	if err != nil {
		panic(err)
	}
	return t.UnixNano()
}

func stormSnapshot() *detect.Snapshot {
	s := &detect.Snapshot{
		Seq: 7, At: at("03:18:52"), Start: at("03:11:10"), End: at("03:24:00"), Perspective: "server", Loaded: 1,
		Sources: []detect.Source{captureSource()},
		Verdict: detect.Verdict{
			State: detect.Storm, Cause: detect.CauseClients, Confidence: .93, Since: at("03:12:40"), Trend: "growing",
			What:  "lockstep, hint-ignored; 79 % refused, 4.7 attempts per request",
			Who:   "388 of 430 clients in step, agent go-resty/2.7.0 → POST api.pay/v1/charge",
			Party: detect.Party{Clients: 388, Of: 430, Does: "in step", Agent: "go-resty/2.7.0", Route: "POST api.pay/v1/charge"},
			Do:    "lower the concurrency of the go-resty clients, then full jitter above Retry-After",
			Dont:  "do not raise the limit: goodput already equals it",
		},
		Totals: detect.Totals{Exchanges: 61204, LogicalRequests: 13022, Retries: 48182, CapacityPerS: detect.Some(40)},
		Recent: detect.Recent{
			Seconds: 10, AttemptsPerS: detect.Some(190), FirstPerS: detect.Some(40), GoodputPerS: detect.Some(39),
			RefusedShare: detect.Some(.79), RetryShare: detect.Some(.76), Amplification: detect.Some(4.7), AmplificationBefore: detect.Some(1.03),
		},
		Findings: stormFindings(), NotJudged: []detect.NotJudged{{Signature: "layered-retries", Reason: "no request carries a stable id"}},
		Mitigations: stormMitigations(), ClientCount: 430, ClientsMatched: 430,
		ClientsOthers: detect.Client{Label: "370 others", Attempts: 24120, OK: 812, Refused: 23308},
		Timeline:      stormTimeline(),
		Events: []detect.Event{
			{At: at("03:12:40"), Kind: "onset", Text: "storm"},
			{At: at("03:12:45"), Kind: "state", Text: "clear -> storm"},
			{At: at("03:15:00"), Kind: "peak", Text: "214 attempts per second"},
		},
	}
	for i := range 60 {
		s.Clients = append(s.Clients, stormClient(i))
	}
	return s
}

// filteredSnapshot answers the filter agent:axios: of all clients while the pass over
// the recording is under way, of those that pass once it is done.
func filteredSnapshot(share float64) *detect.Snapshot {
	s := stormSnapshot()
	s.Filtered = detect.Filtered{Name: "agent:axios", Share: share}
	if share < 1 {
		return s
	}
	s.Filtered = detect.Filtered{Name: "agent:axios", Whole: true, Clients: 15, Of: 430}
	s.Verdict = detect.Verdict{State: detect.Clear, Confidence: .9, What: "15 requests in 1,000 refused; no signature is raised"}
	s.Findings, s.Mitigations, s.NotJudged = nil, nil, nil
	s.Clients = slices.DeleteFunc(s.Clients, func(c detect.Client) bool { return !strings.HasPrefix(c.Agent, "axios") })
	s.ClientCount, s.ClientsMatched, s.ClientsOthers = len(s.Clients), len(s.Clients), detect.Client{}
	s.Clients[0].Agent = "curl/8" // it was axios when the filter was set
	for i := range s.Timeline.Bins {
		s.Timeline.Bins[i] = detect.Bin{Attempts: 4, First: 4, Success: 4, MaxPerS: 3}
	}
	s.Recent = detect.Recent{Seconds: 10, AttemptsPerS: detect.Some(2), GoodputPerS: detect.Some(2), RefusedShare: detect.Some(0), Amplification: detect.Some(1)}
	return s
}

func captureSource() detect.Source {
	return detect.Source{
		Name: "edge.pcap", Kind: "capture", Vantage: "edge", Primary: true,
		Health: capture.Health{
			Unit: "packets", Read: 482_113, Used: 244_816, Resolution: 1000, SeesHints: true, SeesPorts: true,
			Skipped: []capture.Skip{{Reason: "not HTTP", Count: 12, Examples: []string{"frame 88: 16 03 01 02"}}},
		},
	}
}

func stormFindings() []detect.Finding {
	return []detect.Finding{
		{
			Signature: "lockstep", Scope: "group", Score: .96, Severity: detect.High, Confidence: .95,
			Onset: at("03:12:40"), Detected: at("03:12:45"), ClientCount: 388, Agent: "go-resty/2.7.0", Route: "POST api.pay/v1/charge",
			Says:  "up to 388 clients retry in the same instant: 22 times chance (z 41), waits spread by 0.3 %",
			Parts: []detect.Part{{Name: "coincidence", Points: .5, Max: .5}, {Name: "no jitter", Points: .28, Max: .3}, {Name: "herd size", Points: .18, Max: .2}},
			When:  "jitter < 0.05 && z >= 5 && rho >= 2.5", FalsePositives: "0 in 60 runs of full jitter",
			Evidence: []detect.Evidence{
				{Name: "rho", Value: 22.1, N: 41200, Threshold: ">= 2.5", Meaning: "coincidences against chance"},
				{Name: "jitter", Value: .003, N: 48182, Threshold: "< 0.05", P: detect.Some(1e-9)},
			},
			At: []string{"frame 18201/18203", "frame 18944/18950"}, Mitigations: []string{"lower-concurrency"},
		},
		{
			Signature: "hint-ignored", Scope: "client", Score: .91, Severity: detect.High, Confidence: .9,
			Onset: at("03:12:41"), Detected: at("03:12:46"), ClientCount: 381, Says: "98 % of retries come before the wait the server named",
			Clients: []string{"10.42.1.17", "10.42.2.20"},
		},
		{
			Signature: "armed", Scope: "population", Score: .22, Severity: detect.Info, Onset: at("03:11:20"), Ended: at("03:14:00"),
			OnsetCensored: true, Says: "no client has jitter",
		},
	}
}

func stormMitigations() []detect.Mitigation {
	return []detect.Mitigation{
		{
			ID: "lower-concurrency", Title: "lower the concurrency of the clients in step", Who: "on-call with the client's team", When: "now",
			Expect: "the peak falls in proportion", Risk: "paused work is done later", Dont: "do not restart the clients together: it aligns them anew",
			Undo: "raise it in stages", Check: "peak arrivals per 50 ms halve within two rounds", Because: []string{"lockstep"},
			Snippets: []detect.Snippet{
				{For: "envoy", Text: "circuit_breakers:\n  thresholds:\n  - priority: DEFAULT\n    retry_budget:\n      budget_percent: { value: 20.0 }\n"},
				{For: "nginx", Text: "limit_conn inflight 50;\nlimit_conn_status 429;\n"},
			},
		},
		{
			ID: "client-full-jitter", Title: "Retry-After as a floor, full jitter above it, at most 3 tries", Who: "client's team", When: "client",
			Expect: "2 attempts instead of 9 in each chain", Because: []string{"lockstep", "hint-ignored"},
			Snippets: []detect.Snippet{{For: "go", Text: "wait := floor + rand.N(base<<try)\n"}},
		},
	}
}

func stormTimeline() detect.Timeline {
	t := detect.Timeline{Start: at("03:11:10"), Width: 2 * second}
	for i := range 231 {
		b := detect.Bin{Attempts: 74, First: 74, Success: 74, MaxPerS: 40}
		if i >= 45 {
			grown := math.Min(float64(i-45)/40, 1)
			all := int64(80 + 300*grown + 40*math.Cos(float64(i)))
			b = detect.Bin{Attempts: all, First: 80, Retries: all - 80, Success: 78, Refused: all - 78, MaxPerS: all * 6 / 10}
		}
		t.Bins = append(t.Bins, b)
	}
	return t
}

func stormClient(i int) detect.Client {
	agents := []string{"go-resty/2.7.0", "go-resty/2.7.0", "axios/1.6.2", "go-resty/2.7.0"}
	c := detect.Client{
		Label: fmt.Sprintf("10.42.%d.%d", 1+i%4, 17+3*i), Agent: agents[i%4], Route: "POST api.pay/v1/charge",
		Attempts: int64(412 - 5*i), OK: int64(6 + i%9), First: 60, Amplification: detect.Some(float64(412-5*i) / 60),
		GapMedianS: detect.Some(1), GapMADS: detect.Some(.003), EarlyShare: detect.Some(1 - .01*float64(i%6)),
		AvoidablePerS: detect.Some(.8 - .01*float64(i)), Signatures: []string{"lockstep", "hint-ignored"}, Score: .97 - .005*float64(i),
		Policy: detect.PolicyEstimate{Family: "fixed", Name: "fixed 1 s", Probability: .98},
	}
	if i%20 == 19 {
		c.Agent, c.Signatures, c.Victim, c.Score = "okhttp/4.12", nil, true, 0
		c.EarlyShare, c.GapMedianS, c.GapMADS = detect.Number{}, detect.Number{}, detect.Number{}
		c.Policy = detect.PolicyEstimate{}
	}
	c.Refused = c.Attempts - c.OK
	return c
}

// chainSnapshot is the storm with the chains of one client.
func chainSnapshot() *detect.Snapshot {
	s := stormSnapshot()
	s.Seq++
	s.Chains = []detect.Chain{chain(1, 3, "success"), chain(2, 9, "gave up"), chain(3, 2, "open")}
	return s
}

func chain(id, n int, ended string) detect.Chain {
	k := detect.Chain{
		ID: fmt.Sprintf("10.42.1.17#%d", id), Client: "10.42.1.17", Agent: "go-resty/2.7.0", Method: "POST", Host: "api.pay",
		Path: "/v1/charge?cursor=8812&api_key=***", Ended: ended, Policy: detect.PolicyEstimate{Name: "fixed 1 s", Probability: .98},
	}
	start := at("03:18:00") + int64(id)*10*second
	for i := range n {
		a := detect.Attempt{
			N: i + 1, Start: start + int64(i)*(second+20e6), Status: 429, Reason: capture.Throttle,
			Hint:     capture.Hint{State: capture.Present, Kind: capture.RetryAfterSeconds, Wait: 3 * second},
			Evidence: 2, Confidence: .97, At: fmt.Sprintf("frame %d/%d", 100*id+2*i, 100*id+2*i+1),
		}
		a.End = a.Start + 20e6
		if i > 0 {
			a.Gap, a.Early = detect.Some(1), detect.Some(2)
		}
		if ended == "success" && i == n-1 {
			a.Status, a.Reason, a.Hint = 200, capture.OK, capture.Hint{State: capture.Absent}
			a.Early = detect.Some(-.5)
		}
		k.Attempts = append(k.Attempts, a)
	}
	return k
}

// overloadSnapshot is heavy refusals without retries, begun before the input.
func overloadSnapshot() *detect.Snapshot {
	s := stormSnapshot()
	s.Verdict = detect.Verdict{
		State: detect.Overloaded, Cause: detect.CauseCapacity, Confidence: .71, Since: at("03:11:10"), SinceCensored: true, Trend: "steady",
		What: "capacity-not-behaviour; 41 % refused", Who: "430 of 430 clients refused → POST api.pay/v1/charge",
		Party: detect.Party{Clients: 430, Of: 430, Does: "refused", Route: "POST api.pay/v1/charge"},
		Do:    "add capacity or shed by priority", Dont: "do not block single clients: they behave",
	}
	s.Recent.Amplification, s.Recent.RefusedShare = detect.Some(1.02), detect.Some(.41)
	s.Findings = []detect.Finding{{Signature: "capacity-not-behaviour", Scope: "population", Score: .71, Severity: detect.Medium, Says: "refusals follow demand while clients behave", Onset: at("03:11:10"), OnsetCensored: true}}
	s.Events = nil
	for i := range s.Timeline.Bins {
		s.Timeline.Bins[i] = detect.Bin{Attempts: 136, First: 134, Retries: 2, Success: 80, Refused: 50, OtherFail: 6}
	}
	return s
}

func clearSnapshot() *detect.Snapshot {
	s := stormSnapshot()
	s.Verdict = detect.Verdict{State: detect.Clear, Confidence: .98, What: "no signature, 0.3 % of requests refused"}
	s.Recent = detect.Recent{Amplification: detect.Some(1.01), RefusedShare: detect.Some(.003), RetryShare: detect.Some(.01), GoodputPerS: detect.Some(36.5)}
	s.Findings, s.Mitigations, s.Events, s.NotJudged = nil, nil, nil, nil
	for i := range s.Timeline.Bins {
		s.Timeline.Bins[i] = detect.Bin{Attempts: 73, First: 72, Retries: 1, Success: 73}
	}
	return s
}

// unknownSnapshot is too little to judge.
func unknownSnapshot() *detect.Snapshot {
	return &detect.Snapshot{
		Seq: 3, At: at("03:11:14"), Start: at("03:11:10"), Live: true, Sources: []detect.Source{captureSource()},
		Verdict: detect.Verdict{
			State: detect.Unknown, What: "17 requests so far, 30 needed to judge", Do: "Point stormwatch at more traffic, or wait.",
			NextEvidence: []string{"capture on web1 with tcpdump -w: the log does not show Retry-After"},
		},
		Recent:      detect.Recent{Seconds: 4, AttemptsPerS: detect.Some(4.3), GoodputPerS: detect.Some(4.3), RefusedShare: detect.Some(0)},
		ClientCount: 2, Clients: []detect.Client{{Label: "10.0.0.1", Attempts: 12, OK: 12}, {Label: "10.0.0.2", Attempts: 5, OK: 5}},
		Timeline: detect.Timeline{Start: at("03:11:10"), Width: second, Bins: []detect.Bin{{Attempts: 5, First: 5, Success: 5}, {Attempts: 12, First: 12, Success: 12}}},
	}
}

func emptySnapshot() *detect.Snapshot { return &detect.Snapshot{} }

// fakeFeed is a feed that holds one Snapshot and remembers what it was asked.
type fakeFeed struct {
	snap   *detect.Snapshot
	later  *detect.Snapshot // of the moment at which a report is made; nil the same
	wanted []detect.View
	clock  *fakeTransport

	progress Progress
	failed   error
}

func (f *fakeFeed) Snapshot() *detect.Snapshot { return f.snap }
func (f *fakeFeed) Want(v detect.View)         { f.wanted = append(f.wanted, v) }
func (f *fakeFeed) Transport() Transport {
	if f.clock == nil {
		return nil
	}
	return f.clock
}

type fakeTransport struct {
	paused bool
	speed  float64
	seeks  []int64
}

func (t *fakeTransport) Pause(on bool)      { t.paused = on }
func (t *fakeTransport) Paused() bool       { return t.paused }
func (t *fakeTransport) SetSpeed(x float64) { t.speed = x }
func (t *fakeTransport) Speed() float64     { return t.speed }
func (t *fakeTransport) SeekTo(at int64)    { t.seeks = append(t.seeks, at) }
