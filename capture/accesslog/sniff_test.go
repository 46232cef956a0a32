package accesslog

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"stormwatch/capture"
)

func combinedLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `192.0.2.%d - - [30/Nov/2026:08:11:06 +0000] "GET /%d HTTP/1.1" 200 25 "-" "a" 0.004 1796026266.%03d`+"\n", i%250, i, i%1000)
	}
	return b.String()
}

func jsonLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"msec":1796026300.%03d,"remote_addr":"192.0.2.1","method":"GET","uri":"/j%d","status":429}`+"\n", i%1000, i)
	}
	return b.String()
}

// A log that goes over to another format is read on, no line is lost, and the
// change is told.
func TestFormatChange(t *testing.T) {
	for name, text := range map[string]string{
		"at once":      combinedLines(1000) + jsonLines(500),
		"and back":     combinedLines(500) + jsonLines(500) + combinedLines(500),
		"interleaved":  combinedLines(600) + strings.Repeat(combinedLines(1)+jsonLines(1), 400) + jsonLines(100),
		"from JSON":    jsonLines(500) + combinedLines(1000),
		"into wrapped": combinedLines(1000) + strings.ReplaceAll(jsonLines(500), `{"msec`, `2026-11-30T09:00:00Z stdout F {"msec`),
	} {
		out := mustRead(t, text, Options{})
		if len(out.rows) != 1500 || out.health.Read != 1500 || len(out.health.Skipped) != 0 {
			t.Errorf("%s: %d rows, %+v", name, len(out.rows), out.health.Skipped)
		}
		if len(out.health.Notes) != 1 || !strings.Contains(out.health.Notes[0], "another format") {
			t.Errorf("%s: notes %q", name, out.health.Notes)
		}
		lines := map[uint64]bool{}
		for _, x := range out.rows {
			if lines[x.At.A] {
				t.Fatalf("%s: line %d twice", name, x.At.A)
			}
			lines[x.At.A] = true
		}
	}
}

// Junk is no format, and does not slow the log down to a crawl.
func TestJunkIsNoFormat(t *testing.T) {
	junk := strings.Repeat("Lorem ipsum dolor sit amet\n", 20000)
	out := mustRead(t, combinedLines(300)+junk+combinedLines(300), Options{})
	if len(out.rows) != 600 || out.health.SkippedTotal() != 20000 || len(out.health.Notes) != 0 {
		t.Errorf("%d rows, %+v", len(out.rows), out.health)
	}
}

// Logs of two formats at once are read by both.
func TestTwoFormats(t *testing.T) {
	text := strings.Repeat(combinedLines(3)+jsonLines(1), 50)
	out := mustRead(t, text, Options{})
	if len(out.rows) != 200 || len(out.health.Skipped) != 0 || !Detect([]byte(text)) {
		t.Errorf("%d rows, %+v", len(out.rows), out.health)
	}
}

// A named format is obeyed: nothing else is read.
func TestNamedFormatIsObeyed(t *testing.T) {
	out := mustRead(t, combinedLines(50)+jsonLines(50), Options{Format: preset("json")})
	if len(out.rows) != 50 || out.health.SkippedTotal() != 50 || out.rows[0].target != "/j0" {
		t.Errorf("%d rows, %+v", len(out.rows), out.health)
	}
}

// What stands before the log does not hide it.
func TestRubbishBeforeTheLog(t *testing.T) {
	lines := combinedLines(50)
	for name, c := range map[string]struct {
		text           string
		rows, skipped  int
		reason, detect string
	}{
		"a line of 70 KB":    {strings.Repeat("x", 70<<10) + "\n" + lines, 50, 1, "", ""},
		"a line of 2 MiB":    {strings.Repeat("x", 2<<20) + "\n" + lines, 50, 1, string(tooLong), "no"},
		"a run of NUL bytes": {strings.Repeat("\x00", 100<<10) + lines, 50, 0, "", "no"},
		"a huge NUL run":     {strings.Repeat("\x00", 5<<20) + lines, 50, 0, "", "no"},
		"one inside a line":  {lines[:len(lines)/2] + strings.Repeat("\x00", 5<<20) + lines[len(lines)/2:], 49, 1, string(tooLong), ""},
		"a line of 20 kB":    {`192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET /` + strings.Repeat("u", 20_000) + ` HTTP/1.1" 414 25 "-" "a"` + "\n" + lines, 51, 0, "", ""},
		"CR LF":              {strings.ReplaceAll(lines, "\n", "\r\n"), 50, 0, "", ""},
		"CR at the ends":     {"\r\n\r\n" + strings.ReplaceAll(lines, "\n", "\r\r\n"), 50, 0, "", ""},
		"a byte order mark":  {"\xef\xbb\xbf" + lines, 50, 0, "", ""},
	} {
		out := mustRead(t, c.text, Options{})
		if len(out.rows) != c.rows || int(out.health.SkippedTotal()) != c.skipped {
			t.Errorf("%s: %d rows, %+v", name, len(out.rows), out.health.Skipped)
		}
		if c.reason != "" && out.health.Skipped[0].Reason != c.reason {
			t.Errorf("%s: %+v", name, out.health.Skipped)
		}
		if head := []byte(c.text[:min(len(c.text), 256<<10)]); c.detect == "" && !Detect(head) {
			t.Errorf("%s: not found to be a log", name)
		}
		if !Sniff([]byte(c.text[:min(len(c.text), 64<<10)]), []byte(c.text[len(c.text)-min(len(c.text), 5000):])).Sure() {
			t.Errorf("%s: not found to be a log by its end", name)
		}
	}
}

