package accesslog

import (
	"context"
	"io"
)

// pump reads an input in a goroutine of its own, so that a context can end a
// source whose pipe stays silent, and so that reading and parsing overlap. Where
// the input never answers, its goroutine stays until the process ends.
type pump struct {
	free chan []byte
	full chan chunk
	held []byte // the buffer the caller works on
}

type chunk struct {
	data []byte
	err  error
}

const (
	chunkBytes = 256 << 10
	chunks     = 3 // one being read, one waiting, one being parsed
)

func newPump(ctx context.Context, r io.Reader) *pump {
	p := &pump{free: make(chan []byte, chunks), full: make(chan chunk, chunks)}
	for range chunks {
		p.free <- make([]byte, chunkBytes)
	}
	go p.run(ctx, r)
	return p
}

func (p *pump) run(ctx context.Context, r io.Reader) {
	empty := 0
	for {
		select {
		case <-ctx.Done():
			return
		case b := <-p.free:
			n, err := r.Read(b)
			if n == 0 && err == nil {
				if empty++; empty == 100 { // as bufio
					err = io.ErrNoProgress
				}
			} else {
				empty = 0
			}
			p.full <- chunk{b[:n], err} // never blocks: as many places as buffers
			if err != nil {
				return
			}
		}
	}
}

// next gives the next chunk; its data is valid until the following call.
func (p *pump) next(ctx context.Context) (chunk, error) {
	if p.held != nil {
		p.free <- p.held[:chunkBytes]
		p.held = nil
	}
	select { // an ended context wins over data that waits
	case <-ctx.Done():
		return chunk{}, ctx.Err()
	default:
	}
	select {
	case <-ctx.Done():
		return chunk{}, ctx.Err()
	case c := <-p.full:
		p.held = c.data[:0]
		return c, nil
	}
}

// dry tells whether the input has nothing more to give at this moment.
func (p *pump) dry() bool { return len(p.full) == 0 }
