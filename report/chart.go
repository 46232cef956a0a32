package report

import (
	"fmt"
	"math"
	"strings"

	"stormwatch/detect"
)

// Size of a chart, in units of its own picture; it is drawn as wide as the page.
const (
	chartWide  = 960
	chartLeft  = 56
	chartRight = 12
	chartTop   = 8
)

// plot maps a timeline onto a chart.
type plot struct {
	strings.Builder
	from, to int64
	high     int // of the drawing area
	most     float64
}

func (p *plot) x(t int64) float64 {
	f := float64(t-p.from) / float64(p.to-p.from)
	return chartLeft + min(max(f, 0), 1)*(chartWide-chartLeft-chartRight)
}

func (p *plot) y(v float64) float64 {
	return chartTop + float64(p.high)*(1-min(max(v/p.most, 0), 1))
}

// num prints a coordinate.
func num(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		v = 0
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
}

func (p *plot) open(label string, tall int) {
	fmt.Fprintf(p, `<svg class="chart" viewBox="0 0 %d %d" role="img" aria-label="%s">`+"\n", chartWide, tall, esc(label))
}

func (p *plot) text(x, y float64, anchor, s string) {
	fmt.Fprintf(p, `<text x="%s" y="%s" text-anchor="%s">%s</text>`+"\n", num(x), num(y), anchor, esc(s))
}

func (p *plot) rule(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(p, `<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`+"\n", class, num(x1), num(y1), num(x2), num(y2))
}

// Ceiling rounds up to a number that people read at a glance.
func Ceiling(v float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8} {
		if v <= m*unit {
			return m * unit
		}
	}
	return 10 * unit
}

// timelineChart draws what came back per second: answered well at the bottom,
// refused on top of it, failed otherwise above, with capacity, onset and events.
func timelineChart(s *detect.Snapshot) string {
	t := &s.Timeline
	if _, width := minutes(s); width == 0 { // none, or of no time there can be
		return ""
	}
	secs := float64(t.Width) / 1e9
	p := &plot{from: t.Start, to: t.Start + int64(len(t.Bins))*t.Width, high: 200, most: 1}
	for i := range t.Bins {
		p.most = max(p.most, float64(t.Bins[i].Success+t.Bins[i].Refused+t.Bins[i].OtherFail)/secs)
	}
	p.most = Ceiling(p.most)
	p.open("answers per second", chartTop+p.high+44)
	p.frame(perSecond(detect.Some(p.most)))
	for _, k := range []struct {
		class string
		upTo  func(*detect.Bin) int64
		from  func(*detect.Bin) int64
	}{
		{"ok", func(b *detect.Bin) int64 { return b.Success }, func(*detect.Bin) int64 { return 0 }},
		{"refused", func(b *detect.Bin) int64 { return b.Success + b.Refused }, func(b *detect.Bin) int64 { return b.Success }},
		{"failed", func(b *detect.Bin) int64 { return b.Success + b.Refused + b.OtherFail }, func(b *detect.Bin) int64 { return b.Success + b.Refused }},
	} {
		fmt.Fprintf(p, `<path class="%s" d="`, k.class)
		for i := range t.Bins {
			b := &t.Bins[i]
			if k.upTo(b) <= k.from(b) {
				continue
			}
			at := t.Start + int64(i)*t.Width
			x0, x1 := p.x(at), p.x(at+t.Width)
			y0, y1 := p.y(float64(k.from(b))/secs), p.y(float64(k.upTo(b))/secs)
			fmt.Fprintf(p, "M%s %sH%sV%sH%sZ", num(x0), num(y0), num(x1), num(y1), num(x0))
		}
		p.WriteString("\"/>\n")
	}
	if c := s.Totals.CapacityPerS; Known(c) && c.V < p.most {
		p.rule("capacity", chartLeft, p.y(c.V), chartWide-chartRight, p.y(c.V))
	}
	p.events(s)
	p.WriteString("</svg>\n")
	return p.String()
}

// frame draws the axes.
func (p *plot) frame(top string) {
	bottom := float64(chartTop + p.high)
	p.rule("axis", chartLeft, bottom, chartWide-chartRight, bottom)
	p.text(chartLeft-6, chartTop+10, "end", top)
	p.text(chartLeft-6, bottom, "end", "0")
	const ticks = 6
	for i := range ticks + 1 {
		at := p.from + (p.to-p.from)/ticks*int64(i)
		anchor := "middle"
		if i == 0 {
			anchor = "start"
		} else if i == ticks {
			anchor = "end"
		}
		p.text(p.x(at), bottom+14, anchor, clock(at))
		p.rule("tick", p.x(at), bottom, p.x(at), bottom+3)
	}
}

const chartEvents = 40 // drawn at most

