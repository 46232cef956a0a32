package ui

import (
	"slices"
	"strings"

	"stormwatch/detect"
	"stormwatch/report"
)

const maxBookmarks = 200

// bookmark marks the moment shown, with a text or with what the verdict says of
// it; without a text, a bookmark of this second is taken away.
func (c *console) bookmark(text string) effect {
	s := c.snap
	if s.At == 0 {
		return c.flash("no moment to bookmark yet")
	}
	here := func(e detect.Event) bool { return max(e.At-s.At, s.At-e.At) < second/2 }
	if i := slices.IndexFunc(c.bookmarks, here); i >= 0 {
		c.bookmarks = slices.Delete(slices.Clone(c.bookmarks), i, i+1)
		if text == "" {
			c.take(c.raw)
			return c.flash("the bookmark at " + clock(s.At) + " is taken away")
		}
	}
	if len(c.bookmarks) >= maxBookmarks {
		return c.flash("that are bookmarks enough; take some away with b")
	}
	if text == "" {
		text = strings.ToUpper(s.Verdict.State.String())
		if sizes := plainSizes(&s.Recent); sizes != "" {
			text += ", " + sizes
		}
	}
	// A new slice: a report that is being written keeps its own.
	c.bookmarks = append(slices.Clone(c.bookmarks), detect.Event{At: s.At, Kind: report.Bookmark, Text: text})
	slices.SortFunc(c.bookmarks, func(a, b detect.Event) int { return int(min(max(a.At-b.At, -1), 1)) })
	c.take(c.raw)
	return c.flash("bookmark at " + clock(s.At) + ": " + text + "; e puts it into the report")
}

const labelWidth = 24 // columns of a mark's words on the timeline

// eventLabel is an event in a few words, as the timeline shows it.
func eventLabel(e *detect.Event) string {
	if e.Kind == report.Mark && e.Text != "" {
		return fit(e.Text, labelWidth) + " " + clock(e.At)
	}
	return eventName(e) + " " + clock(e.At)
}

// drawPlaced makes sure that what people marked is seen on the axis, beside
// whatever else happened then.
func drawPlaced(c *canvas, cols []column, s *detect.Snapshot) {
	last := &cols[len(cols)-1]
	end := last.at + int64(last.seconds*1e9)
	for i := range s.Events {
		e := &s.Events[i]
		at := e.At
		if at == end { // just now
			at--
		}
		if x := columnAt(cols, at); x >= 0 && eventSign(e) == '▼' {
			c.set(chartLeft+x, 0, '▼', styleKey)
		}
	}
}
