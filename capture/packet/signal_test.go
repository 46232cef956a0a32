package packet

import (
	"testing"

	"stormwatch/capture"
)

// A request tells the client's number and the proxy's, and an answer how often a
// proxy tried behind itself.
func TestCountersAndIDs(t *testing.T) {
	m := newMade(t)
	c := m.dial()
	c.Send(base+ms, true, []byte("POST /a HTTP/1.1\r\nHost: h\r\nX-Envoy-Attempt-Count: 2\r\nAMZ-SDK-Request: attempt=3; max=3\r\n"+
		"amz-sdk-invocation-id: i\r\nTraceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\nContent-Length: 0\r\n\r\n"))
	c.Send(base+5*ms, false, reply(503, "no", "X-Envoy-Attempt-Count: 3"))
	c.Send(base+9*ms, true, []byte("POST /a HTTP/1.1\r\nHost: h\r\nX-Request-ID: r\r\nx-envoy-max-retries: 3\r\nContent-Length: 0\r\n\r\n"))
	c.Send(base+12*ms, false, reply(200, "ok", "X-Request-ID: s"))
	c.Send(base+15*ms, true, []byte("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"))
	c.Send(base+19*ms, false, reply(200, "ok", "X-Request-ID: s"))
	c.Close(base + 22*ms)
	r := readAll(t, m.bytes(), Options{})
	if len(r.all) != 3 {
		t.Fatalf("%d exchanges", len(r.all))
	}
	x := r.all[0]
	if (x.Attempt != capture.Attempt{N: 3, Counter: capture.AmzAttempt}) || (x.Inner != capture.Attempt{N: 2, Counter: capture.EnvoyAttempts}) || x.Tries != 3 || x.Again != 2 {
		t.Errorf("attempt %+v behind %+v, %d tries, %d again", x.Attempt, x.Inner, x.Tries, x.Again)
	}
	if x.IdemKey != capture.HashID([]byte("i")) || x.RequestID != capture.HashID([]byte("4bf92f3577b34da6a3ce929d0e0e4736")) {
		t.Errorf("ids %x and %x", x.IdemKey, x.RequestID)
	}
	// An id that the client gave prevails over the server's.
	if x := r.all[1]; x.RequestID != capture.HashID([]byte("r")) || x.Attempt.N != 0 || x.Tries != 0 {
		t.Errorf("%+v", x.Exchange)
	}
	if x := r.all[2]; x.RequestID != capture.HashID([]byte("s")) {
		t.Errorf("the server's id %x", x.RequestID)
	}
}
