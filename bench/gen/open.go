package main

import (
	"fmt"
	"io"
	"net/netip"
	"time"

	"stormwatch/capture/packet/write"
)

// writeOpen writes a capture of as many connections as the traffic has exchanges,
// each with one request that nobody answers: what a reader must keep in mind.
func writeOpen(w io.Writer, t *traffic) error {
	out, err := write.New(w)
	if err != nil {
		return err
	}
	server := netip.MustParseAddrPort("192.0.2.10:80")
	const perAddress, apart = 50_000, 20 * int64(time.Microsecond)
	start := int64(0)
	for i := 0; ; i++ {
		x, ok := t.next()
		if !ok {
			return out.Flush()
		}
		if start == 0 {
			start = x.start
		}
		at := start + int64(i)*apart
		from := netip.AddrPortFrom(addressOf(i/perAddress), uint16(10_000+i%perAddress))
		out.Dial(at, from, server).Send(at, true, fmt.Appendf(nil, "GET /x/%d HTTP/1.1\r\nHost: a\r\nUser-Agent: synth\r\n\r\n", i))
	}
}
