package capture

import (
	"encoding/binary"
	"math/bits"
)

// Symbol stands for a text in an Interner; 0 is the empty text.
type Symbol uint32

// Other is the symbol of every text that came after an Interner was full.
const Other Symbol = 1

// Interner gives repeated texts small numbers. It is bounded, and it belongs to
// one goroutine.
type Interner struct {
	texts    Texts
	index    map[string]Symbol
	bytes    int
	max      int
	maxBytes int
	full     uint64
	latest   [latestTexts]Symbol // found again by a few of their bytes
}

const latestTexts = 128 // a power of two

// NewInterner returns an interner for at most max texts and maxBytes of text.
func NewInterner(max, maxBytes int) *Interner {
	return &Interner{texts: Texts{"", "(other)"}, index: map[string]Symbol{}, max: max, maxBytes: maxBytes}
}

// Intern returns the symbol of b, or Other when the interner is full. It does
// not allocate for a text it has seen, nor when it is full.
func (n *Interner) Intern(b []byte) Symbol {
	if len(b) == 0 {
		return 0
	}
	latest := &n.latest[latestPlace(b)]
	if s := *latest; n.texts[s] == string(b) {
		return s
	}
	s, ok := n.index[string(b)]
	if !ok {
		if n.isFull(len(b)) {
			n.full++
			return Other
		}
		s = n.add(string(b))
	}
	*latest = s
	return s
}

// latestPlace is where a text stands that was asked for lately.
func latestPlace(b []byte) int {
	h := uint64(len(b))
	if len(b) >= 8 {
		h ^= binary.LittleEndian.Uint64(b) ^ bits.RotateLeft64(binary.LittleEndian.Uint64(b[len(b)-8:]), 29)
	} else {
		h ^= uint64(b[0])<<8 ^ uint64(b[len(b)-1])<<16
	}
	return int(h * 0x9e3779b97f4a7c15 >> (64 - bits.Len(latestTexts-1)))
}

// InternString is Intern for a string.
func (n *Interner) InternString(t string) Symbol {
	if t == "" {
		return 0
	}
	if s, ok := n.index[t]; ok {
		return s
	}
	return n.add(t)
}

func (n *Interner) add(t string) Symbol {
	if n.isFull(len(t)) {
		n.full++
		return Other
	}
	s := Symbol(len(n.texts))
	n.texts = append(n.texts, t)
	n.index[t] = s
	n.bytes += len(t)
	return s
}

// isFull tells whether a text of so many bytes has no room any more.
func (n *Interner) isFull(size int) bool { return len(n.texts) >= n.max || n.bytes+size > n.maxBytes }

// Text returns the text of s.
func (n *Interner) Text(s Symbol) string { return n.texts.Text(s) }

// Texts returns the texts so far, which stay as they are while more come: they may
// be read by another goroutine.
func (n *Interner) Texts() Texts { return n.texts }

// Texts are those of an interner, by symbol.
type Texts []string

// Text returns the text of s.
func (t Texts) Text(s Symbol) string {
	if int(s) >= len(t) {
		return ""
	}
	return t[s]
}

// Len returns how many symbols exist, the two fixed ones included.
func (n *Interner) Len() int { return len(n.texts) }

// Overflow returns how many texts became Other.
func (n *Interner) Overflow() uint64 { return n.full }
