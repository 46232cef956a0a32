package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stormwatch/sim"
)

var update = flag.Bool("update", false, "write the golden files")

func stormwatch(t *testing.T, args ...string) (out string, code int) {
	t.Helper()
	var b, errs bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(""), &b, &errs)
	if errs.Len() > 0 {
		t.Errorf("stderr: %s", errs.String())
	}
	return b.String(), code
}

func captures(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../testdata/pcaps/*/traffic.pcap")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d captures, %v", len(files), err)
	}
	return files
}

// sampled is one in four of the files, and all in the quality run: what holds of the
// reading of each takes minutes to show of all.
func sampled(files []string) (some []string) {
	if os.Getenv("STORMWATCH_QUALITY") == "1" {
		return files
	}
	for i := 0; i < len(files); i += 4 {
		some = append(some, files[i])
	}
	return some
}

// Each capture's report is the one kept beside it.
func TestWant(t *testing.T) {
	for _, file := range captures(t) {
		got, _ := stormwatch(t, "report", file)
		want := filepath.Join(filepath.Dir(file), "want.txt")
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
			t.Errorf("%s (-want +got, go test -update writes it):\n%s", file, d)
		}
	}
}

// Each capture is judged as the scenario that made it says, from its packets.
func TestScenariosFromPackets(t *testing.T) {
	for _, file := range captures(t) {
		sc, err := sim.Load(filepath.Join(filepath.Dir(file), "scenario.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		text, code := stormwatch(t, "report", "--format", "json", file)
		var r struct {
			Verdict  struct{ State, Cause string }
			Findings []struct{ Signature, Severity string }
		}
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		got := sim.Conclusion{State: r.Verdict.State, Cause: r.Verdict.Cause, Exit: code}
		for _, f := range r.Findings {
			if f.Severity == "info" {
				got.Remarks = append(got.Remarks, f.Signature)
			} else {
				got.Raised = append(got.Raised, f.Signature)
			}
		}
		for _, miss := range sc.Expect.Misses(got) {
			t.Errorf("%s: %s", file, miss)
		}
	}
}

// The JSON report is the same for any number of shards.
func TestShardsGiveTheSameReport(t *testing.T) {
	for _, file := range sampled(captures(t)) {
		one, _ := stormwatch(t, "report", "--format", "json", "--shards", "1", file)
		for _, n := range []string{"2", "7"} {
			if other, _ := stormwatch(t, "report", "--format", "json", "--shards", n, file); other != one {
				t.Errorf("%s: %s shards: %s", file, n, cmp.Diff(one, other))
			}
		}
	}
}

// The chains told of each capture are those of its truth.
func TestExchangesAgainstTruth(t *testing.T) {
	type row struct {
		Src     string
		ConnSeq int `json:"conn_seq"`
		Attempt int
	}
	key := func(r row) [2]any { return [2]any{r.Src, r.ConnSeq} }
	read := func(text string) map[[2]any]int {
		m := map[[2]any]int{}
		for line := range strings.Lines(text) {
			var r row
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			m[key(r)] = r.Attempt
		}
		return m
	}
	for _, file := range captures(t) {
		truth, err := os.ReadFile(filepath.Join(filepath.Dir(file), "truth.ndjson"))
		if err != nil {
			t.Fatal(err)
		}
		text, _ := stormwatch(t, "exchanges", file)
		want, got := read(string(truth)), read(text)
		right := 0
		for k, n := range want {
			if got[k] == n {
				right++
			}
		}
		t.Logf("%s: %d of %d attempt numbers exact", file, right, len(want))
		if len(got) != len(want) || float64(right) < .98*float64(len(want)) && chainsKnown(t, file) {
			t.Errorf("%s: %d exchanges of %d, %d attempt numbers exact", file, len(got), len(want), right)
		}
	}
}

// chainsKnown tells whether the attempts of a capture are to be told apart already.
func chainsKnown(t *testing.T, file string) bool {
	t.Helper()
	sc, err := sim.Load(filepath.Join(filepath.Dir(file), "scenario.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return !sc.Expect.ChainsLater
}

func TestDemoIsTheFixture(t *testing.T) {
	fixture, err := os.ReadFile("../../testdata/pcaps/lockstep-bare-429/traffic.pcap")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(fixture, incident) {
		t.Error("demo/incident.pcap differs from testdata/pcaps/lockstep-bare-429/traffic.pcap: copy it")
	}
}
