package sim

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"stormwatch/policy"
)

const small = `
name: small
seed: 7
start: 2026-03-02T03:10:00Z
duration: 30s
server:
  limiter: {limit: 20}
  hint: 2s..5s
groups:
  - name: batch
    count: 3
    policy: full-jitter base=200ms attempts=4
    paths: [/a]
    demand:
      - {rate: 0.2}
      - {from: 10s, to: 10020ms, units: 2}
expect:
  state: storm
  cause: client-behaviour
  exit: 3
  findings:
    - {signature: hint-ignored, clients: batch}
`

func TestParse(t *testing.T) {
	got, err := Parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	want := &Scenario{
		Name: "small", Seed: 7, Start: time.Date(2026, 3, 2, 3, 10, 0, 0, time.UTC), Duration: 30 * time.Second,
		Server: Server{
			Address: netip.MustParseAddrPort("10.0.0.1:80"), Address6: netip.MustParseAddrPort("[2001:db8::1]:80"), Host: "api.example.com",
			Limiter: &Limiter{Kind: "sliding-log", Scope: "all", Refuse: 429, Limit: 20, Window: time.Second, Service: 8 * time.Millisecond},
			Hint:    Hints{{Wait: Wait{Min: 2 * time.Second, Max: 5 * time.Second}, Header: "Retry-After", Form: "seconds"}}, Refusal: 500 * time.Microsecond,
		},
		Groups: []Group{{
			Name: "batch", Count: 3, Method: "GET", Paths: []string{"/a"},
			Sender: Sender{
				Policy:  policy.Policy{Name: "full-jitter", Family: policy.FullJitter, Base: 200 * time.Millisecond, Attempts: 4},
				RetryOn: []string{"429", "500", "502", "503", "504", "lost"}, Latency: 2 * time.Millisecond, Idle: 5 * time.Second,
			},
			Demand: []Demand{
				{To: 30 * time.Second, Rate: .2, Copies: 1},
				{From: 10 * time.Second, To: 10020 * time.Millisecond, Units: 2, Copies: 1},
			},
			Identity: Identity{Header: "Authorization", Keys: 1},
		}},
		Expect: Expect{State: "storm", Cause: "client-behaviour", Exit: 3, Findings: []Finding{{Signature: "hint-ignored", Clients: "batch"}}},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.AddrPort{}, netip.Addr{})); diff != "" {
		t.Error(diff)
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	tests := []struct{ old, new, want string }{
		{"seed: 7", "sed: 7", "line 3: field sed not found"},
		{"name: small\n", "\n", "name is missing"},
		{"start: 2026-03-02T03:10:00Z", "", "start is missing"},
		{"duration: 30s", "duration: 30", "line 5"},
		{"duration: 30s", "duration: 400h", "want more than 0 and up to 24h"},
		{"limiter: {limit: 20}", "", "want either limiter or capacity"},
		{"limiter: {limit: 20}", "limiter: {limit: 0}", "server: limiter: limit 0: want 1"},
		{"limiter: {limit: 20}", "capacity: {rate: .nan}", "capacity: rate NaN"},
		{"hint: 2s..5s", "hint: 5s..2s", "want none, slot, whole seconds"},
		{"hint: 2s..5s", "hint: 300ms", "want none, slot, whole seconds"},
		{"base=200ms", "bse=200ms", `parameter "bse"`},
		{"paths: [/a]", "paths: [a]", `group 1 (batch): path "a"`},
		{"paths: [/a]", "paths: [\"/a\\r\\nX: y\"]", "want a slash, then visible ASCII"},
		{"name: batch", "name: b\"x", "want visible ASCII"},
		{"{rate: 0.2}", "{rate: 0.2, every: 1s}", "demand 1: want exactly one of"},
		{"{rate: 0.2}", "{}", "demand 1: want exactly one of"},
		{"{rate: 0.2}", "{rate: -1}", "want 0 to 100000 a second"},
		{"to: 10020ms", "to: 1s", "demand 2: from 10s to 1s"},
		{"count: 3", "count: 0", "count 0: want 1"},
		{"clients: batch", "clients: bach", `clients "bach" is not the name of a group`},
		{"state: storm", "state: stormy", "want one of storm, overload"},
		{"exit: 3", "exit: 3\n---\nname: two", "more than one YAML document"},
		{"{limit: 20}", "{limit: 20, kind: leaky}", `kind "leaky": want one of sliding-log, fixed-window`},
		{"{limit: 20}", "{limit: 20, scope: agent}", `scope "agent": want one of all, key, address, route`},
		{"{limit: 20}", "{limit: 20, burst: 5}", "burst 5: want 1 to 100000, and only of a token-bucket"},
		{"{limit: 20}", "{kind: concurrency, limit: 2, count_refused: true}", "a concurrency limit cannot count it"},
		{"{limit: 20}", "{limit: 20, refuse: 418}", "refuse 418: want 429, 503, 403, or 200"},
		{"limiter: {limit: 20}", "capacity: {rate: 5, reject_cost: -1s}", "reject_cost -1s"},
		{"limiter: {limit: 20}\n  hint: 2s..5s", "capacity: {rate: 5}\n  hint: slot", "slot needs a limiter"},
		{"limiter: {limit: 20}", "capacity: {rate: 5}\n  limits: {}", "limits need a limiter"},
		{"hint: 2s..5s", "limits: {style: json}", `limits: style "json": want one of fields`},
		{"hint: 2s..5s", "limits: {form: days}", `limits: form "days": want one of seconds`},
		{"hint: 2s..5s", "faults: [{do: 200}]", `fault 1: do "200": want a status from 400`},
		{"hint: 2s..5s", "faults: [{do: reset}, {do: 503, share: 2}]", "fault 2: share 2"},
		{"hint: 2s..5s", "faults: [{do: timeout}]", "give it a timeout"},
		{"hint: 2s..5s", "address: '[::1]:80'", "address [::1]:80: want IPv4"},
		{"hint: 2s..5s", "address6: 10.0.0.1:80", "want IPv6"},
		{"hint: 2s..5s", "skew: 48h", "skew 48h0m0s"},
		{"groups:", "layers: [{name: a}, {name: a}]\ngroups:", `layer 2: the name "a" is taken`},
		{"groups:", "layers: [{name: a, counter: x-try}]\ngroups:", `layer 1 (a): counter "x-try": want one of x-envoy-attempt-count`},
		{"groups:", "layers: [{name: a}, {name: b}, {name: c}, {name: d}, {name: e}]\ngroups:", "5 layers: want at most 4"},
		{"count: 3", "count: 3\n    through: [edge]", `through "edge": not the name of a layer`},
		{"groups:\n  - name: batch", "layers: [{name: a}]\ngroups:\n  - name: batch\n    through: [a]\n    hedge: {}", "hedge: want it where requests leave for the server"},
		{"groups:\n  - name: batch", "layers: [{name: a}]\ngroups:\n  - name: batch\n    through: [a]\n    identity: {ipv6: true}", "layers speak IPv4"},
		{"count: 3", "count: 3\n    retry_on: [429, 200]", `retry_on: "200": want a status from 400 to 599, lost or body`},
		{"count: 3", "count: 3\n    reads: {form: hours}", `reads: form "hours"`},
		{"count: 3", "count: 3\n    budget: envoy min=x", "budget envoy: min=x"},
		{"count: 3", "count: 3\n    adaptive: -1", "adaptive -1"},
		{"count: 3", "count: 3\n    pace: {burst: 2}", "pace: rate 0, burst 2"},
		{"count: 3", "count: 3\n    hedge: {copies: 99}", "hedge: after 0s, copies 99"},
		{"count: 3", "count: 3\n    overruns: true", "overruns needs a deadline"},
		{"count: 3", "count: 3\n    idempotency: often", `idempotency "often"`},
		{"count: 3", "count: 3\n    repeated: 2", "repeated 2: want 0 to 1"},
		{"count: 3", "count: 3\n    identity: {key: some}", `identity: key "some": want each or one`},
		{"count: 3", "count: 3\n    identity: {keys: 3}", "keys needs key"},
		{"count: 3", "count: 3\n    identity: {key: one, rotate_on: [429]}", "rotate_on needs keys"},
		{"count: 3", "count: 3\n    identity: {key: one, header: 'a: b'}", `header "a: b"`},
		{"count: 3", "count: 3\n    identity: {nat: here}", "unable to parse IP"},
		{"count: 3", "count: 3\n    frm: 1.2.3.4", "field frm not found"},
		{"{rate: 0.2}", "{every: 1s, wave: {period: 9s, depth: 0.5}}", "wave: want it beside a rate"},
		{"{rate: 0.2}", "{rate: 0.2, wave: {period: 9s, depth: 2}}", "a depth above 0 and up to 1"},
		{"{rate: 0.2}", "{rate: 0.2, think: 1s}", "only where units are sequential"},
		{"{rate: 0.2}", "{rate: 0.2, copies: -1}", "copies -1: want 1 to 1000"},
		{"{rate: 0.2}", "{rate: 0.2, paths: [b]}", `demand 1: path "b"`},
		{"exit: 3", "exit: 3\n  quiet: true", "expect: quiet, and a finding hint-ignored"},
	}
	for _, tt := range tests {
		text := strings.Replace(small, tt.old, tt.new, 1)
		if text == small {
			t.Fatalf("%q is not in the text", tt.old)
		}
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q for %q: %v, want an error with %q", tt.new, tt.old, err, tt.want)
		}
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s.yaml")
	if _, err := Load(name); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("missing file: %v", err)
	}
	if err := os.WriteFile(name, make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(name); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("huge file: %v", err)
	}
}

// Whatever parses can be played for a moment.
func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("name: x\nseed: 4\nstart: 2026-03-02T03:10:00Z\nduration: 60s\n" + threeLayers))
	names, err := filepath.Glob("../testdata/*/*/scenario.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		sc, err := Parse(text)
		if err != nil {
			return
		}
		clients, load := 0, 0.0
		for _, g := range sc.Groups {
			clients += g.Count
			if g.Hedge != nil {
				load += float64(g.Count * g.Hedge.Copies * 10)
			}
			for _, d := range g.Demand {
				load += float64(g.Count) * (d.Rate + d.GrowTo + float64(d.Units)) * float64(d.Copies)
			}
			if g.Latency < time.Millisecond {
				return
			}
		}
		for _, l := range sc.Layers {
			if l.Latency < time.Millisecond || l.Count > 100 {
				return
			}
		}
		if clients > 1000 || load > 1000 {
			return // too long for a fuzz run, not wrong
		}
		sc.Duration = min(sc.Duration, 100*time.Millisecond)
		Run(sc)
	})
}
