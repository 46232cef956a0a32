package packet

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

// parcels go round between the two goroutines: enough that neither waits for the
// other at each of them.
const parcels = 4

// errUnwanted ends the reading of an input that nobody wants more of.
var errUnwanted = errors.New("no more packets are wanted")

// relay reads packets in a goroutine of its own, ahead of what puts streams
// together. That goroutine has ended when relay returns.
func (s *Source) relay(ctx context.Context) (err error) {
	in := &s.intake
	feed, back := make(chan *parcel, parcels), make(chan *parcel, parcels)
	for range parcels - 1 { // the intake has one
		back <- &parcel{}
	}
	var unwanted atomic.Bool
	in.pass = func(p *parcel) (*parcel, error) {
		feed <- p
		p = <-back
		if unwanted.Load() {
			return p, errUnwanted
		}
		return p, nil
	}
	go func() {
		defer close(feed)
		err := in.guarded()
		in.account()
		in.parcel.end = err
		feed <- in.parcel
	}()
	defer func() { // of a fault in what puts streams together, the other goroutine hears too
		unwanted.Store(true)
		for p := range feed {
			p.empty()
			back <- p
		}
	}()
	for p := range feed {
		end := p.end
		if err == nil {
			if err = s.parcel(ctx, p); err != nil {
				unwanted.Store(true)
			} else {
				err = end
			}
		}
		p.empty()
		back <- p
	}
	return err
}

// guarded runs, and turns a fault into an error, as the caller of Source.Run does with
// those of its own goroutine: one here would leave the terminal as it is.
func (in *intake) guarded() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error: %v\n%s", r, debug.Stack())
		}
	}()
	return in.run()
}
