package detect_test

import (
	"strings"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
)

// calls makes n exchanges, ten a second, of a gRPC client; those for which read is
// false were captured midway, so that their status is not known.
func calls(n int, read func(i int) bool) []capture.Exchange {
	xs := make([]capture.Exchange, n)
	for i := range xs {
		x := &xs[i]
		x.Start = at(2026) + int64(i)*100e6
		x.End, x.Status, x.RPC, x.Reason = x.Start+1e6, 200, 1, capture.OK
		x.Src.IP[0], x.Src.IP[15] = 0x20, 1
		if !read(i) {
			x.RPC, x.Reason, x.Flags = capture.RPCUnseen, capture.Unjudged, capture.Unnamed
		}
	}
	return xs
}

// TestUnreadIsNotClear checks that outcomes which nobody could read are no good
// ones: where they are most of them there is no verdict.
func TestUnreadIsNotClear(t *testing.T) {
	for name, c := range map[string]struct {
		read  func(i int) bool
		state detect.State
		good  int64
	}{
		"all read":      {func(int) bool { return true }, detect.Clear, 200},
		"none read":     {func(int) bool { return false }, detect.Unknown, 0},
		"a tenth read":  {func(i int) bool { return i%10 == 0 }, detect.Unknown, 20},
		"most are read": {func(i int) bool { return i%10 != 0 }, detect.Clear, 180},
	} {
		p := sealed(t, detect.Options{}, hostileInfo, deliver(calls(200, c.read), func(int) string { return "unknown" }))
		runAll(t, p)
		s := p.Snapshot(detect.View{Whole: true})
		if s.Verdict.State != c.state || s.Totals.Exchanges != 200 {
			t.Errorf("%s: %v of %d exchanges, want %v", name, s.Verdict.State, s.Totals.Exchanges, c.state)
		}
		if s.Clients[0].OK != c.good || s.Clients[0].Refused != 0 {
			t.Errorf("%s: %d good, %d refused; want %d and none", name, s.Clients[0].OK, s.Clients[0].Refused, c.good)
		}
		if said := strings.Contains(s.Verdict.What, "cannot be read"); said != (c.state == detect.Unknown) {
			t.Errorf("%s: %q", name, s.Verdict.What)
		}
	}
}

// TestUnnamedIsNotMatched fails requests of which only the failure is known, each
// followed by another: they may be anything, so that none is a retry.
func TestUnnamedIsNotMatched(t *testing.T) {
	for name, flag := range map[string]capture.Flags{"a request that cannot be read": capture.Unnamed, "no request seen": capture.Orphan} {
		xs := calls(100, func(int) bool { return true })
		for i := range xs {
			xs[i].Status, xs[i].RPC, xs[i].Reason, xs[i].Flags = 503, capture.NoRPC, capture.Overload, flag
		}
		p := sealed(t, detect.Options{}, hostileInfo, deliver(xs, func(int) string { return "unknown" }))
		runAll(t, p)
		s := p.Snapshot(detect.View{Whole: true})
		if s.Totals.Retries != 0 || s.Clients[0].Refused != 100 {
			t.Errorf("%s: %d retries, %d refused; want none and 100", name, s.Totals.Retries, s.Clients[0].Refused)
		}
	}
}

// TestRPCRefusalIsRefusal has a gRPC status mean what the HTTP status does that
// says the same.
func TestRPCRefusalIsRefusal(t *testing.T) {
	run := func(set func(x *capture.Exchange)) *detect.Snapshot {
		xs := calls(100, func(int) bool { return true })
		for i := range xs {
			if xs[i].Start += int64(i%2) * 20e6; i%3 != 2 { // two failures, then success
				set(&xs[i])
			}
			xs[i].End = xs[i].Start + 1e6
		}
		p := sealed(t, detect.Options{}, hostileInfo, deliver(xs, func(int) string { return "/shop.Cart/Add" }))
		runAll(t, p)
		return p.Snapshot(detect.View{Whole: true})
	}
	http := run(func(x *capture.Exchange) { x.Status, x.RPC, x.Reason = 503, capture.NoRPC, capture.Overload })
	rpc := run(func(x *capture.Exchange) { x.RPC = 15; x.Reason = capture.Overload })
	if http.Totals.Retries != rpc.Totals.Retries || rpc.Totals.Retries == 0 || http.Clients[0].Refused != rpc.Clients[0].Refused || rpc.Clients[0].OK != http.Clients[0].OK {
		t.Errorf("HTTP 503: %+v; gRPC 14: %+v", http.Totals, rpc.Totals)
	}
}
