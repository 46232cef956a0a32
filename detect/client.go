package detect

import (
	"math"
	"slices"
	"time"

	"stormwatch/capture"
	"stormwatch/detect/herd"
)

// client is what the engine keeps of one client. It holds no pointer, so that
// the collector passes it by and a checkpoint is a copy. What each request and each
// success touches comes first, within two lines of a cache; what only some clients
// need is in their history.
type client struct {
	attempts, ok, first   uint32
	chains                uint32 // first attempts so far: the ordinal of its latest chain
	lastSeen              int64
	asked                 asked
	emptyFrom, emptyUntil int64 // an answer left nothing of a limit, until then; 0 none
	budget                budgetWindow
	agent                 capture.Symbol
	route                 uint16
	agentGroup            uint8
	dirty                 bool
	history               uint32 // its place among histories, from 1; 0 none
	herd                  herd.Member
	lately                lately

	refused, failed, retries uint32
	avoidable                uint32
	victims                  uint32 // first attempts refused
	rounds                   uint32 // retries that fell into a round of the herd
	firstSeen                int64
	lastRefused, lastBare    int64 // second of the last refusal, and of the last without a hint
	flags                    flags
	just                     uint32 // faults of this second, a bit each
	rash                     uint32 // impatient retries of this second
	behind                   behindOne
}

// gapRing is how many recent gaps a client keeps for its median; the population
// statistics have histograms of their own.
const gapRing = 16

// flags are the client signatures raised for a client, by their place among the
// rules' client signatures.
type flags uint32

// delta is what one shard counted in one second.
type delta struct {
	shard      int
	histories  *histories
	sum        secondCounts
	arrivals   [20]int32
	bareRing   windowDelta
	refusedBy  windowDelta
	avoidable  int64
	sessionsOn [routeGroups]onRoute
	firsts     firsts             // first attempts by route and agent
	refusedOn  [routeGroups]int32 // refusals by route
	goodOn     [routeGroups]int32 // successes by route
	vainOn     [routeGroups]int32 // retries that kept to the wait and were refused again, by route
	dirty      []uint32
	retries    []int32      // events that are retries, for the herd's rounds
	touched    int64        // what was read ahead, which means nothing
	newClients int64        // seen for the first time
	newDid     [deeds]int32 // clients that did something for the first time
	hints      hintCounts
	parkings   []uint32 // clients refused with a wait that may park them
	firstBare  int64    // start of the earliest bare refusal of the second; 0 none

	repeated    repeated
	elsewhereBy windowDelta // clients that ask again and again and are redirected
	briefBy     windowDelta // clients whose sessions end at once, again and again
	relayed     int64       // writes that a hop repeated
}

// secondCounts are the integer counts of one second.
type secondCounts struct {
	attempts, first, retries                int64
	firstEnded, firstFailed, firstRefused   int64
	refused, failed, good, ended, impatient int64
	again                                   [furthest]int64 // attempts by number, from the second on
	uncovered                               int64           // retries that keep to no hint
	blamed                                  int64           // of the impatient, those of clients of whom it is shown that they make a storm
	orphans                                 int64           // answers without a request
	unread                                  int64           // ended in a way that could not be seen; in none of the others
	mistaken                                int64           // answered 4xx, which no repeat would mend: neither failed nor good
	behind                                  behind
}

// furthest is up to which number attempts are counted by it, from the second on.
const furthest = 15

// requests is how many logical requests the attempts are of, at least: none has two
// attempts of one number, so that those which began before what is counted show in
// their later ones.
func (s *secondCounts) requests() int64 { return max(s.first, slices.Max(s.again[:])) }

// windowDelta moves clients within a ring that counts distinct clients by the
// second of their latest event.
type windowDelta struct {
	add int64
	sub [window]int64 // by age in seconds
}

// window is how far back distinct clients are counted, in seconds.
const window = 60

// move notes that a client's latest event is now, and was at last before.
func (w *windowDelta) move(last *int64, now int64) {
	if *last == now {
		return
	}
	if age := (now - *last) / tick; *last != 0 && age < window {
		w.sub[age]++
	}
	w.add++
	*last = now
}

