package rules

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// The page is made of the rules: who changes these makes it anew.
func TestDocsAreInStep(t *testing.T) {
	var b bytes.Buffer
	if err := Docs(&b, load(t)); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../docs/signatures.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, b.Bytes()) {
		t.Error("docs/signatures.md is not that of the rules: go run ./cmd/stormwatch rules docs > docs/signatures.md")
	}
}

// Every signature's page names its condition, what its figures mean, how often it
// is wrong and what to do; every link leads to a heading.
func TestDocsAreWhole(t *testing.T) {
	set := load(t)
	var b bytes.Buffer
	if err := Docs(&b, set); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, s := range set.Signatures() {
		_, page, _ := strings.Cut(text, "\n## "+s.ID+"\n")
		page, _, _ = strings.Cut(page, "\n## ")
		for _, want := range []string{s.Says, s.When, s.FalsePositives, "[" + s.Mitigations[0] + "](#"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: %q is not on its page", s.ID, want)
			}
		}
		for _, id := range s.uses {
			if !strings.Contains(page, "`"+features[id].Name+"`") || !strings.Contains(page, features[id].Meaning) {
				t.Errorf("%s: what %s means is not on its page", s.ID, features[id].Name)
			}
		}
	}
	for rest := text; ; {
		_, after, ok := strings.Cut(rest, "](#")
		if !ok {
			break
		}
		anchor, _, _ := strings.Cut(after, ")")
		if !strings.Contains(text, "\n## "+anchor+"\n") {
			t.Errorf("a link to %s, which is not there", anchor)
		}
		rest = after
	}
}
