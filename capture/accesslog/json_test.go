package accesslog

import (
	"strings"
	"testing"

	"stormwatch/capture"
)

const jsonHead = `{"time":"2026-11-30T08:11:06.500Z","method":"GET","path":"/a",`

// JSON that is not quite JSON is read as its writer meant it.
func TestLenientJSON(t *testing.T) {
	for _, c := range []struct{ name, line, agent string }{
		{"Apache escapes", jsonHead + `"status":200,"ua":"caf\xc3\xa9 \x22q\x22"}`, `café "q"`},
		{"JSON escapes", jsonHead + `"status":200,"ua":"\u0063\u00e9 \ud83d\ude00 \/ \\ \" \t"}`, "cé 😀 / \\ \" \t"},
		{"raw bytes", jsonHead + "\"status\":200,\"ua\":\"\xff\xfe\"}", "\xff\xfe"},
		{"bare list", jsonHead + `"urt":0.001, 0.002 : -,"status":200,"ua":"x"}`, "x"},
		{"bare dash", jsonHead + `"urt":-,"status":200,"ua":"x"}`, "x"},
		{"a bare dash at the end", jsonHead + `"status":200,"ua":"x","urt":-}`, "x"},
		{"quotes nobody escaped", jsonHead + `"status":200,"ua":"say "so" now","z":1}`, `say "so" now`},
		{"a comma too many", jsonHead + `"status":200,"ua":"x",}`, "x"},
		{"blanks", `{ "time" : "2026-11-30T08:11:06.500Z" , "method" : "GET", "path":"/a" ,"status" : 200 , "ua" : "x" }`, "x"},
		{"status as text", jsonHead + `"status":"200","ua":"x"}`, "x"},
		{"nested", jsonHead + `"http":{"response":{"status_code":200}},"user_agent":{"original":"x"}}`, "x"},
		{"dotted", jsonHead + `"http.response.status_code":200,"user_agent.original":"x"}`, "x"},
		{"arrays and depth", jsonHead + `"tags":[{"a":[1,"}"]}],"status":200,"x":{"y":{"z":[[]]}},"ua":["x","y"]}`, "x"},
		{"null", jsonHead + `"status":200,"user":null,"ua":null}`, ""},
		{"case of keys", `{"Time":"2026-11-30T08:11:06.500Z","Method":"GET","Path":"/a","Status":200,"User-Agent":"x"}`, "x"},
		{"an object where a text is usual", jsonHead + `"status":200,"request":{"id":"7"},"ua":"x"}`, "x"},
	} {
		out := mustRead(t, c.line+"\n", Options{Format: preset("json")})
		if len(out.rows) != 1 {
			t.Errorf("%s: not read: %+v", c.name, out.health.Skipped)
			continue
		}
		if x := out.rows[0]; x.agent != c.agent || x.Status != 200 || x.End != utc0811*second+500e6 || x.target != "/a" {
			t.Errorf("%s: agent %q, status %d, end %d, target %q", c.name, x.agent, x.Status, x.End, x.target)
		}
	}
}

func TestBrokenJSON(t *testing.T) {
	for line, want := range map[string]fault{
		`{"status":200`:                      brokenJSON,
		`{"status":200,"ua":"x`:              brokenJSON,
		`{"status" 200}`:                     brokenJSON,
		`{status:200}`:                       brokenJSON,
		`[1]`:                                notJSON,
		`{}`:                                 noRequestKey,
		`{"time":1796026266,"level":"info"}`: noRequestKey,
		jsonHead + `"code":"E17"}`:           noStatusKey,
		`{"status":200,"method":"GET","path":"/a"}`:                   noTime,
		strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100): brokenJSON,
	} {
		out := mustRead(t, line+"\n", Options{Format: preset("json")})
		if len(out.rows) != 0 || len(out.health.Skipped) != 1 || out.health.Skipped[0].Reason != string(want) {
			t.Errorf("%s: %+v, want %s", line, out.health.Skipped, want)
		}
	}
}

// The first of several keys that are usual for one thing is believed.
func TestAliasesHaveAnOrder(t *testing.T) {
	out := mustRead(t, `{"code":500,"http_status":404,"status":200,"msec":1796026266.500,"time":"2020-01-01T00:00:00Z","request_time":0.250,"uri":"/x","request_uri":"/y?z","method":"GET","host":"box","http_host":"api","client":"192.0.2.2","remote_addr":"192.0.2.1"}`+"\n", Options{Format: preset("json")})
	if len(out.rows) != 1 {
		t.Fatalf("%+v", out.health)
	}
	if x := out.rows[0]; x.Status != 200 || x.Start != utc0811*second+250e6 || x.target != "/y?z" || x.host != "api" || x.Src.String() != "192.0.2.1" {
		t.Errorf("%d %d %q %q %s", x.Status, x.Start, x.target, x.host, x.Src)
	}
}

