package ui

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
)

// action is what a key does.
type action uint8

const (
	actOverview action = iota
	actClients
	actChains
	actArrivals
	actLayers
	actFix
	actSources
	actUp
	actDown
	actPageUp
	actPageDown
	actTop
	actBottom
	actEnter
	actBack
	actFilter
	actSort
	actReverse
	actWhy
	actHealth
	actHelp
	actPause
	actBackward
	actForward
	actFarBackward
	actFarForward
	actStepBackward
	actStepForward
	actSlower
	actFaster
	actNextEvent
	actPreviousEvent
	actFollow
	actPreviousChain
	actNextChain
	actPeriod
	actUnfold
	actNextPanel
	actPreviousPanel
	actMaximise
	actLanguage
	actCopy
	actExport
	actCommand
	actBookmark
	actZoomIn
	actZoomOut
	actZoomAll
	actQuit
)

// scope is where a key works.
type scope uint8

const (
	everywhere scope = iota
	inTable
	inOverview
	inReplay
	inChains
	inArrivals
	inFix
)

// only says where a key of this scope works, for whom it did nothing.
func (s scope) only() string {
	return [...]string{"everywhere", "in the client table (1, 2)", "in the Overview (1)", "in replay", "in Chains (3)", "in Arrivals (4)", "in Fix (6)"}[s]
}

// keyRow is one row of the key map: everything about keys (what they do, the
// hints, the help, the README's table) is made from these rows.
type keyRow struct {
	act   action
	scope scope
	bind  key.Binding
	hint  string // words on the bottom row; "" not shown there
}

