package packet

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"stormwatch/capture"
)

// Part is one of several captures that are read as one.
type Part struct {
	Name string
	In   io.Reader
}

// part is a capture of several, and its next packet.
type part struct {
	name  string
	place int // in order of the first packets
	file  *file
	next  frame
	read  uint64 // packets
}

// before tells whose packet comes first.
func (p *part) before(o *part) bool {
	return p.next.t < o.next.t || p.next.t == o.next.t && p.place < o.place
}

// OpenParts reads the heads of recorded captures that belong together: files of a
// program that rotates them, or the two directions of a tap. They are read as one
// capture, in order of time; frames are numbered in that order. Options.Size is
// that of all of them.
func OpenParts(name string, parts []Part, opt Options) (*Source, error) {
	if len(parts) == 0 {
		return nil, errors.New("no capture to open")
	}
	if opt.Secrets == (capture.Secrets{}) {
		opt.Secrets = capture.NewSecrets()
	}
	s := newSource(name, nil, opt)
	for _, p := range parts {
		f, err := newFile(p.In)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		f.r.turn = s.intake.turn
		s.intake.parts = append(s.intake.parts, &part{name: p.Name, file: f})
	}
	s.intake.file = s.intake.parts[0].file
	return s, nil
}

// next reads the packet that is next in time.
func (in *intake) next(f *frame) error {
	if in.parts == nil {
		return in.file.next(f)
	}
	if in.heap == nil {
		in.heap = make([]*part, 0, len(in.parts))
		if err := in.beginParts(); err != nil {
			return err
		}
	} else if len(in.heap) > 0 { // the packet of the first one has been handed out
		if err := in.advancePart(in.heap[0]); err != nil {
			return err
		}
	}
	if len(in.heap) == 0 {
		return io.EOF
	}
	p := in.heap[0]
	in.file = p.file
	p.read++
	*f = p.next
	return nil
}

// beginParts reads the first packet of each part. In order of these, the parts are
// a heap already; of packets of one time that of the part which began first is next.
func (in *intake) beginParts() error {
	for _, p := range in.parts {
		more, err := in.readPart(p)
		if err != nil {
			return err
		}
		if more {
			in.heap = append(in.heap, p)
		}
	}
	slices.SortStableFunc(in.heap, func(a, b *part) int { return cmp.Compare(a.next.t, b.next.t) })
	for i, p := range in.heap {
		p.place = i
	}
	return nil
}

// advancePart reads the next packet of the part on top of the heap, and finds its
// new place.
func (in *intake) advancePart(p *part) error {
	more, err := in.readPart(p)
	if err != nil {
		return err
	}
	h := in.heap
	if !more {
		h[0] = h[len(h)-1]
		h = h[:len(h)-1]
		in.heap = h
	}
	for i := 0; ; {
		least := i
		for k := 2*i + 1; k <= 2*i+2 && k < len(h); k++ {
			if h[k].before(h[least]) {
				least = k
			}
		}
		if least == i {
			return nil
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// readPart reads a packet of one part. A part that was cut off or damaged ends
// there, which Health tells; the others go on.
func (in *intake) readPart(p *part) (more bool, err error) {
	err = p.file.next(&p.next)
	if err == nil {
		return true, nil
	}
	var broken damageError
	var told capture.Health
	read := p.read
	switch {
	case err == io.EOF:
	case err == errCut:
		in.then(func(s *Source) {
			s.out.health.Truncated = true
			s.out.health.Note(p.name + " ends inside a packet")
			if p.file.short != nil {
				s.out.health.Short(p.file.short)
			}
		})
	case errors.As(err, &broken):
		in.then(func(s *Source) {
			s.out.health.Truncated = true
			s.out.health.Skip("damaged record", fmt.Sprintf("%s, packet %d: %v", p.name, read+1, err))
		})
	case told.Short(err):
		in.then(func(s *Source) { s.out.health.Short(err) })
	default:
		return false, fmt.Errorf("%s: after packet %d: %w", p.name, read, err)
	}
	p.file.r.b = nil // it is not needed any more; the next part has its own
	p.file.r.from, p.file.r.to = 0, 0
	return false, nil
}

// joined says which captures were read as one.
func (s *Source) joined() {
	if len(s.intake.parts) < 2 {
		return
	}
	const named = 5
	var names []string
	for _, p := range s.intake.parts[:min(len(s.intake.parts), named)] {
		names = append(names, p.name)
	}
	if more := len(s.intake.parts) - named; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	s.out.health.Note(fmt.Sprintf("%d files read as one, in order of time, since connections go from one to another; frames are numbered through: %s", len(s.intake.parts), strings.Join(names, ", ")))
}
