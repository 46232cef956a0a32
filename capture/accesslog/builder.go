package accesslog

import (
	"bytes"
	"strconv"
	"time"

	"stormwatch/capture"
)

// builder turns lines into batches.
type builder struct {
	opt     Options
	sink    capture.Sink
	formats []opened
	format  *Format // by which the line at hand was cut
	unwrap  *unwrapper
	r       reading
	held    held // lines that wait until the format is known
	strays  held // lines that no format of this log reads

	strayWait, strayPause int // lines until such are kept again

	batch   capture.Batch
	health  capture.Health
	names   *capture.Interner
	latest  [64]named // texts interned of late
	mark    watermark
	number  uint64 // lines so far, blank ones included
	at      uint64 // number of the line at hand
	read    int64  // bytes
	last    int64  // end of the line before
	fine    bool   // a line with a clock finer than a second was seen
	clocks  clockCount
	gaps    gapCount
	kinds   statusCount
	text    []byte // for one unescaped field
	whole   []byte // for a target put together
	plains  []byte // for headers of the response, unescaped
	answers *capture.Answers
	sent    uint64 // lines read when a batch was last handed over
	holed   uint64 // the last line with NUL bytes
	wall    bool   // a time without a zone was seen
	started bool   // the line says when the request came, but not for how long

	document bool // lines are the objects of a document

	twins *twins

	tell func(line []byte, why fault) // what became of a line, where that is wanted

	tryCutter *jsonCutter // of Kong's tries, once there are any
	inner     reading
}

// opened is a format and the state of cutting by it.
type opened struct {
	*Format
	cutter
}

const (
	batchSize = 512
	maxText   = 1 << 20 // bytes of targets in a batch
	maxAgent  = 512     // bytes of a name kept: what tells agents apart stands in front

	maxNames     = 1 << 16
	maxNameBytes = 8 << 20

	// backwards is how far lines of a busy server may be out of order by their
	// end: above that the clock was set, or files were joined. Lines that tell
	// their start alone come later by as long as the request took.
	backwards      = 2 * second
	backwardsStart = 120 * second
)

func newBuilder(opt Options, sink capture.Sink) *builder {
	b := &builder{opt: opt, sink: sink, names: capture.NewInterner(maxNames, maxNameBytes)}
	b.health.Unit = "lines"
	b.health.Sampled = opt.Sampled
	b.batch.Exchanges = make([]capture.Exchange, 0, batchSize)
	b.batch.Names = b.names
	b.answers = capture.NewAnswers(b.names, &b.health)
	b.r.clock.loc, b.r.clock.until = opt.Zone, opt.Until
	return b
}

