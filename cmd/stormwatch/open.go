package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stormwatch/capture"
	"stormwatch/capture/accesslog"
	"stormwatch/capture/loadtest"
	"stormwatch/capture/packet"
	"stormwatch/capture/prometheus"
	"stormwatch/detect"
)

// content is an input whose first bytes have been read.
type content struct {
	io.ReadCloser
	head    *bufio.Reader
	first   []byte
	size    int64 // 0 unknown
	regular bool
	packed  bool     // it is compressed, which head undoes
	read    *meter   // of a file's bytes; nil otherwise
	end     *os.File // whose end may be looked at; nil none
}

// open finds out by content what a source is. With follow, a log, a stream or a
// capture that is being written is read as it grows.
func (f *flags) open(ctx context.Context, st *streams, t *target, follow bool) (input, error) {
	name, path := t.called(), t.last()
	if strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://") {
		src, err := prometheus.OpenAPI(path, prometheus.APIOptions{})
		return input{Source: src}, err
	}
	if follow && awaited(path) {
		return f.await(ctx, st, t)
	}
	in, err := lookAt(ctx, st, t.paths)
	if err != nil {
		return input{}, err
	}
	var again func() (input, error)
	if in.regular && !follow {
		again = func() (input, error) { return f.open(ctx, st, t, false) }
	}
	live := follow && !(in.regular && in.packed) // what is compressed as a file does not grow
	switch {
	case packet.Detect(in.first):
		o := packet.Options{Live: live && !in.regular, Size: in.size, Secrets: f.secrets, Client: f.who.Field(), Vantage: t.vantage("capture")}
		if live && in.regular && growing(ctx, path) {
			o.Live, o.Size = true, 0
			err = in.again(func() (io.ReadCloser, error) { return packet.Follow(ctx, path) })
		}
		if err != nil {
			return input{}, err
		}
		piece := ""
		if in.regular && !o.Live && (t.name == "" || t.folder != "") {
			piece = path
		}
		src, err := packet.Open(name, in.head, o)
		return opened(src, in, err, input{piece: piece, again: again})
	case prometheus.DetectRange(in.first):
		src, err := prometheus.OpenRange(name, in.head)
		return opened(src, in, err, input{again: again})
	case !st.logs.named() && loadtest.Detect(in.first):
		src, err := loadtest.Open(name, in.head, loadtest.Options{Size: in.size, Secrets: f.secrets, Vantage: t.vantage("load test")})
		return opened(src, in, err, input{again: again})
	case st.logs.named() || in.isLog():
		o, err := f.logOptions(st, t, in)
		if err != nil {
			return input{}, errors.Join(err, in.Close())
		}
		if o.Live = live; live && in.regular {
			return f.follow(ctx, t, in, o)
		}
		src, err := accesslog.Open(name, in.head, o)
		return opened(src, in, err, input{again: again})
	}
	return input{}, errors.Join(unknown(path, in.first), in.Close())
}

// logOptions are those of a log.
func (f *flags) logOptions(st *streams, t *target, in *content) (o accesslog.Options, err error) {
	if o, err = st.logs.options(t.called()); err != nil {
		return o, err
	}
	o.Secrets, o.Client, o.Vantage = f.secrets, f.who.Field(), t.vantage("log")
	if in != nil {
		o.Size = in.size
		in.ends(&o)
	}
	return o, nil
}

// follow follows a log from its start.
func (f *flags) follow(ctx context.Context, t *target, in *content, o accesslog.Options) (input, error) {
	then, err := accesslog.Follow(ctx, t.last())
	if err == nil {
		err = in.again(func() (io.ReadCloser, error) { return f.followed(ctx, t, then) })
	}
	if err != nil {
		return input{}, err
	}
	src, err := accesslog.Open(t.called(), in.head, o)
	if err != nil {
		return input{}, errors.Join(err, in.Close())
	}
	return input{Source: &attended{Source: src, of: then}, close: in.Close}, nil
}

// followed is what a log is read from that is followed: it, after those of its rotated files that are wanted: the
// ones named with it, or with --since those of its folder that were written to
// since.
func (f *flags) followed(ctx context.Context, t *target, then io.ReadCloser) (io.ReadCloser, error) {
	before := t.paths[:len(t.paths)-1]
	if len(before) == 0 && f.since != "" {
		before = f.rotated(t.last())
	}
	if len(before) == 0 {
		return then, nil
	}
	s, err := newSet(ctx, before, then)
	if err != nil {
		return nil, errors.Join(err, then.Close())
	}
	return s, nil
}

// rotated are the files into which a log was rotated, as far as they were written
// to since --since.
func (f *flags) rotated(path string) (before []string) {
	since := lived(detect.Options{Since: f.from}).Since.At
	for _, p := range accesslog.Rotated(path) {
		if info, err := os.Stat(p); err == nil && info.ModTime().UnixNano() >= since {
			before = append(before, p)
		}
	}
	return before
}

