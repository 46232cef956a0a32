package capture

import "testing"

// families are the headers that carry an attempt number, each with what three
// attempts send; "" is a header left out.
var families = []struct {
	header  string
	values  [3]string
	counter Counter
}{
	{"X-Envoy-Attempt-Count", [3]string{"1", "2", "3"}, EnvoyAttempts},
	{"x-stainless-retry-count", [3]string{"0", "1", "2"}, StainlessRetries},
	{"amz-sdk-request", [3]string{"ttl=20260807T233447Z; attempt=1; max=3", "attempt=2; max=3; ttl=20260807T233447Z", "attempt=3;max=3"}, AmzAttempt},
	{"grpc-previous-rpc-attempts", [3]string{"", "1", "2"}, RPCAttempts},
	{"X-Goog-Api-Client", [3]string{
		"gl-go/1.25.0 gccl/1.56.0 gccl-invocation-id/7b4f6f0e-6a6c gccl-attempt-count/1", "gccl-attempt-count/2 gccl-invocation-id/7b4f6f0e-6a6c",
		"gccl-invocation-id/7b4f6f0e-6a6c gccl-attempt-count/3",
	}, GoogAttempt},
	{"Retry-Attempt", [3]string{"", "1", "2"}, FromAbsent},
	{"X-Retry-Count", [3]string{"", "1", "2"}, FromAbsent},
	{"Rsa-Retry-Attempt", [3]string{"", "1", "2"}, FromAbsent},
	{"svix-retry-count", [3]string{"", "1", "2"}, FromAbsent},
	{"X-Slack-Retry-Num", [3]string{"", "1", "2"}, FromAbsent},
	{"X-Atlassian-Webhook-Retry", [3]string{"", "1", "2"}, FromAbsent},
	{"square-retry-number", [3]string{"", "1", "2"}, FromAbsent},
	{"X-CloudTasks-TaskRetryCount", [3]string{"0", "1", "2"}, FromZero},
	{"X-AppEngine-TaskRetryCount", [3]string{"0", "1", "2"}, FromZero},
	{"Upstash-Retried", [3]string{"0", "1", "2"}, FromZero},
	{"X-Hookdeck-Attempt-Count", [3]string{"1", "2", "3"}, FromOne},
	{"X-Attempt-Number", [3]string{"1", "2", "3"}, FromOne},
	{"aeg-delivery-count", [3]string{"0", "1", "2"}, FromEither},
}

func TestEveryCounterFromItsOwnBase(t *testing.T) {
	known := map[string]bool{}
	for _, f := range families {
		known[f.header] = true
		for i, value := range f.values {
			var x Exchange
			if value != "" {
				x.Declare([]byte(f.header), []byte(value))
			}
			want := Attempt{uint16(i + 1), f.counter}
			if value == "" {
				want = Attempt{}
			}
			if x.Attempt != want || x.Inner != (Attempt{}) {
				t.Errorf("%s: %q is %+v, want %+v", f.header, value, x.Attempt, want)
			}
		}
		if always := f.values[0] != "" && !f.counter.Proxy() && f.counter != FromEither; f.counter.Always() != always {
			t.Errorf("%s: a first attempt carries it: %v", f.header, always)
		}
	}
	n := 0
	for _, s := range signals {
		if s.counter != NoCounter {
			n++
		}
	}
	if n != len(families) {
		t.Errorf("%d headers count, %d are tested", n, len(families))
	}
}

func TestWhatIsNoCounter(t *testing.T) {
	var x Exchange
	for _, f := range [][2]string{
		{"x-envoy-max-retries", "3"},
		{"x-envoy-retry-on", "5xx"},
		{"x-portkey-retry-count", "5"},
		{"l5d-retry-limit", "2"},
		{"l5d-retry-http", "5xx"},
		{"Upstash-Retries", "3"},
		{"x-envoy-is-timeout-retry", "true"},
		{"X-Slack-Retry-Reason", "http_timeout"},
		{"retry-after", "3"},
		{"amz-sdk-request", "max=3"},
		{"amz-sdk-request", "attempt=0; max=3"},
		{"x-stainless-retry-count", "-1"},
		{"x-retry-count", "99999"},
		{"x-goog-api-client", "gl-go/1.25.0 gccl/1.56.0"},
		{"", "1"},
		{"x-request-id-with-a-name-longer-than-all", "1"},
	} {
		x.Declare([]byte(f[0]), []byte(f[1]))
	}
	if x != (Exchange{}) {
		t.Errorf("%+v", x)
	}
}

// A client's counter and a proxy's are both kept, whichever comes first.
func TestTwoCounters(t *testing.T) {
	want := [2]Attempt{{2, StainlessRetries}, {3, EnvoyAttempts}}
	for _, order := range [][]string{{"x-stainless-retry-count", "1", "x-envoy-attempt-count", "3"}, {"x-envoy-attempt-count", "3", "x-stainless-retry-count", "1"}} {
		var x Exchange
		for i := 0; i < len(order); i += 2 {
			x.Declare([]byte(order[i]), []byte(order[i+1]))
		}
		if x.Attempt != want[0] || x.Inner != want[1] {
			t.Errorf("%v: %+v and %+v", order, x.Attempt, x.Inner)
		}
	}
}

func TestIDs(t *testing.T) {
	declared := func(fields ...string) (x Exchange) {
		for i := 0; i < len(fields); i += 2 {
			x.Declare([]byte(fields[i]), []byte(fields[i+1]))
		}
		return x
	}
	for _, name := range []string{
		"Idempotency-Key", "X-Idempotency-Key", "PayPal-Request-Id", "Cko-Idempotency-Key", "x-amz-pay-idempotency-key", "Repeatability-Request-ID",
		"amz-sdk-invocation-id", "x-goog-gcs-idempotency-token", "svix-req-id", "webhook-id", "X-CloudTasks-TaskName", "Upstash-Message-Id",
		"Idempotency-Token", "I-Twilio-Idempotency-Token", "svix-id", "X-GitHub-Delivery", "X-Shopify-Webhook-Id", "X-Hook-UUID", "X-Request-UUID",
		"X-Hookdeck-EventID", "X-Atlassian-Webhook-Identifier",
	} {
		if x := declared(name, " op-1 "); x.IdemKey != HashID([]byte("op-1")) || x.RequestID != 0 {
			t.Errorf("%s: %x", name, x.IdemKey)
		}
	}
	// A key that the server acts on says more than an id of the call.
	for _, x := range []Exchange{declared("amz-sdk-invocation-id", "i", "idempotency-key", "k"), declared("idempotency-key", "k", "amz-sdk-invocation-id", "i")} {
		if x.IdemKey != HashID([]byte("k")) {
			t.Errorf("of two: %x", x.IdemKey)
		}
	}
	if x := declared("x-goog-api-client", "gccl/1 gccl-invocation-id/op-1"); x.IdemKey != HashID([]byte("op-1")) || x.Attempt.N != 0 {
		t.Errorf("an invocation without a count: %+v", x)
	}
	if x := declared("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"); x.RequestID != HashID([]byte("4bf92f3577b34da6a3ce929d0e0e4736")) {
		t.Errorf("trace %x", x.RequestID)
	}
	a, b := HashRequestID([]byte("Root=1-67891233-abcdef012345678912345678;Parent=53995c3f42cd8ad8")), HashRequestID([]byte("Self=1-6;Root=1-67891233-abcdef012345678912345678"))
	if a == 0 || a != b {
		t.Errorf("X-Ray's root differs: %x and %x", a, b)
	}
	for _, x := range []Exchange{declared("x-request-id", "r", "traceparent", "t"), declared("traceparent", "t", "x-request-id", "r")} {
		if x.RequestID != HashID([]byte("r")) || x.IdemKey != 0 {
			t.Errorf("request id %x", x.RequestID)
		}
	}
}

func FuzzDeclare(f *testing.F) {
	for _, c := range families {
		f.Add([]byte(c.header), []byte(c.values[2]))
	}
	f.Add([]byte("Traceparent"), []byte("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
	f.Add([]byte("x-goog-api-client"), []byte("gccl-invocation-id/ gccl-attempt-count/"))
	f.Add([]byte("amz-sdk-request"), []byte("attempt=99999999999999999999"))
	f.Fuzz(func(t *testing.T, name, value []byte) {
		n, v := string(name), string(value)
		var x Exchange
		x.Declare(name, value)
		x.TriedInAll(value)
		if (x.Attempt.N == 0) != (x.Attempt.Counter == NoCounter) || x.Attempt.N > 1<<15 || x.Inner.N != 0 || x.Tries > 1<<15 || x.Tries > 0 && x.Again != x.Tries-1 {
			t.Errorf("%q: %q: %+v", n, v, x)
		}
		if string(name) != n || string(value) != v {
			t.Error("the header's bytes were changed")
		}
	})
}

func BenchmarkDeclareNothing(b *testing.B) {
	fields := [][]byte{[]byte("accept"), []byte("accept-encoding"), []byte("content-type"), []byte("x-forwarded-for"), []byte("connection"), []byte("user-agent")}
	var x Exchange
	b.ReportAllocs()
	for b.Loop() {
		for _, f := range fields {
			x.Declare(f, f)
		}
	}
}
