package chain

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"stormwatch/capture"
)

// ask is a request made on purpose: the truth is known.
type ask struct {
	start, end   float64 // seconds
	op, tmpl     uint64
	addr, cred   uint64
	body, passed uint64 // passed: passed on
	status       uint16
	hint         float64 // seconds; negative: none
	idem         uint64
	counter      capture.Counter
	relay        capture.Attempt
	n            uint16
	lost         bool
	parent       int // index before sorting, -1 none
	attempt      int32
	id           int
}

// traffic is a stream with its truth.
type traffic struct {
	asks []ask
	rng  *rand.Rand
}

func newTraffic(seed uint64) *traffic {
	return &traffic{rng: rand.New(rand.NewPCG(seed, 77))}
}

func (t *traffic) uniform(a, b float64) float64 { return a + (b-a)*t.rng.Float64() }

func (t *traffic) add(a ask) int {
	a.id = len(t.asks)
	t.asks = append(t.asks, a)
	return a.id
}

// plan describes clients that ask for pages and retry.
type plan struct {
	clients, urls int
	perSecond     float64 // logical requests of each client
	fail          float64
	seconds       float64
	wait          func(t *traffic, attempt int, hint float64) float64 // after a failure
	attempts      int
	hint          func(t *traffic) float64
	nat           bool // one address, no credential
	keyed         bool
	pollers       float64 // share of clients that only poll
	parallel      int     // copies sent at once, of 30 % of the requests
	statuses      []uint16
	unique        bool // paths are asked for once
}

func (p plan) run(seed uint64) *traffic {
	t := newTraffic(seed)
	if p.attempts == 0 {
		p.attempts = 4
	}
	for c := range p.clients {
		t.client(&p, c)
	}
	t.sort()
	return t
}

func (t *traffic) client(p *plan, c int) {
	base := ask{addr: uint64(1000 + c), parent: -1, hint: -1}
	if p.nat {
		base.addr = 1000
	}
	if p.keyed {
		base.cred = uint64(5000 + c)
	}
	poll := t.rng.Float64() < p.pollers
	pages := 0
	for at := t.uniform(0, 5); at < p.seconds; {
		a := base
		url := uint64(t.rng.IntN(p.urls))
		copies := 1
		if p.parallel > 1 && t.rng.Float64() < .3 {
			copies = p.parallel
		}
		if poll {
			url, copies = 0, 1
		}
		a.op, a.tmpl = 100+url, 7
		if p.unique {
			pages++
			a.op = uint64(1e6 + c*1e5 + pages)
		}
		for range copies {
			t.logical(p, a, at, poll)
		}
		if poll {
			at += 5 + t.uniform(-.05, .05)
		} else {
			at += t.rng.ExpFloat64() / p.perSecond
		}
	}
}

// logical adds a request and its retries.
func (t *traffic) logical(p *plan, a ask, at float64, poll bool) {
	for k := 1; k <= p.attempts; k++ {
		a.start, a.end, a.attempt, a.status, a.hint = at, at+t.uniform(.02, .08), int32(k), 200, -1
		bad := t.rng.Float64() < p.fail
		if bad {
			a.status = 503
			if len(p.statuses) > 0 {
				a.status = p.statuses[t.rng.IntN(len(p.statuses))]
			}
			if p.hint != nil {
				a.hint = p.hint(t)
			}
		}
		a.parent = t.add(a)
		if !bad || poll {
			return
		}
		at = a.end + p.wait(t, k, a.hint)
	}
}

func (t *traffic) sort() {
	slices.SortStableFunc(t.asks, func(a, b ask) int { return cmp.Compare(a.start, b.start) })
}

// Retry policies.
func fixedTimer(t *traffic, _ int, _ float64) float64 { return 1 + t.rng.ExpFloat64()*.01 }

func doubling(t *traffic, k int, _ float64) float64 {
	return math.Exp2(float64(k-1)) + t.rng.ExpFloat64()*.01
}

func quarterJitter(t *traffic, k int, _ float64) float64 {
	return min(8, .5*math.Exp2(float64(k-1)))*t.uniform(.75, 1) + t.rng.ExpFloat64()*.01
}

func fullJitter(t *traffic, k int, _ float64) float64 {
	return t.uniform(0, min(20, math.Exp2(float64(k-1)))) + t.rng.ExpFloat64()*.01
}

func obeysHint(t *traffic, _ int, hint float64) float64 { return hint + t.rng.ExpFloat64()*.01 }

const epoch = 1_700_000_000

func nanos(s float64) int64 { return epoch*second + int64(s*1e9) }

// counts tells the client's own number from a proxy's.
func (a *ask) counts() (own, relay capture.Attempt) {
	if a.counter.Proxy() {
		return own, capture.Attempt{N: a.n, Counter: a.counter}
	}
	return capture.Attempt{N: a.n, Counter: a.counter}, a.relay
}

func (a *ask) request(seq uint64) Request {
	own, relay := a.counts()
	return Request{
		Seq: seq, Start: nanos(a.start), Op: mix(a.op, 1), Template: mix(a.tmpl, 2), Addr: a.addr, IP: a.addr, Cred: a.cred,
		Client: uint32(a.addr), Idem: a.idem, Body: a.body, ID: a.passed, Counter: own.Counter, N: own.N, Relay: relay,
	}
}

