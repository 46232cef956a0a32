package sim

import (
	"math/rand/v2"
	"time"
)

// verdict is what a server decides about a request when it arrives.
type verdict struct {
	refused bool
	done    int64 // end of service of a granted request
	free    time.Duration
}

// backend admits requests; arrivals come in time order.
type backend interface {
	admit(at int64) verdict
}

// answer is what the server sends back.
type answer struct {
	status uint16
	done   int64
	wait   int64 // seconds, where hinted
	hinted bool
}

// front is the server of a run: a backend and what it says to those it refuses.
type front struct {
	backend backend
	status  uint16
	hint    Hint
	refusal time.Duration
	rng     *rand.Rand
}

func newFront(s *Server, rng *rand.Rand) *front {
	f := &front{status: 429, hint: s.Hint, refusal: s.Refusal, rng: rng}
	if s.Limiter != nil {
		f.backend = &limiter{Limiter: *s.Limiter, rng: rng}
		return f
	}
	f.status = uint16(s.Capacity.Refuse)
	f.backend = newWorkers(s.Capacity, rng)
	return f
}

func (f *front) answer(at int64) answer {
	v := f.backend.admit(at)
	if !v.refused {
		return answer{status: 200, done: v.done}
	}
	a := answer{status: f.status, done: at + around(f.refusal, f.rng)}
	a.wait, a.hinted = f.hint.seconds(v.free, f.rng)
	return a
}

// limiter is the sliding-window log of a Limiter: the moments of the requests
// that use the window, oldest first.
type limiter struct {
	Limiter
	log []int64
	rng *rand.Rand
}

func (l *limiter) admit(at int64) verdict {
	old := 0
	for old < len(l.log) && l.log[old] <= at-int64(l.Window) {
		old++
	}
	l.log = l.log[old:]
	if len(l.log) < l.Limit {
		l.log = append(l.log, at)
		return verdict{done: at + around(l.Service, l.rng)}
	}
	if l.CountRefused {
		l.log = append(l.log, at)
	}
	// A slot is free once fewer than Limit entries are left in the window.
	frees := l.log[len(l.log)-l.Limit] + int64(l.Window)
	return verdict{refused: true, free: time.Duration(frees - at)}
}

// workers is the first-come first-served station of a Capacity. Since service
// times are drawn on arrival, start and end are known at once.
type workers struct {
	frees   []int64 // when each worker comes free
	waiting []int64 // when those in the queue will start, in order
	queue   int
	service time.Duration // mean
	rng     *rand.Rand
}

func newWorkers(c *Capacity, rng *rand.Rand) *workers {
	service := time.Duration(float64(c.Workers) / c.Rate * float64(time.Second))
	return &workers{frees: make([]int64, c.Workers), queue: c.Queue, service: service, rng: rng}
}

func (w *workers) admit(at int64) verdict {
	begun := 0
	for begun < len(w.waiting) && w.waiting[begun] <= at {
		begun++
	}
	w.waiting = w.waiting[begun:]
	next := 0
	for i, free := range w.frees {
		if free < w.frees[next] {
			next = i
		}
	}
	start := max(at, w.frees[next])
	if start > at {
		if len(w.waiting) >= w.queue {
			return verdict{refused: true, free: time.Duration(start - at)}
		}
		w.waiting = append(w.waiting, start)
	}
	w.frees[next] = start + around(w.service, w.rng)
	return verdict{done: w.frees[next]}
}

// around draws uniformly from half to one and a half of the mean: service times
// that vary, though never so far that a short run misses its rate.
func around(mean time.Duration, rng *rand.Rand) int64 {
	if mean <= 0 {
		return 0
	}
	return int64(mean)/2 + rng.Int64N(int64(mean)+1)
}
