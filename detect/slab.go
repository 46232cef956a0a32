package detect

import "hash/maphash"

// clientTable keeps the clients by number, in blocks: it grows without copying
// any, and they hold no pointer.
type clientTable struct {
	blocks []*[clientBlock]client
	n      int
}

const clientBlock = 256

func (t *clientTable) len() int { return t.n }

func (t *clientTable) at(id uint32) *client { return &t.blocks[id/clientBlock][id%clientBlock] }

func (t *clientTable) grow(n int) {
	for t.n = max(t.n, n); len(t.blocks)*clientBlock < t.n; {
		t.blocks = append(t.blocks, new([clientBlock]client))
	}
}

func (t *clientTable) clone() clientTable {
	c := clientTable{n: t.n, blocks: make([]*[clientBlock]client, len(t.blocks))}
	for i, b := range t.blocks {
		own := *b
		c.blocks[i] = &own
	}
	return c
}

// flightTable keeps the flights by number, likewise: many may wait for long.
type flightTable struct {
	blocks []*[flightBlock]flight
	n      int
}

const flightBlock = 256

func (t *flightTable) at(i int32) *flight { return &t.blocks[i/flightBlock][i%flightBlock] }

// more makes room for one more.
func (t *flightTable) more() int32 {
	if t.n == len(t.blocks)*flightBlock {
		t.blocks = append(t.blocks, new([flightBlock]flight))
	}
	t.n++
	return int32(t.n - 1)
}

func (t *flightTable) clone() flightTable {
	c := flightTable{n: t.n, blocks: make([]*[flightBlock]flight, len(t.blocks))}
	for i, b := range t.blocks {
		own := *b
		c.blocks[i] = &own
	}
	return c
}

// addrTable finds the number of the client at an address: open addressing, linear
// probing, no pointers, an address in one or two cache lines. Its hash differs
// from run to run, so that nobody can choose addresses that collide.
type addrTable struct {
	cells []addrCell
	used  int
	seed  maphash.Seed
}

// addrCell is empty where its number is 0.
type addrCell struct {
	ip [16]byte
	id uint32
}

func newAddrTable() addrTable {
	return addrTable{cells: make([]addrCell, 64), seed: maphash.MakeSeed()}
}

// find returns the cell of an address, or the empty one where it would be.
func (t *addrTable) find(ip *[16]byte) *addrCell {
	mask := uint64(len(t.cells) - 1)
	for i := maphash.Bytes(t.seed, ip[:]) & mask; ; i = (i + 1) & mask {
		if c := &t.cells[i]; c.id == 0 || c.ip == *ip {
			return c
		}
	}
}

// touch reads the cell at which find will begin.
func (t *addrTable) touch(ip *[16]byte) uint32 {
	return t.cells[maphash.Bytes(t.seed, ip[:])&uint64(len(t.cells)-1)].id
}

// put gives an address that is not there a number above 0.
func (t *addrTable) put(ip *[16]byte, id uint32) {
	if 4*(t.used+1) > 3*len(t.cells) {
		t.rebuild(2*len(t.cells), func(uint32) bool { return true })
	}
	*t.find(ip) = addrCell{*ip, id}
	t.used++
}

// rebuild makes the table anew of those that keep lets pass.
func (t *addrTable) rebuild(size int, keep func(id uint32) bool) {
	old := t.cells
	t.cells, t.used = make([]addrCell, size), 0
	for i := range old {
		if c := &old[i]; c.id != 0 && keep(c.id) {
			*t.find(&c.ip) = *c
			t.used++
		}
	}
}
