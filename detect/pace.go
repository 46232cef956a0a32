package detect

import (
	"slices"

	"stormwatch/capture"
)

// pace follows the clock of one live source. An exchange far ahead of all before
// it is held until another one agrees: then there was a silence. Until then it is
// a line of a broken clock, and one such line must not carry the watermark with it
// and make all that follows late.
type pace struct {
	newest int64 // start of the latest exchange taken
	mark   int64 // no exchange that starts before is expected any more
	odd    []waiter
	since  int   // exchanges taken since the last odd one came
	heard  int64 // the caller's clock when that was noticed; 0 not yet
	bad    int64 // a watermark not believed
}

const (
	leap     = 60 * tick // ahead of all before: longer than lines are written out of order
	maxOdd   = 4         // that wait to be convicted: more of them are no odd ones
	oddAfter = 3         // exchanges that go on as before convict the odd one
	soon     = 5 * tick  // how far ahead of the caller's clock a clock may be when nothing else tells
)

// admit returns the exchanges to be taken now that w has come, and those to be set
// aside.
func (p *pace) admit(w waiter) (take, drop []waiter) {
	start := w.rec.Start
	if p.newest != 0 && start <= p.newest+leap {
		p.newest = max(p.newest, start)
		if p.since++; p.since >= oddAfter {
			drop, p.odd = p.odd, nil
		}
		return []waiter{w}, drop
	}
	for i := range p.odd {
		if d := start - p.odd[i].rec.Start; d > leap || d < -leap {
			continue
		}
		take = []waiter{p.odd[i], w}
		p.newest = max(p.newest, start, p.odd[i].rec.Start)
		p.odd, p.since = slices.Delete(p.odd, i, i+1), 0
		return take, nil
	}
	if len(p.odd) == maxOdd {
		drop, p.odd = p.odd[:1:1], slices.Clone(p.odd[1:])
	}
	p.odd, p.since, p.heard = append(p.odd, w), 0, 0
	return nil, drop
}

// settle returns what has waited long enough with nobody to contradict it, and is
// not ahead of the caller's clock.
func (p *pace) settle(wall int64) (take []waiter) {
	if len(p.odd) == 0 {
		return nil
	}
	if p.heard == 0 {
		p.heard = wall
	}
	if wall-p.heard < idleAfter {
		return nil
	}
	kept := p.odd[:0]
	for _, w := range p.odd {
		if w.rec.Start > wall+soon {
			kept = append(kept, w)
			continue
		}
		take = append(take, w)
		p.newest = max(p.newest, w.rec.Start)
	}
	p.odd = kept
	return take
}

// follow takes in a batch's watermark.
func (p *pace) follow(mark int64, empty bool, wall int64) {
	switch {
	case mark == 0 || mark == p.bad:
	case mark <= p.newest+leap, empty && (wall == 0 || mark <= wall+soon):
		p.mark = max(p.mark, mark)
	case p.newest != 0:
		p.bad = mark
		p.mark = max(p.mark, p.newest-tick)
	}
}

// punctual takes back what a source said of lateness after a watermark that was
// not believed.
func (p *pace) punctual(x *capture.Exchange) {
	if x.Start >= p.mark {
		x.Flags &^= capture.Late
	}
}
