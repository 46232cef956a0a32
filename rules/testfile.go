package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// TestFile holds tests of rules: traffic, and what is to be found in it.
type TestFile struct {
	Set   *Set // the rules in force for them
	Dirs  []string
	Tests []*Test
}

// Test is one of them. Its traffic is either written out or in files.
type Test struct {
	Name      string
	File      string
	Line      int
	Exchanges []TestLine
	Files     []string // recordings, relative to the test file's folder made so to the present one
	Capacity  float64  // what the server can serve per second; 0 not told
	State     string   // the verdict's; "" any
	Cause     string   // likewise
	Findings  []Expected
	Never     []string // signatures that must not be raised
	Only      bool     // nothing else may be raised above info
}

// TestLine is one line of exchanges in the short form.
type TestLine struct {
	Text string
	node *yaml.Node
	d    *document
}

// Problem is a mistake in the line, after so many of its characters.
func (l *TestLine) Problem(at int, err error) Problem {
	d := document{file: l.d.file, lines: l.d.lines}
	d.failInside(l.node, "exchanges", l.Text, slip{at, err})
	quote(d.problems, d.lines)
	return d.problems[0]
}

// Expected is a finding that a test demands.
type Expected struct {
	Signature string
	Severity  string        // "" any
	Scope     string        // "" any
	Clients   int           // how many it speaks of; 0 any
	By        time.Duration // detected no later than so long after the traffic's start; 0 any
}

// states and causes are the words of a verdict.
func states() []string {
	return []string{"unknown", "clear", "recovering", "watch", "overload", "storm"}
}

func causes() []string {
	return []string{"none", "unknown", "client-behaviour", "sustaining-loop", "draining", "capacity", "server-fault", "mixed"}
}

// ReadTests reads a file of tests, and the rules they are of: the built-in ones,
// those of dirs, and those of the folders that the file names.
func ReadTests(path string, dirs ...string) (*TestFile, []Problem) {
	l := loader{set: &Set{}}
	text, err := readBounded(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	if err != nil {
		return nil, []Problem{{File: path, Message: err.Error()}}
	}
	d := &document{file: path, lines: strings.Split(string(text), "\n")}
	var whole yaml.Node
	if err := yaml.Unmarshal(text, &whole); err != nil {
		line, message := unreadable(err)
		d.problems = append(d.problems, Problem{File: path, Line: line, Message: "cannot read the YAML: " + message})
	}
	if whole.Kind == 0 {
		if d.problems == nil {
			d.problems = []Problem{{File: path, Message: "holds no test: a list under the key tests"}}
		}
		return nil, quoted(d)
	}
	n := whole.Content[0]
	if alias := findAlias(n); alias != nil {
		d.fail(alias, "anchors and aliases are not taken: write it out")
		return nil, quoted(d)
	}
	keys := d.mapping(n, "a file of tests", "rules", "tests")
	f := &TestFile{Dirs: dirs}
	if keys["rules"] != nil {
		for _, item := range d.items(keys["rules"], n, "rules") {
			f.Dirs = append(slices.Clip(f.Dirs), beside(path, d.text(item, item, "rules")))
		}
	}
	l.folder(embedded, builtIn)
	for _, dir := range f.Dirs {
		l.dir(dir)
	}
	if problems := l.finish(); len(problems) > 0 {
		return nil, problems
	}
	f.Set = l.set
	for _, item := range d.items(keys["tests"], n, "tests") {
		f.Tests = append(f.Tests, d.test(item, f.Set))
	}
	return f, quoted(d)
}

func quoted(d *document) []Problem {
	d.problems = d.problems[:min(len(d.problems), maxProblems)]
	quote(d.problems, d.lines)
	return d.problems
}

// beside is a path that a file names, seen from the present folder.
func beside(file, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(file), path)
}

func (d *document) test(n *yaml.Node, set *Set) *Test {
	keys := d.mapping(n, "a test", "name", "exchanges", "files", "capacity", "state", "cause", "findings", "never", "only")
	t := &Test{Name: d.line(keys["name"], n, "name"), File: d.file, Line: n.Line, Only: d.yes(keys["only"], "only")}
	switch exchanges, files := keys["exchanges"], keys["files"]; {
	case (exchanges == nil) == (files == nil):
		d.fail(n, "a test has either exchanges, written out, or files, which hold them")
	case exchanges != nil:
		for _, item := range d.items(exchanges, n, "exchanges") {
			t.Exchanges = append(t.Exchanges, TestLine{d.line(item, item, "exchanges"), item, d})
		}
	default:
		for _, item := range d.items(files, n, "files") {
			t.Files = append(t.Files, beside(d.file, d.text(item, item, "files")))
		}
	}
	if c := keys["capacity"]; c != nil {
		if t.Capacity = d.number(c, n, "capacity"); t.Capacity <= 0 {
			d.fail(c, "capacity is a number of requests per second above 0")
		}
	}
	if s := keys["state"]; s != nil {
		t.State = d.oneOf(s, n, "state", states())
	}
	if c := keys["cause"]; c != nil {
		t.Cause = d.oneOf(c, n, "cause", causes())
	}
	if f := keys["findings"]; f != nil {
		for _, item := range d.items(f, n, "findings") {
			t.Findings = append(t.Findings, d.expected(item, set))
		}
	}
	if never := keys["never"]; never != nil {
		for _, item := range d.items(never, n, "never") {
			t.Never = append(t.Never, d.known(item, item, set))
		}
	}
	if t.State == "" && t.Cause == "" && t.Findings == nil && t.Never == nil && !t.Only && len(d.problems) == 0 {
		d.fail(n, "this test expects nothing: give it findings, never, only, state or cause")
	}
	return t
}

// expected reads a signature, or a mapping that says more of its finding.
func (d *document) expected(n *yaml.Node, set *Set) (e Expected) {
	if n.Kind == yaml.ScalarNode {
		e.Signature = d.known(n, n, set)
		return e
	}
	keys := d.mapping(n, "a finding", "signature", "severity", "scope", "clients", "by")
	e.Signature = d.known(keys["signature"], n, set)
	if s := keys["severity"]; s != nil {
		e.Severity = d.oneOf(s, n, "severity", severities())
	}
	if s := keys["scope"]; s != nil {
		e.Scope = d.oneOf(s, n, "scope", []string{string(Population), "group", string(Client)})
	}
	if c := keys["clients"]; c != nil {
		x := d.number(c, n, "clients")
		if e.Clients = int(x); x < 1 || x > 1<<30 || float64(e.Clients) != x {
			d.fail(c, "clients is a whole number above 0")
		}
	}
	e.By = d.duration(keys["by"], "by")
	return e
}

// known is the id of a signature in force.
func (d *document) known(n, at *yaml.Node, set *Set) string {
	id := d.id(n, at, "signature")
	if id == "" {
		return ""
	}
	ids := make([]string, 0, len(set.signatures))
	for _, s := range set.signatures {
		ids = append(ids, s.ID)
	}
	if !slices.Contains(ids, id) {
		d.fail(n, "no signature %q%s; `stormwatch rules list` shows them all", id, meant(id, ids))
	}
	return id
}

// Place names the test as messages do.
func (t *Test) Place() string { return fmt.Sprintf("%s:%d: %s", t.File, t.Line, t.Name) }
