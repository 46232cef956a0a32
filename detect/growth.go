package detect

import (
	"cmp"
	"math"
	"slices"
)

// firsts counts first attempts by route, then by agent group. The counts may wrap:
// only differences are read.
type firsts [routeGroups + agentGroups]uint32

// mark is a moment and what had been sent until then.
type mark struct {
	at  int64 // 0: there is none
	sum firsts
}

// growth remembers what was asked for before an incident and in it.
type growth struct {
	now        firsts
	marks      [markCount]mark // of calm, the latest last
	base, next mark            // since when calm counts, and since when it will
	from, to   mark            // of the present incident
	onset      int64           // of it; 0 there is none
	incident   uint32          // how many there were
	told       grown           // of the worst incident, at its end
}

// grown is what grew in an incident.
type grown struct {
	rows []Growth
	new  Number
}

const (
	markEvery  = 5 * tick        // an onset is told to the second, the calm before it to this
	markCount  = 13              // as far back as an onset is told, and one more
	calmSpan   = 10 * 60 * tick  // at least so much calm is compared with, where there was so much
	leastCalm  = 5 * tick        // less is no calm to compare with (as baseFewest of sustain)
	growsBy    = 1.5             // and at least so many times as much must be asked for (as the least burst, sustain's peakRatio)
	growsZ     = 3.29            // so that chance makes one of 2,000 rows (normal, two-sided 1e-3; TestGrowthNull measures it)
	leastGrown = 10              // first attempts: below, the normal bound is no good one for counts
	grownRows  = 5               // told of each kind
	sortAfter  = 200             // rows that wait to be sorted: it bounds the memory, and shows nowhere
	clientSpan = int64(10 * 1e9) // clients' firsts are kept by such spans: three counts reach back over any onset's doubt
)

// countFirst counts a first attempt of the second's events.
func (d *delta) countFirst(r *record) {
	d.firsts[r.route]++
	d.firsts[routeGroups+int(r.agent)]++
}

// turn keeps the marks, once the second that ended at e.now is judged.
func (g *growth) turn(e *engine) {
	s := &e.judge.state
	switch {
	case s.since != 0 && g.onset == 0:
		g.begin(s.since)
		g.to = mark{e.now, g.now}
	case s.since != 0:
		if s.badUntil == e.now {
			g.to = mark{e.now, g.now}
		}
	case g.onset != 0:
		if s.worst.Since == g.onset {
			g.told = e.grown()
		}
		g.onset, g.marks = 0, [markCount]mark{}
		g.base, g.next = mark{e.now, g.now}, mark{e.now, g.now}
	default:
		g.calm(e)
	}
}

func (g *growth) calm(e *engine) {
	if g.base.at == 0 {
		g.base = mark{at: floorTo(e.first, tick)}
		g.next = g.base
	}
	if e.now-g.next.at >= calmSpan {
		g.base, g.next = g.next, mark{e.now, g.now}
	}
	if last := &g.marks[markCount-1]; last.at == 0 || e.now-last.at >= markEvery {
		copy(g.marks[:], g.marks[1:])
		g.marks[markCount-1] = mark{e.now, g.now}
	}
}

// begin finds the latest mark before the onset.
func (g *growth) begin(onset int64) {
	g.incident++
	g.onset, g.from = onset, g.base
	for i := range g.marks {
		if m := &g.marks[i]; m.at != 0 && m.at <= onset {
			g.from = *m
		}
	}
}

// grownSoFar is what grew in the incident that a verdict speaks of: the present one,
// or of a whole input the worst.
func (e *engine) grownSoFar(whole bool) grown {
	g := &e.pop.growth
	switch {
	case g.onset != 0 && (!whole || e.judge.state.worst.Since == g.onset):
		return e.grown()
	case whole:
		return g.told
	}
	return grown{}
}

// grown compares the present incident with what was before it. Where no calm was
// seen before, what grew is not known.
func (e *engine) grown() (out grown) {
	g := &e.pop.growth
	calm, span := g.from.at-g.base.at, g.to.at-g.from.at
	if g.base.at == 0 || calm < leastCalm || span <= 0 {
		return out
	}
	seen := e.seenSince(g.onset)
	row := func(kind, name string, i int, part newcomers) (Growth, bool) {
		r := Growth{Kind: kind, Name: name, New: part.share()}
		return r, r.measure(float64(g.from.sum[i]-g.base.sum[i]), calm, float64(g.to.sum[i]-g.from.sum[i]), span)
	}
	var rows []Growth
	for i := 1; i < len(e.names.routeOf); i++ {
		if r, ok := row("route", e.names.texts.Text(e.names.routeOf[i]), i, seen[i]); ok {
			rows = append(rows, r)
		}
	}
	out.rows = foremost(rows)
	rows = rows[:0]
	for i := 1; i < len(e.names.agentOf); i++ {
		if r, ok := row("agent", e.agentName(i), routeGroups+i, seen[routeGroups+i]); ok {
			rows = append(rows, r)
		}
	}
	out.rows = append(out.rows, foremost(rows)...)
	out.rows = append(out.rows, e.grownClients()...)
	sortGrowth(out.rows)
	all := newcomers{}
	for i := range routeGroups {
		all.of, all.new = all.of+seen[i].of, all.new+seen[i].new
	}
	out.new = all.share()
	return out
}

