package packet

import "stormwatch/capture"

// clock judges the time stamps of a capture.
type clock struct {
	n       uint64
	newest  int64
	nanos   bool // some stamp has digits below a microsecond
	micros  bool // some has digits below a millisecond
	millis  bool // some has digits below a second
	backSet bool // the clock is behind newest
}

const (
	// backStep is how far a time stamp may fall behind the newest one before the
	// clock has been set back: several queues of a card reorder by less.
	backStep = 100e6
	// enoughStamps show a clock's resolution: ten stamps of a microsecond clock
	// end in 000 all together once in 10^30.
	enoughStamps = 10
)

func (c *clock) see(t, newest int64, h *capture.Health) {
	c.n++
	c.nanos = c.nanos || t%1e3 != 0
	c.micros = c.micros || t%1e6 != 0
	c.millis = c.millis || t%1e9 != 0
	behind := t < newest-backStep
	if behind && !c.backSet {
		h.ClockSteps++
	}
	c.backSet = behind
	c.newest = max(c.newest, t)
	if c.n == enoughStamps {
		h.Resolution = c.resolution(1)
	}
}

// resolution returns the clock's in nanoseconds; unit is the file format's.
func (c *clock) resolution(unit int64) int64 {
	switch {
	case c.n == 0:
		return 0
	case c.n < enoughStamps:
		return unit
	case c.nanos:
		return max(unit, 1)
	case c.micros:
		return max(unit, 1e3)
	case c.millis:
		return max(unit, 1e6)
	}
	return 1e9
}
