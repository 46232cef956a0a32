package ui

import (
	"slices"
	"strconv"
)

// speeds of a replay, in event seconds per second; 0 is as fast as possible.
func speeds() []float64 { return []float64{0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 0} }

// speedName prints a speed as the transport shows it.
func speedName(x float64) string {
	switch x {
	case 0:
		return "max"
	case 0.25:
		return "x1/4"
	case 0.5:
		return "x1/2"
	}
	return "x" + strconv.FormatFloat(x, 'g', 4, 64)
}

// steer does what concerns the clock.
func (c *console) steer(act action) effect {
	t := c.feed.Transport()
	if t == nil {
		return c.freeze(act)
	}
	switch act {
	case actPause:
		t.Pause(!t.Paused())
	case actBackward:
		return c.seek(c.position() - 10*second)
	case actForward:
		return c.seek(c.position() + 10*second)
	case actFarBackward:
		return c.seek(c.position() - 60*second)
	case actFarForward:
		return c.seek(c.position() + 60*second)
	case actStepBackward:
		return c.seek(c.position() - c.bucket())
	case actStepForward:
		return c.seek(c.position() + c.bucket())
	case actSlower:
		t.SetSpeed(nextSpeed(t.Speed(), -1))
	case actFaster:
		t.SetSpeed(nextSpeed(t.Speed(), 1))
	case actNextEvent:
		return c.seekEvent(1)
	case actPreviousEvent:
		return c.seekEvent(-1)
	case actFollow:
		return c.jump(c.snap.End)
	}
	c.refresh()
	return effect{}
}

// freeze holds the view of live input, or lets it go on.
func (c *console) freeze(act action) effect {
	switch act {
	case actPause:
		c.v.play.frozen = !c.v.play.frozen
	case actFollow:
		c.v.play.frozen = false
		c.v.selected, c.v.cursor = "", 0
	}
	c.v.play.behind = 0
	c.refresh()
	return effect{}
}

func nextSpeed(now float64, by int) float64 {
	list := speeds()
	at := slices.Index(list, now)
	if at < 0 {
		at = slices.Index(list, 1)
	}
	return list[min(max(at+by, 0), len(list)-1)]
}

// position is the event time that keys count from: where a seek under way will
// end, else what is shown. So three quick presses go thrice as far.
func (c *console) position() int64 {
	if c.v.play.target != 0 {
		return c.v.play.target
	}
	return c.snap.At
}

func (c *console) bucket() int64 {
	if w := c.snap.Timeline.Width; w > 0 {
		return w
	}
	return second
}

func (c *console) seek(t int64) effect {
	s := c.snap
	if s.Start == 0 {
		return c.flash("nothing to seek in yet")
	}
	t = min(max(t, s.Start), max(s.End, s.At))
	c.v.play.target, c.seekFrames = t, seekPatience
	c.feed.Transport().SeekTo(t)
	return effect{}
}

// jump seeks to a moment that is no step away, where other clients rank first: the
// table begins at its top again.
func (c *console) jump(t int64) effect {
	c.v.selected, c.v.cursor = "", 0
	return c.seek(t)
}

// seekEvent goes to the nearest event after or before the present position.
func (c *console) seekEvent(direction int) effect {
	from := c.position()
	best := int64(0)
	for _, e := range c.snap.Events {
		if direction > 0 && e.At > from && (best == 0 || e.At < best) ||
			direction < 0 && e.At < from && e.At > best {
			best = e.At
		}
	}
	if best == 0 {
		if direction > 0 {
			return c.flash("no later event found yet; f goes to the end")
		}
		return c.flash("no earlier event")
	}
	return c.jump(best)
}
