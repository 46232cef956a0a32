package detect

import (
	"context"
	"errors"
	"io"

	"stormwatch/detect/chain"
)

// A recording is matched twice at its start: how clients retry is not known when the
// first of them do, and much of a short recording is over before it is. So its first
// exchanges are gone through beforehand, for their chains alone, and what was learned
// of all of them is what the judging begins with.
const (
	rehearsed     = 1 << 13 // exchanges at most
	rehearsedFor  = 1800 * tick
	rehearsedText = 4 << 20 // bytes of their targets
	rehearsals    = 2       // each judges by what the one before learned
)

// rehearse learns from the first exchanges of a recording, which each tells in
// order as often as it is asked to, until it is told to stop.
func rehearse(o Options, n *roster, each func(hear func(*record, []byte) bool) error) (chain.Lore, error) {
	var lore chain.Lore
	for pass := range rehearsals {
		e := newEngine(o, n)
		e.rehearsing = true
		if pass > 0 {
			e.chains.Revise(lore)
		}
		var so start
		err := each(func(r *record, target []byte) bool {
			more := so.takes(r, target)
			if more {
				e.land(e.take(r, target, identify(r, target)))
			}
			return more
		})
		if err != nil {
			return lore, err
		}
		e.finish()
		lore = e.chains.Lore()
	}
	return lore, nil
}

// start measures the exchanges that are rehearsed.
type start struct {
	n, text int
	from    int64
}

// takes tells whether one more belongs to them.
func (s *start) takes(r *record, target []byte) bool {
	if s.n == 0 {
		s.from = r.Start
	}
	s.n++
	s.text += len(target)
	return s.n <= rehearsed && s.text <= rehearsedText && r.Start-s.from <= rehearsedFor
}

// searched is how many exchanges are looked at for those that are rehearsed, where few
// pass: reading as many takes a fraction of a second.
const searched = 64 * rehearsed

// rehearse goes through the start of the spool, or of what passes of it.
func (r *Recording) rehearse(ctx context.Context, passes func(*record) bool) (chain.Lore, error) {
	return rehearse(r.opt, &r.names.roster, func(hear func(*record, []byte) bool) error {
		c := cursor{s: r.spool}
		for n := range searched {
			if n%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			rec, err := c.peek()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if r.standings[rec.source].primary && passes(rec) && !hear(rec, c.cur.target(rec)) {
				return nil
			}
			c.i++
		}
		return nil
	})
}

// overture is the start of an input that is judged while it is read.
type overture struct {
	start
	kept chunk
	over bool
}

// add keeps an exchange; false if there are enough.
func (o *overture) add(r *record, target []byte) bool {
	more := o.takes(r, target)
	if more {
		o.kept.add(r, target)
	}
	return more
}

func (o *overture) each(hear func(*record, []byte) bool) error {
	for i := range o.kept.recs {
		if r := &o.kept.recs[i]; !hear(r, o.kept.target(r)) {
			break
		}
	}
	return nil
}
