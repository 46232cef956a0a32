package chain

// table maps 64-bit hashes to positions in a slab: open addressing, linear
// probing, no pointers. Positions are kept plus one; 0 is an empty cell.
type table struct {
	cells []cell
	used  int
}

type cell struct {
	hash uint64
	pos  uint32
}

const smallTable = 64

// get returns the position of a hash, or -1.
func (t *table) get(hash uint64) int32 {
	if len(t.cells) == 0 {
		return -1
	}
	mask := uint64(len(t.cells) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		c := &t.cells[i]
		switch {
		case c.pos == 0:
			return -1
		case c.hash == hash:
			return int32(c.pos - 1)
		}
	}
}

// put adds a hash that is not there.
func (t *table) put(hash uint64, pos int32) {
	if 4*(t.used+1) > 3*len(t.cells) {
		t.resize(max(smallTable, 2*len(t.cells)))
	}
	t.insert(cell{hash, uint32(pos) + 1})
	t.used++
}

func (t *table) insert(c cell) {
	mask := uint64(len(t.cells) - 1)
	i := c.hash & mask
	for t.cells[i].pos != 0 {
		i = (i + 1) & mask
	}
	t.cells[i] = c
}

func (t *table) resize(n int) {
	old := t.cells
	t.cells = make([]cell, n)
	for _, c := range old {
		if c.pos != 0 {
			t.insert(c)
		}
	}
}

// remove deletes a hash and closes the gap it leaves.
func (t *table) remove(hash uint64) {
	mask := uint64(len(t.cells) - 1)
	i := hash & mask
	for t.cells[i].hash != hash || t.cells[i].pos == 0 {
		if t.cells[i].pos == 0 {
			return
		}
		i = (i + 1) & mask
	}
	for j := i; ; {
		j = (j + 1) & mask
		if t.cells[j].pos == 0 {
			break
		}
		if home := t.cells[j].hash & mask; (j-home)&mask >= (j-i)&mask {
			t.cells[i] = t.cells[j]
			i = j
		}
	}
	t.cells[i] = cell{}
	t.used--
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
