package ui

import (
	"fmt"
	"slices"
	"strconv"

	"stormwatch/detect"
	"stormwatch/report"
)

// arrivalFacts are the statistics beside the picture, each with what it would be
// for timers with jitter, then what they mean.
func arrivalFacts(s *detect.Snapshot, w int) page {
	const label, value = 12, 9
	a := &s.Arrivals
	plain := func(n detect.Number) string {
		if !report.Known(n) {
			return unknown
		}
		return strconv.FormatFloat(n.V, 'g', 3, 64)
	}
	factor := func(n detect.Number) string {
		if !report.Known(n) {
			return unknown
		}
		return times(n)
	}
	var p page
	p = append(p, line{{pad("period", label), styleDim}, {length(a.Period) + " ±" + length(a.Spread), styleBold}})
	if len(a.Candidates) > 1 {
		at := slices.Index(a.Candidates, a.Period) + 1
		p = append(p, line{{pad("", label), styleDim}, {fmt.Sprintf("%d of %d, p next", at, len(a.Candidates)), styleDim}})
	}
	for _, f := range []struct {
		name, value, note string
	}{
		{"strength R", strength(a.Strength), "0 even, 1 all at once"},
		{"peak", factor(a.PeakOverMean), "the mean phase"},
		{"coincidence", plain(a.Coincidence), "z; 5 is beyond chance"},
		{"excess rho", factor(a.Excess), "chance; lockstep from 2.5x"},
		{"jitter J", plain(a.Jitter), "none below 0.05"},
		{"peak 50ms", plain(a.Peak50ms), "arrivals at most"},
		{"slots used", plain(a.Slots), slotsOf(a)},
	} {
		row := line{{pad(f.name, label), styleDim}, {pad(f.value, value), styleText}}
		if w-label-value >= width(f.note) {
			row = append(row, piece{f.note, styleDim})
		}
		p = append(p, row)
	}
	p.gap()
	for _, l := range wrap(arrivalReading(a), w) {
		p.add(styleText, l)
	}
	p.gap()
	p.term("lockstep", label, w, standing(s, "lockstep"), styleText)
	p.term("low spread", label, w, standing(s, "insufficient-spread"), styleText)
	return p
}

func strength(n detect.Number) string {
	if !report.Known(n) {
		return unknown
	}
	return score(n.V)
}

// slotsOf is how many slots there are in a period.
func slotsOf(a *detect.Arrivals) string {
	if len(a.Rows) == 0 {
		return ""
	}
	return "of " + report.Count(len(a.Rows[0])) + " cells in a period"
}

// standing tells whether a signature holds, held, or could not be judged.
func standing(s *detect.Snapshot, signature string) string {
	for i := range s.Findings {
		f := &s.Findings[i]
		switch {
		case f.Signature != signature:
		case f.Active():
			return "holds, " + score(f.Score) + " " + since(f.Onset, s.At, f.OnsetCensored, "")
		default:
			return "ended " + clock(f.Ended)
		}
	}
	for _, n := range s.NotJudged {
		if n.Signature == signature {
			return "not judged: " + n.Reason
		}
	}
	return "does not hold"
}

// arrivalReading says in words what the figures mean.
func arrivalReading(a *detect.Arrivals) string {
	const fixed, apart = .05, .3 // jitter as a share of the wait; the rules' bound, and near full jitter's
	text := ""
	switch {
	case !report.Known(a.Strength):
	case a.Strength.V >= .6:
		text = "Most retries come at one moment of each period: an upright bar. "
	case a.Strength.V >= .3:
		text = "Retries favour one part of the period. "
	default:
		text = "Retries are spread over the whole period. "
	}
	switch {
	case !report.Known(a.Jitter):
	case a.Jitter.V < fixed:
		text += "Clients wait the same time each time: fixed timers without jitter. A jitter as wide as the wait would spread them."
	case a.Jitter.V < apart:
		text += "Clients do vary their waits, by less than full jitter would."
	default:
		text += "Clients vary their waits widely, as full jitter does."
	}
	return text
}
