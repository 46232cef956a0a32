package ui

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"stormwatch/report"
)

// entered types a command and enters it.
func entered(m Model, text string) Model {
	return send(m, append(append(typed(":"), tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: true}), typed("enter")...)...)
}

func TestCommands(t *testing.T) {
	f := replay(stormSnapshot())
	m := open(f, Options{}, 120, 40)
	for _, c := range []struct {
		text string
		want int64
	}{
		{"goto 03:12:40", at("03:12:40")},
		{"goto 03:13", at("03:13:00")},
		{"goto 03:12:40.5", at("03:12:40") + second/2},
		{"goto 2026-08-14T03:14:00Z", at("03:14:00")},
		{"goto +30s", at("03:19:22")},
		{"goto -1m", at("03:17:52")},
		{"goto onset", at("03:12:40")},
		{"goto peak", at("03:15:00")},
		{"goto start", at("03:11:10")},
		{"goto end", at("03:24:00")},
		{"goto 02:00:00", at("03:11:10")}, // before the start
	} {
		m.c.v.play.target, f.clock.seeks = 0, nil
		m = entered(m, c.text)
		if len(f.clock.seeks) != 1 || f.clock.seeks[0] != c.want {
			t.Errorf("%s: seeks %v, want %s\n%s", c.text, f.clock.seeks, clock(c.want), m.View())
		}
	}
	for text, want := range map[string]float64{"speed 8": 8, "speed 1/4": .25, "speed x64": 64, "speed max": 0, "speed 3": 3} {
		if m = entered(m, text); f.clock.speed != want {
			t.Errorf("%s: the speed is %v", text, f.clock.speed)
		}
	}
	if m = entered(m, "sort refused"); m.c.v.order != byRefused || m.c.v.reverse {
		t.Errorf("sorted by %v", m.c.v.order)
	}
	if m = entered(m, "sort -attempts"); m.c.v.order != byAttempts || !m.c.v.reverse {
		t.Errorf("sorted by %v", m.c.v.order)
	}
	if m = entered(m, "filter agent:axios"); m.c.v.filter.text != "agent:axios" {
		t.Errorf("the filter is %q", m.c.v.filter.text)
	}
	for text, want := range map[string]screen{"clients": screenClients, "fix": screenFix, "overview": screenOverview, "chains": screenChains} {
		if m = entered(m, text); m.c.v.screen != want {
			t.Errorf("%s: screen %d", text, m.c.v.screen)
		}
	}
	for text, want := range map[string]overlay{"why": overlayWhy, "help": overlayHelp, "health": overlayHealth} {
		if m = entered(m, text); m.c.v.overlay != want {
			t.Errorf("%s: overlay %d", text, m.c.v.overlay)
		}
	}
	m = send(m, typed(":")...)
	next, cmd := send(m, typed("quit")...).Update(typed("enter")[0])
	if cmd == nil {
		t.Fatalf("quit does not quit:\n%s", next.View())
	}
	if _, ok := cmd().(tea.QuitMsg); !ok {
		t.Error("quit does not quit")
	}
}

// What cannot be read is told, nothing happens, and the text stays to be mended.
func TestCommandErrors(t *testing.T) {
	for text, want := range map[string]string{
		"goto noon": `"noon" is no time`, "goto": "where to?", "speed 100": "1/4 to 64, or max", "speed": "1/4 to 64", "sort height": `no column "height"`,
		"theme pink": "dark, light or mono", "export x.pdf": "ends in .md", "fly": `no command "fly"`, "clients now": "takes nothing", "filter refused:>x": "no number",
		"zoom 03:12:00 03:12:01": "10 s after", "zoom x": "in, out, all",
	} {
		f := replay(stormSnapshot())
		m := entered(open(f, Options{}, 120, 40), text)
		if v := m.View(); !strings.Contains(v, want) || !m.c.v.editing || m.c.v.draftErr == nil {
			t.Errorf("%s: %q is not told:\n%s", text, want, v)
		}
		if len(f.clock.seeks) > 0 {
			t.Errorf("%s: seeks", text)
		}
		if m = send(m, typed("esc")...); m.c.v.editing {
			t.Errorf("%s: esc does not leave it", text)
		}
	}
	m := entered(open(live(stormSnapshot()), Options{}, 120, 40), "goto end")
	if !strings.Contains(m.View(), "works only in replay") {
		t.Errorf("live input has no clock to set:\n%s", m.View())
	}
	// Red only once no command can become of it.
	m = open(replay(stormSnapshot()), Options{}, 120, 40, ":", "ex")
	if m.c.v.draftErr != nil || !strings.Contains(m.View(), "tab: export") {
		t.Errorf("a beginning is not completed:\n%s", m.View())
	}
	if m = send(m, typed("q")...); m.c.v.draftErr == nil {
		t.Error("what can become nothing is not told while typing")
	}
}

