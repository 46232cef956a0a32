package rules

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// Conditions are written in the expr language. Its parser is used, but not its
// machine: client rules run for each client in each second, and a tree of
// functions over the dense Values needs neither an environment nor a stack.

type (
	condition func(*Values) bool
	quantity  func(*Values) float64
)

// clause is a comparison that a condition makes, as text, for the feature it
// speaks of.
type clause struct {
	feature FeatureID
	text    string
}

// compiler turns one expression into functions and notes what it uses.
type compiler struct {
	scopes  []Scope
	uses    []FeatureID // in order of appearance, each once
	clauses []clause
}

// parserPlace is how the parser ends its messages; ours begin with the place in the file.
var parserPlace = regexp.MustCompile(` \(\d+:\d+\)$`)

const maxExpression = 2000 // bytes; the longest embedded one has 300, and depth is bounded by it

func (c *compiler) parse(text string) (ast.Node, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("an expression of %d bytes: at most %d", len(text), maxExpression)
	}
	tree, err := parser.Parse(text)
	if cause := err; err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		err = fmt.Errorf("cannot read the expression: %s", parserPlace.ReplaceAllString(first, ""))
		var where *file.Error
		if errors.As(cause, &where) {
			return nil, located(where.From, err)
		}
		return nil, err
	}
	return tree.Node, nil
}

// condition compiles text that must be true or false.
func (c *compiler) condition(text string) (condition, error) {
	node, err := c.parse(text)
	if err != nil {
		return nil, err
	}
	return c.truth(node)
}

// quantity compiles text that must be a number.
func (c *compiler) quantity(text string) (quantity, error) {
	node, err := c.parse(text)
	if err != nil {
		return nil, err
	}
	return c.number(node)
}

func (c *compiler) truth(node ast.Node) (condition, error) {
	switch n := node.(type) {
	case *ast.BoolNode:
		return func(*Values) bool { return n.Value }, nil
	case *ast.IdentifierNode:
		id, err := c.feature(n.Value)
		if err != nil {
			return nil, located(n.Location().From, err)
		}
		if !features[id].Boolean {
			return nil, located(n.Location().From, fmt.Errorf("%s is a number: compare it with something", n.Value))
		}
		c.clauses = append(c.clauses, clause{id, n.Value})
		return func(v *Values) bool { return v.x[id] != 0 }, nil
	case *ast.UnaryNode:
		if n.Operator == "!" || n.Operator == "not" {
			a, err := c.truth(n.Node)
			return func(v *Values) bool { return !a(v) }, err
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "&&", "and", "||", "or":
			return c.both(n)
		}
		return c.comparison(n)
	}
	return nil, notUnderstood(node, "true or false")
}

func (c *compiler) both(n *ast.BinaryNode) (condition, error) {
	a, err := c.truth(n.Left)
	if err != nil {
		return nil, err
	}
	b, err := c.truth(n.Right)
	if err != nil {
		return nil, err
	}
	if n.Operator == "&&" || n.Operator == "and" {
		return func(v *Values) bool { return a(v) && b(v) }, nil
	}
	return func(v *Values) bool { return a(v) || b(v) }, nil
}

func (c *compiler) comparison(n *ast.BinaryNode) (condition, error) {
	compare := map[string]func(a, b float64) bool{
		"<":  func(a, b float64) bool { return a < b },
		"<=": func(a, b float64) bool { return a <= b },
		">":  func(a, b float64) bool { return a > b },
		">=": func(a, b float64) bool { return a >= b },
		"==": func(a, b float64) bool { return a == b },
		"!=": func(a, b float64) bool { return a != b },
	}[n.Operator]
	if compare == nil {
		return nil, notUnderstood(n, "true or false")
	}
	a, b, err := c.pair(n.Left, n.Right)
	if err != nil {
		return nil, err
	}
	if name, ok := n.Left.(*ast.IdentifierNode); ok {
		id, _ := FeatureNamed(name.Value)
		c.clauses = append(c.clauses, clause{id, n.String()})
	}
	return func(v *Values) bool { return compare(a(v), b(v)) }, nil
}

