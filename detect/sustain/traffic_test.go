package sustain

import (
	"math"
	"math/rand/v2"
)

// traffic is a closed loop of clients and a server, second by second: each
// failed attempt returns after the client's delay until its attempts are used
// up; the server serves what it can and pays cost for each request it refuses.
type traffic struct {
	name     string
	demand   func(t int) float64 // first attempts per second
	capacity float64
	cost     float64 // of a refusal, in useful answers
	attempts int     // at most; 0 without limit
	delay    func(r *rand.Rand, attempt int) float64
	hinted   bool // refusals name a wait and clients keep to it
	errors   float64
	down     func(t int) bool // the server fails everything, with 500 unless refuses
	refuses  bool
	loop     int     // second in which the burst of a genuine loop ends; 0 for harmless kinds
	polite   verdict // whether capacity-not-behaviour shall be found
}

func poisson(r *rand.Rand, mean float64) int {
	if mean > 50 {
		return max(0, int(mean+math.Sqrt(mean)*r.NormFloat64()+.5))
	}
	limit, p := math.Exp(-mean), 1.0
	for n := 0; ; n++ {
		if p *= r.Float64(); p < limit {
			return n
		}
	}
}

// verdict says whether a rule shall fire. Where demand exceeds capacity for some
// seconds only, or clients are impatient as well, either answer is fair.
type verdict int

const (
	never verdict = iota
	always
	either
)

// run returns the seconds of a seeded run.
func (c *traffic) run(seed uint64, length int) []Second {
	r := rand.New(rand.NewPCG(seed, 99))
	due := make([][]int, length+1)
	out := make([]Second, length)
	var gaps []float64
	for t := range length {
		fresh := poisson(r, c.demand(t))
		queue := append([]int(nil), due[t]...)
		for range fresh {
			queue = append(queue, 1)
		}
		r.Shuffle(len(queue), func(i, j int) { queue[i], queue[j] = queue[j], queue[i] })
		served := float64(len(queue))
		if served > c.capacity {
			served = max(0, (c.capacity-c.cost*served)/(1-c.cost))
		}
		down := c.down != nil && c.down(t)
		room := int(served + r.Float64())
		s := Second{At: 1_700_000_000*second + int64(t)*second, Known: true, First: int64(fresh), Attempts: int64(len(queue))}
		for i, k := range queue {
			refused := i >= room || down && c.refuses
			failed := refused || down || r.Float64() < c.errors
			if k == 1 {
				s.FirstEnded++
				s.FirstFailed += count(failed)
				s.FirstRefused += count(refused)
			} else {
				s.Retries++
				s.Impatient += count(!c.hinted && k > 4)
			}
			s.Refused += count(refused)
			s.Failed += count(failed)
			if !failed {
				s.Good++
				continue
			}
			if c.attempts == 0 || k < c.attempts {
				d := c.delay(r, k)
				if len(gaps) < 1000 {
					gaps = append(gaps, d)
				}
				if at := t + max(1, int(math.Ceil(d))); at < length {
					due[at] = append(due[at], k+1)
				}
			}
		}
		s.MedianGap = int64(median(append([]float64(nil), gaps...)) * float64(second))
		out[t] = s
	}
	return out
}

