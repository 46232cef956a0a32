package chain

import (
	"math/bits"
	"slices"
)

// table maps 64-bit hashes to positions in a slab: open addressing, linear
// probing, no pointers. It is divided by the hash's first bits into parts that grow
// one by one, each by a quarter: what is copied then stays in the cache, and no more
// than a part is there twice.
type table struct {
	parts [parts]part
}

type part struct {
	cells []cell
	used  int
}

// cell is where a hash is. Positions are kept plus one; 0 is an empty cell. What
// follows the position belongs to a seed.
type cell struct {
	hash  uint64
	pos   uint32
	tmpl  uint16
	state uint8
	start int64
}

const (
	partBits  = 5
	parts     = 1 << partBits
	smallPart = 8
)

func (t *table) part(hash uint64) *part { return &t.parts[hash>>(64-partBits)] }

// find returns the cell of a hash, nil if there is none. It is valid until the
// table changes.
func (t *table) find(hash uint64) *cell {
	p := t.part(hash)
	if len(p.cells) == 0 {
		return nil
	}
	for i := p.home(hash); ; i = p.after(i) {
		c := &p.cells[i]
		switch {
		case c.pos == 0:
			return nil
		case c.hash == hash:
			return c
		}
	}
}

// touch reads where a hash would be, so that it is in the cache when it is looked
// for.
func (t *table) touch(hash uint64) uint64 {
	if p := t.part(hash); len(p.cells) > 0 {
		return p.cells[p.home(hash)].hash
	}
	return 0
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
	p := t.part(c.hash)
	if 5*(p.used+1) > 4*len(p.cells) {
		p.resize(max(smallPart, len(p.cells)+len(p.cells)/4))
	}
	p.insert(c)
	p.used++
}

// remove deletes a hash and closes the gap it leaves.
func (t *table) remove(hash uint64) {
	if t.find(hash) != nil {
		t.part(hash).remove(hash)
	}
}

// len is how many hashes there are.
func (t *table) len() (n int) {
	for i := range t.parts {
		n += t.parts[i].used
	}
	return n
}

func (t *table) clone() table {
	c := *t
	for i := range c.parts {
		c.parts[i].cells = slices.Clone(c.parts[i].cells)
	}
	return c
}

// home is the cell in which a hash would like to be.
func (p *part) home(hash uint64) int {
	hi, _ := bits.Mul64(hash<<partBits, uint64(len(p.cells)))
	return int(hi)
}

func (p *part) after(i int) int {
	if i++; i == len(p.cells) {
		return 0
	}
	return i
}

func (p *part) insert(c cell) { p.cells[p.room(p.home(c.hash))] = c }

// room is the first empty cell from one on.
func (p *part) room(i int) int {
	for p.cells[i].pos != 0 {
		i = p.after(i)
	}
	return i
}

// resize moves all to new cells. Behind an empty cell they come nearly in order of
// their homes, so that most go to their home, or right behind the one before.
func (p *part) resize(n int) {
	old := p.cells
	p.cells = make([]cell, n)
	start := max(0, slices.IndexFunc(old, func(c cell) bool { return c.pos == 0 }))
	was, next := 0, 0 // the home of the one before, and the empty cell behind it
	for _, cells := range [...][]cell{old[start:], old[:start]} {
		for k := range cells {
			c := &cells[k]
			if c.pos == 0 {
				continue
			}
			home := p.home(c.hash)
			if i := max(home, next); home >= was && i < n {
				p.cells[i] = *c
				was, next = home, i+1
				continue
			}
			p.insert(*c)
			for next < n && p.cells[next].pos != 0 {
				next++
			}
		}
	}
}

// remove deletes a hash that is there.
func (p *part) remove(hash uint64) {
	i := p.home(hash)
	for p.cells[i].hash != hash || p.cells[i].pos == 0 {
		i = p.after(i)
	}
	p.vacate(i)
}

// vacate empties a cell. Later cells move back into the gap, never before their
// home.
func (p *part) vacate(i int) {
	for j := i; ; {
		j = p.after(j)
		if p.cells[j].pos == 0 {
			break
		}
		if home := p.home(p.cells[j].hash); p.distance(home, j) >= p.distance(i, j) {
			p.cells[i] = p.cells[j]
			i = j
		}
	}
	p.cells[i] = cell{}
	p.used--
}

// distance is how far cell j comes after cell i.
func (p *part) distance(i, j int) int {
	if j < i {
		j += len(p.cells)
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
