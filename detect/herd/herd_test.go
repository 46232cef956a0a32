package herd

import (
	"cmp"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	gocmp "github.com/google/go-cmp/cmp"
)

func runs(fast, long int) int {
	if os.Getenv("STORMWATCH_QUALITY") == "1" {
		return long
	}
	return fast
}

// The rule never fires, at any tick, where waits are drawn independently.
func TestLockstepNull(t *testing.T) {
	for _, n := range nulls() {
		t.Run(n.name, func(t *testing.T) {
			t.Parallel()
			hits, total := 0, runs(3, 2000)
			for seed := range total {
				r := rand.New(rand.NewPCG(uint64(seed), 1))
				events := n.events(r)
				for i := range events {
					events[i].gap = shortest + ns(r.ExpFloat64())
				}
				hits += btoi(fired(events))
			}
			if hits > 0 {
				t.Errorf("fired in %d of %d runs", hits, total)
			}
		})
	}
}

// Coincidence alone, the waits being all equal and all attempts the third, does not
// fire over thirty seconds: the table of detection.md 2.3, at each scale.
func TestCoincidenceNull(t *testing.T) {
	for _, n := range nulls() {
		t.Run(n.name, func(t *testing.T) {
			t.Parallel()
			hits, total := 0, runs(3, 2000)
			for seed := range total {
				h, events := NewHerd(1, 2), n.events(rand.New(rand.NewPCG(uint64(seed), 1)))
				for i := range events {
					events[i].gap, events[i].attempt = 20*second, 3
				}
				feed(h, population(events), events, func(int64) {})
				hits += btoi(fires(h, 0))
			}
			if hits > 0 {
				t.Errorf("fired in %d of %d runs", hits, total)
			}
		})
	}
}

// Retries that copy the shape of the demand, each client waiting the same time before
// each of its retries, are no herd at any tick and scale, whatever comes in bursts,
// ramps and waves: nor are endless retries that began at any time.
func TestDemandIsNoHerd(t *testing.T) {
	for _, d := range demands() {
		waits := []float64{1, 5, 20, 60}
		if strings.HasPrefix(d.name, "burst") {
			waits = waits[:2] // bursts of some seconds that come back after many are a herd
		}
		for _, wait := range waits {
			t.Run(d.name, func(t *testing.T) {
				t.Parallel()
				hits, total := 0, runs(2, 2000/len(waits))
				for seed := range total {
					r := rand.New(rand.NewPCG(uint64(seed), uint64(wait)))
					if events := refusals(r, arrivals(r, d.rate, d.top, 150, 1), wait); len(events) > 0 {
						if what := firing(events); what != "" {
							t.Logf("wait %g s, seed %d: %s", wait, seed, what)
							hits++
						}
					}
				}
				if hits > 0 {
					t.Errorf("wait %g s: fired in %d of %d runs", wait, hits, total)
				}
			})
		}
	}
	for _, n := range []int{6, 10, 20, 50, 200} {
		for _, wait := range []float64{2, 5, 10, 60} {
			t.Run("endless", func(t *testing.T) {
				t.Parallel()
				hits, total := 0, runs(2, 500)
				for seed := range total {
					r := rand.New(rand.NewPCG(uint64(seed), uint64(wait)))
					var events []event
					for c := range n {
						for k, at := int32(2), wait*r.Float64(); at < 240; k, at = k+1, at+wait+latency*r.ExpFloat64() {
							events = append(events, event{at: epoch0 + ns(at), gap: ns(wait), client: c, agent: 1, attempt: k})
						}
					}
					if what := firing(events); what != "" {
						t.Logf("%d clients, wait %g s, seed %d: %s", n, wait, seed, what)
						hits++
					}
				}
				if hits > 0 {
					t.Errorf("%d clients, wait %g s: fired in %d of %d runs", n, wait, hits, total)
				}
			})
		}
	}
}

