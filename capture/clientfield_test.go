package capture

import (
	"encoding/base64"
	"testing"
)

func token(payload string) string {
	return "Bearer eyJhbGciOiJub25lIn0." + base64.RawURLEncoding.EncodeToString([]byte(payload)) + ".c2ln"
}

func TestClaim(t *testing.T) {
	f := ClientField{Header: "authorization", Claim: "sub"}
	for _, c := range []struct{ text, want string }{
		{token(`{"iss":"x","sub":"acme","exp":1}`), "acme"},
		{token(`{"sub":42}`), "42"},
		{token(`{"sub":"a\"b"}`), `a"b`},
		{token(`{"iss":"x"}`), ""},
		{token(`{"sub":null}`), ""},
		{token(`{"sub":{"a":1}}`), ""},
		{token(`{"sub":`), ""},
		{"Bearer abc", ""},
		{"Basic YTpi", ""},
		{"a.!!!.c", ""},
		{"", ""},
	} {
		if got := string(f.Value([]byte(c.text))); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestClientFieldNames(t *testing.T) {
	f := ClientField{Header: "x-tenant-id"}
	for name, want := range map[string]bool{"X-Tenant-Id": true, "x_tenant_id": true, "x-tenant": false, "": false, "x-tenant-ia": false} {
		if f.Is([]byte(name)) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
	for header, secret := range map[string]bool{"x-tenant-id": false, "x-api-key": true, "authorization": true, "cookie": true, "user-agent": false, "x-session-id": true} {
		if (ClientField{Header: header}).Secret() != secret {
			t.Errorf("%s: secret %v", header, !secret)
		}
	}
	if (ClientField{}).Is(nil) {
		t.Error("no field has no name")
	}
}

func FuzzClaim(f *testing.F) {
	f.Add(token(`{"sub":"acme"}`))
	f.Add("a..b")
	f.Fuzz(func(t *testing.T, text string) {
		v := ClientField{Header: "authorization", Claim: "sub"}.Value([]byte(text))
		if len(v) > maxTokenBytes {
			t.Errorf("%d bytes out of %d", len(v), len(text))
		}
	})
}
