package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"stormwatch/detect"
)

// Opening the files that STORMWATCH_LOAD names, as the console does, this tells when
// the first verdict shows, how long it takes until a recording can be played, and how
// much memory the process has taken by then. One file a run tells most of memory:
//
//	STORMWATCH_LOAD=traffic.pcap go test ./cmd/stormwatch -v -run FirstVerdict
func TestFirstVerdict(t *testing.T) {
	if os.Getenv("STORMWATCH_LOAD") == "" {
		t.Skip("STORMWATCH_LOAD names no file")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(25)) // as main does
	for _, file := range filepath.SplitList(os.Getenv("STORMWATCH_LOAD")) {
		t.Run(filepath.Base(file), func(t *testing.T) { firstVerdict(t, file) })
	}
}

func firstVerdict(t *testing.T, file string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	began := time.Now()
	st := &streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard}
	f := &flags{clientBy: "auto", perspective: "auto", color: "never", shards: 2}
	o, err := f.options(st)
	o.MaxCheckpoints = keptStates
	if err != nil {
		t.Fatal(err)
	}
	ins, err := f.openChecked(ctx, st, []string{file}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(ins)
	done := make(chan error, 1)
	var feed interface {
		Snapshot() *detect.Snapshot
		loaded() bool
	}
	if ins[0].Info().Live {
		p := newLivePlayer(o, ins)
		go func() { done <- p.run(ctx) }()
		feed = liveLoad{p}
	} else {
		rec := detect.NewRecording(o)
		defer rec.Close()
		p := newReplayPlayer(rec, 1)
		p.Want(detect.View{Bins: 100})
		go func() {
			err := p.load(ctx, ins, o)
			if err == nil {
				defer sparing()()
				err = p.run(ctx)
			}
			done <- err
		}()
		feed = replayLoad{p}
	}
	t.Logf("opened after %v", time.Since(began).Round(time.Millisecond))
	var first, shown time.Duration
	for !feed.loaded() {
		select {
		case err := <-done:
			t.Fatalf("it ended: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
		if s := feed.Snapshot(); shown == 0 && s.Start != 0 {
			shown = time.Since(began)
			t.Logf("something shows after %v", shown.Round(time.Millisecond))
		}
		if s := feed.Snapshot(); first == 0 && s.Verdict.State != detect.Unknown {
			first = time.Since(began)
			t.Logf("first verdict %v after %v, of %d requests; peak %s", s.Verdict.State, first.Round(time.Millisecond), s.Totals.Exchanges, peakMemory())
		}
	}
	t.Logf("read and judged after %v; peak %s", time.Since(began).Round(time.Millisecond), peakMemory())
	const bar = time.Second
	if first == 0 || first > bar {
		t.Errorf("the first verdict came after %v, want %v", first, bar)
	}
	cancel()
	<-done
}

type replayLoad struct{ *replayPlayer }

func (p replayLoad) loaded() bool { return p.Progress().Doing == "" }

// liveLoad counts as loaded once nothing new has come for a while.
type liveLoad struct{ *livePlayer }

func (p liveLoad) loaded() bool {
	s := p.livePlayer.Snapshot()
	return len(s.Sources) > 0 && s.Sources[0].Quiet > int64(2*time.Second)
}

// peakMemory is the largest resident set of the process so far, as Linux tells it.
func peakMemory() string {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "not known"
	}
	for _, line := range strings.Split(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			return strings.TrimSpace(rest)
		}
	}
	return "not known"
}
