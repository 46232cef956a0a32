package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"stormwatch/capture"
	"stormwatch/detect"
)

// Products are what a throttle list can be written for.
func Products() []string { return []string{"nginx", "haproxy", "envoy", "csv"} }

// ThrottleList writes what limits the clients that send most of what need not be
// sent, each to about what it asks for anew: a snippet for Options.For, with the undo and
// when to stop beside it. Options.ClientBy says what a client is, as --client-by. It
// never names a victim or an address that several clients share, and never holds a
// secret: where clients are told apart by one, each value of that header is limited.
// From the client's side there is nobody to limit, which is an error.
func ThrottleList(w io.Writer, s *detect.Snapshot, o Options) error {
	if s.Perspective == detect.PerspectiveClient {
		return errors.New("no throttle list from the client's side: the addresses are those of the servers called; put the limit into your own client")
	}
	t := throttled(s, o)
	var b bytes.Buffer
	switch o.For {
	case "nginx":
		t.nginx(&b)
	case "haproxy":
		t.haproxy(&b)
	case "envoy":
		t.envoy(&b)
	case "csv":
		t.csv(&b)
	default:
		return fmt.Errorf("a throttle list is for one of: %s", strings.Join(Products(), ", "))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// means is what tells a client from others in a request.
type means uint8

const (
	byAddress means = iota
	byNetwork
	byHeader
	byPath
	bySecret // its value is not known, and must not be
	byNothing
)

func (m means) String() string {
	return [...]string{"address", "network", "header", "path", "secret header", "nothing"}[m]
}

// target is a client to be limited.
type target struct {
	id      string // c1, c2 ...
	label   string // as people know it, cleaned
	by      means
	value   string       // of the header, or of the part of the path
	network netip.Prefix // of an address or a network
	limit   int          // requests per minute that it keeps
	why     string       // it is left out
	client  *detect.Client
	share   float64 // of the avoidable load, of this and those before it
}

// throttle is a list of targets and how they are told.
type throttle struct {
	targets []target
	left    []target // that are on no list, with why
	header  string   // in lower case; that of byHeader or bySecret
	segment int      // of byPath, from 1
	of      int
	at      int64
	victims int
}

const defaultThrottled = 10 // where no few clients make most of the load

// throttled picks the clients.
func throttled(s *detect.Snapshot, o Options) throttle {
	t := throttle{of: s.ClientCount, at: s.At, victims: s.Victims}
	how := t.means(o.ClientBy)
	total := s.ClientsOthers.AvoidablePerS.V
	for i := range s.Clients {
		total += s.Clients[i].AvoidablePerS.V
	}
	top := o.Top
	if r, few := detect.Worthwhile(s.Reach); top <= 0 && few {
		top = r.Clients
	} else if top <= 0 {
		top = defaultThrottled
	}
	if len(s.Reach) == 0 || total <= 0 {
		return t
	}
	sum := 0.0
	for i := range s.Clients {
		c := &s.Clients[i]
		if len(t.targets)+len(t.left) == top || c.AvoidablePerS.V <= 0 {
			break
		}
		if c.Victim {
			continue
		}
		sum += c.AvoidablePerS.V
		x := target{label: clean(c.Label), client: c, limit: allowance(c, s), share: sum / total}
		t.name(&x, how)
		switch {
		case x.by == byNothing:
			x.why = "no configuration can name it"
		case c.Behind > 1:
			x.by, x.why = byNothing, "about "+Count(c.Behind)+" clients share it, and a limit would hold all of them"
		}
		if x.why != "" {
			t.left = append(t.left, x)
			continue
		}
		x.id = "c" + strconv.Itoa(len(t.targets)+1)
		t.targets = append(t.targets, x)
	}
	return t
}

// allowance is how many requests per minute a client keeps: what it asked for anew, on
// average, and a fifth more, rounded up so that few limits serve all clients.
func allowance(c *detect.Client, s *detect.Snapshot) int {
	const least, most = 10, 1e9
	minutes := max(float64(s.End-s.Start)/60e9, 1./60)
	want := min(max(1.2*float64(c.First)/minutes, least), most)
	step := 10.
	if want >= 100 {
		step = math.Pow10(int(math.Log10(want))) / 2
	}
	return int(math.Ceil(want/step-1e-9) * step)
}

// means tells how clients are known, by what the user said a client is.
func (t *throttle) means(clientBy string) means {
	what, arg, _ := strings.Cut(clientBy, ":")
	switch what {
	case "agent":
		t.header = "user-agent"
		return byHeader
	case "header":
		t.header = strings.ToLower(arg)
		if (capture.ClientField{Header: t.header}).Secret() {
			return bySecret
		}
		return byHeader
	case "key", "jwt":
		t.header = "authorization"
		return bySecret
	case "path":
		t.segment, _ = strconv.Atoi(arg)
		return byPath
	}
	return byAddress
}

// name finds what a configuration can know a client by.
func (t *throttle) name(x *target, how means) {
	raw := x.client.Label
	if n := x.client.Name; n != "" {
		if inner, ok := strings.CutPrefix(raw, n+" ("); ok {
			raw = strings.TrimSuffix(inner, ")")
		}
	}
	if a, err := netip.ParseAddr(raw); err == nil && how != byHeader && how != byPath {
		x.by, x.network = byAddress, netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen())
		return
	}
	if p, err := netip.ParsePrefix(raw); err == nil && how == byAddress {
		x.by, x.network = byNetwork, p.Masked()
		return
	}
	x.value = strings.TrimPrefix(raw, "/")
	if how == byHeader {
		x.value = raw
	}
	switch {
	case how == bySecret && plainHeader(t.header):
		x.by, x.value = bySecret, ""
	case raw == clean(raw) && x.value != "" && x.value == strings.TrimSpace(x.value) && len(x.value) < 256 &&
		raw[0] != '(' && (how == byHeader && plainHeader(t.header) || how == byPath && t.segment > 0):
		x.by = how
	default: // of several clients together, or with characters that no configuration can hold
		x.by = byNothing
	}
}

// plainHeader tells whether a name can be written into a configuration as it is.
func plainHeader(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// has tells whether a client is known by one of some means.
func (t *throttle) has(by ...means) bool {
	return slices.ContainsFunc(t.targets, func(x target) bool { return slices.Contains(by, x.by) })
}

// limits lists the limits of the targets known by some means, the least first.
func (t *throttle) limits(by ...means) (out []int) {
	for i := range t.targets {
		if x := &t.targets[i]; slices.Contains(by, x.by) && !slices.Contains(out, x.limit) {
			out = append(out, x.limit)
		}
	}
	slices.Sort(out)
	return out
}

// head writes the comments that every form begins with. A label is only what came of
// the traffic, cleaned of line breaks.
func (t *throttle) head(b *bytes.Buffer, undo string) {
	line := func(format string, args ...any) { fmt.Fprintf(b, "# "+format+"\n", args...) }
	if len(t.targets) == 0 && len(t.left) == 0 {
		line("stormwatch, %s UTC: nothing to throttle, no client stands out for what it need not send; where many do a little, what to do is in the report", date(t.at))
		return
	}
	all := append(slices.Clone(t.targets), t.left...)
	last := 0.0
	for i := range all {
		last = max(last, all[i].share)
	}
	line("stormwatch, %s UTC: %s of %s clients send %s of what need not be sent", date(t.at), Count(len(all)), Count(t.of), shareOf(last))
	line("each keeps what it asked for anew and a fifth more; what is over gets 429 and a Retry-After")
	for i := range t.targets {
		x := &t.targets[i]
		line("%s  %s: %s sent, %s refused, %s need not have been; keeps %d a minute", x.id, x.label, Count(x.client.Attempts), Count(x.client.Refused),
			perSecond(x.client.AvoidablePerS), x.limit)
	}
	for i := range t.left {
		line("left out  %s: %s", t.left[i].label, t.left[i].why)
	}
	if t.has(bySecret) {
		line("these are told apart by a secret, which stands nowhere: EVERY value of %s is limited", t.header)
	}
	if t.victims > 0 {
		line("%s refused and never retrying: victims, on no list", several(t.victims, "client"))
	}
	line("check: within a minute, hardly more of theirs passes than what they keep, and refusals of others fall")
	line("stop: lift it for who stayed below the limit for ten minutes; lift it all if anybody else is refused by it,")
	line("  or if refusals of others have not fallen in five minutes: then these were not the cause")
	line("undo: %s", undo)
}
