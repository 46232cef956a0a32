// Package write makes capture files on purpose: classic pcap with nanosecond
// time stamps, Ethernet, IPv4 or IPv6, and TCP whose sequence numbers and
// checksums are right. Equal calls give equal bytes.
package write

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net/netip"
	"slices"
)

// MSS is the most payload of one segment in bytes: an Ethernet MTU of 1500 less
// the IPv4 and TCP headers. IPv6 segments keep to it too, in frames 20 bytes longer.
const MSS = 1460

const (
	magicNanos = 0xa1b23c4d // draft-ietf-opsawg-pcap: time stamps in nanoseconds
	snapLen    = 262144
	ethernet   = 1 // LINKTYPE_ETHERNET
)

// Writer collects packets and writes them in the order of their time.
type Writer struct {
	w       io.Writer
	packets []record
	bytes   []byte // the frames, one after the other
	written uint64
	conns   uint64
	err     error
}

type record struct {
	t        int64
	n        uint64 // order of creation: breaks ties
	off, end int
}

// New writes the header of a capture file to w.
func New(w io.Writer) (*Writer, error) {
	var h [24]byte
	le := binary.LittleEndian
	le.PutUint32(h[0:], magicNanos)
	le.PutUint16(h[4:], 2)
	le.PutUint16(h[6:], 4)
	le.PutUint32(h[16:], snapLen)
	le.PutUint32(h[20:], ethernet)
	if _, err := w.Write(h[:]); err != nil {
		return nil, fmt.Errorf("capture header: %w", err)
	}
	return &Writer{w: w}, nil
}

// Dial opens a connection at t (Unix nanoseconds) with the three packets of a
// handshake. Both addresses must be of one family; an error shows in Flush. A
// tuple may be dialled again: its initial sequence numbers then differ.
func (w *Writer) Dial(t int64, client, server netip.AddrPort) *Conn {
	client = netip.AddrPortFrom(client.Addr().Unmap(), client.Port())
	server = netip.AddrPortFrom(server.Addr().Unmap(), server.Port())
	w.conns++
	isn := mix(w.conns)
	c := &Conn{w: w, addr: [2]netip.AddrPort{client, server}, seq: [2]uint32{uint32(isn), uint32(isn >> 32)}}
	if !client.IsValid() || !server.IsValid() || client.Addr().Is4() != server.Addr().Is4() {
		w.fail(fmt.Errorf("dial %v to %v: want two addresses of one family", client, server))
		c.closed = true
		return c
	}
	c.segment(t, 0, syn, nil)
	c.segment(t, 1, syn|ack, nil)
	c.segment(t, 0, ack, nil)
	return c
}

// Flush writes the packets made so far in order of time, those of one time in
// the order of the calls, and forgets them. It returns the first error of any
// call. A program that flushes more than once must not go back in time behind
// what it has flushed.
func (w *Writer) Flush() error {
	if w.err != nil {
		return w.err
	}
	slices.SortFunc(w.packets, func(a, b record) int {
		return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(a.n, b.n))
	})
	var h [16]byte
	for _, p := range w.packets {
		frame := w.bytes[p.off:p.end]
		le := binary.LittleEndian
		le.PutUint32(h[0:], uint32(p.t/1e9))
		le.PutUint32(h[4:], uint32(p.t%1e9))
		le.PutUint32(h[8:], uint32(len(frame)))
		le.PutUint32(h[12:], uint32(len(frame)))
		if _, err := w.w.Write(h[:]); err != nil {
			return w.fail(fmt.Errorf("write packet: %w", err))
		}
		if _, err := w.w.Write(frame); err != nil {
			return w.fail(fmt.Errorf("write packet: %w", err))
		}
	}
	w.packets, w.bytes = w.packets[:0], w.bytes[:0]
	return nil
}

func (w *Writer) fail(err error) error {
	if w.err == nil {
		w.err = err
	}
	return w.err
}

// add keeps the frame that build appends.
func (w *Writer) add(t int64, build func(dst []byte, n uint64) []byte) {
	if t < 0 || t/1e9 > math.MaxUint32 {
		w.fail(fmt.Errorf("time %d ns: a capture file holds 1970 to 2106", t))
		return
	}
	w.written++
	off := len(w.bytes)
	w.bytes = build(w.bytes, w.written)
	w.packets = append(w.packets, record{t: t, n: w.written, off: off, end: len(w.bytes)})
}

// mix is the output function of SplitMix64 (Steele, Lea, Flood 2014): it spreads
// ordinals into initial sequence numbers.
func mix(n uint64) uint64 {
	z := n * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

var errClosed = errors.New("connection is already closed")
