package rules

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed signatures/*.yaml mitigations/*.yaml
var embedded embed.FS

// Set is the rules in force.
type Set struct {
	signatures  []*Signature
	mitigations []*Mitigation
}

// Mitigation is one thing to do about a signature.
type Mitigation struct {
	ID       string    `yaml:"mitigation"`
	Title    string    `yaml:"title"`
	Who      string    `yaml:"who"`
	When     string    `yaml:"when"` // "now", "client release" or "server release"
	Expect   string    `yaml:"expect"`
	Risk     string    `yaml:"risk"`
	Dont     string    `yaml:"dont"`
	Undo     string    `yaml:"undo"`
	Check    string    `yaml:"check"`
	Snippets []Snippet `yaml:"snippets"`
}

// Snippet is configuration or code for one product.
type Snippet struct {
	For  string `yaml:"for"`
	Text string `yaml:"text"`
}

// minima is a mapping of feature names to least values, in the order written.
type minima []struct {
	name  string
	least float64
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (m *minima) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: min takes feature: number pairs", n.Line)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		var least float64
		if err := n.Content[i+1].Decode(&least); err != nil {
			return err
		}
		*m = append(*m, struct {
			name  string
			least float64
		}{n.Content[i].Value, least})
	}
	return nil
}

// file is a signature as it is written.
type file struct {
	Signature      string     `yaml:"signature"`
	Scope          scopes     `yaml:"scope"`
	About          string     `yaml:"about"`
	Needs          Needs      `yaml:"needs"`
	When           string     `yaml:"when"`
	Parts          []filePart `yaml:"parts"`
	Severity       string     `yaml:"severity"`
	FalsePositives string     `yaml:"false_positive_rate"`
	Says           string     `yaml:"says"`
	Mitigations    []string   `yaml:"mitigations"`
}

type filePart struct {
	Name   string  `yaml:"name"`
	Points string  `yaml:"points"`
	Max    float64 `yaml:"max"`
}

// scopes is one scope or a list of them.
type scopes []Scope

// UnmarshalYAML implements yaml.Unmarshaler.
func (s *scopes) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*s = scopes{Scope(n.Value)}
		return nil
	}
	return n.Decode((*[]Scope)(s))
}

const maxFile = 256 << 10 // bytes of one rule file; the longest embedded one has 4 KiB

// Problem is what is wrong with a rule file.
type Problem struct {
	File, Message string
}

func (p Problem) Error() string { return p.File + ": " + p.Message }

// Load reads the embedded rules, then those of dirs, which add to them or
// replace them by id.
func Load(dirs ...string) (*Set, error) {
	s := &Set{}
	problems := s.read(embedded, "embedded rules")
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("--rules %s: not a folder that can be read", dir)
		}
		problems = append(problems, s.read(os.DirFS(dir), dir)...)
	}
	problems = append(problems, s.crossCheck()...)
	if len(problems) > 0 {
		errs := make([]error, len(problems))
		for i, p := range problems {
			errs[i] = p
		}
		return nil, errors.Join(errs...)
	}
	slices.SortStableFunc(s.signatures, func(a, b *Signature) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Scope, b.Scope))
	})
	return s, nil
}

// Check tells what is wrong with the rules of a folder.
func Check(dir string) []Problem {
	s := &Set{}
	problems := s.read(embedded, "embedded rules")
	problems = append(problems, s.read(os.DirFS(dir), dir)...)
	return append(problems, s.crossCheck()...)
}

func (s *Set) read(fsys fs.FS, from string) (problems []Problem) {
	seen := map[string]string{}
	err := fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		name := filepath.Join(from, path)
		text, err := readBounded(fsys, path)
		if err == nil {
			err = s.parse(text, name, seen)
		}
		if err != nil {
			problems = append(problems, Problem{name, strings.TrimPrefix(err.Error(), "yaml: ")})
		}
		return nil
	})
	if err != nil {
		problems = append(problems, Problem{from, err.Error()})
	}
	return problems
}

func readBounded(fsys fs.FS, path string) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if len(text) > maxFile {
		return nil, fmt.Errorf("larger than %d bytes: split it", maxFile)
	}
	return text, err
}

// parse reads the documents of one file: signatures and mitigations.
func (s *Set) parse(text []byte, name string, seen map[string]string) error {
	nodes, typed := yaml.NewDecoder(bytes.NewReader(text)), yaml.NewDecoder(bytes.NewReader(text))
	typed.KnownFields(true)
	for {
		var node yaml.Node
		err := nodes.Decode(&node)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.document(&node, typed, name, seen); err != nil {
			return err
		}
	}
}

// document takes in one document: node is what it holds, and typed stands before
// it and refuses keys that are not known.
func (s *Set) document(node *yaml.Node, typed *yaml.Decoder, name string, seen map[string]string) error {
	if hasAlias(node) {
		return fmt.Errorf("line %d: anchors and aliases are not taken: write it out", node.Line)
	}
	if key(node, "mitigation") {
		m := &Mitigation{}
		if err := typed.Decode(m); err != nil {
			return err
		}
		return s.addMitigation(m, node.Line, name, seen)
	}
	f := &file{}
	if err := typed.Decode(f); err != nil {
		return err
	}
	return s.addSignature(f, node.Line, name, seen)
}

func key(node *yaml.Node, name string) bool {
	if node.Kind == yaml.DocumentNode && len(node.Content) == 1 {
		node = node.Content[0]
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return true
		}
	}
	return false
}

func hasAlias(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, hasAlias)
}

func once(id, name string, line int, seen map[string]string) error {
	if id == "" {
		return fmt.Errorf("line %d: neither a signature nor a mitigation: the first key names it", line)
	}
	if other, ok := seen[id]; ok {
		return fmt.Errorf("line %d: %s is defined twice, also in %s", line, id, other)
	}
	seen[id] = name
	return nil
}

func (s *Set) addMitigation(m *Mitigation, line int, name string, seen map[string]string) error {
	if err := once(m.ID, name, line, seen); err != nil {
		return err
	}
	for _, f := range [][2]string{
		{"title", m.Title}, {"who", m.Who}, {"expect", m.Expect}, {"risk", m.Risk}, {"dont", m.Dont}, {"undo", m.Undo}, {"check", m.Check},
	} {
		if f[1] == "" {
			return fmt.Errorf("line %d: mitigation %s has no %s", line, m.ID, f[0])
		}
	}
	if !slices.Contains([]string{"now", "client release", "server release"}, m.When) {
		return fmt.Errorf("line %d: mitigation %s: when is %q, not now, client release or server release", line, m.ID, m.When)
	}
	s.mitigations = slices.DeleteFunc(s.mitigations, func(o *Mitigation) bool { return o.ID == m.ID })
	s.mitigations = append(s.mitigations, m)
	return nil
}

func (s *Set) addSignature(f *file, line int, name string, seen map[string]string) error {
	if err := once(f.Signature, name, line, seen); err != nil {
		return err
	}
	fail := func(format string, args ...any) error {
		return fmt.Errorf("line %d: signature %s: %s", line, f.Signature, fmt.Sprintf(format, args...))
	}
	if f.When == "" || f.Says == "" || f.FalsePositives == "" || len(f.Parts) == 0 || len(f.Scope) == 0 {
		return fail("scope, when, says, parts and false_positive_rate are all needed")
	}
	if !slices.Contains([]string{"info", "low", "medium", "high", "critical"}, f.Severity) {
		return fail("severity is %q, not info, low, medium, high or critical", f.Severity)
	}
	base := Signature{
		ID: f.Signature, About: f.About, Needs: f.Needs, When: strings.Join(strings.Fields(f.When), " "), Severity: f.Severity,
		FalsePositives: f.FalsePositives, Says: f.Says, Mitigations: f.Mitigations,
	}
	var err error
	if base.when, err = compile(f.When, true); err != nil {
		return fail("when: %v", err)
	}
	if base.says, err = parseSays(f.Says); err != nil {
		return fail("%v", err)
	}
	for _, p := range f.Parts {
		points, err := compile(p.Points, false)
		if err != nil {
			return fail("part %s: %v", p.Name, err)
		}
		base.parts = append(base.parts, part{p.Name, points, p.Max})
	}
	for _, m := range f.Needs.Min {
		id, ok := featureByName(m.name)
		if !ok {
			return fail("needs: unknown feature %q", m.name)
		}
		base.min = append(base.min, minimum{id, m.least})
	}
	s.signatures = slices.DeleteFunc(s.signatures, func(o *Signature) bool { return o.ID == f.Signature })
	for _, scope := range f.Scope {
		if !slices.Contains([]Scope{Population, Agent, Client}, scope) {
			return fail("scope is %q, not population, agent or client", scope)
		}
		sig := base
		sig.Scope = scope
		s.signatures = append(s.signatures, &sig)
	}
	return nil
}

// crossCheck finds mitigations that signatures name and nobody wrote.
func (s *Set) crossCheck() (problems []Problem) {
	for _, sig := range s.signatures {
		for _, id := range sig.Mitigations {
			if s.Mitigation(id) == nil {
				problems = append(problems, Problem{sig.ID, "names the mitigation " + id + ", which does not exist"})
			}
		}
	}
	return problems
}

// Signatures returns the signatures in force, by id.
func (s *Set) Signatures() []*Signature { return s.signatures }

// Mitigations returns the mitigations in force.
func (s *Set) Mitigations() []*Mitigation { return s.mitigations }

// Mitigation returns a mitigation by its id, or nil.
func (s *Set) Mitigation(id string) *Mitigation {
	for _, m := range s.mitigations {
		if m.ID == id {
			return m
		}
	}
	return nil
}
