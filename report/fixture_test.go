package report_test

import (
	"time"

	"stormwatch/capture"
	"stormwatch/detect"
)

// at is a moment of the fixtures: seconds after 2026-03-02 03:10:00 UTC.
func at(seconds float64) int64 {
	return time.Date(2026, 3, 2, 3, 10, 0, 0, time.UTC).UnixNano() + int64(seconds*1e9)
}

// snapshots are hand-made: each holds what an engine would say of one situation.
func snapshots() map[string]*detect.Snapshot {
	return map[string]*detect.Snapshot{
		"storm": storm(), "overload": overload(), "clear": clear(), "unknown": unknown(), "empty": {},
	}
}

// storm is seen in a capture: every figure and section of the report is there.
func storm() *detect.Snapshot {
	return &detect.Snapshot{
		At: at(54), Start: at(0.35), End: at(54.423), Perspective: "server", Loaded: 1,
		Sources: []detect.Source{{
			Name: "web1", Kind: "capture", Vantage: "web1", Primary: true,
			Health: capture.Health{
				Unit: "packets", Read: 61_296, Used: 61_204, Dropped: 12, GapBytes: 2920, Encrypted: 1, Truncated: true, Resolution: 1000,
				SeesHints: true, SeesPorts: true,
				Skipped: []capture.Skip{{Reason: "no HTTP", Count: 80, Examples: []string{"frame 7: SSH-2.0"}}},
			},
		}},
		Verdict: detect.Verdict{
			State: detect.Storm, Cause: detect.CauseClients, Confidence: 0.94, Since: at(30), Trend: "growing",
			What: "lockstep, hint-missing; 88 % refused, 5.4 attempts per request",
			Who:  "56 of 67 clients in step, agent batch-sync/1.4 → GET api.example.com/v1/export/N",
			Do:   "answer refusals with a Retry-After that differs from client to client",
			Dont: "do not send the same round number to everybody: it aligns them",
		},
		Totals: detect.Totals{
			Exchanges: 5070, LogicalRequests: 1400, Retries: 3670, Refused: 3680, Failed: 3690, Succeeded: 1380,
			RetryShare: detect.Some(0.7239), Amplification: detect.Some(3.621), PerSuccess: detect.Some(3.674),
			GaveUp: detect.Some(11), Wasted: detect.Some(3690), GoodputPerS: detect.Some(4.4), CapacityPerS: detect.Some(39.6),
			HeadroomPerS: detect.Some(35.2), TippingPerS: detect.Some(0.15), Peak50ms: detect.Some(60),
			RecoverS: detect.Some(12), DetectS: detect.Some(3),
		},
		Findings: []detect.Finding{
			{
				Signature: "lockstep", Scope: "agent", Score: 0.985, Severity: detect.High, Confidence: 0.99,
				Parts: []detect.Part{{Name: "coincidence", Points: 0.5, Max: 0.5}, {Name: "no jitter", Points: 0.285, Max: 0.3}, {Name: "herd size", Points: 0.2, Max: 0.2}},
				Onset: at(30), Detected: at(33), ClientCount: 51, Route: "GET api.example.com/v1/export/N", Agent: "batch-sync/1.4",
				Says: "up to 56 clients retry in the same instant: 18.5 times chance (z 324), waits spread by 0.25 %",
				When: "jitter < 0.05 && z >= 5 && rho >= 2.5", FalsePositives: "0 in 60 runs of full jitter; TestLockstepNull",
				Evidence: []detect.Evidence{
					{Name: "jitter", Meaning: "spread of waits", Value: 0.0025, N: 51, Threshold: "jitter < 0.05"},
					{Name: "z", Unit: "sd", Meaning: "how far coincidences of retries exceed chance", Value: 324, N: 1200, Threshold: "z >= 5", P: detect.Some(1e-9)},
				},
				At: []string{"frame 578/637", "frame 579/659"}, Mitigations: []string{"spread-hint", "client-full-jitter"},
			},
			{
				Signature: "hint-ignored", Scope: "client", Score: 0.7, Severity: detect.Medium, Confidence: 0.8,
				Parts: []detect.Part{{Name: "early share", Points: 0.7, Max: 1}},
				Onset: at(0.35), OnsetCensored: true, Detected: at(2), Ended: at(40),
				Clients: []string{"10.1.0.1", "10.1.0.2", "10.1.0.3", "10.1.0.4", "10.1.0.5", "10.1.0.6", "10.1.0.7", "10.1.0.8", "10.1.0.9"}, ClientCount: 12,
				Says: "19 of 19 retries came before the wait was over", When: "early_share >= 0.5", Layer: "client",
			},
		},
		NotJudged: []detect.NotJudged{{
			Signature: "rising-share-after-burst",
			Reason:    "cannot judge: no calm traffic before the incident; add an earlier recording, or give --capacity",
		}},
		ClientCount: 67, ClientsMatched: 67,
		Clients: []detect.Client{
			{
				Label: "10.1.0.36", Name: "acme", Agent: "batch-sync/1.4", Attempts: 10, OK: 2, Refused: 8, Failed: 8, Retries: 8, First: 2,
				Amplification: detect.Some(5), GapMedianS: detect.Some(1.008), EarlyShare: detect.Some(1), AvoidablePerS: detect.Some(0.9),
				Policy: detect.PolicyEstimate{Family: "fixed", Name: "fixed 1 s", Probability: 0.97}, Signatures: []string{"lockstep", "hint-ignored"}, Score: 0.98,
				Hints: detect.Obedience{Use: detect.HintIgnored, Share: 1, N: 8, Early: detect.Some(2.5)},
			},
			{Label: "10.2.0.5", Agent: "shop-app/3.1", Attempts: 6, OK: 6, Amplification: detect.Some(1), Victim: true},
		},
		Habits: []detect.Habit{
			{
				Agent: "batch-sync/1.4", Clients: 56, Retries: 3601, Waits: 3601, Says: "waits 1 s, no jitter, gives up after 5 attempts: like fetch-retry or haproxy",
				Sure: true, Policy: detect.PolicyEstimate{Family: "fixed", Name: "fetch-retry", Probability: 0.97}, RunnerUp: "uncatalogued fixed", Odd: 0.03,
				Hints: detect.Obedience{Use: detect.HintIgnored, Share: 0.94, N: 640, Early: detect.Some(2.31), Idle: detect.Some(0.02)},
			},
			{Clients: 2, Retries: 69, Waits: 2, Says: "cannot tell: too few waits (2 seen)", Hints: detect.Obedience{Use: detect.HintClipped, Share: 1, N: 67, Clip: detect.Some(30)}},
		},
		ClientsOthers: detect.Client{Label: "65 others", Attempts: 5054, OK: 1372, Refused: 3672, AvoidablePerS: detect.Some(41)},
		Reach:         []detect.Reach{{Clients: 1, Of: 70, Share: .31}, {Clients: 2, Of: 70, Share: .48}, {Clients: 3, Of: 70, Share: .71}},
		Victims:       4,
		Growth: []detect.Growth{
			{Kind: "route", Name: "GET api.example/offer/N", PerS: 28.4, New: detect.Some(.97)},
			{Kind: "client", Name: "10.1.0.7", Before: .25, PerS: 12},
		},
		Newcomers: detect.Some(.12),
		Mitigations: []detect.Mitigation{{
			ID: "spread-hint", Title: "answer refusals with a Retry-After that differs from client to client", Who: "on-call at the gateway", When: "now",
			Expect: "clients that read the header return spread over the window", Risk: "clients that do not read it go on as before",
			Dont: "do not send the same round number to everybody", Undo: "remove the header rule", Check: "peak arrivals per 50 ms fall", Stop: "peaks have not fallen after two waits",
			Because:  []string{"lockstep"},
			Snippets: []detect.Snippet{{For: "go", Text: "if refused {\n\tw.Header().Set(\"Retry-After\", spread())\n}\n"}},
		}},
	}
}