func TestCompletion(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{":|ex|tab", "export "},
		{":|th|tab|d|tab", "theme dark "},
		{":|speed 1/|tab", "speed 1/"},
		{":|goto on|tab", "goto onset "},
		{":|filter ag|tab|ax|tab", "filter agent:axios/1.6.2 "},
		{"/|ag|tab", "agent:"},
		{"/|re|tab", "re"},
		{"/|ref|tab", "refused:"},
		{"/|!ag|tab|go|tab", "!agent:go-resty/2.7.0 "},
		{`/|sign:l|tab`, "sign:lockstep "},
		{`/|route:"POST|tab`, `route:"POST api.pay/v1/charge" `},
		{"/|amp:>2|tab", "amp:>2"},
	} {
		m := open(replay(stormSnapshot()), Options{}, 120, 40, strings.Split(strings.ReplaceAll(c.keys, " ", "|space|"), "|")...)
		if m.c.v.draft != c.want {
			t.Errorf("%s: %q, want %q", c.keys, m.c.v.draft, c.want)
		}
	}
	// Every command that is offered can be read, with an argument of those offered.
	c := open(replay(stormSnapshot()), Options{}, 120, 40).c
	for _, name := range commandNames(&c.v) {
		args := completeCommand(&c.v, c.snap, name+" ")
		for _, arg := range append(args, "") {
			if _, err := c.parseCommand(name + " " + arg); err != nil && arg != "" {
				t.Errorf("%s %s: %v", name, arg, err)
			}
		}
	}
}

// A filter selects what every panel lists, and what is exported.
func TestFilterAppliesToAll(t *testing.T) {
	s := chainSnapshot()
	s.Findings[1].ClientCount = 1
	s.Findings[1].Clients = []string{"10.42.1.17"}
	for i := range s.Clients {
		if s.Clients[i].Agent == "axios/1.6.2" {
			s.Clients[i].Signatures = []string{"lockstep"}
		}
	}
	f, err := parseFilter("agent:axios")
	if err != nil {
		t.Fatal(err)
	}
	got := f.apply(s)
	var signs []string
	for i := range got.Findings {
		signs = append(signs, got.Findings[i].Signature)
	}
	if want := []string{"lockstep", "armed"}; !slices.Equal(signs, want) { // armed is about everybody
		t.Errorf("findings %v, want %v", signs, want)
	}
	if len(got.Clients) != 15 || len(got.Chains) != 0 {
		t.Errorf("%d clients, %d chains", len(got.Clients), len(got.Chains))
	}
	if len(s.Chains) != 3 || len(s.Findings) != 3 {
		t.Error("the snapshot itself was changed")
	}
	if f, _ = parseFilter("client:10.42.1.17"); len(f.apply(s).Chains) != 3 {
		t.Error("the chains of a client that passes are gone")
	}
	m := open(replay(s), Options{}, 120, 40, "/", "agent:axios", "enter")
	if v := m.View(); strings.Contains(v, "0.91") || !strings.Contains(v, "FILTER ON") {
		t.Errorf("the panels show what does not pass:\n%s", v)
	}
	text := exported(t, m, "export r.md")["r.md"]
	if strings.Contains(text, "go-resty/2.7.0 |") || !strings.Contains(text, "agent:axios: clients, findings") || strings.Contains(text, "### hint-ignored") {
		t.Errorf("the export does not keep to the filter:\n%s", text)
	}
}

