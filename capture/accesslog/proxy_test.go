package accesslog

import (
	"fmt"
	"net/netip"
	"strings"
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

// A log of a server behind a proxy says which flag tells the clients apart.
func TestProxyIsNoticed(t *testing.T) {
	text := func(peer func(i int) string, xff func(i int) string) string {
		var b strings.Builder
		for i := range 100 {
			fmt.Fprintf(&b, `%s - - [30/Nov/2026:08:11:06 +0000] "GET / HTTP/1.1" 200 5 "-" "a" "%s"`+"\n", peer(i), xff(i))
		}
		return b.String()
	}
	one := func(int) string { return "10.0.0.1" }
	many := func(i int) string { return fmt.Sprintf("198.51.100.%d", i%9) }
	for name, c := range map[string]struct {
		text string
		note bool
	}{
		"a proxy":                {text(one, many), true},
		"a proxy and an outlier": {text(func(i int) string { return []string{"10.0.0.1", "192.0.2.1"}[i/97] }, many), true},
		"clients":                {text(many, many), false},
		"one client":             {text(one, one), false},
		"nothing forwarded":      {text(one, func(int) string { return "-" }), false},
	} {
		h := mustRead(t, c.text, Options{}).health
		if noted := len(h.Notes) == 1 && strings.Contains(h.Notes[0], "--trusted-proxy 10.0.0.1"); noted != c.note || !c.note && len(h.Notes) != 0 {
			t.Errorf("%s: %q", name, h.Notes)
		}
	}
	if h := mustRead(t, text(one, many), Options{Trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}).health; len(h.Notes) != 0 {
		t.Errorf("once told, it is not asked for: %q", h.Notes)
	}
}
