package accesslog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Follow opens a log file and reads it on and on: first what is there, then what
// is appended. A file that is renamed or removed is read to its end before the
// new one of that name is opened; one that is cut to nothing or written anew is
// read from its start. Read waits for more bytes and returns io.EOF once ctx has
// ended. A pipe is just read. Close the result after use.
//
// Two rotations within a second go unseen, as does a file cut and written anew
// to the same first bytes and beyond the old length between two looks.
func Follow(ctx context.Context, path string) (*Follower, error) {
	l := Await(ctx, path)
	if err := l.open(); err != nil {
		return nil, fmt.Errorf("following a log: %w", err)
	}
	return l, nil
}

// Await is Follow for a log that need not be there yet.
func Await(ctx context.Context, path string) *Follower {
	return &Follower{ctx: ctx, path: path, every: pollEvery, grace: rotateGrace}
}

const (
	pollEvery   = 250 * time.Millisecond // network file systems and bind mounts send no events
	rotateGrace = time.Second            // servers write to the renamed file until they reopen
	giveUp      = 10 * time.Second       // with a new file that cannot be opened
	headBytes   = 256
)

// Follower reads a log that is being written. It belongs to one goroutine, Down
// apart.
type Follower struct {
	ctx     context.Context
	path    string
	mu      sync.Mutex // guards f against Close, which may come while another goroutine reads
	closed  bool
	f       *os.File // nil while the log was never there
	pipe    bool
	offset  int64
	head    []byte    // first bytes of the file, to know it again
	partial bool      // the last byte given was inside a line
	anew    bool      // the next byte is the first of a file
	gone    time.Time // since when the path has named another file, or none
	every   time.Duration
	grace   time.Duration
	down    atomic.Pointer[string]
}

// Down says why nothing comes at present: the log is not there, or not any more.
// It is "" where nothing is wrong, and may be asked at any time.
func (l *Follower) Down() string {
	if s := l.down.Load(); s != nil {
		return *s
	}
	return ""
}

func (l *Follower) tell(down string) {
	if down != l.Down() {
		l.down.Store(&down)
	}
}

// open opens the log for the first time.
func (l *Follower) open() error {
	f, err := os.Open(l.path)
	if err != nil {
		return err
	}
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		l.pipe = true
	}
	return l.use(f)
}

// use reads from f from now on.
func (l *Follower) use(f *os.File) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errors.Join(fs.ErrClosed, f.Close())
	}
	if l.f != nil {
		_ = l.f.Close() // it was only read from
	}
	l.f = f
	return nil
}

// arrive waits for a log that is not there yet.
func (l *Follower) arrive() error {
	for l.f == nil && l.ctx.Err() == nil {
		err := l.open()
		switch {
		case err == nil:
			l.tell("")
		case errors.Is(err, fs.ErrNotExist):
			l.tell("waiting for " + l.path + ", which is not there yet")
			l.pause()
		default:
			return err
		}
	}
	return nil
}

// pause sleeps until the next look.
func (l *Follower) pause() {
	select {
	case <-l.ctx.Done():
	case <-time.After(l.every):
	}
}

// Read implements io.Reader.
func (l *Follower) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		if err := l.arrive(); err != nil {
			return 0, fmt.Errorf("following %s: %w", l.path, err)
		}
		if l.ctx.Err() != nil {
			return 0, io.EOF
		}
		if l.pipe {
			return l.f.Read(b)
		}
		if l.anew {
			l.anew = false
			if l.partial { // what comes now must not continue the last line
				l.partial = false
				b[0] = '\n'
				return 1, nil
			}
		}
		n, err := l.f.Read(b)
		if n > 0 {
			l.given(b[:n])
			return n, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("following %s: %w", l.path, err)
		}
		if err = l.turn(); err == nil && !l.anew {
			err = l.wait()
		}
		if err != nil {
			return 0, fmt.Errorf("following %s: %w", l.path, err)
		}
	}
}

// wait sleeps until the next look. A file that was cut and has grown beyond the
// old length by then is noticed here, before a byte from its middle is read.
func (l *Follower) wait() error {
	if l.pause(); l.ctx.Err() != nil || l.sameHead() {
		return nil
	}
	return l.rewind()
}

// Close implements io.Closer.
func (l *Follower) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.f == nil {
		return nil
	}
	return l.f.Close()
}

func (l *Follower) given(b []byte) {
	if l.offset < headBytes {
		l.head = append(l.head, b[:min(len(b), headBytes-len(l.head))]...)
	}
	l.offset += int64(len(b))
	l.partial = b[len(b)-1] != '\n'
	l.gone = time.Time{}
}

// turn goes to where the log goes on, once the path names another file or the
// file was cut. It is asked only at the end of the open file.
func (l *Follower) turn() error {
	here, err := l.f.Stat()
	if err != nil {
		return err
	}
	if here.Size() < l.offset {
		return l.rewind()
	}
	there, err := os.Stat(l.path)
	if err == nil && os.SameFile(here, there) {
		l.tell("")
		return nil
	}
	if l.gone.IsZero() {
		l.gone = time.Now()
	}
	absent := time.Since(l.gone)
	if absent > giveUp {
		l.tell(l.path + " is gone: renamed or removed, and no new one has come")
	}
	switch {
	case absent < l.grace || errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil:
		if err = l.reopen(); err == nil {
			return nil
		}
	}
	if absent < giveUp { // rotation tools create first and grant rights after
		return nil
	}
	return err
}

func (l *Follower) rewind() error {
	l.offset, l.head, l.anew = 0, l.head[:0], true
	_, err := l.f.Seek(0, io.SeekStart)
	return err
}

func (l *Follower) reopen() error {
	f, err := os.Open(l.path)
	if err != nil {
		return err
	}
	if err := l.use(f); err != nil {
		return err
	}
	l.tell("")
	l.offset, l.head, l.anew, l.gone = 0, l.head[:0], true, time.Time{}
	return nil
}

// sameHead tells whether the file still starts as it did.
func (l *Follower) sameHead() bool {
	b := make([]byte, len(l.head))
	n, _ := l.f.ReadAt(b, 0) // fewer bytes mean a cut file: its size tells
	return bytes.Equal(b[:n], l.head[:n])
}
