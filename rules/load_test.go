package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// good is a whole rule file; its lines are numbered in the tests of mistakes.
const good = `signature: mine
scope: population
about: what it is
needs:
  hints: true
  min: {refusals: 20}
when: missing_low > 0.9
parts:
  - {name: share, points: "missing_share", max: 1}
severity: low
false_positive_rate: unknown
says: "{missing_share%} missing"
mitigations: [send-hint]
`

// folder writes files, given as name and text, and returns where they are.
func folder(t testing.TB, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFolderAddsAndReplaces(t *testing.T) {
	embedded := load(t)
	mine := strings.Replace(good, "mine", "lockstep", 1)
	s, err := Load(folder(t, "a.yaml", good, "deep/b.yml", mine, ".hidden.yaml", "]", "notes.txt", "]"))
	if err != nil {
		t.Fatal(err)
	}
	signature(t, s, "mine", Population)
	if sig := signature(t, s, "lockstep", Population); sig.Severity != "low" || !strings.HasSuffix(sig.From, "b.yml") {
		t.Errorf("lockstep was not replaced: %+v", sig)
	}
	// two scopes of lockstep gave way to one, and mine came in
	if got, want := len(s.Signatures()), len(embedded.Signatures()); got != want {
		t.Errorf("%d signatures, want %d", got, want)
	}
}

func TestLaterFoldersWin(t *testing.T) {
	first, second := folder(t, "a.yaml", good), folder(t, "a.yaml", strings.Replace(good, "severity: low", "severity: info", 1))
	s, err := Load(first, second)
	if err != nil {
		t.Fatal(err)
	}
	if sig := signature(t, s, "mine", Population); sig.Severity != "info" {
		t.Errorf("severity %s", sig.Severity)
	}
}

func TestMitigationIsReplaced(t *testing.T) {
	const text = `mitigation: send-hint
title: ask the platform team
who: platform team
when: now
expect: e
risk: r
dont: d
undo: u
check: c
`
	s, err := Load(folder(t, "m.yaml", text+"---\n"+good))
	if err != nil {
		t.Fatal(err)
	}
	if m := s.Mitigation("send-hint"); m.Title != "ask the platform team" || len(m.Snippets) > 0 {
		t.Errorf("mitigation %+v", m)
	}
	for _, key := range []string{"title", "who", "when", "expect", "risk", "dont", "undo", "check"} {
		lines := strings.Split(text, "\n")
		for i, l := range lines {
			if strings.HasPrefix(l, key+":") {
				lines = append(lines[:i], lines[i+1:]...)
				break
			}
		}
		if p := Check(folder(t, "m.yaml", strings.Join(lines, "\n"))); len(p) != 1 || p[0].Message != key+" is missing" || p[0].Line != 1 {
			t.Errorf("without %s: %v", key, p)
		}
	}
}

// Each mistake is told with the line it is on, and with what to do.
func TestMistakes(t *testing.T) {
	change := func(old, new string) string {
		if strings.Count(good, old) != 1 {
			t.Fatalf("%q is not in the file once", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	for name, c := range map[string]struct {
		text string
		line int
		want string
	}{
		"misspelt feature":      {change("missing_low >", "mising_low >"), 7, `unknown feature "mising_low", meant "missing_low"?`},
		"feature elsewhere":     {change("missing_low > 0.9", "early_share > 0.9"), 7, "only in: client"},
		"misspelt key":          {change("severity", "sevrity"), 10, `no key "sevrity", meant "severity"?`},
		"misspelt key inside":   {change("  hints", "  hint"), 5, `meant "hints"?`},
		"misspelt in a part":    {change("points:", "point:"), 9, `meant "points"?`},
		"points":                {change(`"missing_share"`, `"missing_share >"`), 9, "points: cannot read"},
		"max":                   {change("max: 1", "max: 2"), 9, "between 0.001 and 1"},
		"max, no number":        {change("max: 1", "max: .nan"), 9, "not a number"},
		"minimum":               {change("refusals: 20", "refusal: 20"), 6, `meant "refusals"?`},
		"minimum, no number":    {change("refusals: 20", "refusals: many"), 6, "not a number"},
		"unknown mitigation":    {change("send-hint", "sendhint"), 13, `meant "send-hint"?`},
		"severity":              {change("severity: low", "severity: lo"), 10, `meant "low"?`},
		"scope":                 {change("scope: population", "scope: [population, populaton]"), 2, `meant "population"?`},
		"scope twice":           {change("scope: population", "scope: [population, population]"), 2, "twice"},
		"scope without measure": {change("scope: population", "scope: route"), 7, `"route"`},
		"says, cut short":       {change("{missing_share%} missing", "{missing_share"), 12, "brace"},
		"says, unknown":         {change("{missing_share%}", "{share}"), 12, "unknown feature"},
		"no condition":          {change("when: missing_low > 0.9\n", ""), 1, "when is missing"},
		"no mitigations":        {change("mitigations: [send-hint]\n", ""), 1, "mitigations is missing"},
		"empty mitigations":     {change("[send-hint]", "[]"), 13, "not empty"},
		"empty text":            {change("about: what it is", "about:"), 3, "about must be a text"},
		"key twice":             {good + "about: again\n", 14, "about is given twice"},
		"id":                    {change("signature: mine", "signature: My Rule"), 1, "lower-case words"},
		"clock":                 {change("hints: true", "clock: 50"), 5, "50ms"},
		"yes or no":             {change("hints: true", "hints: maybe"), 5, "true or false"},
		"twice in one folder":   {good + "---\n" + good, 15, "defined twice in this folder, also at "},
		"alias":                 {"a: &x [1]\nb: *x\n", 2, "write it out"},
		"something else":        {"a: 1\n", 1, "neither a signature nor a mitigation"},
		"a list":                {"- signature: x\n", 1, "neither a signature nor a mitigation"},
		"no YAML":               {"signature: [", 1, "cannot read the YAML: did not find"},
		"empty":                 {"", 0, "holds neither"},
	} {
		p := Check(folder(t, "mine.yaml", c.text))
		if !slices.ContainsFunc(p, func(p Problem) bool {
			return p.Line == c.line && strings.Contains(p.Message, c.want) && strings.HasSuffix(p.File, "mine.yaml")
		}) {
			t.Errorf("%s: %v, want line %d and %q", name, p, c.line, c.want)
		}
		if _, err := Load(folder(t, "mine.yaml", c.text)); err == nil {
			t.Errorf("%s: loaded all the same", name)
		}
	}
}

func TestAllMistakesAtOnce(t *testing.T) {
	text := strings.NewReplacer("severity: low", "severity: bad", "missing_low >", "mising_low >", "send-hint", "").Replace(good)
	p := Check(folder(t, "mine.yaml", text, "other.yaml", "a: 1\n"))
	var lines []string
	for _, problem := range p {
		lines = append(lines, fmt.Sprintf("%s:%d", filepath.Base(problem.File), problem.Line))
	}
	if got, want := strings.Join(lines, " "), "mine.yaml:7 mine.yaml:10 mine.yaml:13 other.yaml:1"; got != want {
		t.Errorf("problems at %s, want %s", got, want)
	}
}

func TestFolders(t *testing.T) {
	file := filepath.Join(folder(t, "a.yaml", good), "a.yaml")
	for _, c := range []struct{ dir, want string }{
		{filepath.Join(t.TempDir(), "none"), "no folder of rules"},
		{file, "not a folder"},
		{t.TempDir(), "no .yaml file"},
	} {
		if _, err := Load(c.dir); err == nil || !strings.HasPrefix(err.Error(), c.dir+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.dir, err, c.want)
		}
		if p := Check(c.dir); c.dir != file && len(p) != 1 {
			t.Errorf("Check(%s) = %v", c.dir, p)
		}
	}
	if p := Check(file); len(p) > 0 { // rules are loaded from a folder, but one file of it can be checked
		t.Errorf("a whole file has problems: %v", p)
	}
	if p := Check(folder(t, "a.yaml", good)); len(p) > 0 {
		t.Errorf("a whole file has problems: %v", p)
	}
}

// A mounted volume shows its files as links into a hidden folder.
func TestLinkedFiles(t *testing.T) {
	dir := folder(t, "..data/mine.yaml", good)
	if err := os.Symlink(filepath.Join("..data", "mine.yaml"), filepath.Join(dir, "mine.yaml")); err != nil {
		t.Skip(err)
	}
	s, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	signature(t, s, "mine", Population)
}

// Hostile files end in an error, and soon.
func TestHostileFiles(t *testing.T) {
	begun := time.Now()
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'i'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ","))
	}
	for name, text := range map[string]string{
		"alias bomb":      bomb,
		"merge":           "signature: x\n<<: {scope: client}\n",
		"large":           strings.Repeat("#", maxFile+1),
		"deep list":       "signature: " + strings.Repeat("[", maxFile-100),
		"deep mapping":    "signature: " + strings.Repeat("{a: ", 60000),
		"deep expression": strings.Replace(good, "missing_low > 0.9", strings.Repeat("(", 900)+"missing_low > 0.9"+strings.Repeat(")", 900)+"x", 1),
		"many documents":  strings.Repeat("---\na: 1\n", 20000),
		"many keys":       "signature: x\n" + strings.Repeat("k: 1\n", 40000),
		"not UTF-8":       "signature: \xff\xfe\n",
		"control":         "signature: a\x00b\n",
	} {
		if p := Check(folder(t, "x.yaml", text)); len(p) == 0 || len(p) > 2*maxProblems {
			t.Errorf("%s: %d problems", name, len(p))
		}
	}
	dir := folder(t, "a.yaml", good)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o600); err == nil {
		if p := Check(dir); len(p) != 1 || !strings.Contains(p[0].Message, "regular") {
			t.Errorf("a pipe: %v", p)
		}
	}
	many := t.TempDir()
	for i := range maxEntries + 1 {
		if err := os.Mkdir(filepath.Join(many, fmt.Sprint(i)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if p := Check(many); len(p) == 0 || !strings.Contains(p[0].Message, "entries") {
		t.Errorf("too many entries: %v", p)
	}
	if d := time.Since(begun); d > 20*time.Second {
		t.Errorf("took %s", d)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(good)
	f.Add(good + "---\nmitigation: x\ntitle: y\nsnippets: [{for: a, text: b}]\n")
	f.Add("a: &b [*b]\n")
	f.Add("signature: x\nscope: [client, agent]\nwhen: early_share ? 1 : 2 > (3\n")
	f.Add(strings.Replace(good, "missing_low > 0.9", "min(abs(-refusals), 2 ** 3) / 0 >= 1 and !server_fault", 1))
	all := make([]float64, featureCount)
	f.Fuzz(func(t *testing.T, text string) {
		l := loader{set: &Set{}, seen: map[string]place{}}
		l.documents([]byte(text), "fuzz.yaml")
		l.finish()
		v := &Values{Exchanges: true, SeesHints: true}
		for id := range all {
			v.Set(FeatureID(id), float64(id)/7, int64(id))
		}
		for _, s := range l.set.Signatures() {
			if ok, _ := s.Enough(v); !ok {
				continue
			}
			if j := s.Judge(v); j.Score < 0 || j.Score > 1 {
				t.Errorf("score %v", j.Score)
			}
		}
	})
}
