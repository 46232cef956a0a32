package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"stormwatch/capture"
)

// set reads the files of a rotated log as one, the oldest first, and then what
// follows them, if anything does. A file that does not end in a newline is taken
// to end there all the same.
type set struct {
	ctx   context.Context
	files []*os.File // those still to come
	paths []string   // of files
	all   []*os.File // for Close, which may come while another goroutine reads
	then  io.ReadCloser
	r     io.Reader // of the first of files, without its compression
	whole bool      // the last byte given ended a line
	cut   error     // a compressed file ended early or is damaged; told at the end
}

// newSet opens the files at once, so that a rotation in between hides none. More
// than maxOpenFiles are refused.
func newSet(ctx context.Context, paths []string, then io.ReadCloser) (*set, error) {
	s := &set{ctx: ctx, paths: paths, then: then, whole: true}
	if len(paths) > maxOpenFiles {
		return nil, fmt.Errorf("%s: more than %d files of one log: name fewer", paths[0], maxOpenFiles)
	}
	for _, p := range paths {
		f, err := os.Open(p)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.files, s.all = append(s.files, f), append(s.all, f)
	}
	return s, nil
}

const maxOpenFiles = 400

// Read implements io.Reader.
func (s *set) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		n, err := 0, error(nil)
		if s.r == nil {
			if len(s.files) == 0 {
				break
			}
			s.r, _, _, err = unpack(s.ctx, s.files[0], true)
		}
		if err == nil {
			n, err = s.r.Read(b)
		}
		if n > 0 {
			s.whole = b[n-1] == '\n'
			return n, nil
		}
		switch {
		case err == nil:
			continue
		case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, capture.ErrDamaged):
			s.cut = fmt.Errorf("%s: %w", filepath.Base(s.paths[0]), err)
		case !errors.Is(err, io.EOF):
			return 0, fmt.Errorf("%s: %w", s.paths[0], err)
		}
		_ = s.files[0].Close() // it was only read
		s.files, s.paths, s.r = s.files[1:], s.paths[1:], nil
		if !s.whole {
			s.whole = true
			b[0] = '\n'
			return 1, nil
		}
	}
	if s.then != nil {
		return s.then.Read(b)
	}
	if s.cut != nil {
		return 0, s.cut
	}
	return 0, io.EOF
}

// Close implements io.Closer.
func (s *set) Close() error {
	for _, f := range s.all {
		_ = f.Close() // it was only read, and may be closed already
	}
	if s.then != nil {
		return s.then.Close()
	}
	return nil
}
