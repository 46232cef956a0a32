package ui

import (
	"stormwatch/detect"
	"stormwatch/report"
)

// console is the state of the screen and what keys do to it. It knows nothing of
// the terminal library.
type console struct {
	feed Feed
	pal  *palette
	v    view
	raw  *detect.Snapshot // the feed's, taken last
	snap *detect.Snapshot // shown: raw with bookmarks, and as filtered; the feed may be ahead of it
	opt  Options
	// typing is what was there when the prompt was opened: what is typed is completed
	// from it, for the filter leaves less and less while it is typed.
	typing *detect.Snapshot

	bookmarks []detect.Event

	asked    wish
	askedSeq uint64 // of the Snapshot that was the latest when it was asked

	seekFrames int // frames left for which a seek is taken to be under way

	w, h   int
	cells  *canvas
	frame  string
	dirty  bool
	copied []string // snippets, for printing on quit
}

// wish is what Feed.Want was last told, in comparable form.
type wish struct {
	client, filter string
	bins           int
	arrivals       bool
	period         int64
	from, to       int64
}

// effect is what a key asks of the program.
type effect struct {
	quit    bool
	copy    string        // text for the terminal's clipboard
	job     func() string // work to do aside, which returns a message
	flashed bool          // a message is shown that shall go away
}

const seekPatience = 30 // frames, 3 s at the usual rate

func newConsole(f Feed, o Options) *console {
	c := &console{
		feed: f, opt: o, pal: newPalette(o.Output, o.Theme, o.Color, o.ASCII), dirty: true,
		v: view{screen: screenOverview, title: o.Title, version: o.Version, keys: keyMap()},
	}
	c.refresh()
	return c
}

// resize stores the size of the terminal.
func (c *console) resize(w, h int) {
	c.w, c.h, c.dirty = w, h, true
	c.want()
}

// refresh takes the feed's latest Snapshot, unless the view is frozen. It is
// called once a frame.
func (c *console) refresh() {
	s := c.feed.Snapshot()
	if s == nil {
		s = &detect.Snapshot{}
	}
	play := c.readPlayback(s)
	if play != c.v.play {
		c.v.play, c.dirty = play, true
	}
	if p := c.feed.Progress(); p != c.v.loading {
		c.v.loading, c.dirty = p, true
	}
	if s == c.raw || play.frozen && c.snap != nil {
		return
	}
	if c.v.waits && s.Seq > c.askedSeq {
		c.v.waits = false
	}
	c.take(s)
	c.follow()
	if c.w > 0 {
		c.want() // the first Snapshot may have widened what is on screen
	}
}

func (c *console) readPlayback(s *detect.Snapshot) playback {
	p := playback{frozen: c.v.play.frozen, target: c.v.play.target}
	if t := c.feed.Transport(); t != nil {
		p.replay, p.paused, p.speed, p.frozen = true, t.Paused(), t.Speed(), false
	} else {
		p.target = 0
	}
	if p.frozen && c.snap != nil {
		p.behind = s.At - c.snap.At
	}
	if p.target != 0 {
		if d := s.At - p.target; c.seekFrames <= 0 || d > -second && d < second {
			p.target = 0
		}
		c.seekFrames--
	}
	return p
}

// take shows a Snapshot.
func (c *console) take(s *detect.Snapshot) {
	c.raw, c.dirty = s, true
	c.snap = c.v.filter.apply(report.WithMarks(s, c.bookmarks))
	c.v.arrangeRows(c.snap)
}

// want tells the feed what later Snapshots shall answer, if that has changed.
func (c *console) want() {
	bins := 0
	for _, places := range [][]place{arrange(c.w, c.h, screenOverview), c.v.places(c.w, c.h)} {
		if r := find(places, panelTimeline); r.w > 0 {
			bins = chartColumns(r.w)
		}
	}
	c.preview()
	w := wish{client: c.v.client, filter: c.v.filter.text, bins: bins, period: c.v.period, from: c.v.from, to: c.v.to}
	w.arrivals = find(c.v.places(c.w, c.h), panelArrivals).h > 0
	if w == c.asked {
		return
	}
	c.asked = w
	if c.snap != nil {
		c.askedSeq = c.snap.Seq
	}
	c.v.waits = true
	asked := detect.View{Client: w.client, Bins: bins, Arrivals: w.arrivals, Period: w.period, From: w.from, To: w.to}
	if f := c.v.filter; len(f.terms) > 0 {
		asked.Filter, asked.FilterName, asked.Lasting = f.match, f.text, f.lasting()
	}
	c.feed.Want(asked)
}

// preview makes the selected client the one whose chains are wanted, where the
// overview has room for them.
func (c *console) preview() {
	if c.v.screen != screenOverview || find(c.v.places(c.w, c.h), panelChain).h == 0 {
		return
	}
	if row := c.v.current(); row != nil {
		c.v.choose(row.Label)
	}
}

// draw returns the frame, drawn anew only if something has changed.
func (c *console) draw() string {
	if !c.dirty {
		return c.frame
	}
	c.dirty = false
	if c.cells == nil || c.cells.w != c.w || c.cells.h != c.h {
		c.cells = newCanvas(c.w, c.h)
	}
	c.cells.clear()
	drawFrame(c.cells, c.snap, &c.v)
	c.frame = c.cells.render(c.pal)
	return c.frame
}

// drawFrame draws all panels of the present screen.
func drawFrame(c *canvas, s *detect.Snapshot, v *view) {
	places := v.places(c.w, c.h)
	now := *v
	now.panel = v.at(c.w, c.h)
	v = &now
	covered := v.overlay != overlayNone
	for _, p := range places {
		on := c.sub(p.rect)
		switch p.panel {
		case panelLine:
			drawLine(on, s)
		case panelBanner:
			drawBanner(on, s, v)
		case panelTransport:
			drawTransport(on, s, v)
		case panelHints:
			drawHints(on, v)
		case panelTimeline, panelSignatures, panelClients, panelChain, panelArrivals, panelLayers, panelFix, panelSources:
			if !covered {
				drawPanel(on, p.panel, s, v)
			}
		}
	}
	if covered {
		if banner := find(places, panelBanner); banner.h > 0 { // else one line is all
			drawOverlay(c.sub(rect{0, banner.h, c.w, c.h - banner.h - 2}), s, v)
		}
	}
}

func drawPanel(c *canvas, p panel, s *detect.Snapshot, v *view) {
	switch p {
	case panelTimeline:
		drawTimeline(c, s, v)
	case panelSignatures:
		drawSignatures(c, s, v)
	case panelClients:
		drawClients(c, s, v)
	case panelChain:
		drawChain(c, s, v)
	case panelArrivals:
		drawArrivals(c, s, v)
	case panelLayers:
		drawLayers(c, s, v)
	case panelFix:
		drawFix(c, s, v)
	case panelSources:
		drawSources(c, s, v)
	case panelLine, panelBanner, panelTransport, panelHints:
	}
}

func drawOverlay(c *canvas, s *detect.Snapshot, v *view) {
	switch v.overlay {
	case overlayWhy:
		drawWhy(c, s, v)
	case overlayHealth:
		drawHealth(c, s, v)
	case overlayHelp:
		drawHelp(c, v)
	case overlayNone:
	}
}
