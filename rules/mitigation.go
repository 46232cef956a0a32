package rules

import (
	"cmp"
	"slices"
)

// Mitigation is one thing to do about a signature.
type Mitigation struct {
	ID       string
	Title    string // what to do, as an order
	Who      string // who can do it
	When     string // "now", "client release" or "server release"
	Expect   string // the effect, in words
	Risk     string
	Dont     string // the tempting mistake
	Undo     string
	Check    string // how to see that it worked, and by when
	Stop     string // when to leave it, or go no further with it; "" where a user's rule does not say
	Snippets []Snippet
	From     string // the file it was read from

	Perspective string // "server" or "client": only who runs that side can do it; "" both
}

// Serves tells whether it is for who looks from a perspective: "client", else the
// server's.
func (m *Mitigation) Serves(perspective string) bool {
	if perspective != "client" {
		perspective = "server"
	}
	return m.Perspective == "" || m.Perspective == perspective
}

// Snippet is configuration or code for one product.
type Snippet struct{ For, Text string }

// moments are the values of Mitigation.When, in the order in which things can
// be done.
func moments() []string { return []string{"now", "client release", "server release"} }

// inOrder compares by what can be done first, then by id.
func inOrder(a, b *Mitigation) int {
	return cmp.Or(
		cmp.Compare(slices.Index(moments(), a.When), slices.Index(moments(), b.When)),
		cmp.Compare(a.ID, b.ID),
	)
}
