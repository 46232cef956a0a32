package capture

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// compressions are the ones known, by the bytes they begin with.
var compressions = [...]struct {
	magic, kind, program string
	read                 bool // Decompress can undo it
}{
	{"\x1f\x8b", "gzip", "zcat", true},            // RFC 1952 section 2.3.1
	{"\x28\xb5\x2f\xfd", "zstd", "zstdcat", true}, // RFC 8878 section 3.1.1
	{"BZh", "bzip2", "bzcat", false},
	{"\xfd7zXZ\x00", "xz", "xzcat", false},
}

// Compressed names the compression in which an input comes whose first bytes are
// head, and the program that undoes it; "" if it is none known.
func Compressed(head []byte) (kind, program string) {
	if len(head) >= 4 && head[0]>>4 == 5 && string(head[1:4]) == "\x2a\x4d\x18" { // RFC 8878 section 3.1.2: a frame to skip
		return "zstd", "zstdcat"
	}
	for i := range compressions {
		if c := &compressions[i]; bytes.HasPrefix(head, []byte(c.magic)) {
			return c.kind, c.program
		}
	}
	return "", ""
}

// Compression is Compressed for what Decompress can undo: "gzip" or "zstd", else "".
func Compression(head []byte) string {
	kind, _ := Compressed(head)
	for i := range compressions {
		if c := &compressions[i]; c.kind == kind && c.read {
			return kind
		}
	}
	return ""
}

// maxWindow bounds the memory of a zstd decoder: as much as the zstd program
// takes without being told otherwise (ZSTD_WINDOWLOG_LIMIT_DEFAULT, 27).
const maxWindow = 1 << 27

// Decompress reads a gzip or zstd input, whichever kind Compression named, of one
// part or of several joined. It keeps the window of the compression in memory
// (gzip 32 KiB, zstd at most 128 MiB) and never the whole.
//
// An input that is cut off gives what it holds, and then an error that is
// io.ErrUnexpectedEOF; one that is damaged, or whose checksum does not fit, gives
// what came before and then an error that is ErrDamaged. Errors of r are passed on.
func Decompress(kind string, r io.Reader) io.Reader {
	return &plain{kind: kind, in: watched{r: r}}
}

// ErrDamaged is what an error of Decompress is where the input is damaged.
var ErrDamaged = errors.New("damaged")

// Short tells whether an input that ended with err is compressed and was cut off
// or damaged: what came until then is worth reading. h then says so.
func (h *Health) Short(err error) bool {
	if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, ErrDamaged) {
		return false
	}
	h.Truncated = true
	if err != io.ErrUnexpectedEOF { // that says nothing
		h.Note(err.Error())
	}
	return true
}

// plain is a decompressed input. It is opened by the first Read, since that may
// wait for the header.
type plain struct {
	kind string
	in   watched
	out  io.Reader
	n    int64 // bytes given
	err  error
}

// Read implements io.Reader.
func (p *plain) Read(b []byte) (n int, err error) {
	if p.err != nil {
		return 0, p.err
	}
	if p.out == nil {
		p.out, err = p.open()
	}
	if err == nil {
		n, err = p.out.Read(b)
		p.n += int64(n)
	}
	p.err = p.tell(err)
	return n, p.err
}

func (p *plain) open() (io.Reader, error) {
	if p.kind == "gzip" {
		return newMembers(&p.in)
	}
	// One goroutine: nothing is left running when reading is given up.
	return zstd.NewReader(&p.in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
}

// tell says what an error means for the input.
func (p *plain) tell(err error) error {
	switch {
	case err == nil, errors.Is(err, io.EOF), p.in.err != nil && !errors.Is(p.in.err, io.EOF):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the %s data ends early, %d bytes into what it holds: the file is cut off, or still being written: %w", p.kind, p.n, io.ErrUnexpectedEOF)
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fmt.Errorf("the zstd data needs more than %d MiB of memory: give it through `zstd -dc --long=31 FILE | stormwatch report -`", maxWindow>>20)
	}
	return damage{fmt.Errorf("the %s data is damaged %d bytes into what it holds: %w", p.kind, p.n, err)}
}

// damage is an error that is ErrDamaged besides.
type damage struct{ error }

func (d damage) Unwrap() []error { return []error{d.error, ErrDamaged} }

// watched remembers how an input ended.
type watched struct {
	r   io.Reader
	err error
}

// Read implements io.Reader.
func (w *watched) Read(b []byte) (int, error) {
	n, err := w.r.Read(b)
	if err != nil {
		w.err = err
	}
	return n, err
}

// members reads the members of a gzip file one after another. Tapes and archives
// pad with zeros behind the last, which the gzip program passes over as well.
type members struct {
	in    *bufio.Reader
	z     *gzip.Reader
	ended bool // the member at hand
}

func newMembers(r io.Reader) (*members, error) {
	m := &members{in: bufio.NewReader(r)}
	z, err := gzip.NewReader(m.in)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	m.z = z
	return m, nil
}

// Read implements io.Reader.
func (m *members) Read(b []byte) (int, error) {
	if m.ended { // looked for only now: the next member may be long in coming
		if err := m.next(); err != nil {
			return 0, err
		}
		m.ended = false
	}
	n, err := m.z.Read(b)
	if errors.Is(err, io.EOF) {
		m.ended, err = true, nil
	}
	return n, err
}

// next goes to the next member; io.EOF after the last.
func (m *members) next() error {
	for {
		c, err := m.in.ReadByte()
		if err != nil {
			return err
		}
		if c != 0 {
			break
		}
	}
	if err := m.in.UnreadByte(); err != nil {
		return err
	}
	if err := m.z.Reset(m.in); err != nil {
		return err
	}
	m.z.Multistream(false)
	return nil
}
