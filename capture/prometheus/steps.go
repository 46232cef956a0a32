package prometheus

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"stormwatch/capture"
)

// steps turns series into one Tally a step. It remembers, from one answer to the
// next, which series there were, so that reading live gives what a saved answer
// over the same range gives.
type steps struct {
	ms     int64 // width of a step
	coded  bool  // the series carry a status code
	classy bool  // some carry only its class
	health *capture.Health
	seen   map[string]sighting
	rest   [kinds]float64 // parts of a request, carried to the next step
}

// sighting is the last sample of a series.
type sighting struct {
	ms   int64
	busy bool // its rate was above 0
}

// staleness is how long a series that had traffic may be missing and yet be
// counted as missing; after that it has ended (a server restarted) and is 0.
// Prometheus uses the same time, its lookback delta.
const staleness = int64(5 * time.Minute / time.Millisecond)

// absurd bounds the requests of a sample: a step of maxSeries such samples is
// still counted exactly by a float64.
const absurd = 1 << 40

const missing = "another series has no sample at this step"

func newSteps(ms int64, h *capture.Health) *steps {
	h.Unit, h.Resolution = "samples", ms*int64(time.Millisecond)
	return &steps{ms: ms, health: h, seen: map[string]sighting{}}
}

// point is one sample with the series it is of.
type point struct {
	ms     int64
	v      float64
	series int
	bad    bool
}

// tallies gives the steps of an answer in the order of time.
func (s *steps) tallies(all []series, coded bool) []capture.Tally {
	s.coded = s.coded || coded
	var points []point
	for i, one := range all {
		for _, p := range one.samples {
			s.health.Read++
			if p.bad {
				s.health.Skip(`not a [time, "value"] pair`, one.key)
				continue
			}
			points = append(points, point{p.ms, p.v, i, !s.usable(p, one.key)})
		}
	}
	slices.SortStableFunc(points, func(a, b point) int {
		return cmp.Or(cmp.Compare(a.ms, b.ms), cmp.Compare(a.series, b.series))
	})
	var out []capture.Tally
	for len(points) > 0 {
		n := 1
		for n < len(points) && points[n].ms == points[0].ms {
			n++
		}
		if t, ok := s.step(points[:n], all); ok {
			out = append(out, t)
		}
		s.forget(points[0].ms)
		points = points[n:]
	}
	return out
}

// forget drops the series that have ended by ms; it bounds what is remembered.
func (s *steps) forget(ms int64) {
	if len(s.seen) > maxSeries {
		maps.DeleteFunc(s.seen, func(_ string, at sighting) bool { return at.ms <= ms-staleness })
	}
}

func (s *steps) usable(p sample, key string) bool {
	switch {
	case math.IsNaN(p.v):
		s.health.Skip("not a number (NaN or stale)", key)
	case math.IsInf(p.v, 0):
		s.health.Skip("infinite", key)
	case p.v < 0:
		s.health.Skip("negative, which no rate is", key)
	case p.v*float64(s.ms)/1000 > absurd:
		s.health.Skip("more requests than can be", key)
	default:
		return true
	}
	return false
}

// step sums the samples of one moment.
func (s *steps) step(points []point, all []series) (capture.Tally, bool) {
	ms := points[0].ms
	var sum [kinds]float64
	n, complete := uint64(0), true
	last := -1
	for _, p := range points {
		one := &all[p.series]
		switch {
		case p.bad:
			complete = false
			continue
		case p.series == last:
			s.health.Skip("a second sample of one moment", one.key)
			continue
		}
		last = p.series
		n++
		sum[one.kind] += p.v
		s.seen[one.key] = sighting{ms, p.v > 0}
		s.classy = s.classy || one.kind == class
	}
	if !complete || s.lacks(ms) {
		for range n {
			s.health.Skip(missing, "")
		}
		return capture.Tally{}, false
	}
	s.health.Used += n
	return s.tally(ms, &sum), true
}

// lacks tells whether a series that had traffic a moment ago has no sample now:
// then the sums of this step are too small.
func (s *steps) lacks(ms int64) bool {
	for _, at := range s.seen {
		if at.busy && at.ms < ms && at.ms > ms-staleness {
			return true
		}
	}
	return false
}

func (s *steps) tally(ms int64, sum *[kinds]float64) capture.Tally {
	var n [kinds]int64
	for k := range sum {
		whole := sum[k]*float64(s.ms)/1000 + s.rest[k]
		// A rate such as 0.7/s times 10 s must give 7, not 6.999...
		n[k] = int64(math.Floor(whole + 1e-9))
		s.rest[k] = whole - float64(n[k])
	}
	end := ms * int64(time.Millisecond)
	t := capture.Tally{Start: end - s.ms*int64(time.Millisecond), End: end}
	t.Attempts = known(n[other] + n[good] + n[refused] + n[failed] + n[class])
	if !s.coded {
		return t
	}
	t.OK = known(n[good])
	t.Failed = known(n[refused] + n[failed] + n[class])
	if !s.classy {
		t.Refused = known(n[refused])
	}
	return t
}

func known(n int64) capture.Count { return capture.Count{N: n, Known: true} }

// stepOf finds the width of an answer's steps: its times are multiples of it
// apart, whatever is missing between them.
func stepOf(all []series) (int64, error) {
	var times []int64
	for _, one := range all {
		for _, p := range one.samples {
			if !p.bad {
				times = append(times, p.ms)
			}
		}
	}
	slices.Sort(times)
	times = slices.Compact(times)
	if len(times) < 2 {
		return 0, errors.New("fewer than two moments: save an answer over a range, with a step")
	}
	divisor, least := int64(0), int64(math.MaxInt64)
	for i := 1; i < len(times); i++ {
		d := times[i] - times[i-1]
		least = min(least, d)
		for divisor, d = d, divisor; d != 0; {
			divisor, d = d, divisor%d
		}
	}
	const holes = 10 // steps missing between any two samples: more is another cause
	if least > holes*divisor {
		return 0, errors.New("its times lie on no common step: save an answer of /api/v1/query_range")
	}
	return divisor, nil
}
