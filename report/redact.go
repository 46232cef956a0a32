package report

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"stormwatch/capture"
	"stormwatch/detect"
)

// prepared returns what a form shows of s.
func prepared(s *detect.Snapshot, o Options) *detect.Snapshot {
	if !o.Redact {
		return s
	}
	return NewRedactor().Snapshot(s)
}

// Redactor gives clients numbers in place of names, the same ones in every
// Snapshot it is shown. It may be used by several goroutines.
type Redactor struct {
	mu     sync.Mutex
	number map[string]string // by label
	label  map[string]string // by number
}

// NewRedactor returns one that has seen no client.
func NewRedactor() *Redactor {
	return &Redactor{number: map[string]string{}, label: map[string]string{}}
}

// Label returns the label of the client that is shown as a number.
func (r *Redactor) Label(shown string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.label[shown]
}

// Client returns a row of the client table as it is shown.
func (r *Redactor) Client(c *detect.Client) detect.Client {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.client(c)
}

func (r *Redactor) client(c *detect.Client) detect.Client {
	out := *c
	hide := hider{r: r, names: map[string]string{c.Label: r.of(c.Label), c.Name: r.of(c.Label)}}
	out.Label, out.Name = r.of(c.Label), ""
	out.Agent, out.Route = hide.text(c.Agent), hide.text(c.Route)
	return out
}

// of numbers clients in the order in which they are first shown.
func (r *Redactor) of(label string) string {
	if r.number[label] == "" {
		name := "client-" + strconv.Itoa(len(r.number)+1)
		r.number[label], r.label[name] = name, label
	}
	return r.number[label]
}

// Snapshot returns a copy in which clients are numbered in the order of the
// report, and in which no example from the input is left, since those may hold
// addresses too.
func (r *Redactor) Snapshot(s *detect.Snapshot) *detect.Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := *s
	hide := hider{r: r, names: map[string]string{}}
	for i := range s.Clients {
		c := &s.Clients[i]
		hide.names[c.Label] = r.of(c.Label)
		hide.names[c.Name] = r.of(c.Label)
	}
	for i := range s.Findings {
		for _, label := range s.Findings[i].Clients {
			hide.names[label] = r.of(label)
		}
	}
	for i := range s.Sources {
		for _, label := range s.Sources[i].Shared {
			hide.names[label] = r.of(label)
		}
	}
	for i := range s.Growth {
		if g := &s.Growth[i]; g.Kind == "client" {
			hide.names[g.Name] = r.of(g.Name)
		}
	}
	for i := range s.Arrivals.Clients {
		hide.names[s.Arrivals.Clients[i].Label] = r.of(s.Arrivals.Clients[i].Label)
	}
	for i := range s.Chains {
		hide.names[s.Chains[i].Client] = r.of(s.Chains[i].Client)
	}
	out.Clients = each(s.Clients, r.client)
	out.Findings = each(s.Findings, hide.finding)
	out.Chains = each(s.Chains, hide.chain)
	out.Events = each(s.Events, func(e *detect.Event) detect.Event {
		return detect.Event{At: e.At, Kind: e.Kind, Text: hide.text(e.Text)}
	})
	out.Sources = each(s.Sources, hide.source)
	v := &out.Verdict
	v.Who, v.What, v.Do, v.Dont, v.NextEvidence = hide.text(v.Who), hide.text(v.What), hide.text(v.Do), hide.text(v.Dont), hide.texts(v.NextEvidence)
	out.Layers.Rows = slices.Clone(s.Layers.Rows)
	for i := range out.Layers.Rows {
		out.Layers.Rows[i].Name = hide.text(out.Layers.Rows[i].Name)
	}
	out.Habits = slices.Clone(s.Habits)
	for i := range out.Habits {
		out.Habits[i].Agent = hide.text(out.Habits[i].Agent)
	}
	out.Growth = slices.Clone(s.Growth)
	for i := range out.Growth {
		g := &out.Growth[i]
		if g.Name = hide.text(g.Name); g.Kind == "client" {
			g.Name = r.of(s.Growth[i].Name)
		}
	}
	out.Arrivals.Clients = slices.Clone(s.Arrivals.Clients)
	for i := range out.Arrivals.Clients {
		out.Arrivals.Clients[i].Label = r.of(out.Arrivals.Clients[i].Label)
	}
	return &out
}

