package chain

import "math"

// model is all that is learned from the traffic as a whole. Between barriers it
// does not change; every shard reads it.
type model struct {
	waits  bank // from a failure's end to its retry
	beyond bank // from the end of the wait a server named to the retry
	ratios ratios
	quits  quits
	blend  blend
	fresh  templates
	known  catalogue
	ids    passedIDs

	own             float32 // how much a wait that is looked up is among those counted
	requests, whole int64   // seen so far, and on whole seconds
	wholeSeconds    bool    // the clock has no finer resolution
}

func newModel() *model {
	// Broad priors (chains-trial.md point 5 and the trial behind it): a retry
	// comes after .8 s, give or take a factor of six, with a floor for every
	// scale; beyond a hint, at once or at any scale; a fresh repeat after 15 s. Of what
	// is longer than two minutes they hold little.
	rare := func(w float64) float64 { return min(1, 131/w) }
	return &model{
		ids:    passedIDs{proves: true},
		waits:  newBank(priorKernel(func(w float64) float64 { return logNormal(w, .8, 1.8) + .15/w*rare(w) })),
		beyond: newBank(priorKernel(func(w float64) float64 { return 1 / (w + .003) * rare(w) })),
		ratios: newRatios(),
		quits:  newQuits(),
		blend:  newBlend(),
		known:  newCatalogue(),
		fresh:  newTemplates(priorKernel(func(w float64) float64 { return logNormal(w, 15, 1.5) + .05/w + .02*rare(w)*rare(w)*rare(w) })),
	}
}

// quits is how many failures of a class and attempt are retried.
type quits struct {
	children, failures [classes][quitAttempts + 1]int64 // fixed point; attempt 0: the class
	lapsed             [classes][quitAttempts + 1]int64 // failures of the second at hand
	q                  [classes][quitAttempts + 1]float64
}

const (
	quitAttempts = 12
	priorRetried = .6 // chains-trial.md point 5, of weight pseudo
	forgetQuits  = 1 << 13 * unit

	// Failures that pass a quantile of the wait in one second say one thing: before
	// any retry was seen, a crowd that failed together and waits longer than the prior
	// thinks would seem not to retry at all, and never get over it
	// (TestCrowdThatWaitsLong).
	lapsedAtOnce = 2 * unit
)

func newQuits() (q quits) {
	q.refresh()
	return q
}

// refresh makes the shares, each backed by the one of its class.
func (q *quits) refresh() {
	for c := range q.q {
		up := priorRetried
		for a := range q.q[c] {
			n, f := &q.children[c][a], &q.failures[c][a]
			if q.children[c][a] < waitsToTrust*unit {
				q.lapsed[c][a] = min(q.lapsed[c][a], lapsedAtOnce)
			}
			*f += q.lapsed[c][a]
			q.lapsed[c][a] = 0
			if *f > forgetQuits {
				*n, *f = *n/2, *f/2
			}
			children, failures := float64(*n)/unit, float64(max(*f, *n))/unit
			q.q[c][a] = min(.99, (children+pseudo*up)/(failures+pseudo))
			if a == 0 {
				up = q.q[c][0]
			}
		}
	}
}

func (q *quits) of(class uint8, attempt int32) float64 {
	return q.q[class][min(attempt, quitAttempts)]
}

// ratios are the distributions of a wait over an earlier one of the same client:
// over the one before in the chain, which shows a constant or a doubling timer
// whatever its scale, and over the same client's last first wait.
type ratios [2]ratioKernel

type ratioKernel struct {
	n     int64
	dirty bool
	count [ratioBins]uint32
	mass  [ratioBins]float32
	below [ratioBins + 1]float32
}

const (
	overBefore = iota
	overFirst
)

func newRatios() (r ratios) {
	for i := range r {
		r[i].dirty = true
		r[i].refresh(0)
	}
	return r
}

// ratioPrior is the mass of a bin before anything is learned: constant and
// doubling timers, and a broad rest.
func ratioPrior(bin int) float64 {
	const broad = 6 * perOctave
	p := 0.0
	switch bin {
	case ratioBins/2 - 1, ratioBins / 2:
		p = .15
	case ratioBins/2 + perOctave - 1, ratioBins/2 + perOctave:
		p = .1
	}
	if d := bin - ratioBins/2; d >= -broad/2 && d < broad/2 {
		p += .45 / broad
	}
	return p + .05/ratioBins
}

func (k *ratioKernel) add(bin int, w int64) {
	k.n += saturate(&k.count[bin], w)
	k.dirty = true
}

