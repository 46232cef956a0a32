package rules

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

const evidenceExchanges = "exchanges"

// signatures reads a document that defines a signature, once for each of its
// scopes.
func (d *document) signatures(n *yaml.Node) []*Signature {
	keys := d.mapping(n, "a signature", "signature", "scope", "about", "needs", "when", "parts", "severity",
		"false_positive_rate", "says", "shows", "mitigations", "storm", "does")
	s := Signature{
		ID:             d.id(keys["signature"], n, "signature"),
		About:          d.line(keys["about"], n, "about"),
		When:           d.line(keys["when"], n, "when"),
		Severity:       d.oneOf(keys["severity"], n, "severity", severities()),
		FalsePositives: d.line(keys["false_positive_rate"], n, "false_positive_rate"),
		Says:           d.line(keys["says"], n, "says"),
		Does:           d.does(keys["does"], keys["scope"]),
		Storm:          d.yes(keys["storm"], "storm"),
		From:           d.file,
	}
	c := compiler{scopes: d.scopes(keys["scope"], n)}
	d.condition(&s, &c, keys["when"])
	d.needs(&s, &c, keys["needs"])
	d.parts(&s, &c, keys["parts"], n)
	if s.Says != "" {
		var err error
		if s.says, err = c.sentence(s.Says); err != nil {
			d.failInside(keys["says"], "says", s.Says, err)
		}
	}
	for _, item := range d.items(keys["mitigations"], n, "mitigations") {
		s.Mitigations = append(s.Mitigations, d.id(item, n, "mitigation"))
	}
	s.evidence(c.clauses, d.shows(&c, keys["shows"]))
	return perScope(&s, c.scopes)
}

// shows reads the features that are told with a finding though neither its condition
// nor its sentence speaks of them.
func (d *document) shows(c *compiler, n *yaml.Node) (more []FeatureID) {
	if n == nil {
		return nil
	}
	for _, item := range d.items(n, n, "shows") {
		id, err := c.feature(item.Value)
		if err != nil {
			d.fail(item, "shows: %v", err)
			continue
		}
		more = append(more, id)
	}
	return more
}

// does reads what a client that shows the signature does; only clients do anything.
func (d *document) does(n, scope *yaml.Node) string {
	switch {
	case n == nil:
		return ""
	case !mentions(scope, string(Client)):
		d.fail(n, "does says what clients do: scope %s is needed", Client)
		return ""
	}
	return d.line(n, n, "does")
}

func mentions(n *yaml.Node, value string) bool {
	return n != nil && (n.Value == value || slices.ContainsFunc(n.Content, func(item *yaml.Node) bool { return item.Value == value }))
}

func perScope(s *Signature, scopes []Scope) (out []*Signature) {
	for _, scope := range scopes {
		one := *s
		one.Scope = scope
		out = append(out, &one)
	}
	return out
}

func (d *document) scopes(n, at *yaml.Node) (out []Scope) {
	for _, item := range d.items(n, at, "scope") {
		s := Scope(d.oneOf(item, at, "scope", []string{string(Population), string(Agent), string(Route), string(Client)}))
		switch {
		case s == "":
		case slices.Contains(out, s):
			d.fail(item, "scope %s is given twice", s)
		default:
			out = append(out, s)
		}
	}
	return out
}

func (d *document) condition(s *Signature, c *compiler, n *yaml.Node) {
	if s.When == "" {
		return
	}
	var err error
	if s.when, err = c.condition(s.When); err != nil {
		d.failInside(n, "when", s.When, err)
		return
	}
	s.uses = slices.Clone(c.uses)
	for _, id := range s.uses {
		f := &features[id]
		s.missing = append(s.missing, "too little data: "+f.Name+" is not measured so far ("+f.Meaning+")")
	}
}

