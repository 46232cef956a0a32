package chain

// keySlab keeps keys by number, in blocks: it grows without copying any, and they
// hold no pointer.
type keySlab struct {
	blocks []*[keyBlock]key
	n      int
}

const keyBlock = 256

func (s *keySlab) len() int { return s.n }

func (s *keySlab) at(i int32) *key { return &s.blocks[uint32(i)/keyBlock][uint32(i)%keyBlock] }

// more makes room for one more.
func (s *keySlab) more() int32 {
	if s.n == len(s.blocks)*keyBlock {
		s.blocks = append(s.blocks, new([keyBlock]key))
	}
	s.n++
	return int32(s.n - 1)
}

func (s *keySlab) clone() keySlab {
	c := keySlab{n: s.n, blocks: make([]*[keyBlock]key, len(s.blocks))}
	for i, b := range s.blocks {
		own := *b
		c.blocks[i] = &own
	}
	return c
}
