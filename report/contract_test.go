package report_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stormwatch/capture"
	"stormwatch/detect"
	"stormwatch/report"
)

// contract lists the keys that programs rely on; a key of an array's elements is
// written behind its own. The list grows; nothing leaves it.
const contract = `
schema version perspective
sources sources.name sources.kind sources.vantage sources.offset_s sources.health
window window.start window.end
verdict verdict.state verdict.cause verdict.confidence verdict.since verdict.since_censored verdict.trend verdict.what
verdict.who verdict.do verdict.dont verdict.next_evidence
totals totals.exchanges totals.logical_requests totals.retries totals.retry_share totals.refused totals.amplification
totals.per_success totals.gave_up totals.wasted totals.goodput_per_s totals.capacity_per_s totals.headroom_per_s
totals.tipping_per_s totals.peak_50ms totals.recover_s totals.detect_s
findings findings.signature findings.scope findings.score findings.parts findings.parts.name findings.parts.points
findings.parts.max findings.severity findings.confidence findings.onset findings.detected findings.ended findings.clients
findings.client_count findings.route findings.layer findings.at findings.evidence findings.evidence.name
findings.evidence.value findings.evidence.unit findings.evidence.n findings.evidence.threshold findings.evidence.p
findings.mitigations
not_judged not_judged.signature not_judged.reason
clients clients.client clients.name clients.agent clients.attempts clients.ok clients.refused clients.amplification
clients.gap_median_s clients.early_share clients.avoidable_per_s clients.victim clients.policy clients.policy.family
clients.policy.name clients.policy.probability clients.score clients_others
mitigations mitigations.id mitigations.title mitigations.who mitigations.when mitigations.effect
mitigations.risk mitigations.dont mitigations.undo mitigations.check mitigations.snippets mitigations.snippets.for
mitigations.snippets.text events`

// arrays are never null, so that programs can loop over them.
var arrays = map[string]bool{
	"sources": true, "verdict.next_evidence": true, "findings": true, "findings.parts": true, "findings.clients": true,
	"findings.at": true, "findings.evidence": true, "findings.mitigations": true, "not_judged": true, "clients": true,
	"mitigations": true, "mitigations.snippets": true, "mitigations.because": true, "sources.health.skipped": true,
	"sources.health.skipped.examples": true, "events": true,
}

func decode(t *testing.T, s *detect.Snapshot) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(render(t, report.JSON, s, report.Options{Version: "v0"})), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// keys collects every key with its value; of several elements the last one stays.
func keys(v any, path string, out map[string]any) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			keys(x, path, out)
		}
	case map[string]any:
		for k, x := range v {
			at := strings.TrimPrefix(path+"."+k, ".")
			out[at] = x
			keys(x, at, out)
		}
	}
}

func TestContractKeys(t *testing.T) {
	found := map[string]any{}
	keys(decode(t, storm()), "", found)
	for _, key := range strings.Fields(contract) {
		if _, ok := found[key]; !ok {
			t.Errorf("the key %s is gone", key)
		}
	}
	if got := found["schema"]; got != "stormwatch.report/1" {
		t.Errorf("schema %v", got)
	}
}

func TestContractArrays(t *testing.T) {
	bare := storm() // with elements whose own arrays are empty
	bare.Findings = []detect.Finding{{}}
	bare.Mitigations = []detect.Mitigation{{}}
	bare.Clients = []detect.Client{{}}
	bare.Sources = []detect.Source{{Health: capture.Health{Skipped: []capture.Skip{{}}}}}
	all := snapshots()
	all["bare"] = bare
	for name, s := range all {
		found := map[string]any{}
		keys(decode(t, s), "", found)
		for _, key := range slices.Sorted(maps.Keys(found)) {
			if _, isArray := found[key].([]any); arrays[key] && !isArray {
				t.Errorf("%s: %s is %v, not an array", name, key, found[key])
			}
		}
	}
}

func TestContractNulls(t *testing.T) {
	found := map[string]any{}
	keys(decode(t, unknown()), "", found)
	for _, key := range strings.Fields(`verdict.since verdict.trend totals.logical_requests totals.retries totals.retry_share
		totals.amplification totals.per_success totals.gave_up totals.wasted totals.goodput_per_s totals.capacity_per_s
		totals.headroom_per_s totals.tipping_per_s totals.peak_50ms totals.recover_s totals.detect_s
		sources.health.resolution_s sources.note`) {
		if v, ok := found[key]; !ok || v != nil {
			t.Errorf("%s is %v, not null: it is not known", key, v)
		}
	}
	keys(decode(t, clear()), "", found)
	for _, key := range strings.Fields("clients.early_share clients.avoidable_per_s clients.policy clients.name") {
		if v, ok := found[key]; !ok || v != nil {
			t.Errorf("%s is %v, not null: it is not known", key, v)
		}
	}
	keys(decode(t, &detect.Snapshot{}), "", found)
	if found["window.start"] != nil || found["window.end"] != nil {
		t.Error("without input there is no window")
	}
}

