package ui

import (
	"fmt"
	"slices"
	"strconv"

	"stormwatch/detect"
	"stormwatch/report"
)

const (
	arrivalLabel = 10 // columns of the time beside each period
	arrivalFoot  = 4  // rows below the folded picture: its sum, and the axis
	clientLabel  = 17 // columns of the client beside its row of the unfolded picture
)

// drawArrivals draws when retries come: folded by a period, a fleet in step is an
// upright bar and jitter an even field; unfolded, a row for each client.
func drawArrivals(c *canvas, s *detect.Snapshot, v *view) {
	a := &s.Arrivals
	whole := v.screen == screenArrivals
	p := box(c, arrivalsTitle(a, v, whole)+v.unfiltered(s), arrivalsHint(a, v, whole), v.holds(panelArrivals))
	if len(a.Rows) == 0 || a.Width <= 0 {
		noArrivals(s, v, p.w-3).draw(p.sub(rect{2, 0, p.w - 2, p.h}), 0)
		return
	}
	if !whole {
		drawFolded(p, a, 0, p.w >= 64, p.h >= 10)
		return
	}
	picture, beside := arrivalRects(rect{w: p.w, h: p.h})
	if v.unfolded {
		drawUnfolded(p.sub(picture), s)
	} else {
		drawFolded(p.sub(picture), a, v.scroll, true, true)
	}
	arrivalFacts(s, beside.w).draw(p.sub(beside), 0)
}

// arrivalRects parts the screen: the picture at the left, the figures beside it.
func arrivalRects(r rect) (picture, beside rect) {
	w := min(max(r.w*3/8, 30), 56)
	return rect{r.x, r.y, r.w - w - 2, r.h}, rect{r.x + r.w - w, r.y, w, r.h}
}

func arrivalsTitle(a *detect.Arrivals, v *view, whole bool) string {
	switch {
	case a.Period <= 0:
		return "Arrivals"
	case whole && v.unfolded:
		return "Arrivals of " + countClients(len(a.Clients))
	}
	return "Arrivals folded at " + length(a.Period)
}

func arrivalsHint(a *detect.Arrivals, v *view, whole bool) string {
	if whole && len(a.Rows) > 0 {
		if v.unfolded {
			return "u fold"
		}
		return "p next period   u clients x time"
	}
	if report.Known(a.PeakOverMean) {
		return "peak " + times(a.PeakOverMean) + "   4"
	}
	return "4"
}

// length prints a short span of time: "1.008s", "250ms", "2m00s".
func length(ns int64) string {
	switch ms := float64(ns) / 1e6; {
	case ns < 10e6 && ns != 0:
		return strconv.FormatFloat(ms, 'f', 1, 64) + "ms"
	case ns < second:
		return strconv.FormatFloat(ms, 'f', 0, 64) + "ms"
	}
	return seconds(detect.Some(float64(ns) / 1e9))
}

// fewArrivals are the most in one cell below which no cell is drawn as full: two
// that meet are no crowd.
const fewArrivals = 5

// drawFolded draws the latest periods, but for the last back of them, and below
// them their sum and the axis of the phase.
func drawFolded(c *canvas, a *detect.Arrivals, back int, labels, profile bool) {
	x0, foot := 0, 1
	if labels {
		x0 = arrivalLabel
	}
	if profile {
		foot = arrivalFoot
	}
	n := 0
	for _, r := range a.Rows {
		n = max(n, len(r))
	}
	room := c.h - foot
	if n == 0 || room < 1 || c.w-x0 < 4 {
		return
	}
	z := newColumns(n, c.w-x0)
	top := max(len(a.Rows)-room-back, 0)
	shown := a.Rows[top:min(top+room, len(a.Rows))]
	most, sum := int64(fewArrivals), make([]int64, z.n)
	folded := make([][]int64, len(shown))
	for y, r := range shown {
		folded[y] = z.sum(r)
		for x, k := range folded[y] {
			most = max(most, k)
			sum[x] += k
		}
	}
	for y, r := range folded {
		if labels {
			c.text(0, y, clock(a.Start+int64(top+y)*max(a.Period, a.Width)), styleDim)
		}
		for x, k := range r {
			z.fill(c, x0, y, x, heat(k, most))
		}
	}
	y := len(shown)
	if profile {
		drawProfile(c.sub(rect{x0, y, c.w - x0, foot - 1}), sum, z)
		c.text(0, y+foot-2, "all", styleDim)
	}
	drawPhases(c.sub(rect{x0, y + foot - 1, z.n * z.repeat, 1}), a.Period)
}

// drawProfile draws the sum of all periods as bars.
func drawProfile(c *canvas, sum []int64, z columnsOf) {
	most := max(slices.Max(sum), 1)
	for x, k := range sum {
		h := int((k*int64(8*c.h) + most - 1) / most)
		for y := range c.h {
			z.fill(c, 0, c.h-1-y, x, mark{eighths()[min(max(h-8*y, 0), 8)], styleRefused})
		}
	}
}

