package main

import (
	"context"
	"os"
	"time"
)

const (
	growthRecent = 10 * time.Second // a file untouched for longer is taken for finished
	growthLook   = time.Second      // how long a file is looked at for more bytes
	growthStep   = 100 * time.Millisecond
)

// growing tells whether a file is being written. Where the system does not tell,
// a file that was written to a moment ago is watched for a second.
func growing(ctx context.Context, path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only looked at
	if writing, known := beingWritten(f); known {
		return writing
	}
	before, err := f.Stat()
	if err != nil || time.Since(before.ModTime()) > growthRecent {
		return false
	}
	for range growthLook / growthStep {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(growthStep):
		}
		if now, err := f.Stat(); err != nil || now.Size() != before.Size() {
			return err == nil
		}
	}
	return false
}
