package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func placed(t *testing.T, text, start, end string, zone *time.Location) (out []string) {
	t.Helper()
	m, err := readMarks(strings.NewReader(text), zone)
	if err != nil {
		t.Fatal(err)
	}
	parse := func(s string) int64 {
		at, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return at.UnixNano()
	}
	for _, e := range m.on(parse(start), parse(end)) {
		out = append(out, time.Unix(0, e.At).UTC().Format(time.RFC3339)+" "+e.Text)
	}
	return out
}

// A time of day is of the input's day: the first within it, also past midnight,
// else that of its first day.
func TestEventTimes(t *testing.T) {
	berlin := time.FixedZone("CET", 3600)
	for _, c := range []struct {
		line, start, end string
		zone             *time.Location
		want             string
	}{
		{"2026-03-02T03:10:00Z deploy", "2026-03-02T03:00:00Z", "2026-03-02T04:00:00Z", time.UTC, "2026-03-02T03:10:00Z deploy"},
		{"2026-03-02T03:10:00+01:00, a b", "2026-03-02T03:00:00Z", "2026-03-02T04:00:00Z", time.UTC, "2026-03-02T02:10:00Z a b"},
		{"03:10:00 deploy", "2026-03-02T03:00:00Z", "2026-03-02T04:00:00Z", time.UTC, "2026-03-02T03:10:00Z deploy"},
		{"03:10\tlimit 40/s", "2026-03-02T03:00:00Z", "2026-03-02T04:00:00Z", time.UTC, "2026-03-02T03:10:00Z limit 40/s"},
		{"02:50:00 before it", "2026-03-02T03:00:00Z", "2026-03-02T04:00:00Z", time.UTC, "2026-03-02T02:50:00Z before it"},
		{"00:10:00 next day", "2026-03-01T23:50:00Z", "2026-03-02T00:30:00Z", time.UTC, "2026-03-02T00:10:00Z next day"},
		{"04:10:00 there", "2026-03-02T03:00:00Z", "2026-03-02T04:00:00Z", berlin, "2026-03-02T03:10:00Z there"},
		{"00:30:00 there", "2026-03-01T23:20:00Z", "2026-03-02T01:00:00Z", berlin, "2026-03-01T23:30:00Z there"},
	} {
		if got := placed(t, "# what happened\n\n"+c.line+"\n", c.start, c.end, c.zone); len(got) != 1 || got[0] != c.want {
			t.Errorf("%q: %v, want %s", c.line, got, c.want)
		}
	}
}

// What cannot be read names its line and what is wanted.
func TestEventErrors(t *testing.T) {
	for text, want := range map[string]string{
		"03:10:00 a\nnoon b":               `line 2: "noon": a time is wanted first`,
		"\n\n03:10:00":                     `line 3: "03:10:00": a text is wanted`,
		"25:00:00 x":                       "line 1: ",
		strings.Repeat("x", 100_000):       "line 1: longer than",
		strings.Repeat("03:10 x\n", 10001): "line 10001: more than 10000",
	} {
		if _, err := readMarks(strings.NewReader(text), time.UTC); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

func FuzzEvents(f *testing.F) {
	for _, s := range []string{"03:10:00 deploy\n", "2026-03-02T03:10:00Z a\tb\n#c\n", "03:10\t\x1b[2J\n", "9999-12-31T23:59:59Z x\n", "0000-01-01T00:00:00Z y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := readMarks(strings.NewReader(s), time.UTC)
		if err != nil {
			return
		}
		for _, e := range m.on(1772420400e9, 1772424000e9) {
			if e.Text == "" || e.Kind == "" {
				t.Errorf("%+v", e)
			}
		}
	})
}

const lockstep = "../../testdata/pcaps/lockstep-bare-429/traffic.pcap"

// Marks stand in every report that has room for them, and what they say is not
// taken for the program's own words.
func TestEventsInReports(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events")
	if err := os.WriteFile(file, []byte("03:10:29 deploy \x1b[2J|<b>\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string]string{
		"text": "deploy ·[2J|<b>  (1s before the onset)", "json": `"text": "deploy ·[2J|<b>"`, "markdown": `**03:10:29 deploy ·\[2J\|&lt;b&gt;**`, "html": "deploy ·[2J|&lt;b&gt;",
		"svg": "▼",
	} {
		got, _ := stormwatch(t, "report", "--format", format, "--events", file, lockstep)
		if !strings.Contains(got, want) {
			t.Errorf("%s: %q is not in it: %s", format, want, grep(got, "deploy"))
		}
		if strings.Contains(got, "\x1b") {
			t.Errorf("%s: an escape sequence passes", format)
		}
	}
}

func grep(text, word string) (out string) {
	for line := range strings.Lines(text) {
		if strings.Contains(line, word) {
			out += line
		}
	}
	return out
}

// No client is named in any form of a redacted report of a capture, of its console
// in lines, or of its exchanges.
func TestRedactEverywhere(t *testing.T) {
	for _, args := range [][]string{
		{"report", "--format", "text"},
		{"report", "--format", "brief"},
		{"report", "--format", "json"},
		{"report", "--format", "markdown"},
		{"report", "--format", "html"},
		{"report", "--format", "junit"},
		{"report", "--format", "openmetrics"},
		{"report", "--format", "svg"},
		{"report", "--format", "svg", "--screen", "chains"},
		{"watch", "--plain"},
		{"exchanges"},
	} {
		got, _ := stormwatch(t, append(args, "--redact-clients", lockstep)...)
		if i := strings.Index(got, "10.1.0."); i >= 0 || len(got) < 100 {
			t.Errorf("%v: %q", args, got[max(0, i-60):min(len(got), i+60)])
		}
	}
	clear, _ := stormwatch(t, "exchanges", lockstep)
	hidden, _ := stormwatch(t, "exchanges", "--redact-clients", lockstep)
	if strings.Count(clear, "\n") != strings.Count(hidden, "\n") || !strings.Contains(hidden, `"client":"client-1"`) || !strings.Contains(hidden, `"chain":"client-2#1"`) {
		t.Errorf("the exchanges of clients cannot be told apart: %.300s", hidden)
	}
}
