package packet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// errAnew is what a followed file returns once where another capture begins.
var errAnew = errors.New("the capture begins anew")

const (
	pollEvery   = 250 * time.Millisecond // network file systems send no events
	rotateGrace = time.Second            // a program that rotates may still write to the old file
	knownBytes  = 64                     // the header and the first record tell a capture from another
)

// Follow opens a capture file that is still being written, to be read with
// Options.Live: first what is there, then what is added. Read waits for more
// bytes and returns io.EOF once ctx has ended. Where the file is written anew, or
// another one takes its name, the new capture is read from its start. Close the
// result after use.
func Follow(ctx context.Context, path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("following a capture: %w", err)
	}
	return &follower{ctx: ctx, path: path, f: f, every: pollEvery, grace: rotateGrace}, nil
}

type follower struct {
	ctx    context.Context
	path   string
	f      *os.File
	offset int64
	head   []byte    // first bytes of the file, to know it again
	gone   time.Time // since when the path has named another file
	every  time.Duration
	grace  time.Duration
}

// Read implements io.Reader.
func (l *follower) Read(b []byte) (int, error) {
	for {
		if l.ctx.Err() != nil {
			return 0, io.EOF
		}
		n, err := l.f.Read(b)
		if n > 0 {
			if len(l.head) < knownBytes {
				l.head = append(l.head, b[:min(n, knownBytes-len(l.head))]...)
			}
			l.offset += int64(n)
			return n, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("following %s: %w", l.path, err)
		}
		select {
		case <-l.ctx.Done():
			return 0, io.EOF
		case <-time.After(l.every):
		}
		switch anew, err := l.turn(); {
		case err != nil:
			return 0, fmt.Errorf("following %s: %w", l.path, err)
		case anew:
			return 0, errAnew
		}
	}
}

// Close implements io.Closer.
func (l *follower) Close() error { return l.f.Close() }

// turn goes to where another capture begins, if one does. It is asked at the end
// of the file, before a byte is read that may be from the middle of a new one.
func (l *follower) turn() (anew bool, err error) {
	here, err := l.f.Stat()
	if err != nil {
		return false, err
	}
	if here.Size() < l.offset || !l.sameHead() {
		l.offset, l.head = 0, l.head[:0]
		_, err := l.f.Seek(0, io.SeekStart)
		return true, err
	}
	there, err := os.Stat(l.path)
	if err != nil || os.SameFile(here, there) || there.Size() < headBytes {
		l.gone = time.Time{} // away for now, or not begun
		return false, nil
	}
	if l.gone.IsZero() {
		l.gone = time.Now()
	}
	if time.Since(l.gone) < l.grace {
		return false, nil
	}
	f, err := os.Open(l.path)
	if err != nil {
		return false, err
	}
	_ = l.f.Close() // it was only read from
	l.f, l.offset, l.head, l.gone = f, 0, l.head[:0], time.Time{}
	return true, nil
}

// sameHead tells whether the file still starts as it did.
func (l *follower) sameHead() bool {
	b := make([]byte, len(l.head))
	n, _ := l.f.ReadAt(b, 0) // fewer bytes mean a cut file: its size tells
	return bytes.Equal(b[:n], l.head[:n])
}
