package rules

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func load(t testing.TB) *Set {
	t.Helper()
	s, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func signature(t testing.TB, s *Set, id string, scope Scope) *Signature {
	t.Helper()
	for _, sig := range s.Signatures() {
		if sig.ID == id && sig.Scope == scope {
			return sig
		}
	}
	t.Fatalf("no signature %s of scope %s", id, scope)
	return nil
}

func values(pairs map[FeatureID]float64) *Values {
	v := &Values{Clock: 1, Exchanges: true, SeesHints: true}
	for id, x := range pairs {
		v.Set(id, x, 100)
	}
	return v
}

func TestEmbeddedRulesAreWhole(t *testing.T) {
	s := load(t)
	for i, f := range Features() {
		if int(f.ID) != i || f.Name == "" || f.Meaning == "" || len(f.Scopes) == 0 {
			t.Errorf("feature %d is not whole: %+v", i, f)
		}
	}
	for _, id := range []string{"lockstep", "hint-missing", "rising-share-after-burst", "capacity-not-behaviour"} {
		signature(t, s, id, Population)
	}
	signature(t, s, "hint-ignored", Client)
	signature(t, s, "lockstep", Agent)
	used := map[string]bool{}
	for _, sig := range s.Signatures() {
		if len(sig.Mitigations) == 0 {
			t.Errorf("%s calls for nothing", sig.ID)
		}
		for _, m := range sig.Mitigations {
			used[m] = true
		}
	}
	for _, m := range s.Mitigations() {
		if !used[m.ID] {
			t.Errorf("mitigation %s is called for by no signature", m.ID)
		}
		has := map[string]bool{}
		for _, sn := range m.Snippets {
			has[sn.For] = sn.Text != ""
		}
		for _, product := range []string{"nginx", "envoy", "haproxy"} {
			if !has[product] && m.Perspective != "client" { // there these are the vendor's
				t.Errorf("mitigation %s has no snippet for %s", m.ID, product)
			}
		}
		if m.Stop == "" {
			t.Errorf("mitigation %s does not say when to stop", m.ID)
		}
		if m.When == "client release" && !strings.Contains(m.Stop, "stages") {
			t.Errorf("mitigation %s is not rolled out in stages: %s", m.ID, m.Stop)
		}
		if m.When == "client release" && !(has["go"] && has["python"]) {
			t.Errorf("mitigation %s is for clients and has no snippet for Go or Python", m.ID)
		}
	}
}

// Each threshold at its border: the values of the first column hold, and each
// single change of the others does not.
func TestThresholds(t *testing.T) {
	type change map[FeatureID]float64
	for _, c := range []struct {
		id    string
		scope Scope
		holds change
		not   []change
	}{
		{
			"lockstep", Population,
			change{Jitter: .049, Z: 5.21, Rho: 2.5, Coincidences: 20, HerdClients: 5, Rounds: 2, JitterGaps: 8, WithinMs: 50, WaveBins: 9, WaveShare: 0, WaitS: 0},
			[]change{{Jitter: .05}, {Z: 5.2}, {Rho: 2.49}, {Coincidences: 19}, {HerdClients: 4}, {Rounds: 1}, {JitterGaps: 7}},
		},
		{
			"lockstep", Agent,
			change{Jitter: .049, Z: 5.21, Rho: 2.5, Coincidences: 20, HerdClients: 10, Rounds: 2, JitterGaps: 8, WithinMs: 1000, WaveBins: 2.5, WaveShare: .5, WaitS: 4},
			[]change{{HerdClients: 9}, {WaveBins: 2.6}, {WaveShare: .49}, {WaitS: 3.9}, {Z: 5.2}, {Rho: 2.4}, {Rounds: 1}},
		},
		{
			"hint-missing", Population,
			change{Refusals: 20, RefusedClients: 3, MissingLow: .51, MissingShare: .8},
			[]change{{Refusals: 19}, {RefusedClients: 2}, {MissingLow: .5}},
		},
		{
			"hint-ignored", Client,
			change{EarlyRetries: 3, EarlyShare: .5, HintedRetries: 6},
			[]change{{EarlyRetries: 2}, {EarlyShare: .49}},
		},
		{
			"rising-share-after-burst", Population,
			change{Baseline: 1, CalmSeconds: 5, BurstEnded: 1, SinceEndS: 3, HoldS: 3, FreshServed: 1, DeficitZ: 2.33, AttemptsPerS: 111, CapacityPerS: 100, FailingShare: .9, FailingRiseZ: 0, FailingRise: 0},
			[]change{{Baseline: 0}, {CalmSeconds: 4}, {BurstEnded: 0}, {SinceEndS: 2.9}, {FreshServed: 0}, {DeficitZ: 2.32}, {AttemptsPerS: 110}, {FailingShare: .89}},
		},
		{
			"rising-share-after-burst", Population,
			change{Baseline: 1, CalmSeconds: 5, BurstEnded: 1, SinceEndS: 3, HoldS: 3, FreshServed: 1, DeficitZ: 2.33, AttemptsPerS: 111, CapacityPerS: 100, FailingShare: .3, FailingRiseZ: 3.29, FailingRise: .05},
			[]change{{FailingShare: .29}, {FailingRiseZ: 3.28}, {FailingRise: .04}},
		},
		{
			"capacity-not-behaviour", Population,
			change{Baseline: 1, Seconds: 10, Refusals: 20, FirstRefusedShare: .05, RefusalShareOfFailures: .8, ExceedsCapacity: 2, GoodputPerS: 70, CapacityPerS: 100, RetryShare: .33, ImpatientShare: .1, FreshMedian10: 130},
			[]change{{Baseline: 0}, {Seconds: 9}, {Refusals: 19}, {FirstRefusedShare: .04}, {RefusalShareOfFailures: .79}, {ExceedsCapacity: 1.99}, {GoodputPerS: 69}, {RetryShare: .34}, {ImpatientShare: .11}},
		},
		{
			"hot-poll", Client,
			change{HotPolls: 20, PollGapS: .2, PollAskedS: 10},
			[]change{{HotPolls: 19}},
		},
		{
			"repeated-calls", Client,
			change{CallBursts: 2, BurstCalls: 18},
			[]change{{CallBursts: 1}},
		},
		{
			"sequence-restarted", Client,
			change{Restarts: 1, PagesAgain: 3},
			[]change{{Restarts: 0}},
		},
		{
			"redirect-unfollowed", Population,
			change{ElsewhereClients: 10, ElsewhereBefore: 20, ElsewhereBeforeShare: .1, ElsewhereLow: .41, ElsewhereShare: .6},
			[]change{{ElsewhereClients: 9}, {ElsewhereBefore: 19}, {ElsewhereBeforeShare: .11}, {ElsewhereLow: .4}},
		},
		{
			"session-dies", Population,
			change{BriefClients: 10, BriefSessions: 25, BriefLow: .41, BriefShare: .7, SessionsBefore: 20, BriefBeforeShare: .2, LastingSessions: 0},
			[]change{{BriefClients: 9}, {BriefSessions: 24}, {BriefLow: .4}, {BriefBeforeShare: .21}, {SessionsBefore: 19}},
		},
		{
			"unsafe-write-retried", Population,
			change{UnsafeRepeats: 1, RelayedRepeats: 1, UnsafeLow: 0},
			[]change{{UnsafeRepeats: 0}, {RelayedRepeats: 0}},
		},
		{
			"unsafe-write-retried", Client,
			change{UnsafeRepeats: 2, RelayedRepeats: 0, UnsafeLow: 0},
			[]change{{UnsafeRepeats: 1}},
		},
		{
			"unsafe-write-retried", Client,
			change{UnsafeRepeats: 1, RelayedRepeats: 0, UnsafeLow: .051},
			[]change{{UnsafeLow: .05}},
		},
	} {
		s := signature(t, load(t), c.id, c.scope)
		judge := func(v *Values) bool {
			ok, _ := s.Enough(v)
			return ok && s.Raised(v)
		}
		if v := values(c.holds); !judge(v) {
			_, why := s.Enough(v)
			t.Errorf("%s does not hold at its border: %s", c.id, why)
		}
		for _, n := range c.not {
			v := values(c.holds)
			for id, x := range n {
				v.Set(id, x, 100)
			}
			if judge(v) {
				t.Errorf("%s holds though %v", c.id, n)
			}
		}
	}
}

// What can be done now comes first, and each name is there once.
func TestMitigationsInOrder(t *testing.T) {
	last := 0
	seen := map[string]bool{}
	for _, m := range load(t).Mitigations() {
		at := slices.Index([]string{"now", "client release", "server release"}, m.When)
		if at < last || seen[m.ID] {
			t.Errorf("mitigation %s (%s) is out of its place", m.ID, m.When)
		}
		last, seen[m.ID] = at, true
	}
}

// Signatures come in the order of their ids, scopes of one side by side: findings
// of a second are made in that order.
func TestSignaturesInOrder(t *testing.T) {
	var ids []string
	for _, s := range load(t).Signatures() {
		ids = append(ids, s.ID)
	}
	if !slices.IsSorted(ids) {
		t.Errorf("signatures out of order: %q", ids)
	}
	if n := len(slices.Compact(ids)); n < 18 {
		t.Errorf("%d signatures", n)
	}
}

// What clients do is said of every signature of theirs: the headline names them by it.
func TestClientsAreSaidToDoSomething(t *testing.T) {
	for _, s := range load(t).Signatures() {
		if s.Scope == Client && s.Does == "" {
			t.Errorf("%s does not say what its clients do", s.ID)
		}
	}
}

// A check names the time by which it must show.
func TestChecksHaveATime(t *testing.T) {
	for _, m := range load(t).Mitigations() {
		if !timed.MatchString(m.Check) {
			t.Errorf("mitigation %s: by when? %s", m.ID, m.Check)
		}
	}
}

var timed = regexp.MustCompile(`within|minute|\d+ s\b|after one`)

// To raise a limit is the step that makes a storm worse: it says so.
func TestRaisingALimitCarriesItsWarning(t *testing.T) {
	m := load(t).Mitigation("raise-quota")
	if !strings.Contains(m.Risk, "WARNING") || m.When == "now" {
		t.Errorf("%s: %s", m.When, m.Risk)
	}
}

// Who runs the clients can do something now about every signature of whatever a
// server does to them, and is never told to change the server; and the other way round.
func TestPerspectives(t *testing.T) {
	set := load(t)
	for _, s := range set.Signatures() {
		for _, side := range []string{"server", "client"} {
			serves := false
			for _, id := range s.Mitigations {
				serves = serves || set.Mitigation(id).Serves(side)
			}
			if !serves {
				t.Errorf("%s calls for nothing that a %s can do", s.ID, side)
			}
		}
	}
	if set.Mitigation("spread-hint").Serves("client") || set.Mitigation("vendor-ticket").Serves("server") || !set.Mitigation("pause-batch").Serves("client") {
		t.Error("sides are confused")
	}
}

// Advice must never be to slip past a limit.
func TestNoAdviceToEvade(t *testing.T) {
	for _, m := range load(t).Mitigations() {
		for _, text := range []string{m.Title, m.Expect, m.Check, m.Undo} {
			for _, bad := range []string{"rotate", "another key", "more keys", "new address", "bypass", "proxy pool"} {
				if strings.Contains(strings.ToLower(text), bad) {
					t.Errorf("mitigation %s advises %q: %s", m.ID, bad, text)
				}
			}
		}
	}
}
