package sim

import (
	"math/rand/v2"
	"time"
)

// workers is the first-come first-served station of a Capacity. Since service
// times are drawn on arrival, start and end are known at once.
type workers struct {
	frees   []int64 // when each worker comes free
	waiting []int64 // when those in the queue will start, in order
	queue   int
	service time.Duration // mean
	reject  time.Duration // of a worker's time
	rng     *rand.Rand
}

// maxBacklog bounds the work that refusals heap upon a worker: a kernel drops
// connections long before an unbounded heap of them is there.
const maxBacklog = 5 * time.Second

func newWorkers(c *Capacity, rng *rand.Rand) *workers {
	service := time.Duration(float64(c.Workers) / c.Rate * float64(time.Second))
	return &workers{frees: make([]int64, c.Workers), queue: c.Queue, service: service, reject: c.RejectCost, rng: rng}
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
			return w.refuse(at, start, next)
		}
		w.waiting = append(w.waiting, start)
	}
	w.frees[next] = start + around(w.service, w.rng)
	return verdict{done: w.frees[next]}
}

// refuse charges a worker for the refusal, which is written before its work is
// done: what waits already keeps its place, what comes later finds less capacity.
func (w *workers) refuse(at, start int64, worker int) verdict {
	if w.reject > 0 && start-at < int64(maxBacklog) {
		w.frees[worker] += int64(w.reject)
	}
	return verdict{refused: true, done: at, free: time.Duration(start - at)}
}
