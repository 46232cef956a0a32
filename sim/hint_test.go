package sim

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"stormwatch/capture"
)

// refusals plays a server that refuses all but one request in an hour, with the
// given yaml of hints, and returns its refusals. Its start is
// Mon, 02 Mar 2026 03:10:00 GMT, Unix 1772421000 (date -u -d).
func refusals(t *testing.T, server, policy string) []Row {
	t.Helper()
	text := `
name: x
seed: 1
start: 2026-03-02T03:10:00Z
duration: 40s
server:
  limiter: {limit: 1, window: 1h}
  refusal: 1us
` + server + `
groups:
  - {name: g, count: 1, latency: 100us, policy: ` + policy + `, paths: [/a], demand: [{to: 1ms, units: 1}, {from: 10250ms, to: 10250ms, units: 1}]}
`
	sc, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var rows []Row
	for _, row := range Run(sc).Rows {
		if row.Status != 200 {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		t.Fatalf("no refusal with %s", server)
	}
	return rows
}

// The forms of a hint as they stand on the wire; the refusal is written 10.25 s
// after the start.
func TestHintForms(t *testing.T) {
	tests := []struct{ hint, want string }{
		{"none", ""},
		{"3s", "Retry-After: 3"},
		{"0s", "Retry-After: 0"},
		{"[{wait: 2500ms}]", "Retry-After: 3"},
		{"[{wait: 2500ms, form: float}]", "Retry-After: 2.5"},
		{"[{wait: 300ms, header: retry-after-ms, form: ms}]", "retry-after-ms: 300"},
		{"[{wait: 1500ms, header: X-Retry-In, form: duration}]", "X-Retry-In: 1.5s"},
		{"[{wait: 3s, form: date}]", "Retry-After: Mon, 02 Mar 2026 03:10:13 GMT"},
		{"[{wait: -10m, form: date}]", "Retry-After: Mon, 02 Mar 2026 03:00:10 GMT"},
		{"[{wait: 3s, header: X-RateLimit-Reset, form: epoch}]", "X-RateLimit-Reset: 1772421014"},
		{"[{wait: 3s, header: X-RateLimit-Reset, form: iso}]", "X-RateLimit-Reset: 2026-03-02T03:10:13Z"},
		{"[{wait: 999999999s}]", "Retry-After: 999999999"},
		{"[{text: 2 minutes}]", "Retry-After: 2 minutes"},
		{"[{wait: 3s}, {wait: 34s, header: RateLimit-Reset}]", "Retry-After: 3\r\nRateLimit-Reset: 34"},
		{"slot", "Retry-After: 3590"}, // the hour began with the first request
	}
	for _, tt := range tests {
		row := refusals(t, "  hint: "+tt.hint, "none")[0]
		if got := strings.TrimSuffix(row.Fields, "\r\n"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.hint, got, tt.want)
		}
	}
	// Milliseconds of the epoch, known to the second.
	row := refusals(t, "  hint: [{wait: 3s, header: X-RateLimit-Reset, form: epoch-ms}]", "none")[0]
	if !strings.HasPrefix(row.Fields, "X-RateLimit-Reset: 1772421013") || len(row.Fields) != len("X-RateLimit-Reset: 1772421013250\r\n") {
		t.Errorf("epoch-ms: %q", row.Fields)
	}
	row = refusals(t, "  hint: [{wait: 8s, header: body}]", "none")[0]
	if row.Body != `{"error":"rate limited","retry_after":8}` || row.Fields != "" {
		t.Errorf("body: %q %q", row.Body, row.Fields)
	}
	row = refusals(t, "  hint: [{wait: 8s, header: body, form: duration}]", "none")[0]
	if row.Body != `{"error":"rate limited","retry_after":"8s"}` {
		t.Errorf("body: %q", row.Body)
	}
}