// overload is seen from an earlier moment on than the input shows, in a log.
func overload() *detect.Snapshot {
	return &detect.Snapshot{
		At: at(60), Start: at(0), End: at(60), Perspective: "server", Loaded: 1,
		Sources: []detect.Source{
			{Name: "access.log", Kind: "log", Vantage: "log", Primary: true, Health: capture.Health{Unit: "lines", Read: 900, Used: 900, Resolution: 1e9}},
			{Name: "proxy", Kind: "log", Vantage: "proxy", OffsetSeconds: -2.4, Note: "corroborates: its counts are not added", Health: capture.Health{Unit: "lines", Read: 3, Used: 3, ClockSteps: 1}},
		},
		Verdict: detect.Verdict{
			State: detect.Overloaded, Cause: detect.CauseUnknown, Confidence: 0.5, Since: at(0), SinceCensored: true, Trend: "steady",
			What: "heavy refusals; 41 % refused", Who: "39 of 40 clients refused",
			Do: "Find out what the server can serve.", Dont: "Do not raise a limit yet.",
			NextEvidence: []string{"cannot see Retry-After: capture the traffic on web1", "no calm traffic seen: add an earlier recording"},
		},
		Totals: detect.Totals{
			Exchanges: 900, LogicalRequests: 700, Retries: 200, Refused: 369, Failed: 369, Succeeded: 531,
			RetryShare: detect.Some(0.2222), Amplification: detect.Some(1.2857), GoodputPerS: detect.Some(8.9),
		},
		ClientCount: 40, ClientsMatched: 40,
	}
}

