package detect

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

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
		case s.values[way] >= scopeCells*3/4:
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

// gain is by how many nats a way of counting foretells better than none.
func (s *scopes) gain(way int) float64 { return float64(s.codes[wayAll]-s.codes[way]) / 1024 }

// ways are the scopes that ways of counting stand for.
var ways = [scopeWays]LimitScope{wayAll: ScopeAll, wayCredential: ScopeCredential, wayAddress: ScopeAddress, wayRoute: ScopeRoute}

// noun names what a way counts by.
func (s LimitScope) noun() string {
	return [...]string{"", "everybody", "credential", "address", "route"}[s]
}

// scopeNames is how many ways of counting answers can name.
const scopeNames = int(capture.ByRoute) + 1

// namedScopes are the scopes that answers name.
var namedScopes = [scopeNames]LimitScope{
	capture.ByAll: ScopeAll, capture.ByCredential: ScopeCredential, capture.ByAddress: ScopeAddress, capture.ByRoute: ScopeRoute,
}

const (
	fewNamed = 5  // refusals that name a scope,
	namedOf  = .8 // and this share of all refusals: others may come from another limit
)

// reading says what the limit counts by, where that shows or is told.
func (s *scopes) reading() Limit {
	l := s.inferred()
	by := capture.ByAll
	for k := by; k <= capture.ByRoute; k++ {
		if s.named[k] > s.named[by] {
			by = k
		}
	}
	n := s.named[by]
	if n < fewNamed || float64(n) < namedOf*float64(s.refused) {
		return l
	}
	told := namedScopes[by]
	says := fmt.Sprintf("%d of %d refusals say that it counts by %s", n, s.refused, told.noun())
	switch {
	case l.Scope == ScopeUnknown && l.Why == "":
		l.Scope, l.Why = told, says
	case l.Scope == ScopeUnknown:
		l.Scope, l.Why = told, says+"; beside that, "+l.Why
	case l.Scope == told || l.Or == told:
		l.Scope, l.Or, l.Why = told, ScopeUnknown, says+", and it shows: "+l.Why
	default:
		l.Or, l.Why = told, l.Why+"; yet "+says
	}
	return l
}

// inferred says what the limit counts by, as far as who is refused foretells who will
// be.
func (s *scopes) inferred() (l Limit) {
	l.Refused, l.Served = s.refused, s.n-s.refused
	if l.Refused < fewScope || l.Served < fewScope {
		switch {
		case l.Refused > 0 && l.Served == 0:
			l.Why = "all requests were refused: nothing to compare with"
		case l.Refused > 0:
			l.Why = fmt.Sprintf("%d refusals and %d answers beside them are too few to tell", l.Refused, l.Served)
		}
		return l
	}
	best := wayCredential
	for way := wayCredential; way < scopeWays; way++ {
		if s.gain(way) > s.gain(best) {
			best = way
		}
	}
	if s.gain(best) < scopeGain {
		return s.everybody(l)
	}
	next := 0.
	for way := wayCredential; way < scopeWays; way++ {
		switch g := s.gain(way); {
		case way == best:
		case g >= scopeGain && s.gain(best)-g < max(scopeTie, scopeTieOf*s.gain(best)):
			if l.Or != ScopeUnknown {
				l.Or, l.Why = ScopeUnknown, "credentials, addresses and routes go together in this traffic"
				return l
			}
			l.Or = ways[way]
		default:
			next = max(next, g)
		}
	}
	l.Scope, l.Gain = ways[best], s.gain(best)-next
	l.Why = fmt.Sprintf("whether one of the %d %s is refused follows from its own last answers, not from those of others", s.values[best], plural(l.Scope))
	return l
}

// everybody says whether it shows that all share one limit: by what credential,
// address and route a request has must be no help, where there are several.
func (s *scopes) everybody(l Limit) Limit {
	var against []string
	least := 0.
	for way := wayCredential; way < scopeWays; way++ {
		if s.values[way] < 2 {
			continue
		}
		if g := s.gain(way); g > -scopeGain {
			l.Why = fmt.Sprintf("whether the %s matters does not show", ways[way].noun())
			return l
		} else if least == 0 || g > least {
			least = g
		}
		against = append(against, ways[way].noun())
	}
	if len(against) == 0 {
		l.Why = "all requests come from one address, by one credential and on one route"
		return l
	}
	l.Scope, l.Gain = ScopeAll, -least
	l.Why = "refusals come to all alike, and knowing the " + strings.Join(against, " or the ") + " foretells them worse than knowing how everybody fares"
	return l
}

func plural(s LimitScope) string {
	if s == ScopeAddress {
		return "addresses"
	}
	return s.noun() + "s"
}
