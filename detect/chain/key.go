package chain

import "slices"

// key is what is remembered of one operation as asked for by one identity: by an
// address, or by a credential. It holds no pointer.
type key struct {
	hash      uint64
	first     int64 // start of the first request
	last      int64 // start of the latest request
	lastFresh int64 // start of the latest first attempt
	busy      int64 // ns in which a failure waited for its retry
	repeats   uint32
	open      int32 // head of its open failures, latest first; none if negative
	firstWait float32
	tmpl      uint16
	opens     uint8
	state     uint8

	retried, quit  uint8  // failures of it that were retried, and that lapsed
	foretold       uint16 // how many of them are retried elsewhere, by their attempts, in 1/crossUnit
	cross, links   uint16 // retries from elsewhere (another address or credential), and all, in 1/crossUnit
	afterOK, after beat
	steady         uint16 // log wait between requests that follow a success, when regular; 0 otherwise
	lastID         uint32 // passed id of the latest request, its low half
	home           uint32 // by credential: the address it was first seen from
	shared         bool   // by credential: seen from several addresses
	poller         bool
	live           bool
}

// What the latest request of a key came to.
const (
	inFlight uint8 = iota
	succeeded
	failed
)

// beat keeps the last waits between requests, as logarithms.
type beat struct {
	log [beats]uint16
	n   uint8
}

const (
	beats     = 5
	logUnit   = 256 // of an octave
	needBeats = 3
)

func (b *beat) add(log uint16) {
	b.log[b.n%beats] = log
	if b.n++; b.n == 2*beats {
		b.n = beats
	}
}

// middle returns the median and the median deviation from it.
func (b *beat) middle() (median, deviation uint16) {
	var s, d [beats]uint16
	n := min(int(b.n), beats)
	copy(s[:n], b.log[:n])
	slices.Sort(s[:n])
	median = s[n/2]
	for i, x := range s[:n] {
		d[i] = max(x, median) - min(x, median)
	}
	slices.Sort(d[:n])
	return median, d[n/2]
}

// Limits of the poller gate (detection.md 5.3), as logarithms: a median
// deviation of a tenth, medians within a fifth of each other, and, for the single
// request that comes on the beat before enough failures were seen, an eighth.
const (
	steadyWithin = 35 // log2(1.1)
	sameWithin   = 82 // log2(1.25)
	onBeatWithin = 43 // log2(1.125)
	samePace     = 7  // log2(1.02)
)

// feel takes the wait that came before a request and judges the cadence of the
// key: a poller asks at its pace whatever the answers were.
func (k *key) feel(log uint16) {
	switch k.state {
	case succeeded:
		k.afterOK.add(log)
	case failed:
		k.after.add(log)
	default:
		return
	}
	if k.afterOK.n < needBeats {
		return
	}
	median, deviation := k.afterOK.middle()
	k.steady, k.poller = 0, false
	if deviation > steadyWithin {
		return
	}
	k.steady = max(median, 1)
	if k.after.n >= needBeats {
		m, _ := k.after.middle()
		k.poller = max(m, median)-min(m, median) <= sameWithin
	}
}

// onBeat tells whether a request after such a wait keeps to the cadence that the
// key has after successes.
func (k *key) onBeat(log uint16) bool {
	if k.poller {
		return true
	}
	return k.steady > 0 && k.after.n < needBeats && max(log, k.steady)-min(log, k.steady) <= onBeatWithin
}

// keepsPace tells whether the latest two waits of a key, which asked only after
// failures so far, were the same.
func (k *key) keepsPace() bool {
	b := &k.after
	if k.afterOK.n > 0 || b.n < 2 {
		return false
	}
	x, y := b.log[(b.n-1)%beats], b.log[(b.n-2)%beats]
	return max(x, y)-min(x, y) <= samePace
}

// backing is the weight of the others, in failures, beside what a key itself did: of 1,
// 2 and 4 the one with the best F1 over the scenarios of TestQualityOfChains.
const backing = 1

// share is how likely this key retries a failure of which others retry q: it is set
// against what they do at the same attempts, so that a client that retries three times,
// as all do, is not thought to retry a fourth time for that.
func (k *key) share(q float64) float64 {
	retried, quit := float64(k.retried), float64(k.quit)
	more := float64(k.foretold) / crossUnit
	yes := q * (retried + backing) / (more + backing)
	no := (1 - q) * (quit + backing) / (max(retried+quit-more, 0) + backing)
	return min(.99, yes/(yes+no))
}

// ended counts whether a failure was retried, of which others retry q.
func (k *key) ended(retried bool, q float64) {
	if retried {
		k.retried++
	} else {
		k.quit++
	}
	k.foretold += uint16(q * crossUnit)
	if k.retried+k.quit > 200 {
		k.retried /= 2
		k.quit /= 2
		k.foretold /= 2
	}
}

// relented takes a failure back that was thought to be given up.
func (k *key) relented(q float64) {
	if k.quit > 0 {
		k.quit--
		k.foretold -= min(k.foretold, uint16(q*crossUnit))
	}
}

const (
	crossUnit  = 32
	priorCross = .05 // chains-trial.md point 2, of weight 1
)

// crossShare is how readily a retry is believed to come from another identity.
func (k *key) crossShare() float64 {
	return (float64(k.cross)/crossUnit + priorCross) / (float64(k.links)/crossUnit + 1)
}

func (k *key) linked(weight float64, cross bool) {
	w := uint16(weight*crossUnit + .5)
	k.links += w
	if cross {
		k.cross += w
	}
	if k.links > 1<<13 {
		k.links /= 2
		k.cross /= 2
	}
}

// beat takes the wait before a request and tells whether it keeps to a cadence.
func (k *key) beat(now int64) bool {
	log := logWait(float64(now-k.last) / 1e9)
	on := k.onBeat(log)
	k.feel(log)
	return on
}

// finish notes what the latest request came to.
func (k *key) finish(bad bool) {
	k.state = succeeded
	if bad {
		k.state = failed
	}
}
