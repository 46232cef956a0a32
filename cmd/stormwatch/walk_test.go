package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stormwatch/capture"
)

// typed sends text as it is typed, letter by letter.
func (p *pane) typed(text string) {
	p.t.Helper()
	p.tmux("send-keys", "-l", text)
}

// restored tells that the shell has its terminal back: the screen before, the
// cursor, and the echo of what is typed.
func (p *pane) restored() {
	p.t.Helper()
	if p.alternate() != "0" {
		p.t.Error("the alternate screen is still there")
	}
	if flag := strings.TrimSpace(p.tmux("display-message", "-p", "-t", "0", "#{cursor_flag}")); flag != "1" {
		p.t.Error("the cursor is hidden")
	}
	p.typed("typed")
	p.until("ready typed", true)
}

// An operator's whole way: every screen by its key, five sizes, filter, chain,
// seek, bookmark, export, quit.
func TestConsoleWalk(t *testing.T) {
	dir := t.TempDir()
	events := filepath.Join(dir, "events.txt")
	if err := os.WriteFile(events, []byte("03:10:29 deploy of batch-sync 1.4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := consoleIn(t, dir, 120, 40, "demo --events "+events)
	p.until(" events", true)
	p.until("reading ", false)
	p.until("judging ", false) // it has been read: a moment is known
	p.tmux("send-keys", "Space")
	p.until("PAUSED", true)
	p.typed(":goto 03:10:38")
	p.until("▏", true)
	p.tmux("send-keys", "Enter")
	p.until("03:10:38.0", true)
	p.until("▲ STORM", true)
	p.until("▼", true) // the deploy is marked on the timeline
	for _, step := range []struct{ key, shows string }{
		{"2", "▸Clients"}, {"3", "▸Chain"}, {"6", "▸Fix"}, {"w", "▸Why"}, {"H", "▸Health"}, {"?", "▸Help"}, {"Escape", "▸Fix"}, {"1", "Timeline"},
	} {
		p.tmux("send-keys", step.key)
		p.until(step.shows, true)
		p.until("▲ STORM", true) // the first rows are there on every screen
		p.fits(120, 40)
	}
	for _, size := range [][2]int{{80, 24}, {60, 16}, {200, 60}, {50, 12}, {120, 40}} {
		p.tmux("resize-window", "-t", "0", "-x", fmt.Sprint(size[0]), "-y", fmt.Sprint(size[1]))
		p.until("STORM", true)
		p.fits(size[0], size[1])
	}
	p.until("Timeline", true)
	p.tmux("send-keys", "/")
	p.typed("agent:ba")
	p.tmux("send-keys", "Tab", "Enter")
	p.until("FILTER ON", true)
	p.until("filter agent:batch-sync/1.4", true)
	p.tmux("send-keys", "Enter")
	p.until("▸Chain ", true)
	p.tmux("send-keys", "y")
	p.until("the chain is sent", true)
	p.tmux("send-keys", "b")
	p.until("bookmark at 03:10:38", true)
	p.typed(":export")
	p.until(":export", true)
	p.tmux("send-keys", "Enter")
	p.until("written: stormwatch-20260302T031038Z", true)
	p.tmux("send-keys", "q")
	p.until("code 0", true)
	p.until("GET api.example.com", true) // what was copied is printed
	p.restored()
	for ext, want := range map[string][]string{
		".md":   {"# Incident report: STORM", "**03:10:29 deploy of batch-sync 1.4**", "bookmark: STORM", "agent:batch-sync/1.4", "### `10.1.0."},
		".html": {"<!doctype html>", "deploy of batch-sync 1.4", "</html>"},
		".json": {`"schema": "stormwatch.report/1"`, `"kind": "mark"`, `"kind": "bookmark"`},
		".svg":  {"<svg", "Chain"},
	} {
		text, err := os.ReadFile(filepath.Join(dir, "stormwatch-20260302T031038Z"+ext))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(string(text), w) {
				t.Errorf("%s: %q is not in it", ext, w)
			}
		}
	}
}

// crashing is a live source with a fault.
type crashing struct{ capture.Source }

func (crashing) Info() capture.Info { return capture.Info{Name: "faulty", Kind: "log", Live: true} }

func (crashing) Run(context.Context, capture.Sink) error {
	time.Sleep(2 * time.Second)
	panic("fault on purpose: the stack below is part of the test")
}

// recorded is the same as a recording.
type recorded struct{ crashing }

func (recorded) Info() capture.Info { return capture.Info{Name: "faulty", Kind: "capture"} }

// TestCrashHelper is no test: it is the program that TestConsoleSurvivesACrash
// starts in a terminal, with a source that fails as no source should.
func TestCrashHelper(t *testing.T) {
	kind := os.Getenv("STORMWATCH_CRASH")
	if kind == "" {
		t.Skip("started by another test only")
	}
	st, f := &streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}, &flags{color: "auto", shards: 1}
	var err error
	if kind == "live" {
		err = watchLive(t.Context(), st, f, builtin(t), []input{{Source: crashing{}}}, true)
	} else {
		err = watchRecording(t.Context(), st, f, builtin(t), []input{{Source: recorded{}}}, true, 1)
	}
	fmt.Println("told:", err)
	os.Exit(exitError)
}