// hider takes clients out of free texts: those it knows by name, and whatever
// reads as an address.
type hider struct {
	r     *Redactor
	names map[string]string
	by    map[byte][]string // the names by their first byte, longest first; made when first needed
}

const leastHidden = 3 // bytes of a name that is looked for in free text

func (h *hider) text(s string) string {
	if h.by == nil {
		h.by = map[byte][]string{}
		for name := range h.names {
			if len(name) >= leastHidden {
				h.by[name[0]] = append(h.by[name[0]], name)
			}
		}
		for _, list := range h.by {
			slices.SortFunc(list, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
		}
	}
	var b strings.Builder
	from, before := 0, ' '
	for i := 0; i < len(s); {
		if name := h.named(s[i:]); name != "" && !wordy(before) {
			b.WriteString(s[from:i])
			b.WriteString(h.names[name])
			i += len(name)
			from = i
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		before = r
		i += n
	}
	b.WriteString(s[from:])
	return unaddressed(b.String())
}

// named returns the longest name that a text begins with as a word of its own.
func (h *hider) named(s string) string {
	if s == "" {
		return ""
	}
	for _, name := range h.by[s[0]] {
		if after, _ := utf8.DecodeRuneInString(s[min(len(name), len(s)):]); strings.HasPrefix(s, name) && (len(s) == len(name) || !wordy(after)) {
			return name
		}
	}
	return ""
}

func (h *hider) texts(in []string) []string {
	return each(in, func(s *string) string { return h.text(*s) })
}

func wordy(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func (h *hider) finding(f *detect.Finding) detect.Finding {
	out := *f
	out.Clients = each(f.Clients, func(s *string) string { return h.r.of(*s) })
	out.Agent, out.Route, out.Layer, out.Says, out.At = h.text(f.Agent), h.text(f.Route), h.text(f.Layer), h.text(f.Says), h.texts(f.At)
	return out
}

func (h *hider) chain(k *detect.Chain) detect.Chain {
	out := *k
	out.Client = h.r.of(k.Client)
	out.ID = out.Client
	if i := strings.LastIndexByte(k.ID, '#'); i >= 0 {
		out.ID += k.ID[i:]
	}
	out.Agent, out.Host, out.Path = h.text(k.Agent), h.text(k.Host), h.text(BlankQuery(k.Path))
	out.Attempts = each(k.Attempts, func(a *detect.Attempt) detect.Attempt {
		b := *a
		b.HintRaw, b.At = h.text(a.HintRaw), h.text(a.At)
		b.Tried = slices.Clone(a.Tried)
		for i := range b.Tried {
			b.Tried[i].Server = h.text(b.Tried[i].Server)
		}
		return b
	})
	return out
}

func (h *hider) source(s *detect.Source) detect.Source {
	out := *s
	note := s.Note
	for _, label := range s.Shared { // however short
		note = strings.ReplaceAll(note, "behind "+label, "behind "+h.r.of(label))
	}
	out.Name, out.Vantage, out.Note = h.text(s.Name), h.text(s.Vantage), h.text(note)
	out.Shared = each(s.Shared, func(label *string) string { return h.r.of(*label) })
	health := &out.Health
	health.Notes, health.Down = h.texts(health.Notes), h.text(health.Down)
	bare := func(k *capture.Skip) capture.Skip {
		return capture.Skip{Reason: k.Reason, Count: k.Count, Sound: k.Sound}
	}
	health.Skipped, health.Bounds = each(health.Skipped, bare), each(health.Bounds, bare)
	return out
}

// Unaddressed replaces what reads as an IP address.
func Unaddressed(s string) string { return unaddressed(s) }

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
