package packet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

const (
	// maxRecord bounds one captured packet: the largest snapshot length that
	// tcpdump and Wireshark write (MAXIMUM_SNAPLEN of libpcap).
	maxRecord = 256 << 10
	// maxWire bounds a packet on the wire: twice the longest one that Linux builds
	// before the card splits it (GSO_MAX_SIZE, 8 * 65,535 bytes).
	maxWire   = 1 << 20
	headBytes = 24
)

// Magic numbers of capture files (draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng).
const (
	magicMicros   = 0xa1b2c3d4
	magicNanos    = 0xa1b23c4d
	magicModified = 0xa1b2cd34 // Kuznetzov's patched libpcap: records with 8 more bytes
	magicNG       = 0x0a0d0d0a
)

// errCut ends an input that stops inside a record.
var errCut = errors.New("the capture ends inside a packet")

// Detect tells whether an input that begins with head is a packet capture. Four
// bytes are enough.
func Detect(head []byte) bool {
	if len(head) < 4 {
		return false
	}
	m := binary.LittleEndian.Uint32(head)
	if m == magicNG {
		return true
	}
	_, ok := classicOf(m)
	if !ok {
		_, ok = classicOf(binary.BigEndian.Uint32(head))
	}
	return ok
}

// frame is one captured packet. Its data is valid until the next one is read.
type frame struct {
	t    int64 // Unix nanoseconds
	link uint32
	cut  int // bytes of it that were not captured
	data []byte
}

// cutOff is how much of a packet of wire bytes was not captured; 0 where the
// length on the wire cannot be.
func cutOff(captured, wire uint32) int {
	if wire <= captured || wire > maxWire {
		return 0
	}
	return int(wire - captured)
}

// classic is one variant of the classic format.
type classic struct {
	big  bool  // its numbers are big endian
	unit int64 // nanoseconds of one count of a time stamp's fraction
	head int   // bytes before a record's data
	link uint32
	old  int // 1: the lengths of a record may stand in the other order, 2: they do
}

func classicOf(magic uint32) (classic, bool) {
	switch magic {
	case magicMicros:
		return classic{unit: 1000, head: 16}, true
	case magicNanos:
		return classic{unit: 1, head: 16}, true
	case magicModified:
		return classic{unit: 1000, head: 24}, true
	}
	return classic{}, false
}

// age notes how old the format is. Before version 2.3 the length on the wire
// stood before the captured one, 2.3 was written either way (sf-pcap.c of libpcap).
func (c *classic) age(major, minor uint16) {
	switch {
	case major == 2 && minor == 3:
		c.old = 1
	case major == 2 && minor < 3, major == 543: // 543: DG/UX
		c.old = 2
	}
}

// number reads a number of 32 bits. It is asked for several times a packet: through
// an interface for the order of bytes it would not be inlined.
func (c *classic) number(b []byte) uint32 {
	n := binary.LittleEndian.Uint32(b)
	if c.big {
		return bits.ReverseBytes32(n)
	}
	return n
}

// version reads the format's major and minor version.
func (c *classic) version(b []byte) (major, minor uint16) {
	if c.big {
		return binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	}
	return binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint16(b[2:])
}

// lengths reads the captured length and the one on the wire.
func (c *classic) lengths(h []byte) (captured, wire uint32) {
	captured, wire = c.number(h[8:]), c.number(h[12:])
	if c.old == 2 || c.old == 1 && captured > wire {
		return wire, captured
	}
	return captured, wire
}

// file reads the packets of a capture. It keeps one buffer, whatever the length
// fields say.
type file struct {
	r       window
	classic classic
	ng      *blocks // nil for the classic format
	short   error   // how the input ended, where that was no clean end
	pending int     // bytes of the last packet still to be discarded
	read    int64   // bytes consumed
	unit    int64   // clock unit the format names, in nanoseconds
	more    int     // captures that followed the first in the same input
	lost    uint64  // packets that the hosts of those before the present one lost
}

// dropped is how many packets the capturing host says it lost.
func (f *file) dropped() uint64 {
	if f.ng == nil { // the classic format does not tell
		return f.lost
	}
	return f.lost + f.ng.dropped()
}

// newFile reads the head of a capture.
func newFile(r io.Reader) (*file, error) {
	f := &file{r: window{r: r, b: make([]byte, firstBytes)}}
	head, err := f.r.peek(4)
	switch {
	case len(head) == 0 && (err == nil || ended(err)):
		return nil, errors.New("the capture is empty: no bytes at all; was the capturing program stopped before it wrote?")
	case err != nil && !ended(err):
		return nil, fmt.Errorf("read the capture's header: %w", err)
	case len(head) < 4:
		return nil, fmt.Errorf("no capture: %d bytes are too few", len(head))
	}
	if binary.LittleEndian.Uint32(head) == magicNG {
		f.ng, f.unit = &blocks{}, 1000
		return f, nil
	}
	return f, f.classicHead()
}