// Waves of a second, far narrower than the wait, are a herd, and those as wide as half
// the wait are none; nor is jitter. The scale told is that of the wave.
func TestWavesWiderThanAnInstant(t *testing.T) {
	pause := func(s float64) func(*rand.Rand, int) float64 { return func(*rand.Rand, int) float64 { return s } }
	times := func(s, low, high float64) func(*rand.Rand, int) float64 {
		return func(r *rand.Rand, _ int) float64 { return s * (low + (high-low)*r.Float64()) }
	}
	tests := []struct {
		name    string
		wait    func(*rand.Rand, int) float64
		spread  float64
		clients int
		want    float64 // share of the runs that must fire
	}{
		{"5 s", pause(5), .9, 20, .9},
		{"5 s", pause(5), .9, 200, .95},
		{"10 s", pause(10), 1, 20, .9},
		{"10 s", pause(10), 1, 90, .99},
		{"20 s", pause(20), 1, 50, .99},
		{"60 s", pause(60), 1, 20, .9},
		{"60 s", pause(60), 1, 100, .99},
		{"60 s", pause(60), .3, 20, .99},
		{"3 s", pause(3), .25, 20, .99},
		{"2 s", pause(2), 1, 100, 0},
		{"60 s", pause(60), 8, 100, 0},
		{"10 s", pause(10), 5, 100, 0},
		{"60 s, 6 clients", pause(60), 1, 6, 0},
		{"equal jitter of 10 s", times(10, .5, 1), 1, 100, 0},
		{"full jitter of 10 s", times(10, 0, 1), 1, 100, 0},
		{"10 s, 25 % either way", times(10, .75, 1.25), 1, 100, 0},
		{"60 s, 10 % either way", times(60, .9, 1.1), 1, 100, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			hits, total := 0, runs(8, 400)
			var at [Scales]int
			for seed := range total {
				s := storm{clients: tt.clients, spread: tt.spread, wait: tt.wait}
				events := s.events(rand.New(rand.NewPCG(uint64(seed), 11)))
				h, hit := NewHerd(2, 8), false
				feed(h, population(events), events, func(int64) {
					for _, s := range firesAt(h, 1) {
						hit = true
						at[s]++
					}
				})
				hits += btoi(hit)
			}
			t.Logf("%d clients within %g s: fired in %d of %d; seconds by scale %v", tt.clients, tt.spread, hits, total, at)
			switch {
			case tt.want == 0 && hits*200 > total: // half a per cent, as above
				t.Errorf("fired in %d of %d", hits, total)
			case float64(hits) < tt.want*float64(total):
				t.Errorf("fired in %d of %d, want %g of them", hits, total, tt.want)
			case tt.want > 0 && tt.spread > .5 && at[Second] == 0:
				t.Errorf("never at the scale of a second: %v", at)
			}
		})
	}
}

// The counts of a wider scale worked out by hand: ten clients return in [100 s, 101 s),
// twenty seconds after another time, and one of them once more.
func TestPairsWithinASecond(t *testing.T) {
	var events []event
	base := BinOf(epoch0, 20*second)*20*second + 100*second
	for c := range 10 {
		for _, at := range []int64{0, 20} {
			events = append(events, event{at: base + at*second + int64(c)*90e6, gap: 20 * second, client: c, agent: 1, attempt: 3})
		}
	}
	events = append(events, event{at: base + 25*second, gap: 5 * second, client: 0, agent: 1, attempt: 4})
	h := NewHerd(2, 4)
	feed(h, population(events), events, func(int64) {})
	// Two waves: 45 pairs each in a bin. Windows: the first has 45 pairs, the second
	// C(11,2) - 1 of one client = 54, of which six seconds are over.
	c, mean, variance := 90., 45./20+54./6, 45./20*19/20+54./6*5/6
	// Retries are on average the 43/21th of their client.
	want := Coincidence{Z: (c - mean) / math.Sqrt(variance*(2*43./21-1)), Rho: c / mean, Pairs: 90, Rounds: 2, Bins: 1, Share: 20. / 21, LastRound: base + 20*second}
	for g := range 2 {
		if d := gocmp.Diff(want, h.At(g, Second)); d != "" {
			t.Errorf("group %d: %s", g, d)
		}
	}
	var m Member
	if h.Follow(&m, 1, base+25*second); m.Waves() != 0 {
		t.Error("one client is no round")
	}
}