// Values are what the snapshot says, in the units that the keys name.
func TestContractValues(t *testing.T) {
	found := map[string]any{}
	keys(decode(t, storm()), "", found)
	for key, want := range map[string]any{
		"version": "v0", "perspective": "server", "window.start": "2026-03-02T03:10:00.35Z", "window.end": "2026-03-02T03:10:54.423Z",
		"verdict.state": "storm", "verdict.cause": "client-behaviour", "verdict.since": "2026-03-02T03:10:30Z", "verdict.trend": "growing",
		"verdict.confidence": 0.94, "verdict.since_censored": false,
		"totals.exchanges": 5070., "totals.logical_requests": 1400., "totals.retries": 3670., "totals.amplification": 3.621, "totals.tipping_per_s": 0.15,
		"sources.health.read": 61296., "sources.health.resolution_s": 0.000001, "sources.health.truncated": true,
		"findings.ended": "2026-03-02T03:10:40Z", "findings.onset_censored": true, "findings.client_count": 12., "findings.layer": "client",
		"clients.client": "10.2.0.5", "clients.victim": true, "clients_others.attempts": 5054.,
		"mitigations.effect": nil, "mitigations.snippets.text": "if refused {\n\tw.Header().Set(\"Retry-After\", spread())\n}\n",
	} {
		if diff := cmp.Diff(want, found[key]); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
}

func row() *detect.Row {
	return &detect.Row{
		X: &capture.Exchange{
			Start: at(0.000000001), End: at(1.5), Src: capture.Endpoint{IP: [16]byte{10: 0xff, 11: 0xff, 12: 10, 13: 1, 14: 0, 15: 36}, Port: 40001}, ConnSeq: 3,
			Status: 429, Reason: capture.Throttle, At: capture.Provenance{A: 17, B: 19},
			Hint: capture.Hint{State: capture.Present, Kind: capture.RetryAfterSeconds, Wait: 2_500_000_000},
		},
		Client: "10.1.0.36", Method: "GET", Host: "api.example.com", Path: "/v1?a=1&b=<2>", HintRaw: "2.5", Source: "web1",
		Chain: "10.1.0.36#4", Attempt: 2, Evidence: 2, Confidence: 0.97,
	}
}

func exchange(t *testing.T, r *detect.Row) string {
	t.Helper()
	var b strings.Builder
	if err := report.Exchanges(&b)(r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestExchange(t *testing.T) {
	want := `{"time":"2026-03-02T03:10:00.000000001Z","end":"2026-03-02T03:10:01.5Z","client":"10.1.0.36","src":"10.1.0.36:40001","conn_seq":3,` +
		`"method":"GET","host":"api.example.com","path":"/v1?a=1&b=<2>","status":429,"outcome":"answered","reason":"throttle",` +
		`"hint":{"state":"present","kind":"retry-after-seconds","wait_s":2.5,"raw":"2.5"},"chain":"10.1.0.36#4","attempt":2,"evidence":"E2",` +
		`"confidence":0.97,"source":"web1","at":"frame 17/19"}` + "\n"
	if diff := cmp.Diff(want, exchange(t, row())); diff != "" {
		t.Error(diff)
	}
}

// A log shows no ports and no waits: what it cannot see is left out or null.
func TestExchangeFromLog(t *testing.T) {
	r := row()
	r.X.Src.Port, r.X.ConnSeq, r.X.Status, r.X.Outcome, r.X.Reason = 0, 0, 0, capture.NoAnswer, capture.Unjudged
	r.X.Hint, r.HintRaw, r.X.At = capture.Hint{}, "", capture.Provenance{A: 4, Line: true}
	text := exchange(t, r)
	for _, want := range []string{
		`"src":"10.1.0.36","method"`, `"status":0,"outcome":"no-answer","reason":"unknown"`,
		`"hint":{"state":"not-observable","kind":null,"wait_s":null,"raw":null}`, `"at":"line 4"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
}

// A gRPC status stands beside the HTTP status, which is 200 whatever it says.
func TestExchangeRPC(t *testing.T) {
	r := row()
	r.X.Status, r.X.RPC = 200, capture.ParseRPCStatus([]byte("8"))
	r.X.Hint, r.HintRaw = capture.ParsePushback([]byte("-1")), "-1"
	text := exchange(t, r)
	for _, want := range []string{
		`"status":200,"grpc_status":8,"outcome":"answered","reason":"throttle"`,
		`"hint":{"state":"present","kind":"do-not-retry","wait_s":null,"raw":"-1"}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
}

// A wait that nobody can read is not a wait of 0.
func TestExchangeMalformedHint(t *testing.T) {
	r := row()
	r.X.Hint, r.HintRaw = capture.Hint{State: capture.Present, Kind: capture.Malformed}, "soon"
	if text := exchange(t, r); !strings.Contains(text, `{"state":"present","kind":"malformed","wait_s":null,"raw":"soon"}`) {
		t.Error(text)
	}
}
