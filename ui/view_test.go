package ui

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"stormwatch/detect"
)

var update = flag.Bool("update", false, "write the golden files anew")

// open returns a console without colour on a terminal of w columns and h rows,
// after typing keys.
func open(f Feed, o Options, w, h int, keys ...string) Model {
	if o.Color == "" {
		o.Color = "never"
	}
	m := New(f, o)
	return send(m, append([]tea.Msg{tea.WindowSizeMsg{Width: w, Height: h}, frameMsg{}}, typed(keys...)...)...)
}

func send(m Model, msgs ...tea.Msg) Model {
	for _, msg := range msgs {
		next, _ := m.Update(msg)
		m = next.(Model)
	}
	return m
}

// typed turns names of keys, or words, into messages as the terminal sends them.
func typed(keys ...string) (out []tea.Msg) {
	special := map[string]tea.KeyType{
		"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "shift+tab": tea.KeyShiftTab, "left": tea.KeyLeft, "right": tea.KeyRight, "up": tea.KeyUp, "down": tea.KeyDown,
		"shift+left": tea.KeyShiftLeft, "shift+right": tea.KeyShiftRight, "pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp,
		"backspace": tea.KeyBackspace, "ctrl+c": tea.KeyCtrlC, "ctrl+u": tea.KeyCtrlU, "ctrl+w": tea.KeyCtrlW,
	}
	for _, k := range keys {
		switch {
		case k == "space":
			out = append(out, tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}})
		case special[k] != 0 || k == "ctrl+c":
			out = append(out, tea.KeyMsg{Type: special[k]})
		default:
			out = append(out, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)})
		}
	}
	return out
}

func replay(s *detect.Snapshot) *fakeFeed {
	return &fakeFeed{snap: s, clock: &fakeTransport{speed: 4}}
}

func live(s *detect.Snapshot) *fakeFeed {
	s.Live = true
	return &fakeFeed{snap: s}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run go test ./ui -update and read the file", err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got+"\n", "\n")); d != "" {
		t.Errorf("%s differs (-golden +got), -update writes it anew:\n%s", name, d)
	}
}

func checkSize(t *testing.T, frame string, w, h int) {
	t.Helper()
	if h == 0 {
		// No text has no lines: an empty one is what draws least.
		if frame != "" {
			t.Fatalf("%dx0: %q", w, frame)
		}
		return
	}
	lines := strings.Split(frame, "\n")
	if len(lines) != h {
		t.Fatalf("%dx%d: %d lines", w, h, len(lines))
	}
	for i, l := range lines {
		if got := ansi.StringWidth(l); got != w {
			t.Fatalf("%dx%d: line %d is %d wide: %q", w, h, i, got, l)
		}
	}
}

func TestScreens(t *testing.T) {
	for _, c := range []struct {
		name string
		feed *fakeFeed
		keys []string
	}{
		{"storm", replay(stormSnapshot()), nil},
		{"overload", replay(overloadSnapshot()), nil},
		{"watch", live(watchSnapshot()), nil},
		{"recovering", live(recoveringSnapshot()), nil},
		{"clear", live(clearSnapshot()), nil},
		{"unknown", live(unknownSnapshot()), nil},
		{"empty", live(emptySnapshot()), nil},
		{"clients", replay(stormSnapshot()), []string{"2", "jjj"}},
		{"chain", replay(chainSnapshot()), []string{"enter"}},
		{"tenants", replay(tenantsSnapshot()), []string{"2"}},
		{"arrivals", replay(arrivalsSnapshot()), []string{"4"}},
		{"unfolded", replay(arrivalsSnapshot()), []string{"4", "u"}},
		{"layers", replay(layersSnapshot()), []string{"5"}},
		{"layers-none", replay(stormSnapshot()), []string{"5"}},
		{"fix", replay(stormSnapshot()), []string{"6", "tab"}},
		{"sources", &fakeFeed{snap: sourcesSnapshot()}, []string{"7"}},
		{"lossy", &fakeFeed{snap: sourcesSnapshot()}, nil},
		{"why", replay(stormSnapshot()), []string{"w"}},
		{"health", &fakeFeed{snap: sourcesSnapshot()}, []string{"H"}},
		{"help", replay(stormSnapshot()), []string{"?"}},
		{"filter", replay(stormSnapshot()), []string{"/", "agent:axios", "space", "refused:>x"}},
		{"filtering", replay(filteredSnapshot(.41)), []string{"/", "agent:axios", "enter"}},
		{"filtered", replay(filteredSnapshot(1)), []string{"/", "agent:axios", "enter"}},
	} {
		for _, size := range []struct {
			name string
			w, h int
		}{{"80x24", 80, 24}, {"120x40", 120, 40}} {
			t.Run(c.name+"-"+size.name, func(t *testing.T) {
				got := open(c.feed, Options{Version: "0.1"}, size.w, size.h, c.keys...).View()
				checkSize(t, got, size.w, size.h)
				golden(t, c.name+"-"+size.name, got)
			})
		}
	}
	t.Run("huge", func(t *testing.T) {
		s := arrivalsSnapshot()
		s.Layers, s.Chains = layersSnapshot().Layers, chainSnapshot().Chains
		got := open(replay(s), Options{}, 200, 60).View()
		checkSize(t, got, 200, 60)
		golden(t, "storm-200x60", got)
	})
	t.Run("ascii", func(t *testing.T) {
		got := open(replay(chainSnapshot()), Options{ASCII: true}, 80, 24).View()
		golden(t, "storm-ascii-80x24", got)
	})
}
