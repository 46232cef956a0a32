package main

import (
	"context"
	"math"
	"sync"
	"time"

	"stormwatch/capture"
	"stormwatch/detect"
	"stormwatch/ui"
)

// loading is how far a replay is from its first second: what it reads, and what it
// judges before it can be played.
type loading struct {
	mu      sync.Mutex
	doing   string
	began   time.Time
	measure func() ui.Progress // bytes and share
}

func (l *loading) begin(doing string, measure func() ui.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.doing, l.began, l.measure = doing, time.Now(), measure
}

const (
	estimateAfter = time.Second // before that an estimate jumps
	longestLeft   = 99 * time.Hour
)

// progress tells how far it is. The time left is that of a steady pace.
func (l *loading) progress() ui.Progress {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.doing == "" {
		return ui.Progress{}
	}
	p := l.measure()
	p.Doing = l.doing
	p.Share = math.Round(1000*p.Share) / 1000 // what moves less is not worth a frame
	if passed := time.Since(l.began); passed > estimateAfter && p.Share > 0 {
		left := time.Duration(min(float64(passed)*(1-p.Share)/p.Share, float64(longestLeft)))
		p.Left = left.Round(time.Second)
	}
	return p
}

// Progress implements ui.Feed.
func (p *replayPlayer) Progress() ui.Progress { return p.loading.progress() }

// load reads the recording, and shows meanwhile what can be told of it: the
// exchanges go through a second engine in the order in which they come. What that
// one says is not final, for the recording is judged in the order of time.
func (p *replayPlayer) load(ctx context.Context, ins []input, o detect.Options) (err error) {
	defer guard(&err)
	p.loading.begin("reading", func() ui.Progress {
		read, total := metered(ins)
		out := ui.Progress{Bytes: read, Total: total, Share: p.rec.Loaded()}
		if bytes := min(float64(read)/float64(max(total, 1)), 1); total > 0 && (out.Share == 0 || bytes < out.Share) {
			out.Share = bytes // else what was read is ahead of what has been taken in
		}
		return out
	})
	if !absolute(o.Since) || !absolute(o.Until) { // what is looked at is known at the end
		return record(ctx, ins, p.rec)
	}
	first := newPreview(o)
	ctx, cancel := context.WithCancel(ctx)
	shown := make(chan error, 1)
	go func() { shown <- p.preview(ctx, first) }()
	err = recordWith(ctx, ins, p.rec, first.beside)
	cancel()
	if failed := <-shown; err == nil {
		err = ignoreCancel(failed)
	}
	first.close()
	return err
}

// absolute tells whether a bound is a moment, or none.
func absolute(b detect.Bound) bool { return b.Ago == 0 && b.Zone == nil }

// preview judges what has been read so far.
type preview struct {
	live *detect.Live
	ways []*way
}

// way is a source's way into a preview. Sources keep their sinks for longer than
// there is a preview.
type way struct{ inlet *detect.Inlet }

func newPreview(o detect.Options) *preview {
	o.MaxCheckpoints = -1
	return &preview{live: detect.NewLive(o)}
}

// beside returns a sink that hands on to the one of the recording what the preview
// has seen.
func (v *preview) beside(info capture.Info, sink capture.Sink) capture.Sink {
	in := &way{v.live.Inlet(info)}
	v.ways = append(v.ways, in)
	return func(b *capture.Batch) error {
		if err := in.inlet.Take(b); err != nil {
			return err
		}
		return sink(b)
	}
}

// close lets go of all it knows, once the sources have ended.
func (v *preview) close() {
	for _, in := range v.ways {
		in.inlet = nil
	}
	v.live = nil
}

// firstLooks is the time between two looks at what is read until there is a verdict.
const firstLooks = publishEvery / 4

// preview publishes until ctx ends.
func (p *replayPlayer) preview(ctx context.Context, first *preview) (err error) {
	defer guard(&err)
	every := time.NewTicker(firstLooks)
	defer every.Stop()
	var pause rest
	for begun := time.Now(); ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case now := <-every.C:
			if err := first.live.Advance(now.UnixNano()); err != nil {
				return err
			}
			began := time.Now()
			if !pause.due(began) {
				continue
			}
			s := first.live.Snapshot(p.wanted())
			if pause.took(began); !pause.hurry(s, begun) {
				every.Reset(publishEvery)
			}
			if s.Start == 0 {
				continue // nothing was seen yet
			}
			s.Live, s.Loaded = false, max(p.rec.Loaded(), 1e-3)
			p.publish(s)
		}
	}
}
