package detect_test

import (
	"fmt"
	"strings"
	"testing"

	"stormwatch/capture"
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

// What refusals say of their limit's scope is told where nothing shows by itself, made
// sure of where it does, and put beside it where the traffic says otherwise.
func TestLimitScopeThatIsTold(t *testing.T) {
	named := func(status uint16, by capture.LimitBy, n int) (all []hand) {
		for i := range n {
			all = append(all, hand{at: float64(i), path: fmt.Sprintf("/a/%d", i), status: status, change: func(x *capture.Exchange) { x.Limit.By = by }})
		}
		return all
	}
	for name, c := range map[string]struct {
		all  []hand
		want detect.LimitScope
		says string
	}{
		"all say so":         {named(429, capture.ByCredential, 20), detect.ScopeCredential, "20 of 20 refusals say that it counts by credential"},
		"too few":            {named(429, capture.ByCredential, 4), detect.ScopeUnknown, "all requests were refused"},
		"nobody says so":     {named(429, capture.ByUntold, 20), detect.ScopeUnknown, "all requests were refused"},
		"served ones do":     {append(named(200, capture.ByRoute, 20), named(429, capture.ByUntold, 20)...), detect.ScopeUnknown, "too few"},
		"half of them do":    {append(named(429, capture.ByRoute, 10), named(429, capture.ByUntold, 10)...), detect.ScopeUnknown, "all requests were refused"},
		"most of them do so": {append(named(429, capture.ByRoute, 18), named(429, capture.ByUntold, 2)...), detect.ScopeRoute, "18 of 20"},
	} {
		g := byHand(tap, c.all...)
		if l := together(t, detect.Options{}, g).Limit; l.Scope != c.want || !strings.Contains(l.Why, c.says) {
			t.Errorf("%s: %v: %s", name, l.Scope, l.Why)
		}
	}
}
