package ui

import (
	"slices"

	"stormwatch/detect"
)

// press does what a key asks for.
func (c *console) press(p press) effect {
	c.dirty = true
	c.v.flash = ""
	if c.v.editing {
		return c.edit(p)
	}
	act, found, only := lookup(c.v.keys, p, c.at)
	switch {
	case !found && only != "":
		return c.flash("`" + p.name + "` works only " + only)
	case !found:
		return effect{}
	}
	return c.do(act)
}

// at tells whether keys of a scope work now.
func (c *console) at(s scope) bool {
	open := c.v.overlay == overlayNone
	switch s {
	case inTable:
		return open && (c.v.screen == screenOverview || c.v.screen == screenClients)
	case inOverview:
		return open && c.v.screen == screenOverview
	case inReplay:
		return c.v.play.replay
	case inChains:
		return open && c.v.screen == screenChains
	case inArrivals:
		return open && c.v.screen == screenArrivals
	case inFix:
		return open && c.v.screen == screenFix
	case everywhere:
	}
	return true
}

func (c *console) flash(text string) effect {
	c.v.flash = text
	return effect{flashed: true}
}

func (c *console) do(act action) effect {
	v := &c.v
	switch act {
	case actQuit:
		return effect{quit: true}
	case actOverview:
		c.show(screenOverview)
	case actClients:
		c.show(screenClients)
	case actArrivals:
		c.show(screenArrivals)
	case actLayers:
		c.show(screenLayers)
	case actFix:
		c.show(screenFix)
	case actSources:
		c.show(screenSources)
	case actEnter:
		return c.openAtHand()
	case actChains:
		return c.drill()
	case actNextPanel:
		c.turnPanel(1)
	case actPreviousPanel:
		c.turnPanel(-1)
	case actMaximise:
		v.alone = !v.alone
		c.want()
	case actBack:
		c.back()
	case actWhy:
		c.lay(overlayWhy)
	case actHealth:
		c.lay(overlayHealth)
	case actHelp:
		c.lay(overlayHelp)
	case actUp, actDown, actPageUp, actPageDown, actTop, actBottom:
		c.move(act)
	case actFilter:
		c.prompt(false, v.filter.text)
	case actCommand:
		c.prompt(true, "")
	case actSort:
		v.order = (v.order + 1) % orders
		v.arrangeRows(c.snap)
	case actReverse:
		v.reverse = !v.reverse
		v.arrangeRows(c.snap)
	case actPreviousChain:
		c.turnChain(-1)
	case actNextChain:
		c.turnChain(1)
	case actPeriod:
		return c.nextPeriod()
	case actUnfold:
		v.unfolded, v.scroll = !v.unfolded, 0
	case actLanguage:
		c.nextLanguage()
	case actCopy:
		return c.copyChosen()
	case actExport:
		return c.export("")
	case actBookmark:
		return c.bookmark("")
	case actZoomIn, actZoomOut, actZoomAll:
		return c.zoom(act)
	default:
		return c.steer(act)
	}
	return effect{}
}

func (c *console) show(s screen) {
	c.v.screen, c.v.overlay, c.v.scroll = s, overlayNone, 0
	c.want()
}

// lay opens an overlay, or closes it if it is open.
func (c *console) lay(o overlay) {
	if c.v.overlay == o {
		o = overlayNone
	}
	c.v.overlay, c.v.scroll = o, 0
}

// openAtHand opens what is at hand: the chains of the selected client, or the screen of
// another panel.
func (c *console) openAtHand() effect {
	if c.v.screen != screenOverview {
		return c.drill()
	}
	switch c.v.at(c.w, c.h) {
	case panelSignatures:
		c.lay(overlayWhy)
	case panelArrivals:
		c.show(screenArrivals)
	case panelLayers:
		c.show(screenLayers)
	case panelTimeline:
		return c.flash("the timeline has no screen of its own; + shows it alone")
	default:
		return c.drill()
	}
	return effect{}
}

// turnPanel takes the next panel of the overview at hand.
func (c *console) turnPanel(by int) {
	list := panels(c.w, c.h)
	if len(list) == 0 {
		return
	}
	at := slices.Index(list, c.v.at(c.w, c.h))
	c.v.panel = list[(at+by+len(list))%len(list)]
	c.want()
}

// drill shows the chains of the client under the cursor.
func (c *console) drill() effect {
	if c.v.screen == screenChains {
		c.show(screenChains)
		return effect{}
	}
	row := c.v.current()
	if row == nil && c.v.client == "" {
		return c.flash("no client to show")
	}
	if row != nil {
		c.v.choose(row.Label)
		c.v.selected = row.Label
	}
	c.show(screenChains)
	return effect{}
}