// exported runs an export in a folder of its own and returns what it wrote.
func exported(t *testing.T, m Model, command string) map[string]string {
	t.Helper()
	if m.c.opt.Folder == "" {
		m.c.opt.Folder = t.TempDir()
	}
	run, err := m.c.parseCommand(command)
	if err != nil {
		t.Fatal(err)
	}
	e := run()
	if e.job == nil {
		t.Fatalf("%s does nothing: %s", command, m.c.v.flash)
	}
	send(m, doneMsg{e.job()})
	out := map[string]string{}
	files, err := os.ReadDir(m.c.opt.Folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(m.c.opt.Folder, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[f.Name()] = string(text)
	}
	return out
}

// e writes a file of each kind, named by the time of the input, and never over one
// that is there.
func TestExport(t *testing.T) {
	o := Options{Folder: t.TempDir(), Report: report.Options{Version: "0.1", Command: "stormwatch report x.pcap"}}
	m := open(replay(chainSnapshot()), o, 80, 24, "b")
	files := exported(t, m, "export")
	for name, want := range map[string]string{
		"stormwatch-20260814T031852Z.md": "bookmark: STORM, refused 79%", "stormwatch-20260814T031852Z.json": `"kind": "bookmark"`,
		"stormwatch-20260814T031852Z.html": "stormwatch report x.pcap", "stormwatch-20260814T031852Z.svg": "STORM",
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s does not hold %q", name, want)
		}
	}
	if len(files) != 4 {
		t.Errorf("%d files", len(files))
	}
	again := exported(t, m, "export")
	if len(again) != 8 || again["stormwatch-20260814T031852Z.md"] != files["stormwatch-20260814T031852Z.md"] || again["stormwatch-20260814T031852Z-2.svg"] == "" {
		t.Errorf("a second export does not stand beside the first: %d files", len(again))
	}
	if v := send(m, doneMsg{"written: x"}).View(); !strings.Contains(v, "written: x") {
		t.Errorf("what was written is not told:\n%s", v)
	}
	one := exported(t, m, "export mine.txt")
	if !strings.Contains(one["mine.txt"], "▲ STORM") {
		t.Error("a file of the name given is not written")
	}
	e := m.c.export("mine.txt")
	if got := e.job(); !strings.Contains(got, "is there already") {
		t.Errorf("a file is written over: %s", got)
	}
}

// While the input goes on, report, screen and name are of one moment.
func TestExportIsOfOneMoment(t *testing.T) {
	f := replay(chainSnapshot())
	m := open(f, Options{Folder: t.TempDir()}, 80, 24, "")
	later := *chainSnapshot()
	later.At = at("03:20:07")
	later.Verdict.What = "it has become worse"
	f.later = &later
	files := exported(t, m, "export")
	const base = "stormwatch-20260814T032007Z"
	for name, wants := range map[string][]string{".md": {later.Verdict.What}, ".html": {later.Verdict.What}, ".svg": {later.Verdict.What, "03:20:07"}} {
		for _, want := range wants {
			if !strings.Contains(unbroken(files[base+name]), want) {
				t.Errorf("%s does not hold %q", name, want)
			}
		}
	}
	if len(files) != 4 || strings.Contains(m.View(), later.Verdict.What) {
		t.Errorf("%d files; or the console shows what was exported", len(files))
	}
	m.c.v.play.frozen = true // as it is with live input
	svg := unbroken(exported(t, m, "export frozen.svg")["frozen.svg"])
	if strings.Contains(svg, later.Verdict.What) || !strings.Contains(svg, "03:18:52") {
		t.Error("the screen of a frozen view goes on in what is exported")
	}
}

// unbroken is a text whose blanks are plain ones.
func unbroken(s string) string { return strings.ReplaceAll(s, "\u00a0", " ") }

func TestBookmarks(t *testing.T) {
	first := stormSnapshot()
	first.At = at("03:17:00")
	f := replay(first)
	m := open(f, Options{}, 120, 40, "b")
	if len(m.c.bookmarks) != 1 || !strings.Contains(m.View(), "▼") || !strings.Contains(m.View(), "◆ 4 events") {
		t.Fatalf("no bookmark:\n%s", m.View())
	}
	s := stormSnapshot()
	s.Seq, s.At = 8, at("03:20:00")
	f.snap = s
	m = entered(send(m, frameMsg{}), "bookmark limit raised")
	if len(m.c.bookmarks) != 2 || m.c.bookmarks[1].Text != "limit raised" {
		t.Fatalf("bookmarks %v", m.c.bookmarks)
	}
	m.c.v.play.target, f.clock.seeks = 0, nil
	if send(m, typed("N")...); len(f.clock.seeks) != 1 || f.clock.seeks[0] != at("03:17:00") {
		t.Errorf("N does not go to a bookmark: %v", f.clock.seeks)
	}
	if m = send(m, typed("b")...); len(m.c.bookmarks) != 1 {
		t.Errorf("b does not take the bookmark away: %v", m.c.bookmarks)
	}
}

