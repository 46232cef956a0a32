package rules

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// document reads one YAML document strictly: each key must be known, each
// mistake is noted with its line, and reading goes on, so that one run of the
// checker shows them all.
type document struct {
	file     string
	lines    []string // of the file
	problems []Problem
}

func (d *document) fail(n *yaml.Node, format string, args ...any) {
	d.problems = append(d.problems, Problem{File: d.file, Line: n.Line, Column: n.Column, Message: fmt.Sprintf(format, args...)})
}

func (d *document) placeOf(n *yaml.Node) place {
	at := place{file: d.file, line: n.Line, column: n.Column}
	if n.Line > 0 && n.Line <= len(d.lines) {
		at.source = strings.TrimRight(d.lines[n.Line-1], "\r")
	}
	return at
}

// mapping returns the values of a mapping by key. Keys that are unknown or there
// twice are noted.
func (d *document) mapping(n *yaml.Node, what string, known ...string) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		d.fail(n, "%s must be a mapping of %s", what, strings.Join(known, ", "))
		return nil
	}
	values := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case !slices.Contains(known, key.Value):
			d.fail(key, "%s has no key %q%s; its keys are %s", what, short(key.Value), meant(key.Value, known), strings.Join(known, ", "))
		case values[key.Value] != nil:
			d.fail(key, "%s is given twice", key.Value)
		default:
			values[key.Value] = n.Content[i+1]
		}
	}
	return values
}

// text returns a scalar that must not be empty. at is where to complain if it is
// not there at all.
func (d *document) text(n, at *yaml.Node, key string) string {
	if n == nil {
		d.fail(at, "%s is missing", key)
		return ""
	}
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || strings.TrimSpace(n.Value) == "" {
		d.fail(n, "%s must be a text", key)
		return ""
	}
	return n.Value
}

// line is a text whose line breaks do not count.
func (d *document) line(n, at *yaml.Node, key string) string {
	return strings.Join(strings.Fields(d.text(n, at, key)), " ")
}

var identifier = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func (d *document) id(n, at *yaml.Node, key string) string {
	id := d.text(n, at, key)
	if id != "" && (len(id) > 64 || !identifier.MatchString(id)) {
		d.fail(n, "%s %q must be lower-case words joined by hyphens, 64 letters at most", key, short(id))
		return ""
	}
	return id
}

func (d *document) oneOf(n, at *yaml.Node, key string, choices []string) string {
	s := d.text(n, at, key)
	if s != "" && !slices.Contains(choices, s) {
		d.fail(n, "%s is %q%s; it must be one of: %s", key, short(s), meant(s, choices), strings.Join(choices, ", "))
		return ""
	}
	return s
}

func (d *document) number(n, at *yaml.Node, key string) float64 {
	s := d.text(n, at, key)
	if s == "" {
		return 0
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		d.fail(n, "%s is %q, which is not a number", key, short(s))
		return 0
	}
	return x
}

func (d *document) yes(n *yaml.Node, key string) bool {
	if n == nil {
		return false
	}
	if n.Value != "true" && n.Value != "false" {
		d.fail(n, "%s must be true or false", key)
	}
	return n.Value == "true"
}

func (d *document) duration(n *yaml.Node, key string) time.Duration {
	if n == nil {
		return 0
	}
	t, err := time.ParseDuration(n.Value)
	if err != nil || t <= 0 {
		d.fail(n, "%s is %q, which is not a duration such as 50ms or 1s", key, short(n.Value))
	}
	return t
}

// items returns the members of a list; a single scalar counts as a list of one.
func (d *document) items(n, at *yaml.Node, key string) []*yaml.Node {
	switch {
	case n == nil:
		d.fail(at, "%s is missing", key)
	case n.Kind == yaml.ScalarNode && n.Tag != "!!null":
		return []*yaml.Node{n}
	case n.Kind != yaml.SequenceNode || len(n.Content) == 0:
		d.fail(n, "%s must be a list that is not empty", key)
	default:
		return n.Content
	}
	return nil
}

// short keeps hostile text from flooding a message.
func short(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}
