package report_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"stormwatch/detect"
	"stormwatch/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

var forms = map[string]report.Form{
	"text": report.Text, "brief": report.Brief, "json": report.JSON,
	"markdown": report.Markdown, "html": report.HTML, "junit": report.JUnit, "openmetrics": report.OpenMetrics,
}

func render(t testing.TB, form report.Form, s *detect.Snapshot, o report.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := form(&b, s, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; go test ./report -update writes it anew (-want +got):\n%s", file, diff)
	}
}

func TestGolden(t *testing.T) {
	for situation, s := range snapshots() {
		for _, name := range []string{"text", "brief", "json"} {
			form := forms[name]
			golden(t, situation+"."+name, render(t, form, s, report.Options{Version: "v0"}))
		}
	}
	golden(t, "storm-options.text", render(t, report.Text, storm(), report.Options{Top: 1, Redact: true, Color: true, Snippets: true}))
	golden(t, "storm-options.json", render(t, report.JSON, storm(), report.Options{Top: 1, Redact: true}))
}

// What someone woken at night needs stands in the text, in this order.
func TestTextOrder(t *testing.T) {
	text := render(t, report.Text, storm(), report.Options{})
	at := 0
	for _, want := range []string{
		"STORM", "the clients' behaviour", "0.94 high", "2026-03-02 03:10:30 UTC", "growing", "56 of 67 clients", "do first", "do not",
		"5,070 requests", "3,670 (72 % of the traffic)", "0.98", "lockstep", "jitter < 0.05", "324 sd", "frame 578/637",
		"<= 03:10:00 UTC, input starts here", "10.1.0.8 and 4 more", "rising-share-after-burst", "--capacity",
		"acme", "victim", "65 others", "spread-hint", "remove the header rule", "web1", "12 dropped by the kernel",
	} {
		i := strings.Index(text[at:], want)
		if i < 0 {
			t.Errorf("%q is not there after what comes before it", want)
			continue
		}
		at += i
	}
}

// A state can be told without colour, and colour is only there when asked for.
func TestColor(t *testing.T) {
	for state, want := range map[detect.State]string{
		detect.Storm: "▲ STORM", detect.Overloaded: "■ OVERLOAD", detect.Watch: "● WATCH",
		detect.Recovering: "◌ RECOVERING", detect.Clear: "✓ CLEAR", detect.Unknown: "? UNKNOWN",
	} {
		s := &detect.Snapshot{Verdict: detect.Verdict{State: state}}
		for _, form := range []report.Form{report.Text, report.Brief} {
			if got := render(t, form, s, report.Options{}); !strings.HasPrefix(got, want) || strings.Contains(got, "\x1b") {
				t.Errorf("%v: %q", state, got)
			}
			if got := render(t, form, s, report.Options{Color: true}); !strings.HasPrefix(got, "\x1b[1") || strings.Count(got, "\x1b") != 2 {
				t.Errorf("%v in colour: %q", state, got)
			}
		}
	}
}

// Overload and unknown are never shown as calm, and what is not known never as 0.
func TestUnknownIsNotZero(t *testing.T) {
	for _, s := range []*detect.Snapshot{unknown(), {}} {
		text := render(t, report.Text, s, report.Options{})
		for _, calm := range []string{"CLEAR", "✓", "0.0/s", "0.00x", "0 % of"} {
			if strings.Contains(text, calm) {
				t.Errorf("%q in\n%s", calm, text)
			}
		}
	}
	s := clear()
	s.Clients[0].Amplification, s.Clients[0].GapMedianS = detect.Number{}, detect.Number{}
	if text := render(t, report.Text, s, report.Options{}); strings.Count(text, "–") < 4 {
		t.Errorf("unknown figures of a client want a dash:\n%s", text)
	}
}

func TestBrief(t *testing.T) {
	for name, s := range snapshots() {
		text := render(t, report.Brief, s, report.Options{})
		if n := strings.Count(text, "\n"); n < 1 || n > 5 || !strings.HasSuffix(text, "\n") {
			t.Errorf("%s: %d lines", name, n)
		}
	}
}

// Names and addresses of clients are gone from a redacted report; it still tells
// which rows are of one client.
func TestRedact(t *testing.T) {
	for name, form := range forms {
		text := render(t, form, storm(), report.Options{Redact: true})
		for _, secret := range []string{"10.1.0.36", "10.2.0.5", "10.1.0.1", "acme", "SSH-2.0"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s: %s in\n%s", name, secret, text)
			}
		}
		if name != "brief" && name != "junit" && !strings.Contains(text, "client-1") {
			t.Errorf("%s: no client-1", name)
		}
	}
}

// Top moves clients into the sum of the others: no attempt is lost.
func TestTop(t *testing.T) {
	text := render(t, report.Text, storm(), report.Options{Top: 1})
	for _, want := range []string{"1 of 67", "66 others", "5,060"} { // 5,054 + 6
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// Nothing is wider than 100 columns, whatever a client calls itself; snippets
// alone are not wrapped.
func TestWidth(t *testing.T) {
	for name, s := range snapshots() {
		checkWidth(t, name, render(t, report.Text, s, report.Options{}))
	}
	long := storm()
	fill(long, strings.Repeat("word and a-longer-word ", 40)+strings.Repeat("unbroken", 60))
	checkWidth(t, "long", render(t, report.Text, long, report.Options{}))
}

func checkWidth(t *testing.T, name, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 100 {
			t.Errorf("%s: %d columns: %s", name, n, line)
		}
		if strings.HasSuffix(line, " \n") {
			t.Errorf("%s: blanks at the end: %q", name, line)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestWriterError(t *testing.T) {
	for name, form := range forms {
		if err := form(broken{}, storm(), report.Options{}); err == nil {
			t.Errorf("%s: a failed write must be told", name)
		}
	}
}

func TestFormOf(t *testing.T) {
	for _, name := range report.Names() {
		if report.FormOf(name) == nil {
			t.Errorf("no form %s", name)
		}
	}
	if report.FormOf("pdf") != nil {
		t.Error("a form that does not exist")
	}
}
