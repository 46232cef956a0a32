package loadtest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"stormwatch/capture"
)

type row struct {
	capture.Exchange
	method, host, target, client, agent string
}

type read struct {
	rows    []row
	tallies []capture.Tally
	health  capture.Health
}

func readAll(t testing.TB, r io.Reader) (out read, err error) {
	t.Helper()
	s, err := Open("x", r, Options{})
	if err != nil {
		return out, err
	}
	err = s.Run(context.Background(), func(b *capture.Batch) error {
		for _, x := range b.Exchanges {
			out.rows = append(out.rows, row{x, b.Names.Text(x.Method), b.Names.Text(x.Host), string(b.Bytes(x.Target)), b.Names.Text(x.Forwarded), b.Names.Text(x.Agent)})
		}
		out.tallies = append(out.tallies, b.Tallies...)
		out.health = *b.Health
		return nil
	})
	return out, err
}

func mustRead(t testing.TB, text string) read {
	t.Helper()
	out, err := readAll(t, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func moment(t *testing.T, text string) int64 {
	t.Helper()
	m, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return m.UnixNano()
}

// One result of each program, with what its documentation says is in it.
func TestResults(t *testing.T) {
	start, end := moment(t, "2026-11-30T08:11:06.25Z"), moment(t, "2026-11-30T08:11:06.5Z")
	for _, c := range []struct {
		name, text             string
		start, end             int64
		status                 uint16
		method, host, target   string
		client                 string
		attempt                uint16
		hint                   time.Duration
		idem                   string
		resolution             time.Duration
		exchanges, read, other int
	}{
		{
			name: "vegeta JSON", text: `{"attack":"a","seq":0,"code":429,"timestamp":"2026-11-30T08:11:06.25Z","latency":250000000,"bytes_out":0,"bytes_in":13,"error":"","body":"eA==","method":"GET","url":"http://api:80/v1?x=1","headers":{"Retry-After":["2"]}}` + "\n",
			start: start, end: end, status: 429, method: "GET", host: "api:80", target: "/v1?x=1", hint: 2 * time.Second, resolution: 1,
		},
		{
			name: "vegeta CSV", text: `1796026266250000000,503,250000000,0,13,"a ""b""",eA==,storm,0,GET,http://api/v1,UmV0cnktQWZ0ZXI6IE1vbiwgMzAgTm92IDIwMjYgMDg6MTE6MzYgR01UDQpEYXRlOiBNb24sIDMwIE5vdiAyMDI2IDA4OjExOjA2IEdNVA0KDQo=` + "\n",
			start: start, end: end, status: 503, method: "GET", host: "api", target: "/v1", hint: 30 * time.Second, resolution: 1,
		},
		{
			name: "vegeta, refused in transport", text: `1796026266250000000,0,250000000,0,0,"Get ""http://x"": dial tcp: refused",,storm,3,GET,http://api/r,` + "\n",
			start: start, end: end, method: "GET", host: "api", target: "/r", resolution: 1,
		},
		{
			name: "k6 JSON", text: `{"type":"Metric","data":{"name":"http_req_duration"},"metric":"http_req_duration"}
{"metric":"http_reqs","type":"Point","data":{"time":"2026-11-30T08:11:06.5Z","value":1,"tags":{"status":"429"}}}
{"metric":"http_req_duration","type":"Point","data":{"time":"2026-11-30T08:11:06.5Z","value":250,"tags":{"status":"429","method":"GET","url":"http://api/a","attempt":"2","logical":"1-0","client":"vu-1","retry_after":"3"}}}
`, start: start, end: end, status: 429, method: "GET", host: "api", target: "/a", client: "vu-1", attempt: 2, hint: 3 * time.Second, idem: "1-0", resolution: 1,
		},
		{
			name: "k6 CSV", text: "metric_name,timestamp,metric_value,method,name,status,url,extra_tags\nhttp_reqs,1796026266500,1,GET,n,503,http://api/a,\nhttp_req_duration,1796026266500,250,GET,n,503,http://api/a,logical=1-0&attempt=1\n",
			start: start, end: end, status: 503, method: "GET", host: "api", target: "/a", attempt: 1, idem: "1-0", resolution: time.Millisecond,
		},
		{
			name: "k6 CSV in seconds", text: "metric_name,timestamp,metric_value,method,name,status,url,extra_tags\nhttp_req_duration,1796026266,250,GET,n,503,http://api/a,\n",
			start: moment(t, "2026-11-30T08:11:05.75Z"), end: moment(t, "2026-11-30T08:11:06Z"), status: 503, method: "GET", host: "api", target: "/a", resolution: time.Second,
		},
		{
			name: "JMeter CSV", text: "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n1796026266250,250,L,429,\"Too \"\"many\"\"\nlines\",Group 1-2,text,false,,1,1,1,1,http://api/a,1,0,0\n",
			start: start, end: end, status: 429, host: "api", target: "/a", client: "Group 1-2", resolution: time.Millisecond,
		},
		{
			name: "JMeter CSV without a header", text: "1796026266250,250,L,Non HTTP response code: java.net.SocketTimeoutException,m,Group 1-2,text,false,,1,1,1,1,null,1,0,0\n",
			start: start, end: end, target: "/L", client: "Group 1-2", resolution: time.Millisecond,
		},
		{
			name: "JMeter XML", text: `<?xml version="1.0"?><testResults version="1.2"><httpSample t="250" lt="1" ts="1796026266250" s="true" lb="L" rc="503" rm="OK" tn="T 1-1"><httpSample t="1" ts="1796026266250" lb="part" rc="200" tn="T 1-1"/><java.net.URL>http://x</java.net.URL></httpSample></testResults>`,
			start: start, end: end, status: 503, host: "x", target: "/", client: "T 1-1", resolution: time.Millisecond, read: 2,
		},
		{
			name: "JMeter XML with headers", text: `<testResults version="1.2"><httpSample t="250" ts="1796026266250" lb="L" rc="429" tn="T 1-1"><httpSample t="1" ts="1" rc="200"><responseHeader>HTTP/1.1 200
Retry-After: 9</responseHeader></httpSample><responseHeader class="java.lang.String">HTTP/1.1 429 Too Many Requests
Retry-After : 4
Content-Length: 1</responseHeader><requestHeader>Idempotency-Key: k
Authorization: Bearer s3cret</requestHeader><responseData>Retry-After: 8</responseData><method>POST</method><java.net.URL>https://api/a?token=x</java.net.URL></httpSample></testResults>`,
			start: start, end: end, status: 429, method: "POST", host: "api", target: "/a?token=***", client: "T 1-1", hint: 4 * time.Second, idem: "k", resolution: time.Millisecond, read: 2,
		},
		{
			name: "hey", text: "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n0.2500,0.0005,0.0000,0.0003,0.0057,0.0002,429,1.2500\n",
			start: 1250e6, end: 1500e6, status: 429, target: "", resolution: 100 * time.Microsecond,
		},
		{
			name: "Gatling", text: "RUN\tsim\tid\t1796026260000\t \t3.9\nUSER\ts\tSTART\t1\nREQUEST\tg\tget a\t1796026266250\t1796026266500\tKO\tstatus.find.in(200,304), but actually found 503\n",
			start: start, end: end, status: 503, target: "/get a", resolution: time.Millisecond,
		},
		{
			name: "HAR", text: `{"log":{"version":"1.2","creator":{"name":"entries"},"pages":[{"id":"p","entries":[1]}],"entries":[{"startedDateTime":"2026-11-30T08:11:06.250Z","time":250,"request":{"method":"GET","url":"https://api/a?token=x","headers":[{"name":"User-Agent","value":"M"},{"name":"Idempotency-Key","value":"k"}]},"response":{"status":429,"headers":[{"name":"retry-after","value":"4"}],"content":{"text":"}]"}}}]}}`,
			start: start, end: end, status: 429, method: "GET", host: "api", target: "/a?token=***", hint: 4 * time.Second, idem: "k", resolution: time.Millisecond,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !Detect([]byte(c.text)) {
				t.Fatal("not found by its content")
			}
			out := mustRead(t, c.text)
			if len(out.rows) != 1 || out.health.Read != uint64(max(c.read, 1)) || out.health.Used != 1 || len(out.health.Notes) == 0 {
				t.Fatalf("%d rows, %+v", len(out.rows), out.health)
			}
			x := out.rows[0]
			if x.Start != c.start || x.End != c.end || x.Status != c.status || (x.Outcome == capture.Answered) != (c.status != 0) {
				t.Errorf("%s to %s, %d, %v", time.Unix(0, x.Start).UTC(), time.Unix(0, x.End).UTC(), x.Status, x.Outcome)
			}
			if x.method != c.method || x.host != c.host || x.target != c.target || x.client != c.client || x.Attempt.N != c.attempt || (x.Credential != 0) != (c.client != "") {
				t.Errorf("%q %q %q %q %+v", x.method, x.host, x.target, x.client, x.Attempt)
			}
			if x.Hint.Wait != int64(c.hint) || x.IdemKey != capture.HashID([]byte(c.idem)) || out.health.Resolution != int64(c.resolution) {
				t.Errorf("hint %+v, id %d, clock %d", x.Hint, x.IdemKey, out.health.Resolution)
			}
		})
	}
}

func TestLocustGivesCounts(t *testing.T) {
	out := mustRead(t, "Timestamp,User Count,Type,Name,Requests/s,Failures/s,50%,Total Request Count,Total Failure Count\n"+
		"1796026266,1,,Aggregated,0,0,N/A,0,0\n1796026267,2,GET,/a,0,0,1,5,1\n1796026267,2,,Aggregated,0,0,1,10,4\n1796026268,2,,Aggregated,0,0,1,25,4\n")
	if len(out.tallies) != 2 || len(out.rows) != 0 {
		t.Fatalf("%+v", out)
	}
	known := func(n int64) capture.Count { return capture.Count{N: n, Known: true} }
	if a := out.tallies[0]; a.Start != 1796026266*second || a.End != 1796026267*second || a.Attempts != known(10) || a.Failed != known(4) || a.OK != known(6) || a.Retries.Known {
		t.Errorf("%+v", a)
	}
	if b := out.tallies[1]; b.Attempts != known(15) || b.Failed != known(0) {
		t.Errorf("%+v", b)
	}
}

func TestTornResults(t *testing.T) {
	for name, c := range map[string]struct {
		text       string
		rows, lost int
		truncated  bool
	}{
		"vegeta JSON":             {`{"attack":"a","seq":0,"code":200,"timestamp":"2026-11-30T08:11:06Z","latency":1,"url":"/"}` + "\n" + `{"attack":"a","seq":1,"code":2` + "\n", 1, 1, false},
		"JMeter XML":              {`<testResults version="1.2"><httpSample t="1" ts="1796026266250" lb="L" rc="200"/><httpSample t="1" t`, 1, 0, true},
		"JMeter XML, in a sample": {`<testResults version="1.2"><httpSample t="1" ts="1796026266250" lb="L" rc="200"><method>GE`, 1, 0, true},
		"HAR":                     {`{"log":{"creator":{},"entries":[{"startedDateTime":"2026-11-30T08:11:06.250Z","time":1,"request":{},"response":{"status":200}},{"startedDa`, 1, 0, true},
		"k6 CSV":                  {"metric_name,timestamp,metric_value,status\nhttp_req_duration,never,1,200\nhttp_req_duration,1796026266,NaN,200\nhttp_req_duration,1796026266,1,200\n", 1, 2, false},
		"no time":                 {"label,responseCode,responseMessage\nL,200,OK\n", 0, 1, false},
	} {
		out := mustRead(t, c.text)
		if len(out.rows) != c.rows || int(out.health.SkippedTotal()) != c.lost || out.health.Truncated != c.truncated || out.health.Read != out.health.Used+out.health.SkippedTotal() {
			t.Errorf("%s: %d rows, %+v", name, len(out.rows), out.health)
		}
	}
	disk := errors.New("disk gone")
	text := `{"attack":"a","seq":0,"code":200,"timestamp":"2026-11-30T08:11:06Z","latency":1,"url":"/"}` + "\n"
	if out, err := readAll(t, io.MultiReader(strings.NewReader(text+strings.Repeat(" \n", window)), iotest.ErrReader(disk))); !errors.Is(err, disk) || len(out.rows) != 1 {
		t.Errorf("a failing input keeps what was read: %v, %d rows", err, len(out.rows))
	}
}

// A quote or a text that never ends does not have the rest of the input kept.
func TestEndless(t *testing.T) {
	endless := io.LimitReader(filler{}, 1<<30)
	for name, head := range map[string]string{
		"JMeter CSV": "timeStamp,elapsed,label,responseCode,responseMessage\n1796026266250,1,L,200,OK\n1796026266250,1,L,200,\"",
		"JMeter XML": `<testResults version="1.2"><httpSample t="1" ts="1796026266250" lb="L" rc="200"/><httpSample t="1"><responseData>`,
		"HAR":        `{"log":{"creator":{},"entries":[{"startedDateTime":"2026-11-30T08:11:06.250Z","time":1,"request":{},"response":{"status":200}},{"startedDateTime":"`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out, err := readAll(t, io.MultiReader(strings.NewReader(head), endless))
		runtime.ReadMemStats(&after)
		if !errors.Is(err, errLong) || len(out.rows) != 1 {
			t.Errorf("%s: %v, %d rows", name, err, len(out.rows))
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 20*maxLine {
			t.Errorf("%s: %d MiB were taken", name, grown>>20)
		}
	}
}

type filler struct{}

func (filler) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestDetectRefuses(t *testing.T) {
	for _, head := range []string{"", "{}", `{"log":"x","stream":"stdout"}`, `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET / HTTP/1.1" 200 5`, "\xd4\xc3\xb2\xa1", "1,2,3", `{"status":"success"}`} {
		if Detect([]byte(head)) {
			t.Errorf("%q", head)
		}
	}
	if _, err := Open("x", strings.NewReader("hello"), Options{}); err == nil {
		t.Error("what is no load test must be refused")
	}
}

// counts of a file, by an independent parser or by grep.
type counts struct{ rows, n429, n503 int }

func count(rows []row) (c counts) {
	for _, x := range rows {
		c.rows++
		switch x.Status {
		case 429:
			c.n429++
		case 503:
			c.n503++
		}
	}
	return c
}

func checkFiles(t *testing.T, dir string, files map[string]counts) {
	t.Helper()
	for file, want := range files {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Error(err)
			continue
		}
		out, err := readAll(t, bytes.NewReader(text))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if got := count(out.rows); got != want {
			t.Errorf("%s: %+v, want %+v; %+v", file, got, want, out.health)
		}
	}
}

func TestSamples(t *testing.T) {
	const dir = "../../testdata/loadtests"
	checkFiles(t, dir, map[string]counts{
		"vegeta/gen.csv": {300, 39, 75}, "vegeta/gen.ndjson": {300, 39, 75}, "vegeta/gen.bin": {300, 39, 75}, "hey/gen.csv": {200, 175, 0},
		"k6/gen-head.csv": {41, 16, 9}, "k6/gen-head.ndjson": {29, 12, 6},
	})
	var all []read
	for _, f := range []string{"vegeta/gen.csv", "vegeta/gen.ndjson", "vegeta/gen.bin"} {
		text, err := os.ReadFile(filepath.Join(dir, f))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, mustRead(t, string(text)))
	}
	for i := range all[0].rows { // three encodings of one attack
		a, b, c := all[0].rows[i], all[1].rows[i], all[2].rows[i]
		a.At, b.At, c.At = capture.Provenance{}, capture.Provenance{}, capture.Provenance{}
		a.Hint.Raw, b.Hint.Raw, c.Hint.Raw, a.Method, b.Method, c.Method, a.Host, b.Host, c.Host = 0, 0, 0, 0, 0, 0, 0, 0, 0
		if a != b || b != c {
			t.Fatalf("row %d:\n%+v\n%+v\n%+v", i, a, b, c)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "locust/gen-stats_history.csv"))
	if err != nil {
		t.Fatal(err)
	}
	sum, failed := int64(0), int64(0)
	for _, y := range mustRead(t, string(text)).tallies {
		sum, failed = sum+y.Attempts.N, failed+y.Failed.N
	}
	if sum != 118 || failed != 93 { // the totals in its last row
		t.Errorf("%d requests, %d failures", sum, failed)
	}
}

