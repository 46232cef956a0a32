package main

import (
	"flag"
	"os"
	"strings"
	"testing"

	"stormwatch/rules"
	"stormwatch/ui"
)

var updateKeys = flag.Bool("keys", false, "write the key table of the README")

const readme = "../../README.md"

// The key table of the README is made from the key map.
func TestReadmeKeys(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	const open, end = "<!-- keys -->\n", "<!-- /keys -->"
	before, rest, ok := strings.Cut(string(text), open)
	if !ok {
		t.Fatal("the README has no place for the key table")
	}
	table, after, _ := strings.Cut(rest, end)
	if want := ui.KeyTable(); table != want {
		if *updateKeys {
			if err := os.WriteFile(readme, []byte(before+open+want+end+after), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		t.Errorf("the README's keys differ from the key map: run go test ./cmd/stormwatch -run TestReadmeKeys -keys")
	}
}

// The README names every signature there is, in the words of its rule.
func TestReadmeSignatures(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	set, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range set.Signatures() {
		if !strings.Contains(string(text), "| "+s.ID+" | "+s.About+" | "+s.Severity+" |") {
			t.Errorf("the README does not have | %s | %s | %s |", s.ID, s.About, s.Severity)
		}
	}
}
