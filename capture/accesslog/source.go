// Package accesslog reads access logs: the combined format of nginx and Apache,
//
//	addr - user [30/Nov/2026:08:11:06 +0000] "GET / HTTP/1.1" 429 25 "referer" "agent"
//
// alone (a clock of one second), or followed by nginx's $request_time and $msec,
//
//	... "agent" 0.004 1796006466.123
//
// which gives a clock of one millisecond. The date and $msec name the end of a
// request; its start is that minus $request_time. A log shows no response
// headers: whether the server named a wait is not observable.
package accesslog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"time"

	"stormwatch/capture"
)

// Options of a Source. The zero value reads a recorded log of unknown size.
type Options struct {
	Format  *Format             // how lines are cut; nil finds it out
	Tail    []byte              // the last bytes of a recorded log, which help to find out
	Zone    *time.Location      // of times that have no zone; nil takes UTC and says so
	Until   time.Time           // dates without a year (syslog) are before it: when the log was last written to
	Sampled float64             // share of the requests that the log holds, if it is known; 0 unknown
	Trusted []netip.Prefix      // proxies whose X-Forwarded-For is believed: the client is the last address in it that is none of them
	Client  capture.ClientField // the field that names clients, if one does
	Live    bool                // more lines may come: hand over what is there, and tell watermarks
	Size    int64               // bytes of a recorded log, for Batch.Done; 0 unknown
	Vantage string              // the hop that wrote the log
	Secrets capture.Secrets     // compares user names; drawn anew if zero
}

// Source reads one access log. It implements capture.Source.
type Source struct {
	name string
	r    io.Reader
	opt  Options
	tell func(b *builder, line []byte, why fault)
}

var _ capture.Source = (*Source)(nil)

// Open returns the source of a log. It reads nothing yet.
func Open(name string, r io.Reader, opt Options) (*Source, error) {
	if r == nil {
		return nil, fmt.Errorf("log %s: nothing to read from", name)
	}
	if opt.Secrets == (capture.Secrets{}) {
		opt.Secrets = capture.NewSecrets()
	}
	return &Source{name: name, r: r, opt: opt}, nil
}

// Info describes the source.
func (s *Source) Info() capture.Info {
	return capture.Info{Name: s.name, Kind: "log", Vantage: s.opt.Vantage, Live: s.opt.Live}
}

// cutIntoLines cuts chunks into lines: at newlines, or at the objects of a
// document.
type cutIntoLines interface {
	add(data []byte) error
	end() error
}

// Run reads the log to its end, or until ctx ends, which is no error. What was
// read by then is handed over. Lines that cannot be read are counted in Health;
// only a failing input, a compressed one or the sink's error end the source.
func (s *Source) Run(ctx context.Context, sink capture.Sink) error {
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	p := newPump(stop, s.r)
	b := newBuilder(s.opt, sink)
	if s.tell != nil {
		b.r.cuts = new([]cut)
		b.tell = func(line []byte, why fault) { s.tell(b, line, why) }
	}
	var lines cutIntoLines = &splitter{each: b.line, hole: func() { b.hole(b.number + 1) }}
	first := true
	for {
		c, err := p.next(stop)
		if err != nil {
			return b.finish() // the context ended; a line cut off may still be growing
		}
		b.read += int64(len(c.data))
		if first && len(c.data) > 0 {
			if kind, program := capture.Compressed(c.data); kind != "" {
				return fmt.Errorf("log %s is compressed with %s, which is not read yet: give it through `%s %s | stormwatch report -`", s.name, kind, program, s.name)
			}
			if bytes.IndexByte(c.data, '\n') < 0 && bytes.Count(c.data, []byte("\r")) > 1 {
				return fmt.Errorf("log %s: %w: give it through `tr '\\r' '\\n' < %s | stormwatch report -`", s.name, errReturns, s.name)
			}
			if d := newDocuments(c.data, b.line); d != nil {
				lines, b.document = d, true
			}
			first = false
		}
		if err := lines.add(c.data); err != nil {
			return err
		}
		if c.err != nil {
			return s.end(b, lines, c.err)
		}
		if s.opt.Live && p.dry() {
			if err := b.flush(); err != nil {
				return err
			}
		}
	}
}

// end hands over the last line and the last batch. An input that fails midway
// keeps what was read.
func (s *Source) end(b *builder, lines cutIntoLines, cause error) error {
	if b.health.Short(cause) { // what came is whole
		cause = io.EOF
	}
	if err := lines.end(); err != nil {
		return err
	}
	if err := b.finish(); err != nil {
		return err
	}
	if errors.Is(cause, io.EOF) {
		return nil
	}
	return fmt.Errorf("log %s: reading after line %d: %w", s.name, b.number, cause)
}

var errReturns = errors.New("its lines end in carriage returns alone, which no server writes")
