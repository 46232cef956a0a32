package accesslog

import (
	"fmt"
	"strings"
	"testing"
)

func repeated(n int, line func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i) + "\n")
	}
	return b.String()
}

func plainLine(i, status int) string {
	return fmt.Sprintf(`10.0.0.%d - - [30/Nov/2026:08:11:%02d +0000] "GET /v1/%d HTTP/1.1" %d 25 "-" "a"`, i%9, i%60, i, status)
}

// A log without successes is noticed where a service that is up wrote it: a limiter
// lets some through. One status of a server that fails may be all there was: that is
// said, and judged.
func TestOneStatusIsNoticed(t *testing.T) {
	for name, c := range map[string]struct {
		status   func(i int) int
		failures bool
		says     string
	}{
		"429 alone":         {func(int) int { return 429 }, true, "every line has the status 429"},
		"404 alone":         {func(int) int { return 404 }, true, "every line has the status 404"},
		"429 and 503":       {func(i int) int { return []int{429, 503}[i%2] }, false, ""},
		"429 and 404":       {func(i int) int { return []int{429, 404}[min(i/119, 1)] }, true, "successes are left out"},
		"503 alone":         {func(int) int { return 503 }, false, "every line has the status 503: a service that is down, or"},
		"502 and 503":       {func(i int) int { return 502 + i%2 }, false, ""},
		"200 alone":         {func(int) int { return 200 }, false, ""},
		"429 and a success": {func(i int) int { return []int{429, 200}[min(i/119, 1)] }, false, ""},
	} {
		out := mustRead(t, repeated(120, func(i int) string { return plainLine(i, c.status(i)) }), Options{})
		notes := strings.Join(out.health.Notes, "; ")
		if out.health.FailuresOnly != c.failures || !strings.Contains(notes, c.says) || c.says == "" && notes != "" {
			t.Errorf("%s: failures only %v, %q", name, out.health.FailuresOnly, notes)
		}
	}
}

// NUL bytes are counted once a run, and the lines around them read.
func TestNULBytesAreCounted(t *testing.T) {
	line := func(i int) string { return plainLine(i, 200) }
	for name, text := range map[string]string{
		"before a line":     repeated(60, line) + strings.Repeat("\x00", 3<<20) + repeated(60, line),
		"at the end of one": repeated(59, line) + line(59) + "\x00\x00\n" + repeated(60, line),
		"within one":        repeated(60, line) + strings.Replace(repeated(60, line), "/v1/7 ", "/v1/\x00 ", 1),
	} {
		out := mustRead(t, text, Options{})
		if len(out.health.Bounds) != 1 || out.health.Bounds[0].Count != 1 || len(out.rows) != 120 {
			t.Errorf("%s: %+v, %d lines", name, out.health.Bounds, len(out.rows))
		}
	}
}

func TestCarriageReturnsAlone(t *testing.T) {
	text := strings.ReplaceAll(repeated(50, func(i int) string { return plainLine(i, 200) }), "\n", "\r")
	if _, err := readAll(t, strings.NewReader(text), Options{}); err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "tr '\\r' '\\n'") {
		t.Errorf("%v", err)
	}
	if out := mustRead(t, strings.ReplaceAll(text, "\r", "\r\n"), Options{}); len(out.rows) != 50 {
		t.Errorf("CR and LF: %d lines", len(out.rows))
	}
}

// A key that --map names and no line has is told, with those that there are.
func TestMapWithAKeyThatIsNotThere(t *testing.T) {
	text := map[string]string{
		"JSON": repeated(50, func(i int) string {
			return fmt.Sprintf(`{"time":"2026-11-30T08:11:06Z","uri":"/%d","Status":200,"resp":{"ms":5}}`, i)
		}),
		"pairs": repeated(50, func(i int) string { return fmt.Sprintf(`time=2026-11-30T08:11:06Z uri=/%d Status=200 resp.ms=5`, i) }),
	}
	for name, log := range text {
		for spec, says := range map[string]string{
			"status=Status,dur=resp.ms:ms":         "",
			"status=resp.code":                     "no line has the key resp.code; the keys there are: resp.ms, status, time, uri",
			"status=Status,key=auth.id,ua=browser": "no line has the key auth.id, browser; the keys",
		} {
			f, err := ParseMap(spec)
			if err != nil {
				t.Fatal(err)
			}
			out := mustRead(t, log, Options{Format: f})
			notes := strings.Join(out.health.Notes, "; ")
			if !strings.Contains(notes, says) || says == "" && strings.Contains(notes, "--map") || len(out.rows) != 50 {
				t.Errorf("%s, %s: %d lines, %q", name, spec, len(out.rows), notes)
			}
		}
	}
}

