package accesslog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// quotedJSON is a text as encoding/json writes it.
func quotedJSON(t testing.TB, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// wrapsOf gives each way in which a line may come, by what writes it so.
func wrapsOf(t testing.TB, line string) map[string]string {
	return map[string]string{
		"Kubernetes":            `2026-11-30T09:00:00.123456789+01:00 stdout F ` + line,
		"docker json-file":      `{"log":` + quotedJSON(t, line+"\n") + `,"stream":"stdout","time":"2026-11-30T09:00:00.123456789Z"}`,
		"docker with labels":    `{"log":` + quotedJSON(t, line+"\n") + `,"stream":"stdout","attrs":{"a":"b"},"time":"2026-11-30T09:00:00.123456789Z"}`,
		"docker compose":        `web-1      | ` + line,
		"docker compose, old":   `web_1  | ` + line,
		"compose in colour":     "\x1b[36mweb-1  |\x1b[0m " + line,
		"compose v2 in colour":  "\x1b[36mweb-1  | \x1b[0m" + line,
		"stern, namespaces":     `prod web-7d8b49557c-abcde nginx ` + line,
		"stern, a set's pod":    "\x1b[32mkube-system\x1b[0m \x1b[36mdb-0\x1b[0m istio-proxy " + line,
		"journalctl, precise":   `Nov 30 08:11:06.123456 web1 nginx[123]: ` + line,
		"compose with times":    `web-1  | 2026-11-30T09:00:00.123456789Z ` + line,
		"kubectl --prefix":      `[pod/web-7d8b49557c-abcde/nginx] ` + line,
		"kubectl with times":    `2026-11-30T09:00:00.123456789Z ` + line,
		"kubectl, both":         `[pod/web-7d8b49557c-abcde/nginx] 2026-11-30T09:00:00.123456789Z ` + line,
		"aws logs tail":         `2026-11-30T09:00:00.123000+00:00 ecs/web/0123456789abcdef ` + line,
		"aws logs tail, EC2":    `2026-11-30T09:00:00.123000+00:00 i-0123456789abcdef0 ` + line,
		"aws logs tail, Lambda": `2026-11-30T09:00:00.123000+00:00 2026/11/30/[$LATEST]0123456789abcdef ` + line,
		"aws logs tail, short":  `2026-11-30T09:00:00 ` + line,
		"logcli":                `2026-11-30T09:00:00Z {app="web", note="a \"b\" } c"} ` + line,
		"logcli, no labels":     `2026-11-30T10:00:00+01:00 {}                 ` + line,
		"stern":                 `web-7d8b49557c-abcde nginx ` + line,
		"nginx to syslog":       `<190>Nov 30 08:11:06 web1 nginx: ` + line,
		"syslog in a file":      `Nov 30 08:11:06 web1 nginx[123]: ` + line,
		"journalctl":            `Nov  3 08:11:06 web1 nginx[123]: ` + line,
		"rsyslog, ISO":          `2026-11-30T08:11:06.123456+05:30 web1 nginx[123]: ` + line,
		"RFC 5424":              `<165>1 2026-11-30T08:11:06.003Z web1 nginx 8710 - - ` + line,
		"RFC 5424 with data":    `<165>1 2026-11-30T08:11:06.003Z web1 nginx - ID47 [x@32473 a="b\]" c="d"][y z="1"] ` + "\xef\xbb\xbf" + line,
		"RFC 5424 over TCP":     `210 <165>1 2026-11-30T08:11:06.003Z web1 nginx - - - ` + line,
		"Heroku":                `2026-11-30T08:11:06.919417+00:00 app[web.1]: ` + line,
		"Heroku drain":          `83 <40>1 2026-11-30T06:45:29+00:00 host app web.3 - ` + line,
		"journald":              `{"__REALTIME_TIMESTAMP":"1796026266123456","_HOSTNAME":"web1","MESSAGE":` + quotedJSON(t, line) + `,"_PID":"1"}`,
		"fluent-bit":            `{"time":"2026-11-30T09:00:00Z","stream":"stdout","_p":"F","log":` + quotedJSON(t, line) + `}`,
		"filebeat":              `{"@timestamp":"2026-11-30T09:00:00.000Z","message":` + quotedJSON(t, line) + `,"agent":{"type":"filebeat"}}`,
		"Elasticsearch":         `{"_index":"x","_id":"1","_source":{"@timestamp":"2026-11-30T09:00:00.000Z","host":{"name":"h"},"message":` + quotedJSON(t, line) + `}}`,
		"Splunk":                `{"preview":false,"result":{"_raw":` + quotedJSON(t, line) + `,"_time":"2026-11-30T09:00:00.000+00:00"}}`,
		"Google, structured":    `{"insertId":"x","jsonPayload":{"message":` + quotedJSON(t, line) + `},"timestamp":"2026-11-30T09:00:00.000Z"}`,
		"docker in a collector": `{"message":` + quotedJSON(t, `{"log":`+quotedJSON(t, line+"\n")+`,"stream":"stdout"}`) + `}`,
		"CRI over syslog":       `<13>Nov 30 08:11:06 node kubelet: 2026-11-30T09:00:00.1Z stdout F ` + line,
	}
}

// Whatever is around lines, the same exchanges come out.
func TestWraps(t *testing.T) {
	inner := []string{
		`192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET /a?x=\x22 HTTP/1.1" 429 25 "-" "agent \"q\" | x" 0.004 1796026266.123`,
		`{"msec":"1796026266.123","request_time":"0.004","status":"429","remote_addr":"192.0.2.1","method":"GET","uri":"/a?x=\"","user_agent":"agent \"q\" | x"}`,
		`192.0.2.1:9 [30/Nov/2026:08:11:06.119] fe be/a 0/0/0/1/4 429 207 - - ---- 1/1/0/0/0 0/0 "GET /a?x=#22 HTTP/1.1"`,
	}
	for _, line := range inner {
		for name, wrapped := range wrapsOf(t, line) {
			text := strings.Repeat(wrapped+"\n", 3)
			out := mustRead(t, text, Options{Until: time.Unix(utc0811, 0)})
			if len(out.rows) != 3 {
				t.Errorf("%s: %d rows, %s, %+v", name, len(out.rows), Sniff([]byte(text), nil).describe(), out.health.Skipped)
				continue
			}
			x := out.rows[0]
			if x.Start != utc0811*second+119e6 || x.End != utc0811*second+123e6 || x.Status != 429 || x.target != `/a?x="` || x.Src.Addr().String() != "192.0.2.1" {
				t.Errorf("%s: %+v %q", name, x.Exchange, x.target)
			}
			if x.agent != `agent "q" | x` && x.agent != "" {
				t.Errorf("%s: agent %q", name, x.agent)
			}
			if !Detect([]byte(text)) {
				t.Errorf("%s is not found to be a log", name)
			}
		}
	}
}

// Lines without a time take that of what is around them.
func TestTimeOfTheWrap(t *testing.T) {
	const line = `INFO:     192.0.2.1:55 - "GET /a HTTP/1.1" 429 Too Many Requests`
	for name, want := range map[string]string{
		"Kubernetes": "2026-11-30T08:00:00.123456789", "docker json-file": "2026-11-30T09:00:00.123456789", "compose with times": "2026-11-30T09:00:00.123456789",
		"syslog in a file": "2026-11-30T08:11:06", "journalctl": "2026-11-03T08:11:06", "rsyslog, ISO": "2026-11-30T02:41:06.123456", "RFC 5424": "2026-11-30T08:11:06.003", "Heroku": "2026-11-30T08:11:06.919417",
		"journald": "2026-11-30T08:11:06.123456", "aws logs tail, short": "2026-11-30T09:00:00", "CRI over syslog": "2026-11-30T08:11:06",
	} {
		out := mustRead(t, wrapsOf(t, line)[name]+"\n", Options{Until: time.Unix(utc0811, 0)})
		if len(out.rows) != 1 {
			t.Errorf("%s: %+v", name, out.health.Skipped)
			continue
		}
		if x := out.rows[0]; x.End != at(t, want) || x.Status != 429 || x.Src.String() != "192.0.2.1:55" {
			t.Errorf("%s: %s, %d, %s", name, time.Unix(0, x.End).UTC(), x.Status, x.Src)
		}
	}
}

// Without any time the order is all that is known, and that is said.
func TestNoTimeAtAll(t *testing.T) {
	out := mustRead(t, strings.Repeat(`INFO:     192.0.2.1:55 - "GET /a HTTP/1.1" 429 Too Many Requests`+"\n", 5), Options{})
	if len(out.rows) != 5 || out.health.Resolution < 86400*second || len(out.health.Notes) != 1 || !strings.Contains(out.health.Notes[0], "no time") {
		t.Fatalf("%d rows, %+v", len(out.rows), out.health)
	}
	for i := 1; i < 5; i++ {
		if out.rows[i].Start <= out.rows[i-1].Start {
			t.Errorf("line %d does not come after the one before", i)
		}
	}
}

// Dates of syslog have no year: the log's last change tells it, over New Year too.
func TestYearOfSyslog(t *testing.T) {
	text := ""
	for _, day := range []string{"Dec 30 23:59:58", "Dec 31 23:59:59", "Jan  1 00:00:01", "Feb  2 03:04:05"} {
		text += day + ` web1 app[1]: INFO:     192.0.2.1:55 - "GET /a HTTP/1.1" 200 OK` + "\n"
	}
	out := mustRead(t, text, Options{Until: time.Date(2027, 2, 3, 0, 0, 0, 0, time.UTC)})
	for i, want := range []string{"2026-12-30T23:59:58", "2026-12-31T23:59:59", "2027-01-01T00:00:01", "2027-02-02T03:04:05"} {
		if len(out.rows) != 4 || out.rows[i].End != at(t, want) {
			t.Fatalf("row %d: %s, want %s; %+v", i, time.Unix(0, out.rows[i].End).UTC(), want, out.health)
		}
	}
}

// Kubernetes cuts long lines in pieces, and those of two streams interleave.
func TestLinesInPieces(t *testing.T) {
	const head = "2026-11-30T09:00:00.1Z "
	line := func(n int) string {
		return fmt.Sprintf(`192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET /%d HTTP/1.1" 200 25 "-" "%s"`, n, strings.Repeat("a", 100))
	}
	a, b := line(1), line(2)
	text := head + "stdout P " + a[:40] + "\n" + head + "stderr P " + b[:50] + "\n" + head + "stdout P " + a[40:90] + "\n" + head + "stderr F " + b[50:] + "\n" +
		head + "stdout F " + a[90:] + "\n" + head + "stdout F " + line(3) + "\n" + head + "stdout P never ended\n"
	out := mustRead(t, text, Options{})
	if len(out.rows) != 3 || out.rows[0].target != "/2" || out.rows[1].target != "/1" || out.rows[2].target != "/3" {
		t.Fatalf("%d rows, %+v", len(out.rows), out.health)
	}
	if h := out.health; h.Read != 4 || h.Used != 3 || h.Skipped[0].Reason != string(inPieces) {
		t.Errorf("%+v", h)
	}
	// docker cuts at 16 KiB, and only the last piece ends in a newline.
	long := fmt.Sprintf(`192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET /long HTTP/1.1" 200 25 "-" "%s"`, strings.Repeat("b", 20<<10))
	docker := func(s string) string {
		return `{"log":` + quotedJSON(t, s) + `,"stream":"stdout","time":"2026-11-30T09:00:00Z"}` + "\n"
	}
	out = mustRead(t, docker(line(1)+"\n")+docker(long[:16<<10])+docker(long[16<<10:]+"\n")+docker(line(2)+"\n"), Options{})
	if len(out.rows) != 3 || out.rows[1].target != "/long" || out.health.Read != 3 {
		t.Errorf("%d rows, %+v", len(out.rows), out.health)
	}
}

// journald writes what is no UTF-8 as a list of bytes.
func TestJournaldBytes(t *testing.T) {
	line := "192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] \"GET /\xff HTTP/1.1\" 200 25 \"-\" \"a\""
	var list []string
	for _, c := range []byte(line) {
		list = append(list, strconv.Itoa(int(c)))
	}
	out := mustRead(t, `{"__REALTIME_TIMESTAMP":"1796026266123456","MESSAGE":[`+strings.Join(list, ",")+`]}`+"\n", Options{})
	if len(out.rows) != 1 || out.rows[0].target != "/\xff" {
		t.Errorf("%+v %+v", out.rows, out.health.Skipped)
	}
}

// Lines that are not wrapped as the others are read all the same, or told.
func TestMixedWraps(t *testing.T) {
	const line = `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET /a HTTP/1.1" 200 25 "-" "a"`
	out := mustRead(t, strings.Repeat("2026-11-30T09:00:00.1Z stdout F "+line+"\n", 5)+line+"\nnoise\n", Options{})
	if len(out.rows) != 6 || len(out.health.Skipped) != 1 || !strings.Contains(out.health.Skipped[0].Reason, "not wrapped as the others") {
		t.Errorf("%d rows, %+v", len(out.rows), out.health.Skipped)
	}
}

func FuzzWraps(f *testing.F) {
	for _, w := range wrapsOf(f, msLine) {
		f.Add([]byte(w))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		for w := wrapCRI; w < wraps; w++ {
			u := unwrapper{chain: chain{w, w}}
			u.clock.until = anyTime
			for range 2 {
				inner, _, ok := u.open(line)
				if ok && len(inner) > 2*len(line) {
					t.Errorf("%s: %d bytes of %d", w, len(inner), len(line))
				}
			}
		}
		out, err := readAll(t, bytes.NewReader(line), Options{})
		if err == nil && out.health.Read != out.health.Used+out.health.SkippedTotal() {
			t.Errorf("lost uncounted: %+v", out.health)
		}
	})
}
