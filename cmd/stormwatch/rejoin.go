package main

import (
	"bytes"
	"hash/maphash"
)

// rejoiner hands over the lines of a command that is run several times, without
// those that a new run tells again: a run of lines that are the last ones told
// before, up to the very last.
type rejoiner struct {
	seed    maphash.Seed
	known   []uint64 // the lines told of late, the last one last
	out     []byte   // to be handed over
	part    []byte   // a line whose end has not come
	joining bool     // what comes may have been told before
	held    []byte   // lines that may have been
	heldN   int
	sure    int   // bytes of held that were told before, whatever comes
	starts  []int // places in known from which what is held goes on as known does
}

const (
	knownLines = 1 << 12
	maxPart    = 1 << 20 // as long as a line may be
)

// take hands over what there is.
func (r *rejoiner) take(b []byte) int {
	n := copy(b, r.out)
	if r.out = r.out[n:]; len(r.out) == 0 {
		r.out = nil
	}
	return n
}

// again tells that a new run begins. A line that was cut off has ended: it is
// whole or it comes again.
func (r *rejoiner) again() {
	r.release()
	r.part = r.part[:0]
	r.joining = len(r.known) > 0
}

// give takes in bytes of a run.
func (r *rejoiner) give(b []byte) {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			if len(r.part)+len(b) > maxPart { // the log's reader says that it is too long
				r.out = append(append(r.out, r.part...), b...)
				r.part = r.part[:0]
				return
			}
			r.part = append(r.part, b...)
			return
		}
		r.part = append(r.part, b[:i+1]...)
		r.line(r.part)
		r.part, b = r.part[:0], b[i+1:]
	}
}

func (r *rejoiner) line(line []byte) {
	sum := maphash.Bytes(r.seed, line)
	if r.joining && r.told(sum, line) {
		return
	}
	r.out = append(r.out, line...)
	r.note(sum)
}

func (r *rejoiner) note(sum uint64) {
	if len(r.known) >= 2*knownLines {
		r.known = append(r.known[:0], r.known[len(r.known)-knownLines:]...)
	}
	r.known = append(r.known, sum)
}

// told tells whether a line is kept back, since it and those before it of this run
// are as told before.
func (r *rejoiner) told(sum uint64, line []byte) bool {
	if r.heldN == 0 {
		r.starts = r.starts[:0]
		for i, k := range r.known {
			if k == sum {
				r.starts = append(r.starts, i)
			}
		}
	} else {
		kept := r.starts[:0]
		for _, s := range r.starts {
			if r.known[s+r.heldN] == sum {
				kept = append(kept, s)
			}
		}
		r.starts = kept
	}
	if len(r.starts) == 0 {
		r.release()
		return false
	}
	r.held = append(r.held, line...)
	r.heldN++
	if last := len(r.starts) - 1; r.starts[last]+r.heldN == len(r.known) { // up to the very last line
		r.starts, r.sure = r.starts[:last], len(r.held) // a run that began earlier may go further
	}
	if len(r.starts) == 0 || len(r.held) > maxPart {
		r.release()
	}
	return true
}

// release hands over what was held: it is new after all.
func (r *rejoiner) release() {
	for rest := r.held[r.sure:]; len(rest) > 0; {
		i := bytes.IndexByte(rest, '\n') + 1
		r.out = append(r.out, rest[:i]...)
		r.note(maphash.Bytes(r.seed, rest[:i]))
		rest = rest[i:]
	}
	r.held, r.heldN, r.sure, r.joining = r.held[:0], 0, 0, false
}
