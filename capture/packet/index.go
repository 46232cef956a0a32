package packet

import (
	"encoding/binary"
	"hash/maphash"
	"iter"
	"math/bits"

	"stormwatch/capture"
)

// key names a connection, whichever way a packet goes.
type key struct{ low, high capture.Endpoint }

// name makes it that of the connection of a segment; swapped tells that this comes
// from high.
func (k *key) name(s *addressed) (swapped bool) {
	low, high := &s.src, &s.dst
	if swapped = less(high, low); swapped {
		low, high = high, low
	}
	put(&k.low, low)
	put(&k.high, high)
	return swapped
}

// put copies an end in stores of the size in which it was written and will be read:
// a processor has to wait where a load spans several stores that are under way, and
// this is done for each packet.
func put(to, from *capture.Endpoint) {
	le := binary.LittleEndian
	le.PutUint64(to.IP[:], le.Uint64(from.IP[:]))
	le.PutUint64(to.IP[8:], le.Uint64(from.IP[8:]))
	to.Port = from.Port
}

// sameEnd tells whether two ends are one.
func sameEnd(a, b *capture.Endpoint) bool {
	le := binary.LittleEndian
	return le.Uint64(a.IP[8:]) == le.Uint64(b.IP[8:]) && a.Port == b.Port && le.Uint64(a.IP[:]) == le.Uint64(b.IP[:])
}

// index finds connections by their ends, in one look at a small slot and one at
// the connection: Go's maps keep the keys in the table, so that a packet of one
// connection among many waits for memory more often. Slots are probed one after
// the other, and those behind a removed one move up. Hashes are keyed, so that
// nobody can choose addresses that all collide.
type index struct {
	slots  []slot // a power of two
	n      int
	secret secret
}

// secret is what hashes are keyed with.
type secret [2]uint64

type slot struct {
	tag uint32 // of the key's hash; its upper bits say where probing begins
	c   *conn
}

const leastSlots = 1 << 6

func newSecret() secret {
	seed := maphash.MakeSeed()
	return secret{maphash.String(seed, "a"), maphash.String(seed, "b")}
}

func newIndex(s secret) index { return index{slots: make([]slot, leastSlots), secret: s} }

// tag is a keyed hash: products of 128 bits folded (https://github.com/wangyi-fudan/wyhash).
func (s *secret) tag(k *key) uint32 {
	le := binary.LittleEndian
	h := fold(le.Uint64(k.low.IP[:])^s[0], le.Uint64(k.low.IP[8:])^s[1])
	h = fold(h^le.Uint64(k.high.IP[:]), le.Uint64(k.high.IP[8:])^s[0])
	h = fold(h^uint64(k.low.Port)<<16^uint64(k.high.Port), s[1])
	return uint32(h)
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

func (x *index) home(tag uint32) int { return int(tag) & (len(x.slots) - 1) }

// find returns the connection of a key and its tag, or nil.
func (x *index) find(k *key, tag uint32) *conn {
	if x.n == 0 {
		return nil
	}
	for i := x.home(tag); ; i = (i + 1) & (len(x.slots) - 1) {
		switch s := &x.slots[i]; {
		case s.c == nil:
			return nil
		case s.tag == tag && sameEnd(&s.c.key.low, &k.low) && sameEnd(&s.c.key.high, &k.high):
			return s.c
		}
	}
}

// insert adds a connection whose key is not there.
func (x *index) insert(c *conn) {
	if x.n >= len(x.slots)/8*7 {
		old := x.slots
		x.slots = make([]slot, 2*len(old))
		for _, s := range old {
			if s.c != nil {
				x.put(s)
			}
		}
	}
	x.put(slot{x.secret.tag(&c.key), c})
	x.n++
}

func (x *index) put(s slot) {
	i := x.home(s.tag)
	for x.slots[i].c != nil {
		i = (i + 1) & (len(x.slots) - 1)
	}
	x.slots[i] = s
}

// remove takes a connection out.
func (x *index) remove(c *conn) {
	mask := len(x.slots) - 1
	i := x.home(x.secret.tag(&c.key))
	for x.slots[i].c != c {
		i = (i + 1) & mask
	}
	for j := (i + 1) & mask; x.slots[j].c != nil; j = (j + 1) & mask {
		if home := x.home(x.slots[j].tag); (j-home)&mask >= (j-i)&mask { // it may stand as far up as i
			x.slots[i], i = x.slots[j], j
		}
	}
	x.slots[i] = slot{}
	x.n--
}

// all walks over the connections, in no order.
func (x *index) all() iter.Seq[*conn] {
	return func(yield func(*conn) bool) {
		for _, s := range x.slots {
			if s.c != nil && !yield(s.c) {
				return
			}
		}
	}
}