func TestUnreadable(t *testing.T) {
	utf16 := func(s string, big bool) string {
		var b strings.Builder
		for i := range len(s) {
			if big {
				b.WriteString("\x00" + s[i:i+1])
			} else {
				b.WriteString(s[i:i+1] + "\x00")
			}
		}
		return b.String()
	}
	for name, c := range map[string]struct{ head, says string }{
		"UTF-16":                  {"\xff\xfe" + utf16(msLine, false), "iconv"},
		"UTF-16, the other way":   {"\xfe\xff" + utf16(msLine, true), "iconv"},
		"UTF-16 without its mark": {utf16(msLine, false), "iconv -f UTF-16LE "},
		"the other way, the same": {utf16(msLine, true), "iconv -f UTF-16BE "},
		"binary":                  {"\x7fELF\x02\x01\x01\x00\x01\x02\x03\x04\x05\x06\x07\x08\x0e\x0f", "binary"},
		"a log":                   {msLine, ""},
		"a log with escapes":      {"\x1b[36mweb-1  |\x1b[0m " + msLine, ""},
		"NUL bytes before a log":  {strings.Repeat("\x00", 1000) + msLine, ""},
	} {
		if got := Unreadable([]byte(c.head)); (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
			t.Errorf("%s: %q", name, got)
		}
		if c.says != "" && Detect([]byte(c.head)) {
			t.Errorf("%s is taken for a log", name)
		}
	}
}

// Where it is not certain, the best cuts of a line are shown, and nothing secret.
func TestAsk(t *testing.T) {
	text := strings.Repeat("some program says something\n", 8) + strings.Repeat(`192.0.2.1 - s3cretuser [30/Nov/2026:08:11:06 +0000] "GET /?token=s3cret HTTP/1.1" 200 5 "-" "a"`+"\n", 4)
	g := Sniff([]byte(text), nil)
	if g.Sure() || !g.Known() {
		t.Fatalf("sure %v, known %v", g.Sure(), g.Known())
	}
	ask := g.Ask()
	for _, want := range []string{"--log-format", "4 of 12 lines", "combined reads 4 of 12", "<status>→status=200", "<user>→user=(hidden)"} {
		if !strings.Contains(ask, want) {
			t.Errorf("%q is not in:\n%s", want, ask)
		}
	}
	if strings.Contains(ask, "s3cret") || strings.Count(ask, "\n") > 3 {
		t.Errorf("%s", ask)
	}
	if g = Sniff([]byte("prose\nand more\n"), nil); g.Known() || !strings.Contains(g.Ask(), "--log-format") {
		t.Errorf("%s", g.Ask())
	}
}

