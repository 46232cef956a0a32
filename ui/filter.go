package ui

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"stormwatch/capture"
	"stormwatch/detect"
	"stormwatch/report"
)

// filter selects rows of the client table. The zero filter passes all.
type filter struct {
	text  string
	terms []term
}

// term is one condition; all of a filter's terms must hold.
type term struct {
	invert bool
	field  string // "" searches every text
	needle string // lower case; for texts
	op     string // for numbers
	value  float64
}

const filterHelp = `client:10.1. agent:resty sign:lockstep refused:>5 amp:>2 early:>50% gap:<1s word; "!" before a term inverts it`

// parseFilter reads terms separated by spaces: `field:text` finds a part of a
// text without regard to case, `field:>5` compares a number, a bare word is
// searched for in every text, a leading `!` inverts a term, and double quotes
// hold a text with spaces together. Percent signs, "x" and "s" or "ms" may
// follow a number. A number that is not known satisfies no comparison.
func parseFilter(s string) (filter, error) {
	f := filter{text: strings.TrimSpace(s)}
	words, err := splitTerms(f.text)
	if err != nil {
		return filter{}, err
	}
	for _, w := range words {
		t, err := parseTerm(w)
		if err != nil {
			return filter{}, err
		}
		f.terms = append(f.terms, t)
	}
	return f, nil
}

func splitTerms(s string) (words []string, err error) {
	var word strings.Builder
	quoted, any := false, false
	for _, r := range s {
		switch {
		case r == '"':
			quoted, any = !quoted, true
		case r == ' ' && !quoted:
			if any {
				words = append(words, word.String())
			}
			word.Reset()
			any = false
		default:
			word.WriteRune(r)
			any = true
		}
	}
	if quoted {
		return nil, fmt.Errorf("a quote is not closed")
	}
	if any {
		words = append(words, word.String())
	}
	return words, nil
}

func parseTerm(w string) (t term, err error) {
	w, t.invert = strings.CutPrefix(w, "!")
	field, value, ok := strings.Cut(w, ":")
	if !ok || numberOf(field) == nil && textOf(field) == nil && !isWord(field) {
		if w == "" {
			return t, fmt.Errorf("a term is missing behind the exclamation mark")
		}
		t.needle = strings.ToLower(w)
		return t, nil
	}
	t.field = field
	switch {
	case value == "":
		return t, fmt.Errorf("%s: needs a value", field)
	case textOf(field) != nil:
		t.needle = strings.ToLower(value)
		return t, nil
	case numberOf(field) == nil:
		return t, fmt.Errorf("no field %q: %s", field, strings.Join(filterFields(), " "))
	}
	for _, op := range []string{">=", "<=", ">", "<", "="} {
		if rest, ok := strings.CutPrefix(value, op); ok {
			t.op, value = op, rest
			break
		}
	}
	if t.op == "" {
		t.op = "="
	}
	t.value, err = measure(value)
	if err != nil {
		return t, fmt.Errorf("%s: %q is no number", field, value)
	}
	return t, nil
}

