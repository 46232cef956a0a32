package chain

import "math"

const (
	leastRate   = .0005 // of fresh requests per second, on any key
	templateFor = 10    // seconds for which the template's rate counts (chains-trial.md point 7)
	leastIdle   = .15   // of a key's time counts as such in which a fresh repeat could be seen
	trustRepeat = 10    // fresh repeats at which their waits count half as a control
	trustRate   = 3     // repeats at which half of a key's rate is believed to be of any time
	unclear     = .03   // weight of a request that may be a retry, in what fresh ones do (chains-trial.md point 7)
)

// freshRate is the rate at which a fresh request of this identity is expected
// now: not more than either of its keys has.
func (m *Matcher) freshRate(r *Request, w *who) float64 {
	rate := math.Inf(1)
	if w.known {
		rate = m.keyRate(m.keys.at(w.own), r.Start)
	}
	if w.otherKnown {
		rate = min(rate, m.keyRate(m.keys.at(w.other), r.Start))
	}
	if math.IsInf(rate, 1) {
		rate = 0
	}
	return leastRate + rate
}

// keyRate is the repeat rate of a key, shrunk towards its template's, and the
// hazard of a renewal since its last fresh start.
func (m *Matcher) keyRate(k *key, now int64) float64 {
	t := &m.model.fresh.slots[k.tmpl]
	repeat := m.repeatRate(k, now)
	density, below := t.waits.sharp(placeOf(float64(now-k.lastFresh)/1e9 + m.dither))
	renewal := t.again * density / math.Max(.05, 1-t.again*below)
	return repeat + renewal
}

// repeatRate is how often a key is asked for while no failure of it waits, per second.
func (m *Matcher) repeatRate(k *key, now int64) float64 {
	all := float64(now-k.first) / 1e9
	idle := math.Max(leastIdle*all, all-float64(k.busy)/1e9)
	return (float64(k.repeats) + templateFor*m.model.fresh.slots[k.tmpl].rate) / (idle + templateFor)
}

// logWait is a wait in seconds as a logarithm for cadences.
func logWait(wait float64) uint16 {
	p := placeOf(wait)
	return uint16((float64(p.bin) + p.frac) * (logUnit / perOctave))
}

// control is the density with which this identity would ask again now had nothing
// failed: only what a failure adds to it speaks for a retry (detection.md 5.3),
// and so a poller that keeps its pace is none. It counts as far as it has been
// learned, and as far as it goes beyond the rate of a key that is seen to be asked for
// at any time: that counts as fresh already, and keeps no pace.
func (m *Matcher) control(r *Request, w *who) float64 {
	if w.voice < 0 {
		return 0
	}
	k := m.keys.at(w.voice)
	t := &m.model.fresh.slots[k.tmpl]
	n, seen := float64(t.waits.n)/unit, float64(k.repeats)
	density, _ := t.waits.sharp(placeOf(w.sinceFresh))
	anyTime := m.repeatRate(k, r.Start) * seen / (seen + trustRate)
	return math.Max(0, t.again*density-anyTime) * n / (n + trustRepeat)
}

// paced tells whether a request keeps to the pace of its path, by those who keep
// asking for it after successes: pollers that have not shown their own pace yet.
func (m *Matcher) paced(w *who) bool {
	if w.voice < 0 || m.keys.at(w.voice).afterOK.n >= needBeats {
		return false
	}
	t := &m.model.fresh.slots[m.keys.at(w.voice).tmpl]
	// A crowd that hardly ever succeeds and comes back at one pace does not get here.
	if t.served < paceWaits*unit || float64(t.served) < paceServed*float64(t.asked) {
		return false
	}
	mass := float32(0)
	at := placeOf(w.sinceFresh).bin
	for b := max(at-paceWithin, 0); b <= min(at+paceWithin, fineBins-1); b++ {
		mass += t.waits.fine[b]
	}
	return mass >= paceShare
}

const (
	paceWaits  = 10
	paceServed = .3 // of what was asked
	paceWithin = 3  // bins: a tenth
	paceShare  = .6 // of the waits, of which the prior holds 4 of 14 at first
)
