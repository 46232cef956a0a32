package main

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var updatePictures = flag.Bool("pictures", false, "write the pictures of the README anew")

// The pictures of the README are screens of this program, of an incident that is
// kept beside it.
func TestPictures(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n## ")
	if !strings.Contains(first, "](docs/overview.svg)") {
		t.Error("the README does not begin with a picture")
	}
	for _, p := range []struct{ screen, until, file string }{
		{"overview", "2026-03-02T03:10:39Z", lockstep},
		{"chains", "2026-03-02T14:30:40Z", "../../testdata/pcaps/retry-after-ignored/traffic.pcap"},
		{"fix", "2026-03-02T03:10:39Z", lockstep},
	} {
		got, code := stormwatch(t, "report", "--format", "svg", "--screen", p.screen, "--size", "120x34", "--until", p.until, "--fail-on", "never", p.file)
		if code != exitOK {
			t.Errorf("%s: code %d", p.screen, code)
		}
		file := filepath.Join("..", "..", "docs", p.screen+".svg")
		if *updatePictures {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != got {
			t.Errorf("%s is not what the console draws: go generate ./ui", file)
		}
		for dec := xml.NewDecoder(strings.NewReader(got)); ; {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
		}
	}
}
