package ui

import (
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"stormwatch/capture"
	"stormwatch/detect"
	"stormwatch/report"
)

func TestDrillDownAndBack(t *testing.T) {
	f := replay(stormSnapshot())
	m := open(f, Options{}, 80, 24, "jj", "enter")
	if got := f.wanted[len(f.wanted)-1].Client; got != "10.42.3.23" {
		t.Fatalf("the feed is asked for client %q", got)
	}
	if !strings.Contains(m.View(), "reading the chains of 10.42.3.23") {
		t.Errorf("nothing says that the chains are under way:\n%s", m.View())
	}
	s := stormSnapshot()
	s.Seq = 8
	f.snap = s
	if m = send(m, frameMsg{}); !strings.Contains(m.View(), "no chain of 10.42.3.23 is kept") {
		t.Errorf("a snapshot without chains is not told:\n%s", m.View())
	}
	s = chainSnapshot()
	s.Seq = 9
	for i := range s.Chains {
		s.Chains[i].Client = "10.42.3.23"
	}
	f.snap = s
	if m = send(m, frameMsg{}); !strings.Contains(m.View(), "Chain 2 of 3 · 10.42.3.23") {
		t.Errorf("the longest chain is not shown first:\n%s", m.View())
	}
	if m = send(m, typed("]", "]")...); !strings.Contains(m.View(), "Chain 3 of 3") {
		t.Errorf("] does not go to the next chain and stop at the last:\n%s", m.View())
	}
	if m = send(m, typed("[", "[", "[")...); !strings.Contains(m.View(), "Chain 1 of 3") {
		t.Errorf("[ does not go to the previous chain:\n%s", m.View())
	}
	if f.clock.speed != 4 {
		t.Errorf("[ in Chains changed the speed to %v", f.clock.speed)
	}
	if m = send(m, typed("esc")...); !strings.Contains(m.View(), "> 10.42.3.23") {
		t.Errorf("esc does not go back to the table:\n%s", m.View())
	}
	if _, cmd := m.Update(typed("esc")[0]); cmd != nil {
		t.Error("esc does more than go back")
	}
}

// The engine tells how early a retry was only of early ones; of the others the
// screen works it out from the wait named before.
func TestKeptWaits(t *testing.T) {
	k := chain(1, 3, "success")
	k.Attempts[1].Early, k.Attempts[1].Gap = detect.Number{}, detect.Some(3.25)
	k.Attempts[2].Early, k.Attempts[2].Gap = detect.Number{}, detect.Some(2.999) // within the clock's tolerance
	for i, want := range []string{"", "kept +0.2s", "kept +0ms"} {
		if got := timing(earlyAt(&k, i)); got != want {
			t.Errorf("attempt %d: %q, want %q", i+1, got, want)
		}
	}
	if early, hinted := earlyOf(&k); early != 0 || hinted != 2 {
		t.Errorf("%d of %d early", early, hinted)
	}
	k.Attempts[1].Hint = capture.Hint{State: capture.Absent}
	if got := earlyAt(&k, 2); report.Known(got) {
		t.Errorf("a retry after an answer without a wait is judged: %v", got)
	}
}

// Chains that began before the input share an id and can still be turned.
func TestChainsOfOneID(t *testing.T) {
	s := chainSnapshot()
	for i := range s.Chains {
		s.Chains[i].ID = "10.42.1.17#(begun earlier)"
	}
	m := open(replay(s), Options{}, 80, 24, "enter", "[[", "]")
	if !strings.Contains(m.View(), "Chain 2 of 3") {
		t.Errorf("] is stuck:\n%s", m.View())
	}
}

