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
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed signatures/*.yaml mitigations/*.yaml
var embedded embed.FS

const builtIn = "built in"

// Bounds of a folder of rules. A wrong folder, or a hostile one, ends in a
// message and not in minutes of reading.
const (
	maxFile     = 256 << 10 // bytes; the longest embedded file has 4 KiB
	maxEntries  = 2000      // files and folders looked at
	maxProblems = 100       // told of one file
)

// Load reads the embedded rules, then those of dirs, which add to them or
// replace them by id. Its error joins a Problem for each mistake.
func Load(dirs ...string) (*Set, error) {
	l := loader{set: &Set{}}
	l.folder(embedded, builtIn)
	for _, dir := range dirs {
		l.dir(dir)
	}
	if problems := l.finish(); len(problems) > 0 {
		errs := make([]error, len(problems))
		for i, p := range problems {
			errs[i] = p
		}
		return nil, errors.Join(errs...)
	}
	return l.set, nil
}

// Check tells what is wrong with the rules of a folder, as Load would, or with
// those of one file.
func Check(path string) []Problem {
	l := loader{set: &Set{}}
	l.folder(embedded, builtIn)
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		l.seen = map[string]place{}
		l.file(os.DirFS(filepath.Dir(path)), filepath.Base(path), path)
		return l.finish()
	}
	l.dir(path)
	return l.finish()
}

// loader gathers rules and what is wrong with them.
type loader struct {
	set      *Set
	problems []Problem
	seen     map[string]place   // ids of the present folder
	called   map[string][]place // where each mitigation is called for, by signature and mitigation
}

type place struct {
	file         string
	line, column int
	source       string
}

func (p place) String() string { return fmt.Sprintf("%s:%d", p.file, p.line) }

func (l *loader) dir(dir string) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		l.fail(dir, 0, "no folder of rules: %v", err)
	case !info.IsDir():
		l.fail(dir, 0, "not a folder: rules are read from a folder of .yaml files")
	default:
		if l.folder(os.DirFS(dir), dir) == 0 {
			l.fail(dir, 0, "no .yaml file in this folder")
		}
	}
}

func (l *loader) fail(file string, line int, format string, args ...any) {
	l.problems = append(l.problems, Problem{File: file, Line: line, Message: fmt.Sprintf(format, args...)})
}

// folder reads all rule files below a folder, in the order of their names, and
// tells how many there are. Hidden entries are left out: editors and mounted
// volumes keep copies there.
func (l *loader) folder(fsys fs.FS, from string) (files int) {
	l.seen = map[string]place{}
	entries := 0
	err := fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
		entries++
		switch {
		case err != nil:
			return err
		case entries > maxEntries:
			return fmt.Errorf("more than %d entries: give a folder that holds rules only", maxEntries)
		case path != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() || !isYAML(path):
			return nil
		}
		files++
		l.file(fsys, path, filepath.Join(from, path))
		return nil
	})
	if err != nil {
		l.fail(from, 0, "%v", err)
	}
	return files
}

func isYAML(path string) bool {
	return strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml")
}

// file reads the documents of one file.
func (l *loader) file(fsys fs.FS, path, name string) {
	text, err := readBounded(fsys, path)
	if err != nil {
		l.fail(name, 0, "%v", err)
		return
	}
	l.documents(text, name)
}

func readBounded(fsys fs.FS, path string) ([]byte, error) {
	info, err := fs.Stat(fsys, path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // reading a pipe would never end
		return nil, errors.New("not a regular file")
	}
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

func (l *loader) documents(text []byte, name string) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	before := len(l.problems)
	lines := strings.Split(string(text), "\n")
	defer func() { quote(l.problems[before:], lines) }()
	for found := 0; len(l.problems)-before < maxProblems; found++ {
		var node yaml.Node
		err := decoder.Decode(&node)
		switch {
		case errors.Is(err, io.EOF):
			if found == 0 {
				l.fail(name, 0, "holds neither a signature nor a mitigation")
			}
			return
		case err != nil:
			line, message := unreadable(err)
			l.fail(name, line, "cannot read the YAML: %s", message)
			return
		}
		l.document(node.Content[0], name, lines)
	}
}

// unreadable takes the line from an error of the YAML reader.
func unreadable(err error) (line int, message string) {
	message = strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		if n, after, ok := strings.Cut(rest, ": "); ok {
			if line, err := strconv.Atoi(n); err == nil {
				return line, after
			}
		}
	}
	return 0, message
}

// quote gives problems the lines they are on.
func quote(problems []Problem, lines []string) {
	for i := range problems {
		if p := &problems[i]; p.Line > 0 && p.Line <= len(lines) {
			p.Source = strings.TrimRight(lines[p.Line-1], "\r")
		}
	}
}

// document takes in one document. Rules with a mistake are left out.
func (l *loader) document(n *yaml.Node, name string, lines []string) {
	if alias := findAlias(n); alias != nil {
		l.fail(name, alias.Line, "anchors and aliases are not taken: write it out")
		return
	}
	d := &document{file: name, lines: lines}
	switch {
	case has(n, "mitigation"):
		if m := d.mitigation(n); len(d.problems) == 0 && l.once("mitigation", m.ID, name, n.Line) {
			l.set.replaceMitigation(m)
		}
	case has(n, "signature"):
		if s := d.signatures(n); len(d.problems) == 0 && l.once("signature", s[0].ID, name, n.Line) {
			l.set.replaceSignatures(s)
			l.calls(n, s[0], d)
		}
	default:
		d.fail(n, "neither a signature nor a mitigation: one of these keys must name it")
	}
	l.problems = append(l.problems, d.problems[:min(len(d.problems), maxProblems)]...)
}

func has(n *yaml.Node, key string) bool { return valueOf(n, key) != nil }

func valueOf(n *yaml.Node, key string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func findAlias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n
	}
	for _, c := range n.Content {
		if a := findAlias(c); a != nil {
			return a
		}
	}
	return nil
}

// once tells whether an id is new in this folder; other folders' it replaces.
func (l *loader) once(kind, id, name string, line int) bool {
	key := kind + " " + id
	if other, ok := l.seen[key]; ok {
		l.fail(name, line, "%s is defined twice in this folder, also at %s", key, other)
		return false
	}
	l.seen[key] = place{file: name, line: line}
	return true
}

// calls remembers where a signature names its mitigations: whether they exist is
// known only when all is read.
func (l *loader) calls(n *yaml.Node, s *Signature, d *document) {
	if l.called == nil {
		l.called = map[string][]place{}
	}
	list := valueOf(n, "mitigations")
	places := []place{}
	if list.Kind == yaml.ScalarNode {
		places = append(places, d.placeOf(list))
	}
	for _, item := range list.Content {
		places = append(places, d.placeOf(item))
	}
	l.called[s.ID] = places
}

// finish finds mitigations that signatures name and nobody wrote, and puts all
// in order.
func (l *loader) finish() []Problem {
	known := []string{}
	for _, m := range l.set.mitigations {
		known = append(known, m.ID)
	}
	for i, s := range l.set.signatures {
		if i > 0 && l.set.signatures[i-1].ID == s.ID {
			continue // another scope of the same file
		}
		for k, id := range s.Mitigations {
			if !slices.Contains(known, id) {
				at := l.called[s.ID][k]
				l.problems = append(l.problems, Problem{
					File: at.file, Line: at.line, Column: at.column, Source: at.source,
					Message: fmt.Sprintf("signature %s calls for the mitigation %q, which does not exist%s", s.ID, id, meant(id, known)),
				})
			}
		}
	}
	l.set.sort()
	slices.SortStableFunc(l.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return l.problems
}
