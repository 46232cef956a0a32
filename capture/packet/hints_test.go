package packet

import (
	"fmt"
	"strings"
	"testing"

	"stormwatch/capture"
)

// dateField is base in whole seconds.
const dateField = "Date: Tue, 14 Nov 2023 22:13:20 GMT"

// said gives all that an answer says of waits and limits.
func said(x *seen) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %v %v", x.Status, x.Reason, x.Hint.State)
	if x.Hint.State == capture.Present {
		fmt.Fprintf(&b, " %v %.3f %q", x.Hint.Kind, float64(x.Hint.Wait)/1e9, x.raw)
	}
	if x.Limit.Form != capture.NoHint {
		fmt.Fprintf(&b, " reset %v %.3f", x.Limit.Form, float64(x.Limit.Reset)/1e9)
	}
	if x.Limit.Left != 0 {
		fmt.Fprintf(&b, " left %d", x.Limit.Left-1)
	}
	switch x.Advice {
	case capture.MayRetry:
		b.WriteString(" may-retry")
	case capture.MustNotRetry:
		b.WriteString(" must-not-retry")
	}
	return b.String()
}

// answerCases are fields of an answer, and what an exchange says of them. The answer
// comes 0.125 s into the second that Date names.
var answerCases = []struct {
	status int
	fields []string
	want   string
}{
	{429, []string{"Retry-After: 5"}, `429 throttle present retry-after-seconds 5.000 "5"`},
	{429, []string{"Retry-After: Tue, 14 Nov 2023 22:13:27 GMT"}, `429 throttle present retry-after-date 7.000 "Tue, 14 Nov 2023 22:13:27 GMT"`},
	{429, []string{"Retry-After: 2.5"}, `429 throttle present retry-after-decimal 2.500 "2.5"`},
	{429, []string{"Retry-After: soon"}, `429 throttle present malformed 0.000 "soon"`},
	{429, []string{"Retry-After: 1", "Retry-After-Ms: 250"}, `429 throttle present retry-after-ms 0.250 "250"`},
	{429, []string{"x-ms-retry-after-ms: 20"}, `429 throttle present retry-after-ms 0.020 "20"`},
	{429, []string{"x-amz-retry-after: 1500"}, `429 throttle present retry-after-ms 1.500 "1500"`},
	{429, []string{"X-Retry-In: 1.5s"}, `429 throttle present other-duration 1.500 "1.5s"`},
	{429, []string{"X-Retry-After: 1700000060"}, `429 throttle present other-epoch 59.875 "1700000060"`},
	{429, []string{"X-RateLimit-Retry-After: 59"}, `429 throttle present other-seconds 59.000 "59"`},
	{429, []string{"X-Sentry-Rate-Limits: 60:transaction, 2700:default"}, `429 throttle present other-seconds 60.000 "60:transaction, 2700:default"`},
	{403, []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1700000060"}, `403 throttle present reset-epoch 59.875 "1700000060" reset reset-epoch 59.875 left 0`},
	{200, []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1700000060"}, `200 ok absent reset reset-epoch 59.875 left 0`},
	{429, []string{"x-ratelimit-reset: 58", "x-ratelimit-remaining: 0"}, `429 throttle present reset-seconds 58.000 "58" reset reset-seconds 58.000 left 0`},
	{429, []string{"X-RateLimit-Reset: 1700000060000"}, `429 throttle present reset-epoch-ms 59.875 "1700000060000" reset reset-epoch-ms 59.875`},
	{429, []string{"X-RateLimit-Reset: 2023-11-14T22:14Z"}, `429 throttle present reset-date 39.875 "2023-11-14T22:14Z" reset reset-date 39.875`},
	{429, []string{"X-RateLimit-Reset: Tue Nov 14 2023 23:14:00 GMT+0100 (CET)"}, `429 throttle present reset-date 39.875 "Tue Nov 14 2023 23:14:00 GMT+0100 (CET)" reset reset-date 39.875`},
	{429, []string{"x-ratelimit-reset-requests: 6m0s"}, `429 throttle present reset-duration 360.000 "6m0s" reset reset-duration 360.000`},
	{429, []string{`RateLimit: "day";r=900;t=3600`, `RateLimit: "minute";r=0;t=30`}, `429 throttle present reset-seconds 30.000 "\"minute\";r=0;t=30" reset reset-seconds 30.000 left 0`},
	{200, []string{"RateLimit: limit=100, remaining=50, reset=30"}, `200 ok absent reset reset-seconds 30.000 left 50`},
	{429, []string{"Retry-After: 2", "RateLimit-Reset: 33"}, `429 throttle present retry-after-seconds 2.000 "2" reset reset-seconds 33.000`},
	{200, []string{"ratelimit-remaining: 0;w=21600"}, `200 ok absent left 0`},
	{400, []string{"x-amzn-ErrorType: ThrottlingException"}, `400 throttle absent`},
	{503, []string{"x-envoy-ratelimited: true"}, `503 throttle absent`},
	{409, []string{"Stripe-Should-Retry: true"}, `409 client-error absent may-retry`},
	{503, []string{"x-should-retry: false"}, `503 overload absent must-not-retry`},
	{429, nil, `429 throttle absent`},
}

// TestAnswers reads each header through a capture of HTTP/1 and one of HTTP/2.
func TestAnswers(t *testing.T) {
	one, two := newMade(t), newMade(t)
	c, p := one.dial(), two.talk()
	const at = base + 2*ms // 0.125 s into the second

	for i, a := range answerCases {
		c.Send(at, true, get("/"+fmt.Sprint(i)))
		c.Send(at, false, reply(a.status, "", append(a.fields, dateField)...))
		id := uint32(2*i + 1)
		p.headers(toServer, id, true, ":method", "GET", ":scheme", "http", ":path", "/"+fmt.Sprint(i), ":authority", "a")
		p.send(at, toServer)
		fields := []string{":status", fmt.Sprint(a.status), "date", strings.TrimPrefix(dateField, "Date: ")}
		for _, f := range a.fields {
			name, value, _ := strings.Cut(f, ": ")
			fields = append(fields, strings.ToLower(name), value)
		}
		p.headers(toClient, id, true, fields...)
		p.send(at, toClient)
	}
	c.Close(at + ms)
	for name, b := range map[string][]byte{"HTTP/1": one.bytes(), "HTTP/2": two.bytes()} {
		r := readAll(t, b, Options{})
		if len(r.all) != len(answerCases) {
			t.Fatalf("%s: %d exchanges", name, len(r.all))
		}
		for i, a := range answerCases {
			if got := said(&r.all[i]); got != a.want {
				t.Errorf("%s: %d %v:\n%s\nwant\n%s", name, a.status, a.fields, got, a.want)
			}
		}
	}
}

// TestBodies reads why a request was refused out of bodies, however they come.
func TestBodies(t *testing.T) {
	const (
		secondary = `{"message":"slow down","documentation_url":"https://docs.github.com/x#about-secondary-rate-limits"}`
		no        = `{"valid":false,"reason":"rate_limited"}`
		discord   = `{"message":"You are being rate limited.","retry_after":64.57}`
	)
	long := `{"error":{"message":"` + strings.Repeat("x", 900) + `","code":"insufficient_quota"}}` // across packets, and within the window
	late := `{"error":{"message":"` + strings.Repeat("x", 2000) + `","code":"insufficient_quota"}}`
	for _, c := range []struct {
		name   string
		answer []byte
		want   string
	}{
		{"in one piece", reply(403, secondary), "403 throttle absent"},
		{"of a 200", reply(200, no, "Content-Type: application/json"), "200 body-refusal absent"},
		{"of a 200 of another kind", reply(200, no, "Content-Type: text/plain"), "200 ok absent"},
		{"a wait", reply(429, discord), `429 throttle present body 64.570 "64.57"`},
		{"a wait beside a header's", reply(429, discord, "Retry-After: 65"), `429 throttle present retry-after-seconds 65.000 "65"`},
		{"in chunks", []byte("HTTP/1.1 403 X\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n" + secondary[:32] + "\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(secondary)-32, secondary[32:])), "403 throttle absent"},
		{"long", reply(429, long), "429 quota absent"},
		{"its code beyond the window", reply(429, late), "429 throttle absent"},
		{"compressed", reply(403, secondary, "Content-Encoding: gzip"), "403 forbidden absent"},
		{"of the AWS", reply(400, `{"__type":"com.amazonaws#ThrottlingException"}`), "400 throttle absent"},
		{"of the AWS, with a reset", reply(400, `{"__type":"ThrottlingException"}`, "X-RateLimit-Reset: 9"), `400 throttle present reset-seconds 9.000 "9" reset reset-seconds 9.000`},
		{"in XML", reply(503, "<Error><Code>SlowDown</Code></Error>"), "503 throttle absent"},
		{"none", reply(403, ""), "403 forbidden absent"},
	} {
		for _, cut := range []int{1 << 20, 100, 7} { // bytes in a packet
			m := newMade(t)
			conn := m.dial()
			conn.Send(base, true, get("/a"))
			at := int64(base)
			for rest := c.answer; len(rest) > 0; at += ms {
				n := min(cut, len(rest))
				conn.Send(at, false, rest[:n])
				rest = rest[n:]
			}
			conn.Send(at, true, get("/b"))
			conn.Send(at, false, reply(200, "ok"))
			conn.Close(at + ms)
			r := readAll(t, m.bytes(), Options{})
			if len(r.all) != 2 || said(&r.all[0]) != c.want || said(&r.all[1]) != "200 ok absent" {
				t.Errorf("%s, in packets of %d:\n%v want %s", c.name, cut, r, c.want)
				for i := range r.all {
					t.Log(said(&r.all[i]))
				}
			}
		}
	}
}

// A body that ends with its connection is read as well.
func TestBodyUntilClose(t *testing.T) {
	m := newMade(t)
	c := m.dial()
	c.Send(base, true, get("/a"))
	c.Send(base+ms, false, []byte("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{\"valid\":false,"))
	c.Send(base+2*ms, false, []byte(`"reason":"rate_limited"}`))
	c.Close(base + 3*ms)
	r := readAll(t, m.bytes(), Options{})
	if len(r.all) != 1 || said(&r.all[0]) != "200 body-refusal absent" {
		t.Errorf("%v %s", r, said(&r.all[0]))
	}
}

// Bodies of HTTP/2 come in frames, between those of other streams.
func TestHTTP2Bodies(t *testing.T) {
	m := newMade(t)
	p := m.talk()

	for _, id := range []uint32{1, 3, 5} {
		p.headers(toServer, id, true, ":method", "GET", ":scheme", "http", ":path", "/"+fmt.Sprint(id), ":authority", "a")
	}
	p.send(base+ms, toServer)
	p.headers(toClient, 1, false, ":status", "403")
	p.headers(toClient, 3, false, ":status", "200", "content-type", "application/json")
	p.headers(toClient, 5, false, ":status", "429")
	p.send(base+2*ms, toClient)
	p.check(p.fr[toClient].WriteData(1, false, []byte(`{"documentation_url":"x#about-`)))
	p.check(p.fr[toClient].WriteData(3, false, []byte(`{"valid":false,`)))
	p.check(p.fr[toClient].WriteDataPadded(5, true, []byte(`{"retry_after":3}`), make([]byte, 40)))
	p.send(base+3*ms, toClient)
	p.check(p.fr[toClient].WriteData(3, true, []byte(`"reason":"rate_limited"}`)))
	p.check(p.fr[toClient].WriteData(1, true, []byte(`secondary-rate-limits"}`)))
	p.send(base+4*ms, toClient)
	r := readAll(t, m.bytes(), Options{})
	got := map[string]string{}
	for i := range r.all {
		got[r.all[i].target] = said(&r.all[i])
	}
	for target, want := range map[string]string{"/1": "403 throttle absent", "/3": "200 body-refusal absent", "/5": `429 throttle present body 3.000 "3"`} {
		if got[target] != want {
			t.Errorf("%s: %s, want %s", target, got[target], want)
		}
	}
}

// TestAsked reads ids and deadlines of requests.
func TestAsked(t *testing.T) {
	m := newMade(t)
	c := m.dial()
	ask := func(fields ...string) {
		c.Send(base, true, []byte("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n"+strings.Join(append(fields, ""), "\r\n")+"\r\n"))
		c.Send(base, false, reply(200, ""))
	}
	ask("Idempotency-Key: k-1", "amz-sdk-invocation-id: i-1", "X-Request-Id: r-1")
	ask("amz-sdk-invocation-id: i-1", "x-ms-client-request-id: z", "traceparent: 00-a-b-01")
	ask("PayPal-Request-Id: k-1", "grpc-timeout: 250m", "x-envoy-expected-rq-timeout-ms: 900")
	ask("X-Goog-Api-Client: gl-go/1 gccl-invocation-id/i-1 gccl-attempt-count/2", "amz-sdk-request: attempt=1; ttl=20231114T221325Z")
	c.Close(base + ms)
	r := readAll(t, m.bytes(), Options{})
	k, i := capture.HashID([]byte("k-1")), capture.HashID([]byte("i-1"))
	for n, want := range []capture.Exchange{
		{IdemKey: k, RequestID: capture.HashID([]byte("r-1"))},
		{IdemKey: i, RequestID: capture.HashID([]byte("z"))},
		{IdemKey: k, Deadline: base + 250*ms},
		{IdemKey: i, Deadline: 1_700_000_005e9},
	} {
		if x := r.all[n]; x.IdemKey != want.IdemKey || x.RequestID != want.RequestID || x.Deadline != want.Deadline {
			t.Errorf("request %d: key %x, id %x, deadline %d, want %x, %x, %d", n+1, x.IdemKey, x.RequestID, x.Deadline, want.IdemKey, want.RequestID, want.Deadline)
		}
	}
}