func TestPanels(t *testing.T) {
	f := replay(arrivalsSnapshot())
	m := open(f, Options{}, 120, 40)
	for _, title := range []string{"▸Timeline", "▸Signatures", "▸Arrivals", "▸Clients"} {
		if m = send(m, typed("tab")...); !strings.Contains(m.View(), title) {
			t.Errorf("tab does not take %s at hand:\n%s", title, m.View())
		}
	}
	m = send(m, typed("shift+tab", "+")...)
	if v := m.View(); !strings.Contains(v, "▸Arrivals") || strings.Contains(v, "Clients 60") || !strings.Contains(v, "▲ STORM") {
		t.Errorf("+ does not show the panel alone below the banner:\n%s", v)
	}
	checkSize(t, m.View(), 120, 40)
	if m = send(m, typed("esc")...); !strings.Contains(m.View(), "Clients 60") {
		t.Errorf("esc does not bring the others back:\n%s", m.View())
	}
	if m = send(m, typed("enter")...); m.c.v.screen != screenArrivals {
		t.Error("enter does not open the screen of the panel at hand")
	}
	if m = send(m, typed("+")...); !strings.Contains(m.View(), "works only in the Overview") {
		t.Errorf("+ on another screen says nothing:\n%s", m.View())
	}
	// A panel that a smaller terminal does not have leaves the keys to the table.
	m = send(m, typed("1")...)
	m.c.resize(80, 24)
	if v := m.View(); !strings.Contains(v, "▸Clients") {
		t.Errorf("no panel is at hand:\n%s", v)
	}
	m = send(m, typed("shift+tab", "+")...)
	if got := f.wanted[len(f.wanted)-1].Bins; !strings.Contains(m.View(), "▸Timeline") || got != 65 {
		t.Errorf("the timeline alone asks for %d bins:\n%s", got, m.View())
	}
}

func TestSelectionFollowsTheClient(t *testing.T) {
	f := live(stormSnapshot())
	m := open(f, Options{}, 80, 24, "jjj")
	s := stormSnapshot()
	s.Live, s.Seq = true, 8
	slices.Reverse(s.Clients)
	f.snap = s
	m = send(m, frameMsg{})
	if got := m.c.v.current().Label; got != "10.42.4.26" {
		t.Errorf("a new order moved the cursor to %s", got)
	}
	if !strings.Contains(m.View(), "> 10.42.4.26") {
		t.Errorf("the selected client is out of sight:\n%s", m.View())
	}
	// A cursor that was never moved stays on the first row.
	f = live(stormSnapshot())
	m = open(f, Options{}, 80, 24)
	f.snap = s
	if m = send(m, frameMsg{}); m.c.v.current().Label != s.Clients[0].Label {
		t.Errorf("an untouched cursor left the first row")
	}
}

// A table shown from its middle says so, and a jump in time shows its top again.
func TestTableBeginsAtItsTopAfterAJump(t *testing.T) {
	f := replay(stormSnapshot())
	m := open(f, Options{}, 120, 40, "2", "G")
	if v := m.View(); !strings.Contains(v, "more ↑") || strings.Contains(v, "more ↓") {
		t.Errorf("nothing says that rows are above:\n%s", v)
	}
	if v := open(f, Options{ASCII: true}, 80, 24, "G").View(); !strings.Contains(v, "54 more ^") {
		t.Errorf("nothing says so in ASCII:\n%s", v)
	}
	for _, keys := range [][]string{{"f"}, {"N"}, typedCommand("goto 03:12:00")} {
		m := open(f, Options{}, 120, 40, append([]string{"2", "G"}, keys...)...)
		if v := m.View(); strings.Contains(v, "more ↑") || m.c.v.cursor != 0 {
			t.Errorf("%v leaves the table at its end:\n%s", keys, v)
		}
	}
	m = open(f, Options{}, 120, 40, "2", "f", "j", "left")
	s := stormSnapshot()
	s.Seq = 8
	f.snap = s
	if m = send(m, frameMsg{}); m.c.v.cursor != 1 {
		t.Errorf("a step in time moves the cursor from the second row to row %d", m.c.v.cursor+1)
	}
}

// A moment that the recording does not reach is told, and the nearest taken.
func TestGotoOutsideTheRecording(t *testing.T) {
	for command, want := range map[string]string{"goto 04:00:00": "the recording ends at 03:24:00", "goto 01:00": "the recording starts at 03:11:10"} {
		m := open(replay(stormSnapshot()), Options{}, 120, 40, typedCommand(command)...)
		if !strings.Contains(m.View(), want) {
			t.Errorf("%s: no %q in\n%s", command, want, m.View())
		}
	}
}

