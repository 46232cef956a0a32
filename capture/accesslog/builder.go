package accesslog

import (
	"bytes"
	"strconv"

	"stormwatch/capture"
)

// builder turns lines into batches.
type builder struct {
	opt    Options
	sink   capture.Sink
	format *Format
	cutter cutter
	r      reading
	batch  capture.Batch
	health capture.Health
	names  *capture.Interner
	latest [64]named // texts interned of late
	mark   watermark
	number uint64 // of the current line, blank ones included
	read   int64  // bytes
	last   int64  // end of the line before
	fine   bool   // a line with a clock finer than a second was seen
	clocks clockCount
	text   []byte // for one unescaped field
	whole  []byte // for a target put together
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
	if opt.Format == nil {
		opt.Format = preset("combined")
	}
	b.use(opt.Format)
	return b
}

// use makes a format the one that lines are cut by.
func (b *builder) use(f *Format) {
	b.format, b.cutter, b.r.esc = f, f.open(), f.esc
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
		f = b.cutter.cut(line, &b.r)
	}
	if end == unended && (f != "" || b.r.torn || b.fine && b.step() >= second) {
		f, b.health.Truncated = cutOff, true
	}
	if f == "" && !b.r.timed() {
		f = noTime
	}
	if f != "" {
		b.skip(f, line)
		return nil
	}
	b.health.Used++
	b.r.settle()
	b.note()
	b.exchange()
	if len(b.batch.Exchanges) == batchSize || len(b.batch.Text) >= maxText {
		return b.flush()
	}
	return nil
}

const (
	tooLong fault = "longer than 1 MiB"
	cutOff  fault = "cut off at the end of the input"
	noTime  fault = "no time in the line"
)

func (b *builder) skip(f fault, line []byte) {
	const shown = 160
	if len(line) > shown {
		line = line[:shown]
	}
	b.health.Skip(string(f), "line "+strconv.FormatUint(b.number, 10)+": "+string(line))
}

// step is the resolution of the line's time.
func (b *builder) step() int64 {
	if r := &b.r; r.end.step == 0 || r.start.step != 0 && r.start.step < r.end.step {
		return r.start.step
	}
	return b.r.end.step
}

// note keeps the account of the log's clock.
func (b *builder) note() {
	e, step := b.r.end.ns, b.step()
	b.fine = b.fine || step < second
	b.clocks.add(step)
	if b.last != 0 && e < b.last-backwards {
		b.health.ClockSteps++
	}
	b.last = e
}

// flush hands over what has gathered, if there is news.
func (b *builder) flush() error {
	if b.health.Read == b.sent {
		return nil
	}
	return b.send()
}

func (b *builder) send() error {
	b.health.Resolution = b.clocks.resolution()
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
