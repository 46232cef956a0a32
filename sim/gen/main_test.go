package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The committed files are what their scenarios make, and small enough to keep.
func TestCommittedFilesAreWhatTheScenariosMake(t *testing.T) {
	files, err := build("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	limits := map[string]int{"traffic.pcap": 300_000, "truth.ndjson": 200_000}
	for _, f := range files {
		committed, err := os.ReadFile(f.path)
		if err != nil || !bytes.Equal(committed, f.content) {
			t.Errorf("%s is not what its scenario makes (%v): run go generate ./sim", f.path, err)
		}
		if limit := limits[filepath.Base(f.path)]; limit > 0 && len(f.content) > limit {
			t.Errorf("%s: %d bytes, want at most %d", f.path, len(f.content), limit)
		}
	}
}

func TestRunSaysWhatIsWrong(t *testing.T) {
	if err := run(nil); err == nil || !strings.Contains(err.Error(), "usage") {
		t.Errorf("no argument: %v", err)
	}
	if err := run([]string{t.TempDir()}); err == nil || !strings.Contains(err.Error(), "no scenario.yaml") {
		t.Errorf("empty folder: %v", err)
	}
}