func typedCommand(text string) []string {
	return append(strings.Split(":"+text, ""), "enter")
}

func TestTransportKeys(t *testing.T) {
	f := replay(stormSnapshot())
	m := open(f, Options{}, 120, 40)
	now := at("03:18:52")
	seeks := func(keys ...string) int64 {
		t.Helper()
		m.c.v.play.target = 0
		f.clock.seeks = nil
		m = send(m, typed(keys...)...)
		if len(f.clock.seeks) == 0 {
			t.Fatalf("%v: no seek", keys)
		}
		return f.clock.seeks[len(f.clock.seeks)-1]
	}
	for _, c := range []struct {
		keys []string
		want int64
	}{
		{[]string{"left"}, now - 10*second},
		{[]string{"left", "left", "left"}, now - 30*second},
		{[]string{"right"}, now + 10*second},
		{[]string{"shift+left"}, now - 60*second},
		{[]string{"shift+right"}, now + 60*second},
		{[]string{","}, now - 2*second}, // the fixture's bins are 2 s
		{[]string{"."}, now + 2*second},
		{[]string{"N"}, at("03:15:00")},
		{[]string{"N", "N"}, at("03:12:45")},
		{[]string{"NNN"}, at("03:12:40")}, // typed fast, they arrive as one message
		{[]string{"NNN", "n"}, at("03:12:45")},
		{[]string{"f"}, at("03:24:00")},
		{strings.Fields(strings.Repeat("shift+left ", 20)), at("03:11:10")}, // not before the start
		{strings.Fields(strings.Repeat("shift+right ", 20)), at("03:24:00")},
	} {
		if got := seeks(c.keys...); got != c.want {
			t.Errorf("%v: seeks %s, want %s", c.keys, clock(got), clock(c.want))
		}
	}
	if m = send(m, typed("f", "n")...); !strings.Contains(m.View(), "no later event") {
		t.Errorf("n behind the last event says nothing:\n%s", m.View())
	}
	m = send(m, typed("space")...)
	if !f.clock.paused || !strings.Contains(m.View(), "PAUSED") || !strings.Contains(m.View(), "‖") {
		t.Errorf("space does not pause:\n%s", m.View())
	}
	if send(m, typed("space")...); f.clock.paused {
		t.Error("space does not go on")
	}
	for range 9 {
		m = send(m, typed("]")...)
	}
	if f.clock.speed != 0 || !strings.Contains(m.View(), "▶ max") {
		t.Errorf("] does not end at max but at %v", f.clock.speed)
	}
	m = send(m, typed("[")...)
	if f.clock.speed != 64 {
		t.Errorf("one below max is %v", f.clock.speed)
	}
	for range 20 {
		m = send(m, typed("[")...)
	}
	if f.clock.speed != .25 || !strings.Contains(m.View(), "x1/4") {
		t.Errorf("[ does not end at 1/4 but at %v", f.clock.speed)
	}
}

// A seek under way is shown until the snapshot gets there.
func TestSeekIsShown(t *testing.T) {
	f := replay(stormSnapshot())
	m := open(f, Options{}, 120, 40, "N")
	m = send(m, frameMsg{})
	if !strings.Contains(m.View(), "→ 03:15:00") {
		t.Errorf("the seek is not shown:\n%s", m.View())
	}
	s := stormSnapshot()
	s.Seq, s.At = 8, at("03:15:00")
	f.snap = s
	if m = send(m, frameMsg{}); strings.Contains(m.View(), "→ 03:15:00") {
		t.Error("an arrived seek is still shown")
	}
}