// keyMap returns the keys in the order of the help. Where two rows share a key,
// the first whose scope is at hand wins.
func keyMap() []keyRow {
	row := func(act action, scope scope, hint, show, does string, keys ...string) keyRow {
		return keyRow{act, scope, key.NewBinding(key.WithKeys(keys...), key.WithHelp(show, does)), hint}
	}
	return []keyRow{
		row(actOverview, everywhere, "1-7 screens", "1", "Overview: timeline, signatures, arrivals, clients", "1"),
		row(actClients, everywhere, "", "2", "Clients: the table at full height, of tenants where --names names them", "2"),
		row(actChains, everywhere, "", "3", "Chains: each attempt of the selected client", "3"),
		row(actArrivals, everywhere, "", "4", "Arrivals: when retries come, folded by a period", "4"),
		row(actLayers, everywhere, "", "5", "Layers: attempts for each original request, layer by layer", "5"),
		row(actFix, everywhere, "", "6", "Fix: what to do, ranked, with snippets", "6"),
		row(actSources, everywhere, "", "7", "Sources: each with its span, offset, lines, gaps and drops", "7"),
		row(actDown, everywhere, "", "j ↓", "down", "j", "down"),
		row(actUp, everywhere, "", "k ↑", "up", "k", "up"),
		row(actPageDown, everywhere, "", "pgdn", "a page down", "pgdown", "ctrl+f"),
		row(actPageUp, everywhere, "", "pgup", "a page up", "pgup", "ctrl+b"),
		row(actTop, everywhere, "", "g", "to the top", "g", "home"),
		row(actBottom, everywhere, "", "G", "to the bottom", "G", "end"),
		row(actEnter, inTable, "enter chain", "enter", "chains of the selected client; of another panel at hand, its screen", "enter"),
		row(actPreviousChain, inChains, "[ ] chain", "[", "previous chain", "["),
		row(actNextChain, inChains, "", "]", "next chain", "]"),
		row(actPeriod, inArrivals, "p period", "p", "fold by the next candidate period", "p"),
		row(actUnfold, inArrivals, "u unfold", "u", "unfold into clients and time, and back", "u"),
		row(actCopy, inFix, "y copy", "y", "copy the snippet to the terminal's clipboard", "y"),
		row(actCopy, everywhere, "", "y", "copy the chain, the client or the verdict", "y"),
		row(actLanguage, inFix, "tab product", "tab", "the snippet for the next product", "tab"),
		row(actNextPanel, inOverview, "", "tab", "the next panel ▸", "tab"),
		row(actPreviousPanel, inOverview, "", "shift+tab", "the previous panel", "shift+tab"),
		row(actMaximise, inOverview, "", "+", "the panel at hand alone, and back", "+"),
		row(actBack, everywhere, "", "esc", "back: close an overlay, go to the Overview, clear the filter; never quits", "esc"),
		row(actPause, everywhere, "space pause", "space", "pause: a replay stops and goes on; live, the view freezes", " "),
		row(actBackward, inReplay, "←/→ seek", "←", "10 s back", "left"),
		row(actForward, inReplay, "", "→", "10 s on", "right"),
		row(actFarBackward, inReplay, "", "shift+←", "1 min back", "shift+left"),
		row(actFarForward, inReplay, "", "shift+→", "1 min on", "shift+right"),
		row(actStepBackward, inReplay, "", ",", "one bucket of the timeline back", ","),
		row(actStepForward, inReplay, "", ".", "one bucket of the timeline on", "."),
		row(actSlower, inReplay, "", "[", "slower (outside Chains)", "["),
		row(actFaster, inReplay, "", "]", "faster (outside Chains)", "]"),
		row(actNextEvent, inReplay, "n/N event", "n", "next event ◆", "n"),
		row(actPreviousEvent, inReplay, "", "N", "previous event ◆", "N"),
		row(actFollow, everywhere, "", "f", "follow: to the live edge, in replay to the end", "f"),
		row(actZoomIn, everywhere, "", "=", "zoom the timeline in, around the present moment", "="),
		row(actZoomOut, everywhere, "", "-", "zoom it out", "-"),
		row(actZoomAll, everywhere, "", "0", "the whole timeline", "0"),
		row(actBookmark, everywhere, "", "b", "bookmark this moment, or take the bookmark away; they go into reports", "b"),
		row(actFilter, everywhere, "/ filter", "/", "filter by client: all that is shown and exported", "/"),
		row(actSort, inTable, "", "s", "sort by the next column", "s"),
		row(actReverse, inTable, "", "S", "reverse the order", "S"),
		row(actWhy, everywhere, "w why", "w", "why: findings with parts, thresholds and error rates, and what could not be judged", "w"),
		row(actHealth, everywhere, "H health", "H", "health of the sources: what was skipped, dropped or unseen", "H"),
		row(actExport, everywhere, "e export", "e", "export: the incident report (Markdown, JSON, HTML) and the screen (SVG), into the current folder", "e"),
		row(actCommand, everywhere, "", ":", "type a command; tab completes it", ":"),
		row(actHelp, everywhere, "", "?", "this help", "?"),
		row(actQuit, everywhere, "", "q", "quit; also ctrl+c", "q", "ctrl+c"),
	}
}

// press is one key as typed.
type press struct {
	name string // as Bubble Tea names it: "a", " ", "ctrl+c", "enter"
	text string // what it types, "" for none
}

func (p press) String() string { return p.name }

// lookup finds what a key does where at tells which scopes are at hand. If it
// works elsewhere only, found is false and only says where.
func lookup(rows []keyRow, p press, at func(scope) bool) (act action, found bool, only string) {
	for _, r := range rows {
		if !key.Matches(p, r.bind) {
			continue
		}
		if at(r.scope) {
			return r.act, true, ""
		}
		if only == "" {
			only = r.scope.only()
		} else {
			only += " and " + r.scope.only()
		}
	}
	return 0, false, only
}

// KeyTable returns the key map as a Markdown table, for the README.
func KeyTable() string {
	var b strings.Builder
	b.WriteString("| key | does | where |\n|---|---|---|\n")
	for _, r := range keyMap() {
		h := r.bind.Help()
		b.WriteString("| `" + h.Key + "` | " + h.Desc + " | " + r.scope.only() + " |\n")
	}
	return b.String()
}
