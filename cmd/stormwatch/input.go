package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"stormwatch/capture"
	"stormwatch/capture/accesslog"
	"stormwatch/capture/loadtest"
	"stormwatch/capture/packet"
	"stormwatch/capture/prometheus"
	"stormwatch/capture/witness"
	"stormwatch/detect"
)

// input is an opened source.
type input struct {
	capture.Source
	close func() error
}

// openAll opens every source named, or none.
func (f *flags) openAll(ctx context.Context, st *streams, args []string, follow bool) (ins []input, err error) {
	defer func() {
		if err != nil {
			closeAll(ins)
		}
	}()
	if args, err = expand(args); err != nil {
		return nil, err
	}
	trusted, err := st.logs.trusted()
	if err != nil {
		return nil, err
	}
	for _, arg := range args {
		src, done, err := f.open(ctx, st, arg, follow)
		if err != nil {
			return ins, err
		}
		o := witness.Options{Who: f.who}
		if src.Info().Kind == "capture" { // logs see to it line by line
			o.Trusted = trusted
		}
		ins = append(ins, input{witness.New(src, o), done})
	}
	return ins, nil
}

// openChecked opens every source named, and fails where a flag names one that is
// not among them.
func (f *flags) openChecked(ctx context.Context, st *streams, args []string, follow bool) ([]input, error) {
	ins, err := f.openAll(ctx, st, args, follow)
	if err != nil {
		return nil, err
	}
	if !f.who.ByAddress() && !slices.ContainsFunc(ins, func(in input) bool { return in.Info().Kind != "prometheus" }) {
		closeAll(ins)
		return nil, usage{fmt.Errorf("--client-by %s: counts do not tell clients apart; add a log or a capture of the same time", f.clientBy)}
	}
	for _, c := range f.clock {
		name, _, _ := strings.Cut(c, "=")
		if !slices.ContainsFunc(ins, func(in input) bool { return in.Info().Name == name }) {
			closeAll(ins)
			return nil, usage{fmt.Errorf("--clock %s: no source has this name; a file is named by what follows its last slash, or NAME=FILE", c)}
		}
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

// content is an input whose first bytes have been read.
type content struct {
	io.ReadCloser
	head    *bufio.Reader
	first   []byte
	size    int64 // 0 unknown
	regular bool
	packed  bool // it is compressed, which head undoes
}

// open finds out by content what a source is. With follow, a log, a stream or a
// capture that is being written is read as it grows.
func (f *flags) open(ctx context.Context, st *streams, arg string, follow bool) (src capture.Source, done func() error, err error) {
	name, path := split(arg)
	if strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://") {
		src, err := prometheus.OpenAPI(path, prometheus.APIOptions{})
		return src, nil, err
	}
	if name == "" {
		name = filepath.Base(path)
		if path == "-" {
			name = "stdin"
		}
	}
	in, err := look(ctx, st, path)
	if err != nil {
		return nil, nil, err
	}
	live := follow && !(in.regular && in.packed) // what is compressed as a file does not grow
	switch {
	case packet.Detect(in.first):
		o := packet.Options{Live: live && !in.regular, Size: in.size, Secrets: f.secrets, Client: f.who.Field(), Vantage: vantage(arg, "capture")}
		if live && in.regular && growing(ctx, path) {
			o.Live, o.Size = true, 0
			err = in.again(func() (io.ReadCloser, error) { return packet.Follow(ctx, path) })
		}
		if err != nil {
			return nil, nil, err
		}
		src, err := packet.Open(name, in.head, o)
		return opened(src, in, err)
	case prometheus.DetectRange(in.first):
		src, err := prometheus.OpenRange(name, in.head)
		return opened(src, in, err)
	case !st.logs.named() && loadtest.Detect(in.first):
		src, err := loadtest.Open(name, in.head, loadtest.Options{Size: in.size, Secrets: f.secrets, Vantage: vantage(arg, "load test")})
		return opened(src, in, err)
	case st.logs.named() || accesslog.Detect(in.first), compressed(in.first), isLog(in.ReadCloser, in.size, in.first):
		o, err := st.logs.options(name)
		if err != nil {
			return nil, nil, errors.Join(err, in.Close())
		}
		o.Live, o.Size, o.Secrets, o.Client, o.Vantage = live, in.size, f.secrets, f.who.Field(), vantage(arg, "log")
		ends(&o, in.ReadCloser, in.size)
		if live && in.regular {
			err = in.again(func() (io.ReadCloser, error) { return accesslog.Follow(ctx, path) })
		}
		if err != nil {
			return nil, nil, err
		}
		src, err := accesslog.Open(name, in.head, o)
		return opened(src, in, err)
	}
	return nil, nil, errors.Join(unknown(path, in.first), in.Close())
}

// look opens an input and reads its first bytes. Compression is undone.
func look(ctx context.Context, st *streams, path string) (*content, error) {
	f, size, regular, err := reader(ctx, st, path)
	if err != nil {
		return nil, err
	}
	c := &content{ReadCloser: f, size: size, regular: regular}
	var in io.Reader = f
	if !regular {
		in = stoppable(ctx, f)
	}
	c.head = bufio.NewReaderSize(in, peekBytes)
	c.first, err = peek(c.head, regular)
	if kind := capture.Compression(c.first); err == nil && kind != "" {
		c.packed, c.size = true, 0 // how much is inside is not known
		c.head = bufio.NewReaderSize(stoppable(ctx, capture.Decompress(kind, c.head)), peekBytes)
		c.first, err = peek(c.head, regular)
	}
	switch {
	case ctx.Err() != nil:
		err = errors.New("stopped before it was known what comes")
	case err == nil && len(c.first) == 0:
		err = errors.New("the input is empty: is the capture or the log being written?")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return c, nil
}

// again opens a file anew, to be followed from its start.
func (c *content) again(follow func() (io.ReadCloser, error)) (err error) {
	if err = c.Close(); err != nil {
		return err
	}
	if c.ReadCloser, err = follow(); err != nil {
		return err
	}
	c.head = bufio.NewReaderSize(c.ReadCloser, peekBytes)
	return nil
}

func opened[S capture.Source](src S, c io.Closer, err error) (capture.Source, func() error, error) {
	if err != nil {
		return nil, nil, errors.Join(err, c.Close())
	}
	return src, c.Close, nil
}

// split takes NAME=SOURCE apart. A file of that whole name is meant where there
// is one.
func split(arg string) (name, path string) {
	if _, err := os.Lstat(arg); err == nil {
		return "", arg
	}
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

func reader(ctx context.Context, st *streams, path string) (f io.ReadCloser, size int64, regular bool, err error) {
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
	file, err := openFile(ctx, path)
	if err != nil {
		return nil, 0, false, err
	}
	if !info.Mode().IsRegular() {
		return file, 0, false, nil
	}
	return file, info.Size(), true, nil
}

// openFile opens a file unless ctx ends first: a FIFO opens only once somebody
// writes to it, and until then a goroutine waits.
func openFile(ctx context.Context, path string) (*os.File, error) {
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.Open(path)
		done <- opened{f, err}
	}()
	select {
	case o := <-done:
		return o.f, o.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: stopped before it could be opened (a FIFO waits until somebody writes to it)", path)
	}
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

// unnamed is the error of inputs that cannot tell who the clients are.
func unnamed(ins []input) error {
	var sources []*witness.Source
	for _, in := range ins {
		if w, ok := in.Source.(*witness.Source); ok {
			sources = append(sources, w)
		}
	}
	return witness.None(sources)
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
	if err := unnamed(ins); err != nil {
		return err
	}
	debug.FreeOSMemory() // what reading needed is free: judging shall not be added to it
	return rec.Seal()
}