func TestFreezeLive(t *testing.T) {
	f := live(stormSnapshot())
	m := open(f, Options{}, 120, 40, "space")
	s := stormSnapshot()
	s.Live, s.Seq, s.At = true, 8, s.At+42*second
	s.Verdict.State = detect.Recovering
	f.snap = s
	m = send(m, frameMsg{})
	if v := m.View(); !strings.Contains(v, "FROZEN +42s") || !strings.Contains(v, "STORM") {
		t.Errorf("a frozen view does not stay and tell how far behind it is:\n%s", v)
	}
	if m = send(m, typed("f")...); !strings.Contains(m.View(), "RECOVERING") || strings.Contains(m.View(), "FROZEN") {
		t.Errorf("f does not go back to the live edge:\n%s", m.View())
	}
	if m = send(m, typed("[")...); !strings.Contains(m.View(), "`[` works only in Chains (3) and in replay") {
		t.Errorf("a key without effect does not say why:\n%s", m.View())
	}
	text := m.c.v.flash
	if m = send(m, flashMsg{text}); strings.Contains(m.View(), text) {
		t.Error("a message does not go away")
	}
}

func TestFilterKeys(t *testing.T) {
	f := replay(stormSnapshot())
	m := open(f, Options{}, 120, 40, "/", "agent:axios")
	if !strings.Contains(m.View(), "Clients 15 of 430 · filter agent:axios") {
		t.Fatalf("the filter does not work while it is typed:\n%s", m.View())
	}
	asked := f.wanted[len(f.wanted)-1].Filter
	if asked == nil || !asked(&detect.Client{Agent: "axios/1"}) || asked(&detect.Client{Agent: "curl"}) {
		t.Error("the feed is not asked for the filter")
	}
	m = send(m, typed("space", "refused:>many")...)
	if !strings.Contains(m.View(), `refused: "many" is no number`) {
		t.Errorf("an invalid filter does not say why:\n%s", m.View())
	}
	if m = send(m, typed("enter")...); !m.c.v.editing {
		t.Error("enter accepts a filter that cannot be read")
	}
	m = send(m, typed("ctrl+w", "backspace", "enter")...)
	if m.c.v.editing || m.c.v.filter.text != "agent:axios" {
		t.Errorf("after correcting it the filter is %q", m.c.v.filter.text)
	}
	if !strings.Contains(m.View(), "FILTER ON") {
		t.Errorf("the header does not say that a filter is on:\n%s", m.View())
	}
	s := stormSnapshot() // the engine's answer knows more matches than it lists
	s.Seq, s.ClientsMatched = 8, 107
	f.snap = s
	if m = send(m, frameMsg{}); !strings.Contains(m.View(), "Clients 107 of 430") {
		t.Errorf("the engine's count of matches is not shown:\n%s", m.View())
	}
	m = send(m, typed("esc")...)
	if m.c.v.filter.text != "" || f.wanted[len(f.wanted)-1].Filter != nil {
		t.Error("esc does not clear the filter")
	}
	m = send(m, typed("/", "qq", "esc", "q")...)
	if m.c.v.filter.text != "" {
		t.Error("esc while typing does not clear the filter")
	}
	// What is pasted is text, not keys.
	m = send(m, typed("/")...)
	m = send(m, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("client:10.42.1."), Paste: true})
	if m.c.v.filter.text != "client:10.42.1." {
		t.Errorf("a paste gives %q", m.c.v.filter.text)
	}
	m = send(m, typed("enter")...)
	next, cmd := m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("q"), Paste: true})
	if cmd != nil || next.(Model).c.v.screen != screenOverview {
		t.Error("a paste outside of the filter is taken for keys")
	}
}

func TestSort(t *testing.T) {
	m := open(replay(stormSnapshot()), Options{}, 120, 40, "S")
	if got := m.c.v.rows[0].Label; got != "10.42.4.194" {
		t.Errorf("reversed, the first is %s", got)
	}
	m = send(m, typed("S", "s", "s", "s", "s")...) // avoidable, attempts, refused, amp, early
	if m.c.v.order != byEarly || m.c.v.rows[0].EarlyShare.V != 1 || report.Known(m.c.v.rows[len(m.c.v.rows)-1].EarlyShare) {
		t.Errorf("sorted by %v, unknown shares are not last", m.c.v.order)
	}
	if !strings.Contains(m.View(), "sort early ↓") {
		t.Error("the title does not name the order")
	}
}

