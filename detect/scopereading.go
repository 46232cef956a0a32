package detect

import (
	"fmt"
	"strings"

	"stormwatch/capture"
)

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

// reading says what the limit counts by, and why, where that shows or is told.
func (s *scopes) reading() Limit {
	l := s.inferred()
	l.Why = s.why(&l)
	by, n := s.mostNamed()
	if n == 0 {
		return l
	}
	says := fmt.Sprintf("%d of %d refusals say that it counts by %s", n, s.refused, by.noun())
	switch {
	case l.Scope == ScopeUnknown && l.Why == "":
		l.Scope, l.Why = by, says
	case l.Scope == ScopeUnknown:
		l.Scope, l.Why = by, says+"; beside that, "+l.Why
	case l.Scope == by || l.Or == by:
		l.Scope, l.Or, l.Why = by, ScopeUnknown, says+", and it shows: "+l.Why
	default:
		l.Or, l.Why = by, l.Why+"; yet "+says
	}
	return l
}

// told is the scope of a reading, without its words.
func (s *scopes) told() LimitScope {
	l := s.inferred()
	if by, n := s.mostNamed(); n > 0 && (l.Scope == ScopeUnknown || l.Or == by) {
		return by
	}
	return l.Scope
}

// mostNamed is the scope that nearly all refusals name, and how many do; 0 where that
// is not so.
func (s *scopes) mostNamed() (scope LimitScope, n int64) {
	by := capture.ByAll
	for k := by; k <= capture.ByRoute; k++ {
		if s.named[k] > s.named[by] {
			by = k
		}
	}
	if n = s.named[by]; n < fewNamed || float64(n) < namedOf*float64(s.refused) {
		return ScopeUnknown, 0
	}
	return namedScopes[by], n
}

// inferred says what the limit counts by, as far as who is refused foretells who will
// be; it has no words.
func (s *scopes) inferred() (l Limit) {
	l.Refused, l.Served = s.refused, s.n-s.refused
	if l.few() {
		return l
	}
	best := s.best()
	if s.gain(best) < scopeGain {
		if gain, doubt := s.everybody(); doubt == wayAll && gain > 0 {
			l.Scope, l.Gain = ScopeAll, gain
		}
		return l
	}
	next := 0.
	for way := wayCredential; way < scopeWays; way++ {
		switch g := s.gain(way); {
		case way == best:
		case g >= scopeGain && s.gain(best)-g < max(scopeTie, scopeTieOf*s.gain(best)):
			if l.Or != ScopeUnknown {
				l.Or = ScopeUnknown
				return l
			}
			l.Or = ways[way]
		default:
			next = max(next, g)
		}
	}
	l.Scope, l.Gain = ways[best], s.gain(best)-next
	return l
}

// few tells whether there is too little to read.
func (l *Limit) few() bool { return l.Refused < fewScope || l.Served < fewScope }

// best is the way of counting, save none, that foretells best.
func (s *scopes) best() int {
	best := wayCredential
	for way := best + 1; way < scopeWays; way++ {
		if s.gain(way) > s.gain(best) {
			best = way
		}
	}
	return best
}

// everybody tells by how much counting by credential, address and route, where there
// are several, is worse than none, and which of them may matter yet; wayAll is none.
func (s *scopes) everybody() (gain float64, doubt int) {
	for way := wayCredential; way < scopeWays; way++ {
		if s.values[way] < 2 {
			continue
		}
		g := s.gain(way)
		if g > -scopeGain {
			return 0, way
		}
		if gain == 0 || -g < gain {
			gain = -g
		}
	}
	return gain, wayAll
}

// why gives the proof of a reading in words, or what it lacks.
func (s *scopes) why(l *Limit) string {
	switch {
	case l.few() && l.Refused == 0:
		return ""
	case l.few() && l.Served == 0:
		return "all requests were refused: nothing to compare with"
	case l.few():
		return fmt.Sprintf("%d refusals and %d answers beside them are too few to tell", l.Refused, l.Served)
	case l.Scope == ScopeAll:
		return "by " + s.several() + " refusals are foretold worse than for everybody together"
	case l.Scope != ScopeUnknown:
		return fmt.Sprintf("of %d %s, what one was last answered foretells what it is answered next", s.values[s.best()], plural(l.Scope))
	case s.gain(s.best()) >= scopeGain:
		return "credentials, addresses and routes go together in this traffic"
	}
	if _, doubt := s.everybody(); doubt != wayAll {
		return fmt.Sprintf("whether the %s matters does not show", ways[doubt].noun())
	}
	return "all requests come from one address, by one credential and on one route"
}

// several names the ways of counting by which requests differ.
func (s *scopes) several() string {
	var differ []string
	for way := wayCredential; way < scopeWays; way++ {
		if s.values[way] >= 2 {
			differ = append(differ, ways[way].noun())
		}
	}
	return strings.Join(differ, " or ")
}

func plural(s LimitScope) string {
	if s == ScopeAddress {
		return "addresses"
	}
	return s.noun() + "s"
}