// isWord tells whether s looks like a field's name rather than the start of a
// text that holds a colon, such as an IPv6 address.
func isWord(s string) bool {
	if s == "" {
		return false
	}
	for _, r := range s {
		if r < 'a' || r > 'z' {
			return false
		}
	}
	return len(s) > 4 || !isHex(s)
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

func measure(s string) (float64, error) {
	scale := 1.0
	switch {
	case strings.HasSuffix(s, "ms"):
		s, scale = s[:len(s)-2], 1e-3
	case strings.HasSuffix(s, "%"), strings.HasSuffix(s, "x"), strings.HasSuffix(s, "s"):
		s = s[:len(s)-1]
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, err
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, strconv.ErrRange
	}
	return v * scale, nil
}

// textOf returns how to read a text field, nil if there is none of that name.
func textOf(field string) func(*detect.Client) string {
	switch field {
	case "client":
		return func(c *detect.Client) string { return c.Label + " " + c.Name }
	case "agent":
		return func(c *detect.Client) string { return c.Agent }
	case "route":
		return func(c *detect.Client) string { return c.Route }
	case "sign":
		return func(c *detect.Client) string { return strings.Join(c.Signatures, " ") }
	case "policy":
		return func(c *detect.Client) string { return c.Policy.Family + " " + c.Policy.Name }
	case "":
		return func(c *detect.Client) string {
			return strings.Join([]string{c.Label, c.Name, c.Agent, c.Route, strings.Join(c.Signatures, " "), c.Policy.Family, c.Policy.Name}, "\n")
		}
	}
	return nil
}

// numberOf returns how to read a numeric field, in the unit the table shows.
func numberOf(field string) func(*detect.Client) detect.Number {
	whole := func(read func(*detect.Client) int64) func(*detect.Client) detect.Number {
		return func(c *detect.Client) detect.Number { return detect.Some(float64(read(c))) }
	}
	switch field {
	case "attempts":
		return whole(func(c *detect.Client) int64 { return c.Attempts })
	case "ok":
		return whole(func(c *detect.Client) int64 { return c.OK })
	case "refused":
		return whole(func(c *detect.Client) int64 { return c.Refused })
	case "failed":
		return whole(func(c *detect.Client) int64 { return c.Failed })
	case "retries":
		return whole(func(c *detect.Client) int64 { return c.Retries })
	case "amp":
		return func(c *detect.Client) detect.Number { return c.Amplification }
	case "early":
		return func(c *detect.Client) detect.Number {
			return detect.Number{V: 100 * c.EarlyShare.V, Known: c.EarlyShare.Known}
		}
	case "gap":
		return func(c *detect.Client) detect.Number { return c.GapMedianS }
	case "avoidable":
		return func(c *detect.Client) detect.Number { return c.AvoidablePerS }
	case "score":
		return func(c *detect.Client) detect.Number { return detect.Some(c.Score) }
	}
	return nil
}

// match tells whether a client passes. It keeps nothing and may be called from
// any goroutine.
func (f filter) match(c *detect.Client) bool {
	for _, t := range f.terms {
		if t.holds(c) == t.invert {
			return false
		}
	}
	return true
}

func (t *term) holds(c *detect.Client) bool {
	if t.op == "" {
		return strings.Contains(strings.ToLower(textOf(t.field)(c)), t.needle)
	}
	n := numberOf(t.field)(c)
	if !report.Known(n) {
		return false
	}
	switch t.op {
	case ">":
		return n.V > t.value
	case ">=":
		return n.V >= t.value
	case "<":
		return n.V < t.value
	case "<=":
		return n.V <= t.value
	}
	return n.V == t.value
}

// lasting tells whether a filter asks what clients are, not what they did so far.
func (f filter) lasting() bool {
	return !slices.ContainsFunc(f.terms, func(t term) bool { return !slices.Contains([]string{"client", "agent", "route"}, t.field) })
}

// answered tells whether all there is in a Snapshot is of the clients that pass.
func (f filter) answered(s *detect.Snapshot) bool {
	return s.Filtered.Whole && s.Filtered.Name == f.text
}

// apply leaves in a Snapshot what concerns clients that pass: their rows, findings
// that they have a part in or that are about everybody, mitigations of these, and
// their chains. Sums and the timeline stay what they are: those of all, unless the
// Snapshot is of these clients alone.
func (f filter) apply(s *detect.Snapshot) *detect.Snapshot {
	if len(f.terms) == 0 || f.answered(s) {
		return s
	}
	out := *s
	pass, signs := map[string]bool{}, map[string]bool{}
	out.Clients = nil
	for i := range s.Clients {
		if c := &s.Clients[i]; f.match(c) {
			pass[c.Label] = true
			out.Clients = append(out.Clients, *c)
			for _, sign := range c.Signatures {
				signs[sign] = true
			}
		}
	}
	kept := map[string]bool{}
	out.Findings = nil
	for i := range s.Findings {
		k := &s.Findings[i]
		everybody := k.ClientCount == 0 && len(k.Clients) == 0
		if everybody || signs[k.Signature] || slices.ContainsFunc(k.Clients, func(l string) bool { return pass[l] }) {
			out.Findings = append(out.Findings, *k)
			kept[k.Signature] = true
		}
	}
	out.Mitigations = nil
	for i := range s.Mitigations {
		if m := &s.Mitigations[i]; len(m.Because) == 0 || slices.ContainsFunc(m.Because, func(sign string) bool { return kept[sign] }) {
			out.Mitigations = append(out.Mitigations, *m)
		}
	}
	out.Chains = slices.DeleteFunc(slices.Clone(s.Chains), func(k detect.Chain) bool { return !pass[k.Client] })
	out.Arrivals.Clients = slices.DeleteFunc(slices.Clone(s.Arrivals.Clients), func(a detect.ClientArrivals) bool { return !pass[a.Label] })
	return &out
}

// filterFields are the fields a term may name.
func filterFields() []string {
	return []string{"client", "agent", "route", "sign", "policy", "attempts", "ok", "refused", "failed", "retries", "amp", "early", "gap", "avoidable", "score"}
}

// completeFilter lists what the last term of a filter may become: a field, or for
// the fields of few values, one that a client shown has.
func completeFilter(s *detect.Snapshot, draft string) []string {
	word := draft[lastWord(draft):]
	bare, inverted := strings.CutPrefix(word, "!")
	field, _, ok := strings.Cut(bare, ":")
	lead := ""
	if inverted {
		lead = "!"
	}
	if !ok {
		if bare == "" {
			return nil
		}
		var fields []string
		for _, name := range filterFields() {
			fields = append(fields, lead+name+":")
		}
		return offered(fields, word)
	}
	var values []string
	for i := range s.Clients {
		for _, text := range valuesOf(&s.Clients[i], field) {
			if t := lead + field + ":" + quoted(text); text != "" && !slices.Contains(values, t) {
				values = append(values, t)
			}
		}
	}
	const most = 8 // offers shown
	out := offered(values, word)
	return out[:min(len(out), most)]
}

// valuesOf are the values that a field may be completed to.
func valuesOf(c *detect.Client, field string) []string {
	switch field {
	case "agent":
		return []string{capture.Clean(c.Agent)}
	case "route":
		return []string{capture.Clean(c.Route)}
	case "sign":
		return c.Signatures
	case "policy":
		return []string{c.Policy.Family}
	case "client":
		return []string{capture.Clean(c.Label)}
	}
	return nil
}

// quoted holds a value of several words together.
func quoted(s string) string {
	if strings.Contains(s, " ") {
		return `"` + s + `"`
	}
	return s
}
