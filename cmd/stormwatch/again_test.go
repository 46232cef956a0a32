package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// piped is the report on a file that comes through a pipe, which is sorted before
// it is judged since it cannot be read again.
func piped(t *testing.T, file string, flags ...string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var b, errs bytes.Buffer
	run(context.Background(), append([]string{"report", "--format", "json", "x=-"}, flags...), bytes.NewReader(text), &b, &errs)
	if errs.Len() > 0 {
		t.Errorf("%s: stderr: %s", file, errs.String())
	}
	return b.String()
}

// A file is judged while it is read; that must not show.
func TestFilesAsPipes(t *testing.T) {
	logs, err := filepath.Glob("../../testdata/logs/*/*.log")
	if err != nil || len(logs) < 10 {
		t.Fatal(len(logs), err)
	}
	for _, file := range sampled(append(captures(t), logs...)) {
		got, _ := stormwatch(t, "report", "--format", "json", "x="+file)
		if want := piped(t, file); got != want {
			t.Errorf("%s: as a file and through a pipe the reports differ", file)
		}
	}
}

// A log whose last line belongs before all others must be read twice, and a line
// among many others that is a year off is set aside.
func TestFilesReadAgain(t *testing.T) {
	at := time.Date(2026, 3, 2, 3, 10, 0, 0, time.UTC)
	line := func(at time.Time, client, status int) string {
		return fmt.Sprintf("10.0.0.%d - - [%s] \"GET /v1/items/%d HTTP/1.1\" %d 0 \"-\" \"a/1\"\n", client, at.Format("02/Jan/2006:15:04:05 -0700"), client%7, status)
	}
	var b strings.Builder
	for i := range 60_000 {
		status := 200
		if i > 20_000 && i%3 == 0 {
			status = 429
		}
		b.WriteString(line(at.Add(time.Duration(i)*5*time.Millisecond), i%200, status))
	}
	for name, last := range map[string]time.Time{"earlier": at.Add(-time.Second), "a year earlier": at.AddDate(-1, 0, 0), "a year later": at.AddDate(1, 0, 0)} {
		file := filepath.Join(t.TempDir(), "access.log")
		if err := os.WriteFile(file, []byte(b.String()+line(last, 1, 200)), 0o600); err != nil {
			t.Fatal(err)
		}
		got, _ := stormwatch(t, "report", "--format", "json", "x="+file)
		if want := piped(t, file); got != want {
			t.Errorf("last line %s: as a file and through a pipe the reports differ", name)
		}
	}
}

// Who a client is, names, a part of the time and proxies do not show either in
// which way a file is judged, though some of them are known only at its end.
func TestFilesAsPipesWithFlags(t *testing.T) {
	names := filepath.Join(t.TempDir(), "names")
	if err := os.WriteFile(names, []byte("203.0.113.7,office\nclient-a/1.0,batch\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"../../testdata/pcaps/office-nat/traffic.pcap", "../../testdata/pcaps/lockstep-bare-429/traffic.pcap", "../../testdata/logs/nginx-combined/gen-torture.log"} {
		if _, err := os.Stat(file); err != nil {
			t.Fatal(err)
		}
		for _, flags := range [][]string{
			{"--client-by", "agent", "--names", names},
			{"--client-by", "path:1"},
			{"--client-by", "addr/24"},
			{"--since", "20s"},
			{"--until", "10s"},
			{"--trusted-proxy", "203.0.113.0/24", "--names", names},
		} {
			got, code := stormwatch(t, append([]string{"report", "--format", "json", "x=" + file}, flags...)...)
			if code == 1 || code == 2 || len(got) < 100 {
				t.Errorf("%s %v: exit code %d\n%s", file, flags, code, got)
			}
			if want := piped(t, file, flags...); got != want {
				t.Errorf("%s %v: as a file and through a pipe the reports differ", file, flags)
			}
		}
	}
}
