package main

import (
	"container/heap"
	"math/rand/v2"
	"net/netip"
	"time"
)

// The service, and what is asked of it. In calm all is served. In the middle, a
// job starts on thousands of clients at the same moment, again and again; what
// its limiter refuses comes back together every second: a retry storm in step.
const (
	capacity  = 1000 // served per second
	burst     = 100  // tokens of its limiter
	demand    = 600  // first attempts per second, all the time
	jobFrom   = 0.40 // of the exchanges
	jobUntil  = 0.60
	jobEvery  = 20 * time.Second
	jobSize   = 3000 // clients, or a sixth of all
	jobSpread = 30 * time.Millisecond
	attempts  = 12 // of one request at most
	paths     = 20_000
)

// start is 2026-03-02 03:00:00 UTC.
const start = int64(1772420400) * int64(time.Second)

// exchange is one request and its answer.
type exchange struct {
	start, end int64 // Unix ns
	client     int
	path       int
	attempt    int
	status     int
}

// traffic yields exchanges in the order in which they start.
type traffic struct {
	left, total int
	clients     int
	rng         *rand.Rand
	zipf        *rand.Zipf
	fresh       int64 // when the next first attempt comes
	job         int64 // when the next job starts, in the middle
	jobs        int
	later       queue // retries, and the first attempts of a job
	tokens      float64
	refilled    int64
}

func newTraffic(n, clients int, seed uint64) *traffic {
	rng := rand.New(rand.NewPCG(seed, 0x57_0a_4d))
	return &traffic{
		left: n, total: n, clients: clients, rng: rng, fresh: start, refilled: start, tokens: burst,
		zipf: rand.NewZipf(rng, 1.1, 1, uint64(clients-1)),
	}
}

// next returns the next exchange, or false at the end.
func (t *traffic) next() (exchange, bool) {
	if t.left == 0 {
		return exchange{}, false
	}
	if t.fresh >= t.job && t.storming() {
		t.startJob()
	}
	var x exchange
	if len(t.later) > 0 && t.later[0].start <= t.fresh {
		x = heap.Pop(&t.later).(exchange)
	} else {
		x = exchange{start: t.fresh, client: t.client(), path: t.rng.IntN(paths), attempt: 1}
		t.fresh += int64(t.rng.ExpFloat64() * float64(time.Second) / demand)
	}
	t.left--
	t.serve(&x)
	if x.status == 429 && x.attempt < attempts {
		heap.Push(&t.later, exchange{start: x.end + t.wait(&x), client: x.client, path: x.path, attempt: x.attempt + 1})
	}
	return x, true
}

// storming tells whether this is the middle.
func (t *traffic) storming() bool {
	done := 1 - float64(t.left)/float64(t.total)
	return done >= jobFrom && done < jobUntil
}

// startJob makes many batch clients send a request at the same moment.
func (t *traffic) startJob() {
	size := min(jobSize, t.clients/6+1)
	for i := range size {
		t.later = append(t.later, exchange{
			start:  t.fresh + t.rng.Int64N(int64(jobSpread)),
			client: 3 * ((t.jobs*size + i) % (t.clients/3 + 1)) % t.clients, path: t.rng.IntN(paths), attempt: 1,
		})
	}
	heap.Init(&t.later)
	t.job = t.fresh + int64(jobEvery)
	t.jobs++
}

// client draws who sends a request: half of the traffic comes from the busy few,
// half from everybody alike.
func (t *traffic) client() int {
	if t.rng.IntN(2) == 0 {
		return int(t.zipf.Uint64())
	}
	return t.rng.IntN(t.clients)
}

// serve answers an exchange by a token bucket; a refusal is quick.
func (t *traffic) serve(x *exchange) {
	t.tokens = min(burst, t.tokens+float64(x.start-t.refilled)*capacity/float64(time.Second))
	t.refilled = x.start
	took := time.Millisecond + time.Duration(t.rng.Int64N(int64(time.Millisecond)))
	x.status = 429
	if t.tokens >= 1 {
		t.tokens--
		x.status = 200
		took = 5*time.Millisecond + time.Duration(t.rng.ExpFloat64()*float64(20*time.Millisecond))
	}
	x.end = x.start + int64(took)
}

// wait is how long a client waits after a refusal: batch clients a second each
// time, without jitter; the others full jitter below a doubling ceiling.
func (t *traffic) wait(x *exchange) int64 {
	if batch(x.client) {
		return int64(time.Second)
	}
	return t.rng.Int64N(int64(time.Second) << min(x.attempt, 5))
}

// batch tells the clients that retry in step: a third of them.
func batch(client int) bool { return client%3 == 0 }

// agentOf names the program of a client.
func agentOf(client int) string {
	switch {
	case batch(client):
		return "batch-sync/1.4 (+https://example.com/batch) python-requests/2.32.3"
	case client%3 == 1:
		return "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0 Safari/537.36"
	}
	return "shop-app/3.1 (iOS 19.2; iPhone17,3) CFNetwork/3826.400.120 Darwin/25.2.0"
}

// addressOf is the address of a client: 10.0.0.0/8 in order.
func addressOf(client int) netip.Addr {
	n := client + 1
	return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
}

// queue orders retries by their start.
type queue []exchange

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].start < q[j].start }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(exchange)) }
func (q *queue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}