func (d *delta) reset() {
	dirty, retries, parkings := d.dirty[:0], d.retries[:0], d.parkings[:0]
	*d = delta{shard: d.shard, histories: d.histories, dirty: dirty, retries: retries, parkings: parkings}
}

// growClients makes room for the clients that appear in this second.
func (e *engine) growClients() {
	e.clients.grow(len(e.names.labels))
}

// clientShard counts the events of the clients of one shard.
func (e *engine) clientShard(shard int) {
	d, h := &e.deltas[shard], e.herd.Shard(shard)
	d.shard, d.histories = shard, &e.histories
	d.reset()
	list := e.byCli[shard]
	for k, i := range list {
		if k%together == 0 {
			for _, i := range list[k:min(k+together, len(list))] {
				c := e.clients.at(e.events[i].client)
				d.touched += int64(c.attempts) + int64(c.history) + int64(c.failed)
			}
		}
		ev := &e.events[i]
		f, c := e.flights.at(ev.flight), e.clients.at(ev.client)
		if !c.dirty {
			c.dirty = true
			d.dirty = append(d.dirty, ev.client)
		}
		if ev.outcome {
			e.countOutcome(d, c, f)
			continue
		}
		e.countRequest(d, c, f)
		switch {
		case f.noChain || f.rec.Flags&capture.Orphan != 0 || f.link.Attempt > 1 && f.link.Parent == 0:
		case f.link.Attempt <= 1:
			h.First(&c.herd, int(f.rec.agent), f.rec.Start)
		default:
			h.Retry(&c.herd, int(f.rec.agent), f.link.Attempt, f.rec.Start, f.link.Gap)
			d.retries = append(d.retries, i)
		}
	}
}

func (e *engine) countRequest(d *delta, c *client, f *flight) {
	r := &f.rec
	if c.attempts == 0 {
		c.firstSeen = r.Start
		d.newClients++
	}
	c.attempts++
	c.lastSeen = max(c.lastSeen, r.Start)
	c.agent, c.route, c.agentGroup = r.Agent, r.route, r.agent
	d.sum.attempts++
	c.budget.at(r.Start).attempts++
	if r.Flags&capture.Orphan != 0 {
		d.sum.orphans++
	}
	if outlasts(r) {
		d.sessionsOn[r.route].lasting++
	}
	e.auditRequest(d, c, f)
	e.auditBan(c, f)
	e.auditAgain(d, c, f)
	c.behind.see(r.Agent, r.Credential, f.link.Parent != 0 && f.link.ParentCred != r.Credential)
	d.arrivals[min(max((r.Start-e.now)/int64(50*time.Millisecond), 0), 19)]++
	if f.link.Attempt <= 1 {
		c.first++
		d.countFirst(r)
		c.asked.first(r.Start, &e.pop.growth)
		c.chains++
		f.ordinal = c.chains
		d.sum.first++
		return
	}
	c.retries++
	d.sum.retries++
	if k := int(f.link.Attempt) - 2; k < furthest {
		d.sum.again[k]++
	}
	if f.link.Parent == 0 {
		c.overspend(d, f)
		c.chains++
		f.ordinal = c.chains
		return // declared by the request itself; the attempt before it was not seen
	}
	h := d.history(c)
	h.gaps[h.ngaps%gapRing] = float32(float64(f.link.Gap) / 1e9)
	h.ngaps++
	covered := e.auditRetry(d, c, f) || f.replays()
	if covered {
		return
	}
	known := !f.mayKeep(e.resolution(r.source))
	if known {
		c.overspend(d, f)
	}
	if f.link.Gap < immediate || f.link.Attempt > fourth || f.hinted() {
		c.avoidable++
		d.avoidable++
		if known {
			d.sum.impatient++
			c.rash++
		}
	}
}