// drawPhases labels the axis of the phase.
func drawPhases(c *canvas, period int64) {
	for i := range 5 {
		text := length(period * int64(i) / 4)
		if i%2 == 1 && c.w < 60 {
			continue
		}
		x := min(max(c.w*i/4-width(text)/2, 0), c.w-width(text))
		c.text(x, 0, text, styleDim)
	}
}

// drawUnfolded draws a row for each of the busiest clients over the same time.
func drawUnfolded(c *canvas, s *detect.Snapshot) {
	a := &s.Arrivals
	n := 0
	for i := range a.Clients {
		n = max(n, len(a.Clients[i].Cells))
	}
	if n == 0 || c.w <= clientLabel+4 || c.h < 3 {
		c.text(2, 0, "no single client's arrivals are kept", styleDim)
		return
	}
	z := unfoldedColumns(n, len(a.Rows), c.w-clientLabel)
	cell := max(int64(len(a.Rows))*a.Period/int64(n), 1)
	skip := max(n-z.n*z.group, 0) // the latest are shown
	shown := a.Clients[:min(len(a.Clients), c.h-2)]
	rows, most, all := make([][]int64, len(shown)), int64(1), make([]int64, z.n)
	for y := range shown {
		rows[y] = z.sum(shown[y].Cells[min(skip, len(shown[y].Cells)):])
		for x, k := range rows[y] {
			most = max(most, k)
			all[x] += k
		}
	}
	for y, r := range rows {
		c.text(0, y, fit(shown[y].Label, clientLabel-1), styleText)
		for x, k := range r {
			z.fill(c, clientLabel, y, x, heat(k, most))
		}
	}
	c.text(0, len(rows), fit("these "+countClients(len(shown)), clientLabel-1), styleDim)
	drawProfile(c.sub(rect{clientLabel, len(rows), c.w - clientLabel, 1}), all, z)
	axis := c.sub(rect{clientLabel, len(rows) + 1, z.n * z.repeat, 1})
	axis.text(0, 0, clock(a.Start+int64(skip)*cell), styleDim)
	axis.right(axis.w, 0, clock(a.Start+int64(n)*cell), styleDim)
}

// mark is a rune in a style.
type mark struct {
	r rune
	s style
}

// heat is how a count is drawn beside the highest: a ramp that needs no colour.
func heat(k, most int64) mark {
	if k <= 0 {
		return mark{' ', styleText}
	}
	level := (5*k + most - 1) / most
	return mark{[]rune("·░▒▓█")[level-1], styleHeat1 + style(level-1)}
}

// columnsOf maps cells to columns, a whole number of one to each of the other, so
// that an even field stays even.
type columnsOf struct{ n, group, repeat int }

func newColumns(cells, w int) columnsOf {
	group := (cells + w - 1) / w
	return columnsOf{(cells + group - 1) / group, group, max(w/((cells+group-1)/group), 1)}
}

// unfoldedColumns maps the cells of a client over so many periods. A column takes a
// quarter of a period at most, or a fleet in step would look like an even field; the
// latest are shown of those that do not fit.
func unfoldedColumns(cells, periods, w int) columnsOf {
	group := min((cells+w-1)/w, max(cells/max(periods, 1)/4, 1))
	n := min((cells+group-1)/group, w)
	return columnsOf{n, group, max(w/n, 1)}
}

func (z columnsOf) sum(cells []int32) []int64 {
	out := make([]int64, z.n)
	for i, k := range cells {
		if at := i / z.group; at < z.n {
			out[at] += int64(k)
		}
	}
	return out
}

func (z columnsOf) fill(c *canvas, x0, y, x int, m mark) {
	for i := range z.repeat {
		c.set(x0+x*z.repeat+i, y, m.r, m.s)
	}
}

// noArrivals says why there is no picture, and what would give one.
func noArrivals(s *detect.Snapshot, v *view, w int) page {
	why, next := "no wait stands out among the "+report.Count(s.Totals.Retries)+" retries so far: no period to fold them by", ""
	const clocked = "a capture (tcpdump -w), or an access log with times to the millisecond"
	coarse := slices.IndexFunc(s.Sources, func(src detect.Source) bool { return src.Primary && src.Health.Resolution > second/20 })
	switch {
	case s.Start == 0:
		why, next = "no traffic yet", "traffic: H tells what the sources have read"
	case s.ClientCount == 0:
		why, next = "the input tells counts, not single requests", clocked
	case s.Totals.Retries == 0:
		why = "no retries seen: nothing to fold"
	case coarse >= 0:
		why = fmt.Sprintf("the clock of %s is too coarse, %s; 50ms or finer shows who comes together", s.Sources[coarse].Name, length(s.Sources[coarse].Health.Resolution))
		next = clocked
	case v.waits:
		why = "reading the arrivals"
	}
	var p page
	for _, l := range wrap(why, w) {
		p.add(styleText, l)
	}
	p.term("get next", 10, w, next, styleText)
	return p
}
