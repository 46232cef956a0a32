package main

import (
	"context"
	"sync"
	"time"

	"stormwatch/capture"
)

// attended is a live source whose input comes and goes: while it gives nothing,
// its Health says why, though no line comes.
type attended struct {
	capture.Source
	of interface{ Down() string }
}

const attendEvery = 200 * time.Millisecond

// Run implements capture.Source.
func (a *attended) Run(ctx context.Context, sink capture.Sink) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex // the sink takes one batch at a time
	last := capture.Batch{Names: capture.NewInterner(0, 0)}
	health, told := capture.Health{Unit: "lines"}, ""
	var failed error
	look := func() {
		mu.Lock()
		defer mu.Unlock()
		if down := a.of.Down(); failed == nil && down != told {
			told = down
			h := health.Clone()
			h.Down = down
			failed = sink(&capture.Batch{Names: last.Names, Health: h})
		}
	}
	var watching sync.WaitGroup
	watching.Go(func() {
		every := time.NewTicker(attendEvery)
		defer every.Stop()
		for {
			look()
			select {
			case <-ctx.Done():
				return
			case <-every.C:
			}
		}
	})
	err := a.Source.Run(ctx, func(b *capture.Batch) error {
		mu.Lock()
		defer mu.Unlock()
		if failed != nil {
			return failed
		}
		last.Names = b.Names
		if b.Health != nil {
			health = *b.Health.Clone()
			told = a.of.Down()
			b.Health.Down = told
		}
		return sink(b)
	})
	cancel()
	watching.Wait()
	return err
}
