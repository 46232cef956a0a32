package packet

import (
	"testing"

	"stormwatch/capture"
)

// rpc makes one call and gives what was seen of it.
func rpc(t *testing.T, answer func(p *peers), fields ...string) seen {
	t.Helper()
	m := newMade(t)
	p := m.talk()
	p.call(1, fields...)
	p.send(base, toServer)
	answer(p)
	p.send(base+ms, toClient)
	r := readAll(t, m.bytes(), Options{})
	if len(r.all) != 1 {
		t.Fatalf("%d exchanges, want one:\n%v", len(r.all), r)
	}
	return r.all[0]
}

func TestRPCAnswers(t *testing.T) {
	media := []string{":status", "200", "content-type", "application/grpc"}
	trailersOnly := func(fields ...string) func(*peers) {
		return func(p *peers) { p.headers(toClient, 1, true, append(media, fields...)...) }
	}
	trailers := func(fields ...string) func(*peers) {
		return func(p *peers) {
			p.headers(toClient, 1, false, media...)
			p.body(toClient, 1, false, "\x00\x00\x00\x00\x00")
			p.headers(toClient, 1, true, fields...)
		}
	}
	type want struct {
		code   int // -1 unseen
		reason capture.Reason
		hint   capture.HintState
		kind   capture.HintKind
		wait   int64
	}
	for name, c := range map[string]struct {
		answer func(*peers)
		want   want
	}{
		"ok":                 {trailers("grpc-status", "0"), want{0, capture.OK, capture.Absent, capture.NoHint, 0}},
		"exhausted":          {trailersOnly("grpc-status", "8", "grpc-message", "slow down", "grpc-retry-pushback-ms", "120"), want{8, capture.Throttle, capture.Present, capture.RPCPushback, 120 * ms}},
		"unavailable":        {trailers("grpc-status", "14"), want{14, capture.Overload, capture.Absent, capture.NoHint, 0}},
		"pushed back late":   {trailers("grpc-status", "14", "grpc-retry-pushback-ms", "3000"), want{14, capture.Overload, capture.Present, capture.RPCPushback, 3e9}},
		"do not retry":       {trailers("grpc-status", "14", "grpc-retry-pushback-ms", "-1"), want{14, capture.Overload, capture.Present, capture.DoNotRetry, 0}},
		"unreadable":         {trailers("grpc-status", "8", "grpc-retry-pushback-ms", "soon"), want{8, capture.Throttle, capture.Present, capture.DoNotRetry, 0}},
		"unauthenticated":    {trailersOnly("grpc-status", "16"), want{16, capture.Auth, capture.Absent, capture.NoHint, 0}},
		"denied":             {trailersOnly("grpc-status", "7"), want{7, capture.Forbidden, capture.Absent, capture.NoHint, 0}},
		"deadline exceeded":  {trailers("grpc-status", "4"), want{4, capture.ServerError, capture.Absent, capture.NoHint, 0}},
		"not found":          {trailers("grpc-status", "5"), want{5, capture.ClientError, capture.Absent, capture.NoHint, 0}},
		"no status":          {trailers("x-other", "1"), want{-1, capture.Unjudged, capture.Absent, capture.NoHint, 0}},
		"a proxy's 503":      {func(p *peers) { p.reply(1, "503", "content-type", "text/html", "retry-after", "2") }, want{-1, capture.Overload, capture.Present, capture.RetryAfterSeconds, 2e9}},
		"a proxy's 429, raw": {func(p *peers) { p.reply(1, "429") }, want{-1, capture.Throttle, capture.Absent, capture.NoHint, 0}},
		"cut before the trailers": {func(p *peers) {
			p.headers(toClient, 1, false, media...)
			p.body(toClient, 1, false, "\x00\x00\x00\x00\x00")
		}, want{-1, capture.Unjudged, capture.NotObservable, capture.NoHint, 0}},
	} {
		x := rpc(t, c.answer)
		code, ok := x.RPC.Code()
		if !ok {
			code = -1
		}
		if got := (want{code, x.Reason, x.Hint.State, x.Hint.Kind, x.Hint.Wait}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if x.method != "POST" || x.target != "/shop.Cart/Add" || x.host != "cart:50051" || x.Outcome != capture.Answered {
			t.Errorf("%s: %v at %s", name, x, x.host)
		}
	}
}

// TestRPCAttempts counts as gRPC does: the first attempt says nothing, the next
// ones how many went before (gRFC A6).
func TestRPCAttempts(t *testing.T) {
	ok := func(p *peers) { p.reply(1, "200", "content-type", "application/grpc", "grpc-status", "0") }
	for _, c := range []struct {
		fields []string
		want   capture.Attempt
	}{
		{nil, capture.Attempt{N: 1, Counter: capture.RPCAttempts}},
		{[]string{"grpc-previous-rpc-attempts", "1"}, capture.Attempt{N: 2, Counter: capture.RPCAttempts}},
		{[]string{"grpc-previous-rpc-attempts", "4"}, capture.Attempt{N: 5, Counter: capture.RPCAttempts}},
		{[]string{"x-envoy-attempt-count", "2"}, capture.Attempt{N: 2, Counter: capture.EnvoyAttempts}},
		{[]string{"x-envoy-attempt-count", "1", "grpc-previous-rpc-attempts", "2"}, capture.Attempt{N: 3, Counter: capture.RPCAttempts}},
	} {
		if x := rpc(t, ok, c.fields...); x.Attempt != c.want {
			t.Errorf("%q: %+v, want %+v", c.fields, x.Attempt, c.want)
		}
	}
	m := newMade(t) // and a request that is none declares nothing
	p := m.talk()
	p.ask(1, "/")
	p.send(base, toServer)
	p.reply(1, "200")
	p.send(base+ms, toClient)
	if x := readAll(t, m.bytes(), Options{}).all[0]; x.Attempt != (capture.Attempt{}) || x.RPC != capture.NoRPC {
		t.Errorf("%v: attempt %+v, gRPC status %d", x, x.Attempt, x.RPC)
	}
}

// TestRPCWeb is gRPC-Web, which carries its status in the body: HTTP alone judges.
func TestRPCWeb(t *testing.T) {
	m := newMade(t)
	p := m.talk()
	p.headers(toServer, 1, true, ":method", "POST", ":scheme", "http", ":path", "/x", ":authority", "a", "content-type", "application/grpc-web+proto")
	p.send(base, toServer)
	p.reply(1, "200", "content-type", "application/grpc-web+proto")
	p.send(base+ms, toClient)
	if x := readAll(t, m.bytes(), Options{}).all[0]; x.RPC != capture.NoRPC || x.Reason != capture.OK || x.Attempt.N != 0 {
		t.Errorf("%v: gRPC status %d, %v, attempt %+v", x, x.RPC, x.Reason, x.Attempt)
	}
}
