package prometheus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"stormwatch/capture"
)

// fake is a Prometheus whose rates are known: 10/s of 200, and 4/s of 429 from
// the moment storm on.
type fake struct {
	mu     sync.Mutex
	labels []string
	storm  int64 // Unix seconds
	asked  []url.Values
	paths  []string
	// answer, where set, may write its own answer to a request (1-based).
	answer func(n int, w http.ResponseWriter, r *http.Request) bool
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	q := r.URL.Query()
	f.asked, f.paths = append(f.asked, q), append(f.paths, r.URL.Path)
	if f.answer != nil && f.answer(len(f.paths), w, r) {
		return
	}
	switch r.URL.Path {
	case "/api/v1/labels":
		_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": f.labels})
	case "/api/v1/query_range":
		fmt.Fprint(w, f.rates(q))
	default:
		http.NotFound(w, r)
	}
}

func (f *fake) rates(q url.Values) string {
	number := func(k string) int64 { v, _ := strconv.ParseFloat(q.Get(k), 64); return int64(v) }
	var ok, refused []string
	for t := number("start"); t <= number("end"); t += number("step") {
		ok = append(ok, fmt.Sprintf(`[%d,"10"]`, t))
		if t >= f.storm {
			refused = append(refused, fmt.Sprintf(`[%d,"4"]`, t))
		}
	}
	one := func(code string, v []string) string {
		return `{"metric":{"status":"` + code + `"},"values":[` + strings.Join(v, ",") + `]}`
	}
	if refused == nil {
		return success(one("200", ok))
	}
	return success(one("200", ok), one("429", refused))
}

// bench is a poller against a fake server, on a clock that only sleeping moves.
type bench struct {
	*poller
	fake  *fake
	slept []time.Duration
	clock time.Time
	turns int // sleeps until the context ends
}

const origin = 1000000000 // Unix seconds, a multiple of 10

func newBench(t *testing.T, f *fake, opt APIOptions) (*bench, context.Context) {
	t.Helper()
	if f.labels == nil {
		f.labels = []string{"__name__", "instance", "status"}
	}
	srv := httptest.NewServer(f)
	t.Cleanup(srv.Close)
	u, err := parseBase(srv.URL + "/graph")
	if err != nil {
		t.Fatal(err)
	}
	opt.Seed = 1
	if opt, err = opt.withDefaults(); err != nil {
		t.Fatal(err)
	}
	b := &bench{fake: f, clock: time.Unix(origin, 0), turns: 1}
	now := func() time.Time { return b.clock }
	b.poller = newPoller(newClient(u, nil, 5*time.Second, now), opt)
	b.now = now
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	b.sleep = func(_ context.Context, d time.Duration) {
		b.slept = append(b.slept, d)
		b.clock = b.clock.Add(d)
		if b.turns--; b.turns == 0 {
			cancel()
		}
	}
	return b, ctx
}

func TestLiveFollowsWithoutHolesOrRepeats(t *testing.T) {
	f := &fake{storm: origin + 15}
	b, ctx := newBench(t, f, APIOptions{LookBack: time.Minute, Step: 10 * time.Second, Interval: 20 * time.Second})
	b.turns = 3
	var c collected
	if err := b.run(ctx, c.sink); err != nil {
		t.Fatal(err)
	}
	// Look-back from -60 s to 0, then two polls of two steps each.
	if len(c.tallies) != 7+2+2 {
		t.Fatalf("%d tallies", len(c.tallies))
	}
	for i, x := range c.tallies {
		at := int64(origin) - 60 + 10*int64(i)
		want := counts{100, 100, 0, 0}
		if at >= f.storm {
			want = counts{140, 100, 40, 40}
		}
		if got := countsOf(x); got != want || x.End != at*int64(time.Second) {
			t.Errorf("step %d at %d: %+v, want %+v at %d", i, x.End, got, want, at)
		}
	}
	if got, want := f.asked[1].Get("query"), "sum by (status) (rate(http_requests_total[60s]))"; got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
	if f.asked[1].Get("timeout") != "5s" || f.asked[1].Get("step") != "10" {
		t.Errorf("asked %v", f.asked[1])
	}
	if len(f.paths) != 4 {
		t.Errorf("a probe and three queries, got %v", f.paths)
	}
}

