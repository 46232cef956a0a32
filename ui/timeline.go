package ui

import (
	"math"
	"slices"
	"strings"

	"stormwatch/detect"
	"stormwatch/report"
)

// Columns of a timeline taken by labels left and values right of the chart.
const (
	chartLeft  = 8
	chartRight = 7
)

// chartColumns is how many columns a timeline of width w has for its chart.
func chartColumns(w int) int { return max(w-chartLeft-chartRight, 1) }

// column is what one column of the chart stands for: a whole number of bins.
type column struct {
	detect.Bin
	seconds float64
	at      int64 // its start
}

// columns groups bins so that they fit into n columns, an equal whole number of
// bins in each (else a periodic load would show a false beat), or spreads few
// bins over a whole number of columns each.
func columns(t *detect.Timeline, n int) []column {
	if len(t.Bins) == 0 || t.Width <= 0 || n <= 0 {
		return nil
	}
	group := (len(t.Bins) + n - 1) / n
	repeat := max(n/len(t.Bins), 1)
	var out []column
	for i := 0; i < len(t.Bins); i += group {
		bins := t.Bins[i:min(i+group, len(t.Bins))]
		k := column{seconds: float64(t.Width) / 1e9 * float64(len(bins)), at: t.Start + int64(i)*t.Width}
		for _, b := range bins {
			k.Add(b)
		}
		for range repeat {
			out = append(out, k)
		}
	}
	return out
}

func (k *column) ended() int64 { return k.Success + k.Refused + k.OtherFail }

// drawTimeline draws what came back per second, with the shares that tell a
// storm on the same axis of time.
func drawTimeline(c *canvas, s *detect.Snapshot, v *view) {
	cols := columns(&s.Timeline, chartColumns(c.w))
	legend := line{{"█", styleGood}, {" goodput ", styleDim}, {"▒", styleRefused}, {" refused", styleDim}}
	if slices.ContainsFunc(cols, func(k column) bool { return k.OtherFail > 0 }) {
		legend = append(legend, piece{" ▓", styleFailed}, piece{" failed", styleDim})
	}
	if limit := s.Totals.CapacityPerS; report.Known(limit) {
		legend = append(legend, piece{" ┄ capacity " + perSecond(limit), styleDim})
	}
	p := box(c, "Timeline"+v.unfiltered(s), "", v.holds(panelTimeline))
	drawLegend(c, legend, 14+width(v.unfiltered(s)))
	if len(cols) == 0 {
		p.text(2, 0, "no traffic yet", styleDim)
		return
	}
	sparks := 0
	switch {
	case p.h >= 10:
		sparks = 3
	case p.h >= 7:
		sparks = 2
	}
	chart := p.sub(rect{0, 0, p.w, p.h - 1 - sparks})
	drawBars(chart, cols, s)
	if sparks > 0 {
		drawSparks(p.sub(rect{0, chart.h, p.w, sparks}), cols, &s.Recent)
	}
	drawAxis(p.sub(rect{0, p.h - 1, p.w, 1}), cols, s)
}

// drawLegend draws what colours and glyphs mean at the right of a title row, from
// the column least on.
func drawLegend(c *canvas, legend line, least int) {
	w := 2
	for _, q := range legend {
		w += width(q.text)
	}
	x := c.w - 1 - w
	if x < least {
		return
	}
	c.set(x, 0, ' ', styleDim)
	x++
	for _, q := range legend {
		x = c.text(x, 0, q.text, q.style)
	}
	c.set(x, 0, ' ', styleDim)
}

func drawBars(c *canvas, cols []column, s *detect.Snapshot) {
	top := 0.0
	for i := range cols {
		top = max(top, float64(cols[i].ended())/cols[i].seconds)
	}
	top = report.Ceiling(max(top, min(busiest(cols), 2*top)))
	c.text(0, 0, perSecond(detect.Some(top)), styleDim)
	if c.h > 1 {
		c.right(chartLeft-2, c.h-1, "0", styleDim)
	}
	height := func(perS float64) int { return int(math.Round(perS / top * float64(8*c.h))) }
	drawMarks(c, cols, s, height)
	for i := range cols {
		k := &cols[i]
		good := height(float64(k.Success) / k.seconds)
		refused := height(float64(k.Success+k.Refused) / k.seconds)
		all := height(float64(k.ended()) / k.seconds)
		for y := range c.h {
			drawBarCell(c, chartLeft+i, y, 8*(c.h-1-y), good, refused, all)
		}
		if k.seconds > 1 && 4*float64(k.MaxPerS)*k.seconds > 5*float64(k.Attempts) {
			drawBusiest(c, chartLeft+i, height(float64(k.MaxPerS)), all)
		}
	}
}

// busiest is the most attempts in one second of any column.
func busiest(cols []column) (most float64) {
	for i := range cols {
		if cols[i].seconds > 1 {
			most = max(most, float64(cols[i].MaxPerS))
		}
	}
	return most
}

// drawBusiest marks the busiest second of a column above its bar, which is a mean,
// where it stands well above it.
func drawBusiest(c *canvas, x, most, all int) {
	const well = 12 // eighths of a row
	if y := max(c.h-1-most/8, 0); most >= all+well && c.h-1-y > (all-1)/8 {
		c.set(x, y, '·', styleDim)
	}
}

