package detect

import (
	"slices"
	"time"

	"stormwatch/detect/sustain"
)

// population is what is counted of everybody: sums since the input's start,
// sliding windows of whole seconds, and the timeline.
type population struct {
	total     secondCounts
	peak50    int64
	seconds   [window]windowSecond // by second modulo window
	refusedBy [window]int64        // distinct clients by the second of their latest refusal
	bareBy    [window]int64
	clients   int64              // clients seen
	did       [deeds]int64       // clients that ever did something
	refusedOn [routeGroups]int64 // refusals by route
	firstBare int64              // moment of the first bare refusal of the present run
	judged    int64              // seconds judged
	timeline  timeline
	arrivals  arrivals
	layering  layering
	starts    starts
	quotas    quotas
	endless   endlessChains
	late      late
	growth    growth
	relayed   int64 // writes that a hop on the way repeated
	repeats   repeats
	sessions  sessions
}

type windowSecond struct {
	secondCounts
	hints     hintCounts
	avoidable int64
	repeated  repeated
	relayed   int64
}

// slot is the place of the second that starts at t in the windows.
func slot(t int64) int { return int(((t/tick)%window + window) % window) }

// merge adds what the shards counted in the second at e.now. All of it is
// integer, so the order of shards does not matter.
func (e *engine) merge() {
	p := &e.pop
	now := slot(e.now)
	p.refusedBy[now], p.bareBy[now] = 0, 0
	p.repeats.turn(e.now, &p.seconds[now])
	p.sessions.turn(e.now, &p.seconds[now])
	var w windowSecond
	var arrivals [20]int64
	firstBare := int64(0)
	for s := range e.deltas {
		d := &e.deltas[s]
		w.add(&d.sum)
		w.hints.add(&d.hints)
		w.avoidable += d.avoidable
		w.repeated.add(&d.repeated)
		w.relayed += d.relayed
		for i, n := range d.newDid {
			p.did[i] += int64(n)
		}
		p.clients += d.newClients
		for i, n := range d.arrivals {
			arrivals[i] += int64(n)
		}
		for i, n := range d.firsts {
			p.growth.now[i] += n
		}
		for i, n := range d.refusedOn {
			p.refusedOn[i] += int64(n)
			p.sessions.on[i].add(d.sessionsOn[i])
		}
		d.refusedBy.apply(&p.refusedBy, now)
		d.bareRing.apply(&p.bareBy, now)
		d.elsewhereBy.apply(&p.repeats.elsewhereBy, now)
		d.briefBy.apply(&p.repeats.briefBy, now)
		if d.firstBare != 0 && (firstBare == 0 || d.firstBare < firstBare) {
			firstBare = d.firstBare
		}
	}
	if firstBare != 0 && sum(&p.bareBy) == p.bareBy[now] {
		p.firstBare = firstBare
	}
	w.hints.keptRefused = e.inVain()
	p.seconds[now] = w
	p.total.add(&w.secondCounts)
	p.relayed += w.relayed
	p.repeats.total.add(&w.repeated)
	p.peak50 = max(p.peak50, slices.Max(arrivals[:]))
	p.judged++
	p.timeline.add(e.now, &w.secondCounts)
	e.noteArrivals()
	e.loop.Tick(sustain.Second{
		At: e.now, First: w.first, FirstEnded: w.firstEnded, FirstFailed: w.firstFailed, FirstRefused: w.firstRefused,
		Attempts: w.attempts, Retries: w.retries, Refused: w.refused, Failed: w.failed, Good: w.good, Impatient: w.impatient,
		MedianGap: e.herd.Reading(0).MedianGap, Known: true,
	})
}

// noteArrivals counts the retries of this second.
func (e *engine) noteArrivals() {
	e.pop.arrivals.turn(e.now)
	for s := range e.deltas {
		for _, i := range e.deltas[s].retries {
			f := e.flights.at(e.events[i].flight)
			e.pop.arrivals.add(f.rec.Start, f.rec.Start-f.link.ParentStart)
		}
	}
}

// inVain counts the retries that kept to the wait and were refused on a route that
// served nobody in this second. Where others were served the wait was long enough,
// and too many came at once.
func (e *engine) inVain() (n int64) {
	for route := range routeGroups {
		good, vain := int32(0), int32(0)
		for s := range e.deltas {
			good += e.deltas[s].goodOn[route]
			vain += e.deltas[s].vainOn[route]
		}
		if good == 0 {
			n += int64(vain)
		}
	}
	return n
}

func (w *windowDelta) apply(ring *[window]int64, now int) {
	ring[now] += w.add
	for age, n := range w.sub {
		ring[(now-age+window)%window] -= n
	}
}