func TestRetryAfterIsObeyed(t *testing.T) {
	for name, c := range map[string]struct {
		header string
		status int
		floor  time.Duration
	}{
		"seconds":  {"40", 429, 40 * time.Second},
		"date":     {time.Unix(origin+50, 0).UTC().Format(http.TimeFormat), 503, 50 * time.Second},
		"clamped":  {"86400", 503, 5 * time.Minute},
		"nonsense": {"2 minutes", 429, 10 * time.Second}, // the interval
		"none":     {"", 500, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{answer: func(n int, w http.ResponseWriter, _ *http.Request) bool {
				if n != 2 {
					return false
				}
				if c.header != "" {
					w.Header().Set("Retry-After", c.header)
				}
				w.Header().Set("Date", time.Unix(origin, 0).UTC().Format(http.TimeFormat))
				w.WriteHeader(c.status)
				return true
			}}
			b, ctx := newBench(t, f, APIOptions{LookBack: time.Minute, Step: 10 * time.Second})
			b.turns = 2
			var got collected
			if err := b.run(ctx, got.sink); err != nil {
				t.Fatal(err)
			}
			if d := b.slept[0]; d < c.floor || d > c.floor+time.Second {
				t.Errorf("waited %v, want %v and at most 1 s of jitter", d, c.floor)
			}
			if len(f.paths) != 3 {
				t.Errorf("asked %v: once for each turn", f.paths)
			}
			if len(got.tallies) == 0 {
				t.Error("after the pause the rates must be there")
			}
			if h := got.health; len(h.Skipped) != 1 || !strings.Contains(h.Skipped[0].Examples[0], fmt.Sprint("status ", c.status)) {
				t.Errorf("the failure must be told: %+v", h.Skipped)
			}
		})
	}
}

func TestBackoffGrowsAndIsJittered(t *testing.T) {
	f := &fake{answer: func(n int, w http.ResponseWriter, _ *http.Request) bool {
		if n > 1 {
			w.WriteHeader(http.StatusBadGateway)
		}
		return n > 1
	}}
	b, ctx := newBench(t, f, APIOptions{LookBack: time.Minute, Step: 10 * time.Second})
	b.turns = 12
	if err := b.run(ctx, func(*capture.Batch) error { return nil }); err != nil {
		t.Fatal(err)
	}
	distinct := map[time.Duration]bool{}
	for i, d := range b.slept {
		spread := min(time.Second<<min(i, 6), time.Minute)
		if d < 10*time.Second || d > 10*time.Second+spread {
			t.Errorf("wait %d is %v, want 10 s to %v", i+1, d, 10*time.Second+spread)
		}
		distinct[d] = true
	}
	if len(distinct) != len(b.slept) {
		t.Errorf("waits are not jittered: %v", b.slept)
	}
	if len(f.paths) != 1+12 {
		t.Errorf("%d requests in 12 turns: failures must add none", len(f.paths))
	}
}

func TestClientErrorsAreNeverRetried(t *testing.T) {
	for _, code := range []int{400, 401, 403, 404, 422} {
		f := &fake{answer: func(n int, w http.ResponseWriter, _ *http.Request) bool {
			if n == 1 {
				return false
			}
			w.WriteHeader(code)
			fmt.Fprint(w, `{"status":"error","errorType":"execution","error":"too \u001b[2Jmany samples"}`)
			return true
		}}
		b, ctx := newBench(t, f, APIOptions{})
		err := b.run(ctx, func(*capture.Batch) error { return nil })
		var status *StatusError
		if !errors.As(err, &status) || status.Code != code || len(f.paths) != 2 || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%d: error %v after %d requests", code, err, len(f.paths))
		}
		if !strings.Contains(err.Error(), "many samples") {
			t.Errorf("%d: the server's own words are missing: %v", code, err)
		}
	}
}

