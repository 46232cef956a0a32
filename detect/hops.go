package detect

import (
	"fmt"
	"time"

	"stormwatch/capture"
	"stormwatch/detect/hop"
)

// standing is what an inlet is to the totals.
type standing struct {
	primary    bool
	offset     float64 // seconds its clock is ahead of the primary hop's
	note       string
	unsure     bool   // names alone decided
	byID       bool   // ids say that it is another hop of the tier's requests
	behind     bool   // that hop is behind the tier
	perRequest Number // of ids that both saw: what it saw for each request of the primary hop
	allBehind  Number // what all hops behind it saw for each of its requests, likewise
	repeats    hop.Fan
}

// sameMoment is how far apart two sources may see one request, their clocks
// compared: a hop in the same data centre and a busy machine, with room.
const sameMoment = 50 * time.Millisecond

// standByName is what can be told before anything was read: sources of the first
// vantage that has exchanges and of one kind are summed, others corroborate. A capture
// and a log of one hop may well have seen the same.
func standByName(inlets []*Inlet) []standing {
	out := make([]standing, len(inlets))
	first := -1
	for i, in := range inlets {
		if in.info.Kind == "prometheus" {
			continue
		}
		if first < 0 {
			first = i
		}
		out[i].primary = in.info.Vantage == inlets[first].info.Vantage && in.info.Kind == inlets[first].info.Kind
	}
	if first < 0 && len(out) > 0 {
		first, out[0].primary = 0, true
	}
	for i := range out {
		switch {
		case out[i].primary:
		case inlets[i].info.Kind == "prometheus":
			out[i].note = "counts of intervals, which only corroborate the exchanges of " + inlets[first].info.Name
		case inlets[i].info.Vantage == inlets[first].info.Vantage:
			out[i].unsure = true
			out[i].note = fmt.Sprintf("a %s of the hop that %s is a %s of, so it only corroborates: they may have seen the same", inlets[i].info.Kind, inlets[first].info.Name, inlets[first].info.Kind)
		default:
			out[i].unsure = true
			out[i].note = "taken for another hop, so it only corroborates: its counts are not added to those of " + inlets[first].info.Name
		}
	}
	return out
}

// stand finds out from what the sources saw which of them are hosts of one tier,
// to be summed, and which saw the same requests, there or at another hop. Where
// that is not clear, names decide.
func (r *Recording) stand() error {
	r.standings = standByName(r.inlets)
	var ins []*Inlet
	for _, in := range r.inlets {
		if in.info.Kind != "prometheus" && len(in.runs) > 0 {
			ins = append(ins, in)
		}
	}
	if len(ins) < 2 {
		return nil
	}
	sketches := make([]sighted, len(r.inlets))
	for _, in := range ins {
		sketches[in.index] = sighted{targets: hop.NewSketch()}
	}
	r.echoes = newEchoes(len(r.inlets))
	err := r.merge(ins, func(x *record, target []byte) error {
		op := targetOf(x, target)
		r.echoes.see(r.names, op, x)
		sketches[x.source].add(mix(op, mixGolden), x)
		return nil
	})
	if err != nil {
		return err
	}
	tier := []*Inlet{ins[0]}
	for _, in := range ins[1:] {
		s := &r.standings[in.index]
		link, to := r.closest(tier, in, sketches)
		switch link.Relation {
		case hop.Apart, hop.Unclear:
			// A capture and a log of different requests are no tier of like hosts.
			if link.Relation == hop.Apart && in.info.Kind == tier[0].info.Kind {
				*s = standing{primary: true}
			}
			if s.primary {
				tier = append(tier, in)
			}
			continue
		case hop.Same:
			exact := link.Offset == 0 && link.Error == 0
			if exact && in.info.Vantage == to.info.Vantage && in.info.Kind == to.info.Kind {
				tier = append(tier, in) // copies of single exchanges are found one by one
				s.primary = true
				continue
			}
			if in.info.Kind == "capture" && to.info.Kind == "log" && len(tier) == 1 {
				// The capture shows more, so it counts.
				r.standings[to.index] = linked(link, to, in, -1)
				*s = standing{primary: true}
				tier[0] = in
				continue
			}
		}
		*s = linked(link, in, to, 1)
	}
	r.layer(tier, ins, sketches)
	return r.echo(ins)
}

// echo finds the writes that were repeated between two hops, as far as ids prove how
// these lie to each other.
func (r *Recording) echo(ins []*Inlet) error {
	for source, n := range r.echoes.lost {
		for range n {
			r.inlets[source].asides.Bound(boundEchoes)
		}
	}
	return r.echoes.settle(r, ins, func(a, b uint8) bool {
		x, y := &r.standings[a], &r.standings[b]
		return x.primary && y.byID && y.behind || y.primary && x.byID && !x.behind
	})
}

const boundEchoes = "writes seen more than once under one id: repeats between hops may be missed"

// closest is the source of the tier to which in has the plainest link.
func (r *Recording) closest(tier []*Inlet, in *Inlet, sketches []sighted) (best hop.Link, to *Inlet) {
	for i, t := range tier {
		within := max(sameMoment, time.Duration(max(in.health.Resolution, t.health.Resolution)))
		l := sketches[t.index].relate(&sketches[in.index], within, time.Duration(max(in.health.Resolution, t.health.Resolution)))
		plainer := l.Relation >= hop.Same && l.Share > best.Share || best.Relation == hop.Apart && l.Relation == hop.Unclear
		if i == 0 || plainer && (best.Relation < hop.Same || l.Relation >= hop.Same) {
			best, to = l, t
		}
	}
	return best, to
}

// linked describes a source that saw what another one, which counts, saw too.
func linked(l hop.Link, in, to *Inlet, sign float64) standing {
	s := standing{offset: sign * l.Offset.Seconds()}
	where := "saw the same exchanges as " + to.info.Name
	if l.Relation == hop.Layer {
		where = "is a hop in front of " + to.info.Name
		if l.Inside == (sign > 0) {
			where = "is a hop behind " + to.info.Name
		}
	}
	s.note = fmt.Sprintf("%s: %.0f %% of %d compared %s, so they are not added; its clock is %+.3f s (within %.3f s) off",
		where, 100*min(l.Share, 1), l.N, same(l), s.offset, max(l.Error.Seconds(), .001))
	s.byID, s.behind = l.Relation == hop.Layer && l.ByID, l.Inside == (sign > 0)
	return s
}

// shift corrects the times of a batch by what the operator knows of the clock.
func (in *Inlet) shift(x *capture.Exchange) {
	if in.offset != 0 {
		x.Start, x.End = sane(x.Start)-in.offset, sane(x.End)-in.offset
	}
}
