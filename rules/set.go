package rules

import (
	"cmp"
	"slices"
)

// Set is the rules in force. It is not changed once loaded: several engines may
// share it.
type Set struct {
	signatures  []*Signature
	mitigations []*Mitigation
}

// Signatures returns the signatures in force by id, and those of one id from the
// widest scope to the narrowest. It is not to be changed.
func (s *Set) Signatures() []*Signature { return s.signatures }

// Mitigations returns the mitigations in force, what can be done now first. It
// is not to be changed.
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

// replaceSignatures puts the signatures of one id, one for each scope, in the
// place of those there were.
func (s *Set) replaceSignatures(with []*Signature) {
	s.signatures = slices.DeleteFunc(s.signatures, func(o *Signature) bool { return o.ID == with[0].ID })
	s.signatures = append(s.signatures, with...)
}

func (s *Set) replaceMitigation(with *Mitigation) {
	s.mitigations = slices.DeleteFunc(s.mitigations, func(o *Mitigation) bool { return o.ID == with.ID })
	s.mitigations = append(s.mitigations, with)
}

func (s *Set) sort() {
	width := []Scope{Population, Agent, Route, Client}
	slices.SortStableFunc(s.signatures, func(a, b *Signature) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(slices.Index(width, a.Scope), slices.Index(width, b.Scope)))
	})
	slices.SortStableFunc(s.mitigations, inOrder)
}
