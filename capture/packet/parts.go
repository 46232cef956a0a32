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
	s := &Source{name: name, opt: opt}
	for _, p := range parts {
		f, err := newFile(p.In)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		s.parts = append(s.parts, &part{name: p.Name, file: f})
	}
	s.file = s.parts[0].file
	return s, nil
}

// next reads the packet that is next in time.
func (s *Source) next(f *frame) error {
	if s.parts == nil {
		return s.file.next(f)
	}
	if s.heap == nil {
		s.heap = make([]*part, 0, len(s.parts))
		if err := s.beginParts(); err != nil {
			return err
		}
	} else if len(s.heap) > 0 { // the packet of the first one has been handed out
		if err := s.advancePart(s.heap[0]); err != nil {
			return err
		}
	}
	if len(s.heap) == 0 {
		return io.EOF
	}
	p := s.heap[0]
	s.file = p.file
	p.read++
	*f = p.next
	return nil
}

// beginParts reads the first packet of each part. In order of these, the parts are
// a heap already; of packets of one time that of the part which began first is next.
func (s *Source) beginParts() error {
	for _, p := range s.parts {
		more, err := s.readPart(p)
		if err != nil {
			return err
		}
		if more {
			s.heap = append(s.heap, p)
		}
	}
	slices.SortStableFunc(s.heap, func(a, b *part) int { return cmp.Compare(a.next.t, b.next.t) })
	for i, p := range s.heap {
		p.place = i
	}
	return nil
}

// advancePart reads the next packet of the part on top of the heap, and finds its
// new place.
func (s *Source) advancePart(p *part) error {
	more, err := s.readPart(p)
	if err != nil {
		return err
	}
	h := s.heap
	if !more {
		h[0] = h[len(h)-1]
		h = h[:len(h)-1]
		s.heap = h
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
func (s *Source) readPart(p *part) (more bool, err error) {
	err = p.file.next(&p.next)
	if err == nil {
		return true, nil
	}
	h := &s.out.health
	var broken damageError
	switch {
	case err == io.EOF:
	case err == errCut:
		h.Truncated = true
		h.Note(p.name + " ends inside a packet")
		if p.file.short != nil {
			h.Short(p.file.short)
		}
	case errors.As(err, &broken):
		h.Truncated = true
		h.Skip("damaged record", fmt.Sprintf("%s, packet %d: %v", p.name, p.read+1, err))
	case h.Short(err):
	default:
		return false, fmt.Errorf("%s: after packet %d: %w", p.name, p.read, err)
	}
	p.file.r.b = nil // it is not needed any more; the next part has its own
	p.file.r.from, p.file.r.to = 0, 0
	return false, nil
}

// joined says which captures were read as one.
func (s *Source) joined() {
	if len(s.parts) < 2 {
		return
	}
	const named = 5
	var names []string
	for _, p := range s.parts[:min(len(s.parts), named)] {
		names = append(names, p.name)
	}
	if more := len(s.parts) - named; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	s.out.health.Note(fmt.Sprintf("%d files read as one, in order of time, since connections go from one to another; frames are numbered through: %s", len(s.parts), strings.Join(names, ", ")))
}