func (a *ask) result(seq uint64, l Link) Result {
	own, relay := a.counts()
	r := Result{
		Seq: seq, Op: mix(a.op, 1), Addr: a.addr, Cred: a.cred, Start: nanos(a.start), End: nanos(a.end), Status: a.status,
		Reason: capture.ReasonOf(a.status), Failed: a.status >= 400 || a.lost, Link: l, Client: uint32(a.addr), Idem: a.idem, Body: a.body, ID: a.passed,
		Counter: own.Counter, N: own.N, Relay: relay, Template: mix(a.tmpl, 2), IP: a.addr,
	}
	r.Hint.State = capture.Absent
	if a.hint >= 0 {
		r.Hint = capture.Hint{State: capture.Present, Kind: capture.RetryAfterSeconds, Wait: int64(a.hint * 1e9)}
	}
	if a.lost {
		r.Outcome, r.Status = capture.NoAnswer, 0
	}
	return r
}

// player feeds traffic to a Set as the engine does: second by second, each shard
// its own events, a barrier after each.
type player struct {
	set   *Set
	asks  []ask
	links []Link
	order []mark // requests and outcomes in event-time order
	next  int
	now   int64
}

type mark struct {
	at      int64
	ask     int
	outcome bool
}

func play(o Options, asks []ask) *player {
	p := &player{set: NewSet(o), asks: asks, links: make([]Link, len(asks)), now: epoch * second}
	for i := range asks {
		p.order = append(p.order, mark{nanos(asks[i].start), i, false}, mark{nanos(asks[i].end), i, true})
	}
	// At one moment an answer that took time comes first; then each request, with
	// its answer if that takes no time.
	rank := func(m mark) int {
		if a := &asks[m.ask]; m.outcome && a.end > a.start {
			return -1
		}
		return m.ask
	}
	slices.SortStableFunc(p.order, func(a, b mark) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(rank(a), rank(b)))
	})
	return p
}

// run plays up to a moment, or to the end if it is 0.
func (p *player) run(until float64) *player {
	for p.next < len(p.order) && (until == 0 || p.now < nanos(until)) {
		to := p.next
		for to < len(p.order) && p.order[to].at < p.now+second {
			to++
		}
		for s := range p.set.shards {
			m := p.set.Shard(s)
			for _, e := range p.order[p.next:to] {
				a := &p.asks[e.ask]
				if p.set.ShardOf(mix(a.op, 1)) != s {
					continue
				}
				if e.outcome {
					r := a.result(uint64(e.ask+1), p.links[e.ask])
					m.Outcome(&r)
				} else {
					r := a.request(uint64(e.ask + 1))
					p.links[e.ask] = m.Request(&r)
				}
			}
		}
		p.next = to
		p.now += second
		p.set.Barrier(p.now)
	}
	return p
}

// score compares links with the truth.
type score struct {
	right, wrong, missed int
	retries, found       int
	soft                 float64
	exact, all           int
	surest, sureRight    int // confidence of .9 or more
}

func (p *player) score() (s score) {
	at := make([]int, len(p.asks)) // id to position
	for i := range p.asks {
		at[p.asks[i].id] = i
	}
	// A retry's parent field holds the id of the attempt before, which asks keep as
	// the last id added for the logical request; the first has none.
	for i := range p.asks {
		a, l := &p.asks[i], &p.links[i]
		truth := uint64(0)
		if a.attempt > 1 {
			truth = uint64(at[a.parent] + 1)
			s.retries++
		}
		s.soft += float64(l.Retry) / 65535
		s.all++
		if l.Attempt == a.attempt {
			s.exact++
		}
		if l.Parent != 0 {
			s.found++
		}
		switch {
		case l.Parent != 0 && l.Parent == truth:
			s.right++
		case l.Parent != 0:
			s.wrong++
		}
		if truth != 0 && l.Parent != truth {
			s.missed++
		}
		if l.Parent != 0 && l.Confidence >= .9 {
			s.surest++
			if l.Parent == truth {
				s.sureRight++
			}
		}
	}
	return s
}

func (s score) f1() float64 {
	if s.right == 0 {
		return 0
	}
	return 2 * float64(s.right) / float64(2*s.right+s.wrong+s.missed)
}

func (s score) exactShare() float64 { return float64(s.exact) / float64(s.all) }

func (s score) calibration() float64 { return float64(s.sureRight) / max(1, float64(s.surest)) }

func (s score) log(t *testing.T, name string) {
	t.Helper()
	t.Logf("%-40s pair F1 %.3f  attempt exact %.3f  retries found %d of %d, expected %.0f; sure %d, right %.3f", name, s.f1(), s.exactShare(), s.found, s.retries, s.soft, s.surest, s.calibration())
}

func (s *score) add(o score) {
	s.right += o.right
	s.wrong += o.wrong
	s.missed += o.missed
	s.retries += o.retries
	s.found += o.found
	s.soft += o.soft
	s.exact += o.exact
	s.all += o.all
	s.surest += o.surest
	s.sureRight += o.sureRight
}