func (k *ratioKernel) refresh(own float64) {
	if !k.dirty {
		return
	}
	k.dirty = false
	if k.n >= forgetAt {
		k.n = 0
		for i := range k.count {
			k.count[i] /= 2
			k.n += int64(k.count[i])
		}
	}
	n := float64(k.n)/unit + pseudo
	left := 0.0
	for b := range k.mass {
		right := 0.0
		if b+1 < ratioBins {
			right = float64(k.count[b+1])
		}
		here := float64(k.count[b])
		smooth := (left + 2*here + right) / (4 * unit)
		k.mass[b] = float32((smooth - min(own/2, smooth) + pseudo*ratioPrior(b)) / n)
		k.below[b+1] = k.below[b] + k.mass[b]
		left = here
	}
}

// at returns density and distribution at a ratio reached after a wait.
func (k *ratioKernel) at(p place) (density, below float64) {
	m := float64(k.mass[p.bin])
	return m * p.per, float64(k.below[p.bin]) + m*p.frac
}

// blend is how much each expert on waits is to be believed, by class and by
// whether it is the first retry: expectation maximisation over the retries seen,
// each shared among the experts by how well they foretold it.
type blend struct {
	credit [classes][2][experts]int64 // fixed point
	weight [classes][2][experts]float64
	even   [classes][2]float64 // what of it all of them share evenly
}

// Experts.
const (
	expertPrior = iota
	expertCoarse
	expertFine
	expertBeyondCoarse
	expertBeyondFine
	expertRatio
	expertCatalogue
	experts
)

// blendPrior is in retries.
var blendPrior = [experts]float64{1, 2, 1, 2, 1, 1, 1}

const forgetBlend = 1 << 10 * unit

func newBlend() (b blend) {
	b.refresh()
	return b
}

func (b *blend) refresh() {
	for c := range b.credit {
		for late := range b.credit[c] {
			credit := &b.credit[c][late]
			sum := int64(0)
			for _, x := range credit {
				sum += x
			}
			for e := range credit {
				if sum > forgetBlend {
					credit[e] /= 2
				}
				b.weight[c][late][e] = float64(credit[e])/unit + blendPrior[e]
			}
			b.even[c][late] = leastEvenly + (evenly-leastEvenly)*evenFor/(evenFor+float64(sum)/unit)
		}
	}
}

// templates is what is known of fresh requests by the shape of their path: how
// often they repeat, and after what wait.
type templates struct {
	index map[uint64]uint16
	slots []template // 0: shapes not known yet, or too many
}

type template struct {
	waits       kernel  // from one fresh start to the next of the same client
	starts      int64   // fresh starts that a repeat may follow, fixed point
	asked       int64   // requests that follow an outcome,
	served      int64   // and those of them that follow a success, likewise
	keys        int64   // remembered now
	repeats     int64   // with no failure waiting
	busy        int64   // ns of this tick in which a failure waited
	time        float64 // seconds of all keys together, less those in which a failure waited
	rate, again float64 // repeats per second; share of starts that are repeated
}

const (
	maxTemplates = 1024
	priorAgain   = .3 // share of fresh starts that are repeated, of weight 3
	weightAgain  = 3
	forgetRepeat = 1 << 14
)

func newTemplates(prior kernel) templates {
	t := templates{index: map[uint64]uint16{}, slots: make([]template, 1, 8)}
	t.slots[0].waits = prior
	t.slots[0].rate, t.slots[0].again = .01, priorAgain
	return t
}

// slot returns where a template is kept, 0 if it is not known.
func (t *templates) slot(hash uint64) uint16 { return t.index[hash] }

// admit gives templates a slot, in the order given.
func (t *templates) admit(hashes []uint64) {
	for _, h := range hashes {
		if _, known := t.index[h]; known || len(t.slots) == maxTemplates {
			continue
		}
		t.index[h] = uint16(len(t.slots))
		t.slots = append(t.slots, template{waits: kernel{dirty: true}})
	}
}

// refresh makes rates and tables after dt seconds more.
func (t *templates) refresh(dt float64, own float32) {
	prior := &t.slots[0].waits
	for i := 1; i < len(t.slots); i++ {
		s := &t.slots[i]
		s.time += float64(s.keys) * dt
		if s.repeats > forgetRepeat {
			s.repeats /= 2
			s.time /= 2
		}
		s.time = math.Max(.15*s.time, s.time-float64(s.busy)/1e9)
		s.busy = 0
		s.rate = (float64(s.repeats) + .05) / (s.time + 5)
		if s.asked > forgetAt {
			s.asked, s.served = s.asked/2, s.served/2
		}
		if s.starts > forgetAt {
			s.starts /= 2
			s.waits.halve()
		}
		n := s.waits.n
		s.again = min(.99, (float64(n)/unit+weightAgain*priorAgain)/(float64(max(n, s.starts))/unit+weightAgain))
		if s.waits.dirty {
			s.waits.refresh(prior, own)
		}
	}
}
