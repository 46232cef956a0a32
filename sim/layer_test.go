package sim

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"stormwatch/capture"
)

// parsed plays a scenario whose yaml is given from its server on.
func parsed(t *testing.T, text string) *Result {
	t.Helper()
	sc, err := Parse([]byte("name: x\nseed: 4\nstart: 2026-03-02T03:10:00Z\nduration: 60s\n" + text))
	if err != nil {
		t.Fatal(err)
	}
	return Run(sc)
}

const threeLayers = `
server: {limiter: {limit: 1, window: 1h, refuse: 503}}
layers:
  - {name: edge, policy: fixed base=100ms attempts=3, counter: x-hookdeck, forwarded: true, latency: 1ms}
  - {name: mesh, count: 2, policy: fixed base=10ms attempts=3, counter: x-envoy-attempt-count, forwarded: true, latency: 1ms}
groups:
  - name: app
    count: 1
    agent: app/1
    policy: fixed base=1s attempts=3
    counter: x-stainless-retry-count
    through: [edge, mesh]
    paths: ["/a/{id}"]
    demand: [{to: 1ms, units: 1}, {from: 10s, to: 11s, units: 1}]
`

// Three layers that each try three times turn one request into 27: the tap sees
// the last layer's addresses, its counter beside the client's, and the addresses
// on the way.
func TestLayersMultiply(t *testing.T) {
	r := parsed(t, strings.ReplaceAll(threeLayers, "x-hookdeck", "X-Hookdeck-Attempt-Count"))
	rows := r.Rows[1:] // after the one that was granted
	if len(rows) != 27 {
		t.Fatalf("%d requests for one, want 27", len(rows))
	}
	for i, row := range rows {
		client, edge, mesh := i/9+1, i/3%3+1, i%3+1
		if row.Attempt != i+1 || row.Chain != 2 || row.Layers != (Layers{uint16(client), uint16(edge), uint16(mesh)}) {
			t.Errorf("request %d: attempt %d of chain %d, layers %v", i+1, row.Attempt, row.Chain, row.Layers)
		}
		src := r.Conns[row.Conn].Src.Addr().String()
		want := fmt.Sprintf("X-Forwarded-For: 10.1.0.1, 10.251.0.1\r\nx-envoy-attempt-count: %d\r\nX-Hookdeck-Attempt-Count: %d\r\nx-stainless-retry-count: %d\r\n", mesh, edge, client-1)
		if row.Asked != want || src != "10.252.0.1" && src != "10.252.0.2" {
			t.Errorf("request %d from %s: %q, want %q", i+1, src, row.Asked, want)
		}
		gap := 10 * time.Millisecond
		switch {
		case i == 0:
			continue
		case mesh == 1 && edge == 1:
			gap = time.Second
		case mesh == 1:
			gap = 100 * time.Millisecond
		}
		if got := time.Duration(row.Start - rows[i-1].End); got < gap || got > gap+20*time.Millisecond {
			t.Errorf("request %d came after %s, want about %s", i+1, got, gap)
		}
	}
}

// A layer with the counter of the one outside it overwrites it.
func TestInnerCounterWins(t *testing.T) {
	r := parsed(t, strings.ReplaceAll(threeLayers, "x-hookdeck", "x-envoy-attempt-count"))
	for _, row := range r.Rows {
		if strings.Count(row.Asked, "x-envoy-attempt-count") != 1 {
			t.Fatalf("%q", row.Asked)
		}
	}
	if want := "x-envoy-attempt-count: 3\r\n"; !strings.Contains(r.Rows[27].Asked, want) {
		t.Errorf("last request: %q, want %q", r.Rows[27].Asked, want)
	}
}

