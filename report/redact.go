package report

import (
	"slices"
	"strconv"

	"stormwatch/detect"
)

// prepared returns what a form shows of s. With Redact that is a copy in which
// clients are numbered in the order of the report, and in which no example from
// the input is left, since those may hold addresses too.
func prepared(s *detect.Snapshot, o Options) *detect.Snapshot {
	if !o.Redact {
		return s
	}
	out := *s
	names := map[string]string{}
	number := func(label string) string {
		if names[label] == "" {
			names[label] = "client-" + strconv.Itoa(len(names)+1)
		}
		return names[label]
	}
	out.Clients = slices.Clone(s.Clients)
	for i := range out.Clients {
		out.Clients[i].Label, out.Clients[i].Name = number(out.Clients[i].Label), ""
	}
	out.Findings = slices.Clone(s.Findings)
	for i := range out.Findings {
		f := &out.Findings[i]
		f.Clients = slices.Clone(f.Clients)
		for k := range f.Clients {
			f.Clients[k] = number(f.Clients[k])
		}
	}
	out.Sources = slices.Clone(s.Sources)
	for i := range out.Sources {
		h := &out.Sources[i].Health
		h.Skipped = slices.Clone(h.Skipped)
		for k := range h.Skipped {
			h.Skipped[k].Examples = nil
		}
	}
	return &out
}
