package herd

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// event is a request of a test: attempt 1 or a retry.
type event struct {
	at, gap int64
	client  int
	agent   int
	attempt int32
}

const epoch0 = int64(1_700_000_000) * second

func ns(s float64) int64 { return int64(s * float64(second)) }

// arrivals draws a Poisson process of the given rate, at most top, over length
// seconds, of clients chosen at random. The events are retries with one fixed
// wait, so that only their timing keeps the rule from firing.
func arrivals(r *rand.Rand, rate func(t float64) float64, top, length float64, clients int) []event {
	var out []event
	for t := r.ExpFloat64() / top; t < length; t += r.ExpFloat64() / top {
		if r.Float64() < rate(t)/top {
			out = append(out, event{at: epoch0 + ns(t), gap: second, client: r.IntN(clients), agent: 1, attempt: 2})
		}
	}
	return out
}

func constant(rate float64) func(float64) float64 { return func(float64) float64 { return rate } }

type null struct {
	name   string
	events func(r *rand.Rand) []event
}

// nulls is the table of detection.md 2.3: rhythms without any lockstep.
func nulls() []null {
	poisson := func(rate float64, clients int) func(*rand.Rand) []event {
		return func(r *rand.Rand) []event { return arrivals(r, constant(rate), rate, 30, clients) }
	}
	sine := func(period float64) func(*rand.Rand) []event {
		return func(r *rand.Rand) []event {
			return arrivals(r, func(t float64) float64 { return 100 * (1 + .9*math.Sin(2*math.Pi*t/period)) }, 190, 30, 2000)
		}
	}
	return []null{
		{"poisson 2/s", poisson(2, 50)},
		{"poisson 10/s", poisson(10, 200)},
		{"poisson 100/s", poisson(100, 2000)},
		{"poisson 1000/s", poisson(1000, 5000)},
		{"ramp 10 to 200/s", func(r *rand.Rand) []event {
			return arrivals(r, func(t float64) float64 { return 10 + 190*t/30 }, 200, 30, 2000)
		}},
		{"sine of 10 s", sine(10)},
		{"sine of 3 s", sine(3)},
		{"burst of 2 s", func(r *rand.Rand) []event {
			return arrivals(r, func(t float64) float64 {
				if t > 10.37 && t < 12.61 {
					return 400
				}
				return 20
			}, 400, 30, 2000)
		}},
		// Each at its own pace and phase, with the noise of a timer.
		{"pollers every 1 to 5 s", func(r *rand.Rand) []event {
			var out []event
			for c := range 150 {
				pace := 1 + 4*r.Float64()
				for t := pace * r.Float64(); t < 30; t += pace + .003*r.ExpFloat64() {
					out = append(out, event{at: epoch0 + ns(t), gap: second, client: c, agent: 1, attempt: 2})
				}
			}
			return out
		}},
		{"pollers every 2 s", func(r *rand.Rand) []event {
			var out []event
			for c := range 100 {
				for t := 2 * r.Float64(); t < 30; t += 2 + .003*r.ExpFloat64() {
					out = append(out, event{at: epoch0 + ns(t), gap: second, client: c, agent: 1, attempt: 2})
				}
			}
			return out
		}},
		{"page loads", func(r *rand.Rand) []event {
			var out []event
			for _, e := range arrivals(r, constant(5), 5, 30, 300) {
				for range 6 {
					out = append(out, event{at: e.at + ns(.08*r.Float64()), gap: second, client: e.client, agent: 1, attempt: 2})
				}
			}
			return out
		}},
	}
}

// demands are shapes of demand, over two minutes and a half, of which each request may
// be refused: rates per second, at most top.
func demands() []struct {
	name string
	top  float64
	rate func(t float64) float64
} {
	sine := func(period float64) func(float64) float64 {
		return func(t float64) float64 { return 20 * (1 + .9*math.Sin(2*math.Pi*t/period)) }
	}
	return []struct {
		name string
		top  float64
		rate func(t float64) float64
	}{
		{"poisson 0.5/s", .5, constant(.5)},
		{"poisson 3/s", 3, constant(3)},
		{"poisson 20/s", 20, constant(20)},
		{"ramp 1 to 40/s", 40, func(t float64) float64 { return 1 + 39*t/150 }},
		{"sine of 3 s", 38, sine(3)},
		{"sine of 10 s", 38, sine(10)},
		{"sine of 60 s", 38, sine(60)},
		{"burst of 2 s", 100, func(t float64) float64 {
			if t > 30.37 && t < 32.61 {
				return 100
			}
			return 3
		}},
		{"bursts of 4 s every 30 s", 40, func(t float64) float64 {
			if math.Mod(t, 30) > 10.2 && math.Mod(t, 30) < 14.2 {
				return 40
			}
			return 2
		}},
	}
}

