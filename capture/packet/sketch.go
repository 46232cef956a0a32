package packet

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

const (
	maxSketched = 1 << 14 // connections of each kind that a sketch remembers
	// nextWithin is how far the first packet of a capture may lie before the last
	// one of the capture it continues: a program that rotates writes what several
	// queues gave it, and clocks are corrected.
	nextWithin = 1e9
)

// Sketch is what must be known of a capture to tell whether another one belongs to
// it: when it was taken, and which connections it holds.
type Sketch struct {
	First, Last int64 // Unix nanoseconds; 0 without packets
	links       []uint32
	head        map[key]sight    // the first connections
	tail        [2]map[key]sight // the last ones, in two generations
}

// sight is what was seen of a connection.
type sight uint8

const (
	fromLow  sight = 1 << iota
	fromHigh       // the other direction
	midway         // its first packet is no SYN
)

// Survey reads a capture to its end, or as far as it can be read, and decodes as
// little as it can: about a tenth of what Run takes.
func Survey(r io.Reader) (*Sketch, error) {
	f, err := newFile(r)
	if err != nil {
		return nil, fmt.Errorf("looking through the capture: %w", err)
	}
	s := &Sketch{head: map[key]sight{}, tail: [2]map[key]sight{{}, {}}}
	var p frame
	var d decoder
	for n := uint64(1); ; n++ {
		switch err := f.next(&p); {
		case err == nil:
		case ended(err) || errors.Is(err, errCut):
			return s, nil
		default:
			return s, err
		}
		s.time(p.t)
		if !slices.Contains(s.links, p.link) && len(s.links) < maxTags {
			s.links = append(s.links, p.link)
		}
		if d.decode(&p, n) == "" {
			s.see(&d.addressed)
		}
		d.fragments.lost = d.fragments.lost[:0]
	}
}

func (s *Sketch) time(t int64) {
	if s.First == 0 || t < s.First {
		s.First = t
	}
	s.Last = max(s.Last, t)
}

func (s *Sketch) see(seg *addressed) {
	var k key
	swapped := k.name(seg)
	now, begun := fromLow, midway
	if swapped {
		now = fromHigh
	}
	if seg.flags&flagSYN != 0 {
		begun = 0
	}
	if old, ok := s.head[k]; ok {
		s.head[k] = old | now
	} else if len(s.head) < maxSketched {
		s.head[k] = now | begun
	}
	if _, ok := s.tail[0][k]; !ok {
		if len(s.tail[0]) == maxSketched {
			s.tail[0], s.tail[1] = s.tail[1], s.tail[0]
			clear(s.tail[0])
		}
		s.tail[0][k] = now
	}
}

// Continues tells whether a capture goes on where an earlier one ended, as the
// files of a rotating tcpdump do: it begins with connections of the other's end.
func (s *Sketch) Continues(earlier *Sketch) bool {
	if s.First < earlier.Last-nextWithin || s.First < earlier.First || !slices.Equal(s.links, earlier.links) {
		return false
	}
	for k, seen := range s.head {
		if seen&midway == 0 {
			continue
		}
		for _, old := range earlier.tail {
			if _, ok := old[k]; ok {
				return true
			}
		}
	}
	return false
}

// Complements tells whether two captures show the two directions of the same
// connections, as the two ports of a tap do.
func (s *Sketch) Complements(o *Sketch) bool {
	if s.First > o.Last || o.First > s.Last {
		return false
	}
	const both = fromLow | fromHigh
	shared := 0
	for k, a := range s.head {
		if b, ok := o.head[k]; ok {
			if a&both == both || b&both == both || a&both == b&both {
				return false
			}
			shared++
		}
	}
	return shared > 0
}
