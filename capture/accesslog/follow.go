package accesslog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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
func Follow(ctx context.Context, path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("following a log: %w", err)
	}
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		return f, nil
	}
	return &follower{ctx: ctx, path: path, f: f, every: pollEvery, grace: rotateGrace}, nil
}

const (
	pollEvery   = 250 * time.Millisecond // network file systems and bind mounts send no events
	rotateGrace = time.Second            // servers write to the renamed file until they reopen
	giveUp      = 10 * time.Second       // with a new file that cannot be opened
	headBytes   = 256
)

type follower struct {
	ctx     context.Context
	path    string
	f       *os.File
	offset  int64
	head    []byte    // first bytes of the file, to know it again
	partial bool      // the last byte given was inside a line
	anew    bool      // the next byte is the first of a file
	gone    time.Time // since when the path has named another file, or none
	every   time.Duration
	grace   time.Duration
}

// Read implements io.Reader.
func (l *follower) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		if l.ctx.Err() != nil {
			return 0, io.EOF
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
func (l *follower) wait() error {
	select {
	case <-l.ctx.Done():
		return nil
	case <-time.After(l.every):
	}
	if l.sameHead() {
		return nil
	}
	return l.rewind()
}

// Close implements io.Closer.
func (l *follower) Close() error { return l.f.Close() }

func (l *follower) given(b []byte) {
	if l.offset < headBytes {
		l.head = append(l.head, b[:min(len(b), headBytes-len(l.head))]...)
	}
	l.offset += int64(len(b))
	l.partial = b[len(b)-1] != '\n'
	l.gone = time.Time{}
}

// turn goes to where the log goes on, once the path names another file or the
// file was cut. It is asked only at the end of the open file.
func (l *follower) turn() error {
	here, err := l.f.Stat()
	if err != nil {
		return err
	}
	if here.Size() < l.offset {
		return l.rewind()
	}
	there, err := os.Stat(l.path)
	if err == nil && os.SameFile(here, there) {
		return nil
	}
	if l.gone.IsZero() {
		l.gone = time.Now()
	}
	absent := time.Since(l.gone)
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

func (l *follower) rewind() error {
	l.offset, l.head, l.anew = 0, l.head[:0], true
	_, err := l.f.Seek(0, io.SeekStart)
	return err
}

func (l *follower) reopen() error {
	f, err := os.Open(l.path)
	if err != nil {
		return err
	}
	_ = l.f.Close() // it was only read from
	l.f, l.offset, l.head, l.anew, l.gone = f, 0, l.head[:0], true, time.Time{}
	return nil
}

// sameHead tells whether the file still starts as it did.
func (l *follower) sameHead() bool {
	b := make([]byte, len(l.head))
	n, _ := l.f.ReadAt(b, 0) // fewer bytes mean a cut file: its size tells
	return bytes.Equal(b[:n], l.head[:n])
}
