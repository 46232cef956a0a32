package ui

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"stormwatch/detect"
)

// output is a buffer that the console's goroutines and the test may use at once.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

const (
	leaveAltScreen = "\x1b[?1049l"
	showCursor     = "\x1b[?25h"
)

func runConsole(t *testing.T, ctx context.Context, f Feed, keys string) (string, error) {
	t.Helper()
	in, typing := io.Pipe()
	defer typing.Close()
	out := &output{}
	done := make(chan error, 1)
	go func() { done <- Run(ctx, f, Options{Input: in, Output: out, Color: "never", FPS: 30}) }()
	go func() {
		for _, k := range keys {
			if _, err := typing.Write([]byte(string(k))); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond) // one by one, as a person types
		}
	}()
	select {
	case err := <-done:
		return out.String(), err
	case <-time.After(20 * time.Second):
		t.Fatal("the console does not end")
		return "", nil
	}
}

func checkRestored(t *testing.T, out string) {
	t.Helper()
	if !strings.Contains(out, leaveAltScreen) || !strings.Contains(out, showCursor) {
		t.Errorf("the terminal is not restored: %q", out[max(0, len(out)-200):])
	}
}

func TestRunQuits(t *testing.T) {
	out, err := runConsole(t, context.Background(), replay(stormSnapshot()), "6yq")
	if err != nil {
		t.Fatal(err)
	}
	checkRestored(t, out)
	// The copied snippet is printed behind the restored screen.
	_, after, _ := strings.Cut(out, leaveAltScreen)
	if !strings.Contains(after, "budget_percent: { value: 20.0 }") {
		t.Errorf("the copied snippet is not printed on quit: %q", after)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	out, err := runConsole(t, ctx, live(emptySnapshot()), "")
	if err != nil {
		t.Errorf("the end of the context is reported as %v", err)
	}
	checkRestored(t, out)
}

// brokenFeed panics after a while, as an engine with a fault would.
type brokenFeed struct {
	fakeFeed
	calls int
}

func (f *brokenFeed) Snapshot() *detect.Snapshot {
	if f.calls++; f.calls > 3 {
		panic("fault on purpose: the stack below is part of the test")
	}
	return f.snap
}

func TestRunRestoresAfterPanic(t *testing.T) {
	f := &brokenFeed{fakeFeed: fakeFeed{snap: stormSnapshot()}}
	out, err := runConsole(t, context.Background(), f, "")
	if err == nil || !strings.Contains(err.Error(), "terminal is restored") {
		t.Errorf("a fault is reported as %v", err)
	}
	checkRestored(t, out)
}

func TestNeedsASCII(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{map[string]string{}, false},
		{map[string]string{"LANG": "de_DE.UTF-8"}, false},
		{map[string]string{"LANG": "C"}, true},
		{map[string]string{"LANG": "C", "LC_ALL": "C.UTF-8"}, false},
		{map[string]string{"LC_CTYPE": "en_US.ISO-8859-1", "LANG": "en_US.utf8"}, true},
		{map[string]string{"LANG": "en_US.UTF-8", "TERM": "linux"}, true},
	} {
		if got := needsASCII(func(k string) string { return c.env[k] }); got != c.want {
			t.Errorf("%v: %v", c.env, got)
		}
	}
}
