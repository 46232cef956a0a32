package main

import (
	"context"
	"time"

	"stormwatch/detect"
)

// stretch is a replay that is run in slices, so that keys are answered meanwhile.
type stretch struct {
	r     *detect.Replay
	start int64
	step  int64         // event time of a piece of work
	lasts time.Duration // of a slice
}

const (
	firstStep  = 10 * int64(time.Second)
	sliceOf    = 60 * time.Millisecond // work until the next look at what is asked
	shortSlice = sliceOf / 4
)

// slice replays towards a moment for about as long as a slice lasts, and tells
// whether it got there.
func (s *stretch) slice(ctx context.Context, to int64) (there bool, err error) {
	began := time.Now()
	for from := max(s.r.Now(), s.start); from < to; {
		from = min(from+s.step, to)
		stepped := time.Now()
		if err := s.r.RunTo(ctx, from); err != nil {
			return false, err
		}
		switch took := time.Since(stepped); {
		case took < shortSlice:
			s.step = min(2*s.step, int64(24*time.Hour))
		case took > sliceOf:
			s.step = max(s.step/2, int64(time.Second))
		}
		if time.Since(began) > s.lasts && from < to {
			return false, nil
		}
	}
	return true, nil
}

// sieve is the second pass over a recording that a filter asks for: the clients
// that pass are judged as if there were no others. Who passes is settled when the
// filter is set, or as soon as somebody does.
type sieve struct {
	stretch
	name    string // of the filter; "" none
	through bool   // the pass has been to the end
	whole   bool   // and to the moment shown
	at      int64  // moment shown; before the pass, the one at which it was last tried who passes
	heading int64  // moment it is on its way to; 0 none
	events  []detect.Event
	pause   rest
}

// pending tells whether there is a pass to go on with, or a moment to get to.
func (s *sieve) pending() bool { return s.r != nil && (!s.whole || s.heading != 0) }

// share is how far the pass is.
func (s *sieve) share(end int64) float64 {
	switch {
	case s.r == nil || s.whole || end <= s.start:
		return 0
	case s.through:
		return 1
	}
	return min(max(float64(s.r.Now()-s.start)/float64(end-s.start), 0), 1)
}

// sift does what the present filter asks for next: it begins the pass, goes on with
// it, or brings it to the moment shown. A pass for another filter is given up.
func (h *playhead) sift(ctx context.Context) (moved bool, err error) {
	v, s := h.p.wanted(), &h.sieve
	if v.FilterName != s.name {
		*s, moved = sieve{name: v.FilterName}, true
		h.r.TakeBack()
	}
	switch {
	case s.name == "" || v.Filter == nil:
	case s.r == nil:
		begun, err := h.settle(ctx, &v)
		return begun || moved, err
	case !s.through:
		return true, h.pass(ctx)
	case s.at != h.at && h.goal == 0: // a moment on the way to another is not worth a seek
		return true, h.follow(ctx)
	}
	return moved, nil
}

// settle begins the pass if anybody passes by now.
func (h *playhead) settle(ctx context.Context, v *detect.View) (bool, error) {
	s, began := &h.sieve, time.Now()
	if s.at == h.at || !s.pause.due(began) {
		return false, nil
	}
	s.at = h.at
	pass := h.r.Passing(v.Filter, v.Lasting)
	s.pause.took(began)
	if pass.Len() == 0 {
		return false, nil
	}
	r, err := h.r.Only(ctx, pass)
	s.stretch = stretch{r, h.start, firstStep, sliceOf}
	return true, err
}

// pass goes on with the pass for a slice, up to the end: what happened to these
// clients can then be jumped to.
func (h *playhead) pass(ctx context.Context) error {
	s := &h.sieve
	there, err := s.slice(ctx, h.end)
	if err != nil || !there {
		return err
	}
	if err := s.r.RunAll(ctx); err != nil {
		return err
	}
	s.events = s.r.Snapshot(detect.View{TopK: 1, Bins: 1}).Events
	s.through, s.at = true, 0
	return h.follow(ctx)
}

// follow goes to the moment shown, for a slice: another may be asked for meanwhile.
func (h *playhead) follow(ctx context.Context) error {
	s := &h.sieve
	if s.heading != h.at {
		if err := s.r.Near(h.at); err != nil {
			return err
		}
		s.heading, s.at = h.at, 0
	}
	there, err := s.slice(ctx, s.heading)
	if err != nil || !there {
		return err
	}
	if s.heading >= h.end {
		if err := s.r.RunAll(ctx); err != nil {
			return err
		}
	}
	s.at, s.heading, s.whole = s.heading, 0, true
	return nil
}

// snapshot is what a view asks for, of the clients that pass where that is known.
func (h *playhead) snapshot(v detect.View) *detect.Snapshot {
	s := &h.sieve
	if s.whole && s.name == v.FilterName {
		v.Filter = nil
		out := s.r.Snapshot(v)
		out.Filtered = detect.Filtered{Name: s.name, Whole: true, Clients: s.r.Clients(), Of: h.r.Clients()}
		return out
	}
	out := h.r.Snapshot(v)
	out.Filtered = detect.Filtered{Name: s.name, Share: s.share(h.end)}
	return out
}
