package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	"stormwatch/capture"
	"stormwatch/capture/accesslog"
	"stormwatch/capture/loadtest"
	"stormwatch/capture/packet"
	"stormwatch/capture/prometheus"
)

const (
	peekBytes = 256 << 10 // a log may begin with a line of many KiB
	peekLines = 10        // of a stream of lines that no source knows
)

// peek returns the first bytes of an input: of a file as many as fit, of a
// stream as few as tell what it is, since more may be long in coming.
func peek(r *bufio.Reader, regular bool) ([]byte, error) {
	want := peekBytes
	if !regular {
		want = 1
	}
	for {
		head, err := r.Peek(want)
		switch {
		case errors.Is(err, io.EOF), len(head) > 0 && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, capture.ErrDamaged)): // its reader says so
			return head, nil
		case err != nil:
			return nil, err
		}
		head, _ = r.Peek(max(want, r.Buffered())) // what has come cannot fail
		if len(head) == peekBytes || known(head) || bytes.Count(head, []byte("\n")) >= peekLines {
			return head, nil
		}
		want = len(head) + 1
	}
}

func known(head []byte) bool {
	return packet.Detect(head) || prometheus.DetectRange(head) || loadtest.Detect(head) || accesslog.Detect(head) || compressed(head)
}

func compressed(head []byte) bool {
	kind, _ := capture.Compressed(head)
	return kind != ""
}

// stoppable is a stream that ends with ctx, though the one behind it is silent.
// Where that never answers, a goroutine stays until the process ends.
func stoppable(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.Copy(in, r)
		in.CloseWithError(err)
	}()
	return out
}
