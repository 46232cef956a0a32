package packet

import (
	"bytes"
	"encoding/binary"
	"io"
	"runtime/debug"
	"testing"
)

// repeated reads the same bytes n times.
type repeated struct {
	b  []byte
	n  int
	in bytes.Reader
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.in.Len() == 0 {
		if r.n == 0 {
			return 0, io.EOF
		}
		r.n--
		r.in.Reset(r.b)
	}
	return r.in.Read(p)
}

// However many captures without packets follow one another, they cost no stack.
func TestEmptyCapturesOneBehindAnother(t *testing.T) {
	const n = 2_000_000
	defer debug.SetMaxStack(debug.SetMaxStack(8 << 20))
	empty := binary.LittleEndian.AppendUint32(nil, magicMicros)
	empty = binary.LittleEndian.AppendUint16(empty, 2)
	empty = binary.LittleEndian.AppendUint16(empty, 4)
	empty = append(empty, make([]byte, 8)...)
	empty = binary.LittleEndian.AppendUint32(empty, maxRecord)
	empty = binary.LittleEndian.AppendUint32(empty, 1) // Ethernet
	section := binary.LittleEndian.AppendUint32(nil, magicNG)
	section = binary.LittleEndian.AppendUint32(section, 28)
	section = binary.LittleEndian.AppendUint32(section, byteOrderMagic)
	section = append(section, 1, 0, 0, 0)
	section = append(section, bytes.Repeat([]byte{0xff}, 8)...) // its length is not known
	section = binary.LittleEndian.AppendUint32(section, 28)
	for _, c := range []struct {
		name  string
		block []byte
		times int
		more  int
	}{
		{"classic", bytes.Repeat(empty, 1000), n / 1000, n - 1},
		{"both in turn", bytes.Repeat(append(empty, section...), 1000), n / 2000, n - 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := newFile(&repeated{b: c.block, n: c.times})
			if err != nil {
				t.Fatal(err)
			}
			var p frame
			if err := f.next(&p); err != io.EOF {
				t.Fatalf("got %v, want the end of the input", err)
			}
			if f.more != c.more {
				t.Errorf("%d further captures, want %d", f.more, c.more)
			}
		})
	}
}
