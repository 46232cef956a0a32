package ui

const leastZoom = 10 * second

// zoom changes the part of the time that the timeline shows, around the present
// moment.
func (c *console) zoom(act action) effect {
	s := c.snap
	start, end := s.Start, max(s.End, s.At)
	if start == 0 || end-start < leastZoom {
		return c.flash("nothing to zoom into yet")
	}
	from, to := c.v.from, c.v.to
	if from == 0 {
		from, to = start, end
	}
	length := to - from
	switch act {
	case actZoomIn:
		length = max(length/2, leastZoom)
	case actZoomOut:
		length *= 2
	default:
		length = end - start
	}
	if length >= end-start {
		return c.zoomTo(0, 0)
	}
	middle := min(max(s.At, start), end)
	from = min(max(middle-length/2, start), end-length)
	return c.zoomTo(from, from+length)
}

// zoomTo shows a part of the time; 0 shows all of it.
func (c *console) zoomTo(from, to int64) effect {
	if c.v.from = from; from == 0 {
		to = 0
	}
	c.v.to = to
	c.want()
	if from == 0 {
		return c.flash("timeline: all of it")
	}
	return c.flash("timeline: " + clock(from) + " to " + clock(to) + "; - zooms out, 0 shows all")
}

// follow keeps the present moment inside the zoomed part.
func (c *console) follow() {
	at := c.snap.At
	if c.v.from == 0 || at == 0 || at >= c.v.from && at <= c.v.to {
		return
	}
	length := c.v.to - c.v.from
	c.v.from = max(at-length/2, c.snap.Start)
	c.v.to = c.v.from + length
}
