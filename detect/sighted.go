package detect

import (
	"fmt"
	"strings"
	"time"

	"stormwatch/detect/hop"
)

// sighted is a sample of what a source saw: by what was asked, and by the ids that
// hops pass on, where it has any.
type sighted struct{ targets, ids *hop.Sketch }

func (s *sighted) add(op uint64, x *record) {
	at := hop.Sighting{Start: x.Start, End: x.End, Client: hash(4, x.Src.IP[:]), What: op, Failed: faulty(x)}
	s.targets.Add(op, at)
	if x.RequestID == 0 {
		return
	}
	if s.ids == nil {
		s.ids = hop.NewSketch()
	}
	s.ids.Add(mix(x.RequestID, mixGolden), at)
}

// relate compares two sources. Ids that both have prove that they saw the same;
// that they have none in common proves nothing, since each may make its own.
func (s *sighted) relate(o *sighted, within, resolution time.Duration) hop.Link {
	if l := hop.RelateByID(s.ids, o.ids, resolution); l.Relation >= hop.Same {
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

// layer says how many attempts an inner hop saw for each request of an outer one, as
// far as ids tell: of all hosts of the tier, and of all behind it.
func (r *Recording) layer(tier, ins []*Inlet, sketches []sighted) {
	ids := func(of ...*Inlet) (all []*hop.Sketch) {
		for _, in := range of {
			all = append(all, sketches[in.index].ids)
		}
		return all
	}
	var behind []*Inlet
	var names []string
	for _, in := range ins {
		switch s := &r.standings[in.index]; {
		case !s.byID:
		case s.behind:
			behind, names = append(behind, in), append(names, in.info.Name)
			if n, k := hop.Attempts(ids(tier...), ids(in)); n > 0 {
				s.perRequest = Some(float64(k) / float64(n))
			}
		default:
			if n, k := hop.Attempts(ids(in), ids(tier...)); n > 0 {
				s.perRequest = Some(float64(n) / float64(k))
				s.note += fmt.Sprintf("; %d requests there became %d attempts here, %.2f for one", n, k, float64(k)/float64(n))
			}
		}
	}
	if f := hop.Fanned(ids(tier...), ids(behind...)); f.Requests > 0 {
		first, n, k := &r.standings[tier[0].index], f.Requests, f.Attempts
		first.allBehind, first.repeats = Some(float64(k)/float64(n)), f
		note := fmt.Sprintf("%d requests here became %d attempts at the hop behind, %.2f for one, by the ids in %s", n, k, float64(k)/float64(n), strings.Join(names, ", "))
		first.note = strings.TrimPrefix(first.note+"; "+note, "; ")
	}
}
