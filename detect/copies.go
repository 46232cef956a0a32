package detect

import (
	"encoding/binary"

	"stormwatch/capture"
)

// copies finds exchanges that two sources of one hop both saw, such as a capture
// given twice or two logs that overlap, so that each is counted once.
//
// With a port, start, addresses and target name one request beyond doubt. Without,
// two requests of one client may well look alike, so a log's lines count as copies
// only where nearly all that both logs span are, to the last byte.
type copies struct {
	r     *Recording
	whole map[[2]uint8]bool // pairs of sources of which one repeats the other
	group []record          // of one start, without copies
	byKey map[uint64][]int
	seen  map[uint64]uint64 // how many alike each source has told
	text  []byte
}

// findCopies returns nil where there is nothing to compare.
func findCopies(r *Recording, ins []*Inlet, from, to int64) (*copies, error) {
	if len(ins) < 2 {
		return nil, nil
	}
	c := &copies{r: r, whole: map[[2]uint8]bool{}, byKey: map[uint64][]int{}, seen: map[uint64]uint64{}}
	n := newOverlap(ins, from, to)
	if len(n.span) > 1 { // else no two logs can repeat each other, and nothing need be read for it
		if err := r.merge(ins, n.count); err != nil {
			return nil, err
		}
		n.close()
	}
	for pair, both := range n.both {
		if n.repeats(pair, both) {
			c.whole[pair] = true
		}
	}
	return c, nil
}

// maxGroup bounds the records of one start that are compared with each other.
const (
	maxGroup     = 1 << 18 // with a clock of one second the requests of one second
	maxGroupText = 64 << 20
)

// take holds a record back until all of its start are there.
func (c *copies) take(x *record, target []byte, keep func(*record, []byte) error) error {
	if len(c.group) > 0 && (c.group[0].Start != x.Start || len(c.group) == maxGroup || len(c.text) > maxGroupText) {
		if err := c.flush(keep); err != nil {
			return err
		}
	}
	key := likeness(x, target)
	nth := mix(key, uint64(x.source)+1)
	c.seen[nth]++
	key = mix(key, c.seen[nth]) // of several alike in one source, each has its own counterpart
	i := len(c.group)
	for _, k := range c.byKey[key] {
		if c.same(&c.group[k], x) {
			c.r.inlets[x.source].copied(c.r.inlets[c.group[k].source].info.Name)
			if c.group[k].Outcome == capture.Answered || x.Outcome != capture.Answered {
				return nil
			}
			i = k // the copy has the answer
		}
	}
	kept := *x
	kept.Target = capture.Span{Off: uint32(len(c.text)), Len: uint32(len(target))}
	c.text = append(c.text, target...)
	if i < len(c.group) {
		c.group[i] = kept
		return nil
	}
	c.group = append(c.group, kept)
	c.byKey[key] = append(c.byKey[key], i)
	return nil
}

// flush passes the group on.
func (c *copies) flush(keep func(*record, []byte) error) error {
	for i := range c.group {
		x := &c.group[i]
		if err := keep(x, c.text[x.Target.Off:][:x.Target.Len]); err != nil {
			return err
		}
	}
	c.group, c.text = c.group[:0], c.text[:0]
	clear(c.byKey)
	clear(c.seen)
	return nil
}

// same tells whether two records that are alike are one exchange.
func (c *copies) same(a, b *record) bool {
	if a.source == b.source {
		return false
	}
	return a.Src.Port != 0 || c.whole[[2]uint8{a.source, b.source}]
}

// likeness hashes what copies of an exchange have in common: with ports who asked
// what of whom, and without, the outcome as well.
func likeness(x *record, target []byte) uint64 {
	var b [88]byte
	n := copy(b[:], x.Src.IP[:])
	n += copy(b[n:], x.Dst.IP[:])
	for _, v := range []uint64{uint64(x.Start), uint64(x.Src.Port)<<16 | uint64(x.Dst.Port), uint64(x.Method)<<32 | uint64(x.Host)} {
		binary.LittleEndian.PutUint64(b[n:], v)
		n += 8
	}
	if x.Src.Port == 0 {
		binary.LittleEndian.PutUint64(b[n:], uint64(x.End))
		binary.LittleEndian.PutUint64(b[n+8:], uint64(x.Status)<<32|uint64(x.Agent))
		binary.LittleEndian.PutUint64(b[n+16:], x.Line)
		n += 24
	}
	return hash(hash(3, b[:n]), target)
}
