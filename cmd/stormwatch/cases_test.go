package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"stormwatch/sim"
)

// fieldCase is a report from the field as a recipe, and what must be concluded
// from it; testdata/cases/README.md describes the files.
type fieldCase struct {
	Name  string
	Note  string
	Input struct {
		Exchanges []act
		As        []string             // capture (the default), log, combined
		Log       []logLine            // of one log
		Logs      map[string][]logLine // of several, by name
		Capture   string               // a file under testdata
		Sim       string               // a scenario's YAML without name, seed and start
		Args      []string             // further flags
	}
	claims  `yaml:",inline"`
	Pending []pending
}

// claims are what a reader of the input must conclude.
type claims struct {
	Expect  []claim
	Never   []string // signatures above info, states, or words of the report
	Says    []string // words of the report
	Verdict string   // a state, or several: "watch or overload"
	Quiet   bool     // no finding above info
	Retries string   // "9" or "9..11"
	Longest string   // attempts of the longest chain
	Read    string   // exchanges
}

type claim struct {
	Signature string
	Clients   []string // all of them, where they are named
	Severity  []string // one of them
}

// pending is an expectation that does not hold yet, and why.
type pending struct {
	Why    string
	claims `yaml:",inline"`
}

// conclusion is what the verbs told of an input.
type conclusion struct {
	Verdict  struct{ State, Cause string }
	Totals   struct{ Exchanges, Retries float64 }
	Findings []raisedAs
	text     string
	longest  int
}

// raisedAs is one finding of a report.
type raisedAs struct {
	Signature, Severity string
	Clients             []string
}

func fieldCases(t *testing.T) (out []fieldCase) {
	t.Helper()
	files, err := filepath.Glob("../../testdata/cases/*.yaml")
	if err != nil || len(files) < 70 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		d := yaml.NewDecoder(bytes.NewReader(text))
		d.KnownFields(true)
		var c fieldCase
		if err := d.Decode(&c); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		c.Name = strings.TrimSuffix(filepath.Base(f), ".yaml") + " " + c.Name
		out = append(out, c)
	}
	return out
}

// Each case from the field leads to what its reporter should have been told, and
// to nothing that would have misled him.
func TestCases(t *testing.T) {
	for _, c := range fieldCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			for view, files := range c.files(t) {
				got := c.conclude(t, files)
				for _, miss := range c.misses(got) {
					t.Errorf("as %s: %s\n%s", view, miss, got.brief())
				}
				for _, p := range c.Pending {
					if misses := p.misses(got); len(misses) > 0 {
						t.Logf("known gap, as %s: %s: %s", view, strings.Join(misses, "; "), p.Why)
					} else {
						t.Logf("a known gap is closed, as %s (%s): hold it", view, p.Why)
					}
				}
			}
		})
	}
}

// files writes the inputs of a case, by the view that they give.
func (c *fieldCase) files(t *testing.T) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	put := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	in := &c.Input
	switch {
	case in.Log != nil:
		return map[string][]string{"log": {put("access.log", written(in.Log))}}
	case in.Logs != nil:
		var files []string
		for name, lines := range in.Logs {
			files = append(files, name+"="+put(name, written(lines)))
		}
		slices.Sort(files)
		return map[string][]string{"logs": files}
	case in.Capture != "":
		return map[string][]string{"capture": {filepath.Join("../../testdata", in.Capture)}}
	case in.Sim != "":
		sc, err := sim.Parse([]byte("name: case\nseed: 1\nstart: 2026-03-02T03:10:00Z\n" + in.Sim))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := sim.Run(sc).WriteCapture(&b); err != nil {
			t.Fatal(err)
		}
		return map[string][]string{"capture": {put("traffic.pcap", b.Bytes())}}
	}
	requests := expand(t, in.Exchanges)
	if in.As == nil {
		in.As = []string{"capture"}
	}
	out := map[string][]string{}
	for _, view := range in.As {
		out[view] = []string{put(view, viewed(t, requests, view))}
	}
	return out
}

// viewed writes requests as a source sees them.
func viewed(t *testing.T, requests []request, view string) []byte {
	t.Helper()
	switch view {
	case "capture":
		return asCapture(t, requests)
	case "log", "combined":
		return asLog(requests, view)
	}
	t.Fatalf("no view is called %q", view)
	return nil
}