func TestFixKeys(t *testing.T) {
	m := open(replay(stormSnapshot()), Options{}, 80, 24, "6")
	if !strings.Contains(m.View(), "budget_percent") {
		t.Fatalf("the first product's snippet is not shown:\n%s", m.View())
	}
	m = send(m, typed("tab")...)
	if !strings.Contains(m.View(), "limit_conn_status 429;") {
		t.Fatalf("tab does not show the next product's:\n%s", m.View())
	}
	e := m.c.press(press{name: "y"})
	if e.copy != "limit_conn inflight 50;\nlimit_conn_status 429;\n" || !e.flashed {
		t.Errorf("y copies %q", e.copy)
	}
	if got := m.Copied(); len(got) != 1 || got[0] != e.copy {
		t.Errorf("the text is not kept for quitting: %q", got)
	}
	m = send(m, typed("j")...)
	if !strings.Contains(m.View(), "2 attempts instead of 9 in each chain") {
		t.Errorf("j does not go to the next mitigation:\n%s", m.View())
	}
	m = open(live(emptySnapshot()), Options{}, 80, 24, "6", "y", "tab", "j", "k", "G", "pgdown")
	if !strings.Contains(m.View(), "no verdict yet") {
		t.Errorf("an empty Fix does not say why:\n%s", m.View())
	}
}

func TestOverlays(t *testing.T) {
	m := open(replay(stormSnapshot()), Options{Version: "0.1-test"}, 80, 24, "w")
	if v := m.View(); !strings.Contains(v, "jitter < 0.05") || !strings.Contains(v, "0 in 60 runs") || !strings.Contains(v, "▲ STORM") {
		t.Errorf("why does not show rule and error rate under the verdict:\n%s", v)
	}
	if m = send(m, typed("G")...); !strings.Contains(m.View(), "no request carries a stable id") {
		t.Errorf("why does not end with what was not judged:\n%s", m.View())
	}
	bottom := m.View()
	if m = send(m, typed("j", "k")...); m.View() == bottom {
		t.Error("k after j at the bottom does not scroll back")
	}
	if m = send(m, typed("H")...); !strings.Contains(m.View(), "e.g. frame 88: 16 03 01 02") {
		t.Errorf("health does not show an example of what was skipped:\n%s", m.View())
	}
	if m = send(m, typed("H")...); !strings.Contains(m.View(), "Timeline") {
		t.Error("H again does not close it")
	}
	if m = send(m, typed("?", "G")...); !strings.Contains(m.View(), "stormwatch 0.1-test") {
		t.Errorf("help does not end with the version:\n%s", m.View())
	}
	if m = send(m, typed("esc")...); m.c.v.overlay != overlayNone {
		t.Error("esc does not close the help")
	}
}

// Keys without a meaning do nothing and say nothing.
func TestKeysOfNothing(t *testing.T) {
	m := open(replay(stormSnapshot()), Options{}, 80, 24)
	before := m.View()
	if after := send(m, typed("x", "8")...).View(); after != before {
		t.Errorf("they change the screen:\n%s", after)
	}
}

func TestQuit(t *testing.T) {
	for _, keys := range [][]string{{"q"}, {"ctrl+c"}, {"w", "q"}, {"/", "x", "ctrl+c"}} {
		m := open(replay(stormSnapshot()), Options{}, 80, 24, keys[:len(keys)-1]...)
		_, cmd := m.Update(typed(keys[len(keys)-1])[0])
		if cmd == nil {
			t.Fatalf("%v does not quit", keys)
		}
		if _, ok := cmd().(tea.QuitMsg); !ok {
			t.Errorf("%v does not quit", keys)
		}
	}
}

// One tick is armed by its own message only; a stale one is dropped.
func TestOneTick(t *testing.T) {
	m := open(replay(stormSnapshot()), Options{}, 80, 24)
	if _, cmd := m.Update(frameMsg{gen: 1}); cmd != nil {
		t.Error("the tick of another generation arms a second one")
	}
	if _, cmd := m.Update(frameMsg{}); cmd == nil {
		t.Error("the tick is not armed again")
	}
	if _, cmd := m.Update(tea.WindowSizeMsg{Width: 90, Height: 30}); cmd != nil {
		t.Error("a resize arms a tick")
	}
}

