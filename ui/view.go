package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"stormwatch/detect"
	"stormwatch/report"
)

// overlay lies over the body of a screen.
type overlay uint8

const (
	overlayNone overlay = iota
	overlayWhy
	overlayHealth
	overlayHelp
)

// order is a column the client table is sorted by.
type order uint8

const (
	byAvoidable order = iota // as the engine ranks: whom to act on first
	byAttempts
	byRefused
	byAmplification
	byEarly
	byScore
	byClient
	orders
)

func (o order) String() string {
	return [...]string{"avoidable", "attempts", "refused", "amp", "early", "score", "client"}[o]
}

// view is what the operator has chosen to look at. Panels draw a Snapshot
// through it and never change it.
type view struct {
	screen  screen
	overlay overlay
	panel   panel // of the overview, at hand; 0 the clients
	alone   bool  // it is shown alone
	scroll  int   // first line of an overlay, of the chain's attempts, or of the fix's text

	rows     []*detect.Client // of the table: filtered and sorted
	cursor   int              // row of the selected client
	selected string           // its label; "" while the operator has not moved
	order    order
	reverse  bool

	client string // whose chains are wanted
	chain  string // key of the chain shown; "" the longest
	waits  bool   // no Snapshot has answered the present view yet

	period   int64 // ns, by which arrivals are folded; 0 the one that fits best
	unfolded bool  // arrivals are shown by client and time

	fix      int    // mitigation selected
	language string // product its snippet is shown for

	filter   filter
	editing  bool
	command  bool // what is edited is a command, not the filter
	draft    string
	draftErr error
	offers   []string // what the draft may become

	from, to int64 // of the timeline; 0 the whole

	flash   string
	title   string
	version string
	keys    []keyRow
	play    playback
	loading Progress
}

// playback is the clock as the frame shows it.
type playback struct {
	replay bool // a Transport is there
	paused bool
	speed  float64
	target int64 // event time a seek is under way to; 0 none
	frozen bool  // live input goes on behind a frozen view
	behind int64 // how far, ns
}

// arrangeRows filters and sorts the client table and keeps the cursor on the
// selected client, so that a new order does not move it to another one.
func (v *view) arrangeRows(s *detect.Snapshot) {
	v.rows = make([]*detect.Client, 0, len(s.Clients))
	settled := v.filter.answered(s) // by what the clients were when it was set
	for i := range s.Clients {
		if settled || v.filter.match(&s.Clients[i]) {
			v.rows = append(v.rows, &s.Clients[i])
		}
	}
	if v.order != byAvoidable {
		slices.SortStableFunc(v.rows, func(a, b *detect.Client) int { return v.order.compare(a, b) })
	}
	if v.reverse {
		slices.Reverse(v.rows)
	}
	if v.selected != "" {
		if i := slices.IndexFunc(v.rows, func(c *detect.Client) bool { return c.Label == v.selected }); i >= 0 {
			v.cursor = i
			return
		}
	}
	v.moveTo(v.cursor)
	if v.selected == "" {
		v.cursor = 0
	}
}

// whose tells of which clients sums and verdict are; "" of all, and no filter is on.
func (v *view) whose(s *detect.Snapshot) string {
	switch f := &s.Filtered; {
	case f.Whole:
		text := report.Count(f.Clients) + " of " + countClients(f.Of)
		if f.From != 0 {
			text += " from " + clock(f.From)
		}
		if !v.filter.answered(s) {
			text += " by the filter before"
		}
		return text
	case v.filter.text != "":
		return "all clients"
	}
	return ""
}

// unfiltered is what a panel adds to its title while its sums are not of the clients
// that the filter lets pass.
func (v *view) unfiltered(s *detect.Snapshot) string {
	switch {
	case s.Filtered.Whole && !v.filter.answered(s):
		return " by the filter before"
	case v.filter.text == "" || s.Filtered.Whole:
		return ""
	}
	return " of all clients"
}

// moveTo puts the cursor on a row, clamped. A cursor that was never moved stays
// on the first row instead of following a client.
func (v *view) moveTo(i int) {
	v.cursor = min(max(i, 0), max(len(v.rows)-1, 0))
	if v.selected != "" && len(v.rows) > 0 {
		v.selected = v.rows[v.cursor].Label
	}
}

// current is the client under the cursor, nil when the table is empty.
func (v *view) current() *detect.Client {
	if v.cursor >= len(v.rows) {
		return nil
	}
	return v.rows[v.cursor]
}

// compare orders the greater first, unknown numbers last, names alphabetically.
func (o order) compare(a, b *detect.Client) int {
	number := func(a, b detect.Number) int {
		if report.Known(a) != report.Known(b) {
			if report.Known(a) {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.V, a.V)
	}
	switch o {
	case byAttempts:
		return cmp.Compare(b.Attempts, a.Attempts)
	case byRefused:
		return cmp.Compare(b.Refused, a.Refused)
	case byAmplification:
		return number(a.Amplification, b.Amplification)
	case byEarly:
		return number(a.EarlyShare, b.EarlyShare)
	case byScore:
		return cmp.Compare(b.Score, a.Score)
	case byClient:
		return strings.Compare(a.Label, b.Label)
	case byAvoidable, orders:
	}
	return 0
}

// at is the panel of the overview at hand.
func (v *view) at(w, h int) panel {
	if slices.Contains(panels(w, h), v.panel) {
		return v.panel
	}
	return panelClients
}

// holds tells whether keys go to a panel that is drawn.
func (v *view) holds(p panel) bool { return v.screen != screenOverview || v.panel == p }

// places says where the panels of the present screen go.
func (v *view) places(w, h int) []place {
	if v.screen == screenOverview && v.alone {
		return single(w, h, v.at(w, h))
	}
	return arrange(w, h, v.screen)
}

// choose makes a client the one whose chains are wanted.
func (v *view) choose(client string) {
	if client != v.client {
		v.client, v.chain = client, ""
	}
}

// chains returns the chains of the wanted client and which of them is shown, -1
// for none.
func (v *view) chains(s *detect.Snapshot) (list []detect.Chain, shown int) {
	if v.client == "" || len(s.Chains) == 0 || s.Chains[0].Client != v.client {
		return nil, -1
	}
	longest := 0
	for i := range s.Chains {
		if chainKey(&s.Chains[i]) == v.chain {
			return s.Chains, i
		}
		if attempts(&s.Chains[i]) >= attempts(&s.Chains[longest]) {
			longest = i
		}
	}
	return s.Chains, longest
}

// chainKey tells chains apart; those begun before the input share one id.
func chainKey(c *detect.Chain) string {
	if len(c.Attempts) == 0 {
		return c.ID
	}
	return c.ID + "@" + strconv.FormatInt(c.Attempts[0].Start, 10)
}

func attempts(c *detect.Chain) int { return len(c.Attempts) + c.More }

// mitigation returns the selected mitigation, nil if there is none.
func (v *view) mitigation(s *detect.Snapshot) *detect.Mitigation {
	if len(s.Mitigations) == 0 {
		return nil
	}
	return &s.Mitigations[min(max(v.fix, 0), len(s.Mitigations)-1)]
}

// snippet returns a mitigation's snippet in the chosen language, else its first.
func (v *view) snippet(m *detect.Mitigation) *detect.Snippet {
	if m == nil || len(m.Snippets) == 0 {
		return nil
	}
	return &m.Snippets[max(slices.IndexFunc(m.Snippets, func(s detect.Snippet) bool { return s.For == v.language }), 0)]
}
