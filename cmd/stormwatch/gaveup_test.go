package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stormwatch/sim"
)

// A client that closes since its patience is over has had a failed attempt, and what it
// asks next of the same is a retry: in a capture, where it closes the connection, as in
// a log, where nginx writes 499.
func TestTimeoutsOfClientsAreFailures(t *testing.T) {
	sc, err := sim.Parse([]byte(`
name: impatient
seed: 5
start: 2026-03-02T03:10:00Z
duration: 60s
server: {limiter: {limit: 500, window: 1s}, faults: [{from: 10s, to: 50s, do: timeout}]}
groups:
  - {name: app, count: 20, agent: app/1, policy: fixed base=1s attempts=4, timeout: 700ms, paths: ["/a/{id}"], demand: [{rate: 0.2}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	res := sim.Run(sc)
	dir := t.TempDir()
	var packets, truth, log bytes.Buffer
	if err := res.WriteCapture(&packets); err != nil {
		t.Fatal(err)
	}
	if err := res.WriteTruth(&truth); err != nil {
		t.Fatal(err)
	}
	type row struct {
		Src     string
		ConnSeq int `json:"conn_seq"`
		Attempt int
		Outcome string
		Time    string
	}
	rows := func(text string) (out []row) {
		for line := range strings.Lines(text) {
			var r row
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			out = append(out, r)
		}
		return out
	}
	for i := range res.Rows {
		r := &res.Rows[i]
		status := r.Status
		if status == 0 {
			status = 499
		}
		fmt.Fprintf(&log, "%d.%03d 10.0.0.%d \"GET %s HTTP/1.1\" %d %d.%03d app/1\n", r.End/1e9, r.End/1e6%1000, r.Client+1, r.Path, status, (r.End-r.Start)/1e9, (r.End-r.Start)/1e6%1000)
	}
	want := map[[2]any]row{}
	retries := 0
	for _, r := range rows(truth.String()) {
		want[[2]any{r.Src, r.ConnSeq}] = r
		if r.Attempt > 1 {
			retries++
		}
	}
	for name, c := range map[string]struct {
		text []byte
		args []string
	}{
		"capture.pcap": {packets.Bytes(), nil},
		"access.log":   {log.Bytes(), []string{"--log-format", `nginx:$msec $remote_addr "$request" $status $request_time $http_user_agent`}},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, c.text, 0o600); err != nil {
			t.Fatal(err)
		}
		out, _ := stormwatch(t, append([]string{"exchanges", file}, c.args...)...)
		got := 0
		for _, r := range rows(out) {
			if r.Attempt > 1 {
				got++
			}
			if w, ok := want[[2]any{r.Src, r.ConnSeq}]; ok && r.ConnSeq > 0 && (w.Attempt != r.Attempt || w.Outcome == "no-answer" && r.Outcome != "no-answer") {
				t.Errorf("%s: %+v, want %+v", name, r, w)
			}
		}
		if retries < 50 || got < retries*95/100 || got > retries*105/100 {
			t.Errorf("%s: %d retries, want %d", name, got, retries)
		}
		report, _ := stormwatch(t, append([]string{"report", "--format", "json", file}, c.args...)...)
		var r struct {
			Verdict struct{ State, Cause string }
		}
		if err := json.Unmarshal([]byte(report), &r); err != nil {
			t.Fatal(err)
		}
		if r.Verdict.State != "overload" && r.Verdict.State != "storm" {
			t.Errorf("%s: %+v", name, r.Verdict)
		}
	}
}
