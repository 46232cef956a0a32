package accesslog

import "encoding/binary"

// literal is a text that a format has between its fields. Most are short: those
// are compared as one word.
type literal struct {
	s    string
	word uint64
	mask uint64 // 0 for texts longer than a word
}

func newLiteral(s string) literal {
	l := literal{s: s}
	if len(s) > 0 && len(s) <= 8 {
		var b [8]byte
		copy(b[:], s)
		l.word = binary.LittleEndian.Uint64(b[:])
		l.mask = ^uint64(0) >> (64 - 8*len(s))
	}
	return l
}

// stands tells whether the literal is at a place.
func (l *literal) stands(line []byte, at int) bool {
	if l.mask != 0 && at+8 <= len(line) {
		return binary.LittleEndian.Uint64(line[at:])&l.mask == l.word
	}
	return l.standsNearEnd(line, at)
}

func (l *literal) standsNearEnd(line []byte, at int) bool {
	if at+len(l.s) > len(line) {
		return false
	}
	for i := 0; i < len(l.s); i++ {
		if line[at+i] != l.s[i] {
			return false
		}
	}
	return true
}

// blank tells whether it starts with a blank.
func (l *literal) blank() bool { return l.s != "" && l.s[0] == ' ' }
