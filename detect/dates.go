package detect

import (
	"math"
	"time"

	"stormwatch/capture"
)

// dateCounts sum how retries kept to waits that were named as dates: how far they
// missed them, and how long they waited. Integers, so that the order of shards
// does not matter.
type dateCounts struct {
	n, early      int64
	missMs, gapMs int64
	clocks        int64 // answers with a Date
	clockMs       int64 // the Date less the capture's clock
	missSq, gapSq int64 // in hundredths of a second, squared
}

func (d *dateCounts) add(o *dateCounts) {
	d.n += o.n
	d.early += o.early
	d.missMs += o.missMs
	d.gapMs += o.gapMs
	d.missSq += o.missSq
	d.clocks += o.clocks
	d.clockMs += o.clockMs
	d.gapSq += o.gapSq
}

// see takes the clock of a server from an answer.
func (d *dateCounts) see(x *capture.Exchange) {
	if x.Date != 0 && x.Outcome == capture.Answered {
		d.clocks++
		d.clockMs += min(max(x.Date*1000+500-x.End/1e6, -maxOff), maxOff)
	}
}

// maxOff bounds what one clock may add, in milliseconds: a day.
const maxOff = 86400e3

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
	h.missSq += square(miss, 10)
	h.gapMs += waited
	h.gapSq += square(waited, 10)
	c.count(d, dated, 1)
	if did := &d.history(c).did; did[dated] <= mostDates {
		did[datedMs] += int32(miss)
		did[datedSq] += int32(square(miss, 100))
		did[datedGap] += int32(waited)
		did[datedGapSq] += int32(square(waited, 100))
	}
	if tooEarly(wait, gap, resolution) {
		h.early++
		c.note(d, f, datedEarly, f.rec.Start)
	}
}

// square of a time in units of so many milliseconds, rounded: cut off, it would
// make a deviation smaller than it is.
func square(ms, unit int64) int64 {
	if ms < 0 {
		ms = -ms
	}
	n := (ms + unit/2) / unit
	return n * n
}

// skewed tells whether the dates that servers name are kept to by clocks that
// differ from theirs, of late: retries come too early, yet they follow the dates,
// or they come no earlier than the servers' clocks are seen to be slow. Who ignores
// a date waits as it likes, and misses it by more the further off it is.
func (d *dateCounts) skewed() bool {
	mean, spread := moments(d.n, d.missMs, d.missSq)
	_, waits := moments(d.n, d.gapMs, d.gapSq)
	if mean >= -leastSkew {
		return false
	}
	return d.n >= provenDates && d.slow(mean) || d.n >= pooledDates && spread < follows*waits
}

// slow tells whether the servers' own clocks explain that dates are missed by mean
// seconds: what their Date fields say, against the clock of the capture.
func (d *dateCounts) slow(mean float64) bool {
	if d.clocks < pooledDates {
		return false
	}
	off := float64(d.clockMs) / 1e3 / float64(d.clocks)
	return off < -leastSkew && mean > off-.5
}

const (
	provenDates = 5   // retries, where the servers' own clocks explain what is missed
	pooledDates = 20  // retries that tell a deviation within a sixth
	fewestDates = 8   // of one client: a deviation within a quarter
	mostDates   = 1e3 // of one client: its sums stay within 32 bits, and more tell nothing new
	leastSkew   = 2.  // s: dates are cut to whole seconds, at either end
	follows     = .8  // where waits do not follow the dates, what is missed spreads more than what was waited
)

// moments gives mean and deviation in seconds.
func moments(n, sumMs, sumSq int64) (mean, spread float64) {
	if n == 0 {
		return 0, 0
	}
	mean = float64(sumMs) / 1e3 / float64(n)
	return mean, math.Sqrt(max(float64(sumSq)/1e4/float64(n)-mean*mean, 0))
}

// ownClock tells whether a client misses its dates by its own clock: by the same
// each time, though the waits differ.
func (c *conduct) ownClock() bool {
	n := int64(min(c[dated], mostDates))
	mean, spread := moments(n, int64(c[datedMs]), 100*int64(c[datedSq]))
	_, waits := moments(n, int64(c[datedGap]), 100*int64(c[datedGapSq]))
	return n >= fewestDates && mean < -leastSkew && spread < .35*waits
}