func (c *compiler) number(node ast.Node) (quantity, error) {
	switch n := node.(type) {
	case *ast.IntegerNode:
		x := float64(n.Value)
		return func(*Values) float64 { return x }, nil
	case *ast.FloatNode:
		return func(*Values) float64 { return n.Value }, nil
	case *ast.IdentifierNode:
		id, err := c.feature(n.Value)
		if err != nil {
			return nil, located(n.Location().From, err)
		}
		if features[id].Boolean {
			return nil, located(n.Location().From, fmt.Errorf("%s is yes or no: write %s or !%s, without a number", n.Value, n.Value, n.Value))
		}
		return func(v *Values) float64 { return v.x[id] }, nil
	case *ast.UnaryNode:
		a, err := c.number(n.Node)
		switch {
		case err != nil:
			return nil, err
		case n.Operator == "-":
			return func(v *Values) float64 { return -a(v) }, nil
		case n.Operator == "+":
			return a, nil
		}
	case *ast.BinaryNode:
		return c.arithmetic(n)
	case *ast.ConditionalNode:
		return c.choice(n)
	case *ast.BuiltinNode:
		return c.call(n)
	}
	return nil, notUnderstood(node, "a number")
}

func (c *compiler) arithmetic(n *ast.BinaryNode) (quantity, error) {
	combine := map[string]func(a, b float64) float64{
		"+":  func(a, b float64) float64 { return a + b },
		"-":  func(a, b float64) float64 { return a - b },
		"*":  func(a, b float64) float64 { return a * b },
		"/":  func(a, b float64) float64 { return a / b },
		"**": math.Pow,
		"^":  math.Pow,
	}[n.Operator]
	if combine == nil {
		return nil, notUnderstood(n, "a number")
	}
	a, b, err := c.pair(n.Left, n.Right)
	return func(v *Values) float64 { return combine(a(v), b(v)) }, err
}

func (c *compiler) choice(n *ast.ConditionalNode) (quantity, error) {
	when, err := c.truth(n.Cond)
	if err != nil {
		return nil, err
	}
	a, b, err := c.pair(n.Exp1, n.Exp2)
	return func(v *Values) float64 {
		if when(v) {
			return a(v)
		}
		return b(v)
	}, err
}

func (c *compiler) call(n *ast.BuiltinNode) (quantity, error) {
	combine := map[string]func(a, b float64) float64{
		"min": func(a, b float64) float64 { return min(a, b) },
		"max": func(a, b float64) float64 { return max(a, b) },
		"abs": func(a, _ float64) float64 { return math.Abs(a) },
	}[n.Name]
	switch takes := len(n.Arguments); {
	case combine == nil:
		return nil, located(n.Location().From, fmt.Errorf("the function %s is not available: min, max and abs are", n.Name))
	case n.Name == "abs" && takes != 1, n.Name != "abs" && takes != 2:
		return nil, located(n.Location().From, fmt.Errorf("abs takes one number, min and max take two, not %d: %s", takes, n))
	}
	a, b, err := c.pair(n.Arguments[0], n.Arguments[len(n.Arguments)-1])
	return func(v *Values) float64 { return combine(a(v), b(v)) }, err
}

func (c *compiler) pair(left, right ast.Node) (a, b quantity, err error) {
	if a, err = c.number(left); err != nil {
		return nil, nil, err
	}
	b, err = c.number(right)
	return a, b, err
}

// feature looks a name up and checks that it is measured where the rule is
// judged.
func (c *compiler) feature(name string) (FeatureID, error) {
	id, ok := FeatureNamed(name)
	if !ok {
		return 0, unknownFeature(name)
	}
	for _, s := range c.scopes {
		if !slices.Contains(features[id].Scopes, s) {
			return 0, fmt.Errorf("%s is not measured in the scope %q, only in: %s", name, s, list(features[id].Scopes))
		}
	}
	if !slices.Contains(c.uses, id) {
		c.uses = append(c.uses, id)
	}
	return id, nil
}

func unknownFeature(name string) error {
	names := make([]string, 0, featureCount)
	for i := range features {
		names = append(names, features[i].Name)
	}
	return fmt.Errorf("unknown feature %q%s; `stormwatch rules list` shows them all", name, meant(name, names))
}

func notUnderstood(node ast.Node, want string) error {
	text := []rune(node.String())
	if len(text) > 60 {
		text = append(text[:60], '…')
	}
	return located(node.Location().From,
		fmt.Errorf("%s is not %s; a rule may use + - * / **, comparisons, && || !, a ? b : c, min, max and abs", string(text), want))
}