// A query in a field of its own is part of what was asked, whatever holds the rest;
// what Azure's gateway adds to it is not.
func TestQueryInAFieldOfItsOwn(t *testing.T) {
	azure := func(uri, query string) string {
		return fmt.Sprintf(`{"timeStamp":"2026-11-30T08:11:06Z","category":"ApplicationGatewayAccessLog","properties":{"clientIP":"10.0.0.1","httpMethod":"GET","requestUri":%q,"requestQuery":%q,"httpStatus":200,"timeTaken":0.1,"host":"h"}}`, uri, query)
	}
	for name, c := range map[string]struct{ line, want string }{
		"plain":             {azure("/items", "page=2&x=1"), "/items?page=2&x=1"},
		"none":              {azure("/items", ""), "/items"},
		"the gateway's own": {azure("/items", "X-AzureApplicationGateway-CACHE-HIT=0&SERVER-ROUTED=10.4.0.4&X-AzureApplicationGateway-LOG-ID=874f&SERVER-STATUS=200"), "/items"},
		"both":              {azure("/items", "page=2&X-AzureApplicationGateway-CACHE-HIT=0&SERVER-STATUS=200&x=1"), "/items?page=2&x=1"},
		"there already":     {azure("/items?page=2", "page=2"), "/items?page=2"},
		"uri and args":      {`{"time":"2026-11-30T08:11:06Z","remote_addr":"10.0.0.1","method":"GET","uri":"/items","args":"page=2","status":200}`, "/items?page=2"},
	} {
		out := mustRead(t, c.line+"\n", Options{})
		if len(out.rows) != 1 || out.rows[0].target != c.want {
			t.Errorf("%s: %+v, want %s", name, out.rows, c.want)
		}
	}
}

// The pieces of lines that two streams of a container write at once are put together,
// each stream's own.
func TestPiecesOfTwoStreams(t *testing.T) {
	text := repeated(50, func(i int) string {
		a, b := plainLine(i, 200), strings.Replace(plainLine(i, 503), "/v1", "/err", 1)
		part := func(stream, mark, s string) string {
			return "2026-11-30T08:11:06.123456789Z " + stream + " " + mark + " " + s
		}
		return strings.Join([]string{part("stdout", "P", a[:20]), part("stderr", "P", b[:30]), part("stdout", "P", a[20:40]), part("stderr", "F", b[30:]), part("stdout", "F", a[40:])}, "\n")
	})
	out := mustRead(t, text, Options{})
	refused := 0
	for _, r := range out.rows {
		if r.Status == 503 && strings.HasPrefix(r.target, "/err/") {
			refused++
		}
	}
	if len(out.rows) != 100 || refused != 50 || out.health.SkippedTotal() != 0 {
		t.Errorf("%d lines, %d refused; %+v", len(out.rows), refused, out.health.Skipped)
	}
}

// What Ruby's Logger and Rails' tags put before a line is taken off.
func TestRubyLogger(t *testing.T) {
	const pairs = `method=GET path=/a format=json controller=C action=index status=429 duration=4.00 view=1.00 ip=192.0.2.1`
	for _, line := range []string{
		`I, [2026-11-30T08:11:06.123456 #123]  INFO -- : ` + pairs,
		`W, [2026-11-30T08:11:06.123456 #123]  WARN -- web: ` + pairs,
		`I, [2026-11-30T08:11:06.123456 #123]  INFO -- : [6f1c-aa] [10.0.0.7] ` + pairs,
		`I, [2026-11-30T08:11:06.123456 #123]  INFO -- : {"method":"GET","path":"/a","status":429,"duration_ms":4,"ip":"192.0.2.1"}`,
	} {
		out := mustRead(t, strings.Repeat(line+"\n", 3), Options{})
		if len(out.rows) != 3 {
			t.Errorf("%s: %d rows, %+v", line, len(out.rows), out.health.Skipped)
			continue
		}
		const end = utc0811*second + 123456e3
		if x := out.rows[0]; x.End != end || x.Start != end-4e6 || x.Status != 429 || x.target != "/a" || x.Src.Addr().String() != "192.0.2.1" {
			t.Errorf("%s: %+v %q", line, x.Exchange, x.target)
		}
	}
}
