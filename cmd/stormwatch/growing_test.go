package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// lines is an output that may be looked at while it is written.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// A capture that is being written is watched live: what comes later is judged
// too, though a write may end inside a packet.
func TestWatchGrowingCapture(t *testing.T) {
	text, err := os.ReadFile("../../testdata/pcaps/lockstep-bare-429/traffic.pcap")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "traffic.pcap")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(text[:20_001]); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, code := &lines{}, make(chan int, 1)
	stop := make(chan struct{})
	go func() { // where the system does not tell who writes, the file must be seen to grow
		for at := 20_001; ; at += 100 {
			select {
			case <-stop:
				_, _ = f.Write(text[at:150_001]) // into the storm
				return
			case <-time.After(50 * time.Millisecond):
				_, _ = f.Write(text[at : at+100])
			}
		}
	}()
	go func() { code <- run(ctx, []string{"watch", "--plain", path}, nil, out, io.Discard) }()
	until := func(want string) {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); !strings.Contains(out.String(), want); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s is not told:\n%s", want, out.String())
			}
		}
	}
	until("CLEAR")
	if strings.Contains(out.String(), "STORM") {
		t.Errorf("told before it was written:\n%s", out.String())
	}
	close(stop)
	until("STORM")
	cancel()
	select {
	case c := <-code:
		if c != exitOK {
			t.Errorf("exit code %d", c)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("stopped, yet it goes on")
	}
}

// A capture that nobody writes is a recording, however new it is.
func TestFinishedCaptureIsRecorded(t *testing.T) {
	text, err := os.ReadFile("../../testdata/pcaps/healthy/traffic.pcap")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "traffic.pcap")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	ins, err := (&flags{}).openAll(t.Context(), &streams{out: io.Discard, err: io.Discard}, []string{path}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(ins)
	if ins[0].Info().Live {
		t.Error("a finished capture is taken for one that grows")
	}
}
