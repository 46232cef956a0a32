package capture

// unit is how a reset that is a number is to be read.
type unit uint8

const (
	unitUnknown unit = iota
	unitSeconds      // left
	unitMillis       // left
	unitEpoch        // Unix seconds
	unitEpochMillis
)

const (
	second      = int64(1e9)
	day         = 24 * 3600 // seconds
	farthest    = 31 * day  // from the server's Date; a monthly quota ends within it
	agreeing    = 3         // pairs of answers that settle a unit
	leastApart  = 5 * second
	maxUnits    = 256  // hosts' fields whose unit is learned
	maxSeries   = 1024 // clients' limits followed at a time
	seriesDepth = 2    // answers of each that are remembered
)

// told is what one answer says of a reset, beside the number itself.
type told struct {
	value  int64 // thousandths
	date   int64 // the server's clock, Unix ms
	window int64 // of the limit, in seconds; 0 not told
	wait   int64 // that the answer names in another field, ns; 0 none
}

// guess reads the unit from one answer: from its size first, an epoch being
// larger than any span that is meant, then from the window and from the wait that
// the same answer names.
func (t *told) guess() unit {
	v := t.value / 1000
	switch {
	case v >= 1e14:
		return unitUnknown
	case v >= 1e11:
		return unitEpochMillis
	case v >= 1e9:
		return unitEpoch
	case t.window > 0 && v <= t.window+t.window/10:
		return unitSeconds
	case v > day && t.window > 0 && t.window <= 3600, t.sameInMillis():
		return unitMillis
	}
	return unitSeconds
}

// sameInMillis tells whether the number is the other wait in milliseconds. Waits
// are told in whole seconds, rounded up; a window of whole minutes that happens
// to be near a thousand times the wait is a window.
func (t *told) sameInMillis() bool {
	v, h := t.value/1000, t.wait/second
	if h < 1 || v < 850*h || v > 1150*h {
		return false
	}
	return v == 1000*h || h > 1 && v%60 != 0
}

// reads turns the number into a wait.
func (t *told) reads(u unit) (kind HintKind, wait int64) {
	switch u {
	case unitSeconds:
		return ResetSeconds, times(t.value, second)
	case unitMillis:
		return ResetMillis, times(t.value, second/1000)
	case unitEpoch:
		return t.until(ResetEpoch, t.value)
	case unitEpochMillis:
		return t.until(ResetEpochMillis, t.value/1000)
	}
	return Malformed, 0
}

// until is the wait for a moment in Unix ms. One that has passed lately is a wait
// of 0; one long past is no moment that was meant.
func (t *told) until(kind HintKind, at int64) (HintKind, int64) {
	left := at - t.date
	switch {
	case left < -farthest*1000:
		return Malformed, 0
	case left <= 0:
		return kind, 0
	}
	return kind, times(left*1000, second/1000)
}

// units learns how hosts mean the numbers of their reset fields, from how these
// change between answers: seconds left fall by one a second, milliseconds by a
// thousand, a moment stays. Its state is bounded; what falls out has to be
// learned again.
type units struct {
	learned map[unitKey]lesson
	hosts   []unitKey // in order of their coming
	series  map[seriesKey]series
	clients []seriesKey
	nextU   int
	nextS   int
	health  *Health // counts what falls out
}

type unitKey struct {
	host  Symbol
	field Field
}

// seriesKey is a limit of one client.
type seriesKey struct {
	unitKey
	part uint64
	ip   [16]byte
}

type lesson struct {
	unit  unit
	last  unit // that the latest pairs say,
	pairs uint8
}

type series struct {
	at, value [seriesDepth]int64 // ns; thousandths
	left      [seriesDepth]uint32
}

// learn takes a number that tells of no unit and returns the one learned so far.
// left is 1 plus what is left of the limit, or 0.
func (u *units) learn(k seriesKey, at, value int64, left uint32) unit {
	if u.learned == nil {
		u.learned, u.series = make(map[unitKey]lesson, maxUnits), make(map[seriesKey]series, maxSeries)
	}
	l, known := u.learned[k.unitKey]
	if !known {
		u.hosts, u.nextU = admit(u.hosts, u.nextU, maxUnits, k.unitKey, u.learned, u.health)
	}
	s, seen := u.series[k]
	if !seen {
		u.clients, u.nextS = admit(u.clients, u.nextS, maxSeries, k, u.series, u.health)
	}
	for i := range s.at {
		if s.at[i] != 0 && !(left > s.left[i] && s.left[i] != 0) {
			l.take(slope(at-s.at[i], value-s.value[i]))
		}
	}
	if at-s.at[0] >= leastApart || s.at[0] == 0 || value > s.value[0] {
		s.at[1], s.value[1], s.left[1] = s.at[0], s.value[0], s.left[0]
		s.at[0], s.value[0], s.left[0] = at, value, left
	}
	u.learned[k.unitKey], u.series[k] = l, s
	return l.unit
}

const boundUnits = "more limits than are followed to learn in which unit they tell their reset: the oldest were forgotten"

// admit notes a new key in the ring; the oldest one goes where there is no room.
func admit[K comparable, V any](ring []K, next, most int, k K, of map[K]V, h *Health) ([]K, int) {
	if len(ring) < most {
		return append(ring, k), next
	}
	delete(of, ring[next])
	ring[next] = k
	h.Bound(boundUnits)
	return ring, (next + 1) % most
}

// slope is the unit that a pair of answers says: the change of thousandths in
// some nanoseconds.
func slope(dt, dv int64) unit {
	if dt < leastApart || dv >= 0 || dt > int64(farthest)*second { // a new window, or a moment, which its size has told
		return unitUnknown
	}
	switch per := float64(dv) / 1000 / (float64(dt) / 1e9); {
	case per >= -1.2 && per <= -0.8:
		return unitSeconds
	case per >= -1200 && per <= -800:
		return unitMillis
	}
	return unitUnknown
}

// take counts a pair. Pairs that disagree begin anew.
func (l *lesson) take(u unit) {
	switch {
	case u == unitUnknown:
	case u != l.last:
		l.last, l.pairs = u, 1
	case l.pairs < agreeing:
		l.pairs++
	}
	if l.pairs == agreeing {
		l.unit = l.last
	}
}
