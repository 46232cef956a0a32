package sim

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"stormwatch/capture"
)

// Clients behind one address use different ports, and a port again only once its
// connection is closed.
func TestNATPorts(t *testing.T) {
	r := parsed(t, `
server: {limiter: {limit: 100000, window: 1s}}
groups:
  - {name: a, count: 300, policy: none, idle: 300ms, identity: {nat: 203.0.113.7}, paths: [/a], demand: [{rate: 1.5}]}
  - {name: b, count: 300, policy: none, idle: 300ms, identity: {nat: 203.0.113.7, forwarded: true}, paths: [/b], demand: [{rate: 1.5}]}
`)
	open := map[string]Conn{}
	for _, c := range r.Conns {
		src := c.Src.String()
		if !strings.HasPrefix(src, "203.0.113.7:") {
			t.Fatalf("connection from %s", src)
		}
		if before, again := open[src]; again && (before.Closed == 0 || before.Closed > c.Opened) {
			t.Fatalf("%s is dialled at %d, open until %d", src, c.Opened, before.Closed)
		}
		open[src] = c
	}
	if len(r.Conns) < portCount {
		t.Errorf("only %d connections", len(r.Conns))
	}
	own := map[string]bool{}
	for _, row := range r.Rows {
		if r.Group(&row).Name == "b" {
			want := "X-Forwarded-For: " + r.Clients[row.Client].Addr.String() + "\r\n"
			if row.Asked != want {
				t.Fatalf("%q, want %q", row.Asked, want)
			}
			own[want] = true
		}
	}
	if len(own) != 300 {
		t.Errorf("%d addresses behind the other, want 300", len(own))
	}
}

// Credentials: one for all, one for each, and the next one after a refusal.
func TestKeys(t *testing.T) {
	keys := func(identity string) (all []string) {
		r := parsed(t, `
server: {limiter: {limit: 1, window: 1h, refuse: 403}}
groups:
  - {name: g, count: 3, policy: fixed base=1s attempts=3, retry_on: [403], identity: {`+identity+`}, paths: [/a], demand: [{to: 1s, units: 1}]}
`)
		seen := map[string]bool{}
		for _, row := range r.Rows {
			if key := strings.TrimSuffix(row.Asked, "\r\n"); !seen[key] {
				seen[key] = true
				all = append(all, key)
			}
		}
		return all
	}
	if got := keys("key: one"); len(got) != 1 || got[0] != "Authorization: Bearer key-g-1" {
		t.Errorf("one: %q", got)
	}
	if got := keys("key: each, header: X-Api-Key"); len(got) != 3 || !strings.HasPrefix(got[0], "X-Api-Key: key-g-") {
		t.Errorf("each: %q", got)
	}
	// Three clients, one granted at once; the others' attempts use keys 1, 2 and 3.
	if got := keys("key: each, keys: 5, rotate_on: [403]"); len(got) != 1+2*3 {
		t.Errorf("rotated: %q", got)
	}
	if got := keys("key: each, keys: 5, rotate_on: [401]"); len(got) != 3 {
		t.Errorf("not rotated: %q", got)
	}
}

// A credential that runs out is refreshed after one 401.
func TestRefresh(t *testing.T) {
	r := parsed(t, `
server: {limiter: {limit: 1000}, faults: [{from: 20s, do: 401, key: 1}]}
groups:
  - {name: g, count: 5, policy: immediate attempts=2, retry_on: [401], identity: {key: each, keys: 2, rotate_on: [401]}, paths: ["/a/{id}"], demand: [{every: 1s}]}
`)
	failed, retried := 0, 0
	for _, row := range r.Rows {
		if row.Status == 401 {
			failed++
			if at := row.Start - r.Scenario.Start.UnixNano(); at < 20e9 || at > 21.1e9 {
				t.Errorf("401 after %s", time.Duration(at))
			}
		}
		if row.Attempt == 2 {
			retried++
			if row.Status != 200 || row.Key != 2 {
				t.Errorf("%+v", row)
			}
		}
	}
	if failed != 5 || retried != 5 {
		t.Errorf("%d refused and %d retried, want each of 5 once", failed, retried)
	}
}

