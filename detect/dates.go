package detect

import (
	"math"
	"time"
)

// dateCounts sum how retries kept to waits that were named as dates: how far they
// missed them, and how long they waited. Integers, so that the order of shards
// does not matter.
type dateCounts struct {
	n, early      int64
	missMs, gapMs int64
	missSq, gapSq int64 // in hundredths of a second, squared
}

func (d *dateCounts) add(o *dateCounts) {
	d.n += o.n
	d.early += o.early
	d.missMs += o.missMs
	d.gapMs += o.gapMs
	d.missSq += o.missSq
	d.gapSq += o.gapSq
}

// maxMiss bounds what one retry may add, so that sums of squares cannot overflow.
const maxMiss = int64(time.Minute)

// auditDate notes by how much a retry missed the date it was given: where clocks
// differ, those who keep to it miss it by as much each time.
func (e *engine) auditDate(d *delta, c *client, f *flight, resolution int64) {
	wait, gap := f.link.ParentHint.Wait, f.link.Gap
	miss := min(max(gap-wait, -maxMiss), maxMiss) / 1e6
	waited := min(gap, maxMiss) / 1e6
	h := &d.hints.dates
	h.n++
	h.missMs += miss
	h.missSq += miss / 10 * (miss / 10)
	h.gapMs += waited
	h.gapSq += waited / 10 * (waited / 10)
	c.count(d, dated, 1)
	c.did[datedMs] += int32(miss)
	c.count(d, datedSq, int32(miss/100*(miss/100)))
	if tooEarly(wait, gap, resolution) {
		h.early++
		c.note(d, f, datedEarly, f.rec.Start)
	}
}

// skewed tells whether the dates that servers name are kept to by clocks that
// differ from theirs, of late: retries come too early, and how early they come
// varies less than how long they waited. Who ignores a date waits as it likes, and
// misses it by more the further off it is.
func (d *dateCounts) skewed() bool {
	mean, spread := moments(d.n, d.missMs, d.missSq)
	_, waits := moments(d.n, d.gapMs, d.gapSq)
	return d.n >= pooledDates && mean < -2*float64(dateClock)/1e9 && (spread < steadySpread || spread < .9*waits)
}

// pooledDates is how many retries tell a deviation within a quarter.
const pooledDates = 10

// moments gives mean and deviation in seconds.
func moments(n, sumMs, sumSq int64) (mean, spread float64) {
	if n == 0 {
		return 0, 0
	}
	mean = float64(sumMs) / 1e3 / float64(n)
	return mean, math.Sqrt(max(float64(sumSq)/1e4/float64(n)-mean*mean, 0))
}

const (
	fewestDates  = 3   // retries after dates before a skew is told
	steadySpread = .75 // s: a date is cut to whole seconds, which spreads by .3 s, and jitter of clients adds to it
)

// skew is how far retries miss the dates they were given: mean and deviation in
// seconds, and whether that is a clock's doing.
func skew(n, sumMs, sumSq int64) (mean, spread float64, steady bool) {
	if n < fewestDates {
		return 0, 0, false
	}
	mean = float64(sumMs) / 1e3 / float64(n)
	spread = math.Sqrt(max(float64(sumSq)/100/float64(n)-mean*mean, 0))
	return mean, spread, mean < -2*float64(dateClock)/1e9 && spread < max(steadySpread, -mean/3)
}
