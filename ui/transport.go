package ui

import (
	"fmt"
	"time"

	"stormwatch/detect"
	"stormwatch/report"
)

// drawTransport draws the clock: playing or not, speed, position among events.
func drawTransport(c *canvas, s *detect.Snapshot, v *view) {
	if v.loading.Doing != "" {
		drawLoading(c, &v.loading)
		return
	}
	sign, label := "▶", ""
	switch {
	case v.play.replay && v.play.paused, v.play.frozen:
		sign = "‖"
	case !v.play.replay && s.Live:
		sign = "●"
		label = mode(s, &v.play) + " "
	}
	if v.play.replay {
		label = speedName(v.play.speed) + " "
	}
	x := c.text(1, 0, sign+" "+label, styleKey)
	x = c.text(x, 0, clockTenths(s.At), styleText)
	if v.play.target != 0 {
		x = c.text(x, 0, " → "+clock(v.play.target), styleRetry)
	}
	end := s.End
	if s.Live || end < s.At {
		end = s.At
	}
	note := fmt.Sprintf("◆ %d events", len(s.Events))
	if len(s.Events) == 1 {
		note = "◆ 1 event"
	}
	if f := &s.Filtered; f.Share > 0 && v.filter.text != "" {
		note = fmt.Sprintf("filtering %.0f%%", 100*f.Share)
	}
	edge := c.right(c.w-1, 0, note, styleDim)
	edge = c.right(edge-2, 0, clock(end), styleDim)
	drawTrack(c.sub(rect{x + 1, 0, edge - x - 2, 1}), s, v, end)
}

// drawLoading tells how far a recording is read before it can be played.
func drawLoading(c *canvas, p *Progress) {
	text := "‖ " + p.Doing
	if p.Share > 0 {
		text += fmt.Sprintf(" %.0f%%", 100*p.Share)
	}
	x := c.text(1, 0, text, styleKey)
	text = ""
	switch {
	case p.Total > 0:
		text = " · " + bytesOf(p.Bytes) + " of " + bytesOf(p.Total)
	case p.Bytes > 0:
		text = " · " + bytesOf(p.Bytes)
	}
	if left := p.Left.Round(time.Second); left > 0 {
		text += " · " + span(int64(left)) + " left"
	}
	x = c.text(x, 0, text, styleText)
	x = c.text(x, 0, " · what is shown is not final", styleDim)
	bar := c.sub(rect{x + 1, 0, c.w - x - 2, 1})
	for i := range bar.w {
		if float64(i) < p.Share*float64(bar.w) {
			bar.set(i, 0, '━', styleKey)
		} else {
			bar.set(i, 0, '─', styleDim)
		}
	}
}

// bytesOf prints a size: "312 MB".
func bytesOf(n int64) string {
	f := float64(max(n, 0))
	for _, unit := range []string{"B", "kB", "MB", "GB"} {
		if f < 1000 {
			if f < 10 && unit != "B" {
				return fmt.Sprintf("%.1f %s", f, unit)
			}
			return fmt.Sprintf("%.0f %s", f, unit)
		}
		f /= 1000
	}
	return fmt.Sprintf("%.0f TB", f)
}

// drawTrack draws the span of the input with the events on it and the head; what
// people marked has a sign of its own, and the zoomed part is set in brackets.
func drawTrack(c *canvas, s *detect.Snapshot, v *view, end int64) {
	if c.w < 3 || s.Start == 0 || end <= s.Start {
		return
	}
	at := func(t int64) int {
		f := float64(t-s.Start) / float64(end-s.Start)
		return int(min(max(f, 0), 1) * float64(c.w-1))
	}
	head := at(s.At)
	for x := range c.w {
		if x <= head {
			c.set(x, 0, '━', styleKey)
		} else {
			c.set(x, 0, '─', styleDim)
		}
	}
	for _, e := range s.Events {
		if e.At >= s.Start && e.At <= end {
			c.set(at(e.At), 0, eventSign(&e), styleRetry)
		}
	}
	if v.from != 0 {
		c.set(at(v.from), 0, '[', styleBold)
		c.set(at(v.to), 0, ']', styleBold)
	}
	c.set(head, 0, '●', styleBold)
}

// eventSign tells what people marked from what the engine found.
func eventSign(e *detect.Event) rune {
	if e.Kind == report.Mark || e.Kind == report.Bookmark {
		return '▼'
	}
	return '◆'
}

// drawHints draws the bottom row: the filter being typed, a message, or the keys
// at hand. Help and quit stay, the others fall away from the right.
func drawHints(c *canvas, v *view) {
	switch {
	case v.editing:
		drawPrompt(c, v)
		return
	case v.flash != "":
		c.text(1, 0, fit(v.flash, c.w-1), styleRetry)
		return
	}
	const end = "? help  q quit"
	edge := c.w - 1 - len(end)
	x := c.text(edge, 0, "? ", styleKey)
	x = c.text(x, 0, "help  ", styleDim)
	x = c.text(x, 0, "q ", styleKey)
	c.text(x, 0, "quit", styleDim)
	x = 1
	if v.overlay != overlayNone {
		x = drawHint(c, x, "esc close")
		drawHint(c, x, "j/k scroll")
		return
	}
	for _, r := range v.keys {
		if r.hint == "" || !hinted(r.scope, v) {
			continue
		}
		if x+len([]rune(r.hint)) > edge-2 {
			return
		}
		x = drawHint(c, x, r.hint)
	}
}

// hinted tells whether keys of a scope work on the present screen.
func hinted(s scope, v *view) bool {
	switch s {
	case inTable:
		return v.screen == screenOverview || v.screen == screenClients
	case inOverview:
		return v.screen == screenOverview
	case inChains:
		return v.screen == screenChains
	case inArrivals:
		return v.screen == screenArrivals
	case inFix:
		return v.screen == screenFix
	case inReplay:
		return v.play.replay
	case everywhere:
	}
	return true
}

func drawHint(c *canvas, x int, hint string) int {
	for i, r := range hint {
		if r == ' ' {
			x = c.text(x, 0, hint[:i+1], styleKey)
			return c.text(x, 0, hint[i+1:], styleDim) + 2
		}
	}
	return c.text(x, 0, hint, styleKey) + 2
}