// line takes in one line; blank ones are passed over.
func (b *builder) line(line []byte, end lineEnd) error {
	b.number++
	if b.number == 1 {
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	if bytes.IndexByte(line, 0) >= 0 {
		b.hole(b.number)
	}
	line = trimLine(line)
	if len(line) == 0 {
		return nil
	}
	if b.formats != nil {
		b.at = b.number
		return b.take(line, end)
	}
	if !b.held.add(b.number, line, end) {
		if err := b.decide(true); err != nil {
			return err
		}
		b.at = b.number
		return b.take(line, end)
	}
	return nil
}

// hole counts a run of NUL bytes in or before line n, once. They stand where a log was cut while its writer
// went on at its old place, or where a host fell over.
func (b *builder) hole(n uint64) {
	if n == b.holed {
		return
	}
	b.holed = n
	b.health.Bound("NUL bytes in the log, as where it is cut while a server writes it: passed over")
}

// take cuts a line by the formats of the log.
func (b *builder) take(line []byte, end lineEnd) error {
	inner, f := line, fault("")
	if end == overlong {
		f = tooLong
	} else if b.unwrap != nil {
		text, more, ok := b.unwrap.open(line)
		switch {
		case more && end == whole:
			return nil // its last piece carries it
		case !ok:
			f = b.unwrap.chain.unwrapFault()
		default:
			inner = trimLine(text)
		}
	}
	b.health.Read++
	if f == "" || end != overlong {
		if g := b.cut(inner); g == "" || f == "" {
			f = g
		}
	}
	if end == unended && (f != "" || b.r.torn || b.fine && b.step() >= second) {
		f, b.health.Truncated = cutOff, true
	}
	if f != "" {
		b.skip(f, line)
		if b.tell != nil {
			b.tell(line, f)
		}
		return b.stray(f, line, end)
	}
	return b.use(line)
}

// use adds the line that was cut.
func (b *builder) use(line []byte) error {
	b.health.Used++
	if b.format.utc {
		b.r.start.wall, b.r.end.wall = false, false
	}
	b.wall = b.wall || b.r.start.wall || b.r.end.wall
	b.started = b.r.end.step == 0 && b.r.step == 0
	b.r.settle()
	b.note()
	b.exchange()
	b.batch.Exchanges[len(b.batch.Exchanges)-1].Line = b.opt.Secrets.Hash(line)
	if b.tell != nil {
		b.tell(line, "")
	}
	if len(b.batch.Exchanges) == batchSize || len(b.batch.Text) >= maxText {
		return b.flush()
	}
	return nil
}

// cut cuts a line by the first format that can. What is told of a line that
// none can is why the first one cannot.
func (b *builder) cut(line []byte) (f fault) {
	if len(line) == 0 {
		return empty
	}
	for i := range b.formats {
		o := &b.formats[i]
		if o.beside && len(b.formats) > 1 {
			continue
		}
		b.r.esc, b.format = o.esc, o.Format
		if b.r.cuts != nil {
			*b.r.cuts = (*b.r.cuts)[:0]
		}
		g := o.cut(line, &b.r)
		if g == "" && !b.r.timed() {
			g = b.undated(o.Format)
		}
		if g == "" && b.r.shows(roleCluster) && b.twin(&b.r) {
			g = loggedTwice
		}
		if g == "" || g == headerLine || g == loggedTwice || o.ignores(g) {
			return g
		}
		if f == "" {
			f = g
		}
	}
	if g := aside(line); g != "" && (len(b.formats) > 1 || !b.format.beside) {
		return g
	}
	return f
}

// twin tells whether a call has been logged by the other sidecar already.
func (b *builder) twin(r *reading) bool {
	if b.twins == nil {
		b.twins = &twins{}
	}
	return b.twins.second(r)
}

// undated finds a time for a line that has none: that of what is around it, or
// its place.
func (b *builder) undated(f *Format) fault {
	switch {
	case b.unwrap != nil && b.unwrap.stamp.step != 0:
		b.r.end = b.unwrap.stamp
	case b.opt.Live && f.timeless:
		b.r.end = moment{ns: time.Now().UnixNano(), step: second}
	case f.timeless:
		b.r.end = moment{ns: int64(b.at) * 1e3, step: noClock}
	default:
		return noTime
	}
	return ""
}

const (
	tooLong fault = "longer than 1 MiB"
	cutOff  fault = "cut off at the end of the input"
	noTime  fault = "no time in the line"
	empty   fault = "nothing in it"
)

func (b *builder) skip(f fault, line []byte) {
	const shown = 160
	if len(line) > shown {
		line = line[:shown]
	}
	example := "line " + strconv.FormatUint(b.at, 10) + ": " + string(line)
	if f == headerLine || f == loggedTwice || b.format != nil && b.format.ignores(f) {
		b.health.SkipSound(string(f), example)
		return
	}
	b.health.Skip(string(f), example)
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
	b.kinds.add(b.r.code)
	far := backwards
	if b.started {
		far = backwardsStart
	}
	if b.last != 0 && e < b.last-far {
		b.health.ClockSteps++
	}
	b.last = e
}

// flush hands over what has gathered, if there is news.
func (b *builder) flush() error {
	if b.formats == nil {
		if err := b.decide(false); err != nil {
			return err
		}
	}
	if b.health.Read == b.sent {
		return nil
	}
	return b.send()
}

func (b *builder) send() error {
	b.health.Resolution = b.clocks.resolution()
	b.judge()
	b.batch.Health, b.sent = b.health.Clone(), b.health.Read
	if b.opt.Size > 0 {
		b.batch.Done = min(float64(b.read)/float64(b.opt.Size), 1)
	}
	if b.opt.Live {
		b.batch.Watermark = b.mark.tell()
	}
	err := b.sink(&b.batch)
	b.batch.Exchanges, b.batch.Text, b.batch.Tries = b.batch.Exchanges[:0], b.batch.Text[:0], b.batch.Tries[:0]
	return err
}

// finish hands over the last batch, even an empty one: it carries the final
// Health, and nothing comes after it.
func (b *builder) finish() error {
	if b.formats == nil {
		if err := b.decide(true); err != nil {
			return err
		}
	}
	b.unfinished()
	b.unmapped()
	b.mark.close(b.last)
	if !b.opt.Live {
		b.batch.Watermark = b.mark.tell()
	}
	return b.send()
}

// unfinished counts lines whose last piece never came.
func (b *builder) unfinished() {
	if b.unwrap == nil {
		return
	}
	for _, p := range b.unwrap.parts {
		if len(p) > 0 {
			b.health.Read++
			b.skip(inPieces, p)
		}
	}
}

const inPieces fault = "a line in pieces whose last one never came"
