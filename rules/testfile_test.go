package rules

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const goodTests = `rules: mine
tests:
  - name: first
    capacity: 40
    exchanges:
      - 0s 10.0.0.1 GET / 200
    state: storm
    cause: client-behaviour
    findings:
      - mine
      - {signature: lockstep, severity: high, scope: group, clients: 40, by: 45s}
    never: [hint-zero]
  - name: second
    files: [a.pcap, sub/b.log]
    only: true
`

func TestTestFile(t *testing.T) {
	dir := folder(t, "mine/a.yaml", good, "tests.yaml", goodTests)
	f, problems := ReadTests(filepath.Join(dir, "tests.yaml"))
	if problems != nil {
		t.Fatal(problems)
	}
	if len(f.Tests) != 2 || f.Dirs[0] != filepath.Join(dir, "mine") {
		t.Fatalf("%+v", f)
	}
	a, b := f.Tests[0], f.Tests[1]
	if a.Capacity != 40 || a.State != "storm" || a.Cause != "client-behaviour" || a.Exchanges[0].Text != "0s 10.0.0.1 GET / 200" || a.Line != 3 {
		t.Errorf("%+v", a)
	}
	if want := []Expected{{Signature: "mine"}, {"lockstep", "high", "group", 40, 45 * time.Second}}; !slices.Equal(a.Findings, want) {
		t.Errorf("%+v", a.Findings)
	}
	if !b.Only || !slices.Equal(b.Files, []string{filepath.Join(dir, "a.pcap"), filepath.Join(dir, "sub/b.log")}) {
		t.Errorf("%+v", b)
	}
}

func TestMistakesInTestFiles(t *testing.T) {
	for name, c := range map[string]struct {
		old, new     string
		line, column int
		want         string
	}{
		"key":             {"state: storm", "stat: storm", 7, 5, `meant "state"`},
		"state":           {"state: storm", "state: strom", 7, 12, `meant "storm"`},
		"cause":           {"client-behaviour", "clients", 8, 12, "one of"},
		"signature":       {"lockstep", "lockstp", 11, 21, `meant "lockstep"`},
		"never":           {"[hint-zero]", "[hint-zro]", 12, 13, `meant "hint-zero"`},
		"severity":        {"high", "hihg", 11, 41, `meant "high"`},
		"clients":         {"clients: 40", "clients: 1.5", 11, 70, "whole number"},
		"by":              {"by: 45s", "by: 45", 11, 78, "duration"},
		"capacity":        {"capacity: 40", "capacity: -1", 4, 15, "above 0"},
		"both inputs":     {"files: [a.pcap, sub/b.log]", "files: a\n    exchanges: [b]", 13, 5, "either exchanges"},
		"no input":        {"    files: [a.pcap, sub/b.log]\n", "", 13, 5, "either exchanges"},
		"expects nothing": {"    only: true\n", "", 13, 5, "expects nothing"},
		"no rules":        {"rules: mine", "rules: yours", 0, 0, "no folder of rules"},
		"alias":           {"rules: mine", "rules: &x mine\nmore: *x", 2, 7, "write it out"},
		"no YAML":         {"rules: mine", "rules: [", 0, 0, "cannot read the YAML"},
	} {
		if strings.Count(goodTests, c.old) != 1 {
			t.Fatalf("%s: %q is not in the file once", name, c.old)
		}
		dir := folder(t, "mine/a.yaml", good, "tests.yaml", strings.Replace(goodTests, c.old, c.new, 1))
		_, ps := ReadTests(filepath.Join(dir, "tests.yaml"))
		if !slices.ContainsFunc(ps, func(p Problem) bool {
			return (c.line == 0 || p.Line == c.line && p.Column == c.column) && strings.Contains(p.Message, c.want)
		}) {
			t.Errorf("%s: %v, want %d:%d %q", name, ps, c.line, c.column, c.want)
		}
	}
	for name, text := range map[string]string{"empty": "", "a list": "- a\n", "no tests": "tests: []\n", "deep": "tests: " + strings.Repeat("[", 1000)} {
		if _, ps := ReadTests(filepath.Join(folder(t, "t.yaml", text), "t.yaml")); len(ps) == 0 {
			t.Errorf("%s: no problem", name)
		}
	}
	if _, ps := ReadTests(filepath.Join(t.TempDir(), "none.yaml")); len(ps) != 1 {
		t.Errorf("a file that is not there: %v", ps)
	}
}

func FuzzReadTests(f *testing.F) {
	f.Add([]byte(strings.Replace(goodTests, "rules: mine\n", "", 1)))
	f.Add([]byte("tests:\n  - {name: x, exchanges: ['0s 10.0.0.1 GET / 200'], never: [lockstep]}\n"))
	f.Add([]byte("tests: [{name: &a x, files: *a}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "t.yaml")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		file, problems := ReadTests(path)
		if file == nil && len(problems) == 0 {
			t.Error("neither tests nor what is wrong with them")
		}
		for _, p := range problems {
			_ = p.Error() + p.Picture()
		}
	})
}
