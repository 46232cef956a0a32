package packet

import (
	"net/netip"
	"testing"

	"stormwatch/capture"
)

// An upgraded connection that ends within a second of its request is marked, and its
// exchange ends with it; one that lasts, or whose end was not captured, is told as it
// was answered.
func TestSessionsThatEndAtOnce(t *testing.T) {
	const upgrade = "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
	for name, c := range map[string]struct {
		close  int64 // after the request; 0 never
		abort  bool
		talk   int64 // a frame so long after the request
		brief  bool
		within int64 // after the request, within which the exchange ends
	}{
		"closed":          {close: 100 * ms, brief: true, within: 102 * ms},
		"reset":           {close: 100 * ms, abort: true, brief: true, within: 102 * ms},
		"closed, talked":  {close: 900 * ms, talk: 300 * ms, brief: true, within: 902 * ms},
		"lasts":           {close: 1100 * ms, within: 3 * ms},
		"lasts, talks":    {close: 5000 * ms, talk: 2000 * ms, within: 3 * ms},
		"is never closed": {talk: 200 * ms, within: 3 * ms},
	} {
		m := newMade(t)
		l := m.dial()
		l.Send(base, true, []byte("GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"))
		l.Send(base+2*ms, false, []byte(upgrade))
		if c.talk > 0 {
			l.Send(base+c.talk, true, []byte("\x81\x85abcdhello"))
		}
		switch {
		case c.abort:
			l.Abort(base+c.close, false)
		case c.close > 0:
			l.Close(base + c.close)
		}
		r := readAll(t, m.bytes(), Options{})
		if len(r.all) != 1 || r.all[0].Status != 101 || r.all[0].Outcome != capture.Answered {
			t.Errorf("%s: %v", name, r)
			continue
		}
		x := &r.all[0].Exchange
		if brief := x.Flags&capture.Brief != 0; brief != c.brief || x.End-x.Start > c.within || c.brief && x.End-x.Start < c.close {
			t.Errorf("%s: brief %v, ended after %d ms", name, brief, (x.End-x.Start)/ms)
		}
	}
}

// However many sessions begin at once, few are held; the others are told at once.
func TestSessionsAreBounded(t *testing.T) {
	const n = maxSessions + 50
	m := newMade(t)
	for i := range n {
		from := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}), 4000)
		l := m.w.Dial(base+int64(i), from, netip.MustParseAddrPort("10.0.0.9:80"))
		l.Send(base+ms+int64(i), true, []byte("GET /ws HTTP/1.1\r\nHost: a\r\n\r\n"))
		l.Send(base+2*ms+int64(i), false, []byte("HTTP/1.1 101 X\r\n\r\n"))
	}
	r := readAll(t, m.bytes(), Options{})
	if len(r.all) != n || len(r.health.Bounds) == 0 {
		t.Errorf("%d of %d exchanges, bounds %v", len(r.all), n, r.health.Bounds)
	}
}