// A duration counts only where its unit is plain.
// Node's pino-http names the client within the request.
func TestClientWithinTheRequest(t *testing.T) {
	out := mustRead(t, `{"level":30,"time":1796026266500,"req":{"id":1,"method":"GET","url":"/a","remoteAddress":"::ffff:192.0.2.1","remotePort":7},"res":{"statusCode":429},"responseTime":250,"msg":"request completed"}`+"\n", Options{Format: preset("json")})
	if x := out.rows[0]; x.Src.String() != "192.0.2.1:7" || x.Status != 429 || x.target != "/a" {
		t.Errorf("%+v", x)
	}
}

func TestDurationsNeedAUnit(t *testing.T) {
	for key, want := range map[string]int64{`"duration":250`: 0, `"duration_ms":250`: 250e6, `"latency_us":250`: 250e3, `"took_ns":250`: 250, `"response_time_s":0.25`: 250e6, `"elapsed_ms":"1.5"`: 1500e3, `"request_time":"0.250"`: 250e6} {
		out := mustRead(t, jsonHead+`"status":200,`+key+"}\n", Options{Format: preset("json")})
		if got := out.rows[0].End - out.rows[0].Start; got != want {
			t.Errorf("%s: %d, want %d", key, got, want)
		}
	}
}

func TestMap(t *testing.T) {
	f, err := ParseMap("status=resp.code, dur=took:us,key=auth.client,client=who,start=begin,uri=what.path,retry_after=resp.wait")
	if err != nil {
		t.Fatal(err)
	}
	out := mustRead(t, `{"begin":1796026266250,"status":"odd","took":2500,"resp":{"code":429,"wait":"3"},"auth":{"client":"secret"},"who":"192.0.2.1:7","what":{"path":"/a"},"method":"PUT"}
begin=1796026266250 took=2500 resp.code=503 who=192.0.2.1 what.path=/b method=PUT resp.wait=""
`, Options{Format: f})
	if len(out.rows) != 2 {
		t.Fatalf("%+v", out.health.Skipped)
	}
	x, y := out.rows[0], out.rows[1]
	if x.Start != utc0811*second+250e6 || x.End-x.Start != 2500e3 || x.Status != 429 || x.Credential == 0 || x.Src.String() != "192.0.2.1:7" || x.target != "/a" || x.method != "PUT" || x.Hint.Wait != 3*second {
		t.Errorf("%+v", x)
	}
	if y.Status != 503 || y.target != "/b" || y.Hint.State != capture.Absent || !out.health.SeesHints {
		t.Errorf("%+v", y)
	}
	for spec, says := range map[string]string{"status": "not field=key", "=x": "not field=key", "wrong=x": "<wrong> is not known", "dur=took:ms,": "not field=key", "status=a:ms": "may have the unit"} {
		if _, err := ParseMap(spec); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("--map %s: %v", spec, err)
		}
	}
}

// Reading JSON and pairs allocates nothing once the keys are known, also where
// their order changes.
func TestObjectsAllocateNothing(t *testing.T) {
	for name, lines := range map[string][]string{
		"caddy-json":    {presetCases[30].line, presetCases[31].line},
		"json":          {presetCases[len(presetCases)-1].line},
		"logfmt":        {presetCases[len(presetCases)-2].line},
		"ingress-nginx": {presetCases[5].line},
		"kong-json":     {`{"started_at":1796026266250,"client_ip":"192.0.2.1","latencies":{"request":250},"request":{"method":"POST","uri":"/a","headers":{"user-agent":"x"}},"response":{"status":200,"headers":{"x":"y"}},"tries":[{"ip":"10.0.0.1","code":502},{"ip":"10.0.0.2"}]}`},
	} {
		b := newBuilder(Options{Secrets: capture.NewSecrets(), Format: preset(name)}, func(*capture.Batch) error { return nil })
		for range 2 * batchSize {
			for _, l := range lines {
				_ = b.line([]byte(l), whole)
			}
		}
		if b.health.Used == 0 {
			t.Fatalf("%s: %+v", name, b.health.Skipped)
		}
		texts := make([][]byte, len(lines))
		for i, l := range lines {
			texts[i] = []byte(l)
		}
		if got := testing.AllocsPerRun(400/len(lines), func() {
			for _, l := range texts {
				_ = b.line(l, whole)
			}
		}); got > 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}

func FuzzObjects(f *testing.F) {
	for _, c := range presetCases {
		f.Add(c.line)
	}
	f.Add(`{"log":"{\"a\":[1,2]}\n","stream":"stdout","time":"2026-11-30T08:11:06Z"}`)
	cutters := map[string]cutter{}
	for _, p := range presets() {
		cutters[p.name] = p.open()
	}
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) == 0 {
			return
		}
		for name, c := range cutters {
			r := reading{esc: preset(name).esc}
			if c.cut([]byte(line), &r) == "" {
				r.settle()
				if r.end.ns < r.start.ns {
					t.Errorf("%s: %q ends before it starts", name, line)
				}
			}
		}
		if out, err := readAll(t, strings.NewReader(line+"\n"), Options{}); err == nil && out.health.Read != out.health.Used+out.health.SkippedTotal() {
			t.Errorf("lost uncounted: %+v", out.health)
		}
	})
}