// events draws lines where something happened, with the number under which it is
// listed.
func (p *plot) events(s *detect.Snapshot) {
	bottom := float64(chartTop + p.high)
	n := 0
	for i := range s.Events {
		e := &s.Events[i]
		if n++; n > chartEvents {
			return
		}
		if e.At < p.from || e.At > p.to {
			continue
		}
		class := "event"
		if marked(e) {
			class = "mark"
		}
		p.rule(class, p.x(e.At), chartTop, p.x(e.At), bottom)
		fmt.Fprintf(p, `<text class="%s" x="%s" y="%s" text-anchor="middle">%d<title>%s %s</title></text>`+"\n",
			class, num(p.x(e.At)), num(bottom+30+12*float64(n%2)), n, clock(e.At), esc(eventText(e)))
	}
}

// shareChart draws the shares of refusals and of retries over the same time.
func shareChart(s *detect.Snapshot) string {
	t := &s.Timeline
	if _, width := minutes(s); width == 0 {
		return ""
	}
	p := &plot{from: t.Start, to: t.Start + int64(len(t.Bins))*t.Width, high: 80, most: 1}
	p.open("shares of refusals and retries", chartTop+p.high+20)
	p.frame("100 %")
	for _, k := range []struct {
		class string
		share func(*detect.Bin) detect.Number
	}{
		{"refused", func(b *detect.Bin) detect.Number { return partOf(b.Refused, b.Success+b.Refused+b.OtherFail) }},
		{"retries", func(b *detect.Bin) detect.Number { return partOf(b.Retries, b.Attempts) }},
	} {
		fmt.Fprintf(p, `<path class="line %s" d="`, k.class)
		pen := "M"
		for i := range t.Bins {
			v := k.share(&t.Bins[i])
			if !Known(v) {
				pen = "M" // a gap stays a gap
				continue
			}
			fmt.Fprintf(p, "%s%s %s", pen, num(p.x(t.Start+int64(i)*t.Width+t.Width/2)), num(p.y(v.V)))
			pen = "L"
		}
		p.WriteString("\"/>\n")
	}
	p.WriteString("</svg>\n")
	return p.String()
}

// arrivalsChart draws when retries come, folded by the dominant gap: a fleet in
// step is an upright bar.
func arrivalsChart(a *detect.Arrivals) string {
	rows, wide := a.Rows[:min(len(a.Rows), 120)], 0
	most := int32(0)
	for _, r := range rows {
		wide = max(wide, min(len(r), 480))
		for _, n := range r[:min(len(r), 480)] {
			most = max(most, n)
		}
	}
	if wide == 0 || most == 0 {
		return ""
	}
	p := &plot{}
	const tall = 6
	p.open("retries folded at "+span(a.Period), chartTop+tall*len(rows)+18)
	step := float64(chartWide-chartLeft-chartRight) / float64(wide)
	for y, r := range rows {
		for x, n := range r[:min(len(r), 480)] {
			if n > 0 {
				fmt.Fprintf(p, `<rect class="refused" x="%s" y="%d" width="%s" height="%d" opacity="%s"/>`, num(chartLeft+float64(x)*step), chartTop+tall*y, num(step), tall, num2(.15+.85*float64(n)/float64(most)))
			}
		}
		p.WriteByte('\n')
	}
	bottom := float64(chartTop + tall*len(rows) + 12)
	p.text(chartLeft, bottom, "start", "0")
	p.text(chartWide-chartRight, bottom, "end", span(a.Period))
	p.WriteString("</svg>\n")
	return p.String()
}

func num2(v float64) string { return fmt.Sprintf("%.2f", v) }

// chainChart draws the attempts of a chain, each with the wait that its answer
// named behind it, so that an early retry is seen inside it.
func chainChart(k *detect.Chain) string {
	list := k.Attempts[:min(len(k.Attempts), exampleAttempts)]
	if len(list) == 0 {
		return ""
	}
	from, to := list[0].Start, list[0].Start+1
	for i := range list {
		to = max(to, list[i].Start, list[i].End)
	}
	limit := to + (to - from) + 1e9 // a long wait shall not squeeze the attempts
	for i := range list {
		if end := floorEnd(&list[i]); end > to && end > list[i].End {
			to = min(end, limit)
		}
	}
	const tall = 14
	p := &plot{from: from, to: to, high: tall * len(list), most: 1}
	p.open("attempts of a chain", chartTop+p.high+18)
	for i := range list {
		a := &list[i]
		y := float64(chartTop + tall*i)
		p.text(chartLeft-6, y+10, "end", Answer(a))
		if end := floorEnd(a); end > a.End {
			fmt.Fprintf(p, `<rect class="floor" x="%s" y="%s" width="%s" height="%d"/>`+"\n", num(p.x(a.End)), num(y+2), num(p.x(end)-p.x(a.End)), tall-4)
		}
		class := "ok"
		if Failed(a) {
			class = "refused"
		}
		fmt.Fprintf(p, `<rect class="%s" x="%s" y="%s" width="%s" height="%d"/>`+"\n", class, num(p.x(a.Start)), num(y+2), num(max(p.x(max(a.End, a.Start))-p.x(a.Start), 2)), tall-4)
	}
	bottom := float64(chartTop + p.high + 12)
	p.text(chartLeft, bottom, "start", "0")
	p.text(chartWide-chartRight, bottom, "end", span(to-from))
	p.WriteString("</svg>\n")
	return p.String()
}
