package main

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"stormwatch/capture"
	"stormwatch/capture/packet"
	"stormwatch/detect"
	"stormwatch/rules"
)

// judged is what must not depend on how a recording is played.
type judged struct {
	State    detect.State
	Since    int64
	Totals   detect.Totals
	Findings []moments
}

// moments are when a finding began, was proven, and ended.
type moments struct {
	Signature              string
	Onset, Detected, Ended int64
}

func judgedOf(s *detect.Snapshot) judged {
	j := judged{State: s.Verdict.State, Since: s.Verdict.Since, Totals: s.Totals}
	for i := range s.Findings {
		f := &s.Findings[i]
		j.Findings = append(j.Findings, moments{f.Signature, f.Onset, f.Detected, f.Ended})
	}
	return j
}

func builtin(t testing.TB) detect.Options {
	t.Helper()
	set, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	return detect.Options{Rules: set, Shards: 2}
}

// playing is a player of the demo's incident on the fake clock of a bubble.
type playing struct {
	*replayPlayer
	t          *testing.T
	start, end int64
}

// play runs test with a player that starts at a speed; the player's own end must
// be that it was stopped.
func play(t *testing.T, speed float64, test func(p *playing)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		src, err := packet.Open("demo", bytes.NewReader(incident), packet.Options{
			Size: int64(len(incident)), Secrets: capture.NewSecrets(), Vantage: "capture",
		})
		if err != nil {
			t.Fatal(err)
		}
		rec := detect.NewRecording(builtin(t))
		defer rec.Close()
		if err := record(t.Context(), []input{{Source: src}}, rec); err != nil {
			t.Fatal(err)
		}
		p := &playing{newReplayPlayer(rec, speed), t, 0, 0}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- p.run(ctx) }()
		s := p.settled()
		p.start, p.end = s.Start, s.End
		test(p)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the player ended with %v", err)
		}
	})
}

// settled waits until the player has done all there is to do at this moment.
func (p *playing) settled() *detect.Snapshot {
	synctest.Wait()
	return p.Snapshot()
}

// toEnd lets the clock run until the recording has been played.
func (p *playing) toEnd() *detect.Snapshot {
	p.t.Helper()
	for range 10 * 60 {
		if s := p.settled(); s.At >= p.end {
			return s
		}
		time.Sleep(time.Second)
	}
	p.t.Fatalf("not played to the end in ten minutes")
	return nil
}

// What is judged, and the second at which it was, do not depend on the speed, on
// pauses, nor on the way taken.
func TestReplaySpeedChangesNothing(t *testing.T) {
	var want judged
	play(t, 0, func(p *playing) { want = judgedOf(p.toEnd()) })
	if want.State == detect.Unknown || len(want.Findings) < 2 || want.Findings[0].Detected == 0 {
		t.Fatalf("the incident shows too little for this test: %+v", want)
	}
	ways := map[string]func(*playing){
		"1x":       func(*playing) {},
		"64x":      func(p *playing) { p.SetSpeed(64) },
		"a third":  func(p *playing) { p.SetSpeed(1. / 3) },
		"changing": func(p *playing) { time.Sleep(time.Second); p.SetSpeed(16); time.Sleep(time.Second); p.SetSpeed(0.5) },
		"paused":   func(p *playing) { time.Sleep(40 * time.Second); p.Pause(true); time.Sleep(time.Minute); p.Pause(false) },
		"there and back": func(p *playing) {
			for _, share := range []int64{3, 1, 2, 0, 4} {
				p.SeekTo(p.start + (p.end-p.start)*share/4)
				p.settled()
			}
			p.SeekTo(p.start + 1)
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			play(t, 1, func(p *playing) {
				way(p)
				if d := cmp.Diff(want, judgedOf(p.toEnd())); d != "" {
					t.Errorf("against as fast as possible (-want +got):\n%s", d)
				}
			})
		})
	}
}

