package accesslog

import (
	"fmt"
	"slices"
	"testing"

	"stormwatch/capture"
)

// How long connecting took says which tries reached a server: "-" stands for none
// (ngx_http_upstream_module, $upstream_connect_time).
func TestWhichTriesReachedAServer(t *testing.T) {
	const format = `nginx:$msec $remote_addr "$request" $status us="$upstream_status" ua="$upstream_addr" urt="$upstream_response_time" uct="$upstream_connect_time"`
	for conns, want := range map[string][]capture.Reach{
		"0.001, 0.002": {capture.Reached, capture.Reached},
		"-, 0.001":     {capture.Unreached, capture.Reached},
		"0.000, -":     {capture.Reached, capture.Unreached},
		"":             {capture.ReachUnknown, capture.ReachUnknown},
		"0.001":        {capture.Reached, capture.ReachUnknown},
	} {
		line := fmt.Sprintf(`1796026266.500 192.0.2.1 "POST /a HTTP/1.1" 201 us="502, 201" ua="a:1, b:1" urt="0.000, 0.080" uct="%s"`+"\n", conns)
		out := readAs(t, format, line)
		if len(out.rows) != 1 || len(out.rows[0].tries) != 2 {
			t.Fatalf("%q: %+v", conns, out)
		}
		got := []capture.Reach{out.rows[0].tries[0].Reach, out.rows[0].tries[1].Reach}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", conns, got, want)
		}
	}
}

// A line is written when a session has ended: one that took no second of it died at
// once, where the log says how long it took, finely enough.
func TestSessionsThatDiedAtOnce(t *testing.T) {
	for took, want := range map[string]bool{"0.120": true, "1.000": true, "1.001": false, "143.250": false} {
		out := readAs(t, `nginx:$msec $remote_addr "$request" $status $request_time`, `1796026266.500 192.0.2.1 "GET /ws HTTP/1.1" 101 `+took+"\n")
		if got := out.rows[0].Flags&capture.Brief != 0; got != want {
			t.Errorf("101 after %s s: brief %v", took, got)
		}
	}
	for _, c := range [][2]string{
		{`nginx:$msec $remote_addr "$request" $status`, `1796026266.500 192.0.2.1 "GET /ws HTTP/1.1" 101`},
		{`nginx:$msec $remote_addr "$request" $status $request_time`, `1796026266.500 192.0.2.1 "GET /ws HTTP/1.1" 200 0.120`},
		{`apache:%h %l %u %t "%r" %>s %b %T`, `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET /ws HTTP/1.1" 101 0 0`},
	} {
		if x := readAs(t, c[0], c[1]+"\n").rows[0]; x.Flags&capture.Brief != 0 {
			t.Errorf("%s: brief", c[1])
		}
	}
}
