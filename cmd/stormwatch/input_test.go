package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// say runs stormwatch on something that cannot be read, and returns the one line
// that is told.
func say(t *testing.T, in io.Reader, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), args, in, &out, &errs); code != exitError {
		t.Errorf("%q: exit code %d", args, code)
	}
	if out.Len() > 0 || strings.Count(errs.String(), "\n") != 1 {
		t.Errorf("%q: %q %q", args, out.String(), errs.String())
	}
	return errs.String()
}

func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	file := filepath.Join(t.TempDir(), "secret.log")
	if err := os.WriteFile(file, []byte("x"), 0); err != nil {
		t.Fatal(err)
	}
	if got := say(t, nil, "report", file); !strings.Contains(got, "permission denied") {
		t.Errorf("%q", got)
	}
}

// slow is a stream that gives a little at a time, at first byte by byte, and
// then fails.
type slow struct {
	io.Reader
	err  error
	read int
}

func (s *slow) Read(b []byte) (int, error) {
	piece := 700
	if s.read < 300 {
		piece = 1
	}
	n, err := s.Reader.Read(b[:min(len(b), piece)])
	s.read += n
	if errors.Is(err, io.EOF) {
		err = s.err
	}
	return n, err
}

// A stream that comes in small pieces is read as a file is.
func TestStreamInPieces(t *testing.T) {
	for _, file := range append(sampled(captures(t)), "../../testdata/logs/nginx-first/access.log") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := stormwatch(t, "exchanges", "a="+file)
		var out, errs bytes.Buffer
		if code := run(t.Context(), []string{"exchanges", "a=-"}, &slow{Reader: bytes.NewReader(text), err: io.EOF}, &out, &errs); code != 0 || out.String() != want {
			t.Errorf("%s: exit code %d, %d bytes of %d, %s", file, code, out.Len(), len(want), errs.String())
		}
	}
}

// A stream that breaks is told with its error; it is never taken for its end.
func TestStreamBreaks(t *testing.T) {
	for _, file := range append(sampled(captures(t)), "../../testdata/logs/nginx-first/access.log") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, 24, 5000, len(text) / 2} {
			in := &slow{Reader: bytes.NewReader(text[:n]), err: errors.New("cable pulled")}
			if got := say(t, in, "report", "-"); !strings.Contains(got, "cable pulled") {
				t.Errorf("%s after %d bytes: %q", file, n, got)
			}
		}
	}
}

// Who interrupts a stream that never ends gets an answer about what has come.
func TestInterruptedStream(t *testing.T) {
	text, err := os.ReadFile("../../testdata/pcaps/healthy/traffic.pcap")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		bytes, code int
		says        string
	}{
		{len(text) / 2, exitOK, "CLEAR"},
		{24, exitCannotJudge, "UNKNOWN"},
		{2, exitError, "stopped before"},
	} {
		synctest.Test(t, func(t *testing.T) {
			in, feed := io.Pipe()
			defer feed.Close()
			ctx, cancel := context.WithCancel(t.Context())
			code := make(chan int, 1)
			var out, errs bytes.Buffer
			go func() { code <- run(ctx, []string{"report", "-"}, in, &out, &errs) }()
			if _, err := feed.Write(text[:c.bytes]); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // until all that came is read
			cancel()
			select {
			case got := <-code:
				if got != c.code || !strings.Contains(out.String()+errs.String(), c.says) {
					t.Errorf("after %d bytes: exit code %d\n%s%s", c.bytes, got, out.String(), errs.String())
				}
			case <-time.After(time.Minute):
				t.Fatalf("after %d bytes: still waiting for more", c.bytes)
			}
		})
	}
}

// --for bounds a stream that never ends as well.
func TestForBoundsAStream(t *testing.T) {
	for _, file := range []string{"../../testdata/pcaps/lockstep-bare-429/traffic.pcap", "../../testdata/logs/nginx-first/access.log"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			in, feed := io.Pipe()
			defer feed.Close()
			go func() { _, _ = feed.Write(text) }() // ends with the pipe
			var out, errs bytes.Buffer
			began := time.Now()
			code := run(t.Context(), []string{"report", "--for", "5s", "-"}, in, &out, &errs)
			if took := time.Since(began); code != exitAlarm || took != 5*time.Second {
				t.Errorf("%s: exit code %d after %s: %s", file, code, took, errs.String())
			}
		})
	}
}

// Nobody need write to a FIFO for the program to end when it is told to.
func TestFIFOWithoutWriterCanBeStopped(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var out, errs bytes.Buffer
	if code := run(ctx, []string{"report", fifo}, nil, &out, &errs); code != exitError || !strings.Contains(errs.String(), "stopped before it could be opened") {
		t.Errorf("exit code %d, %s", code, errs.String())
	}
	if f, err := os.OpenFile(fifo, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil { // lets the waiting goroutine go
		_ = f.Close()
	}
}
