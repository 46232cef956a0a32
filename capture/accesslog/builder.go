package accesslog

import (
	"bytes"
	"strconv"
	"time"

	"stormwatch/capture"
)

// builder turns lines into batches.
type builder struct {
	opt    Options
	sink   capture.Sink
	parser parser
	entry  entry
	batch  capture.Batch
	health capture.Health
	names  *capture.Interner
	mark   watermark
	number uint64 // of the current line, blank ones included
	read   int64  // bytes
	last   int64  // end of the line before
	fine   bool   // a line with $msec was seen
	timed  int64  // lines used
	exact  int64  // those of them with $msec
	text   []byte // for one unescaped field
	sent   uint64 // lines read when a batch was last handed over
}

const (
	batchSize = 512
	maxText   = 1 << 20 // bytes of targets in a batch
	maxAgent  = 512     // bytes of a name kept: what tells agents apart stands in front

	maxNames     = 1 << 16
	maxNameBytes = 8 << 20

	// backwards is how far lines of a busy server may be out of order by their
	// end: above that the clock was set, or files were joined.
	backwards = 2 * second
)

func newBuilder(opt Options, sink capture.Sink) *builder {
	b := &builder{opt: opt, sink: sink, names: capture.NewInterner(maxNames, maxNameBytes)}
	b.health.Unit = "lines"
	b.batch.Exchanges = make([]capture.Exchange, 0, batchSize)
	b.batch.Names = b.names
	return b
}

// line takes in one line; blank ones are passed over.
func (b *builder) line(line []byte, end lineEnd) error {
	b.number++
	if b.number == 1 {
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	line = trimLine(line)
	if len(line) == 0 {
		return nil
	}
	b.health.Read++
	f := tooLong
	if end != overlong {
		f = b.parser.parse(line, &b.entry)
	}
	if end == unended && (f != "" || b.entry.torn || b.fine && !b.entry.fine) {
		f, b.health.Truncated = cut, true
	}
	if f != "" {
		b.skip(f, line)
		return nil
	}
	b.health.Used++
	b.note()
	b.exchange()
	if len(b.batch.Exchanges) == batchSize || len(b.batch.Text) >= maxText {
		return b.flush()
	}
	return nil
}

func (b *builder) skip(f fault, line []byte) {
	const shown = 160
	if len(line) > shown {
		line = line[:shown]
	}
	b.health.Skip(string(f), "line "+strconv.FormatUint(b.number, 10)+": "+string(line))
}

// mostlyExact is how many lines there must be for each one without $msec, for
// the log's clock to count as one of milliseconds: a few lines that lost their
// end must not hide what all the others show.
const mostlyExact = 20

// note keeps the account of the log's clock.
func (b *builder) note() {
	e := &b.entry
	b.timed++
	if e.fine {
		b.fine = true
		b.exact++
	}
	b.health.Resolution = second
	if mostlyExact*(b.timed-b.exact) <= b.timed {
		b.health.Resolution = int64(time.Millisecond)
	}
	if b.last != 0 && e.end < b.last-backwards {
		b.health.ClockSteps++
	}
	b.last = e.end
}

func (b *builder) exchange() {
	e := &b.entry
	b.batch.Exchanges = append(b.batch.Exchanges, capture.Exchange{})
	x := &b.batch.Exchanges[len(b.batch.Exchanges)-1]
	x.Start, x.End = e.end-e.took, e.end
	x.Src.IP = e.ip
	x.At = capture.Provenance{A: b.number, Line: true}
	if e.user != nil {
		x.Credential = b.opt.Secrets.Hash(b.plain(e.user))
	}
	x.Agent = b.intern(e.agent)
	x.Forwarded = b.intern(e.forwarded)
	method, target := splitRequest(e.request)
	x.Method = b.names.Intern(method)
	x.Target.Off = uint32(len(b.batch.Text))
	b.batch.Text = capture.AppendMasked(b.batch.Text, b.plain(target))
	x.Target.Len = uint32(len(b.batch.Text)) - x.Target.Off
	outcome(x, e.status)
	if !b.opt.Live {
		return
	}
	if b.mark.late(x.Start) {
		x.Flags |= capture.Late
		b.health.Late++
	}
	b.mark.note(e.end, e.took)
}

// outcome judges a logged status. What nginx logs as 499 (the client left), 444
// (it closed without a word) and 000 never reached the client as an answer.
func outcome(x *capture.Exchange, status uint16) {
	switch {
	case status < 100, status == 499, status == 444:
		x.Outcome = capture.NoAnswer
	default:
		x.Status, x.Reason = status, capture.ReasonOf(status)
	}
}

// plain resolves escapes; the result is valid until the next call.
func (b *builder) plain(field []byte) []byte {
	if bytes.IndexByte(field, '\\') < 0 {
		return field
	}
	b.text = appendUnescaped(b.text[:0], field)
	return b.text
}

func (b *builder) intern(field []byte) capture.Symbol {
	field = b.plain(field)
	return b.names.Intern(field[:min(len(field), maxAgent)])
}

// flush hands over what has gathered, if there is news.
func (b *builder) flush() error {
	if b.health.Read == b.sent {
		return nil
	}
	return b.send()
}

func (b *builder) send() error {
	b.batch.Health, b.sent = b.health.Clone(), b.health.Read
	if b.opt.Size > 0 {
		b.batch.Done = min(float64(b.read)/float64(b.opt.Size), 1)
	}
	if b.opt.Live {
		b.batch.Watermark = b.mark.tell()
	}
	err := b.sink(&b.batch)
	b.batch.Exchanges, b.batch.Text = b.batch.Exchanges[:0], b.batch.Text[:0]
	return err
}

// finish hands over the last batch, even an empty one: it carries the final
// Health, and nothing comes after it.
func (b *builder) finish() error {
	b.mark.close(b.last)
	if !b.opt.Live {
		b.batch.Watermark = b.mark.tell()
	}
	return b.send()
}