// A fault in a source ends the console with its words on a whole terminal.
func TestConsoleSurvivesACrash(t *testing.T) {
	for _, kind := range []string{"live", "recorded"} {
		t.Run(kind, func(t *testing.T) {
			p := shell(t, t.TempDir(), 100, 30)
			p.typed("STORMWATCH_CRASH=" + kind + " TERM=xterm-256color " + os.Args[0] + " -test.run '^TestCrashHelper$'; echo code $?")
			p.tmux("send-keys", "Enter")
			p.until("? help  q quit", true)
			p.until("code 1", true)
			p.until("internal error: fault on purpose", true)
			p.restored()
		})
	}
}

// latency is how long the screen takes to answer a key, the time that tmux needs
// to tell of it included.
func (p *pane) latency(key, shows string) time.Duration {
	p.t.Helper()
	began := time.Now()
	p.tmux("send-keys", key)
	for time.Since(began) < 20*time.Second {
		if strings.Contains(p.screen(), shows) {
			return time.Since(began)
		}
	}
	p.t.Fatalf("%s does not lead to %q:\n%s", key, shows, p.screen())
	return 0
}

// A log that grows by 20,000 lines a second is followed for 20 s: nothing is lost,
// and keys are answered meanwhile. How fast is told, not asserted: it is the
// machine's as much as the console's.
func TestConsoleFollowsAFastLog(t *testing.T) {
	const rate, seconds = 20_000, 20
	dir := t.TempDir()
	log := filepath.Join(dir, "access.log")
	f, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line, first := 0, time.Now().UTC()
	write := func(n int) {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "10.0.%d.%d - - [%s] \"GET /a HTTP/1.1\" 200 25 \"-\" \"agent/1\" 0.004 %d.%03d\n",
				line%2000/200, line%200+1, first.Format("02/Jan/2006:15:04:05 -0700"), first.Unix()+int64(line/rate), line%rate*1000/rate)
			line++
		}
		if _, err := f.WriteString(b.String()); err != nil {
			t.Error(err)
		}
	}
	write(2000)
	p := consoleIn(t, dir, 120, 40, "watch "+log)
	p.until("LIVE", true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for began := time.Now(); line < rate*seconds; <-tick.C {
			write(min(int(time.Since(began).Seconds()*rate)-line+2000, rate*seconds-line))
		}
	}()
	var took, bare []time.Duration // bare: tmux alone, two calls as for a key
	for n := 0; ; n++ {
		steps := [][2]string{{"2", "▸Clients"}, {"?", "▸Help"}, {"Escape", "SIGN"}, {"w", "▸Why"}, {"1", "Timeline"}}
		if n == 40 { // the rest with some of the clients judged by themselves as well
			p.tmux("send-keys", "/")
			p.tmux("send-keys", "client:10.0.3.", "Enter")
			p.until("200 of 2,000 clients", true)
		}
		step := steps[n%len(steps)]
		took = append(took, p.latency(step[0], step[1]))
		began := time.Now()
		p.alternate()
		p.screen()
		bare = append(bare, time.Since(began))
		select {
		case <-done:
		default:
			continue
		}
		break
	}
	p.tmux("send-keys", "H")
	began := time.Now()
	p.until("400,000", true)
	lag := time.Since(began).Round(time.Millisecond)
	slices.Sort(took)
	slices.Sort(bare)
	at := func(list []time.Duration, share float64) time.Duration {
		return list[int(share*float64(len(list)-1))].Round(time.Millisecond)
	}
	t.Logf("%d keys through tmux: median %v, 90th percentile %v, worst %v; two calls of tmux alone: median %v, 90th percentile %v; all lines were read within %v of the last",
		len(took), at(took, .5), at(took, .9), at(took, 1), at(bare, .5), at(bare, .9), lag)
	p.tmux("send-keys", "q")
	p.until("code 0", true)
	p.restored()
}