func (d *document) needs(s *Signature, c *compiler, n *yaml.Node) {
	if n == nil {
		return
	}
	keys := d.mapping(n, "needs", "clock", "evidence", "hints", "baseline", "complete", "min")
	s.Needs.Clock = d.duration(keys["clock"], "clock")
	s.Needs.Hints = d.yes(keys["hints"], "hints")
	s.Needs.Baseline = d.yes(keys["baseline"], "baseline")
	if e := keys["evidence"]; e != nil {
		s.Needs.Evidence = d.oneOf(e, n, "evidence", []string{evidenceExchanges})
	}
	if e := keys["complete"]; e != nil {
		s.Needs.Complete = d.oneOf(e, n, "complete", []string{completeChains, completeAll})
	}
	if m := keys["min"]; m != nil {
		d.minima(s, c, m)
	}
}

// minima reads {feature: least value}.
func (d *document) minima(s *Signature, c *compiler, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		d.fail(n, "min must be a mapping of features to their least values")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		id, err := c.feature(key.Value)
		if err != nil {
			d.fail(key, "min: %v", err)
			continue
		}
		if slices.ContainsFunc(s.minima, func(m minimum) bool { return m.id == id }) {
			d.fail(key, "min: %s is given twice", key.Value)
			continue
		}
		least := d.number(n.Content[i+1], n, key.Value)
		s.Needs.Min = append(s.Needs.Min, Minimum{key.Value, least})
		s.minima = append(s.minima, minimum{id, least, tooLittle(&features[id], least)})
	}
}

func tooLittle(f *Feature, least float64) string {
	if f.Boolean {
		return "too little data: not seen so far that " + f.Meaning
	}
	return "too little data: " + f.Name + " is below " + number(least) + " (" + f.Meaning + ")"
}

func (d *document) parts(s *Signature, c *compiler, n, at *yaml.Node) {
	for _, item := range d.items(n, at, "parts") {
		keys := d.mapping(item, "a part", "name", "points", "max")
		p := PartRule{
			Name:   d.line(keys["name"], item, "name"),
			Points: d.line(keys["points"], item, "points"),
			Max:    d.number(keys["max"], item, "max"),
		}
		if keys["max"] != nil && (p.Max < .001 || p.Max > 1) {
			d.fail(keys["max"], "max is %s: a part gives between 0.001 and 1", short(keys["max"].Value))
		}
		if p.Points == "" {
			continue
		}
		points, err := c.quantity(p.Points)
		if err != nil {
			d.failInside(keys["points"], "points", p.Points, err)
			continue
		}
		s.Parts, s.parts = append(s.Parts, p), append(s.parts, points)
	}
}

// mitigation reads a document that defines a mitigation.
func (d *document) mitigation(n *yaml.Node) *Mitigation {
	keys := d.mapping(n, "a mitigation", "mitigation", "title", "who", "when", "expect", "risk", "dont", "undo", "check", "stop", "perspective", "snippets")
	m := &Mitigation{
		ID:     d.id(keys["mitigation"], n, "mitigation"),
		Title:  d.line(keys["title"], n, "title"),
		Who:    d.line(keys["who"], n, "who"),
		When:   d.oneOf(keys["when"], n, "when", moments()),
		Expect: d.line(keys["expect"], n, "expect"),
		Risk:   d.line(keys["risk"], n, "risk"),
		Dont:   d.line(keys["dont"], n, "dont"),
		Undo:   d.line(keys["undo"], n, "undo"),
		Check:  d.line(keys["check"], n, "check"),
		From:   d.file,
	}
	if p := keys["perspective"]; p != nil {
		m.Perspective = d.oneOf(p, n, "perspective", []string{"server", "client"})
	}
	if keys["stop"] != nil {
		m.Stop = d.line(keys["stop"], n, "stop")
	}
	if keys["snippets"] == nil {
		return m // a thing to do need not be a configuration
	}
	for _, item := range d.items(keys["snippets"], n, "snippets") {
		keys := d.mapping(item, "a snippet", "for", "text")
		m.Snippets = append(m.Snippets, Snippet{For: d.line(keys["for"], item, "for"), Text: d.text(keys["text"], item, "text")})
	}
	return m
}

// severities are the values of Signature.Severity, in rising order.
func severities() []string { return []string{"info", "low", "medium", "high", "critical"} }