// back leaves one thing at a time: the overlay, the screen, the filter.
func (c *console) back() {
	switch {
	case c.v.overlay != overlayNone:
		c.lay(overlayNone)
	case c.v.screen != screenOverview:
		c.show(screenOverview)
	case c.v.alone:
		c.v.alone = false
		c.want()
	case c.v.filter.text != "":
		c.apply(filter{})
	}
}

// move moves the cursor of what is on top: an overlay, a chain, mitigations, or
// the client table.
func (c *console) move(act action) {
	v := &c.v
	page := max(c.body().h-4, 4)
	step := map[action]int{actUp: -1, actDown: 1, actPageUp: -page, actPageDown: page, actTop: -1 << 30, actBottom: 1 << 30}[act]
	switch {
	case v.overlay == overlayNone && v.screen == screenArrivals: // it begins at its end
		v.scroll = min(max(v.scroll-step, 0), c.lastLine())
	case v.overlay != overlayNone || v.screen == screenChains || v.screen == screenLayers || v.screen == screenSources:
		v.scroll = min(max(v.scroll+step, 0), c.lastLine())
	case v.screen == screenFix && (act == actPageUp || act == actPageDown):
		v.scroll = min(max(v.scroll+step/2, 0), c.lastLine())
	case v.screen == screenFix:
		v.fix = min(max(v.fix+step, 0), max(len(c.snap.Mitigations)-1, 0))
		v.scroll = 0
	default:
		if row := v.current(); row != nil {
			v.selected = row.Label
		}
		v.moveTo(v.cursor + step)
		c.want()
	}
}

// lastLine is how far what is on top can be scrolled.
func (c *console) lastLine() int {
	lines, room := 0, max(c.body().h-1, 1)
	switch {
	case c.v.overlay == overlayWhy:
		lines = len(whyPage(c.snap, c.w))
	case c.v.overlay == overlayHealth:
		lines = len(healthPage(c.snap, c.w))
	case c.v.overlay == overlayHelp:
		left, right := helpPages(&c.v, c.w)
		lines = max(len(left), len(right))
	case c.v.screen == screenArrivals:
		p, _ := arrivalRects(rect{w: c.w, h: room})
		lines, room = len(c.snap.Arrivals.Rows), p.h-arrivalFoot
		if c.v.unfolded {
			lines, room = 0, 1
		}
	case c.v.screen == screenLayers:
		lines = len(layersPage(c.snap, c.w))
	case c.v.screen == screenSources:
		lines = len(sourcesPage(c.snap, c.w))
	case c.v.screen == screenFix:
		_, rest := fixRects(rect{w: c.w, h: room}, len(c.snap.Mitigations))
		words, snippet := fixPages(c.v.mitigation(c.snap), &c.v, rest.w)
		lines, room = max(len(words), len(snippet)), rest.h
	default:
		if list, at := c.v.chains(c.snap); at >= 0 {
			lines = len(list[at].Attempts)
			places := chainRects(c.snap, &list[at], c.w, room)
			room = places.attempts.h - 1
			if places.key {
				room -= 2
			}
		}
	}
	return max(lines-max(room, 1), 0)
}

// body is what banner, transport and hints leave.
func (c *console) body() rect {
	head := find(c.v.places(c.w, c.h), panelBanner)
	return rect{0, head.h, c.w, max(c.h-head.h-2, 0)}
}

func (c *console) turnChain(by int) {
	list, at := c.v.chains(c.snap)
	if at < 0 {
		return
	}
	c.v.chain = chainKey(&list[min(max(at+by, 0), len(list)-1)])
	c.v.scroll = 0
}

// nextPeriod folds the arrivals by the candidate after the present period.
func (c *console) nextPeriod() effect {
	list := c.snap.Arrivals.Candidates
	if len(list) < 2 {
		return c.flash("no other period fits the arrivals")
	}
	at := slices.Index(list, c.snap.Arrivals.Period)
	if c.v.period != 0 {
		at = slices.Index(list, c.v.period)
	}
	c.v.period, c.v.scroll = list[(at+1)%len(list)], 0
	c.want()
	return effect{}
}

func (c *console) nextLanguage() {
	m := c.v.mitigation(c.snap)
	if m == nil || len(m.Snippets) == 0 {
		return
	}
	at := max(slices.IndexFunc(m.Snippets, func(s detect.Snippet) bool { return s.For == c.v.language }), 0)
	c.v.language = m.Snippets[(at+1)%len(m.Snippets)].For
	c.v.scroll = 0
}

// apply puts a filter into effect.
func (c *console) apply(f filter) {
	c.v.filter = f
	c.take(c.raw)
	c.want()
}
