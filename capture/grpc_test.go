package capture

import "testing"

// TestRPCStatus follows google/rpc/code.proto by hand.
func TestRPCStatus(t *testing.T) {
	for _, c := range []struct {
		value  string
		code   int
		http   uint16
		reason Reason
	}{
		{"0", 0, 200, OK},
		{"1", 1, 499, ClientError},
		{"2", 2, 500, ServerError},
		{"4", 4, 504, ServerError},
		{"7", 7, 403, Forbidden},
		{"8", 8, 429, Throttle},
		{"13", 13, 500, ServerError},
		{" 14 ", 14, 503, Overload},
		{"16", 16, 401, Auth},
		{"17", 2, 500, ServerError}, // clients take what they do not know for UNKNOWN
		{"", 2, 500, ServerError},
		{"-1", 2, 500, ServerError},
		{"99999999999999999999", 2, 500, ServerError},
	} {
		r := ParseRPCStatus([]byte(c.value))
		if code, ok := r.Code(); code != c.code || !ok || r.HTTP() != c.http || r.Reason() != c.reason {
			t.Errorf("%q: code %d %v, HTTP %d, %v; want %d, %d, %v", c.value, code, ok, r.HTTP(), r.Reason(), c.code, c.http, c.reason)
		}
	}
	for _, r := range []RPCStatus{NoRPC, RPCUnseen} {
		if _, ok := r.Code(); ok || r.HTTP() != 0 || r.Reason() != Unjudged {
			t.Errorf("%d has a code", r)
		}
	}
}

// TestPushback follows gRFC A6.
func TestPushback(t *testing.T) {
	for _, c := range []struct {
		value string
		kind  HintKind
		wait  int64 // ms
	}{
		{"120", RPCPushback, 120},
		{"0", RPCPushback, 0},
		{"2147483647", RPCPushback, 2147483647},
		{"2147483648", DoNotRetry, 0}, // beyond 32 bits: cannot be read
		{"-1", DoNotRetry, 0},
		{"soon", DoNotRetry, 0},
		{"", DoNotRetry, 0},
		{"1.5", DoNotRetry, 0},
	} {
		h := ParsePushback([]byte(c.value))
		if h.State != Present || h.Kind != c.kind || h.Wait != c.wait*1e6 {
			t.Errorf("%q: %v %v %d", c.value, h.State, h.Kind, h.Wait)
		}
		if h.Usable() != (c.kind == RPCPushback) {
			t.Errorf("%q: usable %v", c.value, h.Usable())
		}
	}
}

// TestOutcomes checks what detect counts on: who failed and who was refused.
func TestOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		x                       Exchange
		failed, refused, judged bool
		effective               uint16
	}{
		"ok":                  {Exchange{Status: 200, Reason: OK}, false, false, true, 200},
		"redirect":            {Exchange{Status: 302, Reason: Redirect}, false, false, true, 302},
		"refused":             {Exchange{Status: 429, Reason: Throttle}, true, true, true, 429},
		"no answer":           {Exchange{Outcome: NoAnswer}, true, false, true, 0},
		"stream refused":      {Exchange{Outcome: Reset, Reason: Overload}, true, true, true, 0},
		"status unreadable":   {Exchange{}, false, false, false, 0},
		"gRPC ok":             {Exchange{Status: 200, RPC: 1, Reason: OK}, false, false, true, 200},
		"gRPC exhausted":      {Exchange{Status: 200, RPC: 9, Reason: Throttle}, true, true, true, 429},
		"gRPC status unseen":  {Exchange{Status: 200, RPC: RPCUnseen}, false, false, false, 200},
		"gRPC behind a proxy": {Exchange{Status: 503, RPC: RPCUnseen, Reason: Overload}, true, true, true, 503},
	} {
		x := &c.x
		if x.Failed() != c.failed || x.Refused() != c.refused || x.Judged() != c.judged || x.Effective() != c.effective {
			t.Errorf("%s: failed %v, refused %v, judged %v, effective %d", name, x.Failed(), x.Refused(), x.Judged(), x.Effective())
		}
	}
}