// A second of the wall clock is as many seconds of the recording as the speed
// says, and none while it is paused.
func TestReplayKeepsTime(t *testing.T) {
	play(t, 1, func(p *playing) {
		at := p.settled().At
		for _, step := range []struct {
			speed  float64
			paused bool
			want   time.Duration
		}{{1, false, 2 * time.Second}, {4, false, 8 * time.Second}, {0.5, false, time.Second}, {4, true, 0}} {
			p.SetSpeed(step.speed)
			p.Pause(step.paused)
			if p.Speed() != step.speed || p.Paused() != step.paused {
				t.Fatalf("%+v is not what the player tells", step)
			}
			before := p.settled().At
			time.Sleep(2 * time.Second)
			if got := time.Duration(p.settled().At - before); (got - step.want).Abs() > 50*time.Millisecond {
				t.Errorf("%+v: %v of the recording were played", step, got)
			}
		}
		if at >= p.settled().At {
			t.Error("nothing was played")
		}
	})
}

// A finding shows once its evidence suffices, not before, though the events to
// jump to are known from the start.
func TestReplayTellsNoFuture(t *testing.T) {
	play(t, 4, func(p *playing) {
		first := p.settled()
		if len(first.Findings) > 0 || first.Verdict.State == detect.Storm {
			t.Errorf("at the start it is %v with %d findings", first.Verdict.State, len(first.Findings))
		}
		if !slices.ContainsFunc(first.Events, func(e detect.Event) bool { return e.At > first.At }) {
			t.Error("no event to jump to")
		}
		seen := 0
		for s := first; s.At < p.end; s = p.settled() {
			for i := range s.Findings {
				if seen++; s.Findings[i].Detected > s.At {
					t.Fatalf("at %d %s shows, detected %d", s.At, s.Findings[i].Signature, s.Findings[i].Detected)
				}
			}
			time.Sleep(publishEvery)
		}
		if seen == 0 {
			t.Error("no finding was seen")
		}
	})
}

// A moment outside the recording is its nearest end.
func TestReplaySeekIsBounded(t *testing.T) {
	play(t, 1, func(p *playing) {
		p.Pause(true)
		for goal, want := range map[int64]int64{1: p.start, p.end + 1e15: p.end, -5: p.start} {
			p.SeekTo(goal)
			if got := p.settled().At; got != want {
				t.Errorf("going to %d led to %d, want %d", goal, got, want)
			}
		}
	})
}

// The chains of a client are told as soon as the console asks, even when paused.
func TestReplayAnswersViews(t *testing.T) {
	play(t, 0, func(p *playing) {
		s := p.toEnd()
		p.Pause(true)
		p.Want(detect.View{Client: s.Clients[0].Label, TopK: 3})
		s = p.settled()
		if len(s.Chains) == 0 || len(s.Clients) != 3 {
			t.Errorf("%d chains, %d clients", len(s.Chains), len(s.Clients))
		}
	})
}

// fake is a live source that does what it is told.
type fake struct {
	capture.Source
	run func(context.Context) error
}

func (f fake) Info() capture.Info { return capture.Info{Name: "fake", Kind: "log", Live: true} }

func (f fake) Run(ctx context.Context, _ capture.Sink) error { return f.run(ctx) }

func runLive(t *testing.T, ctx context.Context, sources ...func(context.Context) error) error {
	t.Helper()
	var ins []input
	for _, run := range sources {
		ins = append(ins, input{Source: fake{run: run}})
	}
	p := newLivePlayer(builtin(t), ins)
	err := p.run(ctx)
	if p.Snapshot() == nil {
		t.Error("no snapshot")
	}
	return err
}

// A live source's failure ends the watch with its words, a panic in it does so
// without taking the terminal along, and the end of all is no error.
func TestLiveEnds(t *testing.T) {
	forever := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	ends := func(context.Context) error { return nil }
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if err := runLive(t, ctx, ends, ends); err != nil {
			t.Errorf("all ended: %v", err)
		}
		broken := errors.New("broken")
		if err := runLive(t, ctx, forever, func(context.Context) error { return broken }); !errors.Is(err, broken) {
			t.Errorf("one failed: %v", err)
		}
		if err := runLive(t, ctx, forever, func(context.Context) error { panic("odd") }); err == nil || !strings.Contains(err.Error(), "odd") {
			t.Errorf("one panicked: %v", err)
		}
		go func() { time.Sleep(5 * time.Second); cancel() }()
		if err := runLive(t, ctx, forever, ends); !errors.Is(err, context.Canceled) {
			t.Errorf("stopped: %v", err)
		}
	})
}
