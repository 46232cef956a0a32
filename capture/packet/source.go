// Package packet reads packet captures: pcap and pcapng files and streams. It
// takes link layers, IP and TCP off, puts byte streams together, reads HTTP/1
// and pairs requests with responses. One goroutine does it all, so that equal
// input gives equal output.
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
	in   io.Reader
	file *file // nil until the head has been read; of several, the one read last

	parts []*part // nil for a single capture
	heap  []*part // those that have not ended, by the time of their next packets

	runs   int    // captures that stood behind the first, so far
	missed uint64 // packets that the host lost before the file was written anew

	decoder decoder
	copies  copies
	table   *table
	out     *output
	clock   clock
	doubt   doubt
}

// Open reads the head of a recorded capture; that of a live one is read by Run,
// since it may come late. It fails when the input is no capture, is empty, or
// has a link layer that is not read.
func Open(name string, r io.Reader, opt Options) (*Source, error) {
	if opt.Secrets == (capture.Secrets{}) {
		opt.Secrets = capture.NewSecrets()
	}
	s := &Source{name: name, opt: opt, in: r}
	if opt.Live {
		return s, nil
	}
	return s, s.begin(r)
}

func (s *Source) begin(r io.Reader) error {
	for {
		f, err := newFile(r)
		if err == nil {
			s.file = f
			return nil
		}
		if !errors.Is(err, errAnew) {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
}

// anew goes on with the capture that has taken the place of a followed one.
func (s *Source) anew() error {
	h := &s.out.health
	if s.file.r.buffered() > 0 { // the old one ended inside a record
		h.Read++
		s.skip(skipBroken, linkBroken, h.Read)
	}
	s.missed = s.dropped()
	return s.begin(s.in)
}

// dropped is how many packets the capturing host says it lost.
func (s *Source) dropped() uint64 {
	n := s.missed
	if s.parts == nil {
		return add(n, s.file.dropped())
	}
	for _, p := range s.parts {
		n = add(n, p.file.dropped())
	}
	return n
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
	s.table = newTable(s.out)
	s.out.table = s.table
	s.out.done = s.done
	s.joined()
	if s.opt.Live {
		stop, cancel := context.WithCancel(ctx)
		defer cancel()
		p := newPump(stop, s.in)
		p.idle = s.idle
		s.in = p
		if err := s.begin(p); err != nil {
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

// checkEvery is how many packets pass between two looks at the context, and
// flushEvery between two signs of progress.
const (
	checkEvery = 1 << 10
	flushEvery = 1 << 14
)

func (s *Source) packets(ctx context.Context) error {
	var f frame
	for {
		if s.out.health.Read%ahead == 0 {
			s.table.warm(s.file)
		}
		err := s.next(&f)
		if errors.Is(err, errAnew) {
			if err = s.anew(); err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		if s.file.more != s.runs && s.parts == nil {
			s.run(f.t)
		}
		s.take(&f)
		if s.out.err != nil {
			return s.out.err
		}
		n := s.out.health.Read
		if n%checkEvery == 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			s.out.health.Dropped = s.dropped()
		}
		if n%flushEvery == 0 {
			s.out.flush(false)
		}
	}
}

// packet reads one packet, and counts it as used or as passed over.
func (s *Source) packet(f *frame) {
	h := &s.out.health
	h.Read++
	s.clock.see(f.t, s.out.newest, h)
	s.out.newest = max(s.out.newest, f.t)
	s.table.advance(s.out.newest)
	s.out.announce(s.out.newest)
	reason := s.decoder.decode(f, h.Read)
	switch seg := &s.decoder.segment; {
	case reason == "" && s.copies.seen(seg, f.t):
		reason = packetCopy
	case reason == "":
		s.table.reason = ""
		s.table.packet(seg, stamp{f.t, h.Read})
		reason = s.table.reason
	}
	s.count(reason, f.link)
}

// count says what became of a packet, and of those that waited for it.
func (s *Source) count(reason string, link uint32) {
	h, fragments := &s.out.health, &s.decoder.fragments
	n := uint64(1 + fragments.joined)
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
			s.skip(reason, link, h.Read)
		}
	}
	if len(fragments.lost) > 0 {
		s.lost()
	}
}

// lost counts the fragments that were given up.
func (s *Source) lost() {
	fragments := &s.decoder.fragments
	for _, n := range fragments.lost {
		s.skip(skipFragment, linkBroken, n)
	}
	fragments.lost = fragments.lost[:0]
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
	if s.doubt.n > 0 { // nobody is there to disagree
		s.resolve(s.believed())
	}
	if s.file == nil || s.out.newest == 0 {
		return s.out.err
	}
	const slack = time.Second // what the capturing program may hold back
	if silent > slack {
		s.table.advance(s.idleTime(silent - slack))
		s.out.newest = s.table.now
		s.out.announce(s.out.newest)
	}
	s.out.health.Dropped = s.dropped()
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
		h.Short(s.file.short)
		return nil
	case h.Short(err):
		return nil
	case errors.As(err, &broken):
		h.Truncated = true
		h.Skip("damaged record", fmt.Sprintf("frame %d: %v", h.Read+1, err))
		if !s.opt.Live {
			h.Unread = s.file.unread()
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
	s.conclude()
	s.table.finish(endInput)
	s.decoder.fragments.finish()
	s.lost()
	h := &s.out.health
	if s.file != nil {
		h.Dropped = s.dropped()
		h.Resolution = s.clock.resolution(s.file.unit)
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
	s.runs = s.file.more
	if t < s.out.newest-backStep {
		s.table.finish(endInput)
		s.table = newTable(s.out)
		s.out.table = s.table
	}
}

// concatenated tells of inputs that hold more than one capture.
func (s *Source) concatenated() {
	more := s.file.more
	if s.parts != nil {
		more = 0
		for _, p := range s.parts {
			more += p.file.more
		}
	}
	if more > 0 {
		s.out.health.Note(fmt.Sprintf("%d further captures stand behind the first in the same input: read, all of them, and their packets numbered through", more))
	}
}

func (s *Source) done() float64 {
	if s.opt.Size <= 0 || s.file == nil {
		return 0
	}
	read := s.file.read + int64(s.file.pending)
	if s.parts != nil {
		read = 0
		for _, p := range s.parts {
			read += p.file.read
		}
	}
	return min(1, float64(read)/float64(s.opt.Size))
}