// A server whose clock is 90 s slow says so in both its dates: by its own clock
// the wait is right.
func TestSkewedServer(t *testing.T) {
	sc, err := Parse([]byte(`
name: x
start: 2026-03-02T03:10:00Z
duration: 1s
server: {limiter: {limit: 1, window: 1h}, skew: -90s, hint: [{wait: 5s, form: date}]}
groups: [{name: g, count: 2, policy: none, paths: [/a], demand: [{to: 1ms, units: 1}]}]
`))
	if err != nil {
		t.Fatal(err)
	}
	r := Run(sc)
	answer := string(r.appendResponse(nil, &r.Rows[1]))
	if !strings.Contains(answer, "Date: Mon, 02 Mar 2026 03:08:30 GMT\r\n") || !strings.Contains(answer, "Retry-After: Mon, 02 Mar 2026 03:08:35 GMT\r\n") {
		t.Errorf("%s", answer)
	}
	var h capture.Hint
	err = r.Source("x").Run(t.Context(), func(b *capture.Batch) error {
		h = b.Exchanges[1].Hint
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if h.Kind != capture.RetryAfterDate || h.Wait != 5e9 {
		t.Errorf("read as %+v, want 5 s", h)
	}
}

// What the state of a limiter looks like after its first request and after the
// first refusal, 10.25 s later, of 1 request in an hour.
func TestLimitHeaders(t *testing.T) {
	tests := []struct{ limits, granted, refused string }{
		{"{}", "X-RateLimit-Limit: 1\r\nX-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 3600\r\n", "X-RateLimit-Limit: 1\r\nX-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 3590\r\n"},
		{"{prefix: RateLimit, style: dictionary, on: successes}", "RateLimit: limit=1, remaining=0, reset=3600\r\n", ""},
		{"{prefix: RateLimit, style: list, on: refusals}", "", "RateLimit: \"default\";r=0;t=3590\r\nRateLimit-Policy: \"default\";q=1\r\n"},
		{"{form: epoch}", "X-RateLimit-Limit: 1\r\nX-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 1772424601\r\n", "X-RateLimit-Limit: 1\r\nX-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 1772424601\r\n"},
	}
	for _, tt := range tests {
		sc, err := Parse([]byte(`
name: x
start: 2026-03-02T03:10:00Z
duration: 40s
server: {limiter: {limit: 1, window: 1h}, limits: ` + tt.limits + `}
groups: [{name: g, count: 1, policy: none, paths: [/a], demand: [{to: 1ms, units: 1}, {from: 10250ms, to: 10250ms, units: 1}]}]
`))
		if err != nil {
			t.Fatal(err)
		}
		rows := Run(sc).Rows
		if rows[0].Fields != tt.granted || rows[1].Fields != tt.refused {
			t.Errorf("%s: %q and %q, want %q and %q", tt.limits, rows[0].Fields, rows[1].Fields, tt.granted, tt.refused)
		}
	}
}

// gaps are the waits between a refusal and the retry of it.
func gaps(rows []Row) (out []time.Duration) {
	for i := 1; i < len(rows); i++ {
		out = append(out, time.Duration(rows[i].Start-rows[i-1].End))
	}
	return out
}

// How clients act on what they read: about the wait, less than 10 ms more for
// the way, unless they misread it.
func TestReadings(t *testing.T) {
	tests := []struct {
		name, server, sender string
		want                 time.Duration // -1: never
	}{
		{"as it is meant", "hint: [{wait: 7s, header: X-RateLimit-Reset, form: epoch}]", "policy: hint-exact base=1s attempts=2", 7750 * time.Millisecond}, // the next whole second
		{"of a body", "hint: [{wait: 7s, header: body}]", "policy: hint-exact base=1s attempts=2", 7 * time.Second},
		{"milliseconds", "hint: [{wait: 700ms, header: x-ms-retry-after-ms, form: ms}]", "policy: hint-exact base=1s attempts=2", 700 * time.Millisecond},
		{"ms taken for seconds", "hint: [{wait: 5s, header: retry-after-ms, form: ms}]", "policy: hint-exact own=none longest=none attempts=2, reads: {header: retry-after-ms}", -1},
		{"seconds taken for ms", "hint: 5s", "policy: hint-exact own=none attempts=2, reads: {form: ms}", 5 * time.Millisecond},
		{"epoch taken for seconds", "hint: [{wait: 3s, header: X-RateLimit-Reset, form: epoch}]", "policy: hint-exact own=none longest=none attempts=2, reads: {header: X-RateLimit-Reset}", -1},
		{"seconds taken for an epoch", "hint: [{wait: 3s, header: X-RateLimit-Reset}]", "policy: hint-exact own=none attempts=2, reads: {header: X-RateLimit-Reset, form: epoch}", 0},
		{"malformed, own policy", `hint: [{text: soon}]`, "policy: hint-exact own=fixed base=2s attempts=2", 2 * time.Second},
		{"malformed, taken for zero", `hint: [{text: soon}]`, "policy: hint-exact own=fixed base=2s attempts=2, reads: {zero: true}", 0},
		{"other header only", "hint: 3s", "policy: hint-exact own=fixed base=1s attempts=2, reads: {header: retry-after-ms, form: ms}", time.Second},
		{"date on a slow clock", "hint: [{wait: 4s, form: date}]", "policy: hint-exact own=none attempts=2, clock: -6s", 9750 * time.Millisecond},
		{"date on a fast clock", "hint: [{wait: 4s, form: date}]", "policy: hint-exact own=none attempts=2, clock: 3500ms", 250 * time.Millisecond},
		{"date of a slow server", "skew: -3500ms, hint: [{wait: 4s, form: date}]", "policy: hint-exact own=none attempts=2", 0},
		{"ignored", "hint: 5s", "policy: fixed base=1s attempts=2", time.Second},
	}
	for _, tt := range tests {
		text := `
name: x
seed: 1
start: 2026-03-02T03:10:00Z
duration: 40s
server: {limiter: {limit: 1, window: 1h}, refusal: 1us, ` + tt.server + `}
groups:
  - {name: g, count: 1, latency: 100us, paths: [/a], demand: [{to: 1ms, units: 1}, {from: 10250ms, to: 10250ms, units: 1}], ` + tt.sender + `}
`
		sc, err := Parse([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		got := gaps(Run(sc).Rows[1:])
		switch {
		case tt.want < 0 && len(got) > 0:
			t.Errorf("%s: came back after %s, want never", tt.name, got)
		case tt.want >= 0 && (len(got) != 1 || got[0] < tt.want-time.Millisecond || got[0] > tt.want+10*time.Millisecond):
			t.Errorf("%s: came back after %s, want about %s", tt.name, got, tt.want)
		}
	}
}

// A wait that grows as a penalty: 1, 2, 4 s for refusals in a row, and 1 s again
// after a grant. Windows of 5 s, one grant each.
func TestPenaltyGrows(t *testing.T) {
	sc, err := Parse([]byte(`
name: x
start: 2026-03-02T03:10:00Z
duration: 10s
server: {limiter: {kind: fixed-window, limit: 1, window: 5s}, hint: [{wait: 1s, grow: 2}]}
groups: [{name: g, count: 1, policy: none, paths: [/a], demand: [{every: 1s}]}]
`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range Run(sc).Rows {
		got = append(got, strings.TrimSpace(strings.TrimPrefix(row.Fields, "Retry-After:")))
	}
	if s := strings.Join(got, " "); s != " 1 2 4 8  1 2 4 8" {
		t.Errorf("%q", s)
	}
}

// Half of the refusals carry a hint that has a share of 0.5.
func TestHintShare(t *testing.T) {
	h := Hint{Share: .5}
	rng, n := rand.New(rand.NewPCG(1, 2)), 0
	for range 10_000 {
		if h.present(rng) {
			n++
		}
	}
	if n < 4750 || n > 5250 { // 5 sd
		t.Errorf("%d of 10000", n)
	}
}

func TestHintsSayWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"300ms":                       "want none, slot, whole seconds",
		"-3s":                         "want none, slot, whole seconds",
		"[{wait: soon}]":              `wait "soon": want slot`,
		"[{wait: 3s, forn: date}]":    "field forn not found",
		"{wait: 3s}":                  "cannot unmarshal",
		"[{wait: -3s}]":               "only a moment",
		"[{wait: 3s, form: days}]":    `hint 1: form "days": want one of seconds, float`,
		"[{wait: 3s, text: x}]":       "no wait beside it",
		"[{wait: 1s}, {share: 2}]":    "hint 2: share 2",
		"[{wait: 3s, grow: 0.5}]":     "grow 0.5: want 1 to 100",
		"[{wait: 3s, header: 'a b'}]": "want the name of a header",
		"[{text: \"a\\r\\nb: c\"}]":   "want printable ASCII",
	} {
		_, err := Parse([]byte(strings.Replace(small, "hint: 2s..5s", "hint: "+text, 1)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", text, err, want)
		}
	}
	var h Hints
	if err := yaml.Unmarshal([]byte("slot"), &h); err != nil || len(h) != 1 || !h[0].Wait.Slot {
		t.Errorf("%+v %v", h, err)
	}
}
