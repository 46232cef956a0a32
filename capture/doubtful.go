package capture

import (
	"bytes"
	"encoding/binary"
)

// doubtful tells whether an answer that is no failure may say no: most are passed
// over by this. What says no does so at once.
func doubtful(b []byte) bool {
	const front = 128
	for i := fine(b, front); i < min(len(b), front)-1; i++ {
		if c := b[i]; (c == '"' || c == ':') && saysNo(c, b[i+1:]) {
			return true
		}
	}
	return false
}

// fine is how much of the beginning of b, up to about a length, holds nothing that
// saysNo looks for, which shows in eight places at a time.
func fine(b []byte, upTo int) (i int) {
	const each = 0x0101010101010101
	for ; i < upTo && i+8+2 <= len(b); i += 8 {
		first, second, third := binary.LittleEndian.Uint64(b[i:]), binary.LittleEndian.Uint64(b[i+1:]), binary.LittleEndian.Uint64(b[i+2:])
		quote, colon := first^('"'*each), first^(':'*each)
		found := zero(quote|(second^('e'*each))|(third^('r'*each))) | // "error
			zero(quote|(second^('c'*each))|(third^('o'*each))) | // "code"
			zero(quote|(second^('s'*each))|(third^('t'*each))) | // "status
			zero(colon|(second^('f'*each))) | zero(colon|(second^(' '*each))|(third^('f'*each))) // :false
		if found != 0 {
			break
		}
	}
	return i
}

// zero is not 0 if a byte of x is 0.
func zero(x uint64) uint64 {
	const low, high = 0x0101010101010101, 0x8080808080808080
	return (x - low) &^ x & high
}

// saysNo tells whether what follows a quote or a colon may say no.
func saysNo(c byte, rest []byte) bool {
	switch next := rest[0]; {
	case c == ':':
		return next == 'f' || next == ' ' && len(rest) > 1 && rest[1] == 'f' // false
	case next == 'e':
		return bytes.HasPrefix(rest, []byte("error"))
	case next == 'c':
		return bytes.HasPrefix(rest, []byte(`code"`))
	case next == 's':
		return bytes.HasPrefix(rest, []byte("status"))
	}
	return false
}
