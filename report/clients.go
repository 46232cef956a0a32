package report

import (
	"strings"

	"stormwatch/detect"
)

const (
	defaultTop   = 10
	clientColumn = 16 // columns; an IPv4 address has 15
)

// clients writes the table of those to act on first. Its columns come to 100.
func (p *page) clients(s *detect.Snapshot, o Options) {
	top := o.Top
	if top <= 0 {
		top = defaultTop
	}
	s = topped(s, top)
	n := len(s.Clients)
	if n == 0 {
		return
	}
	p.head("Clients", Count(n)+" of "+Count(max(s.ClientCount, n))+", by what they need not have sent")
	row := func(client, agent, attempts, ok, refused, amp, wait, early, avoidable, sign string) {
		if client = clean(client); width(client) > clientColumn { // a name is never cut: it is what is acted on
			p.line("  " + truncate(client, columns-2, "…"))
			client = ""
		}
		p.line("  " + strings.Join([]string{
			cell(client, clientColumn), cell(agent, 15), cell(attempts, -7), cell(ok, -7), cell(refused, -7), cell(amp, -6),
			cell(wait, -7), cell(early, -5), cell(avoidable, -6), cell(sign, 13),
		}, " "))
	}
	row("CLIENT", "AGENT", "SENT", "OK", "REFUSED", "AMP", "GAP", "EARLY", "AVOID", "SIGN")
	for i := range s.Clients[:n] {
		c := &s.Clients[i]
		row(label(c), c.Agent, Count(c.Attempts), Count(c.OK), Count(c.Refused), times(c.Amplification),
			gap(c.GapMedianS), strings.ReplaceAll(percent(c.EarlyShare), " ", ""), perSecond(c.AvoidablePerS), sign(c))
	}
	rest := &s.ClientsOthers
	if others := s.ClientCount - n; others > 0 {
		row(Count(others)+" others", "", Count(rest.Attempts), Count(rest.OK), Count(rest.Refused), "", "", "", perSecond(rest.AvoidablePerS), "")
	}
}

func label(c *detect.Client) string {
	if c.Name != "" && !strings.HasPrefix(c.Label, c.Name) { // else the label tells it, and which of several of that name
		return c.Name
	}
	return c.Label
}

// sign is the client's first signature and how many more it has.
func sign(c *detect.Client) string {
	switch n := len(c.Signatures); {
	case c.Behind > 0:
		return Count(c.Behind) + " share it"
	case n == 0 && c.Victim:
		return "victim"
	case n == 0:
		return ""
	case n == 1:
		return c.Signatures[0]
	default:
		return clip(c.Signatures[0], 10) + " +" + Count(n-1)
	}
}

// topped returns s with the clients beyond top summed up with the others; top 0
// leaves all.
func topped(s *detect.Snapshot, top int) *detect.Snapshot {
	if top <= 0 || top >= len(s.Clients) {
		return s
	}
	out := *s
	out.Clients = s.Clients[:top]
	o := &out.ClientsOthers
	for i := range s.Clients[top:] {
		c := &s.Clients[top+i]
		o.Attempts, o.OK, o.Refused = o.Attempts+c.Attempts, o.OK+c.OK, o.Refused+c.Refused
		o.AvoidablePerS = detect.Number{V: o.AvoidablePerS.V + c.AvoidablePerS.V, Known: o.AvoidablePerS.Known || c.AvoidablePerS.Known}
	}
	o.Label = Count(s.ClientCount-top) + " others"
	return &out
}