// drawBarCell draws the cell whose lower edge is at low eighths of a row.
func drawBarCell(c *canvas, x, y, low, good, refused, all int) {
	switch {
	case good >= low+8:
		c.set(x, y, '█', styleGood)
	case good >= low+4 && refused > good, good > low && all <= good:
		c.set(x, y, eighths()[min(good-low, 8)], styleGood)
	case refused >= low+4:
		c.set(x, y, '▒', styleRefused)
	case refused > low && all <= refused:
		c.set(x, y, eighths()[refused-low], styleRefused)
	case all >= low+4:
		c.set(x, y, '▓', styleFailed)
	case all > low:
		c.set(x, y, eighths()[all-low], styleFailed)
	}
}

// drawMarks draws what lies behind the bars: the capacity and the onset.
func drawMarks(c *canvas, cols []column, s *detect.Snapshot, height func(float64) int) {
	if limit := s.Totals.CapacityPerS; report.Known(limit) && c.h >= 4 {
		if y := c.h - 1 - height(limit.V)/8; y >= 0 {
			for i := range cols {
				c.set(chartLeft+i, y, '┄', styleDim)
			}
		}
	}
	if x := columnAt(cols, s.Verdict.Since); x >= 0 && !s.Verdict.SinceCensored {
		for y := range c.h {
			c.set(chartLeft+x, y, '┆', styleRetry)
		}
	}
}

// columnAt returns the column in which t lies, -1 if none.
func columnAt(cols []column, t int64) int {
	if len(cols) == 0 || t < cols[0].at {
		return -1
	}
	last := &cols[len(cols)-1]
	if t >= last.at+int64(last.seconds*1e9) {
		return -1
	}
	at := 0
	for i := range cols {
		if cols[i].at <= t && cols[i].at != cols[at].at {
			at = i
		}
	}
	return at
}

func drawSparks(c *canvas, cols []column, r *detect.Recent) {
	share := func(part, whole int64) (float64, bool) {
		return float64(part) / float64(max(whole, 1)), whole > 0
	}
	most := 2.0
	amp := func(k *column) (float64, bool) {
		f := float64(k.Attempts) / float64(max(k.First, 1))
		return f, k.Attempts > 0
	}
	for i := range cols {
		if v, ok := amp(&cols[i]); ok {
			most = max(most, v)
		}
	}
	rows := []struct {
		name, now string
		style     style
		at        func(*column) (float64, bool)
	}{
		{"refused", percent(r.RefusedShare), styleRefused, func(k *column) (float64, bool) { return share(k.Refused, k.ended()) }},
		{"retries", percent(r.RetryShare), styleRetry, func(k *column) (float64, bool) { return share(k.Retries, k.Attempts) }},
		{"amp", times(r.Amplification), styleRetry, func(k *column) (float64, bool) {
			v, ok := amp(k)
			return (v - 1) / (most - 1), ok
		}},
	}
	if c.h < len(rows) {
		rows = slices.Delete(rows, 1, 2)
	}
	bars := eighths()
	for y, row := range rows {
		c.text(0, y, row.name, styleDim)
		for i := range cols {
			if v, ok := row.at(&cols[i]); ok {
				c.set(chartLeft+i, y, bars[int(math.Ceil(8*min(max(v, 0), 1)-1e-9))], row.style)
			}
		}
		c.text(chartLeft+chartColumns(c.w)+1, y, row.now, row.style)
	}
}

// drawAxis labels start and end, and marks events with as many words as fit.
func drawAxis(c *canvas, cols []column, s *detect.Snapshot) {
	last := &cols[len(cols)-1]
	end := last.at + int64(last.seconds*1e9)
	taken := make([]bool, c.w)
	write := func(x int, text string, st style) bool {
		w := width(text)
		if x < chartLeft || x+w > chartLeft+chartColumns(c.w) {
			return false
		}
		for i := max(x-1, 0); i < min(x+w+1, c.w); i++ {
			if taken[i] {
				return false
			}
		}
		for i := x; i < x+w; i++ {
			taken[i] = true
		}
		c.text(x, 0, text, st)
		return true
	}
	type label struct {
		x    int
		text string
	}
	var marks []label
	for _, kind := range []string{"onset", report.Mark, report.Bookmark, "peak", "end", "on", "off", "state", ""} {
		for _, e := range s.Events {
			if x := columnAt(cols, e.At); x >= 0 && rank(e.Kind) == kind {
				marks = append(marks, label{chartLeft + x, eventLabel(&e)})
			}
		}
	}
	for _, m := range marks { // a mark shows even where its words do not fit
		if !write(m.x, "◆ "+m.text, styleRetry) && !write(m.x-width(m.text)-1, m.text+" ◆", styleRetry) {
			write(m.x, "◆", styleRetry)
		}
	}
	write(chartLeft, clock(cols[0].at), styleDim)
	write(max(min(chartLeft+len(cols), chartLeft+chartColumns(c.w))-8, chartLeft), clock(end), styleDim)
	drawPlaced(c, cols, s) // last: a time of the axis gives way to what people marked
}

// eventName is an event in a word: of a change of state, what it became; of a
// finding, its signature.
func eventName(e *detect.Event) string {
	switch e.Kind {
	case "state":
		if _, now, ok := strings.Cut(e.Text, " -> "); ok {
			return now
		}
	case "on":
		return or(e.Text, e.Kind)
	case "off":
		return strings.TrimSpace(e.Text + " off")
	}
	return e.Kind
}

func rank(kind string) string {
	switch kind {
	case "onset", report.Mark, report.Bookmark, "peak", "end", "on", "off", "state":
		return kind
	}
	return ""
}
