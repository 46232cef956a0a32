package accesslog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The log that Kubernetes shows is a link, which it turns to a new file.
func TestFollowSymlinkSwap(t *testing.T) {
	dir := t.TempDir()
	l := &logFile{t, filepath.Join(dir, "0.log")}
	l.write(l.path, line(0, 0), os.O_CREATE|os.O_WRONLY)
	link := filepath.Join(dir, "current.log")
	if err := os.Symlink("0.log", link); err != nil {
		t.Fatal(err)
	}
	followed := &logFile{t, link}
	rows := followed.follow()
	expect(t, rows, "/0")
	for i := int64(1); i < 4; i++ {
		old := filepath.Join(dir, fmt.Sprintf("%d.log", i-1))
		l.write(old, line(10*i, 0), os.O_APPEND|os.O_WRONLY)
		l.write(filepath.Join(dir, fmt.Sprintf("%d.log", i)), line(10*i+2, 0), os.O_CREATE|os.O_WRONLY)
		swap := filepath.Join(dir, "swap")
		if err := os.Symlink(fmt.Sprintf("%d.log", i), swap); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(swap, link); err != nil { // at one stroke, as kubelet does
			t.Fatal(err)
		}
		l.write(old, line(10*i+1, 0), os.O_APPEND|os.O_WRONLY) // who writes has not noticed yet
		expect(t, rows, fmt.Sprintf("/%d", 10*i), fmt.Sprintf("/%d", 10*i+1), fmt.Sprintf("/%d", 10*i+2))
	}
}

// A log that is not there yet is waited for, and that is told.
func TestFollowAwaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "later.log")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := Await(ctx, path)
	r.every, r.grace = 5*time.Millisecond, 50*time.Millisecond
	rows, ended := follow(ctx, t, r)
	for deadline := time.Now().Add(10 * time.Second); r.Down() == ""; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing is told")
		}
	}
	if !strings.Contains(r.Down(), "later.log, which is not there yet") {
		t.Errorf("%q", r.Down())
	}
	l := &logFile{t, path}
	l.write(path, line(0, 0)+line(1, 0), os.O_CREATE|os.O_WRONLY)
	expect(t, rows, "/0", "/1")
	if r.Down() != "" {
		t.Errorf("it has come: %q", r.Down())
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	_ = r.Close()
}

// A line that is written byte by byte is one, and so is one of nearly a MiB; a
// longer one is counted, and the next is read.
func TestFollowSlowAndLong(t *testing.T) {
	l := newLogFile(t, "")
	rows := l.follow()
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []byte(line(0, 0)) {
		if _, err := f.Write([]byte{c}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Microsecond)
	}
	expect(t, rows, "/0")
	long := func(bytes int) string {
		return strings.Replace(line(1, 0), `"a"`, `"`+strings.Repeat("a", bytes)+`"`, 1)
	}
	for _, text := range []string{long(maxLine - 200), long(maxLine + 1), line(2, 0)} {
		for len(text) > 0 {
			n := min(len(text), 100_000)
			if _, err := f.WriteString(text[:n]); err != nil {
				t.Fatal(err)
			}
			text = text[n:]
			time.Sleep(time.Millisecond)
		}
	}
	expect(t, rows, "/1", "/2")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// A writer that does not append goes on at its old place after copytruncate: the
// gap reads as NUL bytes, and the line after it is whole.
func TestFollowNULGap(t *testing.T) {
	l := newLogFile(t, "")
	w, err := os.OpenFile(l.path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	write := func(text string) {
		t.Helper()
		if _, err := w.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write(line(0, 0) + line(1, 0) + line(2, 0))
	rows := l.follow()
	expect(t, rows, "/0", "/1", "/2")
	if err := os.Truncate(l.path, 0); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	write(line(3, 0)) // the file is as long as before and one line more, nearly all of it NUL
	write(line(4, 0))
	expect(t, rows, "/3", "/4")
}

// Many rotations of every kind, with a writer that never rests: each line comes
// once, in its order.
func TestFollowLosesNothing(t *testing.T) {
	for name, rotate := range map[string]func(l *logFile, i int) error{
		"rename and create": func(l *logFile, i int) error {
			return os.Rename(l.path, fmt.Sprintf("%s.%d", l.path, i))
		},
		"removed": func(l *logFile, _ int) error { return os.Remove(l.path) },
		"copytruncate": func(l *logFile, i int) error {
			text, err := os.ReadFile(l.path)
			return errors.Join(err, os.WriteFile(fmt.Sprintf("%s.%d", l.path, i), text, 0o600), os.Truncate(l.path, 0))
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLogFile(t, "")
			rows := l.follow()
			const turns, each = 5, 200
			n := int64(0)
			for turn := range turns {
				for i := range int64(each) {
					l.write(l.path, line(n, 0), os.O_CREATE|os.O_APPEND|os.O_WRONLY)
					if n++; i%50 == 0 {
						time.Sleep(time.Millisecond)
					}
				}
				var want []string
				for i := n - each; i < n; i++ {
					want = append(want, fmt.Sprintf("/%d", i))
				}
				if name == "copytruncate" { // what comes between a copy and the cut is lost to all who read
					expect(t, rows, want...)
				}
				if err := rotate(l, turn); err != nil {
					t.Fatal(err)
				}
				if name != "copytruncate" {
					l.write(l.path, "", os.O_CREATE|os.O_WRONLY)
					expect(t, rows, want...)
				}
				time.Sleep(60 * time.Millisecond) // Follow says that two rotations within the grace go unseen
			}
			select {
			case x := <-rows:
				t.Errorf("%s came twice, or never was", x.target)
			case <-time.After(100 * time.Millisecond):
			}
		})
	}
}

// A log that is gone for long says so.
func TestFollowTellsOfAbsence(t *testing.T) {
	l := newLogFile(t, line(0, 0))
	r, err := Follow(t.Context(), l.path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	r.every = time.Millisecond
	if _, err := io.CopyN(io.Discard, r, int64(len(line(0, 0)))); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(l.path); err != nil {
		t.Fatal(err)
	}
	r.gone = time.Now().Add(-2 * giveUp)
	if err := r.turn(); err != nil || !strings.Contains(r.Down(), "is gone") {
		t.Errorf("%v, %q", err, r.Down())
	}
	l.write(l.path, line(1, 0), os.O_CREATE|os.O_WRONLY)
	if err := r.turn(); err != nil || r.Down() != "" {
		t.Errorf("back again: %v, %q", err, r.Down())
	}
}
