package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stormwatch/rules"
)

const findingsFile = "../../testdata/findings.txt"

// What an on-call reads of each rule is kept in one file, to be read through as
// such: what was seen, in words; the rule with its threshold; the measures with
// their n; how often the rule errs; and the clock of the input.
func TestEachRuleExplainsItself(t *testing.T) {
	set, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var done []string
	for _, s := range set.Signatures() {
		if slices.Contains(done, s.ID) {
			continue // another scope of the same rule
		}
		done = append(done, s.ID)
		text, clock, where := explained(t, s.ID)
		if text == "" {
			t.Errorf("%s: no capture of testdata/pcaps and no case shows what its finding looks like", s.ID)
			continue
		}
		b.WriteString(s.ID + "  (" + where + ", " + clock + ")\n" + text + "\n")
		for _, part := range []string{"\n      when ", "\n      who ", "\n      rule ", "\n      measured ", "\n      score ", "\n      errs ", "\n      read at ", "\n      see "} {
			if !strings.Contains(text, part) {
				t.Errorf("%s: the finding does not say%s:\n%s", s.ID, strings.TrimSpace(part), text)
			}
		}
		if !regexp.MustCompile(`, n [0-9,]+: `).MatchString(text) {
			t.Errorf("%s: no measure tells its n:\n%s", s.ID, text)
		}
		says := strings.Split(text, "\n")[1]
		if words := strings.Fields(says); len(words) < 5 || strings.ContainsAny(says, "{}_=<>") {
			t.Errorf("%s: not a sentence for someone woken up: %q", s.ID, says)
		}
	}
	if *update {
		if err := os.WriteFile(findingsFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(findingsFile)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("(-want +got, go test -update writes it):\n%s", d)
	}
}

// explained finds how the reports kept beside the captures tell of a signature, in
// the capture of that name if there is one, else how that on a case does; and the
// clock of its input.
func explained(t *testing.T, id string) (text, clock, where string) {
	t.Helper()
	files, err := filepath.Glob("../../testdata/pcaps/*/want.txt")
	if err != nil {
		t.Fatal(err)
	}
	named := filepath.Join("../../testdata/pcaps", id, "want.txt")
	slices.SortStableFunc(files, func(a, b string) int {
		if a == named || b == named {
			return map[bool]int{true: -1, false: 1}[a == named]
		}
		return strings.Compare(a, b)
	})
	for _, f := range files {
		report, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if text, clock = saidOf(string(report), id); text != "" {
			return text, clock, filepath.Base(filepath.Dir(f))
		}
	}
	for _, c := range fieldCases(t) {
		if !slices.ContainsFunc(c.Expect, func(f claim) bool { return f.Signature == id }) {
			continue
		}
		report, _ := stormwatch(t, append([]string{"report"}, c.files(t)["capture"]...)...)
		if text, clock = saidOf(report, id); text != "" {
			return text, clock, c.Name
		}
	}
	return "", "", ""
}

// saidOf is what a report says of a signature, and the clock of its input.
func saidOf(report, id string) (text, clock string) {
	at := regexp.MustCompile(`(?m)^  [01]\.\d\d  ` + id + `  `).FindStringIndex(report)
	if at == nil {
		return "", ""
	}
	text, _, _ = strings.Cut(report[at[0]:], "\n\n")
	return text + "\n", regexp.MustCompile(`clock [0-9.]+[a-zµ]+`).FindString(report)
}
