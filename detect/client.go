package detect

import (
	"math"
	"slices"
	"time"

	"stormwatch/capture"
	"stormwatch/detect/herd"
)

// client is what the engine keeps of one client. It holds no pointer, so that
// the collector passes it by and a checkpoint is a copy.
type client struct {
	attempts, ok, refused, failed uint32
	first, retries                uint32
	hinted, early                 uint32 // retries after a usable hint; those that came before it allowed
	avoidable                     uint32
	victims                       uint32 // first attempts refused
	chains                        uint32 // first attempts so far: the ordinal of its latest chain
	rounds                        uint32 // retries that fell into a round of the herd
	firstSeen, lastSeen           int64
	lastRefused, lastBare         int64 // second of the last refusal, and of the last without a hint
	firstEarly, lastEarly         int64
	earlyBy                       float32 // sum of seconds sent too early
	gaps                          [gapRing]float32
	ngaps                         uint32
	agent                         capture.Symbol
	route                         uint16
	agentGroup                    uint8
	flags                         flags
	dirty                         bool
	herd                          herd.Member
	told                          earliness // what of it the sums of the client signatures hold
}

// gapRing is how many recent gaps a client keeps for its median; the population
// statistics have histograms of their own.
const gapRing = 16

// flags are the client signatures raised for a client, by their place among the
// rules' client signatures.
type flags uint32

const (
	immediate  = int64(50 * time.Millisecond) // signatures-trial: under 50 ms nothing waited
	earlySlack = int64(50 * time.Millisecond) // detection 2.5: scheduling noise that is no violation
	fourth     = 4                            // attempts after which a further uncovered retry counts as impatient
	maxHint    = int64(time.Hour)             // longer hints are absurd and oblige nobody
)

// tolerance is how much before the hinted moment a retry may come: twice the
// clock's resolution, 50 ms or 2 % of the wait, whichever is largest.
func tolerance(wait, resolution int64) int64 {
	return max(2*resolution, earlySlack, wait/50)
}

// early tells whether a retry came before the wait its server named was over.
func early(wait, gap, resolution int64) bool { return gap < wait-tolerance(wait, resolution) }

// delta is what one shard counted in one second.
type delta struct {
	sum        secondCounts
	arrivals   [20]int32
	bare       int64 // refusals that carried no hint, where one would have been seen
	observable int64
	bareRing   windowDelta
	refusedBy  windowDelta
	avoidable  int64
	refusedOn  [routeGroups]int32 // refusals by route
	dirty      []uint32
	retries    []int32 // events that are retries, for the herd's rounds
	touched    int64   // what was read ahead, which means nothing
	newClients int64   // seen for the first time
	newHinted  int64   // clients that met a usable hint with a retry for the first time
	firstBare  int64   // start of the earliest bare refusal of the second; 0 none
}

// secondCounts are the integer counts of one second.
type secondCounts struct {
	attempts, first, retries                int64
	firstEnded, firstFailed, firstRefused   int64
	refused, failed, good, ended, impatient int64
	orphans                                 int64 // answers without a request
	unread                                  int64 // ended in a way that could not be seen; in none of the others
}

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
	dirty, retries := d.dirty[:0], d.retries[:0]
	*d = delta{dirty: dirty, retries: retries}
}

// growClients makes room for the clients that appear in this second.
func (e *engine) growClients() {
	e.clients.grow(len(e.names.labels))
}