// Successes left out, and samples, are noticed; an outage is not taken for that.
func TestLogsThatLeaveRequestsOut(t *testing.T) {
	line := func(status int, more string) string {
		return fmt.Sprintf(`{"msec":1796026266.5,"remote_addr":"192.0.2.1","method":"GET","uri":"/a","status":%d%s}`+"\n", status, more)
	}
	for name, c := range map[string]struct {
		text     string
		failures bool
		sampled  float64
	}{
		"all of it":       {strings.Repeat(line(200, "")+line(404, ""), 200), false, 0},
		"failures only":   {strings.Repeat(line(404, "")+line(503, "")+line(401, ""), 100), true, 0},
		"an outage":       {strings.Repeat(line(503, "")+line(429, "")+line(499, "")+line(502, ""), 100), false, 0},
		"too few to tell": {strings.Repeat(line(404, ""), 20), false, 0},
		"sampled":         {strings.Repeat(line(200, `,"SampleInterval":100`), 50), false, 0.01},
	} {
		out := mustRead(t, c.text, Options{})
		if out.health.FailuresOnly != c.failures || out.health.Sampled != c.sampled || (c.failures || c.sampled > 0) != (len(out.health.Notes) > 0) {
			t.Errorf("%s: %+v", name, out.health)
		}
	}
	var text strings.Builder
	for i := range 400 {
		fmt.Fprintf(&text, `{"StartUTC":"2026-11-30T08:11:06Z","Duration":1,"DownstreamStatus":200,"RequestMethod":"GET","RequestPath":"/","ClientHost":"192.0.2.1","RequestCount":%d}`+"\n", 1000+4*i)
	}
	if h := mustRead(t, text.String(), Options{}).health; h.Sampled < .24 || h.Sampled > .26 {
		t.Errorf("every fourth number: %v", h.Sampled)
	}
	if h := mustRead(t, line(200, ""), Options{Sampled: .5}).health; h.Sampled != .5 {
		t.Errorf("what was told prevails: %v", h.Sampled)
	}
	f, err := NginxConf("log_format a '$msec $status'; access_log x a if=$b;", "")
	if err != nil {
		t.Fatal(err)
	}
	if h := mustRead(t, "1796026266.5 200\n", Options{Format: f}).health; len(h.Notes) != 1 {
		t.Errorf("the configuration says that requests are left out: %q", h.Notes)
	}
}

// Times without a zone are UTC unless a zone is told; those with one keep it.
func TestZones(t *testing.T) {
	const haproxy = `192.0.2.1:42 [%s] fe be/a 0/0/0/1/0 200 7 - - ---- 1/1/0/0/0 0/0 "GET / HTTP/1.1"` + "\n"
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		zone       *time.Location
		date, want string
	}{
		{nil, "30/Nov/2026:08:11:06.250", "2026-11-30T08:11:06.25"},
		{berlin, "30/Nov/2026:08:11:06.250", "2026-11-30T07:11:06.25"},
		{berlin, "30/Jun/2026:08:11:06.250", "2026-06-30T06:11:06.25"},
		{berlin, "29/Mar/2026:01:59:59.999", "2026-03-29T00:59:59.999"}, // the clock went from 2 to 3
		{berlin, "29/Mar/2026:03:00:00.000", "2026-03-29T01:00:00"},
		{time.FixedZone("", 19800), "30/Nov/2026:08:11:06.250", "2026-11-30T02:41:06.25"},
	} {
		out := mustRead(t, fmt.Sprintf(haproxy, c.date), Options{Zone: c.zone})
		if len(out.rows) != 1 || out.rows[0].Start != at(t, c.want) {
			t.Errorf("%v %s: %s", c.zone, c.date, time.Unix(0, out.rows[0].Start).UTC())
		}
		if noted := len(out.health.Notes) > 0; noted != (c.zone == nil) {
			t.Errorf("%v: notes %q", c.zone, out.health.Notes)
		}
	}
	out := mustRead(t, msLine+"\n", Options{Zone: berlin})
	if out.rows[0].End != msLineEnd || len(out.health.Notes) != 0 {
		t.Errorf("a zone in the line prevails: %d", out.rows[0].End)
	}
	w3c := "#Fields: date time c-ip cs-method cs-uri-stem sc-status time-taken\n2026-11-30 08:11:06 192.0.2.1 GET /a 429 250\n"
	if out = mustRead(t, w3c, Options{Zone: berlin}); len(out.rows) != 1 || out.rows[0].Start != at(t, "2026-11-30T08:11:05.75") || len(out.health.Notes) != 0 {
		t.Errorf("W3C logs are UTC by definition: %+v", out.rows)
	}
}

