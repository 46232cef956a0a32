package chain

import "math/bits"

// table maps 64-bit hashes to positions in a slab: open addressing, linear
// probing, no pointers. Positions are kept plus one; 0 is an empty cell. It grows
// by half, since all of it is memory that is touched.
type table struct {
	cells []cell
	used  int
}

// cell is where a hash is. What follows the position belongs to a seed.
type cell struct {
	hash  uint64
	pos   uint32
	tmpl  uint16
	state uint8
	start int64
}

const smallTable = 64

// home is the cell in which a hash would like to be.
func (t *table) home(hash uint64) int {
	hi, _ := bits.Mul64(hash, uint64(len(t.cells)))
	return int(hi)
}

func (t *table) after(i int) int {
	if i++; i == len(t.cells) {
		return 0
	}
	return i
}

// find returns the cell of a hash, nil if there is none. It is valid until the
// table changes.
func (t *table) find(hash uint64) *cell {
	if len(t.cells) == 0 {
		return nil
	}
	for i := t.home(hash); ; i = t.after(i) {
		c := &t.cells[i]
		switch {
		case c.pos == 0:
			return nil
		case c.hash == hash:
			return c
		}
	}
}

// get returns the position of a hash, or -1.
func (t *table) get(hash uint64) int32 {
	c := t.find(hash)
	if c == nil {
		return -1
	}
	return int32(c.pos - 1)
}

// put adds a hash that is not there.
func (t *table) put(hash uint64, pos int32) { t.add(cell{hash: hash, pos: uint32(pos) + 1}) }

// add adds a cell whose hash is not there.
func (t *table) add(c cell) {
	if 4*(t.used+1) > 3*len(t.cells) {
		t.resize(max(smallTable, len(t.cells)+len(t.cells)/2))
	}
	t.insert(c)
	t.used++
}

func (t *table) insert(c cell) {
	i := t.home(c.hash)
	for t.cells[i].pos != 0 {
		i = t.after(i)
	}
	t.cells[i] = c
}

func (t *table) resize(n int) {
	old := t.cells
	t.cells = make([]cell, n)
	for i := range old {
		if old[i].pos != 0 {
			t.insert(old[i])
		}
	}
}

// remove deletes a hash and closes the gap it leaves.
func (t *table) remove(hash uint64) {
	if len(t.cells) == 0 {
		return
	}
	i := t.home(hash)
	for t.cells[i].hash != hash || t.cells[i].pos == 0 {
		if t.cells[i].pos == 0 {
			return
		}
		i = t.after(i)
	}
	for j := i; ; {
		j = t.after(j)
		if t.cells[j].pos == 0 {
			break
		}
		if home := t.home(t.cells[j].hash); t.distance(home, j) >= t.distance(i, j) {
			t.cells[i] = t.cells[j]
			i = j
		}
	}
	t.cells[i] = cell{}
	t.used--
}

// distance is how far cell j comes after cell i.
func (t *table) distance(i, j int) int {
	if j < i {
		j += len(t.cells)
	}
	return j - i
}

// mix is the finaliser of MurmurHash3 over two numbers: what it returns can be
// masked to find a cell.
func mix(a, b uint64) uint64 {
	h := a ^ (b * 0x9e3779b97f4a7c15)
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
