package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stormwatch/capture/packet"
	"stormwatch/capture/witness"
	"stormwatch/detect"
	"stormwatch/rules"
)

// incident is a recorded capture, seeded as the README of testdata/pcaps says, as
// the console is fed with it.
type incident struct {
	t      *testing.T
	replay *detect.Replay
	at     int64
	events []detect.Event
	clock  *fakeTransport
	view   detect.View
	snap   *detect.Snapshot
}

// playTo judges a capture up to so many seconds after its start.
func playTo(t *testing.T, file string, seconds float64) *incident {
	t.Helper()
	b, err := os.Open(filepath.FromSlash(file))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	info, err := b.Stat()
	if err != nil {
		t.Fatal(err)
	}
	src, err := packet.Open(filepath.Base(filepath.Dir(file))+".pcap", b, packet.Options{Size: info.Size(), Vantage: "edge"})
	if err != nil {
		t.Fatal(err)
	}
	set, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	in := witness.New(src, witness.Options{})
	rec := detect.NewRecording(detect.Options{Rules: set, Shards: 1, TempDir: t.TempDir()})
	t.Cleanup(func() { _ = rec.Close() })
	if err := in.Run(t.Context(), rec.Inlet(in.Info()).Take); err != nil {
		t.Fatal(err)
	}
	if err := rec.Seal(); err != nil {
		t.Fatal(err)
	}
	r, err := detect.NewReplay(rec)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.RunAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	i := &incident{t: t, replay: r, events: r.Snapshot(detect.View{}).Events, clock: &fakeTransport{speed: 4}}
	start, _ := r.Span()
	i.at = start + int64(seconds*1e9)
	if err := r.Seek(t.Context(), i.at); err != nil {
		t.Fatal(err)
	}
	return i
}

// Snapshot implements Feed as the player of the command does.
func (i *incident) Snapshot() *detect.Snapshot {
	if i.snap == nil {
		i.snap = i.replay.Snapshot(i.view)
		i.snap.At, i.snap.Events = i.at, i.events
	}
	return i.snap
}

func (i *incident) Want(v detect.View)   { i.view, i.snap = v, nil }
func (i *incident) Transport() Transport { return i.clock }
func (i *incident) Progress() Progress   { return Progress{} }

func (i *incident) Report() (whole, screen *detect.Snapshot, err error) {
	return i.Snapshot(), i.Snapshot(), nil
}

// Each screen of a real incident, as text, in the mono theme and in the dark one of
// 256 colours. A change of what is found changes these files: read them.
func TestIncidentScreens(t *testing.T) {
	const pcaps = "../testdata/pcaps/"
	demo := playTo(t, "../cmd/stormwatch/demo/incident.pcap", 42)
	type shot struct {
		name string
		feed Feed
		keys []string
	}
	shots := []shot{
		{"demo-overview", demo, nil},
		{"demo-clients", demo, []string{"2"}},
		{"demo-chains", demo, []string{"3"}},
		{"demo-arrivals", demo, []string{"4"}},
		{"demo-unfolded", demo, []string{"4", "u"}},
		{"demo-layers", demo, []string{"5"}},
		{"demo-fix", demo, []string{"6"}},
		{"demo-sources", demo, []string{"7"}},
		{"demo-why", demo, []string{"w"}},
		{"demo-health", demo, []string{"H"}},
		{"demo-help", demo, []string{"?"}},
		{"ignored-chain", playTo(t, pcaps+"retry-after-ignored/traffic.pcap", 40), []string{"3"}},
		{"capacity-overview", playTo(t, pcaps+"capacity-growth/traffic.pcap", 75), nil},
		{"layered-layers", playTo(t, pcaps+"layered-retries/traffic.pcap", 40), []string{"5"}},
		{"healthy-overview", playTo(t, pcaps+"healthy/traffic.pcap", 40), nil},
	}
	t.Setenv("COLORTERM", "")
	t.Setenv("TERM", "xterm-256color")
	for _, c := range shots {
		for _, size := range []struct {
			name string
			w, h int
		}{{"80x24", 80, 24}, {"120x40", 120, 40}} {
			for _, theme := range []string{"mono", "dark"} {
				name := c.name + "-" + size.name + "." + theme
				t.Run(name, func(t *testing.T) {
					m := open(c.feed, Options{Theme: theme, Color: "always", Version: "0.1"}, size.w, size.h, c.keys...)
					got := send(m, frameMsg{}).View()
					checkSize(t, got, size.w, size.h)
					golden(t, filepath.Join("incidents", name), got)
				})
			}
		}
	}
	t.Run("true colour", func(t *testing.T) {
		t.Setenv("COLORTERM", "truecolor")
		got := send(open(demo, Options{Theme: "dark", Color: "always"}, 120, 40), frameMsg{}).View()
		if !strings.Contains(got, "48;2;179;73;0") { // #B34A00, as the library rounds it
			t.Error("the band of a storm is not of its true colour")
		}
		golden(t, filepath.Join("incidents", "demo-overview-120x40.truecolour"), got)
	})
}
