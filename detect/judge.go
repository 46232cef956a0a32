package detect

import (
	"fmt"
	"slices"
	"time"

	"stormwatch/detect/herd"
	"stormwatch/detect/sustain"
	"stormwatch/rules"
)

// judge turns features into findings at each whole second, and keeps their
// history.
type judge struct {
	set       *rules.Set
	clientSig []*rules.Signature
	spare     []*rules.Signature // of clients too, more than flags has bits for
	everybody rules.Values       // features of the population in this second
	values    rules.Values       // of one client
	groups    []groupValues      // features of the agent groups; reused
	found     []found            // in the order of the rules; one for each signature that ever held
	left      int64              // times there was no room for another
	notJudged []NotJudged
	events    []Event
	roundFrom [agentGroups]int64 // first round of the present run, by agent group
	flagged   []int64            // clients that carry each client signature's flag
	storms    flags              // the client signatures that make a storm where much is refused
	sums      []conducts         // of the clients that carry each client signature's flag
	told      flaggedConducts    // what of each client is in them
	fault     []deed             // what each client signature is about
	again     []uint32           // clients to be judged though they did nothing in this second
	firstBad  []int64            // earliest evidence of each client signature
	hidden    [faults]int64      // second in which an address that several clients share last showed each fault; 0 never
	active    []uint32           // clients to be judged in this second; reused
	loop      sustain.Reading
	state     verdictState
	layers    Layers // as layered-retries held last
}

// found is a finding in the making.
type found struct {
	sig                         *rules.Signature
	groups                      uint64 // agent groups it holds for; 0: the population
	onset, detected, held, over int64
	awaited                     int64 // of a herd: until then its next return is to be expected
	censored                    bool
	said                        rules.Judgement
	layer                       string // the hop that it is about, where that is known
	at                          []string
}

const (
	maxEvents      = 512       // a choice: some hours of an incident that comes and goes
	maxClientSigns = 32        // bits of flags
	grace          = 10 * tick // a finding ends when its behaviour has been absent for this long
)

func newJudge(set *rules.Set) judge {
	j := judge{set: set}
	if set == nil {
		return j
	}
	for _, s := range set.Signatures() {
		switch {
		case s.Scope != rules.Client:
		case len(j.clientSig) == maxClientSigns:
			j.spare = append(j.spare, s)
		default:
			if s.Storm {
				j.storms |= 1 << len(j.clientSig)
			}
			j.clientSig = append(j.clientSig, s)
			j.fault = append(j.fault, faultOf(s))
		}
	}
	j.flagged = make([]int64, len(j.clientSig))
	j.firstBad = make([]int64, len(j.clientSig))
	j.sums = make([]conducts, len(j.clientSig))
	return j
}

// second judges the second that ended at e.now.
func (j *judge) second(e *engine) {
	j.loop = e.loop.Reading()
	if j.set == nil {
		return
	}
	j.notJudged = j.notJudged[:0]
	j.measure(e)
	for _, s := range j.set.Signatures() {
		switch s.Scope {
		case rules.Population:
			j.population(e, s)
		case rules.Agent:
			j.agents(e, s)
		}
	}
	j.clients(e)
	for _, s := range j.spare {
		j.cannot(s, spareWhy)
	}
	j.lapse(e)
	j.verdict(e)
	e.pop.growth.turn(e)
}

// spareWhy says why a signature is never judged.
var spareWhy = fmt.Sprintf("cannot judge: of the signatures of single clients the first %d are; give fewer rules", maxClientSigns)

// population judges a signature of everybody.
func (j *judge) population(e *engine, s *rules.Signature) {
	if s.ID == "budget-exceeded" && e.nameless() { // it counts retries
		j.cannot(s, namelessWhy)
		return
	}
	if ok, why := j.decide(e, s, 0, &j.everybody); !ok && !e.pop.lacks(s.ID) {
		j.cannot(s, why)
	}
}

