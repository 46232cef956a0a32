package detect

import (
	"fmt"
	"slices"
)

// betweenHops tells the layers that ids show between sources: the clients, whose
// attempts the primary source sees, and that source's hop, whose attempts another
// one behind it sees.
func (e *engine) betweenHops() Layers {
	s, t := e.repeater(), &e.pop.total
	if s == nil || t.first == 0 {
		return Layers{}
	}
	outer := share(t.attempts, t.first)
	return stacked("ids",
		Layer{Name: "clients, as " + s.Name + " sees them", PerRequest: Some(outer), Seen: true},
		Layer{Name: s.Name + ", as the hop behind it sees it", PerRequest: Some(outer * s.Repeats.PerRequest()), Most: s.Repeats.Most, Seen: true})
}

// repeater is the primary source whose hop sends requests on more than once, as far as
// ids tell; nil where there is none.
func (e *engine) repeater() *Source {
	k := slices.IndexFunc(e.sources, func(s Source) bool {
		return s.Primary && s.Repeats.PerRequest() >= hopRetries && s.Repeats.Repeated >= proven
	})
	if k < 0 {
		return nil
	}
	return &e.sources[k]
}

// repeating tells whether the repeater is at work in these seconds.
func (e *engine) repeating() *Source {
	s := e.repeater()
	if s == nil || s.Repeats.Within(e.now-layerFresh, e.now) == 0 || s.Repeats.Within(e.now-layerEpoch, e.now) < proven {
		return nil
	}
	return s
}

// repeats says what a hop does, where ids prove it and nothing else tells of layers.
func (s *Source) repeats() string {
	r := &s.Repeats
	return fmt.Sprintf("%s sends on %.1f requests for each that it receives, %d at most: %d of %d were sent again when they had failed, by the ids that both hops logged", s.Name, r.PerRequest(), r.Most, r.Repeated, r.Requests)
}

// hopRetries is how many attempts a hop makes at least for each request, by ids,
// if it retries at all.
const hopRetries = 1.05