// refusals are the retries of a demand: each request is refused six times in ten, and
// so is each retry; a client waits the same time before each of its retries.
func refusals(r *rand.Rand, demand []event, wait float64) (out []event) {
	for i, e := range demand {
		t := e.at
		for k := int32(2); k <= 9 && r.Float64() < .6; k++ {
			t += ns(wait + latency*r.ExpFloat64())
			out = append(out, event{at: t, gap: ns(wait), client: i, agent: 1, attempt: k})
		}
	}
	return out
}

// storm is a herd: clients refused together, each retrying by one policy.
type storm struct {
	clients int
	spread  float64                                 // width of the burst, s
	wait    func(r *rand.Rand, attempt int) float64 // before the retry after so many attempts
}

// latency of an exchange varies between clients and attempts: mean 8 ms, as in
// detection.md 2.3.
const latency = .008

func (s *storm) events(r *rand.Rand) []event {
	var out []event
	trigger := 2 + r.Float64()
	for c := range s.clients {
		t := trigger + s.spread*r.Float64()
		out = append(out, event{at: epoch0 + ns(t), client: c, agent: 1, attempt: 1})
		for k := 1; k <= 8; k++ {
			gap := s.wait(r, k)
			t += gap + latency*r.ExpFloat64()
			out = append(out, event{at: epoch0 + ns(t), gap: ns(gap), client: c, agent: 1, attempt: int32(k + 1)})
		}
	}
	return out
}

func fixed(*rand.Rand, int) float64 { return 1 }
func hint(*rand.Rand, int) float64  { return 2 }
func doubling(_ *rand.Rand, k int) float64 {
	return min(5, .2*math.Pow(2, float64(k-1)))
}

func quarter(r *rand.Rand, k int) float64 {
	return min(8, .5*math.Pow(2, float64(k-1))) * (.75 + .5*r.Float64())
}

func equal(r *rand.Rand, k int) float64 {
	return min(8, .2*math.Pow(2, float64(k-1))) * (.5 + .5*r.Float64())
}
func full(r *rand.Rand, k int) float64 { return min(8, .2*math.Pow(2, float64(k-1))) * r.Float64() }

// floorFull is a floor of 1 s and full jitter from 200 ms on. From 100 ms on, J
// of the first retries is .048 and straddles the limit until the third.
func floorFull(r *rand.Rand, k int) float64 {
	return 1 + min(8, .2*math.Pow(2, float64(k-1)))*r.Float64()
}

// fires is the rule lockstep of signatures-trial, with z corrected for three scales and
// what the wider ones ask for (the product reads it from rules/signatures).
func fires(h *Herd, group int) bool { return len(firesAt(h, group)) > 0 }

// firesAt tells at which scales it fires.
func firesAt(h *Herd, group int) (at []Scale) {
	r := h.Reading(group)
	if !r.JKnown || r.J >= .05 || r.Clients < 5 {
		return nil
	}
	for s := range Scales {
		c := h.At(group, s)
		wide := s == Instant || r.Clients >= 10 && c.Bins <= 2.5 && c.Share >= .5 && r.MedianGap >= 4*int64(s.Width())
		if wide && c.Z >= 5.21 && c.Rho >= 2.5 && c.Pairs >= 20 && c.Rounds >= 2 {
			at = append(at, s)
		}
	}
	return at
}

// feed runs events through a Herd second by second and calls see after each
// barrier.
func feed(h *Herd, members []Member, events []event, see func(now int64)) {
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	for i, now := 0, BinOf(events[0].at, second)*second; i < len(events); {
		now += second
		for ; i < len(events) && events[i].at < now; i++ {
			e := &events[i]
			s := h.Shard(e.client % len(h.shards))
			if e.attempt == 1 {
				s.First(&members[e.client], e.agent, e.at)
			} else {
				s.Retry(&members[e.client], e.agent, e.attempt, e.at, e.gap)
			}
		}
		h.Barrier(now)
		see(now)
	}
}

func population(events []event) []Member {
	n := 0
	for i := range events {
		n = max(n, events[i].client+1)
	}
	return make([]Member, n)
}

// fired tells whether the rule fires at any tick, for everyone or for agent 1.
func fired(events []event) bool { return firing(events) != "" }

// firing tells what is read where the rule first fires; "" where it never does.
func firing(events []event) (what string) {
	h := NewHerd(2, 8)
	feed(h, population(events), events, func(now int64) {
		for g := range 2 {
			for _, s := range firesAt(h, g) {
				if what == "" {
					what = fmt.Sprintf("after %d s, group %d, within %v: %+v %+v", (now-epoch0)/second, g, s.Width(), h.At(g, s), h.Reading(g))
				}
			}
		}
	})
	return what
}
