package ui

import (
	"math"
	"strings"

	"stormwatch/detect"
)

// drawSignatures lists what was found, and below it what could not be judged.
func drawSignatures(c *canvas, s *detect.Snapshot) {
	p := box(c, "Signatures", "w why", false)
	y := 0
	each := 1
	if 2*len(s.Findings)+min(len(s.NotJudged), 1) <= p.h {
		each = 2
	}
	for i := range s.Findings {
		f := &s.Findings[i]
		if y+each > p.h {
			break
		}
		drawFinding(p, y, each, f)
		y += each
	}
	if len(s.Findings) == 0 && p.h > 0 {
		p.text(1, 0, "none raised", styleDim)
		y++
	}
	for _, n := range s.NotJudged {
		if y >= p.h {
			break
		}
		x := p.text(0, y, unknown+"    "+pad(meter(0, 5), 5)+" ", styleDim)
		p.text(x, y, fit(n.Signature+"  not judged: "+n.Reason, p.w-x), styleDim)
		y++
	}
}

func drawFinding(p *canvas, y, rows int, f *detect.Finding) {
	st := severityStyle(f)
	x := p.text(0, y, score(f.Score)+" ", st)
	x = p.text(x, y, meter(f.Score, 5)+" ", st)
	x = p.text(x, y, fit(f.Signature, p.w-x), st)
	note := " " + f.Severity.String()
	if f.Agent != "" {
		note += ", " + f.Agent
	}
	if !f.Active() {
		note = " ended " + clock(f.Ended)
	}
	if rows == 1 {
		p.text(x+1, y, fit(f.Says, p.w-x-1), styleDim)
		return
	}
	p.text(x+1, y, fit(note, p.w-x-1), styleDim)
	p.text(5, y+1, fit(f.Says, p.w-5), styleText)
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
