package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Reading is how a client makes a wait of an answer: of which header, and what
// it takes its value for.
type Reading struct {
	Header string `yaml:"header"` // default Retry-After
	Form   string `yaml:"form"`   // as Hint.Form; default seconds
	Zero   bool   `yaml:"zero"`   // takes a value that it cannot read for no wait at all
}

func (r *Reading) validate() error {
	if r.Header == "" {
		r.Header = retryAfter
	}
	if r.Form == "" {
		r.Form = inSeconds
	}
	if !slices.Contains(forms, r.Form) {
		return fmt.Errorf("reads: form %q: want one of %s", r.Form, strings.Join(forms, ", "))
	}
	return nil
}

// readings are the ways in which a sender tries to read hints: its own, or all
// that the server may send, as they are meant.
func (s *Sender) readings(server *Server) (all []Reading) {
	if s.Reads != nil {
		return []Reading{*s.Reads}
	}
	hints := slices.Clone(server.Hint)
	for i := range server.Faults {
		hints = append(hints, server.Faults[i].Hint...)
	}
	for i := range hints {
		if r := (Reading{Header: hints[i].Header, Form: hints[i].Form}); !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	return all
}

// wait reads an answer; ok is false where it names no wait. now is the reader's
// clock in Unix ns.
func (r *Reading) wait(o *outcome, now int64) (wait time.Duration, ok bool) {
	value, found := o.bodyWait, o.bodyWait != ""
	if r.Header != inBody {
		value, found = fieldValue(o.fields, r.Header)
	}
	if !found {
		return 0, false
	}
	wait, ok = readForm(value, r.Form, now)
	return wait, ok || r.Zero
}

// fieldValue finds a header among field lines.
func fieldValue(fields, name string) (value string, ok bool) {
	for len(fields) > 0 {
		var line string
		line, fields, _ = strings.Cut(fields, "\r\n")
		if n, v, _ := strings.Cut(line, ":"); strings.EqualFold(n, name) {
			return strings.TrimSpace(v), true
		}
	}
	return "", false
}
