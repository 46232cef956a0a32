package detect_test

import (
	"fmt"
	"testing"

	"stormwatch/detect"
)

// limitOf is a service whose limit counts by scope, and is passed by four instances
// that share a key, while twenty others have one each.
const limitOf = `
name: scope
start: 2026-03-02T03:10:00Z
duration: 60s
server: {limiter: {limit: %d, window: 1s, scope: %s}, hint: 1s..3s}
groups:
  - {name: big, count: 4, agent: a/1, policy: %[3]s, paths: ["/v1/a/{id}", "/v1/b/{id}", /v1/c], identity: {key: one}, demand: [{rate: 1}, {from: 20s, to: 40s, rate: 6}]}
  - {name: small, count: 20, agent: a/1, policy: %[3]s, paths: ["/v1/a/{id}", "/v1/b/{id}", /v1/c], identity: {key: each}, demand: [{rate: 0.4}]}
`

// By what a limit counts is told from which requests are refused together, whatever
// the clients' policy; where it cannot be told, nothing else is claimed.
func TestLimitScope(t *testing.T) {
	told, runs := 0, 0
	for _, c := range []struct {
		scope string
		limit int
		want  detect.LimitScope
	}{
		{"all", 20, detect.ScopeAll}, {"key", 6, detect.ScopeCredential}, {"address", 4, detect.ScopeAddress}, {"route", 8, detect.ScopeRoute},
	} {
		for _, policy := range []string{"hint-floor base=500ms attempts=4", "fixed base=1s attempts=5", "full-jitter base=200ms cap=5s attempts=6"} {
			for seed := range 2 {
				runs++
				l := judged(t, play(t, fmt.Sprintf(limitOf, c.limit, c.scope, policy), 3+seed), detect.Options{}).Limit
				switch {
				case l.Scope == c.want, l.Or == c.want && l.Scope != detect.ScopeUnknown:
					told++
				case l.Scope != detect.ScopeUnknown:
					t.Errorf("%s, %s, seed %d: %v (or %v) by %.0f nats: %s", c.scope, policy, seed, l.Scope, l.Or, l.Gain, l.Why)
				}
			}
		}
	}
	t.Logf("told in %d of %d runs", told, runs)
	if told < runs-2 {
		t.Errorf("told in %d of %d runs", told, runs)
	}
}

// In none of the repository's captures another scope is claimed than that of the
// scenario's limiter; what is told of shared-quota is right: two keys, each used at
// addresses of its own.
func TestLimitScopeOfScenarios(t *testing.T) {
	truth := map[string]detect.LimitScope{"": detect.ScopeAll, "all": detect.ScopeAll, "key": detect.ScopeCredential, "address": detect.ScopeAddress, "route": detect.ScopeRoute}
	told := 0
	for _, name := range []string{
		"armed", "credential-rotation", "h2c-lockstep", "hint-too-short", "immediate-retry", "insufficient-spread", "limit-known-ignored", "lockstep-bare-429",
		"lockstep-by-hint", "loop-after-burst", "low-ceiling", "office-nat", "retry-after-ignored", "shared-quota", "sync-start", "unit-confusion",
	} {
		res := load(t, name)
		l := judged(t, res, detect.Options{}).Limit
		want := truth[res.Scenario.Server.Limiter.Scope]
		if l.Scope != detect.ScopeUnknown {
			told++
			if l.Scope != want && l.Or != want {
				t.Errorf("%s: %v (or %v), by %.0f nats; it is %v", name, l.Scope, l.Or, l.Gain, want)
			}
		} else if l.Why == "" {
			t.Errorf("%s: not told, and no reason either", name)
		}
		if name == "shared-quota" && l.Scope != detect.ScopeCredential {
			t.Errorf("%s: %v, %s", name, l.Scope, l.Why)
		}
	}
	if told < 3 {
		t.Errorf("told in %d scenarios", told)
	}
}