// conclude asks the verbs about files, as far as the claims need it.
func (c *fieldCase) conclude(t *testing.T, files []string) *conclusion {
	t.Helper()
	verb := func(words ...string) string {
		out, _ := stormwatch(t, append(append(words, c.Input.Args...), files...)...)
		return out
	}
	text, chains := c.wants()
	for i := range c.Pending {
		a, b := c.Pending[i].wants()
		text, chains = text || a, chains || b
	}
	var got conclusion
	if err := json.Unmarshal([]byte(verb("report", "--format", "json")), &got); err != nil {
		t.Fatal(err)
	}
	if text {
		got.text = strings.Join(strings.Fields(verb("report")), " ")
	}
	if !chains {
		return &got
	}
	for row := range strings.Lines(verb("exchanges")) {
		var r struct{ Attempt int }
		if err := json.Unmarshal([]byte(row), &r); err != nil {
			t.Fatal(err)
		}
		got.longest = max(got.longest, r.Attempt)
	}
	return &got
}

// wants tells which verbs besides the JSON report the claims are about.
func (c *claims) wants() (text, chains bool) {
	return len(c.Says) > 0 || slices.ContainsFunc(c.Never, func(s string) bool { return strings.Contains(s, " ") }), c.Longest != ""
}

func (c *conclusion) brief() string {
	var b strings.Builder
	fmt.Fprintf(&b, "    %s of %s, %v exchanges, %v retries, longest chain %d;", c.Verdict.State, c.Verdict.Cause, c.Totals.Exchanges, c.Totals.Retries, c.longest)
	for _, f := range c.Findings {
		fmt.Fprintf(&b, " %s (%s, %d named)", f.Signature, f.Severity, len(f.Clients))
	}
	return b.String()
}

// misses lists the claims that a conclusion does not meet.
func (c *claims) misses(got *conclusion) (out []string) {
	miss := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, want := range c.Expect {
		i := slices.IndexFunc(got.Findings, func(f raisedAs) bool { return f.Signature == want.Signature })
		if i < 0 {
			miss("%s is not raised", want.Signature)
			continue
		}
		f := got.Findings[i]
		if want.Severity != nil && !slices.Contains(want.Severity, f.Severity) {
			miss("%s is %s, want %s", f.Signature, f.Severity, strings.Join(want.Severity, " or "))
		}
		if slices.Sort(f.Clients); want.Clients != nil && !slices.Equal(slices.Sorted(slices.Values(want.Clients)), f.Clients) {
			miss("%s names %v, want %v", f.Signature, f.Clients, want.Clients)
		}
	}
	for _, never := range c.Never {
		if got.holds(never) {
			miss("never %q, and it is", never)
		}
	}
	for _, f := range got.Findings {
		if c.Quiet && f.Severity != "info" {
			miss("%s is raised", f.Signature)
		}
	}
	for _, words := range c.Says {
		if !strings.Contains(got.text, words) {
			miss("the report does not say %q", words)
		}
	}
	if c.Verdict != "" && !slices.Contains(strings.Split(c.Verdict, " or "), got.Verdict.State) {
		miss("verdict %s, want %s", got.Verdict.State, c.Verdict)
	}
	within := func(what, span string, n float64) {
		low, high, ranged := strings.Cut(span, "..")
		a, _ := strconv.ParseFloat(low, 64)
		b, _ := strconv.ParseFloat(cmp.Or(high, low), 64)
		if span != "" && (n < a || n > b || ranged && high == "") {
			miss("%v %s, want %s", n, what, span)
		}
	}
	within("retries", c.Retries, got.Totals.Retries)
	within("attempts in the longest chain", c.Longest, float64(got.longest))
	within("exchanges", c.Read, got.Totals.Exchanges)
	return out
}

// holds tells whether a state, a signature above info or words are among what was told.
func (c *conclusion) holds(what string) bool {
	if slices.Contains([]string{"storm", "overload", "watch", "recovering", "clear", "unknown"}, what) {
		return c.Verdict.State == what
	}
	for _, f := range c.Findings {
		if f.Signature == what {
			return f.Severity != "info"
		}
	}
	return strings.Contains(what, " ") && strings.Contains(c.text, what)
}
