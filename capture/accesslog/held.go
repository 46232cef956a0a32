package accesslog

import "bytes"

// held are lines kept for a while.
type held struct {
	lines []heldLine
	bytes int
}

type heldLine struct {
	number uint64
	text   []byte
	end    lineEnd
	why    fault
}

// add keeps a copy of a line; false if there is no room.
func (h *held) add(number uint64, line []byte, end lineEnd) bool {
	if len(h.lines) == sampleLines || h.bytes+len(line) > max(sampleBytes, 2*maxLine) && len(h.lines) > 0 {
		return false
	}
	h.lines = append(h.lines, heldLine{number: number, text: bytes.Clone(line), end: end})
	h.bytes += len(line)
	return true
}

// sample gives the lines that may tell the format: whole ones.
func (h *held) sample() (out [][]byte) {
	for _, l := range h.lines {
		if l.end == whole || len(h.lines) == 1 && l.end == unended {
			out = append(out, l.text)
		}
	}
	return out
}

func (h *held) clear() { h.lines, h.bytes = nil, 0 }

// decide finds out the format by the lines held. Without final it may wait for
// more of them.
func (b *builder) decide(final bool) error {
	if len(b.held.lines) == 0 && !final {
		return nil
	}
	sample := b.held.sample()
	if len(sample) < sampleLines && !b.opt.Live && !b.document {
		sample = append(sample, sampleOf(b.opt.Tail, sampleLines/2, false)...)
	}
	var g *Guess
	if b.opt.Format != nil {
		g = guessWith(b.opt.Format, sample)
	} else {
		g = sniff(sample)
	}
	if !final && !g.Sure() {
		return nil
	}
	b.adopt(g)
	lines := b.held.lines
	b.held.clear()
	for _, l := range lines {
		b.at = l.number
		if err := b.take(l.text, l.end); err != nil {
			return err
		}
	}
	return nil
}

// adopt takes the formats of a guess into use; where it has none, the log is
// taken for one in the combined format, and the faults tell why it is not.
func (b *builder) adopt(g *Guess) {
	formats := g.formats
	if len(formats) == 0 {
		formats = []*Format{preset("combined")}
	}
	b.formats = nil
	for _, f := range formats {
		b.formats = append(b.formats, opened{f, naming(f.open(), b.opt.Client)})
	}
	b.unwrap = nil
	if len(g.chain) > 0 {
		b.unwrap = &unwrapper{chain: g.chain}
		b.unwrap.clock.until = b.opt.Until
		b.unwrap.clock.loc = b.opt.Zone
	}
}

const (
	fewStrays  = 32
	mostStrays = .9 // of them must be in one other format
)

// stray keeps a line that no format of the log reads. Once there are enough of
// them, they may show that the log has gone over to another format, or has two.
func (b *builder) stray(why fault, line []byte, end lineEnd) error {
	if b.opt.Format != nil || end != whole || why == headerLine || why == loggedTwice || b.format != nil && b.format.ignores(why) {
		return nil
	}
	if b.strayWait > 0 {
		b.strayWait--
		return nil
	}
	if b.strays.add(b.at, line, end) {
		b.strays.lines[len(b.strays.lines)-1].why = why
	}
	if len(b.strays.lines) < fewStrays {
		return nil
	}
	lines := b.strays.lines
	g := sniff(b.strays.sample())
	b.strays.clear()
	if !g.Sure() || float64(g.read) < mostStrays*float64(g.lines) {
		b.strayPause = min(max(2*b.strayPause, fewStrays), 1<<16) // junk must not cost much
		b.strayWait = b.strayPause
		return nil
	}
	b.turn(g, lines[0].number)
	at := b.at
	for _, l := range lines {
		b.unskip(l.why)
		b.at = l.number
		if err := b.take(l.text, l.end); err != nil {
			return err
		}
	}
	b.at = at
	return nil
}

// turn adds the formats of a guess to those of the log.
func (b *builder) turn(g *Guess, at uint64) {
	old, unwrap := b.formats, b.unwrap
	b.health.Note("from line " + number(at) + " on there are lines in another format: " + g.formats[0].name)
	b.adopt(g)
	if unwrap != nil && len(g.chain) == 0 || len(g.chain) > 0 && (unwrap == nil || !unwrap.chain.same(g.chain)) {
		return // it is wrapped in another way: the old formats are gone with their wrap
	}
	for _, o := range old {
		if len(b.formats) < 4 {
			b.formats = append(b.formats, o)
		}
	}
}

// unskip takes back that a line was passed over.
func (b *builder) unskip(why fault) {
	b.health.Read--
	for i := range b.health.Skipped {
		if s := &b.health.Skipped[i]; s.Reason == string(why) || s.Reason == "other" {
			if s.Count--; s.Count == 0 {
				b.health.Skipped = append(b.health.Skipped[:i], b.health.Skipped[i+1:]...)
			}
			return
		}
	}
}