// clear is calm traffic.
func clear() *detect.Snapshot {
	return &detect.Snapshot{
		At: at(60), Start: at(0), End: at(60), Perspective: "server", Loaded: 1,
		Sources: []detect.Source{{Name: "traffic.pcap", Kind: "capture", Primary: true, Health: capture.Health{Unit: "packets", Read: 1034, Used: 1034, Resolution: 1, SeesHints: true}}},
		Verdict: detect.Verdict{State: detect.Clear, Confidence: 0.91, What: "no signature, 0.6 % of requests refused"},
		Totals: detect.Totals{
			Exchanges: 487, LogicalRequests: 484, Retries: 3, Refused: 3, Failed: 3, Succeeded: 484,
			RetryShare: detect.Some(0.00616), Amplification: detect.Some(1.0062), GoodputPerS: detect.Some(8.6), Peak50ms: detect.Some(3),
		},
		NotJudged:   []detect.NotJudged{{Signature: "lockstep", Reason: "too little data: waits behind the jitter figure is 3, 8 needed"}},
		ClientCount: 1, ClientsMatched: 1,
		Clients: []detect.Client{{Label: "10.1.0.10", Agent: "shop-app/3.1", Attempts: 487, OK: 484, Refused: 3, Amplification: detect.Some(1.0062), GapMedianS: detect.Some(12.34)}},
	}
}

// unknown is counts of a metric alone: single attempts are not known.
func unknown() *detect.Snapshot {
	return &detect.Snapshot{
		At: at(60), Start: at(0), End: at(60), Perspective: "server", Loaded: 1,
		Sources: []detect.Source{{Name: "prometheus", Kind: "prometheus", Primary: true, Health: capture.Health{Unit: "samples", Read: 5, Used: 5}}},
		Verdict: detect.Verdict{
			State: detect.Unknown, Cause: detect.CauseUnknown, What: "cannot judge, because there is too little traffic",
			NextEvidence: []string{"cannot see single attempts: add an access log"},
		},
		Totals: detect.Totals{Exchanges: 12, Refused: 1, Failed: 1},
	}
}