func sum(ring *[window]int64) (n int64) {
	for _, v := range ring {
		n += v
	}
	return n
}

func (s *secondCounts) add(o *secondCounts) {
	s.attempts += o.attempts
	s.first += o.first
	s.retries += o.retries
	s.firstEnded += o.firstEnded
	s.firstFailed += o.firstFailed
	s.firstRefused += o.firstRefused
	s.refused += o.refused
	s.failed += o.failed
	s.good += o.good
	s.ended += o.ended
	s.impatient += o.impatient
	s.blamed += o.blamed
	s.uncovered += o.uncovered
	for k, n := range o.again {
		s.again[k] += n
	}
	s.unread += o.unread
	s.mistaken += o.mistaken
	s.orphans += o.orphans
	s.behind.add(&o.behind)
}

// last sums the n seconds before now, or as many as have been judged.
func (p *population) last(now int64, n int) (w windowSecond, seconds int) {
	seconds = int(min(int64(n), p.judged, window))
	for i := 1; i <= seconds; i++ {
		s := &p.seconds[slot(now-int64(i)*tick)]
		w.add(&s.secondCounts)
		w.hints.add(&s.hints)
		w.avoidable += s.avoidable
		w.repeated.add(&s.repeated)
		w.relayed += s.relayed
	}
	return w, seconds
}

// timeline holds the whole input in equal bins, which grow wider as it grows
// longer, so that its size is bounded.
type timeline struct {
	start int64
	width int64
	bins  []Bin
}

const maxBins = 8192 // 448 KB; two hours and a quarter of single seconds

// storeWidths are the widths kept, each a multiple of the one before; beyond the
// last, widths go on by a factor of four.
var storeWidths = [...]int64{1, 5, 15, 60, 300, 900, 3600}

func (t *timeline) add(at int64, s *secondCounts) {
	if t.width == 0 {
		t.start, t.width = at, tick
	}
	for (at-t.start)/t.width >= maxBins {
		t.coarsen()
	}
	i := int((at - t.start) / t.width)
	if i < 0 {
		i = 0
	}
	for len(t.bins) <= i {
		t.bins = append(t.bins, Bin{})
	}
	t.bins[i].Add(Bin{
		Attempts: s.attempts, First: s.first, Retries: s.retries, Success: s.good, Refused: s.refused,
		OtherFail: s.failed - s.refused, MaxPerS: s.attempts,
	})
}

// Add sums bins; of the busiest second it keeps the greater.
func (b *Bin) Add(o Bin) {
	b.Attempts += o.Attempts
	b.First += o.First
	b.Retries += o.Retries
	b.Success += o.Success
	b.Refused += o.Refused
	b.OtherFail += o.OtherFail
	b.MaxPerS = max(b.MaxPerS, o.MaxPerS)
}

func (t *timeline) coarsen() {
	width := t.width * 4
	for _, w := range storeWidths {
		if w*tick > t.width {
			width = w * tick
			break
		}
	}
	*t = t.regroup(width)
}

// regroup returns t in bins of the given width, aligned to the clock.
func (t *timeline) regroup(width int64) timeline {
	out := timeline{start: floorTo(t.start, width), width: width}
	for i, b := range t.bins {
		j := int((t.start + int64(i)*t.width - out.start) / width)
		for len(out.bins) <= j {
			out.bins = append(out.bins, Bin{})
		}
		out.bins[j].Add(b)
	}
	return out
}

// Widths are the widths a bin of a chart, or a row of a table, may have, in seconds:
// whole numbers that a reader can count in.
func Widths() [17]int64 {
	return [...]int64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400}
}

// view returns the bins between from and to, at most n of them.
func (t *timeline) view(from, to int64, n int) Timeline {
	if t.width == 0 || n < 1 {
		return Timeline{Width: int64(time.Second)}
	}
	if to == 0 {
		to = t.start + int64(len(t.bins))*t.width
	}
	from = max(from, t.start)
	width := t.width
	for _, s := range Widths() {
		if w := s * tick; w >= t.width && w%t.width == 0 {
			if width = w; (to-from+w-1)/w < int64(n) {
				break
			}
		}
	}
	for (to-from)/width >= int64(n) {
		width *= 2
	}
	g := t.regroup(width)
	lo := min(max((from-g.start)/width, 0), int64(len(g.bins)))
	hi := min(max((to-g.start+width-1)/width, lo), int64(len(g.bins)))
	return Timeline{Start: g.start + lo*width, Width: width, Bins: g.bins[lo:hi:hi]}
}
