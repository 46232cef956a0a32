package detect

import (
	"fmt"
	"strings"
)

// hidden is what the sources judged carried and could not show. Each connection
// carried a request at least, or was meant to.
type hidden struct {
	sealed, rejected, cut uint64  // connections
	orphans               uint64  // answers without their request
	seen                  uint64  // requests that could be read
	quic, used            uint64  // packets: of HTTP/3, and those that were read
	unread                float64 // share of an input that lies behind damage
}

func (e *engine) hidden() (h hidden) {
	for i := range e.sources {
		if s := &e.sources[i]; s.Primary {
			h.sealed += s.Health.Encrypted
			h.rejected += s.Health.Rejected
			h.cut += s.Health.Cut
			h.quic += s.Health.QUIC
			h.used += s.Health.Used
			h.unread = max(h.unread, s.Health.Unread)
		}
	}
	h.orphans = uint64(e.pop.total.orphans)
	h.seen = uint64(max(e.pop.total.attempts-e.pop.total.orphans, 0))
	return h
}

// share is how much of the traffic could not be seen, as far as can be told: of
// exchanges, where a connection stands for one, and of packets, since how many
// requests are in those of HTTP/3 nobody knows.
func (h *hidden) share() float64 {
	n := h.sealed + h.rejected + h.cut + h.orphans
	return 1 - (1-part(n, h.seen))*(1-part(h.quic, h.used))*(1-h.unread)
}

func part(n, rest uint64) float64 {
	if n == 0 {
		return 0
	}
	return float64(n) / float64(n+rest)
}

// hiddenShare is how much of the traffic may be hidden where calm among the rest is
// still "clear". It is a choice: a third of the exchanges failing would be a grave
// incident.
const hiddenShare = 1. / 3

// mostlyHidden tells whether so much could not be seen that calm among the rest says
// nothing of the whole. A CONNECT is a request for each connection that it opens.
func (e *engine) mostlyHidden() bool {
	h := e.hidden()
	return h.share() > hiddenShare
}

const (
	unsealing = "capture behind TLS termination (between the proxy and the service), or use the server's access log"
	uncutting = "capture whole packets (tcpdump -s 0)"
)

// kinds tells what was hidden, and what would show it.
func (h *hidden) kinds() (out []hiddenKind) {
	all := h.sealed + h.rejected + h.cut + h.orphans + h.seen
	among := func(n uint64) float64 { return part(n, all-n) }
	for _, k := range []hiddenKind{
		{h.sealed, among(h.sealed), number(h.sealed, "connection is", "connections are") + " encrypted", unsealing},
		{h.rejected, among(h.rejected), number(h.rejected, "connection", "connections") + " refused", "look at the servers: where a connection is answered by a reset nobody listens, or the queue is full"},
		{h.cut, among(h.cut), number(h.cut, "connection was", "connections were") + " cut short by the capture", uncutting},
		{h.orphans, among(h.orphans), fmt.Sprintf("%d of %d answers were captured without their request", h.orphans, h.orphans+h.seen), "capture both directions, and for longer"},
		{h.quic, part(h.quic, h.used), fmt.Sprintf("QUIC, %s: cannot be read", number(h.quic, "packet", "packets")), unsealing},
	} {
		if k.n > 0 {
			out = append(out, k)
		}
	}
	if h.unread > 0 {
		out = append(out, hiddenKind{1, h.unread, fmt.Sprintf("%.0f %% of an input lie behind a damaged record and were not read", 100*h.unread), "copy or capture it again, in binary mode"})
	}
	return out
}

type hiddenKind struct {
	n          uint64
	share      float64 // of the traffic, as it goes into the share of all
	text, wish string
}

func number(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// most is the kind that hides the largest share: numbers of connections, of packets
// and of bytes cannot be compared.
func most(kinds []hiddenKind) hiddenKind {
	best := kinds[0]
	for _, k := range kinds {
		if k.share > best.share {
			best = k
		}
	}
	return best
}

// text sums it up in a line.
func hiddenText(kinds []hiddenKind) string {
	texts := make([]string, len(kinds))
	for i := range kinds {
		texts[i] = kinds[i].text
	}
	return strings.Join(texts, ", ")
}

// unseen is the verdict over an input without requests.
func (e *engine) unseen() Verdict {
	h := e.hidden()
	kinds := h.kinds()
	if n := e.outside(); n > 0 {
		return Verdict{State: Unknown, What: fmt.Sprintf("no requests in the time asked for: %d lie outside it", n), Do: "Widen --since and --until."}
	}
	if len(kinds) == 0 {
		return Verdict{State: Unknown, What: "no requests seen", Do: "Check that the input holds HTTP traffic or log lines stormwatch reads."}
	}
	v := Verdict{State: Unknown, What: "no requests seen: " + hiddenText(kinds), Do: sentence(most(kinds).wish)}
	for _, k := range kinds {
		v.NextEvidence = append(v.NextEvidence, k.text+": "+k.wish)
	}
	return v
}

// outside is how many exchanges lie outside the time that is looked at.
func (e *engine) outside() (n uint64) {
	for i := range e.sources {
		for _, skip := range e.sources[i].Health.Skipped {
			if e.sources[i].Primary && skip.Reason == outsideWindow {
				n += skip.Count
			}
		}
	}
	return n
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }
