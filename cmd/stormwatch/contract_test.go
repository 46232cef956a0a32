package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Programs read the report: one whole, as it is.
func TestWantJSON(t *testing.T) {
	const want = "testdata/retry-after-ignored.json"
	got, _ := stormwatch(t, "report", "--format", "json", "--top", "3", "../../testdata/pcaps/retry-after-ignored/traffic.pcap")
	got = regexp.MustCompile(`"version": ?"[^"]*"`).ReplaceAllString(got, `"version": "any"`)
	if *update {
		if err := os.WriteFile(want, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(want)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(text), got); d != "" {
		t.Errorf("(-want +got, go test -update writes it):\n%s", d)
	}
}

// rowKeys are those that every row of exchanges has, of any source.
var rowKeys = []string{
	"at", "attempt", "chain", "client", "confidence", "end", "evidence", "hint", "host", "method", "outcome", "path", "reason", "source", "src", "status", "time",
}

// Every row of exchanges has every key, of its type and within its range, in
// start order; attempts of a chain count from one.
func TestExchangesContract(t *testing.T) {
	capturePlace, logPlace := regexp.MustCompile(`^frame \d+(/\d+)?$`), regexp.MustCompile(`^line \d+$`)
	address := regexp.MustCompile(`^(\d+\.\d+\.\d+\.\d+|\[[0-9a-f:]+\]):\d+$`)
	for _, file := range append(captures(t), "../../testdata/logs/nginx-first/access.log") {
		isLog := strings.HasSuffix(file, ".log")
		keys, place := slices.Clone(rowKeys), logPlace
		if !isLog {
			keys, place = append(keys, "conn_seq"), capturePlace
		}
		slices.Sort(keys)
		out, code := stormwatch(t, "exchanges", file)
		if code != 0 {
			t.Errorf("%s: exit code %d", file, code)
		}
		var before time.Time
		length := map[string]int{}
		counted := isLog || chainsKnown(t, file)
		for line := range strings.Lines(out) {
			var all map[string]json.RawMessage
			var row struct {
				Time, End                                               time.Time
				Client, Src, Method, Outcome, Reason, Chain, Source, At string
				Path                                                    string
				ConnSeq                                                 int `json:"conn_seq"`
				Status, Attempt                                         int
				Hint                                                    struct {
					State, Kind string
					Wait        *float64 `json:"wait_s"`
				}
				Evidence   string
				Confidence float64
			}
			if err := json.Unmarshal([]byte(line), &all); err != nil {
				t.Fatalf("%s: %v in %s", file, err, line)
			}
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatalf("%s: %v in %s", file, err, line)
			}
			want := keys
			if strings.Contains(file, "grpc") && row.Outcome == "answered" { // its trailers tell more
				want = slices.Sorted(slices.Values(append(slices.Clone(keys), "grpc_status")))
			}
			if got := slices.Sorted(maps.Keys(all)); !slices.Equal(got, want) {
				t.Fatalf("%s: keys %v, want %v", file, got, want)
			}
			length[row.Chain]++
			switch {
			case row.Time.Before(before) || row.End.Before(row.Time),
				row.Client == "" || row.Source == "" || row.Chain == "" || row.Outcome == "" || row.Reason == "",
				row.Method != "GET" && row.Method != "POST", !strings.HasPrefix(row.Path, "/"),
				counted && row.Attempt != length[row.Chain],
				row.Confidence < 0 || row.Confidence > 1, !regexp.MustCompile(`^E[0-5]$`).MatchString(row.Evidence),
				!place.MatchString(row.At), !isLog && (row.ConnSeq < 1 || !address.MatchString(row.Src)),
				isLog && row.Hint.State != "not-observable",
				row.Hint.State == "present" && (row.Hint.Wait == nil) != (row.Hint.Kind == "malformed"):
				t.Fatalf("%s: %s", file, line)
			}
			before = row.Time
		}
		if len(length) < 40 {
			t.Errorf("%s: %d chains", file, len(length))
		}
	}
}

// A named source is another hop: it is told under its name, and not added.
func TestNamedSources(t *testing.T) {
	log := "../../testdata/logs/nginx-first/access.log"
	pcap := "../../testdata/pcaps/lockstep-bare-429/traffic.pcap"
	text, code := stormwatch(t, "report", "--format", "json", "edge="+pcap, "web1="+log)
	var r struct {
		Sources []struct{ Name, Kind, Vantage string }
		Totals  struct{ Exchanges int }
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Sources) != 2 || r.Sources[0].Name != "edge" || r.Sources[1].Name != "web1" || r.Sources[0].Vantage == r.Sources[1].Vantage {
		t.Errorf("%+v", r.Sources)
	}
	alone, _ := stormwatch(t, "exchanges", pcap)
	if n := strings.Count(alone, "\n"); r.Totals.Exchanges != n || code != exitAlarm {
		t.Errorf("%d exchanges with a second vantage, %d without; exit code %d", r.Totals.Exchanges, n, code)
	}
}

// Two captures at one hop, of some clients each, are what one capture of all the
// clients is, whichever is read faster.
func TestManySources(t *testing.T) {
	ask := func(i, _ int) string {
		return fmt.Sprintf("GET /a HTTP/1.1\r\nHost: api\r\nUser-Agent: a/%d\r\n\r\n", i)
	}
	answer := func(i, s int) string {
		if (i+s)%3 == 0 {
			return "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n"
		}
		return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	}
	place := regexp.MustCompile(`"at":"[^"]*"`)
	rows := func(files ...string) string {
		out, code := stormwatch(t, append([]string{"exchanges"}, files...)...)
		if code != 0 {
			t.Fatalf("exit code %d", code)
		}
		return place.ReplaceAllString(out, "")
	}
	one, other, all := talk(t, 0, 20, 15, ask, answer), talk(t, 20, 40, 15, ask, answer), talk(t, 0, 40, 15, ask, answer)
	want := rows(all)
	if n := strings.Count(want, "\n"); n != 40*15 {
		t.Fatalf("%d rows", n)
	}
	for range 3 {
		if d := cmp.Diff(want, rows(one, other)); d != "" {
			t.Fatalf("two sources (-one +two):\n%.2000s", d)
		}
	}
}