func (e *engine) countOutcome(d *delta, c *client, f *flight) {
	r := &f.rec
	c.lastSeen = max(c.lastSeen, r.End)
	d.sum.behind.count(r)
	if !r.Judged() {
		d.sum.unread++
		return
	}
	e.auditOutcome(d, c, f)
	e.auditRefusal(d, c, f)
	e.auditWalk(d, c, f)
	d.hints.dates.see(&r.Exchange)
	refused, broken := r.Refused(), faulty(r)
	d.sum.ended++
	if f.link.Attempt <= 1 && !f.noChain {
		d.sum.firstEnded++
		if broken {
			d.sum.firstFailed++
		}
		if refused {
			d.sum.firstRefused++
			c.victims++
		}
	}
	if f.link.Parent != 0 && f.hinted() && !tooEarly(f.link.ParentHint.Wait, f.link.Gap, e.resolution(r.source)) {
		if e.histories.of(c).did[punished] == 0 { // else the wait is no guess of when there is room
			d.hints.kept++
		}
		if refused {
			d.vainOn[r.route]++
		}
	}
	switch {
	case !r.Failed():
		c.ok++
		d.sum.good++
		d.goodOn[r.route]++
		e.auditServed(d, c, f)
		if f.link.Attempt > 1 && f.link.Parent != 0 && f.link.Confidence >= believed {
			e.habits.succeed(d.shard, f)
		}
		return
	case refused:
		c.lately.drop(uint32(f.op))
		c.refused++
		d.sum.refused++
		d.refusedOn[r.route]++
		d.refusedBy.move(&c.lastRefused, e.now)
	default:
		c.lately.drop(uint32(f.op))
		c.failed++
	}
	switch status := r.Effective(); {
	case broken:
		d.sum.failed++
	case status >= 400 && status < 500:
		d.sum.mistaken++
	}
	if !refused || r.Reason == capture.BodyRefusal || r.Hint.State == capture.NotObservable {
		return
	}
	d.hints.see(&r.Exchange, e.histories.of(c).did[punished] > 0)
	e.park(d, c, f)
	if r.Hint.State == capture.Absent {
		if d.firstBare == 0 || r.End < d.firstBare {
			d.firstBare = r.End
		}
		d.bareRing.move(&c.lastBare, e.now)
	}
}

// faulty tells whether an exchange failed for want of the server, so that the
// same request may succeed later. A 404 fails as well, but it says nothing about
// load, and a service with many of them is not in an incident. Where the client gave
// up, its patience was over, though the answer may have been on its way.
func faulty(r *record) bool {
	const requestTimeout, tooEarly = 408, 425 // RFC 9110 15.5.9, RFC 8470
	status := r.Effective()
	return r.Flags&capture.GaveUp != 0 || r.Outcome == capture.NoAnswer || r.Outcome == capture.Reset || r.Refused() ||
		status >= 500 || status == requestTimeout || status == tooEarly
}

// roundShard marks the clients whose retries fell into a round of the herd.
func (e *engine) roundShard(shard int) {
	d := &e.deltas[shard]
	for _, i := range d.retries {
		f := e.flights.at(e.events[i].flight)
		if f.link.Gap < 2*int64(herd.Bin) {
			continue
		}
		c := e.clients.at(f.rec.client)
		if e.herd.InRound(int(f.rec.agent), f.rec.Start) {
			c.rounds++
		}
		e.herd.Follow(&c.herd, int(f.rec.agent), f.rec.Start)
	}
}

// gapStats returns median and median absolute deviation of the recent gaps.
func (h *history) gapStats() (median, mad float64, known bool) {
	n := int(min(h.ngaps, gapRing))
	if n == 0 {
		return 0, 0, false
	}
	v := h.gaps
	s := v[:n]
	slices.Sort(s)
	m := middle(s)
	for i := range s {
		s[i] = float32(math.Abs(float64(s[i]) - m))
	}
	slices.Sort(s)
	return m, middle(s), true
}

// even is the chance that random arrivals are as even as the recent gaps, as bounded by
// herd.Regular; unknown where the clock's steps would make them so.
func (h *history) even(median float64, clock int64) (chance Number) {
	if median < evenSteps*seconds(clock) {
		return chance
	}
	chance.V, chance.Known = herd.Regular(h.gaps[:min(h.ngaps, gapRing)])
	return chance
}

// evenSteps is how many steps of the clock a wait must have before its evenness is
// the client's: a wait cut to steps has an error of .41 of one (the difference of two
// uniform ones), 4 % of ten, near the variation of .036 that three waits may show.
const evenSteps = 10

func middle(s []float32) float64 {
	n := len(s)
	return (float64(s[(n-1)/2]) + float64(s[n/2])) / 2
}