func count(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func oneSecond(*rand.Rand, int) float64 { return 1 }

func fullJitter(r *rand.Rand, k int) float64 {
	return min(30, math.Pow(2, float64(k-1))) * r.Float64()
}

func twoToFour(r *rand.Rand, _ int) float64 { return 2 + 2*r.Float64() }

func flat(rate float64) func(int) float64 { return func(int) float64 { return rate } }

// between is low, and high from second a until second b.
func between(low, high float64, a, b int) func(int) float64 {
	return func(t int) float64 {
		if t >= a && t < b {
			return high
		}
		return low
	}
}

func downBetween(a, b int) func(int) bool { return func(t int) bool { return t >= a && t < b } }

// harmless are the kinds in which no loop may be found.
func harmless() []traffic {
	two := func(t int) float64 {
		if t >= 10 && t < 14 || t >= 24 && t < 28 {
			return 200
		}
		return 60
	}
	sine := func(t int) float64 { return 75 * (1 + .6*math.Sin(2*math.Pi*float64(t)/30)) }
	ramp := func(t int) float64 { return 50 + 4*float64(t) }
	return []traffic{
		{name: "steady", demand: flat(60), capacity: 100, attempts: 3, delay: fullJitter},
		{name: "steady at 5/s", demand: flat(5), capacity: 8, attempts: 3, delay: fullJitter},
		{name: "errors 3 %", demand: flat(60), capacity: 100, attempts: 3, delay: fullJitter, errors: .03},
		{name: "errors 15 %", demand: flat(60), capacity: 100, delay: oneSecond, errors: .15},
		{name: "drain without retries", demand: between(60, 300, 10, 16), capacity: 100, cost: .03, attempts: 1, delay: oneSecond, polite: either},
		{name: "drain, 3 attempts", demand: between(60, 300, 10, 16), capacity: 100, cost: .03, attempts: 3, delay: fullJitter},
		{name: "drain, free refusals", demand: between(60, 300, 10, 14), capacity: 100, delay: oneSecond},
		{name: "drain at 20/s", demand: between(20, 100, 10, 13), capacity: 35, cost: .01, delay: oneSecond},
		{name: "growth", demand: between(60, 122, 20, 1e6), capacity: 100, attempts: 2, delay: twoToFour, hinted: true, polite: always},
		{name: "ramp", demand: ramp, capacity: 110, attempts: 2, delay: twoToFour, hinted: true, polite: always},
		{name: "sine", demand: sine, capacity: 105, attempts: 3, delay: fullJitter, polite: either},
		{name: "sine, all served", demand: sine, capacity: 150, attempts: 3, delay: fullJitter},
		{name: "outage, 500", demand: flat(60), capacity: 100, cost: .03, delay: oneSecond, down: downBetween(12, 22)},
		{name: "outage, 503", demand: flat(60), capacity: 100, cost: .03, delay: oneSecond, down: downBetween(12, 22), refuses: true},
		{name: "503 to the end", demand: flat(60), capacity: 100, delay: oneSecond, down: downBetween(12, 1e6), refuses: true},
		{name: "outage, asked for again by hand", demand: between(60, 130, 12, 14), capacity: 100, delay: oneSecond, down: downBetween(12, 32), refuses: true},
		{name: "outage at 12/s, asked for again by hand", demand: between(12, 28, 12, 13), capacity: 30, attempts: 6, delay: fullJitter, down: downBetween(12, 32)},
		{name: "plateau", demand: between(60, 140, 12, 1e6), capacity: 100, cost: .005, delay: oneSecond, polite: either},
		{name: "served burst", demand: between(60, 140, 12, 18), capacity: 200, attempts: 3, delay: fullJitter},
		{name: "two bursts", demand: two, capacity: 100, cost: .01, attempts: 4, delay: fullJitter},
	}
}

// loops are metastable: after the burst the server is busy refusing retries.
func loops() []traffic {
	return []traffic{
		{name: "60/s, fixed 1 s", demand: between(60, 400, 12, 22), capacity: 100, cost: .04, delay: oneSecond, loop: 22},
		{name: "20/s, fixed 1 s", demand: between(20, 160, 12, 20), capacity: 35, cost: .05, delay: oneSecond, loop: 20},
	}
}

// loopFound is the rule rising-share-after-burst, seconds since the burst's end
// included (signatures-trial; the product reads it from rules/signatures).
func loopFound(r *Reading, now int64) bool {
	return r.Baseline && r.BurstEndAt != 0 && float64(now-r.BurstEndAt)/float64(second) >= r.Hold &&
		r.BurstPeak >= peakRatio*r.Base && r.FreshServed && !r.ServerFault && r.DeficitZ >= 2.33 &&
		r.CapacityKnown && r.AttemptsPerS > 1.1*r.Capacity && r.FailingShare >= .3 &&
		(r.FailingRiseZ >= 3.29 && r.FailingRise >= .05 || r.FailingShare >= .9)
}

// capacityFound is the rule capacity-not-behaviour.
func capacityFound(r *Reading) bool {
	return r.Seconds >= 10 && r.Refusals10 >= 20 && r.FirstRefusedShare >= .05 && r.RefusalShareOfFailures >= .8 &&
		r.CapacityKnown && r.ExceedsCapacity >= 2 && r.Goodput >= .7*r.Capacity && r.RetryShare <= .33 && r.ImpatientShare <= .1
}

// follow runs seconds through a new Machine and calls see after each.
func follow(seconds []Second, see func(t int, r *Reading)) *Machine {
	m := New(Options{})
	for i, s := range seconds {
		m.Tick(s)
		r := m.Reading()
		see(i, &r)
	}
	return m
}