// newcomers counts clients, and those that were not seen before.
type newcomers struct{ of, new int }

func (n newcomers) share() Number {
	if n.of == 0 {
		return Number{}
	}
	return Some(float64(n.new) / float64(n.of))
}

// seenSince counts the clients that sent anything since the onset by the route and
// the agent that each was seen with last.
func (e *engine) seenSince(onset int64) *[routeGroups + agentGroups]newcomers {
	var out [routeGroups + agentGroups]newcomers
	for id := range uint32(e.clients.len()) {
		c := e.clients.at(id)
		if c.attempts == 0 || c.lastSeen < onset {
			continue
		}
		for _, i := range [2]int{int(c.route), routeGroups + int(c.agentGroup)} {
			out[i].of++
			if c.firstSeen >= onset {
				out[i].new++
			}
		}
	}
	return &out
}

// measure sets the rates, and tells whether it grew beyond chance: counts of chance
// differ by the root of their sum (Poisson).
func (r *Growth) measure(before float64, calm int64, after float64, span int64) bool {
	r.Before, r.PerS = before/seconds(calm), after/seconds(span)
	ratio := float64(span) / float64(calm)
	z := (after - before*ratio) / math.Sqrt(after+before*ratio*ratio+1)
	return after >= leastGrown && r.PerS >= growsBy*r.Before && z >= growsZ
}

// grownClients are the clients that grew most.
func (e *engine) grownClients() (rows []Growth) {
	g := &e.pop.growth
	for id := range uint32(e.clients.len()) {
		c := e.clients.at(id)
		if c.first < leastGrown || c.lastSeen < g.onset {
			continue
		}
		before, after, until := c.asked.split(g)
		part := newcomers{of: 1}
		calm := until - c.firstSeen
		if c.firstSeen >= g.onset {
			part.new, calm = 1, g.from.at-g.base.at // in which nothing came of it
		}
		r := Growth{Kind: "client", Name: e.names.labels[id], New: part.share()}
		if calm < leastCalm || !r.measure(float64(before), calm, float64(after), max(g.to.at-until, tick)) {
			continue
		}
		if rows = append(rows, r); len(rows) > sortAfter {
			rows = foremost(rows)
		}
	}
	return foremost(rows)
}

// foremost keeps the rows that grew most.
func foremost(rows []Growth) []Growth {
	sortGrowth(rows)
	return slices.Clone(rows[:min(len(rows), grownRows)])
}

func sortGrowth(rows []Growth) {
	slices.SortStableFunc(rows, func(a, b Growth) int {
		return cmp.Or(-cmp.Compare(a.PerS-a.Before, b.PerS-b.Before), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
}

// asked counts a client's first attempts: of calm those in its latest span of ten
// seconds, in the one before and earlier, and those of an incident.
type asked struct {
	span, present, previous, earlier uint32
	incident, during                 uint32
}

// spanOf numbers spans; times before 1970 share one.
func spanOf(t int64) uint32 { return uint32(max(t, 0) / clientSpan) }

func (a *asked) first(t int64, g *growth) {
	if g.onset != 0 {
		if a.incident != g.incident {
			a.incident, a.during = g.incident, 0
		}
		a.during++
		return
	}
	if s := spanOf(t); s > a.span {
		if s == a.span+1 {
			a.earlier, a.previous = a.earlier+a.previous, a.present
		} else {
			a.earlier, a.previous = a.earlier+a.previous+a.present, 0
		}
		a.span, a.present = s, 0
	}
	a.present++
}

// split tells how many were asked for in the spans that ended before the onset of
// the present incident, how many since, and when the last of these spans ended.
func (a *asked) split(g *growth) (before, after uint32, until int64) {
	before, end := a.earlier, spanOf(g.onset)
	if a.span <= end { // else the previous one had not ended
		before += a.previous
	}
	if a.span < end {
		before += a.present
	}
	after = a.earlier + a.previous + a.present - before
	if a.incident == g.incident {
		after += a.during
	}
	return before, after, int64(end) * clientSpan
}
