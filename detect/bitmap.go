package detect

import (
	"math"
	"math/bits"
)

// bitmap counts distinct values in little room: each sets one bit, and the bits left
// unset say about how many values there were (linear counting: Whang, Vander-Zanden and
// Taylor, ACM TODS 15:208, 1990). Its words are a power of two in number.
type bitmap []uint64

// set notes a value by its hash.
func (b bitmap) set(hash uint64) {
	at := hash % uint64(64*len(b))
	b[at/64] |= 1 << (at % 64)
}

// or adds the values of another bitmap of the same size.
func (b bitmap) or(o bitmap) {
	for i := range b {
		b[i] |= o[i]
	}
}

// count is about how many distinct values there were; a full bitmap tells as many as one
// with a single bit unset.
func (b bitmap) count() float64 {
	set := 0
	for _, w := range b {
		set += bits.OnesCount64(w)
	}
	n := float64(64 * len(b))
	return -n * math.Log(max(1-float64(set)/n, 1/n))
}
