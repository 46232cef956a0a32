package packet

import (
	"fmt"
	"strings"
	"testing"
)

// FuzzReassembly sends parts of two byte streams in any order, with overlaps,
// losses, repetitions, ends and strangers, five bytes of input a segment. The
// contents agree with each other, so that whatever is read must be a request that
// was sent; nothing may be left behind, and no bound be passed.
func FuzzReassembly(f *testing.F) {
	seg := func(op byte, off uint16, n, wait byte) []byte { return []byte{op, byte(off >> 8), byte(off), n, wait} }
	join := func(parts ...[]byte) (b []byte) {
		for _, p := range parts {
			b = append(b, p...)
		}
		return b
	}
	f.Add(join(seg(opSYN, 0, 0, 0), seg(opSYN|opServer, 0, 0, 0), seg(0, 0, 200, 0), seg(opServer, 0, 200, 0)), uint32(0))
	f.Add(join(seg(0, 100, 100, 0), seg(0, 50, 100, 0), seg(0, 0, 60, 1), seg(opServer, 40, 90, 200)), ^uint32(0)-100)
	f.Add(join(seg(opSYN, 0, 0, 0), seg(0, 300, 40, 250), seg(opServer, 0, 100, 250), seg(0, 500, 100, 250), seg(opFIN, 0, 0, 0), seg(opFIN|opServer, 0, 0, 0)), uint32(7))
	f.Add(join(seg(0, 0, 90, 0), seg(opRST|opFar, 0, 0, 0), seg(opFIN|opFar, 9, 0, 0), seg(0, 80, 90, 0), seg(opRST, 0, 0, 0), seg(0, 200, 90, 0)), uint32(1<<31))
	f.Fuzz(func(t *testing.T, b []byte, isn uint32) {
		const most = 400
		var streams [2]string
		for i := range 40 {
			streams[0] += fmt.Sprintf("GET /%02d HTTP/1.1\r\n\r\n", i)
			streams[1] += fmt.Sprintf("HTTP/1.1 200 X\r\nRetry-After: %02d\r\nContent-Length: 3\r\n\r\nabc", i)
		}
		p := newTap(t)
		first := [2]uint32{isn, isn * 7}
		for n := 0; len(b) >= 5 && n < most; n, b = n+1, b[5:] {
			d, port := 0, 1
			if b[0]&opServer != 0 {
				d, port = 1, -1
			}
			off := (int(b[1])<<8 | int(b[2])) % len(streams[d])
			text := streams[d][off:min(off+int(b[3]), len(streams[d]))]
			seq, ack, flags := first[d]+1+uint32(off), first[1-d]+1+uint32(int(b[4])*len(streams[1-d])/256), byte(flagACK)
			switch {
			case b[0]&opSYN != 0:
				seq, text, flags = first[d], "", flagSYN|flagACK*byte(d)
			case b[0]&opFIN != 0:
				seq, text, flags = first[d]+1+uint32(len(streams[d])), "", flagFIN|flagACK
			case b[0]&opRST != 0:
				seq, text, flags = first[d]+1+uint32(off), "", flagRST
			}
			if b[0]&opFar != 0 {
				seq, ack, text = seq+1<<30, ack+1<<30, ""
			}
			p.pass(int64(b[4]) * 20 * ms)
			p.from(port, seq, ack, flags, text)
			for c := range p.tab.conns.all() {
				for d := range c.half {
					if c.waiting(d) > maxPieces || c.late != nil && c.late.half[d].size > maxQueue {
						t.Errorf("%d bytes in %d pieces wait", c.late.half[d].size, c.waiting(d))
					}
				}
			}
		}
		r := p.end()
		for _, x := range r.all {
			target := strings.TrimSuffix(x.target, "...") // where the rest was lost
			if x.method != "" && (x.method != "GET" || !strings.Contains(streams[0], "GET "+target)) {
				t.Errorf("no such request: %v", x)
			}
			if x.raw != "" && !strings.Contains(streams[1], "Retry-After: "+x.raw+"\r") {
				t.Errorf("no such answer: %v, hint %q", x, x.raw)
			}
			if x.End < x.Start {
				t.Errorf("%v ends before it starts", x)
			}
		}
	})
}

// What a segment of FuzzReassembly is.
const (
	opServer = 1 << iota
	opSYN
	opFIN
	opRST
	opFar
)
