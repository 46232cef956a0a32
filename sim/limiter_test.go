package sim

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
)

const ms = int64(time.Millisecond)

// Each kind of limiter, by hand: what it grants, when the next slot comes free,
// and what it tells of itself.
func TestLimiters(t *testing.T) {
	type step struct {
		at      int64 // ms
		granted bool
		free    int64 // ms, of a refusal
		left    int
	}
	tests := []struct {
		name string
		spec Limiter
		want []step
	}{
		{"a fixed window lets through twice its limit around its edge", Limiter{Kind: "fixed-window", Limit: 2}, []step{
			{900, true, 0, 1}, {950, true, 0, 0}, {990, false, 10, 0}, {1010, true, 0, 1}, {1020, true, 0, 0}, {1030, false, 970, 0}, {5000, true, 0, 1},
		}},
		{"a fixed window that counts refusals is empty at its edge all the same", Limiter{Kind: "fixed-window", Limit: 1, CountRefused: true}, []step{
			{100, true, 0, 0}, {200, false, 800, 0}, {999, false, 1, 0}, {1000, true, 0, 0},
		}},
		{"a sliding log never does", Limiter{Limit: 2}, []step{
			{900, true, 0, 1}, {950, true, 0, 0}, {1010, false, 890, 0}, {1900, true, 0, 0}, {1949, false, 1, 0}, {1950, true, 0, 0},
		}},
		{"a sliding log that counts refusals is kept full by them", Limiter{Limit: 1, CountRefused: true}, []step{
			{0, true, 0, 0}, {600, false, 1000, 0}, {1200, false, 1000, 0}, {2200, true, 0, 0},
		}},
		{"a token bucket has its burst, then its rate", Limiter{Kind: "token-bucket", Limit: 10, Burst: 3}, []step{
			{0, true, 0, 2}, {0, true, 0, 1}, {0, true, 0, 0}, {0, false, 100, 0}, {50, false, 50, 0}, {100, true, 0, 0}, {5000, true, 0, 2},
		}},
		{"a token bucket in debt", Limiter{Kind: "token-bucket", Limit: 10, Burst: 2, CountRefused: true}, []step{
			{0, true, 0, 1}, {0, true, 0, 0}, {0, false, 200, 0}, {0, false, 300, 0}, {0, false, 300, 0}, {250, false, 150, 0}, {400, true, 0, 0},
		}},
	}
	for _, tt := range tests {
		sc := one(1, time.Minute, Server{Limiter: &tt.spec}, Group{Count: 1, Demand: []Demand{{Rate: 1}}})
		sc.Name, sc.Start = "x", time.Unix(1e9, 0)
		if err := sc.Validate(); err != nil {
			t.Fatal(err)
		}
		l := newLimiter(&tt.spec, rand.New(rand.NewPCG(1, 1)))
		for i, want := range tt.want {
			v := l.admit(want.at * ms)
			if v.refused == want.granted || v.quota.left != want.left || v.quota.limit == 0 {
				t.Errorf("%s: step %d: %+v, want %+v", tt.name, i+1, v, want)
			}
			if v.refused && math.Abs(float64(v.free)-float64(want.free*ms)) > 1e4 {
				t.Errorf("%s: step %d: a slot is free after %s, want %d ms", tt.name, i+1, v.free, want.free)
			}
		}
	}
}

// Never more requests are in service than the limit, and the hint of a slot is
// when the next of them is done.
func TestConcurrencyLimit(t *testing.T) {
	server := Server{Limiter: &Limiter{Kind: "concurrency", Limit: 3, Service: 200 * time.Millisecond}, Hint: Hints{{Wait: Wait{Slot: true}, Header: "retry-after-ms", Form: "ms"}}}
	g := Group{Count: 10, Sender: Sender{Policy: mustPolicy(t, "hint-exact base=1s")}, Demand: []Demand{{Rate: 2}}}
	r := mustRun(t, one(3, 20*time.Second, server, g))
	var ends []int64
	refused := 0
	for _, row := range r.Rows {
		busy, next := 0, int64(math.MaxInt64)
		for _, end := range ends {
			if end > row.Start {
				busy++
				next = min(next, end)
			}
		}
		switch {
		case row.Status == 200:
			ends = append(ends, row.End)
			if busy >= 3 {
				t.Fatalf("a fourth request in service: %+v", row)
			}
		case busy < 3:
			t.Fatalf("refused with %d in service: %+v", busy, row)
		default:
			refused++
			if d := int64(row.Wait) - (next - row.Start); d != 0 {
				t.Fatalf("a slot is free in %d ns, hinted %s", next-row.Start, row.Wait)
			}
		}
	}
	if refused < 50 {
		t.Errorf("only %d refusals", refused)
	}
}

// Who shares a limit: with 8 clients of two credentials at two addresses asking
// two routes, each scope grants its limit as often as it has parts.
func TestLimiterScopes(t *testing.T) {
	for scope, parts := range map[string]int{"all": 1, "key": 2, "address": 4, "route": 6} {
		server := Server{Limiter: &Limiter{Limit: 5, Window: time.Hour, Scope: scope}}
		sc := &Scenario{Seed: 1, Duration: time.Minute, Server: server}
		for _, name := range []string{"a", "b"} {
			sc.Groups = append(sc.Groups, Group{
				Name: name, Count: 2, Identity: Identity{Key: "one"}, Paths: []string{"/" + name + "/{id}", "/both/{client}", "/" + name + "/{page}"},
				Demand: []Demand{{Rate: 1}},
			})
		}
		if scope == "route" { // three paths each, one of them shared
			parts = 5
		}
		if n := len(granted(mustRun(t, sc))); n != 5*parts {
			t.Errorf("%s: %d grants, want %d", scope, n, 5*parts)
		}
	}
}

// A refusal that costs a tenth of a request's work leaves less for those: with
// 10 ms of work, 1 ms for a refusal and 300 requests a second on one worker,
// g*10 + (300-g)*1 = 1000, so g = 77.8 a second. Free refusals leave 100.
func TestCostlyRefusals(t *testing.T) {
	for cost, want := range map[time.Duration]float64{0: 100, time.Millisecond: 77.8} {
		server := Server{Capacity: &Capacity{Rate: 100, Queue: 20, RejectCost: cost}}
		r := mustRun(t, one(2, 60*time.Second, server, Group{Count: 100, Demand: []Demand{{Rate: 3}}}))
		if got := float64(len(granted(r))) / 60; math.Abs(got-want) > .03*want {
			t.Errorf("refusals that cost %s: %.1f granted a second, want %.1f", cost, got, want)
		}
	}
}

// The state of a scope lives by what the server sees: a NAT address is one.
func TestAddressScopeSeesTheNAT(t *testing.T) {
	server := Server{Limiter: &Limiter{Limit: 5, Window: time.Hour, Scope: "address"}}
	g := Group{Count: 6, Identity: Identity{NAT: netip.MustParseAddr("203.0.113.7")}, Demand: []Demand{{Rate: 1}}}
	if n := len(granted(mustRun(t, one(1, time.Minute, server, g)))); n != 5 {
		t.Errorf("%d grants behind one address, want 5", n)
	}
}
