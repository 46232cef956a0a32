package report

import (
	"fmt"
	"strings"

	"stormwatch/detect"
)

func remedyFacts(m *detect.Mitigation) []fact {
	return []fact{
		{"who", m.Who},
		{"expect", m.Expect},
		{"risk", m.Risk},
		{"do not", m.Dont},
		{"undo", m.Undo},
		{"check", m.Check},
		{"stop", m.Stop},
		{"because of", strings.Join(m.Because, ", ")},
	}
}

// snippetText is configuration made safe to copy, line by line.
func snippetText(s string) string {
	lines := strings.Split(strings.TrimRight(strings.ReplaceAll(s, "\t", "    "), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(clip(lines[i], longest), " ")
	}
	return strings.Join(lines, "\n")
}

func (p *paper) mitigations(s *detect.Snapshot) {
	if len(s.Mitigations) == 0 {
		return
	}
	p.head("What to do, in this order")
	for i := range s.Mitigations {
		m := &s.Mitigations[i]
		p.line(fmt.Sprintf("### %d. %s: %s (%s)\n", i+1, md(strings.ToUpper(m.When)), md(m.Title), md(m.ID)))
		for _, f := range remedyFacts(m) {
			p.item(f.label, md(f.text))
		}
		for _, sn := range m.Snippets {
			text := snippetText(sn.Text)
			f := fence(text, 3)
			p.line("\n" + md(sn.For) + ":\n\n" + f + "\n" + text + "\n" + f)
		}
		p.blank()
	}
}

func (p *paper) health(s *detect.Snapshot) {
	p.head("Health of the input")
	if len(s.Sources) == 0 {
		p.line("No source.")
	}
	for i := range s.Sources {
		src := &s.Sources[i]
		p.line("- **" + md(src.Name) + "** (" + md(src.Kind) + "): " + md(healthText(&src.Health)))
		for _, f := range healthFacts(src) {
			p.line("  - " + f.label + ": " + md(f.text))
		}
	}
}

// healthFacts are what else is told of a source.
func healthFacts(src *detect.Source) (facts []fact) {
	h := &src.Health
	add := func(label, text string) {
		if text != "" {
			facts = append(facts, fact{label, text})
		}
	}
	add("down", h.Down)
	add("note", src.Note)
	for _, n := range h.Notes {
		add("note", n)
	}
	if src.OffsetSeconds != 0 {
		add("clock", fmt.Sprintf("%+.3f s from the first source's", src.OffsetSeconds))
	}
	for _, k := range h.Skipped {
		text := Count(k.Count) + ", " + k.Reason
		if len(k.Examples) > 0 {
			text += ", e.g. " + clip(k.Examples[0], 160)
		}
		add("skipped", text)
	}
	for _, k := range h.Bounds {
		add("bound", Count(k.Count)+", "+k.Reason)
	}
	return facts
}

// originFacts tell how the report came to be.
func originFacts(o Options) (facts []fact) {
	if o.Redact {
		o.Command = unaddressed(o.Command)
	}
	for _, f := range []fact{{"program", strings.TrimSpace("stormwatch " + o.Version)}, {"rules", o.Rules}, {"command", o.Command}} {
		if f.text != "" {
			facts = append(facts, f)
		}
	}
	return facts
}

func (p *paper) origin(s *detect.Snapshot, o Options) {
	p.head("Made by")
	for _, f := range originFacts(o) {
		text := md(f.text)
		if f.label == "command" {
			text = code(f.text)
		}
		p.item(f.label, text)
	}
	if s.Start != 0 {
		p.item("times", "UTC, of the input; no clock of the reader is in this report")
	}
}
