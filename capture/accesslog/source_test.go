package accesslog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"stormwatch/capture"
)

// read is what a whole run of a source gave, with texts resolved.
type read struct {
	rows    []row
	health  capture.Health
	marks   []int64
	sizes   []int
	done    float64
	lastNil bool
}

type row struct {
	capture.Exchange
	method, target, agent, forwarded, host string
	tries                                  []try
}

type try struct {
	capture.Try
	server string
}

func readAll(t testing.TB, r io.Reader, opt Options) (read, error) {
	t.Helper()
	s, err := Open("test.log", r, opt)
	if err != nil {
		t.Fatal(err)
	}
	var out read
	err = s.Run(context.Background(), out.sink)
	return out, err
}

func (o *read) sink(b *capture.Batch) error {
	for i := range b.Exchanges {
		x := b.Exchanges[i]
		var tries []try
		for _, t := range b.TriesOf(&x) {
			tries = append(tries, try{t, b.Names.Text(t.Server)})
		}
		o.rows = append(o.rows, row{
			tries:    tries,
			Exchange: x, method: b.Names.Text(x.Method), target: string(b.Bytes(x.Target)),
			agent: b.Names.Text(x.Agent), forwarded: b.Names.Text(x.Forwarded), host: b.Names.Text(x.Host),
		})
	}
	o.lastNil = b.Health == nil
	if b.Health != nil {
		o.health = *b.Health
	}
	o.marks = append(o.marks, b.Watermark)
	o.sizes = append(o.sizes, len(b.Exchanges))
	o.done = b.Done
	return nil
}