// The columns may change, and their names decide.
func TestColumnsChange(t *testing.T) {
	text := "#Software: x\n#Fields: date time cs-method cs-uri-stem sc-status c-ip\n2026-11-30 08:11:06 GET /a 200 192.0.2.1\n" +
		"#Date: 2026-12-01 00:00:00\n#Fields: time c-ip sc-status cs-uri-stem cs-uri-query cs(User-Agent) time-taken\n08:11:06 192.0.2.2 503 /b x=1+2 Mozilla/5.0+(x) 1500\nshort\n"
	out := mustRead(t, text, Options{})
	if len(out.rows) != 2 {
		t.Fatalf("%+v", out.health)
	}
	a, b := out.rows[0], out.rows[1]
	if a.target != "/a" || a.Src.String() != "192.0.2.1" || b.Status != 503 || b.target != "/b?x=1+2" || b.agent != "Mozilla/5.0 (x)" || b.Start != at(t, "2026-12-01T08:11:04.5") {
		t.Errorf("%+v %+v", a, b)
	}
	if h := out.health; h.Unreadable() != 1 || h.SkippedTotal() != 5 {
		t.Errorf("headers are in order, a short line is not: %+v", h.Skipped)
	}
}

// A live log whose first lines tell nothing is waited for.
func TestLiveDecides(t *testing.T) {
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	rows, ended := follow(ctx, t, r)
	for _, text := range []string{"starting up\n", "listening\n", jsonLines(1), jsonLines(2)} {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	expect(t, rows, "/j0", "/j0", "/j1")
	_ = w.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Explain tells how lines were cut and hides what is secret.
// What carries a credential is hidden wherever a line is shown, whether a format
// gives it a meaning or not.
func TestNothingSecretIsShown(t *testing.T) {
	fields := "#Fields: date time c-ip cs-method cs-uri-stem sc-status cs(User-Agent) cs(Cookie) time-taken\n"
	for name, c := range map[string]struct{ format, text string }{
		"W3C":           {"w3c", fields + "2026-11-30 08:11:06 192.0.2.1 GET /a 200 x sid=s3cret 5\n"},
		"nginx cookie":  {`nginx:$remote_addr [$time_iso8601] "$request" $status "$cookie_sid"`, `192.0.2.1 [2026-11-30T08:11:06+00:00] "GET / HTTP/1.1" 200 "s3cret"` + "\n"},
		"Apache cookie": {`apache:%h %l %u %t "%r" %>s %b "%{sid}C" "%{Cookie}i"`, `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET / HTTP/1.1" 200 5 "s3cret" "sid=s3cret; b=s3cret"` + "\n"},
		"not read":      {"combined", "panic: Authorization: Bearer s3cret, Cookie: sid=s3cret; b=s3cret\nfetch https://u:s3cret@h/ api_key=s3cret\n"},
	} {
		var b strings.Builder
		f, err := ParseFormat(c.format)
		if err != nil {
			t.Fatal(err)
		}
		if err := Explain(context.Background(), &b, "x", strings.NewReader(c.text), Options{Format: f, Secrets: capture.NewSecrets()}); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); strings.Contains(got, "s3cret") || !strings.Contains(got, "line 1") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

func TestExplain(t *testing.T) {
	var b strings.Builder
	text := `1796026266.500 192.0.2.1 bob "GET /a?token=s3cret HTTP/1.1" 429 us="502, 429" ra="3" k="s3cret"` + "\nno line token=s3cret\n"
	f, err := ParseFormat(`nginx:$msec $remote_addr $remote_user "$request" $status us="$upstream_status" ra="$sent_http_retry_after" k="$http_x_api_key"`)
	if err != nil {
		t.Fatal(err)
	}
	if err := Explain(context.Background(), &b, "x", strings.NewReader(text), Options{Format: f, Secrets: capture.NewSecrets()}); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, want := range []string{
		"format nginx:$msec", "line 1: 2026-11-30T08:11:06.500000Z +0s; 192.0.2.1 GET /a?token=***; 429 throttle by the upstream; wait 3s; 2 tries  502  429", "$status→status=429", "k", "$remote_user→user=(hidden)",
		"line 2: not read: $msec is not a number", "1 of 2 lines read; clock 1ms; 1 retries by the hop itself",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "s3cret") || strings.Contains(got, "bob") {
		t.Errorf("a secret is told:\n%s", got)
	}
}
