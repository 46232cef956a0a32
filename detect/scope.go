package detect

import (
	"math"
	"math/bits"

	"stormwatch/capture"
)

// LimitScope is by what a limit counts: whose requests are refused together.
type LimitScope uint8

// Scopes of a limit.
const (
	ScopeUnknown LimitScope = iota
	ScopeAll                // everybody shares it
	ScopeCredential
	ScopeAddress
	ScopeRoute
)

func (s LimitScope) String() string {
	return [...]string{"", "global", "per credential", "per address", "per route"}[s]
}

// Limit is what refusals say of the limit behind them.
type Limit struct {
	Scope           LimitScope // ScopeUnknown: cannot tell
	Or              LimitScope // another that this traffic cannot tell from it; ScopeUnknown none
	Why             string     // the proof in words, or why it cannot be told
	Refused, Served int64      // answers that were looked at
	Gain            float64    // nats by which Scope foretells refusals better than the next
}

// scopes finds out by what a limit counts. Each way of counting foretells every
// outcome from the latest outcomes of the same credential, address or route; the
// way that is least surprised, in sum, is the limit's. Where a value has told
// nothing yet, how everybody fared at such moments stands in for it, so that a way
// of counting that explains nothing gains nothing by its many values (Rissanen's
// predictive minimum description length, 1984).
//
// It works on at most scopeSample answers a second, taken evenly, and only while
// something is refused.
type scopes struct {
	n, refused int64
	codes      [scopeWays]int64 // in 1/1024 nats
	values     [scopeWays]int32 // seen, as far as the table has room
	mood       [scopeMoods]mood
	refusedAt  int64 // the latest refusal
	again      bool  // the latest answer was one
	cells      [scopeWays][scopeCells]scopeCell
	until      int64             // answers are looked at up to then
	left       int64             // answers foretold without a cell of their own, for want of room
	named      [scopeNames]int64 // refusals by what they say that their limit counts by
}

type scopeCell struct {
	key             uint64
	at              int64
	refused, served float32
}

// Ways of counting; the first is that of everybody together.
const (
	wayAll = iota
	wayCredential
	wayAddress
	wayRoute
	scopeWays
)

const (
	scopeCells  = 1024
	scopeValues = scopeCells * 3 / 4 // a fuller table makes a search long
	scopeSample = 256
	scopeAfter  = 10 * tick // looked on for so long after a refusal
	scopeFade   = .6        // of what a value told, with each further answer: a window that is spent refuses, the next one serves
	scopeHalf   = 5e9       // ns after which it counts half
	fewScope    = 25        // refusals, and answers that are none
	scopeGain   = 20.       // nats by which a way must foretell better than none: limits of everybody reach 11 (TestLimitScope)
	scopeTie    = 10.       // nats by which it must be better than another way,
	scopeTieOf  = .2        // or this share of its gain: the second way is often nearly as good
)

// see looks at the outcomes of this second.
func (s *scopes) see(e *engine) {
	outcomes, any := 0, false
	for _, ev := range e.events {
		if !ev.outcome {
			continue
		}
		r := &e.flights.at(ev.flight).rec
		if limited(r) {
			any = true
		}
		outcomes++
	}
	if any {
		s.until = e.now + scopeAfter
	}
	if e.now >= s.until {
		return
	}
	every := (outcomes + scopeSample - 1) / scopeSample
	k := 0
	for _, ev := range e.events {
		if !ev.outcome {
			continue
		}
		if k++; every > 1 && k%every != 0 {
			continue
		}
		if r := &e.flights.at(ev.flight).rec; limited(r) || !r.Failed() && r.Judged() {
			s.add(r)
		}
	}
}

// limited tells whether a limit refused an exchange: a server that has no room
// refuses whoever comes.
func limited(r *record) bool {
	return r.Reason == capture.Throttle || r.Reason == capture.Quota || r.Reason == capture.BodyRefusal
}

func (s *scopes) add(r *record) {
	refused := limited(r)
	s.n++
	if refused {
		s.refused++
		s.named[r.Limit.By]++
	}
	m := &s.mood[s.moment(r.End)]
	base := (m.refused + .5) / (m.refused + m.served + 1)
	m.learn(refused)
	s.after(r.End, refused)
	for way, key := range [scopeWays]uint64{wayAll: 1, wayCredential: r.Credential, wayAddress: hash(3, r.Src.IP[:]), wayRoute: uint64(r.route) + 1} {
		if key == 0 {
			key = 1 // without a credential there is nothing to count by
		}
		c := s.cell(way, key)
		if c == nil {
			s.codes[way] += code(base, refused)
			s.left++
			continue
		}
		s.codes[way] += code(c.foretell(base, r.End), refused)
		c.learn(refused)
	}
}

// cell finds the cell of a value, nil where there is no room for another. Where it
// lies does not show.
func (s *scopes) cell(way int, key uint64) *scopeCell {
	for i := mix(key, mixGolden) % scopeCells; ; i = (i + 1) % scopeCells {
		c := &s.cells[way][i]
		switch {
		case c.key == key:
			return c
		case c.key != 0:
		case s.values[way] >= scopeValues:
			return nil
		default:
			s.values[way]++
			c.key = key
			return c
		}
	}
}

// mood is how often is refused at moments of one kind: what everybody shares of a
// limit shows in how long the latest refusal is past.
type mood struct{ refused, served float64 }

const (
	scopeMoods = 24
	moodFade   = .99
)

func (m *mood) learn(refused bool) {
	m.refused, m.served = m.refused*moodFade, m.served*moodFade
	if refused {
		m.refused++
	} else {
		m.served++
	}
}

// moment tells by octaves of ten milliseconds how long ago the latest refusal was,
// and whether something was served since.
func (s *scopes) moment(now int64) int {
	k := 2 * min(bits.Len64(uint64(max(now-s.refusedAt, 0)/10e6)), scopeMoods/2-1)
	if s.again {
		k++
	}
	return k
}

func (s *scopes) after(now int64, refused bool) {
	if s.again = refused; refused {
		s.refusedAt = now
	}
}

// foretell is the chance of a refusal by what was told before, and by a base as if
// one answer had told that.
func (c *scopeCell) foretell(base float64, now int64) float64 {
	if c.at != 0 && now > c.at {
		f := float32(math.Exp2(-float64(now-c.at) / scopeHalf))
		c.refused, c.served = c.refused*f, c.served*f
	}
	c.at = now
	r, all := float64(c.refused), float64(c.refused)+float64(c.served)
	return min(max((r+base)/(all+1), .005), .995)
}

func (c *scopeCell) learn(refused bool) {
	c.refused, c.served = c.refused*scopeFade, c.served*scopeFade
	if refused {
		c.refused++
	} else {
		c.served++
	}
}

// code is how surprising an outcome is that was foretold with chance p.
func code(p float64, refused bool) int64 {
	if !refused {
		p = 1 - p
	}
	return int64(math.Round(-1024 * math.Log(p)))
}
