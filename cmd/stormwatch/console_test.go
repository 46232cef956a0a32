package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// pane is a terminal in tmux.
type pane struct {
	t      *testing.T
	socket string
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-L", p.socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func (p *pane) screen() string { return p.tmux("capture-pane", "-p", "-t", "0") }

// until waits for a text on the screen, or for its going.
func (p *pane) until(text string, there bool) string {
	p.t.Helper()
	var s string
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if s = p.screen(); strings.Contains(s, text) == there {
			return s
		}
	}
	p.t.Fatalf("%q on the screen is not %v:\n%s", text, there, s)
	return ""
}

// shell is a shell in tmux, in a folder.
func shell(t *testing.T, dir string, w, h int) *pane {
	t.Helper()
	if os.Getenv("STORMWATCH_E2E") == "" {
		t.Skip("STORMWATCH_E2E is not set")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Fatal("tmux is needed: apt-get install tmux")
	}
	name := strings.Map(func(r rune) rune {
		if r < 'a' || r > 'z' {
			return '-'
		}
		return r
	}, strings.ToLower(t.Name()))
	p := &pane{t, fmt.Sprintf("stormwatch-%d-%s", os.Getpid(), name)}
	p.tmux("new-session", "-d", "-c", dir, "-x", fmt.Sprint(w), "-y", fmt.Sprint(h), "sh")
	t.Cleanup(func() { p.tmux("kill-server") })
	p.tmux("send-keys", "PS1='ready '", "Enter")
	return p
}

func console(t *testing.T, w, h int, args string) *pane {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return consoleIn(t, dir, w, h, args)
}

// consoleIn starts the program in a folder.
func consoleIn(t *testing.T, dir string, w, h int, args string) *pane {
	t.Helper()
	p := shell(t, dir, w, h)
	bin := filepath.Join(t.TempDir(), "stormwatch")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.tmux("send-keys", "TERM=xterm-256color "+bin+" "+args+"; echo code $?", "Enter")
	return p
}

func (p *pane) fits(w, h int) {
	p.t.Helper()
	lines := strings.Split(strings.TrimSuffix(p.screen(), "\n"), "\n")
	if len(lines) > h {
		p.t.Errorf("%d lines of %d", len(lines), h)
	}
	for _, l := range lines {
		if n := ansi.StringWidth(l); n > w {
			p.t.Errorf("%d columns of %d: %q", n, w, l)
		}
	}
}

func (p *pane) alternate() string {
	return strings.TrimSpace(p.tmux("display-message", "-p", "-t", "0", "#{alternate_on}"))
}

func TestConsoleDemo(t *testing.T) {
	p := console(t, 120, 40, "demo")
	p.until(" events", true) // it has been read
	for range 4 {
		p.tmux("send-keys", "n")
	}
	p.until("▲ STORM", true)
	p.tmux("send-keys", "Space")
	p.until("PAUSED", true)
	p.tmux("send-keys", "-l", ":goto 03:10:44")
	p.tmux("send-keys", "Enter")
	p.until("03:10:44.0", true) // a moment at which all clients have a part in what is found
	for _, size := range [][2]int{{80, 24}, {60, 16}, {200, 60}, {50, 12}, {120, 40}} {
		p.tmux("resize-window", "-t", "0", "-x", fmt.Sprint(size[0]), "-y", fmt.Sprint(size[1]))
		p.until("STORM", true)
		p.fits(size[0], size[1])
	}
	p.tmux("send-keys", "Enter")
	p.until("Chain", true)
	p.tmux("send-keys", "Escape")
	p.until("─ ▸Chain", false)
	p.tmux("send-keys", "?")
	p.until("─ ▸Help", true)
	p.tmux("send-keys", "Escape")
	p.until("─ ▸Help", false) // or tmux takes what follows for a key with Alt
	p.tmux("send-keys", "/")
	p.tmux("send-keys", "agent:shop", "Enter")
	p.until("10.2.0.", true)
	p.until("10.1.0.", false)
	p.tmux("send-keys", "6")
	p.until("undo", true)
	if p.alternate() != "1" {
		t.Error("the console does not use the alternate screen")
	}
	p.tmux("send-keys", "q")
	p.until("code 0", true)
	if p.alternate() != "0" {
		t.Error("the terminal is not restored")
	}
}

func TestConsoleEndsOnSignal(t *testing.T) {
	p := console(t, 80, 24, "demo")
	p.until("REPLAY", true)
	p.tmux("send-keys", "C-c")
	p.until("code ", true)
	if p.alternate() != "0" {
		t.Error("the terminal is not restored")
	}
}

func TestConsoleFollowsALog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "access.log")
	line := func(i int) string {
		return fmt.Sprintf("10.0.0.%d - - [30/Nov/2026:08:11:06 +0000] \"GET /a HTTP/1.1\" 200 25 \"-\" \"agent/1\" 0.004 %d.%03d\n", i%9+1, 1796006466+i/10, i%10*100)
	}
	f, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	write := func(from, to int) {
		for i := from; i < to; i++ {
			if _, err := f.WriteString(line(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(0, 100)
	p := console(t, 100, 30, "watch "+log)
	p.until("Clients 9", true)
	write(100, 400)
	p.until("✓ CLEAR", true)
	p.tmux("send-keys", "/")
	p.tmux("send-keys", "client:10.0.0.3", "Enter")
	p.until("1 of 9 clients", true)
	p.until("all clients", false)
	write(400, 600) // it goes on with them
	p.until("10.0.0.3", true)
	p.until("10.0.0.4", false)
	p.tmux("send-keys", "Escape")
	p.until("Clients 9", true)
	p.tmux("send-keys", "q")
	p.until("code 0", true)
}