func TestPastRangeEnds(t *testing.T) {
	f := &fake{storm: origin - 30}
	b, ctx := newBench(t, f, APIOptions{Since: time.Unix(origin-60, 0), Until: time.Unix(origin, 0), Step: 10 * time.Second})
	var c collected
	if err := b.run(ctx, c.sink); err != nil {
		t.Fatal(err)
	}
	if len(c.tallies) != 7 || c.done != 1 || len(b.slept) != 0 {
		t.Errorf("%d tallies, done %v, slept %v", len(c.tallies), c.done, b.slept)
	}

	f = &fake{answer: func(_ int, w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(503); return true }}
	b, ctx = newBench(t, f, APIOptions{Until: time.Unix(origin, 0)})
	b.turns = 100
	if err := b.run(ctx, c.sink); err == nil || len(f.paths) != maxTries {
		t.Errorf("error %v after %d requests, want %d", err, len(f.paths), maxTries)
	}
}

// Where a proxy offers no labels endpoint, labels are tried one by one.
func TestLabelsByTrying(t *testing.T) {
	f := &fake{}
	f.answer = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.URL.Path == "/api/v1/labels":
			w.WriteHeader(http.StatusNotFound)
		case r.URL.Path == "/api/v1/query" && strings.Contains(r.URL.Query().Get("query"), `{status!=""}`):
			fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"5"]}]}}`)
		case r.URL.Path == "/api/v1/query":
			fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[]}}`)
		default:
			return false
		}
		return true
	}
	b, ctx := newBench(t, f, APIOptions{LookBack: time.Minute})
	var c collected
	if err := b.run(ctx, c.sink); err != nil || len(c.tallies) == 0 {
		t.Errorf("error %v, %d tallies, asked %v", err, len(c.tallies), f.paths)
	}
}

func TestNothingToRead(t *testing.T) {
	for _, labels := range [][]string{{}, {"__name__", "handler"}} {
		b, ctx := newBench(t, &fake{labels: labels}, APIOptions{})
		if err := b.run(ctx, func(*capture.Batch) error { return nil }); !errors.Is(err, errNoCodes) {
			t.Errorf("labels %v: error %v", labels, err)
		}
	}
}

func TestMistakenAddressFailsAtOnce(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>log in") }))
	defer page.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for base, want := range map[string]string{page.URL: "web page", gone.URL: "refused"} {
		s, err := OpenAPI(base, APIOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(context.Background(), func(*capture.Batch) error { return nil }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", base, err, want)
		}
	}
}

func TestEndOfContextIsNoError(t *testing.T) {
	f := &fake{}
	srv := httptest.NewServer(f)
	defer srv.Close()
	f.labels = []string{"status"}
	s, err := OpenAPI(srv.URL, APIOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	err = s.Run(ctx, func(b *capture.Batch) error {
		if n += len(b.Tallies); n > 0 {
			cancel()
		}
		return nil
	})
	if err != nil || n < 200 {
		t.Errorf("error %v after %d tallies", err, n)
	}
}

func TestAddresses(t *testing.T) {
	for in, want := range map[string]string{
		"http://p:9090":                             "http://p:9090",
		"http://p:9090/":                            "http://p:9090",
		"https://p/prom/graph?g0.expr=up":           "https://p/prom",
		"http://p:9090/api/v1/query_range?query=up": "http://p:9090",
		"http://ann:s3cret@p":                       "http://p",
	} {
		s, err := OpenAPI(in, APIOptions{})
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got := s.Info(); got.Name != want || !got.Live {
			t.Errorf("%s: %+v", in, got)
		}
	}
	for _, in := range []string{"ftp://p", "p:9090", "http://", "http://ann:s3cret@p:x", "http://%zz", "gopher://ann:s3cret@p"} {
		if _, err := OpenAPI(in, APIOptions{}); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: error %v", in, err)
		}
	}
}

func TestOptions(t *testing.T) {
	day := time.Unix(origin, 0)
	o, err := APIOptions{Since: day.Add(-30 * 24 * time.Hour), Until: day}.withDefaults()
	if err != nil || 30*24*time.Hour/o.Step >= maxPoints || o.Window < 4*o.Step {
		t.Errorf("a long range needs a wider step: %+v, %v", o, err)
	}
	for _, bad := range []APIOptions{
		{Since: day, Until: day.Add(-time.Hour)},
		{LookBack: 24 * time.Hour, Step: time.Second},
		{Step: time.Microsecond},
		{Window: time.Millisecond},
	} {
		if _, err := bad.withDefaults(); err == nil {
			t.Errorf("accepted %+v", bad)
		}
	}
}
