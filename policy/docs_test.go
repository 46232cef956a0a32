package policy

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/policies.md anew")

const docs = "../docs/policies.md"

// docs/policies.md is written from the catalogue: go test ./policy -update
func TestDocs(t *testing.T) {
	want := page()
	if *update {
		if err := os.WriteFile(docs, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the catalogue says: run go test ./policy -update", docs)
	}
}

func page() string {
	var b strings.Builder
	b.WriteString(`# Retry policies that stormwatch knows

Written from package policy; ` + "`go test ./policy -update`" + ` writes it anew.

Each row is one definition. The simulator draws waits from it; the same text is what
the waits of a client are scored against. It is what the library does when nobody has
chosen anything else; users do choose. "Own" is the wait where the server names none.

Libraries on one line of the second table wait alike before their first four retries:
no amount of watching such waits tells them apart. Waits alone never do better than that:
a verdict lists all that fit, and says "cannot tell" where a person, an unknown policy or
a mixture would explain the waits about as well.

## Libraries

| library | own wait | attempts | the server's hint | read in |
| --- | --- | --- | --- | --- |
`)
	for _, l := range libraries {
		p, _ := Parse(l.text)
		attempts := "the user's, or no end"
		if p.Attempts > 0 {
			attempts = fmt.Sprint(p.Attempts)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", l.name, p.Words(), attempts, hintWords(&p), l.source)
	}
	b.WriteString("\n## Which wait alike\n\n| family | libraries |\n| --- | --- |\n")
	for _, m := range catalogued().models {
		var names []string
		for _, p := range m.members {
			names = append(names, p.Name)
		}
		fmt.Fprintf(&b, "| %s | %s |\n", m.family, strings.Join(names, ", "))
	}
	b.WriteString("\n## As the simulator's scenarios write them\n\n```\n")
	for _, l := range libraries {
		fmt.Fprintf(&b, "%-28s %s\n", l.name, l.text)
	}
	b.WriteString("```\n")
	return b.String()
}

func hintWords(p *Policy) string {
	if !p.ReadsHint() {
		return "not read"
	}
	how := map[string]string{HintExact: "obeyed", HintFloor: "obeyed, jitter on top", HintScaled: "obeyed, times a factor", HintMax: "the longer of it and the own wait"}[p.Family]
	switch {
	case p.Longest == NoLimit:
		return how
	case p.Over == GiveUp:
		return how + " up to " + short(p.Longest) + ", else no retry"
	case p.Over == UseOwn:
		return how + " up to " + short(p.Longest) + ", else not"
	}
	return how + ", cut to " + short(p.Longest)
}