// What a client does when a layer holds its request up: it leaves after its
// timeout. A layer that notices stops, one that is detached goes on retrying past
// every deadline. The server needs 300 ms and says no.
func TestTimeoutsThroughLayers(t *testing.T) {
	for _, detached := range []bool{false, true} {
		r := parsed(t, fmt.Sprintf(`
server: {limiter: {limit: 1, window: 1h}, faults: [{do: 500, after: 300ms}]}
layers: [{name: edge, policy: fixed base=100ms attempts=10, detached: %v}]
groups:
  - {name: app, count: 1, policy: none, timeout: 1s, through: [edge], paths: [/a], demand: [{to: 1ms, units: 1}]}
`, detached))
		last := r.Rows[len(r.Rows)-1]
		switch {
		case detached && (len(r.Rows) != 10 || last.Status != 500):
			t.Errorf("detached: %d requests, the last %+v, want 10, the last answered", len(r.Rows), last)
		case !detached && (len(r.Rows) < 2 || len(r.Rows) > 5 || last.Start > r.Scenario.Start.Add(1100*time.Millisecond).UnixNano()):
			t.Errorf("%d requests, the last at %d, want none after 1 s", len(r.Rows), last.Start)
		}
	}
}

// A layer that gets no answer says 504, after a reset 502; its client retries.
func TestLayersRelay(t *testing.T) {
	for fault, status := range map[string]uint16{"timeout": 504, "reset": 502} {
		r := parsed(t, `
server: {limiter: {limit: 9}, faults: [{do: `+fault+`}]}
layers: [{name: edge, policy: none, timeout: 200ms}]
groups:
  - {name: app, count: 1, policy: fixed base=1s attempts=2, retry_on: [`+fmt.Sprint(status)+`], timeout: 5s, through: [edge], paths: [/a], demand: [{to: 1ms, units: 1}]}
`)
		if len(r.Rows) != 2 || r.Rows[0].Outcome != capture.Reset || r.Rows[1].Attempt != 2 {
			t.Errorf("%s: %+v, want a request and a retry, both reset", fault, r.Rows)
		}
	}
}

// A client gives up at its deadline, waits and answers included; one that
// overruns it does not.
func TestDeadline(t *testing.T) {
	for _, overruns := range []bool{false, true} {
		r := parsed(t, fmt.Sprintf(`
server: {limiter: {limit: 1, window: 1h}, faults: [{do: 503, after: 200ms}]}
groups:
  - {name: app, count: 1, policy: fixed base=1s attempts=6, deadline: 3s, overruns: %v, counter: amz-sdk-request, paths: [/a], demand: [{to: 1ms, units: 1}]}
`, overruns))
		// Attempts begin every 1.2 s or so: at 0, 1.2 and 2.4 s.
		if want := map[bool]int{false: 3, true: 6}[overruns]; len(r.Rows) != want {
			t.Errorf("overruns %v: %d requests, want %d", overruns, len(r.Rows), want)
		}
		if want := "amz-sdk-request: ttl=20260302T031003Z; attempt=2; max=6\r\namz-sdk-invocation-id: call-1\r\n"; r.Rows[1].Asked != want {
			t.Errorf("second attempt says %q, want %q", r.Rows[1].Asked, want)
		}
	}
}

// A copy is sent while the first answer is out, and never after it; each unit of
// work still has one attempt.
func TestHedges(t *testing.T) {
	r := parsed(t, `
server: {limiter: {limit: 1000, service: 100ms}}
groups:
  - {name: app, count: 20, policy: fixed base=1s, hedge: {after: 100ms}, paths: ["/a/{id}"], demand: [{rate: 1}]}
`)
	copies, alone := 0, 0
	first := map[uint64]Row{}
	for _, row := range r.Rows {
		one, seen := first[row.Chain]
		switch {
		case !row.Copy && seen, row.Copy && !seen, row.Attempt != 1:
			t.Fatalf("%+v", row)
		case row.Copy:
			copies++
			if d := time.Duration(row.Start - one.Start); one.End < row.Start-int64(9*time.Millisecond) || d < 95*time.Millisecond || d > 110*time.Millisecond {
				t.Fatalf("copy after %s, the first one answered after %s", d, time.Duration(one.End-one.Start))
			}
		default:
			alone++
			first[row.Chain] = row
		}
	}
	// Service takes 50 to 150 ms, so half of the answers are out at 100 ms.
	if share := float64(copies) / float64(alone); math.Abs(share-.5) > .1 {
		t.Errorf("%.2f copies a request, want about a half", share)
	}
}
