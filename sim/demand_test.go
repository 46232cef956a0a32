package sim

import (
	"math"
	"strings"
	"testing"
	"time"
)

// A day of 40 s with a depth of 0.8: its first half has (1 + 2*.8/pi) of the mean,
// its second the rest.
func TestWave(t *testing.T) {
	r := parsed(t, `
server: {limiter: {limit: 100000}}
groups: [{name: g, count: 200, policy: none, paths: [/a], demand: [{to: 40s, rate: 1, wave: {period: 40s, depth: 0.8}}]}]
`)
	var half [2]int
	for _, row := range r.Rows {
		half[min((row.Start-r.Scenario.Start.UnixNano())/20e9, 1)]++
	}
	for i, want := range []float64{4000 * (1 + 1.6/math.Pi), 4000 * (1 - 1.6/math.Pi)} {
		if math.Abs(float64(half[i])-want) > 5*math.Sqrt(want) {
			t.Errorf("half %d: %d requests, want about %.0f", i+1, half[i], want)
		}
	}
}

// A restart: everybody dials anew and asks the same in the same order, though
// connections were open.
func TestRestart(t *testing.T) {
	r := parsed(t, `
server: {limiter: {limit: 100000}}
groups:
  - name: g
    count: 30
    policy: none
    idle: 60s
    paths: ["/a/{id}"]
    demand:
      - {to: 20s, rate: 1}
      - {from: 20s, to: 20100ms, units: 3, sequential: true, in_order: true, restart: true, paths: [/config, /session, /flags]}
`)
	order := map[int][]string{}
	for _, row := range r.Rows {
		if at := row.Start - r.Scenario.Start.UnixNano(); at < 20e9+5e6 {
			continue
		}
		order[row.Client] = append(order[row.Client], row.Path)
		if conn := r.Conns[row.Conn]; conn.Opened < r.Scenario.Start.Add(20*time.Second).UnixNano() {
			t.Fatalf("%s on a connection from before", row.Path)
		}
	}
	for client, paths := range order {
		if got := strings.Join(paths, " "); got != "/config /session /flags" {
			t.Errorf("client %d asks %s", client, got)
		}
	}
	closed := 0
	for _, c := range r.Conns {
		if c.Closed > 0 {
			closed++
		}
	}
	if len(order) != 30 || closed < 25 {
		t.Errorf("%d clients started, %d connections closed", len(order), closed)
	}
}

// Pages follow one another, each after the answer to the one before and a pause.
func TestPaginator(t *testing.T) {
	r := parsed(t, `
server: {limiter: {limit: 100000, service: 50ms}}
groups: [{name: g, count: 3, policy: none, paths: ["/list?page={page}"], demand: [{to: 1s, units: 20, sequential: true, think: 300ms}]}]
`)
	last := map[int]Row{}
	for _, row := range r.Rows {
		before, seen := last[row.Client]
		if !seen && row.Path != "/list?page=1" {
			t.Errorf("starts with %s", row.Path)
		}
		if seen && row.Start-before.End < 300e6 {
			t.Errorf("%s came %s after %s", row.Path, time.Duration(row.Start-before.End), before.Path)
		}
		last[row.Client] = row
	}
	for client, row := range last {
		if row.Path != "/list?page=20" {
			t.Errorf("client %d ends with %s", client, row.Path)
		}
	}
}

// Copies are units of their own that begin together and ask the same.
func TestCopies(t *testing.T) {
	r := parsed(t, `
server: {limiter: {limit: 100000}}
groups: [{name: g, count: 2, policy: none, paths: ["/a/{id}"], demand: [{to: 10s, units: 5, copies: 4}]}]
`)
	byPath, chains := map[string][]Row{}, map[uint64]bool{}
	for _, row := range r.Rows {
		byPath[row.Path] = append(byPath[row.Path], row)
		chains[row.Chain] = true
	}
	if len(byPath) != 10 || len(chains) != 40 {
		t.Errorf("%d paths and %d chains, want 10 and 40", len(byPath), len(chains))
	}
	for path, rows := range byPath {
		if len(rows) != 4 || rows[3].Start-rows[0].Start > 10e6 || rows[3].Start > rows[0].End {
			t.Errorf("%s: %+v", path, rows)
		}
	}
}

// The tap sees a repeated request twice, and it is one exchange.
func TestRepeated(t *testing.T) {
	r := parsed(t, `
server: {limiter: {limit: 100000}}
groups: [{name: g, count: 10, policy: none, repeated: 0.3, paths: ["/a/{id}"], demand: [{to: 60s, units: 100}]}]
`)
	n := 0
	for _, row := range r.Rows {
		if row.Repeated {
			n++
		}
	}
	if len(r.Rows) != 1000 || n < 230 || n > 370 {
		t.Errorf("%d of %d repeated, want about 300 of 1000", n, len(r.Rows))
	}
}
