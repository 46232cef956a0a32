package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"stormwatch/capture"
	"stormwatch/capture/accesslog"
	"stormwatch/capture/loadtest"
	"stormwatch/capture/packet"
	"stormwatch/capture/prometheus"
	"stormwatch/detect"
)

// input is an opened source.
type input struct {
	capture.Source
	close func() error
}

// openAll opens every source named, or none.
func openAll(ctx context.Context, st *streams, args []string, follow bool) (ins []input, err error) {
	defer func() {
		if err != nil {
			closeAll(ins)
		}
	}()
	if args, err = expand(args); err != nil {
		return nil, err
	}
	secrets := capture.NewSecrets() // one for all: a credential is the same in every source
	for _, arg := range args {
		in, err := open(ctx, st, arg, follow, secrets)
		if err != nil {
			return ins, err
		}
		ins = append(ins, in)
	}
	return ins, nil
}

func closeAll(ins []input) {
	for _, in := range ins {
		if in.close != nil {
			_ = in.close() // opened for reading: nothing is lost
		}
	}
}

// open finds out by content what a source is. With follow, a log or a stream is
// read as it grows.
func open(ctx context.Context, st *streams, arg string, follow bool, secrets capture.Secrets) (input, error) {
	name, path := split(arg)
	if strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://") {
		src, err := prometheus.OpenAPI(path, prometheus.APIOptions{})
		return input{Source: src}, err
	}
	f, size, regular, err := reader(st, path)
	if err != nil {
		return input{}, err
	}
	if name == "" {
		name = filepath.Base(path)
		if path == "-" {
			name = "stdin"
		}
	}
	var in io.Reader = f
	if !regular {
		in = stoppable(ctx, f)
	}
	head := bufio.NewReaderSize(in, peekBytes)
	first, err := peek(head, regular)
	switch {
	case ctx.Err() != nil:
		return input{}, errors.Join(fmt.Errorf("%s: stopped before it was known what comes", path), f.Close())
	case err != nil:
		return input{}, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	case len(first) == 0:
		return input{}, errors.Join(fmt.Errorf("%s: the input is empty: is the capture or the log being written?", path), f.Close())
	case packet.Detect(first):
		live := follow && !regular
		src, err := packet.Open(name, head, packet.Options{Live: live, Size: size, Secrets: secrets, Vantage: vantage(arg, "capture")})
		return opened(src, f, err)
	case prometheus.DetectRange(first):
		src, err := prometheus.OpenRange(name, head)
		return opened(src, f, err)
	case !st.logs.named() && loadtest.Detect(first):
		src, err := loadtest.Open(name, head, loadtest.Options{Size: size, Secrets: secrets, Vantage: vantage(arg, "load test")})
		return opened(src, f, err)
	case st.logs.named() || accesslog.Detect(first), compressed(first), isLog(f, size, first):
		o, err := st.logs.options(name)
		if err != nil {
			return input{}, errors.Join(err, f.Close())
		}
		o.Live, o.Size, o.Secrets, o.Vantage = follow, size, secrets, vantage(arg, "log")
		ends(&o, f, size)
		if follow && regular {
			if err := f.Close(); err != nil {
				return input{}, err
			}
			if f, err = accesslog.Follow(ctx, path); err != nil {
				return input{}, err
			}
			src, err := accesslog.Open(name, f, o)
			return opened(src, f, err)
		}
		src, err := accesslog.Open(name, head, o)
		return opened(src, f, err)
	}
	return input{}, errors.Join(unknown(path, first), f.Close())
}

func opened[S capture.Source](src S, c io.Closer, err error) (input, error) {
	if err != nil {
		return input{}, errors.Join(err, c.Close())
	}
	return input{Source: src, close: c.Close}, nil
}

// split takes NAME=SOURCE apart.
func split(arg string) (name, path string) {
	if i := strings.IndexByte(arg, '='); i > 0 && !strings.ContainsAny(arg[:i], "/\\:.") {
		return arg[:i], arg[i+1:]
	}
	return "", arg
}

// vantage is the name a source was given, or its kind: unnamed sources of one
// kind are taken for one hop.
func vantage(arg, kind string) string {
	if name, _ := split(arg); name != "" {
		return name
	}
	return kind
}

func reader(st *streams, path string) (f io.ReadCloser, size int64, regular bool, err error) {
	if path == "-" {
		return io.NopCloser(st.in), 0, false, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, false, fmt.Errorf("%w: name a file, -, or an address", err)
	}
	if info.IsDir() {
		return nil, 0, false, fmt.Errorf("%s is a folder: name the files in it", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, false, err
	}
	if !info.Mode().IsRegular() {
		return file, 0, false, nil
	}
	return file, info.Size(), true, nil
}

// replay reads recorded sources once, never to go back, and hands f the replay of
// them.
func replay(ctx context.Context, ins []input, o detect.Options, f func(*detect.Replay) error) error {
	o.MaxCheckpoints = -1
	rec := detect.NewRecording(o)
	defer func() { _ = rec.Close() }() // temporary files: nothing is lost
	if err := record(ctx, ins, rec); err != nil {
		return err
	}
	p, err := detect.NewReplay(rec)
	if err != nil {
		return err
	}
	return f(p)
}

// record reads recorded sources to their end, all at once. Failed sources are
// told; what they gave until then is kept when any of it could be used.
func record(ctx context.Context, ins []input, rec *detect.Recording) error {
	errs := make(chan error, len(ins))
	for _, in := range ins {
		inlet := rec.Inlet(in.Info())
		go func() { errs <- in.Run(ctx, inlet.Take) }()
	}
	var failed error
	for range ins {
		failed = errors.Join(failed, <-errs)
	}
	if failed != nil {
		return failed
	}
	return rec.Seal()
}
