package stub_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

var (
	update = flag.Bool("update", false, "keep the captures of the clients run as those of testdata")
	only   = flag.String("only", "", "run the clients whose names match this expression alone")
	atOnce = flag.Int("at-once", 16, "run so many clients beside each other: they mostly wait")
)

// TestRealClients runs every client afresh and judges it as the kept captures are
// judged, only that waits may be later on a busy machine.
func TestRealClients(t *testing.T) {
	if os.Getenv("STORMWATCH_E2E") == "" {
		t.Skip("STORMWATCH_E2E is not set")
	}
	chosen := longestFirst(regexp.MustCompile(*only))
	goClients := installed(t, chosen)
	type result struct {
		client  *client
		truth   *truth
		capture []byte
		err     error
	}
	var (
		results []result
		slots   = make(chan struct{}, *atOnce)
		wait    sync.WaitGroup
		mu      sync.Mutex
	)
	for _, c := range chosen {
		for _, mode := range modes {
			dir := t.TempDir()
			slots <- struct{}{}
			wait.Go(func() {
				defer func() { <-slots }()
				truth, capture, err := c.run(context.Background(), mode, goClients, dir)
				mu.Lock()
				defer mu.Unlock()
				results = append(results, result{c, truth, capture, err})
			})
		}
	}
	wait.Wait()
	var kept []truth
	requests, linked := 0, 0
	for _, r := range results {
		if r.err != nil {
			t.Error(r.err)
			continue
		}
		kept = append(kept, *r.truth)
		if *update {
			keep(t, r.truth, r.capture)
		}
		n, right := judge(t, r.client, r.truth, r.capture, busy)
		requests += n
		linked += right
	}
	// Waits are drawn anew each time, and a chain is a matter of probability: a few
	// requests of all may be read otherwise. The kept captures have no such leave.
	if share := float64(linked) / float64(max(requests, 1)); share < .95 {
		t.Errorf("the attempt number is right for %.3f of %d requests, want .95", share, requests)
	}
	if *update && len(kept) > 0 {
		keepTruth(t, kept)
		keepReadme(t)
	}
	t.Logf("%d runs of %d clients", len(results), len(results)/len(modes))
}

// longestFirst orders the clients of some names by how long they may take.
func longestFirst(names *regexp.Regexp) (cs []*client) {
	for i := range clients {
		if names.MatchString(clients[i].name) {
			cs = append(cs, &clients[i])
		}
	}
	length := func(c *client) (sum float64) {
		for _, s := range spans(c.waits) {
			sum += s.high
		}
		return sum
	}
	slices.SortStableFunc(cs, func(a, b *client) int { return int(length(b) - length(a)) })
	return cs
}

// installed makes sure that every program is there, and returns that of the Go
// clients. What is missing is a failure: a client that was not run proves nothing.
func installed(t *testing.T, chosen []*client) (goClients string) {
	t.Helper()
	kinds := map[string]bool{}
	for _, c := range chosen {
		kinds[c.program.kind] = true
		if c.program.kind == "command" {
			if _, err := exec.LookPath(c.program.args[0]); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := os.Stat(absolute("js/node_modules")); err != nil && kinds["js"] {
		t.Errorf("%v: run npm ci in %s", err, absolute("js"))
	}
	if kinds["go"] {
		goClients = filepath.Join(t.TempDir(), "clients")
		build := exec.Command("go", "build", "-o", goClients, ".")
		build.Dir = absolute("go")
		if out, err := build.CombinedOutput(); err != nil {
			t.Errorf("build the Go clients: %v\n%s", err, out)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
	return goClients
}

func keep(t *testing.T, tr *truth, capture []byte) {
	t.Helper()
	if err := os.WriteFile(tr.path(), capture, 0o666); err != nil {
		t.Error(err)
	}
}

// keepTruth replaces what is known of the clients that were run.
func keepTruth(t *testing.T, fresh []truth) {
	t.Helper()
	all := slices.DeleteFunc(truths(t), func(old truth) bool {
		return slices.ContainsFunc(fresh, func(f truth) bool { return f.Client == old.Client && f.Mode == old.Mode })
	})
	all = append(all, fresh...)
	slices.SortFunc(all, func(a, b truth) int { return strings.Compare(a.path(), b.path()) })
	var b []byte
	for _, tr := range all {
		line, err := json.Marshal(tr)
		if err != nil {
			t.Fatal(err)
		}
		b = append(append(b, line...), '\n')
	}
	if err := os.WriteFile(filepath.Join(folder, "truth.ndjson"), b, 0o666); err != nil {
		t.Error(err)
	}
}