// Writes carry a body that is the same on every attempt, and a key as the client
// has it.
func TestWrites(t *testing.T) {
	for idempotency, want := range map[string][3]string{
		"":                    {"", "", ""},
		"idempotency: same, ": {"Idempotency-Key: op-2\r\n", "Idempotency-Key: op-2\r\n", "Idempotency-Key: op-2\r\n"},
		"idempotency: new, ":  {"Idempotency-Key: op-2-1\r\n", "Idempotency-Key: op-2-2\r\n", "Idempotency-Key: op-2-3\r\n"},
	} {
		r := parsed(t, `
server: {limiter: {limit: 1, window: 1h}}
groups:
  - {name: g, count: 1, method: PATCH, policy: fixed base=1s attempts=3, `+idempotency+`paths: [/a], demand: [{to: 1ms, units: 1}, {from: 1s, to: 2s, units: 1}]}
`)
		for i, row := range r.Rows[1:] {
			if row.Asked != want[i] {
				t.Errorf("%sattempt %d: %q, want %q", idempotency, i+1, row.Asked, want[i])
			}
			request := string(r.appendRequest(nil, &row))
			if !strings.HasPrefix(request, "PATCH /a HTTP/1.1\r\n") || !strings.HasSuffix(request, "Content-Length: 11\r\n\r\n{\"order\":2}") {
				t.Errorf("%q", request)
			}
		}
	}
}

// Faults befall the requests that they name, in their time and by their share.
func TestFaults(t *testing.T) {
	r := parsed(t, `
server:
  limiter: {limit: 1000}
  hint: 9s
  faults:
    - {from: 10s, to: 20s, paths: [/a/], do: 503, hint: 2s}
    - {from: 30s, share: 0.25, do: 404}
    - {paths: [/b], do: body, after: 50ms}
    - {paths: [/c], do: reset}
    - {paths: [/d], do: timeout}
groups:
  - {name: g, count: 20, policy: none, timeout: 3s, paths: ["/a/{id}", /b, /c, /d, /e], demand: [{every: 1s}]}
`)
	count := map[string]int{}
	for _, row := range r.Rows {
		at := (row.Start - r.Scenario.Start.UnixNano()) / 1e9
		took := row.End - row.Start
		what := fmt.Sprintf("%.2s %d %s", row.Path, row.Status, row.Outcome)
		count[what]++
		switch row.Path[:2] {
		case "/a":
			if (row.Status == 503) != (at >= 10 && at < 20) || row.Status == 503 && (row.Fields != "Retry-After: 2\r\n" || row.content() != bodyRefused) {
				t.Fatalf("at %d: %+v", at, row)
			}
		case "/b":
			if at < 30 && (row.Status != 200 || !row.BodyError || row.content() != bodyNo || took < 25e6 || took > 75e6) {
				t.Fatalf("at %d: %+v", at, row)
			}
		case "/c":
			if at < 30 && (row.Status != 0 || row.Outcome != capture.Reset || took > 1e6 || !r.Conns[row.Conn].ByServer) {
				t.Fatalf("at %d: %+v", at, row)
			}
		case "/d":
			if at < 30 && (row.Status != 0 || row.Outcome != capture.Reset || took < 2.9e9 || took > 3.1e9 || r.Conns[row.Conn].ByServer) {
				t.Fatalf("at %d: %+v", at, row)
			}
		case "/e":
			if row.Status != http.StatusOK && (at < 30 || row.Status != 404) {
				t.Fatalf("at %d: %+v", at, row)
			}
		}
	}
	missing := 0
	for what, n := range count {
		if strings.Contains(what, " 404 ") {
			missing += n
		}
	}
	if missing < 110 || missing > 190 { // a quarter of 600
		t.Errorf("%d times 404, want about 150: %v", missing, count)
	}
}

// IPv6 clients speak to the server's IPv6 address.
func TestIPv6(t *testing.T) {
	r := parsed(t, `
server: {limiter: {limit: 1000}}
groups:
  - {name: six, count: 300, policy: none, identity: {ipv6: true}, paths: [/a], demand: [{to: 10s, units: 1}]}
  - {name: four, count: 1, policy: none, paths: [/a], demand: [{to: 10s, units: 1}]}
`)
	addresses := map[string]bool{}
	for _, c := range r.Conns {
		if c.Src.Addr().Is6() != c.Dst.Addr().Is6() {
			t.Fatalf("%s to %s", c.Src, c.Dst)
		}
		addresses[c.Src.Addr().String()] = true
	}
	if len(addresses) != 301 || !addresses["2001:db8:0:1::12c"] || !addresses["10.2.0.1"] {
		t.Errorf("%d addresses, want 301 with 2001:db8:0:1::12c and 10.2.0.1", len(addresses))
	}
}
