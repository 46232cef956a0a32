package write

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// TCP flags (RFC 9293 section 3.1).
const (
	fin = 1 << iota
	syn
	rst
	psh
	ack
)

// Conn is one TCP connection. Its calls must come in the order in which the
// packets were sent; a time before that of an earlier call makes a capture whose
// packets are out of order.
type Conn struct {
	w      *Writer
	addr   [2]netip.AddrPort // client, server
	seq    [2]uint32         // next to send
	seen   [2]bool           // that side has sent something to acknowledge
	last   [2][]byte         // payload of each side's latest Send
	closed bool
}

// Send writes payload from one side, in segments of at most MSS bytes, the last
// one pushed. Each segment acknowledges all that the other side has sent.
func (c *Conn) Send(t int64, fromClient bool, payload []byte) {
	if c.refuse("send") {
		return
	}
	c.last[side(fromClient)] = append(c.last[side(fromClient)][:0], payload...)
	c.send(t, fromClient, payload)
}

// Resend repeats the latest Send of one side, segment for segment: what is seen
// of a retransmission, or by a tap that sees a packet twice.
func (c *Conn) Resend(t int64, fromClient bool) {
	if c.refuse("resend") {
		return
	}
	payload := c.last[side(fromClient)]
	next := c.seq[side(fromClient)]
	c.seq[side(fromClient)] = next - uint32(len(payload))
	c.send(t, fromClient, payload)
	c.seq[side(fromClient)] = next
}

func (c *Conn) send(t int64, fromClient bool, payload []byte) {
	for len(payload) > MSS {
		c.segment(t, side(fromClient), ack, payload[:MSS])
		payload = payload[MSS:]
	}
	if len(payload) > 0 {
		c.segment(t, side(fromClient), ack|psh, payload)
	}
}

// Close ends the connection in order: the client's FIN, the server's, and the
// last acknowledgement.
func (c *Conn) Close(t int64) {
	if c.refuse("close") {
		return
	}
	c.segment(t, 0, fin|ack, nil)
	c.segment(t, 1, fin|ack, nil)
	c.segment(t, 0, ack, nil)
	c.closed = true
}

// Abort resets the connection from one side.
func (c *Conn) Abort(t int64, fromClient bool) {
	if c.refuse("abort") {
		return
	}
	c.segment(t, side(fromClient), rst|ack, nil)
	c.closed = true
}

func (c *Conn) refuse(what string) bool {
	if c.closed {
		c.w.fail(fmt.Errorf("%s from %v to %v: %w", what, c.addr[0], c.addr[1], errClosed))
	}
	return c.closed
}

func side(fromClient bool) int {
	if fromClient {
		return 0
	}
	return 1
}

func (c *Conn) segment(t int64, from int, flags byte, payload []byte) {
	c.w.add(t, func(dst []byte, n uint64) []byte {
		return c.frame(dst, from, flags, payload, uint16(n))
	})
	if c.seen[from] = true; flags&(syn|fin) != 0 {
		c.seq[from]++
	}
	c.seq[from] += uint32(len(payload))
}

// frame appends one Ethernet frame.
func (c *Conn) frame(dst []byte, from int, flags byte, payload []byte, id uint16) []byte {
	src, to := c.addr[from], c.addr[1-from]
	dst = appendMAC(appendMAC(dst, to.Addr()), src.Addr())
	tcp := 20
	if flags&syn != 0 {
		tcp = 24
	}
	length := tcp + len(payload)
	if src.Addr().Is4() {
		dst = append(dst, 0x08, 0x00)
		dst = appendIPv4(dst, src.Addr().As4(), to.Addr().As4(), id, length)
	} else {
		dst = append(dst, 0x86, 0xdd)
		dst = appendIPv6(dst, src.Addr().As16(), to.Addr().As16(), length)
	}
	start := len(dst)
	be := binary.BigEndian
	dst = be.AppendUint16(dst, src.Port())
	dst = be.AppendUint16(dst, to.Port())
	dst = be.AppendUint32(dst, c.seq[from])
	if flags&ack != 0 && c.seen[1-from] {
		dst = be.AppendUint32(dst, c.seq[1-from])
	} else {
		dst = be.AppendUint32(dst, 0)
	}
	dst = append(dst, byte(tcp/4)<<4, flags, 0xff, 0xff, 0, 0, 0, 0)
	if flags&syn != 0 {
		dst = append(dst, 2, 4, MSS>>8, MSS&0xff) // option: maximum segment size
	}
	dst = append(dst, payload...)
	sum := pseudo(src.Addr(), to.Addr(), length)
	be.PutUint16(dst[start+16:], checksum(sum, dst[start:]))
	return dst
}

// appendMAC derives a locally administered address from an IP address.
func appendMAC(dst []byte, a netip.Addr) []byte {
	b := a.As16()
	return append(dst, 0x02, 0x00, b[12], b[13], b[14], b[15])
}

func appendIPv4(dst []byte, src, to [4]byte, id uint16, length int) []byte {
	start := len(dst)
	be := binary.BigEndian
	dst = append(dst, 0x45, 0)
	dst = be.AppendUint16(dst, uint16(20+length))
	dst = be.AppendUint16(dst, id)
	dst = append(dst, 0x40, 0, 64, 6, 0, 0) // do not fragment; TTL 64; TCP
	dst = append(dst, src[:]...)
	dst = append(dst, to[:]...)
	be.PutUint16(dst[start+10:], checksum(0, dst[start:]))
	return dst
}

func appendIPv6(dst []byte, src, to [16]byte, length int) []byte {
	dst = append(dst, 0x60, 0, 0, 0)
	dst = binary.BigEndian.AppendUint16(dst, uint16(length))
	dst = append(dst, 6, 64)
	dst = append(dst, src[:]...)
	return append(dst, to[:]...)
}

// pseudo sums the pseudo header that TCP's checksum covers (RFC 9293 section
// 3.1, RFC 8200 section 8.1).
func pseudo(src, to netip.Addr, length int) uint32 {
	sum := uint32(6 + length)
	for _, a := range []netip.Addr{src, to} {
		b := a.As16()
		from := 0
		if a.Is4() {
			from = 12
		}
		for i := from; i < 16; i += 2 {
			sum += uint32(b[i])<<8 | uint32(b[i+1])
		}
	}
	return sum
}

// checksum is the Internet checksum (RFC 1071) of b, begun with sum.
func checksum(sum uint32, b []byte) uint16 {
	for ; len(b) > 1; b = b[2:] {
		sum += uint32(b[0])<<8 | uint32(b[1])
	}
	if len(b) == 1 {
		sum += uint32(b[0]) << 8
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}
