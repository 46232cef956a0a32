package rules

import (
	"fmt"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"
)

// condition is a compiled expression and the features it uses.
type condition struct {
	text string
	prog *vm.Program
	uses []FeatureID
}

// names replaces the identifiers of features by their places.
type featureNames struct {
	uses    []FeatureID
	unknown string
}

// Visit implements ast.Visitor.
func (f *featureNames) Visit(node *ast.Node) {
	id, ok := (*node).(*ast.IdentifierNode)
	if !ok {
		return
	}
	feature, ok := featureByName(id.Value)
	if !ok {
		if _, builtin := functions[id.Value]; !builtin && id.Value != "F" && f.unknown == "" {
			f.unknown = id.Value
		}
		return
	}
	f.uses = append(f.uses, feature)
	ast.Patch(node, &ast.MemberNode{
		Node:     &ast.IdentifierNode{Value: "F"},
		Property: &ast.IntegerNode{Value: int(feature)},
	})
}

// functions are the built-in functions a rule may call.
var functions = map[string]bool{"min": true, "max": true, "abs": true}

const maxExpression = 2000 // bytes; the longest embedded one has 300

func compile(text string, boolean bool) (*condition, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("an expression of %d bytes: at most %d", len(text), maxExpression)
	}
	names := &featureNames{}
	opts := []expr.Option{expr.Env(nameEnvironment()), expr.Patch(names), expr.DisableAllBuiltins(), expr.MaxNodes(200)}
	for f := range functions {
		opts = append(opts, expr.EnableBuiltin(f))
	}
	if boolean {
		opts = append(opts, expr.AsBool())
	} else {
		opts = append(opts, expr.AsFloat64())
	}
	prog, err := expr.Compile(text, opts...)
	if err != nil {
		return nil, err
	}
	if names.unknown != "" {
		return nil, fmt.Errorf("unknown feature %q: `stormwatch rules list` shows those there are", names.unknown)
	}
	return &condition{text: text, prog: prog, uses: names.uses}, nil
}

// nameEnvironment lets the checker know every feature's name and the array that
// the names are replaced by.
func nameEnvironment() map[string]any {
	env := map[string]any{"F": []float64{}}
	for _, f := range features {
		env[f.Name] = float64(0)
	}
	return env
}

// known tells whether every feature of the condition has a value, and names the
// first that has not.
func (c *condition) known(v *Values) (missing FeatureID, ok bool) {
	for _, id := range c.uses {
		if !v.known[id] {
			return id, false
		}
	}
	return 0, true
}

func (c *condition) bool(v *Values) bool {
	out, err := expr.Run(c.prog, map[string]any{"F": v.x[:]})
	b, _ := out.(bool)
	return err == nil && b
}

func (c *condition) number(v *Values) float64 {
	out, err := expr.Run(c.prog, map[string]any{"F": v.x[:]})
	x, _ := out.(float64)
	if err != nil || x != x {
		return 0
	}
	return x
}
