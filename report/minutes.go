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

// rowWidths are the lengths of time that a row may stand for: whole numbers that
// people count in, s.
var rowWidths = [...]int64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400}

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
	for _, w := range rowWidths {
		width = max(w*1e9, t.Width)
		n := (end-t.Start)/width + 1
		if width%t.Width == 0 && (width < 60e9 && n <= shortRows || width >= 60e9 && n <= longRows) {
			break
		}
	}
	for (end-t.Start)/width+1 > longRows {
		width *= 2
	}
	first := t.Start - modulo(t.Start, width)
	rows = make([]minute, (end-first+width-1)/width)
	for i := range rows {
		rows[i].at = first + int64(i)*width
	}
	for i := range t.Bins {
		add(&rows[(t.Start+int64(i)*t.Width-first)/width].Bin, &t.Bins[i])
	}
	for i := range s.Events {
		if e := &s.Events[i]; e.At >= first && e.At < end {
			r := &rows[(e.At-first)/width]
			r.events = append(r.events, e)
		}
	}
	return rows, width
}

func modulo(a, b int64) int64 { return (a%b + b) % b }

func add(sum, b *detect.Bin) {
	sum.Attempts += b.Attempts
	sum.First += b.First
	sum.Retries += b.Retries
	sum.Success += b.Success
	sum.Refused += b.Refused
	sum.OtherFail += b.OtherFail
	sum.MaxPerS = max(sum.MaxPerS, b.MaxPerS)
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