func TestHerdsFireAndJitterDoesNot(t *testing.T) {
	tests := []struct {
		name string
		wait func(*rand.Rand, int) float64
		// Shares of the runs that must fire with bursts of 20 and 300 ms. Two fast
		// retries of a wide burst fall into one second and hide each other.
		narrow, wide float64
	}{
		{"fixed timer", fixed, 1, .9},
		{"hint exact", hint, 1, .9},
		{"doubling without jitter", doubling, 1, .5},
		{"plus or minus 25 %", quarter, 0, 0},
		{"equal jitter", equal, 0, 0},
		{"full jitter", full, 0, 0},
		{"floor and full jitter", floorFull, 0, 0},
	}
	for _, tt := range tests {
		for spread, want := range map[float64]float64{.02: tt.narrow, .3: tt.wide} {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				hits, total := 0, runs(10, 400)
				for seed := range total {
					s := storm{clients: 20, spread: spread, wait: tt.wait}
					hits += btoi(fired(s.events(rand.New(rand.NewPCG(uint64(seed), 2)))))
				}
				t.Logf("spread %g s: fired in %d of %d", spread, hits, total)
				switch {
				case want > 0 && float64(hits) < want*float64(total):
					t.Errorf("spread %g s: fired in %d of %d, want %g of them", spread, hits, total, want)
				case want == 0 && hits*200 > total:
					t.Errorf("spread %g s: fired in %d of %d, want half a per cent at most", spread, hits, total)
				}
			})
		}
	}
}

// How often a herd of a few clients is found, and jitter is not: the power of the
// rule by size and by the width of the burst. The bounds are those measured in the
// trial (signatures-trial, corrections to 2.3), less its noise.
func TestPowerBySize(t *testing.T) {
	waits := []struct {
		name string
		wait func(*rand.Rand, int) float64
	}{{"fixed timer", fixed}, {"hint exact", hint}, {"doubling", doubling}, {"equal jitter", equal}, {"full jitter", full}}
	least := map[float64]map[int]float64{.02: {5: .3, 10: .9, 20: 1, 50: 1}, .3: {20: .85, 50: 1}}
	for _, w := range waits {
		for _, spread := range []float64{.02, .3} {
			for _, n := range []int{5, 10, 20, 50} {
				hits, total := 0, runs(20, 400)
				for seed := range total {
					s := storm{clients: n, spread: spread, wait: w.wait}
					hits += btoi(fired(s.events(rand.New(rand.NewPCG(uint64(seed), 7)))))
				}
				got := float64(hits) / float64(total)
				t.Logf("%-12s %3.0f ms %2d clients: %.3f of %d", w.name, 1000*spread, n, got, total)
				switch jitter := w.name == "equal jitter" || w.name == "full jitter"; {
				case jitter && hits*200 > total:
					t.Errorf("%s, %d clients after %g s: %.3f", w.name, n, spread, got)
				case !jitter && w.name != "doubling" && got < least[spread][n]:
					t.Errorf("%s, %d clients after %g s: %.3f, want %.2f", w.name, n, spread, got, least[spread][n])
				}
			}
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Immediate retries copy the clustering of the refusals: they are not a herd.
func TestImmediateRetriesAreNotAHerd(t *testing.T) {
	now := func(r *rand.Rand, _ int) float64 { return .001 + .01*r.Float64() }
	for seed := range 20 {
		s := storm{clients: 60, spread: .02, wait: now}
		if fired(s.events(rand.New(rand.NewPCG(uint64(seed), 3)))) {
			t.Errorf("seed %d fired", seed)
		}
	}
}

// With seven in ten clients of a second agent jittering, the first agent's own
// statistics still show its herd.
func TestAgentIsJudgedOnItsOwn(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	herd := storm{clients: 20, spread: .02, wait: fixed}
	jitter := storm{clients: 60, spread: .02, wait: full}
	events := herd.events(r)
	for _, e := range jitter.events(r) {
		e.client += 20
		e.agent = 2
		events = append(events, e)
	}
	h := NewHerd(3, 8)
	feed(h, population(events), events, func(int64) {})
	first, second := h.Reading(1), h.Reading(2)
	if !fires(h, 1) {
		t.Errorf("the herd's agent: %+v", first)
	}
	if fires(h, 2) || second.J < .25 {
		t.Errorf("the jittering agent: %+v", second)
	}
}

// The counts worked out by hand: in one second, clients 0, 1, 2 retry in bin 3
// and client 0 once more there; client 1 again and client 3 in bin 7.
func TestPairsOfDifferentClients(t *testing.T) {
	at := func(bin int) int64 { return epoch0 + int64(bin)*int64(Bin) + 1 }
	var events []event
	for _, e := range [][2]int{{0, 3}, {1, 3}, {2, 3}, {0, 3}, {1, 7}, {3, 7}} {
		events = append(events, event{at: at(e[1]), gap: second, client: e[0], agent: 1, attempt: 3})
	}
	events = append(events, event{at: at(7), client: 4, agent: 1, attempt: 1})
	events = append(events, event{at: at(7), gap: 99e6, client: 5, agent: 1, attempt: 2})
	h := NewHerd(2, 4)
	feed(h, population(events), events, func(int64) {})
	// All are second retries, so that chains have three of them (2 x 2 - 1).
	// Bin 3: C(4,2)-1 = 5; bin 7: 1. Second: C(6,2) - 2 pairs of one client = 13.
	c, p := 6.0, 13.0
	e := p / 20
	for g := range 2 {
		r := h.Reading(g)
		want := Reading{
			Z: (c - e) / math.Sqrt(e*.95) / math.Sqrt(3), Rho: c / e, Coincidences: 6, Retries: 6, Rounds: 1, Clients: 4,
			JGaps: 6, LastRound: epoch0 + 3*int64(Bin), Peak50ms: 4, Slots: 36.0 / 20, MedianGap: r.MedianGap,
		}
		if d := gocmp.Diff(want, r); d != "" {
			t.Errorf("group %d: %s", g, d)
		}
		if math.Abs(float64(r.MedianGap)/1e9-1) > .005 {
			t.Errorf("median gap %d, want 1 s", r.MedianGap)
		}
	}
	for bin := range bins {
		if got := h.InRound(1, at(bin)); got != (bin == 3) {
			t.Errorf("bin %d: round %v", bin, got)
		}
	}
	if h.InRound(2, at(3)) || h.InRound(1, at(3)-second) || h.InRound(1, at(3)+second) {
		t.Error("a round in another agent or second")
	}
}

// A client that speaks as several agents must not coincide with itself.
func TestOneClientWithManyAgentsIsNoHerd(t *testing.T) {
	var events []event
	for i := range 400 {
		events = append(events, event{at: epoch0 + int64(i)*10e6, gap: second, client: 0, agent: 1 + i%5, attempt: 2})
	}
	h := NewHerd(1, 8)
	feed(h, population(events), events, func(int64) {})
	for g := range 6 {
		if r := h.Reading(g); r.Coincidences != 0 || r.Rounds != 0 || r.Clients > 1 {
			t.Errorf("group %d: %+v", g, r)
		}
		for _, s := range []Scale{Quarter, Second} {
			if c := h.At(g, s); c.Pairs != 0 || c.Rounds != 0 || c.Z != 0 {
				t.Errorf("group %d, scale %d: %+v", g, s, c)
			}
		}
	}
}

// J by the definition, on the waits themselves.
func TestJitterMatchesTheDefinition(t *testing.T) {
	for _, wait := range []func(*rand.Rand, int) float64{quarter, equal, floorFull} {
		s := storm{clients: 200, spread: .3, wait: wait}
		events := s.events(rand.New(rand.NewPCG(5, 5)))
		byAttempt := map[int32][]float64{}
		end := slices.MaxFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) }).at
		from := BinOf(end, epoch)*epoch - epoch
		for _, e := range events {
			if e.attempt > 1 && e.gap >= shortest && e.at >= from {
				byAttempt[e.attempt] = append(byAttempt[e.attempt], float64(e.gap))
			}
		}
		var ratios []float64
		for _, v := range byAttempt {
			slices.Sort(v)
			for _, x := range v {
				ratios = append(ratios, x/v[len(v)/2])
			}
		}
		slices.Sort(ratios)
		want := ratios[len(ratios)*3/4] - ratios[len(ratios)/4]
		h := NewHerd(2, 4)
		feed(h, population(events), events, func(int64) {})
		r := h.Reading(1)
		if !r.JKnown || math.Abs(r.J-want) > .01 || r.JGaps != int64(len(ratios)) {
			t.Errorf("J = %.4f of %d, want %.4f of %d", r.J, r.JGaps, want, len(ratios))
		}
	}
}