func mustRead(t testing.TB, text string, opt Options) read {
	t.Helper()
	out, err := readAll(t, strings.NewReader(text), opt)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const (
	msLine = `192.0.2.10 - - [30/Nov/2026:08:11:06 +0000] "GET /v1/items?page=0 HTTP/1.1" 429 25 "-" "agent/1" 0.004 1796026266.123`
	// 2026-11-30T08:11:06Z, worked out with date -u -d @1796026266.
	msLineEnd = 1796026266_123000000
)

func TestMillisecondLine(t *testing.T) {
	out := mustRead(t, msLine+"\n", Options{})
	if len(out.rows) != 1 {
		t.Fatalf("got %d exchanges, want 1; health %+v", len(out.rows), out.health)
	}
	x := out.rows[0]
	if x.Start != msLineEnd-4_000_000 || x.End != msLineEnd {
		t.Errorf("start, end = %d, %d; want 4 ms before and at %d", x.Start, x.End, int64(msLineEnd))
	}
	if got := x.Src.String(); got != "192.0.2.10" {
		t.Errorf("source %q", got)
	}
	if x.method != "GET" || x.target != "/v1/items?page=0" || x.agent != "agent/1" {
		t.Errorf("read %q %q %q", x.method, x.target, x.agent)
	}
	if x.Status != 429 || x.Reason != capture.Throttle || x.Outcome != capture.Answered {
		t.Errorf("status %d, reason %v, outcome %v", x.Status, x.Reason, x.Outcome)
	}
	if x.Hint.State != capture.NotObservable || x.ConnSeq != 0 || x.Credential != 0 {
		t.Errorf("a log shows no hint, connection or user here: %+v", x.Exchange)
	}
	if got := x.At.String(); got != "line 1" {
		t.Errorf("provenance %q", got)
	}
	h := out.health
	if h.Unit != "lines" || h.Read != 1 || h.Used != 1 || h.Resolution != int64(time.Millisecond) || h.SeesHints || h.SeesPorts || h.Truncated {
		t.Errorf("health %+v", h)
	}
}

func TestCombinedHasClockOfOneSecond(t *testing.T) {
	out := mustRead(t, `192.0.2.10 - - [30/Nov/2026:13:41:06 +0530] "GET / HTTP/1.1" 200 3 "-" "a"`+"\n", Options{})
	x := out.rows[0]
	if x.Start != 1796026266*second || x.End != x.Start {
		t.Errorf("start, end = %d, %d", x.Start, x.End)
	}
	if out.health.Resolution != second {
		t.Errorf("resolution %d", out.health.Resolution)
	}
	mixed := mustRead(t, msLine+"\n"+`192.0.2.10 - - [30/Nov/2026:13:41:06 +0530] "GET / HTTP/1.1" 200 3 "-" "a"`+"\n", Options{})
	if mixed.health.Resolution != second {
		t.Errorf("a log of both kinds is only as fine as its coarsest lines: %d", mixed.health.Resolution)
	}
}

func TestLines(t *testing.T) {
	const head = `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] `
	for _, c := range []struct {
		name, line             string
		method, target, agent  string
		status                 uint16
		outcome                capture.Outcome
		src, forwarded, reason string
	}{
		{name: "no request", line: head + `"" 400 0 "-" "-"`, status: 400},
		{name: "TLS hello", line: head + `"\x16\x03\x01\x02\x00" 400 157 "-" "-"`, status: 400},
		{name: "one token", line: head + `"GET" 400 157 "-" "-"`, method: "GET", status: 400},
		{name: "spaces in the path", line: head + `"GET /a b  c HTTP/1.1" 400 157 "-" "-"`, method: "GET", target: "/a b  c", status: 400},
		{name: "HTTP/0.9", line: head + `"GET /" 200 5 "-" "-"`, method: "GET", target: "/", status: 200, reason: "ok"},
		{name: "h2 preface", line: head + `"PRI * HTTP/2.0" 400 157 "-" "-"`, method: "PRI", target: "*", status: 400},
		{name: "nginx escapes", line: head + `"GET /a\x22b\x5Cc HTTP/1.1" 200 5 "-" "evil \x22q\x22 caf\xC3\xA9"`, method: "GET", target: `/a"b\c`, agent: `evil "q" café`, status: 200, reason: "ok"},
		{name: "Apache escapes", line: head + `"GET /a\"b HTTP/1.1" 200 5 "-" "evil \"quoted\" \\agent\\"`, method: "GET", target: `/a"b`, agent: `evil "quoted" \agent\`, status: 200, reason: "ok"},
		{name: "unescaped quotes", line: head + `"GET /a HTTP/1.1" 200 5 "-" "say"so"`, method: "GET", target: "/a", agent: `say"so`, status: 200, reason: "ok"},
		{name: "secret in the query", line: head + `"GET /a?api_key=s3cret&n=1 HTTP/1.1" 200 5 "-" "-"`, method: "GET", target: "/a?api_key=***&n=1", status: 200, reason: "ok"},
		{name: "client left", line: head + `"GET / HTTP/1.1" 499 0 "-" "-"`, method: "GET", target: "/", outcome: capture.NoAnswer},
		{name: "closed without a word", line: head + `"GET / HTTP/1.1" 444 0 "-" "-"`, method: "GET", target: "/", outcome: capture.NoAnswer},
		{name: "no status", line: head + `"GET / HTTP/1.1" 000 0 "-" "-"`, method: "GET", target: "/", outcome: capture.NoAnswer},
		{name: "overload, no bytes", line: head + `"POST / HTTP/1.1" 503 - "-" "-"`, method: "POST", target: "/", status: 503, reason: "overload"},
		{name: "IPv6", line: `2001:db8:1:2::beef - - [30/Nov/2026:08:11:06 +0000] "GET / HTTP/1.1" 200 5 "-" "-"`, method: "GET", target: "/", status: 200, src: "2001:db8:1:2::beef", reason: "ok"},
		{name: "user with a bracket", line: `192.0.2.1 - bob [x] smith [30/Nov/2026:08:11:06 +0000] "GET / HTTP/1.1" 401 5 "-" "-"`, method: "GET", target: "/", status: 401, reason: "auth"},
		{name: "nginx main", line: head + `"GET / HTTP/1.1" 200 5 "-" "-" "198.51.100.7, 10.0.0.1"`, method: "GET", target: "/", status: 200, forwarded: "198.51.100.7, 10.0.0.1", reason: "ok"},
		{name: "no forwarded address", line: head + `"GET / HTTP/1.1" 200 5 "-" "-" "-"`, method: "GET", target: "/", status: 200, reason: "ok"},
		{name: "more fields", line: head + `"GET / HTTP/1.1" 200 5 "-" "-" rt=0.001 us="502, 200"`, method: "GET", target: "/", status: 200, reason: "ok"},
		{name: "unix socket", line: `unix: - - [30/Nov/2026:08:11:06 +0000] "GET / HTTP/1.1" 200 5 "-" "-"`, method: "GET", target: "/", status: 200, src: "none", reason: "ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := mustRead(t, c.line+"\r\n", Options{})
			if len(out.rows) != 1 {
				t.Fatalf("the line must count: %+v", out.health)
			}
			x := out.rows[0]
			if x.method != c.method || x.target != c.target || x.agent != c.agent || x.forwarded != c.forwarded {
				t.Errorf("read %q %q %q %q", x.method, x.target, x.agent, x.forwarded)
			}
			if x.Status != c.status || x.Outcome != c.outcome {
				t.Errorf("status %d, outcome %v", x.Status, x.Outcome)
			}
			if c.reason != "" && x.Reason.String() != c.reason {
				t.Errorf("reason %v, want %s", x.Reason, c.reason)
			}
			switch c.src {
			case "":
				c.src = "192.0.2.1"
			case "none":
				c.src = ""
			}
			if got := x.Src.String(); got != c.src {
				t.Errorf("source %q, want %q", got, c.src)
			}
			if x.End != 1796026266*second {
				t.Errorf("end %d", x.End)
			}
		})
	}
}

func TestUsersAreToldApart(t *testing.T) {
	line := `192.0.2.1 - %s [30/Nov/2026:08:11:06 +0000] "GET / HTTP/1.1" 200 5 "-" "-"` + "\n"
	out := mustRead(t, fmt.Sprintf(line+line+line, "ann", "bob", "ann"), Options{})
	a, b, c := out.rows[0].Credential, out.rows[1].Credential, out.rows[2].Credential
	if a == 0 || a == b || a != c {
		t.Errorf("credentials %d %d %d", a, b, c)
	}
}

// The second number is $msec only if it can be a moment.
func TestTwoDurationsAreNoClock(t *testing.T) {
	out := mustRead(t, `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET / HTTP/1.1" 200 5 "-" "-" 0.004 0.003`+"\n", Options{})
	if x := out.rows[0]; x.Start != x.End || out.health.Resolution != second {
		t.Errorf("start %d, end %d, resolution %d", x.Start, x.End, out.health.Resolution)
	}
}

func TestMsecPrevailsOverTheDate(t *testing.T) {
	out := mustRead(t, strings.Replace(msLine, "+0000", "+0530", 1)+"\n", Options{})
	if x := out.rows[0]; x.End != msLineEnd {
		t.Errorf("end %d, want %d", x.End, int64(msLineEnd))
	}
}

func TestNothingIsLostUncounted(t *testing.T) {
	text := "\n" + msLine + "\n" +
		"   \n" +
		"hello\n" + // line 4
		`host.example - - [30/Nov/2026:08:11:06 +0000] "GET / HTTP/1.1" 200 5 "-" "-"` + "\n" +
		`192.0.2.1 - - [31/Feb/2026:08:11:06 +0000] "GET / HTTP/1.1" 200 5 "-" "-"` + "\n" +
		`192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET / HTTP/1.1 200 5 "-" "-"` + "\n" +
		`192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET / HTTP/1.1" 2000 5 "-" "-"` + "\n" +
		`192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET / HTTP/1.1" 200 x "-" "-"` + "\n" +
		`192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET / HTTP/1.1" 200 5` + "\n" +
		strings.Repeat("x", maxLine+1) + "\n" +
		strings.Repeat("y", 10*chunkBytes) + "\n" +
		msLine + "\n" + msLine[:60]
	out := mustRead(t, text, Options{})
	h := out.health
	if h.Read != 12 || h.Used != 2 || h.SkippedTotal() != 10 || !h.Truncated {
		t.Errorf("read %d, used %d, skipped %d, truncated %v", h.Read, h.Used, h.SkippedTotal(), h.Truncated)
	}
	want := map[string]uint64{
		"<peer> is not an IP address":                                 2,
		"<clf> is not a date as 30/Nov/2026:08:11:06 +0000":           1,
		"<status> is not a status of three digits":                    2,
		"<bytes> is not a number":                                     1,
		"\" \\\"\" is not where the format has it, before <_referer>": 1,
		string(tooLong): 2, string(cutOff): 1,
	}
	for _, s := range h.Skipped {
		if s.Count != want[s.Reason] {
			t.Errorf("%s: %d, want %d", s.Reason, s.Count, want[s.Reason])
		}
	}
	if got := h.Skipped[0].Examples[0]; got != "line 4: hello" {
		t.Errorf("first example %q", got)
	}
	if got := out.rows[1].At.String(); got != "line 13" {
		t.Errorf("the second good line is at %q", got)
	}
}

func TestLastLineWithoutNewline(t *testing.T) {
	if out := mustRead(t, msLine+"\n"+msLine, Options{}); len(out.rows) != 2 || out.health.Truncated {
		t.Errorf("a whole last line must be read: %+v", out.health)
	}
	// Wherever the last line is cut, it is either whole or counted; it must never
	// make the log look coarser.
	for n := 1; n < len(msLine); n++ {
		out := mustRead(t, msLine+"\n"+msLine[:n], Options{})
		if len(out.rows) != 1 || out.health.Read != 2 || !out.health.Truncated || out.health.Resolution != int64(time.Millisecond) {
			t.Fatalf("cut after %d bytes: %d rows, health %+v", n, len(out.rows), out.health)
		}
	}
}

func TestLineOfExactly64KiB(t *testing.T) {
	line := `192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET / HTTP/1.1" 200 5 "-" "`
	line += strings.Repeat("a", maxLine-len(line)-1) + `"`
	out := mustRead(t, line+"\n"+line+"x\n", Options{})
	if out.health.Used != 1 || out.health.SkippedTotal() != 1 {
		t.Errorf("health %+v", out.health)
	}
	if got := len(out.rows[0].agent); got != maxAgent {
		t.Errorf("an agent is kept to %d bytes, got %d", maxAgent, got)
	}
}

// However the input arrives, the same exchanges come out.
func TestChunking(t *testing.T) {
	var text strings.Builder
	for i := range 300 {
		fmt.Fprintf(&text, `192.0.2.%d - - [30/Nov/2026:08:11:06 +0000] "GET /%d HTTP/1.1" 429 25 "-" "agent/1" 0.004 1796026266.123`+"\n", i%250, i)
	}
	want := mustRead(t, text.String(), Options{})
	got, err := readAll(t, iotest.OneByteReader(strings.NewReader(text.String())), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(want.rows) != 300 || len(got.rows) != 300 {
		t.Fatalf("got %d and %d", len(want.rows), len(got.rows))
	}
	for i := range want.rows {
		if want.rows[i].target != got.rows[i].target || want.rows[i].Src != got.rows[i].Src {
			t.Fatalf("row %d differs: %+v, %+v", i, want.rows[i], got.rows[i])
		}
	}
}

func TestBatches(t *testing.T) {
	text := strings.Repeat(msLine+"\n", 1200)
	out := mustRead(t, text, Options{Size: int64(len(text))})
	for i, n := range out.sizes {
		if n > 512 {
			t.Errorf("batch %d holds %d", i, n)
		}
		if last := i == len(out.sizes)-1; (out.marks[i] != 0) != last {
			t.Errorf("batch %d: a recorded log has a watermark at its end only, got %d", i, out.marks[i])
		}
	}
	if out.done != 1 || out.lastNil || out.health.Used != 1200 {
		t.Errorf("done %v, health %+v", out.done, out.health)
	}
}

func TestCompressedLogSaysWhatToDo(t *testing.T) {
	for head, want := range map[string]string{
		"\x1f\x8b\x08\x00": "zcat", "\x28\xb5\x2f\xfd": "zstdcat", "BZh91AY": "bzcat", "\xfd7zXZ\x00": "xzcat",
	} {
		_, err := readAll(t, strings.NewReader(head), Options{})
		if err == nil || !strings.Contains(err.Error(), "`"+want+" test.log | stormwatch") || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestFailingInputKeepsWhatWasRead(t *testing.T) {
	broken := errors.New("disk gone")
	out, err := readAll(t, io.MultiReader(strings.NewReader(msLine+"\n"), iotest.ErrReader(broken)), Options{})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "after line 1") {
		t.Errorf("error %v", err)
	}
	if len(out.rows) != 1 {
		t.Errorf("%d rows", len(out.rows))
	}
}

func TestEmptyLog(t *testing.T) {
	out := mustRead(t, "", Options{})
	if len(out.rows) != 0 || out.health.Unit != "lines" || out.lastNil {
		t.Errorf("an empty log must still tell its health: %+v", out)
	}
}

func TestSinkErrorEndsTheSource(t *testing.T) {
	s, _ := Open("x", strings.NewReader(msLine+"\n"), Options{})
	stop := errors.New("stop")
	if err := s.Run(context.Background(), func(*capture.Batch) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
}

func TestDetect(t *testing.T) {
	for name, c := range map[string]struct {
		head string
		want bool
	}{
		"combined":        {msLine + "\n" + msLine[:50], true},
		"one cut line":    {msLine[:50], false},
		"mostly noise":    {"a\nb\n" + msLine + "\n", false},
		"some noise":      {"a\n\n" + msLine + "\n" + msLine + "\n", true},
		"byte order":      {"\xef\xbb\xbf" + msLine + "\n", true},
		"empty":           {"", false},
		"pcap":            {"\xd4\xc3\xb2\xa1\x02\x00\x04\x00", false},
		"json":            {`{"status":"success","data":{}}` + "\n", false},
		"common":          {`192.0.2.1 - - [30/Nov/2026:08:11:06 +0000] "GET / HTTP/1.1" 200 5` + "\n", true},
		"haproxy":         {`127.0.0.1:32932 [30/Nov/2026:08:11:11.394] fe be/b 0/30/0/-1/40 504 198 - - sH-- 2/2/0/0/+3 0/0 {} {} "GET / HTTP/1.1"` + "\n", true},
		"prose":           {"Dear operator,\nthis is no traffic.\n", false},
		"without newline": {msLine, true},
	} {
		if got := Detect([]byte(c.head)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
