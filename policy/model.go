package policy

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Evidence scores a wait by models. Most are policies of the catalogue, those
// that wait alike before their first four retries being one model. The others
// have no parameters of their own: a person, and families whose next wait
// follows from the one before whatever their base is, so that a policy nobody
// has catalogued is not taken for the catalogued one that resembles it most.
const (
	alike   = 4 // retries over which members of a model wait alike
	retries = 10
	general = 7
	// maxModels bounds what an Evidence has room for.
	maxModels = 46
)

// The general models.
const (
	sameWait    = iota // every wait is the one before
	twiceWait          // every wait is twice the one before
	otherGrowth        // 1.5 times or thrice
	linearWait         // n/(n-1) times
	looseSame          // as sameWait, up to a jitter of a few tenths
	looseTwice         // as twiceWait, likewise
	anyTwice           // as twiceWait, times the ratio of two uniform draws
)

var generalFamilies = [general]string{Fixed, Exponential, Exponential, Linear, ScaledJitter, ScaledJitter, FullJitter}

// model is one or more policies that wait alike.
type model struct {
	family  string
	members []Policy
}

// spans are those of the members together; beyond retry alike they may differ.
func (m *model) spans(n int) (all []span) {
	for _, p := range m.members {
		for _, s := range p.spans(n) {
			s.weight /= float64(len(m.members))
			all = append(all, s)
		}
	}
	return all
}

// scorer holds the models and, made when first needed, their tables.
type scorer struct {
	models []model
	tables [classes][retries]lazy[table]
	ratios [classes]lazy[ratios]
}

// lazy makes a value when it is first asked for.
type lazy[T any] struct {
	value atomic.Pointer[T]
	once  sync.Once
}

func (l *lazy[T]) get(build func() *T) *T {
	l.once.Do(func() { l.value.Store(build()) })
	return l.value.Load()
}

// catalogued is the scorer of the catalogue.
var catalogued = sync.OnceValue(func() *scorer { return newScorer(libraries) })

// newScorer groups the libraries into models. Those that never wait by
// themselves are left out.
func newScorer(from []library) *scorer {
	s := &scorer{}
	var keys []string
	for _, l := range from {
		p, err := Parse(l.text)
		p.Name = l.name
		if err != nil || p.spans(1) == nil {
			continue
		}
		key := p.ownFamily()
		for n := 1; n <= alike; n++ {
			key += fmt.Sprint(p.spans(n))
		}
		i := slices.Index(keys, key)
		if i < 0 {
			i = len(keys)
			keys = append(keys, key)
			s.models = append(s.models, model{family: p.waitFamily()})
		}
		s.models[i].members = append(s.models[i].members, p)
	}
	return s
}

// human is the index of the model of a person, general models follow it.
func (s *scorer) human() int { return len(s.models) }

// size is how many models there are.
func (s *scorer) size() int { return len(s.models) + 1 + general }

// family names what a model is; "" for a person.
func (s *scorer) family(i int) string {
	switch {
	case i < len(s.models) && s.models[i].family == SmoothJitter:
		return Decorrelated // Polly's name for it, and nobody could tell them apart
	case i < len(s.models):
		return s.models[i].family
	case i == s.human():
		return ""
	}
	return generalFamilies[i-s.human()-1]
}

// loose tells of a general model with jitter. It says that the policy is not in
// the catalogue, but cannot tell one kind of jitter from another, a mixture or a
// person.
func (s *scorer) loose(i int) bool { return i > s.human()+linearWait }
