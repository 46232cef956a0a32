package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"stormwatch/detect"
	"stormwatch/report"
	"stormwatch/ui"
)

// publishEvery is the time between two snapshots: ten a second are as many as an
// eye can follow.
const publishEvery = 100 * time.Millisecond

// rest says when the next snapshot may be taken: one of many clients costs tens of
// milliseconds, which reading and judging would lack.
type rest struct{ until time.Time }

// share of the time that snapshots may take, as its inverse.
const snapshotShare = 10

func (r *rest) due(now time.Time) bool { return !now.Before(r.until) }

// took notes a snapshot that began at a moment and has just been taken.
func (r *rest) took(began time.Time) {
	now := time.Now()
	r.until = now.Add((snapshotShare - 1) * now.Sub(began))
}

// eager is how long after the start of reading the first verdict is looked for at
// every turn: the first snapshot costs most, and one that comes before there is a
// verdict must not put off the next by seconds.
const eager = 3 * time.Second

// hurry has the next snapshot taken at the next turn, if the latest one had no
// verdict yet and reading has just begun.
func (r *rest) hurry(s *detect.Snapshot, begun time.Time) bool {
	if s.Verdict.State != detect.Unknown || time.Since(begun) > eager {
		return false
	}
	r.until = time.Time{}
	return true
}

// board is where a player publishes and the console looks.
type board struct {
	latest atomic.Pointer[detect.Snapshot]
	seq    atomic.Uint64
	asked  atomic.Uint64 // counts what was asked for
	mu     sync.Mutex
	view   detect.View
	marks  *marks
	redact *report.Redactor // nil where clients are shown
}

// Snapshot implements ui.Feed.
func (b *board) Snapshot() *detect.Snapshot {
	if s := b.latest.Load(); s != nil {
		return s
	}
	return &detect.Snapshot{Verdict: detect.Verdict{What: "loading"}}
}

// publish shows a snapshot of the engine's, which nobody else has seen.
func (b *board) publish(s *detect.Snapshot) {
	s.Seq = b.seq.Add(1) // of one row, though several engines may take turns
	b.latest.Store(shown(s, b.marks, b.redact))
}

// Want implements ui.Feed.
func (b *board) Want(v detect.View) {
	if r := b.redact; r != nil {
		v.Client = r.Label(v.Client)
		if f := v.Filter; f != nil {
			v.Filter = func(c *detect.Client) bool { // who a client is, is not to be found out by a filter either
				row := r.Client(c)
				return f(&row)
			}
		}
	}
	b.mu.Lock()
	b.view = v
	b.mu.Unlock()
	b.asked.Add(1)
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

// Progress implements ui.Feed: live input is shown from its first line on.
func (p *livePlayer) Progress() ui.Progress { return ui.Progress{} }

// Report implements ui.Feed.
func (p *livePlayer) Report() (whole, screen *detect.Snapshot, err error) {
	w := p.wanted()
	for p.live.Sift(w.FilterName, w.Filter, w.Lasting) {
		if p.wanted().FilterName != w.FilterName {
			return nil, nil, ui.ErrFilterChanged
		}
	}
	snapshot := func(v detect.View) *detect.Snapshot {
		v.FilterName = w.FilterName
		return p.live.Snapshot(v)
	}
	const tries = 3 // the input may go on by a second between the two
	for range tries {
		whole, screen = withExamples(snapshot, incidentView(0, w.Filter)), p.live.Snapshot(w)
		if whole.At == screen.At {
			break
		}
	}
	return shown(whole, p.marks, p.redact), shown(screen, p.marks, p.redact), nil
}

func (p *livePlayer) look() *detect.Snapshot {
	s := p.live.Snapshot(p.wanted())
	p.publish(s)
	return s
}

// sift goes on with the pass that a filter asks for, for as long as a slice lasts,
// and tells whether there is more. Another filter is taken up at once.
func (p *livePlayer) sift() (more bool) {
	for began := time.Now(); time.Since(began) < sliceOf; {
		v := p.wanted()
		if more = p.live.Sift(v.FilterName, v.Filter, v.Lasting); !more {
			return false
		}
	}
	return more
}

// linger shows what is asked for of an input that has ended, until ctx does.
func (p *livePlayer) linger(ctx context.Context) (err error) {
	defer guard(&err)
	every := time.NewTicker(publishEvery)
	defer every.Stop()
	var pause rest
	owed, more, shown := false, false, uint64(0)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
		}
		asked, before := p.asked.Load(), more
		more = p.sift()
		owed = owed || more || before || asked != shown
		began := time.Now()
		if !owed || !pause.due(began) {
			continue
		}
		p.look()
		pause.took(began)
		owed, shown = false, asked
	}
}

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
	var pause rest
	begun := time.Now()
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
			p.sift()
			if began := time.Now(); pause.due(began) {
				s := p.look()
				pause.took(began)
				pause.hurry(s, begun)
			}
		}
	}
	p.live.Finish()
	p.look()
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
	rec     *detect.Recording
	loading loading
	judged  atomic.Int64 // event time up to which it has been judged while loading
	reports chan chan reported
	ended   chan struct{}

	state  sync.Mutex // guards what the console's goroutine sets
	paused bool
	speed  float64
	goal   int64              // moment to go to; 0 none
	stop   context.CancelFunc // ends the seek under way, for another goal
	wake   chan struct{}
}

func newReplayPlayer(rec *detect.Recording, speed float64) *replayPlayer {
	p := &replayPlayer{
		rec: rec, speed: speed, wake: make(chan struct{}, 1),
		reports: make(chan chan reported), ended: make(chan struct{}),
	}
	p.loading.begin("reading", func() ui.Progress { return ui.Progress{Share: rec.Loaded()} })
	return p
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

var errStopped = errors.New("the player has stopped")

// reported is what a report is made of, and the screen of the same moment.
type reported struct{ whole, screen *detect.Snapshot }

// Report implements ui.Feed. The player's goroutine answers: the engine is its own.
func (p *replayPlayer) Report() (whole, screen *detect.Snapshot, err error) {
	if p.Progress().Doing != "" {
		return nil, nil, errors.New("the recording is still being read")
	}
	answer := make(chan reported, 1)
	select {
	case p.reports <- answer:
	case <-p.ended:
		return nil, nil, errStopped
	}
	select {
	case r := <-answer:
		return r.whole, r.screen, nil
	case <-p.ended:
		return nil, nil, errStopped
	}
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
func (p *replayPlayer) SeekTo(t int64) {
	p.set(func() {
		p.goal = t
		if p.stop != nil {
			p.stop()
		}
	})
}

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
