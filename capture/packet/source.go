// Package packet reads packet captures: pcap and pcapng files and streams. It
// takes link layers, IP and TCP off, puts byte streams together, reads HTTP/1
// and pairs requests with responses. One goroutine takes packets apart and another
// does the rest, each in the order of the packets, so that equal input gives equal
// output.
package packet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"stormwatch/capture"
)

// Options say how a capture is read.
type Options struct {
	Live    bool                // the input is still being written
	Size    int64               // bytes of the input, for progress; 0 unknown
	Secrets capture.Secrets     // compares credentials; drawn anew when zero
	Client  capture.ClientField // the header that names clients, if one does
	Vantage string              // the hop that saw the traffic
}

// Source is a packet capture. It implements capture.Source.
type Source struct {
	name string
	opt  Options

	intake   intake
	progress float64 // share of the input that has been dealt with
	table    *table
	out      *output
	clock    clock
}

// Open reads the head of a recorded capture; that of a live one is read by Run,
// since it may come late. It fails when the input is no capture, is empty, or
// has a link layer that is not read.
func Open(name string, r io.Reader, opt Options) (*Source, error) {
	s := newSource(name, r, opt)
	if opt.Live {
		return s, nil
	}
	return s, s.intake.begin()
}

func newSource(name string, r io.Reader, opt Options) *Source {
	if opt.Secrets == (capture.Secrets{}) {
		opt.Secrets = capture.NewSecrets()
	}
	return &Source{name: name, opt: opt, intake: intake{name: name, in: r, size: opt.Size, secret: newSecret(), parcel: &parcel{}}}
}

// Info describes the source.
func (s *Source) Info() capture.Info {
	return capture.Info{Name: s.name, Kind: "capture", Vantage: s.opt.Vantage, Live: s.opt.Live}
}

// Run reads the capture to its end, or until ctx ends, and hands over batches
// of at most 512 exchanges, in the order in which they were finished. A capture
// cut off or damaged is read as far as it goes, which Health tells; errors are
// those of the input and the sink. It can run once.
func (s *Source) Run(ctx context.Context, sink capture.Sink) error {
	if s.table != nil {
		return fmt.Errorf("%s: the capture has been read already", s.name)
	}
	s.out = newOutput(s.opt, sink)
	s.table = newTable(s.out, s.intake.secret)
	s.out.table = s.table
	s.out.done = s.done
	s.joined()
	if s.opt.Live {
		stop, cancel := context.WithCancel(ctx)
		defer cancel()
		p := newPump(stop, s.intake.in)
		p.idle = s.idle
		s.intake.in = p
		if err := s.intake.begin(); err != nil {
			if ctx.Err() != nil {
				return s.finish()
			}
			return err
		}
	}
	err := s.packets(ctx)
	if s.out.err != nil {
		return fmt.Errorf("%s: %w", s.name, s.out.err)
	}
	return errors.Join(s.ended(err, ctx), s.finish())
}

// flushEvery is how many packets pass between two signs of progress.
const flushEvery = 1 << 14

// packets reads the input to its end. One recorded file is read by a goroutine of
// its own; what is live, or comes from several files, by this one.
func (s *Source) packets(ctx context.Context) error {
	if s.opt.Live || s.intake.parts != nil {
		s.intake.pass = func(p *parcel) (*parcel, error) { return p, s.parcel(ctx, p) }
		err := s.intake.run()
		if s.out.err == nil {
			s.drain()
		}
		return err
	}
	return s.relay(ctx)
}

// drain deals with what the intake has taken apart so far.
func (s *Source) drain() {
	s.intake.account()
	_ = s.parcel(context.Background(), s.intake.parcel) // errors of the sink are kept
}

// parcel deals with the packets of a parcel, and empties it.
func (s *Source) parcel(ctx context.Context, p *parcel) error {
	s.progress = p.done
	for i := range p.packets {
		if i%ahead == 0 {
			s.table.warm(p.packets[i:])
		}
		if d := &p.packets[i]; d.then != nil {
			d.then(s)
		} else {
			s.packet(d)
		}
		if s.out.err != nil {
			return s.out.err
		}
	}
	s.out.health.Dropped = p.dropped
	p.empty()
	return ctx.Err()
}

