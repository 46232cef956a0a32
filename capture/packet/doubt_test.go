package packet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"
)

// stamped gives record n another time, in seconds from its own.
func stamped(b []byte, n int, seconds int64) []byte {
	head, recs := records(bytes.Clone(b))
	out := bytes.Clone(head)
	for i, r := range recs {
		if i == n {
			le := binary.LittleEndian
			le.PutUint32(r, uint32(int64(le.Uint32(r))+seconds))
		}
		out = append(out, r...)
	}
	return out
}

// TestOneStampFarAhead gives one packet after the other a time stamp a minute to
// ten years ahead: what is read stays the same but for the times of that packet,
// every request keeps its answer, and the step is told.
func TestOneStampFarAhead(t *testing.T) {
	m := newMade(t)
	for i := range 4 {
		at := base + int64(i)*7*ms
		c := m.w.Dial(at, addrPort(fmt.Sprintf("10.0.0.%d:40000", i+1)), server)
		for k := range int64(3) {
			c.Send(at+k*50*ms+ms, true, get(fmt.Sprintf("/%d/%d", i, k)))
			c.Send(at+k*50*ms+30*ms, false, reply(200, "x"))
		}
		c.Close(at + 200*ms)
	}
	b := m.bytes()
	want := readAll(t, b, Options{})
	_, recs := records(b)
	for n := range recs {
		for _, ahead := range []int64{61, 400, 3600, 315_360_000} {
			r := readAll(t, stamped(b, n, ahead), Options{})
			if r.String() != want.String() || r.health.ClockSteps != 1 || r.health.Used != want.health.Used {
				t.Errorf("packet %d, %d s ahead: %d steps of the clock, used %d of %d\n%s", n, ahead, r.health.ClockSteps, r.health.Used, want.health.Used, r)
			}
			for _, x := range r.all {
				if x.Start < base || x.End > base+1e9 {
					t.Errorf("packet %d, %d s ahead: %v from %d to %d", n, ahead, x, x.Start-base, x.End-base)
				}
			}
		}
	}
}

// TestSilenceIsNoBrokenClock believes a time far ahead where the next packets agree.
func TestSilenceIsNoBrokenClock(t *testing.T) {
	m := newMade(t)
	c := m.dial()
	c.Send(base+ms, true, get("/a"))
	c.Send(base+2*ms, false, reply(200, "x"))
	c.Send(base+4000e9, true, get("/b"))
	c.Send(base+4000e9+5*ms, false, reply(200, "x"))
	c.Close(base + 4000e9 + 9*ms)
	r := readAll(t, m.bytes(), Options{})
	r.expect(t, "GET /a 200 answered", "GET /b 200 answered")
	if b := r.all[1]; r.health.ClockSteps != 0 || b.Start != base+4000e9 || b.End != b.Start+5*ms {
		t.Errorf("%d steps; /b from %d to %d", r.health.ClockSteps, b.Start-base, b.End-base)
	}
}

// TestSparseTraffic has a request and its answer every so often, and nothing in
// between: silence after silence is no broken clock, up to the last one.
func TestSparseTraffic(t *testing.T) {
	for _, apart := range []int64{59e9, 61e9, 120e9, 3600e9} {
		m := newMade(t)
		c := m.dial()
		for i := range int64(20) {
			c.Send(base+i*apart+ms, true, get("/a"))
			c.Send(base+i*apart+2*ms, false, reply(429, "x"))
		}
		r := readAll(t, m.bytes(), Options{})
		if len(r.all) != 20 || r.health.ClockSteps != 0 {
			t.Fatalf("every %d s: %d of 20 exchanges, %d steps of the clock", apart/1e9, len(r.all), r.health.ClockSteps)
		}
		for i, x := range r.all {
			if want := base + int64(i)*apart + ms; x.Start != want || x.End != want+ms {
				t.Errorf("every %d s: exchange %d from %d to %d ms, want %d to %d", apart/1e9, i, (x.Start-base)/ms, (x.End-base)/ms, (want-base)/ms, (want-base)/ms+1)
			}
		}
	}
}
