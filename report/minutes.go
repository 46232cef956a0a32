package report

import (
	"strings"

	"stormwatch/detect"
)

// minute is a row of the incident's timeline.
type minute struct {
	at int64
	detect.Bin
	events []*detect.Event
}

const (
	shortRows = 40  // at most, of a row shorter than a minute
	longRows  = 120 // at most, of all others
)

// minutes returns the timeline in rows of width ns: a minute each, of less where
// the input is short, of more where it is long. Events outside it are left out.
func minutes(s *detect.Snapshot) (rows []minute, width int64) {
	t := &s.Timeline
	if len(t.Bins) == 0 || t.Width <= 0 || t.Start < 0 || t.Width > (1<<62-t.Start)/int64(len(t.Bins)+1) {
		return nil, 0 // none, or of no time there can be
	}
	end := t.Start + int64(len(t.Bins))*t.Width
	for _, w := range detect.Widths() {
		width = max(w*1e9, t.Width)
		n := (end-t.Start)/width + 1
		if width%t.Width == 0 && (width < 60e9 && n <= shortRows || width >= 60e9 && n <= longRows) {
			break
		}
	}
	for (end-t.Start)/width+1 > longRows {
		width *= 2
	}
	first := t.Start - t.Start%width
	rows = make([]minute, (end-first+width-1)/width)
	for i := range rows {
		rows[i].at = first + int64(i)*width
	}
	for i := range t.Bins {
		rows[(t.Start+int64(i)*t.Width-first)/width].Add(t.Bins[i])
	}
	for i := range s.Events {
		if e := &s.Events[i]; e.At >= first && e.At < end {
			r := &rows[(e.At-first)/width]
			r.events = append(r.events, e)
		}
	}
	return rows, width
}

// rowName is what a row of the timeline stands for.
func rowName(width int64) string {
	if width == 60e9 {
		return "minute"
	}
	if width == 1e9 {
		return "second"
	}
	name := span(width)
	if width > 60e9 {
		name = strings.TrimSuffix(name, "0s") // 2m of 2m0s
	}
	return name
}

// partOf is a share of counts, unknown where there are none.
func partOf(n, of int64) detect.Number {
	if of <= 0 {
		return detect.Number{}
	}
	return detect.Some(float64(n) / float64(of))
}
