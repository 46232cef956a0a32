package sim

import (
	"math"
	"strings"
	"testing"
	"time"
)

func mustBudget(t *testing.T, text string) *Budget {
	t.Helper()
	b := new(Budget)
	if err := b.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return b
}

// Retries that each budget grants in a second after so many requests, by the
// documentation of each.
func TestBudgets(t *testing.T) {
	const s = int64(time.Second)
	tests := []struct {
		text     string
		requests int
		at       int64 // when the retries are asked for
		want     int
	}{
		{"finagle min=0", 100, s, 20},     // a fifth
		{"finagle min=0", 100, 11 * s, 0}, // forgotten after 10 s
		{"finagle min=2", 0, s, 20},       // 2 a second, for 10 s at once
		{"finagle", 100, s, 120},          // 10 a second beside the fifth
		{"finagle ratio=0.5 min=0 ttl=1s", 7, s / 2, 3},
		{"envoy", 100, s, 25},    // a fifth of those under way, the retries among them
		{"envoy", 5, s, 3},       // at least 3
		{"envoy min=0", 3, s, 1}, // 0.6 under way leave room for one
		{"sre", 100, s, 10},
		{"sre", 100, 150 * s, 0}, // two minutes later
		{"sre min=3", 0, s, 3},
	}
	for _, tt := range tests {
		b := mustBudget(t, tt.text).open()
		for range tt.requests {
			b.begin(0)
		}
		n := 0
		for n < 1000 && b.retry(tt.at) {
			n++
		}
		if n != tt.want {
			t.Errorf("%s after %d requests: %d retries, want %d", tt.text, tt.requests, n, tt.want)
		}
	}
	b := mustBudget(t, "envoy").open()
	for range 10 { // what is over leaves room again
		b.begin(0)
		for b.retry(0) {
			b.end(false)
			b.end(true)
			b.begin(0)
			break
		}
		b.end(false)
	}
	if a := b.(*activeBudget); a.active != 0 || a.retries != 0 {
		t.Errorf("%+v, want nothing under way", a)
	}
}

func TestBudgetsSayWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"": "budget is empty", "netflix": "want finagle, envoy or sre", "envoy ttl=1s": "not a parameter of envoy",
		"sre ratio=x": "ratio=x", "sre ratio=0": "want ratio above 0", "finagle ttl=-1s": "ttl up to 1h",
	} {
		if err := new(Budget).UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", text, err, want)
		}
	}
}

// In a run where everything is refused, a budget bounds the retries by its share
// of the requests, whatever the policy wants.
func TestBudgetsInARun(t *testing.T) {
	for text, want := range map[string]float64{"finagle min=0": .2, "sre": .1} {
		server := Server{Limiter: &Limiter{Limit: 1, Window: time.Hour}}
		g := Group{Count: 5, Sender: Sender{Policy: mustPolicy(t, "immediate attempts=10"), Budget: mustBudget(t, text)}, Demand: []Demand{{Rate: 10}}}
		r := mustRun(t, one(1, 60*time.Second, server, g))
		first := 0
		for _, row := range r.Rows {
			if row.Attempt == 1 {
				first++
			}
		}
		if share := float64(len(r.Rows)-first) / float64(first); math.Abs(share-want) > .01 {
			t.Errorf("%s: retries are %.3f of the requests, want %.2f", text, share, want)
		}
	}
	// Envoy's, where one request is under way at a time: 3 retries are too, for a
	// second each.
	server := Server{Limiter: &Limiter{Limit: 1, Window: time.Hour}}
	g := Group{Count: 1, Sender: Sender{Policy: mustPolicy(t, "fixed base=1s attempts=2"), Budget: mustBudget(t, "envoy")}, Demand: []Demand{{Every: 50 * time.Millisecond}}}
	r := mustRun(t, one(1, 20*time.Second, server, g))
	retries := 0
	for _, row := range r.Rows {
		if row.Attempt > 1 {
			retries++
		}
	}
	// While 3 wait for their second the fourth is turned away: 3 in each second.
	if retries < 50 || retries > 60 {
		t.Errorf("envoy: %d retries in 20 s, want about 57", retries)
	}
}

// Adaptive throttling with K = 2 sends about twice what is accepted, whatever is
// wanted: 20 accepted of 400 a second leave 40.
func TestAdaptiveThrottling(t *testing.T) {
	server := Server{Limiter: &Limiter{Limit: 20}}
	g := Group{Count: 4, Sender: Sender{Policy: mustPolicy(t, "none"), Adaptive: 2}, Demand: []Demand{{Rate: 100}}}
	r := mustRun(t, one(1, 100*time.Second, server, g))
	late := 0
	for _, row := range r.Rows {
		if row.Start-r.Scenario.Start.UnixNano() > 50e9 {
			late++
		}
	}
	if rate := float64(late) / 50; rate < 36 || rate > 48 {
		t.Errorf("%.1f requests a second, want about 40", rate)
	}
}

// A client never sends more than its pace allows: at most burst + rate * t in any t.
func TestPace(t *testing.T) {
	server := Server{Limiter: &Limiter{Limit: 3}}
	g := Group{Count: 1, Sender: Sender{Policy: mustPolicy(t, "immediate attempts=3"), Pace: &Pace{Rate: 10, Burst: 5}, Latency: time.Millisecond}, Demand: []Demand{{Rate: 6}}}
	r := mustRun(t, one(1, 60*time.Second, server, g))
	for i := range r.Rows {
		for j := i + 1; j < len(r.Rows); j++ {
			span := float64(r.Rows[j].Start-r.Rows[i].Start)/1e9 + .004 // handshakes delay some
			if n := j - i + 1; float64(n) > 5+10*span+1e-6 {
				t.Fatalf("%d requests within %.3f s", n, span)
			}
		}
	}
	if len(r.Rows) < 400 {
		t.Errorf("only %d requests", len(r.Rows))
	}
}

// Who heeds the limiter's state is never refused where nobody else uses its limit,
// while the others are.
func TestByLimits(t *testing.T) {
	for heeds, want := range map[bool]bool{true: false, false: true} {
		server := Server{Limiter: &Limiter{Kind: "fixed-window", Limit: 4, Scope: "key"}, Limits: &Limits{Form: "epoch-ms"}}
		g := Group{Count: 3, Identity: Identity{Key: "each"}, Sender: Sender{Policy: mustPolicy(t, "none"), ByLimits: heeds}, Demand: []Demand{{Every: 200 * time.Millisecond}}}
		r := mustRun(t, one(1, 20*time.Second, server, g))
		refused := 0
		for _, row := range r.Rows {
			if row.Refused() {
				refused++
			}
		}
		if refused > 0 != want {
			t.Errorf("heeds %v: %d of %d refused", heeds, refused, len(r.Rows))
		}
	}
}