// The feed is told what is wanted once, not every frame.
func TestWantOnChangeOnly(t *testing.T) {
	f := replay(stormSnapshot())
	m := open(f, Options{}, 80, 24)
	n := len(f.wanted)
	if n == 0 || f.wanted[n-1].Bins != 65 {
		t.Fatalf("the timeline's columns are not asked for: %+v", f.wanted)
	}
	send(m, frameMsg{}, frameMsg{}, tea.WindowSizeMsg{Width: 80, Height: 24}, typed("j")[0])
	if len(f.wanted) != n {
		t.Errorf("asked %d times more without a change", len(f.wanted)-n)
	}
	send(m, tea.WindowSizeMsg{Width: 200, Height: 60})
	if f.wanted[len(f.wanted)-1].Bins != 110 {
		t.Errorf("a wider timeline asks for %d bins", f.wanted[len(f.wanted)-1].Bins)
	}
}

func TestKeyTable(t *testing.T) {
	golden(t, "keys.md", strings.TrimRight(KeyTable(), "\n"))
	for _, r := range keyMap() {
		for _, key := range r.bind.Keys() {
			_, found, _ := lookup(keyMap(), press{name: key}, func(s scope) bool { return s == r.scope || s == everywhere })
			if !found {
				t.Errorf("key %q of %q is never found", key, r.bind.Help().Desc)
			}
		}
	}
}

// Traffic may come faster than lines are told: no change of state is lost.
func TestChangeLinesTellEachChange(t *testing.T) {
	s := stormSnapshot()
	at := s.At - 100*second
	s.Events = nil
	for i, text := range []string{"unknown -> clear", "clear -> storm", "storm -> recovering", "recovering -> storm"} {
		s.Events = append(s.Events, detect.Event{At: at + int64(i)*second, Kind: "state", Text: text})
	}
	lines, last := ChangeLines(s, at)
	if want := []string{"03:17:13 CLEAR->STORM", "03:17:14 STORM->RECOVERING", "03:17:15 RECOVERING->STORM"}; !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
	if lines, again := ChangeLines(s, last); len(lines) != 0 || again != last {
		t.Errorf("told twice: %q", lines)
	}
	s.Events[3].At = s.At - second // the line itself tells this one
	if lines, _ := ChangeLines(s, at); len(lines) != 2 || !strings.Contains(PlainLine(s), "RECOVERING->STORM") {
		t.Errorf("%q and %q", lines, PlainLine(s))
	}
}

func TestPlainLine(t *testing.T) {
	s := stormSnapshot()
	if got, want := PlainLine(s), "03:18:52 STORM lockstep 0.96 hint-ignored 0.91 | confidence 0.93 high | refused 79% amp 4.7x goodput 39/s | 388 of 430 clients in step, agent go-resty/2.7.0 → POST api.pay/v1/charge | do: lower the concurrency of the go-resty clients, then full jitter above Retry-After"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	s.At = at("03:12:46")
	if got := PlainLine(s); !strings.HasPrefix(got, "03:12:46 CLEAR->STORM lockstep 0.96") {
		t.Errorf("a fresh change is told as %q", got)
	}
	if got, want := PlainLine(unknownSnapshot()), "03:11:14 UNKNOWN | 17 requests so far, 30 needed to judge | refused 0% goodput 4.3/s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := PlainLine(emptySnapshot()), "--:--:-- UNKNOWN"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A moment behind what has been read so far is no moment behind the end.
func TestGotoWhileReading(t *testing.T) {
	f := replay(stormSnapshot())
	f.progress = Progress{Doing: "reading", Bytes: 1, Total: 2, Share: .5}
	m := entered(open(f, Options{}, 120, 40), "goto 04:00:00")
	if v := m.View(); !strings.Contains(v, "it is read up to 03:24:00 so far") {
		t.Errorf("not told:\n%s", v)
	}
}
