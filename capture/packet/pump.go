package packet

import (
	"context"
	"errors"
	"io"
	"time"
)

const (
	pumpBytes = 256 << 10
	pumpTick  = 250 * time.Millisecond
)

// pump reads a live input in a goroutine of its own, so that a context can end
// the source while its pipe is silent, and tells when there is nothing to read.
// Where the input never answers, its goroutine stays until the process ends.
type pump struct {
	ctx  context.Context
	full chan pumped
	free chan []byte
	rest []byte
	held []byte
	err  error
	idle func(silent time.Duration) error
}

type pumped struct {
	b   []byte
	err error
}

func newPump(ctx context.Context, r io.Reader) *pump {
	p := &pump{ctx: ctx, full: make(chan pumped, 2), free: make(chan []byte, 2)}
	for range cap(p.free) {
		p.free <- make([]byte, pumpBytes)
	}
	go p.run(r)
	return p
}

func (p *pump) run(r io.Reader) {
	for {
		select {
		case <-p.ctx.Done():
			return
		case b := <-p.free:
			n, err := r.Read(b)
			p.full <- pumped{b[:n], err} // never blocks: as many places as buffers
			if err != nil && !errors.Is(err, errAnew) {
				return
			}
		}
	}
}

// Read gives what has come; before it waits, and while it waits, it calls idle.
func (p *pump) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		if err := p.err; err != nil {
			if errors.Is(err, errAnew) { // told once: more comes
				p.err = nil
			}
			return 0, err
		}
		if p.held != nil {
			p.free <- p.held
			p.held = nil
		}
		if err := p.wait(); err != nil {
			return 0, err
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

func (p *pump) wait() error {
	select {
	case c := <-p.full:
		p.take(c)
		return nil
	default:
	}
	if err := p.idle(0); err != nil {
		return err
	}
	begun := time.Now()
	tick := time.NewTicker(pumpTick)
	defer tick.Stop()
	for {
		select {
		case <-p.ctx.Done():
			return p.ctx.Err()
		case c := <-p.full:
			p.take(c)
			return nil
		case <-tick.C:
			if err := p.idle(time.Since(begun)); err != nil {
				return err
			}
		}
	}
}

func (p *pump) take(c pumped) {
	p.rest, p.held, p.err = c.b, c.b[:cap(c.b)], c.err
}