func TestJitterNeedsThreeClientsAndEightWaits(t *testing.T) {
	make := func(clients, each int) Reading {
		var events []event
		for c := range clients {
			for i := range each {
				events = append(events, event{at: epoch0 + int64(i)*second + int64(c)*200e6, gap: second, client: c, agent: 1, attempt: 2})
			}
		}
		h := NewHerd(2, 4)
		feed(h, population(events), events, func(int64) {})
		return h.Reading(1)
	}
	if r := make(2, 20); r.JKnown || r.JGaps != 0 {
		t.Errorf("two clients: %+v", r)
	}
	if r := make(3, 2); r.JKnown || r.JGaps != 6 {
		t.Errorf("six waits: %+v", r)
	}
	if r := make(3, 3); !r.JKnown || r.JGaps != 9 || r.J > .01 {
		t.Errorf("nine equal waits: %+v", r)
	}
	// Both epochs together: still three clients, each counted once.
	if r := make(3, 50); !r.JKnown || r.JGaps < 90 {
		t.Errorf("waits of fifty seconds: %+v", r)
	}
	if r := make(2, 50); r.JKnown {
		t.Errorf("two clients over two epochs: %+v", r)
	}
}

func TestWaitBins(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 10000 {
		gap := shortest + int64(math.Exp(r.Float64()*math.Log(3.6e12)))
		b := waitBin(gap)
		lo, hi := waitAt(float64(b)), waitAt(float64(b+1))
		if float64(gap) < lo-1 || float64(gap) >= hi+1 || hi/lo > 1.008 {
			t.Fatalf("%d ns in bin %d: %f..%f", gap, b, lo, hi)
		}
		if p := placeOf(waitAt(float64(b) + .25)); math.Abs(p-float64(b)-.25) > 1e-6 {
			t.Fatalf("bin %d: place %f", b, p)
		}
	}
	for _, gap := range []int64{math.MinInt64, 0, 1, math.MaxInt64} {
		if b := waitBin(gap); b < 0 || b >= waitBins {
			t.Errorf("%d ns in bin %d", gap, b)
		}
	}
}

