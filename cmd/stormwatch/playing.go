package main

import (
	"context"
	"errors"
	"time"

	"stormwatch/detect"
	"stormwatch/ui"
)

// playhead is where a replay is, and what it is doing.
type playhead struct {
	stretch
	p      *replayPlayer
	end    int64
	at     int64
	goal   int64 // moment it is on its way to; 0 none
	events []detect.Event
	sieve  sieve
	asked  []chan<- reported // reports that wait for the pass of the filter
}

// run plays until ctx ends. The recording must be sealed.
func (p *replayPlayer) run(ctx context.Context) (err error) {
	defer close(p.ended)
	defer guard(&err)
	h := &playhead{p: p, stretch: stretch{step: firstStep, lasts: sliceOf}}
	if h.r, err = detect.NewReplay(p.rec); err != nil {
		return err
	}
	h.start, h.end = h.r.Span()
	if err := h.foresee(ctx); err != nil {
		return err
	}
	h.at = h.start
	if err := h.r.Seek(ctx, h.start); err != nil {
		return err
	}
	h.publish() // before it is said to be read: keys then find a moment to go to
	p.loading.begin("", nil)
	last := time.Now()
	every := time.NewTicker(publishEvery)
	defer every.Stop()
	var pause rest
	for asked := true; ; {
		now := time.Now()
		moved, err := h.move(ctx, now.Sub(last))
		last = now
		if err != nil {
			return err
		}
		sifted, err := h.sift(ctx)
		if err != nil {
			return err
		}
		h.answer()
		if moved || sifted || asked { // else it looks as before
			if began := time.Now(); !h.hurries() && !h.sieve.pending() || pause.due(began) {
				h.publish()
				pause.took(began)
			}
		}
		if asked = moved && h.hurries() || h.sieve.pending(); asked {
			select {
			case <-p.wake: // what was asked is answered by the next slice
			case answer := <-p.reports:
				h.asked = append(h.asked, answer)
			case <-ctx.Done():
				return ctx.Err()
			default:
			}
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case answer := <-p.reports:
			h.asked = append(h.asked, answer)
		case <-every.C:
		case <-p.wake:
			asked = true
		}
	}
}

// foresee judges the whole recording: what happened in it can then be jumped to,
// and there are checkpoints to go back to.
func (h *playhead) foresee(ctx context.Context) error {
	h.p.loading.begin("judging", func() ui.Progress {
		return ui.Progress{Share: float64(h.p.judged.Load()-h.start) / float64(max(h.end-h.start, 1))}
	})
	for now := h.start; now < h.end; now = h.r.Now() {
		if _, err := h.slice(ctx, h.end); err != nil {
			return err
		}
		h.p.judged.Store(h.r.Now())
		if h.r.Now() <= now {
			break // the rest is less than a second
		}
	}
	if err := h.r.RunAll(ctx); err != nil {
		return err
	}
	h.events = h.r.Snapshot(detect.View{}).Events
	return nil
}

// hurries tells whether there is more to do at once.
func (h *playhead) hurries() bool {
	return h.goal != 0 || h.p.Speed() == 0 && !h.p.Paused() && h.at < h.end
}

// move does what is to be done next: it goes on towards a goal, or plays as much
// of the recording as the time that passed is worth.
func (h *playhead) move(ctx context.Context, passed time.Duration) (moved bool, err error) {
	p := h.p
	p.state.Lock()
	paused, speed := p.paused, p.speed
	if p.goal != 0 {
		h.goal = min(max(p.goal, h.start), h.end)
		p.goal = 0
	}
	seek, stop := context.WithCancel(ctx)
	p.stop = stop
	p.state.Unlock()
	defer stop()
	before := h.at
	switch {
	case h.goal != 0:
		moved, err = true, h.seek(seek)
		if ctx.Err() == nil && errors.Is(err, context.Canceled) {
			err = nil // for another goal
		}
	case paused || before >= h.end || h.sieve.heading != 0: // the clock waits for what it shows
		return false, nil
	case speed == 0:
		var there bool
		if there, err = h.slice(ctx, h.end); there {
			h.at = h.end
		} else {
			h.at = max(h.r.Now(), before)
		}
	default:
		h.at = min(before+int64(float64(passed)*speed), h.end)
		err = h.r.RunTo(ctx, h.at)
	}
	if err == nil && h.at >= h.end {
		err = h.r.RunAll(ctx)
	}
	return moved || h.at != before, err
}

// seek goes to the goal, by way of the checkpoint before it.
func (h *playhead) seek(ctx context.Context) error {
	if h.goal >= h.end && h.at >= h.end { // it is there
		h.goal = 0
		return nil
	}
	if err := h.r.Seek(ctx, h.goal); err != nil {
		h.at = min(h.r.Now(), h.end)
		return err
	}
	h.at, h.goal = h.goal, 0
	return nil
}

// publish shows the present state, with all events of the recording to jump to. While
// the filter's pass is on its way to that, what was shown last remains.
func (h *playhead) publish() {
	v := h.p.wanted()
	if h.sieve.whole && h.sieve.heading != 0 && h.sieve.name == v.FilterName {
		return
	}
	h.p.publish(h.screen(v))
}

// screen is what a view shows at the present moment.
func (h *playhead) screen(v detect.View) *detect.Snapshot {
	s := h.snapshot(v)
	s.At, s.Events = h.at, h.events
	if s.Filtered.Whole {
		s.Events = h.sieve.events
	}
	return s
}

// answer makes the reports that were asked for, once the pass of the filter is done.
func (h *playhead) answer() {
	if len(h.asked) == 0 || h.sieve.pending() {
		return
	}
	asked := h.p.wanted() // of one filter throughout
	of := func(v detect.View) *detect.Snapshot {
		v.FilterName = asked.FilterName
		return h.snapshot(v)
	}
	whole, screen := withExamples(of, incidentView(0, asked.Filter)), h.screen(asked)
	r := reported{shown(whole, h.p.marks, h.p.redact), shown(screen, h.p.marks, h.p.redact)}
	for _, to := range h.asked {
		to <- r
	}
	h.asked = nil
}
