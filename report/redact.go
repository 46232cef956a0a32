package report

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

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
	out.Growth = slices.Clone(s.Growth)
	for i := range out.Growth {
		if g := &out.Growth[i]; g.Kind == "client" {
			g.Name = number(g.Name)
		} else {
			g.Name = unaddressed(g.Name)
		}
	}
	out.Findings = slices.Clone(s.Findings)
	for i := range out.Findings {
		f := &out.Findings[i]
		f.Clients = slices.Clone(f.Clients)
		for k := range f.Clients {
			f.Clients[k] = number(f.Clients[k])
		}
	}
	for i := range out.Clients {
		out.Clients[i].Agent, out.Clients[i].Route = unaddressed(out.Clients[i].Agent), unaddressed(out.Clients[i].Route)
	}
	for i := range out.Findings {
		f := &out.Findings[i]
		f.Agent, f.Route, f.Says = unaddressed(f.Agent), unaddressed(f.Route), unaddressed(f.Says)
	}
	out.Verdict.Who, out.Verdict.What = unaddressed(s.Verdict.Who), unaddressed(s.Verdict.What)
	out.Verdict.NextEvidence = slices.Clone(s.Verdict.NextEvidence)
	for i := range out.Verdict.NextEvidence {
		out.Verdict.NextEvidence[i] = unaddressed(out.Verdict.NextEvidence[i])
	}
	out.Sources = slices.Clone(s.Sources)
	for i := range out.Sources {
		src := &out.Sources[i]
		src.Name, src.Vantage, src.Note = unaddressed(src.Name), unaddressed(src.Vantage), unaddressed(src.Note)
		h := &src.Health
		h.Skipped = slices.Clone(h.Skipped)
		for k := range h.Skipped {
			h.Skipped[k].Examples = nil
		}
	}
	return &out
}

// unaddressed replaces what reads as an IP address, in texts that the input or the
// user's file names gave.
func unaddressed(s string) string {
	var b strings.Builder
	for s != "" {
		n := strings.IndexFunc(s, addressy)
		if n < 0 {
			break
		}
		b.WriteString(s[:n])
		s = s[n:]
		end := strings.IndexFunc(s, func(r rune) bool { return !addressy(r) })
		if end < 0 {
			end = len(s)
		}
		b.WriteString(unaddressedWord(s[:end]))
		s = s[end:]
	}
	return b.String() + s
}

func addressy(r rune) bool {
	return r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'f' || r == '.' || r == ':'
}

// longestAddress is that of an IPv6 address with a port.
const longestAddress = len("[0000:0000:0000:0000:0000:ffff:255.255.255.255]:65535")

// unaddressedWord looks at a run of characters that addresses are made of; full
// stops and colons at its ends may belong to the sentence, and a port to an address.
func unaddressedWord(s string) string {
	for from := 0; from < len(s); from++ {
		for to := min(len(s), from+longestAddress); to-from >= len("::1"); to-- {
			part := s[from:to]
			_, err := netip.ParseAddr(part)
			if _, port := netip.ParseAddrPort(part); err == nil || port == nil {
				return s[:from] + "(address)" + unaddressedWord(s[to:])
			}
		}
	}
	return s
}
