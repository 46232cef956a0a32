package rules

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Docs writes what the rules in force raise and advise, as Markdown.
func Docs(w io.Writer, s *Set) error {
	var b bytes.Buffer
	b.WriteString(docsHead)
	b.WriteString("| signature | severity | |\n|---|---|---|\n")
	for i, sig := range s.signatures {
		if i == 0 || s.signatures[i-1].ID != sig.ID {
			fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |\n", sig.ID, sig.ID, sig.Severity, cell(sig.About))
		}
	}
	for i, sig := range s.signatures {
		if i == 0 || s.signatures[i-1].ID != sig.ID {
			docsSignature(&b, s, sig)
		}
	}
	b.WriteString("\n# Mitigations\n\nWhat can be done now comes first, then what takes a release of the client, then of the server.\n")
	for _, m := range s.mitigations {
		docsMitigation(&b, s, m)
	}
	_, err := w.Write(b.Bytes())
	return err
}

const docsHead = `# Signatures

Made from the rule files by ` + "`stormwatch rules docs`" + `; a change belongs in these. How to write rules of your own is in
[rules](rules.md).

A signature that cannot be judged is told as not judged, with the reason: what it needs is listed with it. The score of a finding
is the sum of its parts, each shown.

`

// cell makes a text fit into a cell of a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

func docsSignature(b *bytes.Buffer, s *Set, sig *Signature) {
	fmt.Fprintf(b, "\n## %s\n\n%s.\n\n", sig.ID, upper(sig.About))
	var scopes []Scope
	for _, other := range s.signatures {
		if other.ID == sig.ID {
			scopes = append(scopes, other.Scope)
		}
	}
	fmt.Fprintf(b, "* Judged of: %s. Severity: %s.\n", list(scopes), sig.Severity)
	fmt.Fprintf(b, "* Says: %s\n", sig.Says)
	fmt.Fprintf(b, "* Raised when: `%s`\n", sig.When)
	fmt.Fprintf(b, "* Needs: %s\n", needsText(sig))
	fmt.Fprintf(b, "* False positives: %s\n", sig.FalsePositives)
	b.WriteString("* Score:\n")
	for _, p := range sig.Parts {
		fmt.Fprintf(b, "  * %s: `%s`, at most %s\n", p.Name, p.Points, number(p.Max))
	}
	b.WriteString("* Measured:\n")
	for _, e := range sig.shown {
		f := &features[e.Feature]
		unit := ""
		if f.Unit != "" {
			unit = " (" + f.Unit + ")"
		}
		fmt.Fprintf(b, "  * `%s`%s: %s\n", f.Name, unit, f.Meaning)
	}
	b.WriteString("* What to do:\n")
	for i, id := range sig.Mitigations {
		title := ""
		if m := s.Mitigation(id); m != nil {
			title = ": " + m.Title
		}
		fmt.Fprintf(b, "  %d. [%s](#%s)%s\n", i+1, id, id, title)
	}
}

func needsText(s *Signature) string {
	var n []string
	if s.Needs.Evidence == evidenceExchanges {
		n = append(n, "single exchanges, not counts")
	}
	if s.Needs.Clock > 0 {
		n = append(n, "a clock of "+s.Needs.Clock.String()+" or finer")
	}
	if s.Needs.Hints {
		n = append(n, "visible response headers")
	}
	if s.Needs.Baseline {
		n = append(n, "calm traffic before the incident")
	}
	switch s.Needs.Complete {
	case completeChains:
		n = append(n, "an input that is no sample")
	case completeAll:
		n = append(n, "an input that is no sample and leaves no successes out")
	}
	for _, m := range s.minima {
		if features[m.id].Boolean {
			n = append(n, "`"+features[m.id].Name+"`")
			continue
		}
		n = append(n, "`"+features[m.id].Name+" >= "+number(m.least)+"`")
	}
	if n == nil {
		return "nothing in particular"
	}
	return strings.Join(n, ", ")
}

func docsMitigation(b *bytes.Buffer, s *Set, m *Mitigation) {
	fmt.Fprintf(b, "\n## %s\n\n%s.\n\n", m.ID, upper(m.Title))
	for _, row := range [][2]string{
		{"When", m.When},
		{"Who", m.Who},
		{"Perspective", m.Perspective},
		{"Expect", m.Expect},
		{"Risk", m.Risk},
		{"Do not", strings.TrimPrefix(m.Dont, "do not ")},
		{"Undo", m.Undo},
		{"Check", m.Check},
		{"Stop", m.Stop},
	} {
		if row[1] != "" {
			fmt.Fprintf(b, "* %s: %s\n", row[0], row[1])
		}
	}
	var called, products []string
	for _, sig := range s.signatures {
		if link := "[" + sig.ID + "](#" + sig.ID + ")"; slices.Contains(sig.Mitigations, m.ID) && !slices.Contains(called, link) {
			called = append(called, link)
		}
	}
	for _, sn := range m.Snippets {
		products = append(products, sn.For)
	}
	if called != nil {
		fmt.Fprintf(b, "* Called for by: %s\n", strings.Join(called, ", "))
	}
	if products != nil {
		fmt.Fprintf(b, "* Configuration or code (`stormwatch rules show %s`): %s\n", m.ID, strings.Join(products, ", "))
	}
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