// mixed is traffic of several agents with first attempts, herds and jitter.
func mixed(seed uint64) []event {
	r := rand.New(rand.NewPCG(seed, 7))
	var events []event
	for a := 1; a <= 5; a++ {
		s := storm{clients: 30, spread: .1, wait: []func(*rand.Rand, int) float64{fixed, hint, full, equal, doubling}[a-1]}
		for _, e := range s.events(r) {
			e.client += 30 * a
			e.agent = a
			e.at += int64(r.IntN(3)) * 20 * second / 3
			events = append(events, e)
		}
	}
	for _, e := range arrivals(r, constant(50), 50, 80, 180) {
		e.attempt = int32(1 + r.IntN(40))
		e.agent = r.IntN(7)
		e.gap = ns(r.Float64() * 3)
		events = append(events, e)
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	return events
}

// telling is all that a Herd says of a group.
type telling struct {
	Reading
	Wider [2]Coincidence
}

func readings(h *Herd) []telling {
	var out []telling
	for g := range h.groups {
		out = append(out, telling{h.Reading(g), [2]Coincidence{h.At(g, Quarter), h.At(g, Second)}})
	}
	return out
}

func TestShardsMakeNoDifference(t *testing.T) {
	for seed := range uint64(4) {
		events := mixed(seed)
		var want [][]telling
		for _, shards := range []int{1, 2, 7} {
			h, tick := NewHerd(shards, 8), 0
			feed(h, population(events), events, func(now int64) {
				got := readings(h)
				if shards == 1 {
					want = append(want, got)
				} else if d := gocmp.Diff(want[tick], got); d != "" {
					t.Fatalf("seed %d, %d shards, tick %d: %s", seed, shards, tick, d)
				}
				tick++
			})
		}
	}
}

func TestCloneRunsOnAsTheOriginal(t *testing.T) {
	events := mixed(9)
	straight := NewHerd(3, 8)
	feed(straight, population(events), events, func(int64) {})
	for cut := 50; cut < len(events); cut += 400 {
		at := BinOf(events[cut].at, second) * second
		k := 0
		for events[k].at < at {
			k++
		}
		if k == 0 {
			continue
		}
		first, members := NewHerd(3, 8), population(events)
		feed(first, members, events[:k], func(int64) {})
		restored, kept := first.Clone(), slices.Clone(members)
		feed(first, members, mixed(10), func(int64) {}) // must not reach the clone
		feed(restored, kept, events[k:], func(int64) {})
		if d := gocmp.Diff(readings(straight), readings(restored)); d != "" {
			t.Fatalf("cut at %d: %s", cut, d)
		}
	}
}

func TestOldSecondsLeave(t *testing.T) {
	s := storm{clients: 20, spread: .02, wait: fixed}
	events := s.events(rand.New(rand.NewPCG(8, 8)))
	h := NewHerd(2, 4)
	var end int64
	feed(h, population(events), events, func(now int64) { end = now })
	if !fires(h, 1) {
		t.Fatalf("no herd to begin with: %+v", h.Reading(1))
	}
	jumped := h.Clone()
	for i := range int64(130) {
		h.Barrier(end + (i+1)*second)
	}
	jumped.Barrier(end + 3600*second)
	for name, x := range map[string]*Herd{"silence": h, "jump": jumped} {
		if d := gocmp.Diff(Reading{Rho: 1}, x.Reading(1)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		for _, s := range []Scale{Quarter, Second} {
			if c := x.At(1, s); c.Pairs != 0 || c.Rounds != 0 || c.Rho != 1 {
				t.Errorf("%s, scale %d: %+v", name, s, c)
			}
		}
	}
}

func TestWaitsBeyondTheCellsAreCounted(t *testing.T) {
	var events []event
	for a := range 40 {
		for k := range 10 {
			events = append(events, event{at: epoch0 + int64(k), gap: second, client: a, agent: a, attempt: int32(k + 2)})
		}
	}
	for _, shards := range []int{1, 7} {
		h := NewHerd(shards, 64)
		feed(h, population(events), events, func(int64) {})
		if r := h.Reading(0); r.JLost != 400-maxCells {
			t.Errorf("%d shards: %d lost, want %d", shards, r.JLost, 400-maxCells)
		}
		if r := h.Reading(39); r.JLost != 10 {
			t.Errorf("%d shards: %d lost of the last agent, want 10", shards, r.JLost)
		}
	}
}

func TestOddArgumentsDoNotPanic(t *testing.T) {
	h := NewHerd(0, 0)
	var m Member
	for _, at := range []int64{math.MinInt64 / 2, -1, 0, 1, math.MaxInt64 / 2} {
		h.Shard(0).First(&m, -5, at)
		h.Shard(0).Retry(&m, 1000, math.MaxInt32, at, math.MaxInt64)
		h.Shard(0).Retry(&m, 3, -1, at, math.MinInt64)
		h.Barrier(BinOf(at, second)*second + second)
		h.InRound(-1, at)
		h.InRound(1<<30, at)
		h.Reading(77)
		h.At(77, Second)
		h.At(-1, 200)
		h.LastRound(1, Quarter)
	}
	if r := NewHerd(1, 1).Reading(0); r != (Reading{}) {
		t.Errorf("an empty herd: %+v", r)
	}
}

func TestMemberIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(Member{}); n > 32 {
		t.Errorf("Member takes %d bytes, want 32 at most", n)
	}
}

func TestNoAllocationInSteadyState(t *testing.T) {
	events := mixed(11)
	h, members := NewHerd(2, 8), population(events)
	feed(h, members, events, func(int64) { readings(h) })
	at := events[len(events)-1].at
	shift := (at - epoch0 + 60*second) / second * second
	pass := 0
	n := testing.AllocsPerRun(3, func() {
		pass++
		for now, i := epoch0+int64(pass)*shift, 0; i < len(events); {
			now += second
			for ; i < len(events) && events[i].at+int64(pass)*shift < now; i++ {
				e := &events[i]
				s := h.Shard(e.client % 2)
				if e.attempt == 1 {
					s.First(&members[e.client], e.agent, e.at+int64(pass)*shift)
				} else {
					s.Retry(&members[e.client], e.agent, e.attempt, e.at+int64(pass)*shift, e.gap)
				}
			}
			h.Barrier(now)
			for g := range h.groups {
				h.Reading(g)
				h.At(g, Second)
			}
		}
	})
	if n > 0 {
		t.Errorf("%.0f allocations in a pass over %d events", n, len(events))
	}
}

// A second of 100,000 retries by 10,000 clients of 60 agents.
func BenchmarkTick(b *testing.B) {
	const n = 100_000
	r := rand.New(rand.NewPCG(1, 1))
	events := make([]event, n)
	for i := range events {
		events[i] = event{at: int64(i) * second / n, gap: ns(.1 + r.ExpFloat64()), client: r.IntN(10_000), attempt: int32(2 + r.IntN(5))}
		events[i].agent = 1 + events[i].client%60
	}
	h, members := NewHerd(2, 64), make([]Member, 10_000)
	second := func(now int64) {
		for i := range events {
			e := &events[i]
			h.Shard(e.client&1).Retry(&members[e.client], e.agent, e.attempt, now+e.at, e.gap)
		}
		h.Barrier(now + second)
	}
	for i := range int64(150) {
		second(epoch0 + i*1e9)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		second(epoch0 + int64(200+i)*1e9)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/event")
}

func BenchmarkReadings(b *testing.B) {
	events := mixed(12)
	h := NewHerd(2, 64)
	feed(h, population(events), events, func(int64) {})
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		for g := range h.groups {
			h.groups[g].cached = false
			h.Reading(g)
		}
	}
}