// clientShard counts the events of the clients of one shard.
func (e *engine) clientShard(shard int) {
	d, h := &e.deltas[shard], e.herd.Shard(shard)
	d.reset()
	list := e.byCli[shard]
	for k, i := range list {
		if k%together == 0 {
			for _, i := range list[k:min(k+together, len(list))] {
				c := e.clients.at(e.flights[e.events[i].flight].rec.client)
				d.touched += int64(c.attempts) + c.lastSeen + int64(c.agent)
			}
		}
		ev := e.events[i]
		f := &e.flights[ev.flight]
		c := e.clients.at(f.rec.client)
		if !c.dirty {
			c.dirty = true
			d.dirty = append(d.dirty, f.rec.client)
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
	if r.Flags&capture.Orphan != 0 {
		d.sum.orphans++
	}
	d.arrivals[min(max((r.Start-e.now)/int64(50*time.Millisecond), 0), 19)]++
	if f.link.Attempt <= 1 {
		c.first++
		c.chains++
		f.ordinal = c.chains
		d.sum.first++
		return
	}
	c.retries++
	d.sum.retries++
	if f.link.Parent == 0 {
		return // declared by the request itself; the attempt before it was not seen
	}
	c.gaps[c.ngaps%gapRing] = float32(float64(f.link.Gap) / 1e9)
	c.ngaps++
	covered := e.audit(d, c, f)
	impatient := !covered && (f.link.Gap < immediate || f.link.Attempt > fourth || e.hinted(f))
	if impatient {
		c.avoidable++
		d.avoidable++
		d.sum.impatient++
	}
}

// hinted tells whether the retry in f followed a hint it could have obeyed.
func (e *engine) hinted(f *flight) bool {
	h := f.link.ParentHint
	return h.Usable() && h.Wait > 0 && h.Wait <= maxHint
}

// audit holds a retry against the wait its server named, and tells whether it
// kept to it.
func (e *engine) audit(d *delta, c *client, f *flight) (kept bool) {
	if !e.hinted(f) {
		return false
	}
	if c.hinted == 0 {
		d.newHinted++
	}
	c.hinted++
	wait := f.link.ParentHint.Wait
	if !early(wait, f.link.Gap, e.resolution(f.rec.source)) {
		return true
	}
	if c.early == 0 {
		c.firstEarly = f.rec.Start
	}
	c.early++
	c.lastEarly = f.rec.Start
	c.earlyBy += float32(float64(wait-f.link.Gap) / 1e9)
	return false
}

func (e *engine) countOutcome(d *delta, c *client, f *flight) {
	r := &f.rec
	c.lastSeen = max(c.lastSeen, r.End)
	if !r.Judged() {
		d.sum.unread++
		return
	}
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
	switch {
	case !r.Failed():
		c.ok++
		d.sum.good++
		return
	case refused:
		c.refused++
		d.sum.refused++
		d.refusedOn[r.route]++
		d.refusedBy.move(&c.lastRefused, e.now)
	default:
		c.failed++
	}
	if broken {
		d.sum.failed++
	}
	if !refused || r.Hint.State == capture.NotObservable {
		return
	}
	d.observable++
	if r.Hint.State == capture.Absent {
		d.bare++
		if d.firstBare == 0 || r.End < d.firstBare {
			d.firstBare = r.End
		}
		d.bareRing.move(&c.lastBare, e.now)
	}
}

// faulty tells whether an exchange failed for want of the server, so that the
// same request may succeed later. A 404 fails as well, but it says nothing about
// load, and a service with many of them is not in an incident.
func faulty(r *record) bool {
	const requestTimeout, tooEarly = 408, 425 // RFC 9110 15.5.9, RFC 8470
	status := r.Effective()
	return r.Outcome == capture.NoAnswer || r.Outcome == capture.Reset || r.Refused() ||
		status >= 500 || status == requestTimeout || status == tooEarly
}

// roundShard marks the clients whose retries fell into a round of the herd.
func (e *engine) roundShard(shard int) {
	d := &e.deltas[shard]
	for _, i := range d.retries {
		f := &e.flights[e.events[i].flight]
		if f.link.Gap >= 2*int64(herd.Bin) && e.herd.InRound(int(f.rec.agent), f.rec.Start) {
			e.clients.at(f.rec.client).rounds++
		}
	}
}

// gapStats returns median and median absolute deviation of the recent gaps.
func (c *client) gapStats() (median, mad float64, known bool) {
	n := int(min(c.ngaps, gapRing))
	if n == 0 {
		return 0, 0, false
	}
	v := c.gaps
	s := v[:n]
	slices.Sort(s)
	m := middle(s)
	for i := range s {
		s[i] = float32(math.Abs(float64(s[i]) - m))
	}
	slices.Sort(s)
	return m, middle(s), true
}

func middle(s []float32) float64 {
	n := len(s)
	return (float64(s[(n-1)/2]) + float64(s[n/2])) / 2
}
