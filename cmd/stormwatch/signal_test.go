package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// foreground is the process group that the terminal's keys go to (proc_pid_stat(5),
// tpgid).
func (p *pane) foreground() int {
	p.t.Helper()
	shell := strings.TrimSpace(p.tmux("display-message", "-p", "-t", "0", "#{pane_pid}"))
	stat, err := os.ReadFile("/proc/" + shell + "/stat")
	if err != nil {
		p.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 6 || fields[5] == shell {
		p.t.Fatalf("nothing runs in the shell: %s", stat)
	}
	group, err := strconv.Atoi(fields[5])
	if err != nil {
		p.t.Fatal(err)
	}
	return group
}

// A signal from outside ends the console as its own key does: the terminal is
// restored and nothing is wrong.
func TestConsoleEndsOnTerm(t *testing.T) { endsOn(t, syscall.SIGTERM) }

func TestConsoleEndsOnInterrupt(t *testing.T) { endsOn(t, syscall.SIGINT) }

func endsOn(t *testing.T, signal syscall.Signal) {
	p := console(t, 80, 24, "demo")
	p.until("REPLAY", true)
	if err := syscall.Kill(-p.foreground(), signal); err != nil {
		t.Fatal(err)
	}
	p.until("code 0", true)
	if p.alternate() != "0" {
		t.Error("the terminal is not restored")
	}
	p.tmux("send-keys", "typed")
	p.until("ready typed", true) // the terminal echoes again
}

var listed = regexp.MustCompile(`Clients (\d+)`)

// clients is the number of clients on the screen, 0 when it tells none.
func (p *pane) clients() int {
	p.t.Helper()
	m := listed.FindStringSubmatch(p.screen())
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

// What is appended to a log shows: the number of clients rises with each part,
// also past a rotation.
func TestConsoleCountsRise(t *testing.T) {
	log := filepath.Join(t.TempDir(), "access.log")
	add := func(from, to int) {
		f, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for i := from; i < to; i++ {
			fmt.Fprintf(f, "10.0.0.%d - - [30/Nov/2026:08:11:06 +0000] \"GET /a HTTP/1.1\" 200 25 \"-\" \"agent/1\" 0.004 %d.%03d\n", i/10+1, 1796006466+i/10, i%10*100)
		}
	}
	add(0, 100)
	p := console(t, 100, 30, "watch "+log)
	for _, step := range []struct{ from, to, want int }{{100, 100, 8}, {100, 200, 18}, {200, 400, 38}, {400, 600, 58}} {
		if step.from == 400 {
			if err := os.Rename(log, log+".1"); err != nil {
				t.Fatal(err)
			}
		}
		add(step.from, step.to)
		for end := time.Now().Add(20 * time.Second); p.clients() < step.want; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d lines, %d clients of %d:\n%s", step.to, p.clients(), step.want, p.screen())
			}
		}
	}
	p.tmux("send-keys", "q")
	p.until("code 0", true)
}

// A capture that comes through a pipe is shown while the keys come from the
// terminal, and what comes later is added.
func TestConsoleReadsAPipe(t *testing.T) {
	text, err := os.ReadFile("../../testdata/pcaps/lockstep-bare-429/traffic.pcap")
	if err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	p := console(t, 120, 40, "- < "+fifo)
	feed, err := os.OpenFile(fifo, os.O_RDWR, 0) // so that opening never waits
	if err != nil {
		t.Fatal(err)
	}
	defer feed.Close()
	write := func(b []byte) {
		t.Helper()
		if err := feed.SetWriteDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := feed.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	write(text[:20_000])
	p.until("✓ CLEAR", true)
	write(text[20_000:150_000])
	p.until("▲ STORM", true)
	write(text[150_000:])
	p.until("RECOVERING", true)
	p.tmux("send-keys", "w")
	p.until("hint-missing", true)
	p.tmux("send-keys", "q")
	p.until("code 0", true)
	if p.alternate() != "0" {
		t.Error("the terminal is not restored")
	}
}

// What cannot be read is told on a whole terminal.
func TestConsoleTellsErrors(t *testing.T) {
	p := console(t, 80, 24, "watch nothing-here.pcap")
	p.until("code 1", true)
	p.until("no such file", true)
	if p.alternate() != "0" {
		t.Error("the terminal is not restored")
	}
}
