package accesslog

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// sample is a row of the corpus's index, as an independent parser counted it.
type sample struct{ lines, n429, n503 int }

// index reads a table of samples whose last cells but for those left out are
// their counts.
func index(t *testing.T, file string, skip int) map[string]sample {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]sample{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) < skip+4 {
			continue
		}
		var s sample
		ok := true
		for i, to := range []*int{&s.lines, &s.n429, &s.n503} {
			n, err := strconv.Atoi(strings.TrimSpace(cells[skip+i]))
			*to, ok = n, ok && (err == nil || i == 2)
		}
		if ok {
			out[strings.TrimSpace(cells[1])] = s
		}
	}
	return out
}

// checkSample compares what is read of a file with its row.
func checkSample(t *testing.T, file string, want sample) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out, err := readAll(t, bytes.NewReader(text), Options{Until: time.Unix(1796026266, 0)})
	if err != nil {
		t.Fatal(err)
	}
	var got sample
	for _, x := range out.rows {
		got.lines++
		switch x.Status {
		case 429:
			got.n429++
		case 503:
			got.n503++
		}
	}
	if got != want {
		t.Errorf("%+v, want %+v; %s; %+v", got, want, Sniff(text[:min(len(text), sampleBytes)], nil).describe(), out.health.Skipped)
	}
	if h := out.health; h.Used+h.SkippedTotal() != h.Read || h.Used != uint64(len(out.rows)) {
		t.Errorf("lost uncounted: %+v", h)
	}
}

// Every line of the repository's samples that an independent parser could read
// is read.
func TestSamples(t *testing.T) {
	const dir = "../../testdata/logs"
	all := index(t, filepath.Join(dir, "README.md"), 3)
	if len(all) < 18 {
		t.Fatalf("%d samples", len(all))
	}
	for file, want := range all {
		t.Run(file, func(t *testing.T) { checkSample(t, filepath.Join(dir, file), want) })
	}
}

// differences are samples for which the index and this package count lines
// differently, and why.
var differences = map[string]struct {
	sample
	why string
}{
	"logs/nginx-error/gen-limit_req.log":                    {sample{10, 0, 0}, "13 lines tell of requests that limit_req only delayed: those were answered, and are in the access log"},
	"logs-public/cloudfront/crowdsec.log":                   {sample{2, 0, 0}, "two records without the header lines: read by CloudFront's default columns"},
	"logs-public/iis-w3c/lnav-w3c.4.log":                    {sample{2, 0, 0}, "columns in quotes, which the reference parser does not know; the second has no status"},
	"logs-public/apache-combined/crowdsec-apache2-logs.log": {sample{6, 0, 0}, "one line of common among combined ones looks like one that is torn"},
	"logs-public/nginx-combined/crowdsec-nginx_http.log":    {sample{7, 0, 0}, "one line lacks the user's field"},
	"logs-public/traefik-clf/elastic-integrations.log":      {sample{4, 0, 0}, "one line of common among Traefik's"},
	"logs-public/zeek-http-tsv/zeek-http-methods.log":       {sample{0, 0, 0}, "times are masked by X: no time, no exchange"},
}

// loadTests are not logs of a server.
var loadTests = []string{"k6", "vegeta", "hey", "locust", "jmeter-jtl", "har"}

func TestCorpus(t *testing.T) {
	root := os.Getenv("STORMWATCH_CORPUS")
	if root == "" {
		t.Skip("STORMWATCH_CORPUS is not set")
	}
	for _, dir := range []string{"logs", "logs-public"} {
		for file, want := range index(t, filepath.Join(root, dir, "INDEX.md"), 3) {
			if kind, _, _ := strings.Cut(file, "/"); slices.Contains(loadTests, kind) {
				continue
			}
			t.Run(dir+"/"+file, func(t *testing.T) {
				if d, ok := differences[dir+"/"+file]; ok {
					want = d.sample
				}
				checkSample(t, filepath.Join(root, dir, file), want)
			})
		}
	}
}

