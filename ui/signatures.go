package ui

import (
	"fmt"
	"math"
	"strings"

	"stormwatch/detect"
)

// drawSignatures lists what was found, and below it how much could not be judged.
// Where there is room, each says in words what it means, the first of them first.
func drawSignatures(c *canvas, s *detect.Snapshot, v *view) {
	p := box(c, "Signatures", "w why", v.holds(panelSignatures))
	list := s.Findings
	foot := min(len(s.NotJudged), 1)
	if len(list) == 0 && p.h > 0 {
		p.text(1, 0, "none raised", styleDim)
		drawNotJudged(p, 1, s)
		return
	}
	if len(list)+foot > p.h { // the last row tells how many more there are
		foot = 1
	}
	shown := min(len(list), max(p.h-foot, 0))
	words := max(p.h-foot-shown, 0)
	name := 0
	for i := range shown {
		name = max(name, width(list[i].Signature))
	}
	y := 0
	for i := range shown {
		drawFinding(p, y, &list[i], name)
		y++
		if words > 0 && y < p.h {
			p.text(5, y, fit(list[i].Says, p.w-5), styleText)
			words--
			y++
		}
	}
	if more := len(list) - shown; more > 0 {
		p.text(0, y, fit(fmt.Sprintf("%d more, %d not judged", more, len(s.NotJudged)), p.w), styleDim)
		return
	}
	drawNotJudged(p, y, s)
}

func drawNotJudged(p *canvas, y int, s *detect.Snapshot) {
	for i, n := range s.NotJudged {
		if left := len(s.NotJudged) - i; y == p.h-1 && left > 1 {
			p.text(0, y, fit(fmt.Sprintf("%s    %d could not be judged: w tells why", unknown, left), p.w), styleDim)
			return
		}
		x := p.text(0, y, unknown+"    "+pad(meter(0, 5), 5)+" ", styleDim)
		p.text(x, y, fit(n.Signature+"  not judged: "+n.Reason, p.w-x), styleDim)
		y++
	}
}

// drawFinding draws a finding in one row, its name in a column of a given width.
func drawFinding(p *canvas, y int, f *detect.Finding, name int) {
	st := severityStyle(f)
	x := p.text(0, y, score(f.Score)+" ", st)
	x = p.text(x, y, meter(f.Score, 5)+" ", st)
	note := f.Severity.String()
	switch {
	case !f.Active():
		note = "ended " + clock(f.Ended)
	case f.ClientCount > 0:
		note += ", " + countClients(f.ClientCount)
	}
	name = min(name, max(p.w-x-10, 8))
	if x+name+2+width(note) > p.w && f.Active() && f.ClientCount > 0 {
		note = countClients(f.ClientCount)
	}
	p.text(x, y, fit(f.Signature, name), st)
	p.text(x+name+2, y, fit(note, p.w-x-name-2), styleDim)
}

func severityStyle(f *detect.Finding) style {
	switch {
	case !f.Active(), f.Severity == detect.Info:
		return styleDim
	case f.Severity >= detect.High:
		return styleRefused
	case f.Severity == detect.Medium:
		return styleRetry
	}
	return styleText
}

// meter draws 0..1 as w squares and dots.
func meter(v float64, w int) string {
	n := 0
	if !math.IsNaN(v) {
		n = int(math.Round(min(max(v, 0), 1) * float64(w)))
	}
	return strings.Repeat("■", n) + strings.Repeat("·", w-n)
}
