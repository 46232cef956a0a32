package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"stormwatch/capture/packet/write"
)

// talk writes a capture of the clients from one number up to another, who ask
// once a second for some seconds; ask and answer make the bytes of each exchange.
func talk(t *testing.T, from, to, seconds int, ask, answer func(client, second int) string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := write.New(&b)
	if err != nil {
		t.Fatal(err)
	}
	const start = 1_796_006_466e9
	for i := from; i < to; i++ {
		at := int64(start) + int64(i)*7e6
		client := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, byte(i / 250), byte(i%250 + 1)}), uint16(40000+i))
		c := w.Dial(at, client, netip.MustParseAddrPort("10.0.0.1:80"))
		for s := range seconds {
			t0 := at + 1e6 + int64(s)*1e9
			c.Send(t0, true, []byte(ask(i, s)))
			c.Send(t0+3e6, false, []byte(answer(i, s)))
		}
		c.Close(at + int64(seconds)*1e9)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "traffic.pcap")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// outputs are all the ways of telling what a source holds.
func outputs(source string) map[string][]string {
	return map[string][]string{
		"text":      {"report", "--snippets", source},
		"brief":     {"report", "--format", "brief", source},
		"json":      {"report", "--format", "json", source},
		"exchanges": {"exchanges", source},
		"watch":     {"watch", source},
		"plain":     {"watch", "--plain", source},
	}
}

// bare fails when a text could move a cursor, reorder a line or is no UTF-8.
func bare(t *testing.T, what, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s: not UTF-8", what)
	}
	for i, r := range text {
		if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) {
			t.Errorf("%s: %U at byte %d: %q", what, r, i, text[max(0, i-40):min(len(text), i+40)])
			return
		}
	}
}

// texts calls f with every string of a JSON value.
func texts(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, e := range v {
			texts(e, f)
		}
	case map[string]any:
		for k, e := range v {
			f(k)
			texts(e, f)
		}
	}
}

const evil = "\x1b[2J\x1b]2;owned\x07\u009b31m\u202egnp\u2066\x9b1m\x00\x7f\u2028"

// Bytes of a capture that would repaint a terminal reach no output, in JSON not
// even after it is decoded; the traffic is judged all the same.
func TestHostileCapture(t *testing.T) {
	file := talk(t, 0, 40, 12,
		func(i, s int) string {
			return fmt.Sprintf("GET /a%s?token=secret-%d&q=%s HTTP/1.1\r\nHost: api%s.example\r\nUser-Agent: bot%s/1\r\nAuthorization: Bearer top-secret-%d\r\nX-Request-Id: %s%d\r\n\r\n",
				"\x1b[31m\u202e", i, "\u009b2J", evil, evil, i, evil, i)
		},
		func(int, int) string {
			return "HTTP/1.1 429 Slow\x1b[1m\r\nRetry-After: 9" + evil + "\r\nRateLimit: " + evil + "\r\nContent-Length: 0\r\n\r\n"
		})
	for what, args := range outputs(file) {
		out, _ := stormwatch(t, args...)
		bare(t, what, out)
		if strings.Contains(out, "top-secret") || strings.Contains(out, "secret-1") {
			t.Errorf("%s: a credential is told", what)
		}
		if what == "json" || what == "exchanges" {
			rows := 0
			for dec := json.NewDecoder(strings.NewReader(out)); dec.More(); rows++ {
				var v any
				if err := dec.Decode(&v); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				texts(v, func(s string) {
					bare(t, what+", decoded", strings.ReplaceAll(s, "\t", " ")) // snippets are indented
				})
			}
			if what == "exchanges" && rows != 40*12 {
				t.Errorf("%d rows of %d exchanges", rows, 40*12)
			}
		} else if !strings.Contains(strings.ToLower(out), "storm") && !strings.Contains(strings.ToLower(out), "overload") {
			t.Errorf("%s: refusals only, yet:\n%s", what, out)
		}
	}
}

// A file's name is no safer than what is in it, nor is the name given to it.
func TestHostileNames(t *testing.T) {
	fixture, err := os.ReadFile("../../testdata/pcaps/healthy/traffic.pcap")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "a\x1b[31m\u202e\x9bb.pcap")
	if err := os.WriteFile(file, fixture, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{file, "we\x1b[2Jb\u202e=" + file} {
		for what, args := range outputs(source) {
			out, code := stormwatch(t, args...)
			if bare(t, what, out); code != 0 {
				t.Errorf("%s: exit code %d", what, code)
			}
		}
	}
	for _, args := range [][]string{
		{"report", file + "\x1b[2J"},
		{"--\x1b[2J\u202e"},
		{"report", "--fail-on", "\x1b[2J", file},
		{"rules", "show", "\x1b]2;x\x07"},
		{"report", "http://\x1b[2J/"},
		{"rules", "check", "\x1b[2J"},
		{"report", "--rules", "\x1b[2J", file},
		{"rules", "\x1b[2J"},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), args, strings.NewReader(""), &out, &errs)
		if bare(t, fmt.Sprintf("%q", args), errs.String()+out.String()); code != exitError && code != exitUsage || errs.Len() == 0 {
			t.Errorf("%q: exit code %d, %q", args, code, errs.String())
		}
	}
}

// A header of 64 KB costs its own exchange's details at most, and is told or
// read; the exchanges around it are read.
func TestLongHeader(t *testing.T) {
	const n, seconds = 4, 12
	file := talk(t, 0, n, seconds,
		func(i, s int) string {
			head := "GET /long HTTP/1.1\r\nHost: api\r\nUser-Agent: a/1\r\n"
			if i == 0 && s == 5 {
				head += "X-Long: " + strings.Repeat("x", 64<<10) + "\r\n"
			}
			return head + "\r\n"
		},
		func(int, int) string { return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" })
	out, _ := stormwatch(t, "exchanges", file)
	answered := strings.Count(out, `"status":200`)
	t.Logf("%d of %d exchanges read", answered, n*seconds)
	if answered < n*seconds-1 {
		t.Errorf("%d of %d exchanges read", answered, n*seconds)
	}
	if text, _ := stormwatch(t, "report", file); answered < n*seconds && !strings.Contains(text, "skipped") {
		t.Errorf("what was lost is not told:\n%s", text)
	}
}
