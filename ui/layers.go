package ui

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"stormwatch/detect"
	"stormwatch/report"
)

// drawLayers draws how many attempts each layer makes of one original request.
func drawLayers(c *canvas, s *detect.Snapshot, v *view) {
	whole := v.screen == screenLayers
	right := "5"
	if whole {
		right = "attempts per original request"
	}
	p := box(c, "Layers"+v.unfiltered(s), right, v.holds(panelLayers))
	switch {
	case whole:
		layersPage(s, p.w).draw(p, v.scroll)
	case len(s.Layers.Rows) > 0:
		layerRows(&s.Layers, p.w).draw(p, 0)
	default:
		noLayers(s, p.w).draw(p, 0)
	}
}

// layersPage is the whole screen: the layers, what they come to, and on what that
// rests.
func layersPage(s *detect.Snapshot, w int) page {
	const label = 12
	l := &s.Layers
	if len(l.Rows) == 0 {
		p := noLayers(s, w)
		p.gap()
		p.known(s, w)
		return p
	}
	p := layerRows(l, w)
	p.gap()
	if report.Known(l.Multiplier) {
		inner := l.Rows[len(l.Rows)-1].Name
		text := hundredths(l.Multiplier) + " attempts at " + inner + " for each original request"
		if report.Known(l.Worst) {
			text += "; " + hundredths(l.Worst) + " if every layer used all its attempts"
		}
		p.term("in all", label, w, text, styleText)
	}
	how := "proven by "
	if l.Inferred {
		how = "inferred, not proven: by "
	}
	p.term("rests on", label, w, how+or(l.Proof, "means not named"), styleText)
	p.term("reading", label, w, layerReading(l), styleText)
	p.gap()
	p.known(s, w)
	return p
}

// layerRows are the rows of the layers, outermost first.
func layerRows(l *detect.Layers, w int) (p page) {
	if len(l.Rows) == 0 {
		return nil
	}
	name, most := 8, 1.0
	for i := range l.Rows {
		name = max(name, width(l.Rows[i].Name))
		if n := l.Rows[i].PerRequest; report.Known(n) {
			most = max(most, n.V)
		}
	}
	name = min(name, max(w/4, 10))
	bar := min(max(w-name-23-30, 6), 40)
	p = append(p, line{{"  " + pad("LAYER", name) + "  " + "ATTEMPTS  ADDS   ", styleDim}, {pad("", bar+2) + "HOW KNOWN", styleDim}})
	before := 1.0
	for i := range l.Rows {
		r := &l.Rows[i]
		adds, length := unknown, 0
		st := styleText
		if report.Known(r.PerRequest) {
			f := r.PerRequest.V / before
			adds = times(detect.Some(f))
			before = max(r.PerRequest.V, 1e-9)
			length = int(math.Ceil(min(max(r.PerRequest.V/most, 0), 1)*float64(bar) - 1e-9))
			if f >= 1.5 {
				st = styleRetry
			}
		}
		how := styleDim
		if r.Pressure {
			st, how = styleRefused, styleRefused
		}
		row := line{
			{"  " + pad(r.Name, name) + "  ", styleText},
			{pad(strings.Repeat(" ", max(8-width(hundredths(r.PerRequest)), 0))+hundredths(r.PerRequest), 8) + "  ", styleText},
			{pad(adds, 6) + " ", styleDim},
			{pad(strings.Repeat("■", length), bar) + "  ", st},
			{layerKnown(r), how},
		}
		p = append(p, row)
	}
	return p
}

// hundredths prints attempts per request, whose first decimals tell one layer from
// the next.
func hundredths(n detect.Number) string {
	if !report.Known(n) || n.V >= 100 {
		return times(n)
	}
	return strconv.FormatFloat(n.V, 'f', 2, 64) + "x"
}

func layerKnown(r *detect.Layer) string {
	how := "concluded"
	if r.Seen {
		how = "seen"
	}
	if r.Pressure {
		how = "← pressure, " + how
	}
	if r.Most > 0 {
		how += fmt.Sprintf(", max %d tries", r.Most)
	}
	return how
}

// layerReading names the layer that adds most.
func layerReading(l *detect.Layers) string {
	worst, most, before := -1, 1.2, 1.0
	for i := range l.Rows {
		n := l.Rows[i].PerRequest
		if !report.Known(n) || n.V <= 0 {
			continue
		}
		if f := n.V / before; f > most {
			worst, most = i, f
		}
		before = n.V
	}
	if worst < 0 {
		return "No layer adds much: retries are not multiplied on the way."
	}
	return fmt.Sprintf("%s adds most, %s of what reaches it. Let one layer retry, the one that knows the user's deadline; the others pass failures on.",
		l.Rows[worst].Name, times(detect.Some(most)))
}

// noLayers says why there is nothing to draw, and what would show it.
func noLayers(s *detect.Snapshot, w int) (p page) {
	why := "No more than one layer retries, as far as the input shows."
	for _, n := range s.NotJudged {
		if n.Signature == "layered-retries" {
			why = "Not judged: " + n.Reason + "."
		}
	}
	if s.Start == 0 {
		why = "No traffic yet."
	}
	for _, l := range wrap(why, w-4) {
		p.add(styleText, "  "+l)
	}
	p.gap()
	p.add(styleDim, "  What would show more:")
	for _, l := range []string{
		"traffic of a second hop beside this: stormwatch edge.pcap app=app.log",
		"a log that tells its own tries: nginx $upstream_status, Envoy %UPSTREAM_REQUEST_ATTEMPT_COUNT%, HAProxy %rc",
		"requests that count: x-envoy-attempt-count, x-stainless-retry-count, amz-sdk-request, or a stable x-request-id",
	} {
		p.term("  ·", 4, w-2, l, styleText)
	}
	return p
}

// known adds what the input tells of layers without a picture of them.
func (p *page) known(s *detect.Snapshot, w int) {
	const label = 12
	if n := s.Totals.Amplification; report.Known(n) {
		p.term("clients", label, w, times(n)+" attempts per request, over all the input", styleText)
	}
	if b := &s.Behind; b.Requests > 0 {
		p.term("behind it", label, w, fmt.Sprintf("%s attempts at servers for each of %s requests, as the log declares; %s retries by the hop itself",
			times(b.Amplification), report.Count(b.Requests), report.Count(b.Retries)), styleText)
	}
	p.term("counters", label, w, report.Layers(&s.Matcher), styleText)
	p.term("chains", label, w, report.Evidence(&s.Matcher), styleText)
	p.term("refused", label, w, report.RefusedBy(s), styleText)
	for i := range s.Sources {
		if src := &s.Sources[i]; report.Known(src.PerRequest) {
			p.term("hop", label, w, times(src.PerRequest)+" requests at "+src.Name+" for each of the primary's, of ids that both saw", styleText)
		}
	}
}