// decide judges a signature by a group's features, at each scale where it looks at
// one. Without enough to judge it tells why.
func (j *judge) decide(e *engine, s *rules.Signature, group int, v *rules.Values) (ok bool, why string) {
	scales := herd.Scale(1)
	if s.Reads(rules.WithinMs) {
		scales = herd.Scales
	}
	for scale := range scales {
		if scales > 1 {
			scaleFeatures(e, group, scale, v)
		}
		enough, lacks := s.Enough(v)
		switch {
		case !enough && scale == 0:
			why = lacks
		case enough && s.Raised(v) && j.fresh(e, s, group, scale):
			j.hold(e, s, group, v)
		}
		ok = ok || enough
	}
	if scales > 1 {
		scaleFeatures(e, group, herd.Instant, v)
	}
	return ok, why
}

// cannot tells once why a signature is not judged, unless it holds in another scope.
func (j *judge) cannot(s *rules.Signature, why string) {
	if j.find(s.ID) == nil && !slices.ContainsFunc(j.notJudged, func(n NotJudged) bool { return n.Signature == s.ID }) {
		j.notJudged = append(j.notJudged, NotJudged{s.ID, why})
	}
}

// fresh tells whether the behaviour behind a signature is still going on: the
// statistics reach back a minute or two, the verdict must not.
func (j *judge) fresh(e *engine, s *rules.Signature, group int, scale herd.Scale) bool {
	switch s.ID {
	case "lockstep":
		return e.now-e.herd.LastRound(group, scale) <= missedRounds*max(e.herd.Reading(group).MedianGap, tick)
	case layersSign:
		return e.now-e.pop.layering.latest <= layerFresh || group == 0 && e.repeating() != nil
	case "armed":
		w, _ := e.pop.last(e.now, 1)
		return j.find(s.ID) != nil || w.retries > 0 && !slices.ContainsFunc(j.found, func(f found) bool { return f.sig.ID == "lockstep" })
	case "hint-missing":
		w, _ := e.pop.last(e.now, int(grace/tick))
		return w.hints.bare > 0
	case "unsafe-write-retried": // a proxy does so now and then
		w, _ := e.pop.last(e.now, window)
		return w.relayed > 0
	}
	return true
}

// missedRounds is how many waits without a return mean that the herd is gone.
const missedRounds = 3

// groupValues are the features of an agent group in one second, which all signatures
// of that scope read.
type groupValues struct {
	v   rules.Values
	at  int64
	any bool // there are some
}

// agents judges a signature of each agent group.
func (j *judge) agents(e *engine, s *rules.Signature) {
	for len(j.groups) < len(e.names.agentOf) {
		j.groups = append(j.groups, groupValues{})
	}
	for g := 1; g < len(e.names.agentOf); g++ {
		of := &j.groups[g]
		if of.at != e.now {
			circumstances(e, &of.v)
			timed, stacked := j.herdFeatures(e, g, &of.v), j.layerFeatures(e, g, &of.v)
			of.at, of.any = e.now, timed || stacked
		}
		if of.any {
			j.decide(e, s, g, &of.v)
		}
	}
}

func (j *judge) find(id string) *found {
	for i := range j.found {
		if j.found[i].sig.ID == id && j.found[i].over == 0 {
			return &j.found[i]
		}
	}
	return nil
}

const maxFound = 256

