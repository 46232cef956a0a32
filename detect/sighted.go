package detect

import (
	"fmt"
	"time"

	"stormwatch/detect/hop"
)

// sighted is a sample of what a source saw: by what was asked, and by the ids that
// hops pass on, where it has any.
type sighted struct{ targets, ids *hop.Sketch }

func (s *sighted) add(op uint64, x *record) {
	at := hop.Sighting{Start: x.Start, End: x.End, Client: hash(4, x.Src.IP[:])}
	s.targets.Add(op, at)
	if x.RequestID == 0 {
		return
	}
	if s.ids == nil {
		s.ids = hop.NewSketch()
	}
	s.ids.Add(mix(x.RequestID, 0x9e3779b97f4a7c15), at)
}

// relate compares two sources. Ids that both have prove that they saw the same;
// that they have none in common proves nothing, since each may make its own.
func (s *sighted) relate(o *sighted, within time.Duration) hop.Link {
	if l := hop.RelateByID(s.ids, o.ids, within); l.Relation >= hop.Same {
		return l
	}
	return hop.Relate(s.targets, o.targets, within)
}

func same(l hop.Link) string {
	if l.ByID {
		return "request ids are the same"
	}
	return "are the same requests"
}

// multiplied is from how many exchanges for one on a layer retries.
const multiplied = 1.02

// layered says how many attempts one hop makes of a request of the other.
func (s *standing) layered(l hop.Link, sign float64, to *Inlet) {
	if l.Relation != hop.Layer || l.PerRequest == 0 {
		return
	}
	n := l.PerRequest
	if sign < 0 {
		n = 1 / n
	}
	s.perRequest = Some(n)
	switch {
	case n >= multiplied:
		s.note += fmt.Sprintf("; it saw %.2f attempts for each request at %s: a layer between them retries", n, to.info.Name)
	case n <= 1/multiplied:
		s.note += fmt.Sprintf("; %s saw %.2f attempts for each request here: a layer between them retries", to.info.Name, 1/n)
	}
}
