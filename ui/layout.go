package ui

// rect is a part of the terminal in columns and rows.
type rect struct{ x, y, w, h int }

// screen is what the body shows.
type screen uint8

// Screens, numbered as their keys are.
const (
	screenOverview screen = 1
	screenClients  screen = 2
	screenChains   screen = 3
	screenArrivals screen = 4
	screenLayers   screen = 5
	screenFix      screen = 6
	screenSources  screen = 7
)

// panel is a part of a screen.
type panel uint8

// Panels. panelLine stands for the whole of a terminal too small for any other.
const (
	panelLine panel = iota
	panelBanner
	panelTimeline
	panelSignatures
	panelClients
	panelChain
	panelArrivals
	panelLayers
	panelFix
	panelSources
	panelTransport
	panelHints
)

// place is a panel and where it is drawn.
type place struct {
	panel panel
	rect
}

// Sizes of the terminal at which the arrangement changes: columns and rows.
const (
	leastW, leastH = 60, 16
	wideW, wideH   = 110, 34
	hugeW, hugeH   = 180, 50
)

// headRows are the rows of the banner: the input, the verdict, who and how big,
// what to do, and what not.
const headRows = 5

// arrange says where each panel of a screen goes on a terminal of w columns and
// h rows. It depends on nothing else.
//
//	< 60x16     one line, and what is needed
//	compact     banner / timeline / clients / transport / hints
//	>= 110x34   banner / timeline | signatures, arrivals / clients / transport / hints
//	>= 180x50   banner / timeline, clients | signatures, arrivals, layers, chain / transport / hints
//
// The other screens give the body to one panel.
func arrange(w, h int, s screen) []place {
	if w < leastW || h < leastH {
		return []place{{panelLine, rect{0, 0, w, h}}}
	}
	body := rect{0, headRows, w, h - headRows - 2}
	out := []place{{panelBanner, rect{0, 0, w, headRows}}}
	switch s {
	case screenClients:
		out = append(out, place{panelClients, body})
	case screenChains:
		out = append(out, place{panelChain, body})
	case screenArrivals:
		out = append(out, place{panelArrivals, body})
	case screenLayers:
		out = append(out, place{panelLayers, body})
	case screenFix:
		out = append(out, place{panelFix, body})
	case screenSources:
		out = append(out, place{panelSources, body})
	case screenOverview:
		out = append(out, overview(w, h, body)...)
	}
	return append(out, place{panelTransport, rect{0, h - 2, w, 1}}, place{panelHints, rect{0, h - 1, w, 1}})
}

func overview(w, h int, b rect) []place {
	switch {
	case w >= hugeW && h >= hugeH:
		left := w * 5 / 8
		const top = 17
		rows := stack(rect{left + 1, b.y, w - left - 1, b.h}, b.h/4, b.h*3/10, b.h*3/20)
		return []place{
			{panelTimeline, rect{0, b.y, left, top}},
			{panelClients, rect{0, b.y + top, left, b.h - top}},
			{panelSignatures, rows[0]},
			{panelArrivals, rows[1]},
			{panelLayers, rows[2]},
			{panelChain, rows[3]},
		}
	case w >= wideW && h >= wideH:
		left := w * 3 / 5
		top := min(max(14, h*3/8), 20)
		rows := stack(rect{left + 1, b.y, w - left - 1, top}, top/2)
		return []place{
			{panelTimeline, rect{0, b.y, left, top}},
			{panelSignatures, rows[0]},
			{panelArrivals, rows[1]},
			{panelClients, rect{0, b.y + top, w, b.h - top}},
		}
	}
	top := min(max(min(6, b.h-4), min(9, b.h*5/9), h*3/10), 20)
	return []place{
		{panelTimeline, rect{0, b.y, w, top}},
		{panelClients, rect{0, b.y + top, w, b.h - top}},
	}
}

// stack cuts r into rows of the given heights and what is left of it.
func stack(r rect, heights ...int) []rect {
	out := make([]rect, 0, len(heights)+1)
	y := r.y
	for _, h := range heights {
		out = append(out, rect{r.x, y, r.w, h})
		y += h
	}
	return append(out, rect{r.x, y, r.w, r.y + r.h - y})
}

// single gives the body of the terminal to one panel.
func single(w, h int, p panel) []place {
	list := arrange(w, h, screenClients)
	for i := range list {
		if list[i].panel == panelClients {
			list[i].panel = p
		}
	}
	return list
}

// panels are those of the overview that can be taken at hand, in order.
func panels(w, h int) (list []panel) {
	for _, p := range arrange(w, h, screenOverview) {
		switch p.panel {
		case panelTimeline, panelSignatures, panelArrivals, panelLayers, panelChain, panelClients:
			list = append(list, p.panel)
		case panelLine, panelBanner, panelFix, panelSources, panelTransport, panelHints:
		}
	}
	return list
}

// find returns where a panel is, a rect without area if it is nowhere.
func find(places []place, p panel) rect {
	for _, q := range places {
		if q.panel == p {
			return q.rect
		}
	}
	return rect{}
}