// packet reads one packet, and counts it as used or as passed over.
func (s *Source) packet(d *decoded) {
	h := &s.out.health
	h.Read = d.n
	s.clock.see(d.t, s.out.newest, h)
	s.out.newest = max(s.out.newest, d.t)
	s.table.advance(s.out.newest)
	s.out.announce(s.out.newest)
	reason := d.reason
	if reason == "" {
		s.table.reason = ""
		s.table.take(d)
		reason = s.table.reason
	}
	s.count(reason, d)
	if h.Read%flushEvery == 0 {
		s.out.flush(false)
	}
}

// count says what became of a packet, and of those that waited for it.
func (s *Source) count(reason string, d *decoded) {
	h := &s.out.health
	n := 1 + uint64(d.joined)
	switch reason {
	case "":
		h.Used += n
	case packetCopy:
		h.Copies += n
	case packetHeld:
	default:
		if reason == skipQUIC {
			h.QUIC += n
		}
		for range n {
			s.skip(reason, d.link, h.Read)
		}
	}
}

// skip counts packet n as passed over; the first few are named.
func (s *Source) skip(reason string, link uint32, n uint64) {
	h := &s.out.health
	example := ""
	if len(h.Skipped) == 0 || !s.exemplified(reason) {
		example = fmt.Sprintf("frame %d", n)
		if reason == skipLink {
			example = fmt.Sprintf("frame %d: %v", n, linkError(link))
		}
	}
	h.Skip(reason, example)
}

const enoughExamples = 3

func (s *Source) exemplified(reason string) bool {
	for i := range s.out.health.Skipped {
		if k := &s.out.health.Skipped[i]; k.Reason == reason {
			return len(k.Examples) >= enoughExamples
		}
	}
	return false
}

// idle is called by a live input that has nothing to read. What has been found
// is handed over, and after a second of silence the clock goes on.
func (s *Source) idle(silent time.Duration) error {
	in := &s.intake
	if in.doubt.n > 0 { // nobody is there to disagree
		in.resolve(in.believed())
	}
	if in.file == nil {
		return s.out.err
	}
	s.drain()
	if s.out.newest == 0 {
		return s.out.err
	}
	const slack = time.Second // what the capturing program may hold back
	if silent > slack {
		s.table.advance(s.idleTime(silent - slack))
		s.out.newest, in.newest = s.table.now, s.table.now
		s.out.announce(s.out.newest)
	}
	if silent > 0 || len(s.out.batch.Exchanges) > 0 {
		s.out.flush(false)
	}
	return s.out.err
}

func (s *Source) idleTime(silent time.Duration) int64 {
	return s.clock.newest + int64(silent)
}

// ended turns the end of the input into what the user should know.
func (s *Source) ended(err error, ctx context.Context) error {
	h := &s.out.health
	var broken damageError
	switch {
	case err == io.EOF:
		return nil
	case err == errCut:
		h.Truncated = true
		h.Short(s.intake.file.short)
		return nil
	case h.Short(err):
		return nil
	case errors.As(err, &broken):
		h.Truncated = true
		h.Skip("damaged record", fmt.Sprintf("frame %d: %v", h.Read+1, err))
		if !s.opt.Live {
			h.Unread = s.intake.file.unread()
		}
		return nil
	case ctx.Err() != nil:
		return nil
	}
	h.Truncated = true
	return fmt.Errorf("%s: after frame %d: %w", s.name, h.Read, err)
}

// finish ends all connections and hands over the last batch.
func (s *Source) finish() error {
	s.intake.finish()
	if s.intake.file != nil {
		s.drain()
	}
	s.table.finish(endInput)
	h := &s.out.health
	if f := s.intake.file; f != nil {
		h.Resolution = s.clock.resolution(f.unit)
		s.concatenated()
	}
	s.out.flush(true)
	if s.out.err != nil {
		return fmt.Errorf("%s: %w", s.name, s.out.err)
	}
	return nil
}

// run begins a further capture of the same input, with a packet of time t. One that
// was made after the last goes on with its connections; an earlier one has others.
func (s *Source) run(t int64) {
	if t < s.out.newest-backStep {
		s.table.finish(endInput)
		s.table = newTable(s.out, s.intake.secret)
		s.out.table = s.table
	}
}

// concatenated tells of inputs that hold more than one capture.
func (s *Source) concatenated() {
	more := s.intake.file.more
	if s.intake.parts != nil {
		more = 0
		for _, p := range s.intake.parts {
			more += p.file.more
		}
	}
	if more > 0 {
		s.out.health.Note(fmt.Sprintf("%d further captures stand behind the first in the same input: read, all of them, and their packets numbered through", more))
	}
}

func (s *Source) done() float64 { return s.progress }