func TestZoom(t *testing.T) {
	f := replay(stormSnapshot()) // 03:11:10 to 03:24:00, at 03:18:52
	m := open(f, Options{}, 120, 40, "=")
	w := f.wanted[len(f.wanted)-1]
	if w.To-w.From != 385*second || w.From > at("03:18:52") || w.To < at("03:18:52") {
		t.Fatalf("zoomed to %s, %s", clock(w.From), clock(w.To))
	}
	m = send(m, typed("=", "=", "=", "=", "=", "=", "=")...)
	if w = f.wanted[len(f.wanted)-1]; w.To-w.From != leastZoom {
		t.Errorf("the closest zoom is %s", span(w.To-w.From))
	}
	s := stormSnapshot()
	s.Seq, s.At = 8, at("03:22:00")
	f.snap = s
	m = send(m, frameMsg{})
	if w = f.wanted[len(f.wanted)-1]; w.From > s.At || w.To < s.At {
		t.Errorf("the zoomed part does not follow: %s, %s", clock(w.From), clock(w.To))
	}
	m = send(m, typed("0")...)
	if w = f.wanted[len(f.wanted)-1]; w.From != 0 || w.To != 0 {
		t.Errorf("0 does not show all: %s, %s", clock(w.From), clock(w.To))
	}
	m = entered(m, "zoom 03:12:00 03:14:00")
	if w = f.wanted[len(f.wanted)-1]; w.From != at("03:12:00") || w.To != at("03:14:00") {
		t.Errorf("zoomed to %s, %s", clock(w.From), clock(w.To))
	}
	entered(m, "zoom out")
	if w = f.wanted[len(f.wanted)-1]; w.To-w.From != 240*second {
		t.Errorf("zoomed out to %s, %s", clock(w.From), clock(w.To))
	}
}

// y copies what is selected; all of it is printed on quit.
func TestCopyChosen(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"j", "10.42.2.20"}, {"3", "10.42.1.17 POST api.pay/v1/charge?cursor=•"}, {"6", "budget_percent"}, {"w", "▲ STORM"},
	} {
		m := send(open(replay(chainSnapshot()), Options{}, 120, 40, "enter", "1"), typed(c.keys)...)
		e := m.c.press(press{name: "y"})
		if !strings.Contains(e.copy, c.want) || strings.Contains(e.copy, "8812") {
			t.Errorf("%s: y copies %q", c.keys, e.copy)
		}
		if got := m.Copied(); len(got) != 1 || got[0] != e.copy {
			t.Errorf("%s: it is not kept for quitting", c.keys)
		}
	}
	for _, text := range []string{"a\x1b]52;c;x\x07", "a\u202eb"} {
		m := open(replay(hostile(text, 5)), Options{}, 120, 40)
		for _, keys := range []string{"1", "3", "w"} {
			e := send(m, typed(keys)...).c.press(press{name: "y"})
			if strings.ContainsFunc(e.copy, func(r rune) bool { return r != '\n' && r < 0x20 || r == 0x202e }) {
				t.Errorf("%s: %q", keys, e.copy)
			}
		}
	}
}

// While a recording is read the console says how far, and shows what is known.
func TestLoadingIsShown(t *testing.T) {
	f := replay(stormSnapshot())
	f.progress = Progress{Doing: "reading", Bytes: 312e6, Total: 749e6, Share: .4166, Left: 9 * 1e9}
	m := open(f, Options{}, 120, 40)
	for _, want := range []string{"reading 42%", "312 MB of 749 MB", "9s left", "▲ STORM"} {
		if !strings.Contains(m.View(), want) {
			t.Errorf("%q is not shown:\n%s", want, m.View())
		}
	}
	f.progress = Progress{}
	if m = send(m, frameMsg{}); strings.Contains(m.View(), "reading 4") {
		t.Error("it is still shown when it is done")
	}
}