// differences are samples for which the index and this package count differently,
// and why.
var differences = map[string]struct {
	counts
	why string
}{
	"logs-public/jmeter-jtl/jmeter-BatchTestLocal.csv": {counts{}, "132 samples, none with a time: no time, no exchange"},
	"logs/vegeta/gen.bin":                              {counts{300, 39, 75}, "the index counts lines of a binary file; it is the attack of gen.csv"},
	"logs/locust/gen-stats_history.csv":                {counts{}, "counts of intervals, no single requests"},
	"logs/locust/gen-stats.csv":                        {counts{}, "totals without times: told so"},
	"logs/locust/gen-failures.csv":                     {counts{}, "totals without times: told so"},
	"logs/locust/gen-exceptions.csv":                   {counts{}, "totals without times: told so"},
}

// Every sample of a load test counts as the corpus's index does.
func TestCorpus(t *testing.T) {
	root := os.Getenv("STORMWATCH_CORPUS")
	if root == "" {
		t.Skip("STORMWATCH_CORPUS is not set")
	}
	kinds, seen := []string{"k6", "vegeta", "hey", "locust", "jmeter-jtl", "har"}, 0
	for _, dir := range []string{"logs", "logs-public"} {
		index, err := os.ReadFile(filepath.Join(root, dir, "INDEX.md"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(index)) {
			cells := strings.Split(line, "|")
			if len(cells) < 6 {
				continue
			}
			file := strings.TrimSpace(cells[1])
			if kind, _, ok := strings.Cut(file, "/"); !ok || !slices.Contains(kinds, kind) {
				continue
			}
			seen++
			var want counts
			for i, to := range []*int{&want.rows, &want.n429, &want.n503} {
				*to, _ = strconv.Atoi(strings.TrimSpace(cells[3+i])) // n/a is told by a difference
			}
			if d, ok := differences[dir+"/"+file]; ok {
				want = d.counts
			}
			text, err := os.ReadFile(filepath.Join(root, dir, file))
			if err != nil {
				t.Fatal(err)
			}
			if Totals(text) != "" {
				continue
			}
			out, err := readAll(t, bytes.NewReader(text))
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			if got := count(out.rows); got != want {
				t.Errorf("%s: %+v, want %+v; %+v", file, got, want, out.health)
			}
		}
	}
	if seen < 14 {
		t.Errorf("%d samples", seen)
	}
}

func FuzzResults(f *testing.F) {
	for _, s := range []string{
		`{"attack":"a","seq":0,"code":200,"timestamp":"2026-11-30T08:11:06Z","latency":1,"url":"/"}`,
		"metric_name,timestamp,metric_value,status\nhttp_req_duration,1796026266,1,200\n", "RUN\ta\tb\tc\nREQUEST\tg\tn\t1796026266250\t1796026266500\tOK\t\n",
		"response-time,DNS+dialup\n1,2\n", `<testResults><httpSample ts="1796026266250" t="1"/>`, `{"log":{"creator":1,"entries":[{"time":1e300}]}}`,
		"1796026266250000000,0,250,0,0,e,,s,3,GET,http://a/r,UmV0\n", "Timestamp,User Count,Type,Name,Requests/s\n1,2\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for i := range kinds {
			s := &Source{kind: &kinds[i], r: bufio.NewReader(bytes.NewReader(text)), opt: Options{Secrets: capture.NewSecrets()}}
			var h capture.Health
			rows := 0
			_ = s.Run(context.Background(), func(b *capture.Batch) error {
				for _, x := range b.Exchanges {
					if x.End < x.Start {
						t.Errorf("%s: ends before it starts", kinds[i].name)
					}
				}
				rows += len(b.Exchanges)
				h = *b.Health
				return nil
			})
			if h.Read != h.Used+h.SkippedTotal() {
				t.Errorf("%s: lost uncounted: %+v, %d rows", kinds[i].name, h, rows)
			}
		}
	})
}

// vegeta and hey write no client; k6 may, by tags.
func TestWhichInputsNameNoClient(t *testing.T) {
	for file, want := range map[string]bool{"vegeta/gen.csv": true, "vegeta/gen.ndjson": true, "vegeta/gen.bin": true, "hey/gen.csv": true, "k6/gen-head.csv": false} {
		text, err := os.ReadFile(filepath.Join("../../testdata/loadtests", file))
		if err != nil {
			t.Fatal(err)
		}
		if got := mustRead(t, string(text)).health.Nameless; got != want {
			t.Errorf("%s: nameless %v", file, got)
		}
	}
}