func (f *file) classicHead() error {
	head, err := f.r.peek(4)
	if err != nil {
		return err
	}
	magic := binary.LittleEndian.Uint32(head)
	c, ok := classicOf(magic)
	if !ok {
		c, ok = classicOf(binary.BigEndian.Uint32(head))
		c.big = true
	}
	if !ok {
		return fmt.Errorf("no capture: it begins with %x, want the magic number of pcap or pcapng", head)
	}
	if head, err = f.r.peek(headBytes); err != nil {
		if ended(err) {
			return fmt.Errorf("no packets: the capture ends inside its header, after %d of %d bytes", len(head), headBytes)
		}
		return fmt.Errorf("read the capture's header: %w", err)
	}
	c.link = c.number(head[20:]) & 0xffff // the upper bits hold the length of a frame check sequence
	c.age(c.version(head[4:]))
	if err := linkError(c.link); err != nil {
		return err
	}
	f.classic, f.unit = c, c.unit
	f.pending = headBytes
	return nil
}

// next reads a packet. It returns io.EOF at the end, errCut when the input stops
// inside a record, and another error where the file cannot be read on.
func (f *file) next(p *frame) error {
	for { // captures without packets may follow one another without end: no recursion
		if err := f.consume(); err != nil {
			return err
		}
		again, err := false, error(nil)
		if f.ng != nil {
			again, err = f.nextNG(p)
		} else {
			again, err = f.nextClassic(p)
		}
		if err != nil || !again {
			return err
		}
		if err := f.follow(); err != nil {
			return err
		}
	}
}

// nextClassic reads the next record, or tells that another capture begins here.
func (f *file) nextClassic(p *frame) (another bool, err error) {
	c := &f.classic
	h, err := f.peek(c.head)
	if err != nil {
		return false, err
	}
	if f.another(h) {
		return true, nil
	}
	length, wire := c.lengths(h)
	if length > maxRecord {
		return false, damaged(uint64(length))
	}
	p.t = int64(c.number(h))*1e9 + int64(c.number(h[4:]))*c.unit
	p.link, p.cut = c.link, cutOff(length, wire)
	whole, err := f.peek(c.head + int(length))
	if err != nil {
		return false, cut(err)
	}
	p.data = whole[c.head:]
	f.pending = len(whole)
	return false, nil
}

// another tells whether another capture begins where a record should, as where files
// were put one behind another with cat: its magic number and version, or a section of
// pcapng.
func (f *file) another(h []byte) bool {
	magic, order := binary.LittleEndian.Uint32(h), binary.ByteOrder(binary.LittleEndian)
	if magic == magicNG {
		m := binary.LittleEndian.Uint32(h[8:])
		return m == byteOrderMagic || m == 0x4d3c2b1a
	}
	_, ok := classicOf(magic)
	if !ok {
		order = binary.BigEndian
		_, ok = classicOf(order.Uint32(h))
	}
	return ok && order.Uint16(h[4:]) == 2 && order.Uint16(h[6:]) <= 4
}

// follow goes on with the capture that begins here.
func (f *file) follow() error {
	f.lost, f.ng = f.dropped(), nil
	f.more++
	h, err := f.peek(4)
	if err != nil {
		return cut(err)
	}
	if binary.LittleEndian.Uint32(h) == magicNG {
		f.ng = &blocks{}
		return nil
	}
	if err := f.classicHead(); err != nil {
		return fmt.Errorf("a further capture begins here, and cannot be read: %w", err)
	}
	return nil
}

// peek shows the next n bytes; io.EOF only when there are none at all.
func (f *file) peek(n int) ([]byte, error) {
	b, err := f.r.peek(n)
	if err == nil {
		return b, nil
	}
	if !ended(err) {
		return nil, err
	}
	if err != io.EOF {
		f.short = err
	}
	if len(b) == 0 && err == io.EOF {
		return nil, io.EOF
	}
	return nil, errCut
}

// consume passes over the packet that was handed out.
func (f *file) consume() error {
	n, err := f.r.discard(f.pending)
	f.read += int64(n)
	f.pending = 0
	if err != nil && ended(err) {
		f.short = err
		return errCut
	}
	return err
}

// unread reads the rest of the input, and tells what share of the whole it is.
func (f *file) unread() float64 {
	rest := int64(f.r.buffered())
	n, _ := io.Copy(io.Discard, f.r.r) // what cannot be read is not missed
	if rest += n; rest == 0 {
		return 0
	}
	return float64(rest) / float64(f.read+rest)
}

func ended(err error) bool { return err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) }

// damageError tells of what no capture program writes: what follows cannot be
// found.
type damageError struct{ what string }

func (e damageError) Error() string {
	return e.what + ": the file is damaged here, the rest cannot be read"
}

func damaged(length uint64) error {
	return damageError{fmt.Sprintf("a record claims %d bytes (at most %d are possible)", length, maxRecord)}
}
