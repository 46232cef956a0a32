package sim

import (
	"math/rand/v2"
	"net/netip"
	"time"
)

// verdict is what a server decides about a request when it arrives.
type verdict struct {
	refused bool
	done    int64         // end of service, or when the refusal may be written
	free    time.Duration // of a refusal: until a slot comes free
	quota   quota         // where it counts requests
}

// backend admits requests; arrivals come in time order.
type backend interface {
	admit(at int64) verdict
}

// newLimiter makes the limiter of one scope.
func newLimiter(spec *Limiter, rng *rand.Rand) backend {
	switch spec.Kind {
	case "fixed-window":
		return &fixedWindow{Limiter: spec, rng: rng}
	case "token-bucket":
		return &tokenBucket{Limiter: spec, rng: rng, tokens: float64(spec.Burst)}
	case "concurrency":
		return &concurrency{Limiter: spec, rng: rng}
	}
	return &slidingLog{Limiter: spec, rng: rng}
}

// slidingLog keeps the moments of the requests that use the window, oldest first.
type slidingLog struct {
	*Limiter
	log []int64
	rng *rand.Rand
}

func (l *slidingLog) admit(at int64) verdict {
	old := 0
	for old < len(l.log) && l.log[old] <= at-int64(l.Window) {
		old++
	}
	l.log = l.log[old:]
	granted := len(l.log) < l.Limit
	if granted || l.CountRefused {
		l.log = append(l.log, at)
	}
	v := verdict{refused: !granted, done: at, quota: quota{limit: l.Limit, left: max(l.Limit-len(l.log), 0)}}
	if len(l.log) > 0 {
		v.quota.reset = time.Duration(l.log[0] + int64(l.Window) - at)
	}
	if granted {
		v.done += around(l.Service, l.rng)
		return v
	}
	// A slot is free once fewer than Limit entries are left in the window.
	v.free = time.Duration(l.log[len(l.log)-l.Limit] + int64(l.Window) - at)
	return v
}

// fixedWindow counts between multiples of the window.
type fixedWindow struct {
	*Limiter
	window int64 // ordinal of the window that used belongs to
	used   int
	rng    *rand.Rand
}

func (l *fixedWindow) admit(at int64) verdict {
	if w := at / int64(l.Window); w != l.window {
		l.window, l.used = w, 0
	}
	granted := l.used < l.Limit
	if granted || l.CountRefused {
		l.used++
	}
	free := time.Duration((l.window+1)*int64(l.Window) - at)
	v := verdict{refused: !granted, done: at, free: free, quota: quota{limit: l.Limit, left: max(l.Limit-l.used, 0), reset: free}}
	if granted {
		v.done += around(l.Service, l.rng)
	}
	return v
}

// tokenBucket fills evenly: Limit tokens in a Window, at most Burst. With
// CountRefused a refusal takes a token as well, down to a debt of Burst.
type tokenBucket struct {
	*Limiter
	tokens float64
	last   int64
	rng    *rand.Rand
}

func (l *tokenBucket) admit(at int64) verdict {
	rate := float64(l.Limit) / float64(l.Window) // tokens in a nanosecond
	l.tokens = min(l.tokens+rate*float64(at-l.last), float64(l.Burst))
	l.last = at
	granted := l.tokens >= 1
	if granted || l.CountRefused {
		l.tokens = max(l.tokens-1, -float64(l.Burst))
	}
	full := time.Duration((float64(l.Burst) - l.tokens) / rate)
	v := verdict{refused: !granted, done: at, quota: quota{limit: l.Burst, left: int(max(l.tokens, 0)), reset: full}}
	if granted {
		v.done += around(l.Service, l.rng)
		return v
	}
	v.free = time.Duration((1 - l.tokens) / rate)
	return v
}

// concurrency bounds how many requests are in service.
type concurrency struct {
	*Limiter
	ends []int64 // of those in service
	rng  *rand.Rand
}

func (l *concurrency) admit(at int64) verdict {
	busy, next := l.ends[:0], int64(0)
	for _, end := range l.ends {
		if end > at {
			busy = append(busy, end)
			if next == 0 || end < next {
				next = end
			}
		}
	}
	l.ends = busy
	v := verdict{refused: len(busy) >= l.Limit, done: at}
	if v.refused {
		v.free = time.Duration(next - at)
	} else {
		v.done += around(l.Service, l.rng)
		l.ends = append(l.ends, v.done)
	}
	v.quota = quota{limit: l.Limit, left: max(l.Limit-len(l.ends), 0), reset: v.free}
	return v
}

// scope is whose requests share a limiter; the zero value is everybody's.
type scope struct {
	key   string
	addr  netip.Addr
	route string
}

// scoped keeps a limiter for each scope.
type scoped struct {
	spec *Limiter
	of   map[scope]backend
	rng  *rand.Rand
}

func (s *scoped) admit(q *request) verdict {
	var who scope
	switch s.spec.Scope {
	case "key":
		who.key = q.key
	case "address":
		who.addr = q.addr
	case "route":
		who.route = q.route
	}
	b := s.of[who]
	if b == nil {
		b = newLimiter(s.spec, s.rng)
		s.of[who] = b
	}
	return b.admit(q.at)
}

// around draws uniformly from half to one and a half of the mean: service times
// that vary, though never so far that a short run misses its rate.
func around(mean time.Duration, rng *rand.Rand) int64 {
	if mean <= 0 {
		return 0
	}
	return int64(mean)/2 + rng.Int64N(int64(mean)+1)
}
