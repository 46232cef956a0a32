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
	screenFix      screen = 6
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
	panelFix
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

// arrange says where each panel of a screen goes on a terminal of w columns and
// h rows. It depends on nothing else.
//
//	< 60x16     one line
//	compact     banner / timeline / clients / transport / hints
//	>= 110x34   banner / timeline | signatures / clients / transport / hints
//	>= 180x50   banner / timeline, clients | signatures, fix / transport / hints
func arrange(w, h int, s screen) []place {
	if w < leastW || h < leastH {
		return []place{{panelLine, rect{0, 0, w, min(h, 1)}}}
	}
	head := 4
	if h >= wideH {
		head = 5
	}
	body := rect{0, head, w, h - head - 2}
	out := []place{{panelBanner, rect{0, 0, w, head}}}
	switch s {
	case screenClients:
		out = append(out, place{panelClients, body})
	case screenChains:
		out = append(out, place{panelChain, body})
	case screenFix:
		out = append(out, place{panelFix, body})
	default:
		out = append(out, overview(w, h, body)...)
	}
	return append(out, place{panelTransport, rect{0, h - 2, w, 1}}, place{panelHints, rect{0, h - 1, w, 1}})
}

func overview(w, h int, b rect) []place {
	switch {
	case w >= hugeW && h >= hugeH:
		left := w * 5 / 8
		const top = 17
		side := rect{left + 1, b.y, w - left - 1, b.h}
		return []place{
			{panelTimeline, rect{0, b.y, left, top}},
			{panelClients, rect{0, b.y + top, left, b.h - top}},
			{panelSignatures, rect{side.x, side.y, side.w, side.h / 2}},
			{panelFix, rect{side.x, side.y + side.h/2, side.w, side.h - side.h/2}},
		}
	case w >= wideW && h >= wideH:
		left := w * 3 / 5
		top := min(max(14, h*3/10), 20)
		return []place{
			{panelTimeline, rect{0, b.y, left, top}},
			{panelSignatures, rect{left + 1, b.y, w - left - 1, top}},
			{panelClients, rect{0, b.y + top, w, b.h - top}},
		}
	}
	top := min(max(6, min(9, b.h/2), h*3/10), 20)
	return []place{
		{panelTimeline, rect{0, b.y, w, top}},
		{panelClients, rect{0, b.y + top, w, b.h - top}},
	}
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
