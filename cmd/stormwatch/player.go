package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"stormwatch/detect"
	"stormwatch/ui"
)

// publishEvery is the time between two snapshots: ten a second are as many as an
// eye can follow.
const publishEvery = 100 * time.Millisecond

// board is where a player publishes and the console looks.
type board struct {
	latest atomic.Pointer[detect.Snapshot]
	mu     sync.Mutex
	view   detect.View
}

// Snapshot implements ui.Feed.
func (b *board) Snapshot() *detect.Snapshot {
	if s := b.latest.Load(); s != nil {
		return s
	}
	return &detect.Snapshot{Verdict: detect.Verdict{What: "loading"}}
}

// Want implements ui.Feed.
func (b *board) Want(v detect.View) {
	b.mu.Lock()
	b.view = v
	b.mu.Unlock()
}

func (b *board) wanted() detect.View {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.view
}

// livePlayer runs live sources and judges them by the wall clock.
type livePlayer struct {
	board
	live *detect.Live
	ins  []input
}

func newLivePlayer(o detect.Options, ins []input) *livePlayer {
	return &livePlayer{live: detect.NewLive(lived(o)), ins: ins}
}

// Transport implements ui.Feed: live input has none.
func (p *livePlayer) Transport() ui.Transport { return nil }

func (p *livePlayer) publish() { p.latest.Store(p.live.Snapshot(p.wanted())) }

// run reads the sources until all have ended, one has failed, or ctx ends.
func (p *livePlayer) run(ctx context.Context) (err error) {
	defer guard(&err)
	if err := p.live.Advance(time.Now().UnixNano()); err != nil { // so that it knows the time before the first line
		return err
	}
	ended := make(chan error, len(p.ins))
	for _, in := range p.ins {
		inlet := p.live.Inlet(in.Info())
		go func() {
			var err error
			defer func() { ended <- err }()
			defer guard(&err)
			err = in.Run(ctx, inlet.Take)
		}()
	}
	every := time.NewTicker(publishEvery)
	defer every.Stop()
	for left := len(p.ins); left > 0; {
		select {
		case err := <-ended:
			if left--; err != nil {
				return err
			}
		case now := <-every.C:
			if err := p.live.Advance(now.UnixNano()); err != nil {
				return err
			}
			p.publish()
		}
	}
	p.live.Finish()
	p.publish()
	return nil
}

// guard turns a panic into an error, so that the terminal is restored.
func guard(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("internal error: %v\n%s", r, debug.Stack())
	}
}

// replayPlayer plays a recording by the wall clock.
type replayPlayer struct {
	board
	rec *detect.Recording

	state  sync.Mutex // guards what the console's goroutine sets
	paused bool
	speed  float64
	goal   int64 // moment to go to; 0 none
	wake   chan struct{}
}

func newReplayPlayer(rec *detect.Recording, speed float64) *replayPlayer {
	return &replayPlayer{rec: rec, speed: speed, wake: make(chan struct{}, 1)}
}

// Snapshot implements ui.Feed: while the input is read, it tells how far.
func (p *replayPlayer) Snapshot() *detect.Snapshot {
	if s := p.latest.Load(); s != nil {
		return s
	}
	loaded := p.rec.Loaded()
	return &detect.Snapshot{
		Loaded: loaded, Seq: uint64(loaded * 1000),
		Verdict: detect.Verdict{What: fmt.Sprintf("loading, %.0f %%", 100*loaded)},
	}
}

// Transport implements ui.Feed.
func (p *replayPlayer) Transport() ui.Transport { return p }

// Want implements ui.Feed.
func (p *replayPlayer) Want(v detect.View) {
	p.board.Want(v)
	p.nudge()
}

// Pause implements ui.Transport.
func (p *replayPlayer) Pause(on bool) { p.set(func() { p.paused = on }) }

// Paused implements ui.Transport.
func (p *replayPlayer) Paused() bool {
	p.state.Lock()
	defer p.state.Unlock()
	return p.paused
}

// SetSpeed implements ui.Transport.
func (p *replayPlayer) SetSpeed(x float64) { p.set(func() { p.speed = x }) }

// Speed implements ui.Transport.
func (p *replayPlayer) Speed() float64 {
	p.state.Lock()
	defer p.state.Unlock()
	return p.speed
}

// SeekTo implements ui.Transport.
func (p *replayPlayer) SeekTo(t int64) { p.set(func() { p.goal = t }) }

func (p *replayPlayer) set(change func()) {
	p.state.Lock()
	change()
	p.state.Unlock()
	p.nudge()
}

func (p *replayPlayer) nudge() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run plays until ctx ends. The recording must be sealed.
func (p *replayPlayer) run(ctx context.Context) (err error) {
	defer guard(&err)
	r, err := detect.NewReplay(p.rec)
	if err != nil {
		return err
	}
	if err := r.RunAll(ctx); err != nil {
		return err
	}
	events := r.Snapshot(detect.View{}).Events // of the whole recording, to jump to
	start, end := r.Span()
	if err := r.Seek(ctx, start); err != nil {
		return err
	}
	at, last := start, time.Now()
	every := time.NewTicker(publishEvery)
	defer every.Stop()
	for {
		p.state.Lock()
		paused, speed, goal := p.paused, p.speed, p.goal
		p.goal = 0
		p.state.Unlock()
		now := time.Now()
		passed := now.Sub(last)
		last = now
		switch {
		case goal != 0:
			at = min(max(goal, start), end)
			err = r.Seek(ctx, at)
		case paused:
		case speed == 0:
			at = end
			err = r.RunAll(ctx)
		default:
			at = min(at+int64(float64(passed)*speed), end)
			err = r.RunTo(ctx, at)
		}
		if err == nil && at >= end {
			err = r.RunAll(ctx)
		}
		if err != nil {
			return err
		}
		s := r.Snapshot(p.wanted())
		s.At, s.Events = at, events
		p.latest.Store(s)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-every.C:
		case <-p.wake:
		}
	}
}