// lookAt opens a file, or the files of a set.
func lookAt(ctx context.Context, st *streams, paths []string) (*content, error) {
	if len(paths) == 1 {
		return look(ctx, st, paths[0])
	}
	s, err := newSet(ctx, paths, nil)
	if err != nil {
		return nil, err
	}
	c := &content{ReadCloser: s, regular: true, end: s.files[len(s.files)-1]}
	for _, file := range s.files {
		if info, err := file.Stat(); err == nil {
			c.size += info.Size()
		}
	}
	c.head = bufio.NewReaderSize(s, peekBytes)
	if c.first, err = peek(c.head, true); err == nil && len(c.first) == 0 {
		err = errEmpty
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", paths[0], err), s.Close())
	}
	return c, nil
}

var errEmpty = errors.New("the input is empty: is the capture or the log being written?")

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
	} else {
		c.read = &meter{in: f, total: size}
		in = c.read
		if file, ok := f.(*os.File); ok {
			c.end = file
		}
	}
	if c.head, c.first, c.packed, err = unpack(ctx, in, regular); c.packed {
		c.size, c.end = 0, nil // how much is inside is not known
	}
	switch {
	case ctx.Err() != nil:
		err = errors.New("stopped before it was known what comes")
	case err == nil && len(c.first) == 0:
		err = errEmpty
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return c, nil
}

// maxPacked bounds compression within compression, which rotation and collectors
// bring about.
const maxPacked = 3

// unpack undoes what compression an input comes in, and reads its first bytes.
func unpack(ctx context.Context, in io.Reader, regular bool) (head *bufio.Reader, first []byte, packed bool, err error) {
	for n := 0; ; n++ {
		head = bufio.NewReaderSize(in, peekBytes)
		first, err = peek(head, regular)
		kind := capture.Compression(first)
		switch {
		case err != nil || kind == "":
			return head, first, n > 0, err
		case n == maxPacked:
			return head, first, true, fmt.Errorf("it is compressed more than %d times over: undo that first", maxPacked)
		}
		in = stoppable(ctx, capture.Decompress(kind, head))
	}
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

func opened[S capture.Source](src S, c io.Closer, err error, as input) (input, error) {
	if err != nil {
		return input{}, errors.Join(err, c.Close())
	}
	as.Source, as.close = src, c.Close
	if k, ok := c.(*content); ok {
		as.read = k.read
	}
	return as, nil
}

// isLog looks at the end of a file as well, where its start does not tell: a long
// line or another program's lines may stand there.
func (c *content) isLog() bool {
	if accesslog.Detect(c.first) || compressed(c.first) {
		return true
	}
	tail := c.tail()
	return len(tail) > 0 && c.size > int64(len(c.first)) && accesslog.Sniff(c.first, tail).Sure()
}

// ends sets what a log's file tells beside its bytes: its last ones, and when it
// was last written to.
func (c *content) ends(o *accesslog.Options) {
	o.Until = time.Now()
	if c.end == nil {
		return
	}
	if info, err := c.end.Stat(); err == nil {
		o.Until = info.ModTime()
	}
	o.Tail = c.tail()
}

// tailBytes of a file help to find out its format.
const tailBytes = 64 << 10

func (c *content) tail() []byte {
	if c.end == nil {
		return nil
	}
	info, err := c.end.Stat()
	if err != nil {
		return nil
	}
	from := max(0, info.Size()-tailBytes)
	tail := make([]byte, info.Size()-from)
	n, err := c.end.ReadAt(tail, from)
	if err != nil && !errors.Is(err, io.EOF) || capture.Compression(tail) != "" {
		return nil
	}
	return tail[:n]
}

func reader(ctx context.Context, st *streams, path string) (f io.ReadCloser, size int64, regular bool, err error) {
	if path == "-" {
		return io.NopCloser(st.in), 0, false, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, false, fmt.Errorf("%w: name a file, a folder, -, or an address", err)
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

// awaited tells whether a log that is to be followed is empty or not there yet,
// though its folder is. A bare word may be a verb that was mistyped.
func awaited(path string) bool {
	if path == "-" || !strings.ContainsAny(path, `./\`) || strings.Contains(filepath.Ext(path), "cap") {
		return false
	}
	switch info, err := os.Stat(path); {
	case err == nil:
		return info.Mode().IsRegular() && info.Size() == 0
	case !errors.Is(err, fs.ErrNotExist):
		return false
	}
	info, err := os.Stat(filepath.Dir(path))
	return err == nil && info.IsDir()
}

// await follows a log that is not there yet. It is taken for a log: what else it
// may become cannot be known.
func (f *flags) await(ctx context.Context, st *streams, t *target) (input, error) {
	o, err := f.logOptions(st, t, nil)
	if err != nil {
		return input{}, err
	}
	o.Live, o.Until = true, time.Now()
	r := accesslog.Await(ctx, t.last())
	src, err := accesslog.Open(t.called(), r, o)
	if err != nil {
		return input{}, err
	}
	return input{Source: &attended{Source: src, of: r}, close: r.Close}, nil
}