func (g *Guess) describe() string {
	var names []string
	for _, f := range g.formats {
		names = append(names, f.name)
	}
	return strings.Join(names, "+") + " in " + g.chain.String()
}

// Logs that one server wrote of the same requests in several formats tell the
// same.
func TestCorpusAgrees(t *testing.T) {
	root := os.Getenv("STORMWATCH_CORPUS")
	if root == "" {
		t.Skip("STORMWATCH_CORPUS is not set")
	}
	get := func(file, spec string) read {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(root, "logs", file))
		if err != nil {
			t.Fatal(err)
		}
		o := Options{}
		if spec != "" {
			if o.Format, err = ParseFormat(spec); err != nil {
				t.Fatal(err)
			}
		}
		out, err := readAll(t, bytes.NewReader(text), o)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	const list = `nginx:$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" rt=$request_time uct="$upstream_connect_time" uht="$upstream_header_time" urt="$upstream_response_time" us="$upstream_status" ua="$upstream_addr" rid=$request_id xff="$http_x_forwarded_for" host=$host msec=$msec lrs=$limit_req_status ra="$sent_http_retry_after"`
	named, found, object := get("nginx-custom/gen-upstream_list.log", list), get("nginx-custom/gen-upstream_list.log", ""), get("nginx-json/gen-torture.ndjson", "")
	tried := 0
	for i := range named.rows {
		a := named.rows[i]
		for what, b := range map[string]row{"found": found.rows[i], "JSON": object.rows[i]} {
			if a.Start != b.Start || a.End != b.End || a.Status != b.Status || a.Reason != b.Reason || a.Outcome != b.Outcome || a.Origin != b.Origin || a.Hint.State != b.Hint.State || a.Hint.Wait != b.Hint.Wait ||
				a.target != b.target && !strings.HasPrefix(a.target, "http:") || a.RequestID != b.RequestID || a.Tries != b.Tries || a.host != b.host && a.host != "" || a.Src.IP != b.Src.IP {
				t.Errorf("line %d, %s:\n%+v %q\n%+v %q", i+1, what, a.Exchange, a.target, b.Exchange, b.target)
			}
			for j := range a.tries {
				if x, y := a.tries[j], b.tries[j]; x.Status != y.Status || x.Took != y.Took || x.server != y.server || x.Fresh != y.Fresh {
					t.Errorf("line %d, %s: try %d: %+v, %+v", i+1, what, j, x, y)
				}
			}
		}
		if len(a.tries) > 1 {
			tried++
		}
	}
	if len(named.rows) != 175 || tried == 0 || named.health.Retries != object.health.Retries {
		t.Errorf("%d rows, %d with several tries, %d and %d retries", len(named.rows), tried, named.health.Retries, object.health.Retries)
	}

	const detailed = `apache:%a %{X-Forwarded-For}i %l %u [%{%Y-%m-%dT%H:%M:%S}t.%{usec_frac}t %{%z}t] "%r" %>s %b %D "%{User-Agent}i" id=%{X-Request-Id}i/%{UNIQUE_ID}e key="%{X-Api-Key}i" ra="%{Retry-After}o" rem="%{RateLimit-Remaining}o" conn=%X worker=%{BALANCER_WORKER_NAME}e`
	fine, coarse := get("apache-custom/gen-detailed.log", detailed), get("apache-custom/gen-json.ndjson", "")
	if len(fine.rows) != 172 || fine.health.Resolution != 1e3 || len(coarse.rows) != 172 || coarse.health.Resolution != 1e6 {
		t.Fatalf("%d rows, clock %d, %+v; %d, %d", len(fine.rows), fine.health.Resolution, fine.health.Skipped, len(coarse.rows), coarse.health.Resolution)
	}
	for i := range fine.rows {
		a, b := fine.rows[i], coarse.rows[i]
		if a.Status != b.Status || a.Hint.State != b.Hint.State || a.Hint.Wait != b.Hint.Wait || a.agent != b.agent || a.End-a.Start != b.End-b.Start {
			t.Errorf("line %d:\n%+v %q\n%+v %q", i+1, a.Exchange, a.agent, b.Exchange, b.agent)
		}
	}
}
