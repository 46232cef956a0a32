package main

import (
	"bytes"
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What a new run tells again is told once, and nothing else is left out.
func TestRejoin(t *testing.T) {
	for name, c := range map[string]struct {
		runs []string // lines of one letter
		want string
	}{
		"tail tells the end again":       {[]string{"abcdef", "defgh"}, "abcdefgh"},
		"and again":                      {[]string{"abc", "bcd", "bcde"}, "abcde"},
		"all of it":                      {[]string{"abc", "abc", "abcd"}, "abcd"},
		"nothing of it":                  {[]string{"abc", "xyz"}, "abcxyz"},
		"what is no end of it is new":    {[]string{"abcdef", "bcx"}, "abcdefbcx"},
		"equal lines":                    {[]string{"abbb", "bbbc"}, "abbbc"},
		"equal lines, some of them new":  {[]string{"abbb", "bbbbbc"}, "abbbbbc"},
		"a longer run that goes nowhere": {[]string{"xabyab", "abz"}, "xabyabz"},
		"the first run":                  {[]string{"aaa"}, "aaa"},
	} {
		r := rejoiner{seed: maphash.MakeSeed()}
		var out bytes.Buffer
		take := func() {
			for b := make([]byte, 3); ; {
				n := r.take(b)
				if n == 0 {
					return
				}
				out.Write(b[:n])
			}
		}
		for i, run := range c.runs {
			if i > 0 {
				r.again()
			}
			text := strings.Join(strings.Split(run, ""), "\n") + "\nhalf"
			for len(text) > 0 { // in pieces
				n := min(len(text), 3)
				r.give([]byte(text[:n]))
				text = text[n:]
				take()
			}
		}
		r.again()
		take()
		if got := strings.ReplaceAll(out.String(), "\n", ""); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func BenchmarkRejoin(b *testing.B) {
	r := rejoiner{seed: maphash.MakeSeed()}
	line := []byte(strings.Repeat("x", 180) + "\n")
	buf := make([]byte, 4096)
	b.SetBytes(int64(len(line)))
	for range b.N {
		r.give(line)
		r.take(buf)
	}
}

// A command that ends is run anew, what it says is told, and it is given up at
// last.
func TestCommandIsRunAnew(t *testing.T) {
	dir := t.TempDir()
	count := filepath.Join(dir, "count")
	c := newCommand(t.Context(), "a", fmt.Sprintf(`echo x >> %s; n=$(wc -l < %s); seq 1 $n; echo "no route to host" >&2; exit 3`, count, count))
	c.first = time.Microsecond
	text, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := os.ReadFile(count)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(runs, []byte("\n")); n != maxRestarts+1 {
		t.Errorf("%d runs", n)
	}
	want := ""
	for i := 1; i <= maxRestarts+1; i++ {
		want += strconv.Itoa(i) + "\n"
	}
	if string(text) != want {
		t.Errorf("lines told again: %q", text)
	}
	if down := c.Down(); !strings.Contains(down, "given up after 21 runs") || !strings.Contains(down, "exit status 3") || !strings.Contains(down, "no route to host") {
		t.Errorf("%q", down)
	}
}

// The waits grow, differ, and are the same in every process.
func TestCommandWaits(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var told [2][]string
	for i := range told {
		c := newCommand(ctx, "web1", "true")
		for range 8 {
			c.wait("it ended", 0)
			_, wait, _ := strings.Cut(c.Down(), "in about ")
			told[i] = append(told[i], wait)
		}
	}
	a, b := fmt.Sprint(told[0]), fmt.Sprint(told[1])
	if a != b {
		t.Errorf("%s, then %s", a, b)
	}
	for i, w := range told[0] {
		d, err := time.ParseDuration(w)
		full := min(time.Second<<i, time.Minute)
		if err != nil || d < full/2-time.Second/10 || d > full*3/2 {
			t.Errorf("wait %d: %s", i+1, w)
		}
	}
}

// Closing ends the command and what it has started, though that takes no heed.
func TestCommandIsEnded(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	c := newCommand(t.Context(), "a", fmt.Sprintf(`trap "" TERM; sleep 60 & echo $! > %s; echo up; wait`, pid))
	b := make([]byte, 100)
	if n, err := c.Read(b); err != nil || string(b[:n]) != "up\n" {
		t.Fatalf("%q, %v", b[:n], err)
	}
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Second); syscall.Kill(child, 0) == nil; {
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child)); err == nil && bytes.Contains(stat, []byte(") Z")) {
			break // ended, and nobody has asked how
		}
		if time.Now().After(deadline) {
			t.Fatal("what the command started is still there")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// While a command is down the verdict is never that all is well, and its Health
// says why.
func TestDownCommandIsNoCalm(t *testing.T) {
	dir := t.TempDir()
	gone := filepath.Join(dir, "gone")
	var lines strings.Builder
	now := time.Now().UTC()
	for i := range 200 {
		at := now.Add(time.Duration(i-200) * 50 * time.Millisecond)
		fmt.Fprintf(&lines, `10.0.0.%d - - [%s] "GET /a HTTP/1.1" 200 5 "-" "a" 0.004 %d.%03d`+"\n", i%9+1, at.Format("02/Jan/2006:15:04:05 -0700"), at.Unix(), at.UnixMilli()%1000)
	}
	log := filepath.Join(dir, "access.log")
	if err := os.WriteFile(log, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"report", "--for", "3s", "--exec", fmt.Sprintf("web1=test -e %s && exit 7; touch %s; cat %s", gone, gone, log)}, strings.NewReader(""), &out, &errs)
	if code != exitCannotJudge || !strings.Contains(out.String(), "cannot judge: web1: ") || !strings.Contains(out.String(), "run 2 begins") && !strings.Contains(out.String(), "exit status 7") {
		t.Errorf("exit %d\n%s\n%s", code, out.String(), errs.String())
	}
	if !strings.Contains(out.String(), "200 lines read") {
		t.Errorf("what came is shown:\n%s", out.String())
	}
}