// hold notes that a signature holds in this second, for a group or for all, by
// the features v.
func (j *judge) hold(e *engine, s *rules.Signature, group int, v *rules.Values) {
	f := j.find(s.ID)
	if f == nil {
		if len(j.found) >= maxFound {
			j.left++
			return
		}
		j.found = append(j.found, found{sig: s, detected: e.now, at: e.provenance(s.ID)})
		f = &j.found[len(j.found)-1]
		f.onset = j.onset(e, s, group)
		f.censored = f.onset <= e.first+2*tick
		j.event(f.detected, "on", s.ID)
	}
	said := s.Judge(v)
	if f.held != e.now || said.Score > f.said.Score {
		f.said, f.sig = said, s
		if s.ID == layersSign {
			f.layer, j.layers = "", e.layers(group).picture
			if hop := e.repeating(); hop != nil && len(j.layers.Rows) == 0 {
				f.layer, f.said.Says, j.layers = hop.Name, hop.repeats(), e.betweenHops()
			}
		}
	}
	f.held = e.now
	if s.ID == "lockstep" {
		f.awaited = max(f.awaited, e.lastRound(group)+e.herd.Reading(group).MedianGap*3/2)
	}
	if group > 0 {
		f.groups |= 1 << group
	}
}

// onset is the earliest moment of the evidence behind a signature.
func (j *judge) onset(e *engine, s *rules.Signature, group int) int64 {
	at := int64(0)
	switch s.ID {
	case "lockstep":
		at = j.roundFrom[group]
	case "hint-missing":
		at = e.pop.firstBare
	case "rising-share-after-burst":
		at = j.loop.BurstEndAt
	case "sync-start":
		at = e.pop.starts.now.at
	default:
		at = j.loop.Onset
	}
	if k := j.clientIndex(s.ID); k >= 0 {
		at = j.firstBad[k]
	}
	if at == 0 || at > e.now {
		at = e.now - tick
	}
	return at
}

// lapse ends findings whose behaviour has ceased.
func (j *judge) lapse(e *engine) {
	for i := range j.found {
		f := &j.found[i]
		if f.over != 0 {
			continue
		}
		if f.sig.ID == "rising-share-after-burst" && j.loop.FailingShare > calmShare {
			f.held = e.now // the loop lasts until first attempts succeed again
		}
		if e.now < f.awaited {
			f.held = e.now // a herd that waits a minute is not gone in between
		}
		if e.now-f.held > grace {
			f.over = f.held
			j.event(e.now, "off", f.sig.ID)
			if k := j.clientIndex(f.sig.ID); k >= 0 {
				j.firstBad[k] = 0
			}
		}
	}
}

func (j *judge) event(at int64, kind, text string) {
	if len(j.events) >= maxEvents { // the oldest leave: what is watched for days goes on telling
		j.events = append(j.events[:0:0], j.events[maxEvents/4:]...)
	}
	j.events = append(j.events, Event{at, kind, text})
}

// calmShare is the failing share below which first attempts count as served
// (signatures-trial, rising-share-after-burst, step 6).
const calmShare = .05

const maxProvenance = 5

// provenance names a few exchanges of this second that show a signature.
func (e *engine) provenance(id string) (at []string) {
	if id == "sync-start" {
		return e.shown(&e.pop.starts.now)
	}
	k := e.judge.clientIndex(id)
	if k >= 0 && e.judge.fault[k] == parked {
		return e.lastOf(e.lot.parked)
	}
	for _, ev := range e.events {
		f := e.flights.at(ev.flight)
		shows := false
		switch {
		case k >= 0:
			fault := e.judge.fault[k]
			shows = ev.outcome == (fault == finalAgain) && f.shows>>fault&1 == 1
		case id == "lockstep":
			shows = !ev.outcome && f.link.Attempt > 1 && e.herd.InRound(int(f.rec.agent), f.rec.Start)
		case id == "budget-exceeded", id == "armed", id == layersSign, id == "insufficient-spread":
			shows = !ev.outcome && f.link.Attempt > 1
		case againSigns[id] != nil:
			shows = ev.outcome && againSigns[id](f)
		case hintSigns[id] != nil:
			shows = ev.outcome && f.rec.Refused() && hintSigns[id](&f.rec.Exchange)
		default:
			shows = ev.outcome && f.rec.Failed()
		}
		if shows {
			if at = append(at, e.place(f)); len(at) == maxProvenance {
				return at
			}
		}
	}
	return at
}

func seconds(d int64) float64 { return time.Duration(d).Seconds() }
