package accesslog

import (
	"fmt"
	"net/netip"
	"testing"
)

// The client is the last address in X-Forwarded-For that is no trusted proxy;
// what a client itself writes before it is not believed.
func TestTrustedProxies(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:1::/48")}
	for _, c := range []struct{ peer, xff, want string }{
		{"10.0.0.1", "198.51.100.7", "198.51.100.7"},
		{"10.0.0.1", "1.2.3.4, 198.51.100.7, 10.0.0.2", "198.51.100.7"},
		{"10.0.0.1", "1.2.3.4, unknown, 10.0.0.2", "10.0.0.2"},
		{"10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"},
		{"10.0.0.1", "[2001:db8::7]:4000, 2001:db8:1::2", "2001:db8::7"},
		{"10.0.0.1", "-", "10.0.0.1"},
		{"192.0.2.9", "198.51.100.7", "192.0.2.9"},
		{"2001:db8:1::1", "198.51.100.7:55", "198.51.100.7"},
	} {
		line := fmt.Sprintf(`%s - - [30/Nov/2026:08:11:06 +0000] "GET / HTTP/1.1" 200 5 "-" "a" "%s"`+"\n", c.peer, c.xff)
		out := mustRead(t, line, Options{Trusted: trusted})
		if got := out.rows[0].Src.String(); got != c.want {
			t.Errorf("%s, %s: client %s, want %s", c.peer, c.xff, got, c.want)
		}
	}
}
