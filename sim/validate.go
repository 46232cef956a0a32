package sim

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Bounds of a scenario. They keep a slip of the pen from filling the memory, and
// addresses within 10.1.0.0 to 10.250.255.255.
const (
	maxDuration = 24 * time.Hour
	maxGroups   = 250
	maxCount    = 60_000
	maxRate     = 100_000
	maxUnits    = 100_000
)

var (
	states  = []string{"storm", "overload", "watch", "recovering", "clear", "unknown"}
	causes  = []string{"none", "unknown", "client-behaviour", "sustaining-loop", "draining", "capacity", "server-fault", "mixed"}
	methods = []string{"GET", "HEAD", "DELETE", "POST", "PUT"}
)

// Validate fills in the defaults and tells what is wrong with a scenario. Run
// needs a scenario that has passed it.
func (sc *Scenario) Validate() error {
	switch {
	case sc.Name == "":
		return fmt.Errorf("name is missing")
	case sc.Start.IsZero():
		return fmt.Errorf("start is missing: give a moment such as 2026-03-02T03:10:00Z")
	case sc.Start.Year() < 1980 || sc.Start.Year() > 2100:
		return fmt.Errorf("start %s: want a year from 1980 to 2100", sc.Start)
	case sc.Duration <= 0 || sc.Duration > maxDuration:
		return fmt.Errorf("duration %s: want more than 0 and up to %s", sc.Duration, maxDuration)
	case len(sc.Groups) == 0 || len(sc.Groups) > maxGroups:
		return fmt.Errorf("%d groups: want 1 to %d", len(sc.Groups), maxGroups)
	}
	if err := sc.Server.validate(); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	for i := range sc.Groups {
		g := &sc.Groups[i]
		if err := g.validate(sc.Duration); err != nil {
			return fmt.Errorf("group %d (%s): %w", i+1, g.Name, err)
		}
		if slices.IndexFunc(sc.Groups, func(o Group) bool { return o.Name == g.Name }) < i {
			return fmt.Errorf("group %d: the name %q is taken: give each group its own", i+1, g.Name)
		}
	}
	return sc.Expect.validate(sc.Groups)
}

func (s *Server) validate() error {
	if !s.Address.IsValid() {
		s.Address = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, 1}), 80)
	}
	if !s.Address.Addr().Is4() {
		return fmt.Errorf("address %s: want IPv4", s.Address)
	}
	if s.Host == "" {
		s.Host = "api.example.com"
	}
	if s.Refusal == 0 {
		s.Refusal = 500 * time.Microsecond
	}
	switch {
	case !isToken(s.Host):
		return fmt.Errorf("host %q: want visible ASCII without spaces", s.Host)
	case s.Refusal < 0 || s.Refusal > time.Minute:
		return fmt.Errorf("refusal %s: want 0 to 1m", s.Refusal)
	case (s.Limiter == nil) == (s.Capacity == nil):
		return fmt.Errorf("want either limiter or capacity")
	case s.Limiter != nil:
		return s.Limiter.validate()
	case s.Hint.Slot:
		return fmt.Errorf("hint slot needs a limiter: name seconds such as 2s")
	}
	return s.Capacity.validate()
}

func (l *Limiter) validate() error {
	if l.Window == 0 {
		l.Window = time.Second
	}
	if l.Service == 0 {
		l.Service = 8 * time.Millisecond
	}
	switch {
	case l.Limit < 1 || l.Limit > maxRate:
		return fmt.Errorf("limiter: limit %d: want 1 to %d", l.Limit, maxRate)
	case l.Window < time.Millisecond || l.Window > time.Hour:
		return fmt.Errorf("limiter: window %s: want 1ms to 1h", l.Window)
	case l.Service < 0 || l.Service > time.Hour:
		return fmt.Errorf("limiter: service %s: want 0 to 1h", l.Service)
	}
	return nil
}

func (c *Capacity) validate() error {
	if c.Workers == 0 {
		c.Workers = 1
	}
	if c.Refuse == 0 {
		c.Refuse = 503
	}
	switch {
	case !(c.Rate > 0 && c.Rate <= maxRate):
		return fmt.Errorf("capacity: rate %g: want more than 0 and up to %d a second", c.Rate, maxRate)
	case c.Workers < 1 || c.Workers > 10_000:
		return fmt.Errorf("capacity: workers %d: want 1 to 10000", c.Workers)
	case c.Queue < 0 || c.Queue > 1_000_000:
		return fmt.Errorf("capacity: queue %d: want 0 to 1000000", c.Queue)
	case c.Refuse != 429 && c.Refuse != 503:
		return fmt.Errorf("capacity: refuse %d: want 429 or 503", c.Refuse)
	}
	return nil
}

func (g *Group) validate(duration time.Duration) error {
	if g.Method == "" {
		g.Method = "GET"
	}
	if g.Latency == 0 {
		g.Latency = 2 * time.Millisecond
	}
	if g.Idle == 0 {
		g.Idle = 5 * time.Second
	}
	switch {
	case g.Name == "" || !isToken(g.Name):
		return fmt.Errorf("name %q: want visible ASCII without spaces", g.Name)
	case g.Count < 1 || g.Count > maxCount:
		return fmt.Errorf("count %d: want 1 to %d", g.Count, maxCount)
	case !slices.Contains(methods, g.Method):
		return fmt.Errorf("method %q: want one of %s", g.Method, strings.Join(methods, ", "))
	case g.Agent != "" && !isText(g.Agent):
		return fmt.Errorf("agent %q: want printable ASCII", g.Agent)
	case len(g.Paths) == 0:
		return fmt.Errorf("paths are missing")
	case len(g.Demand) == 0:
		return fmt.Errorf("demand is missing")
	}
	for _, p := range g.Paths {
		if !strings.HasPrefix(p, "/") || !isToken(p) {
			return fmt.Errorf("path %q: want a slash, then visible ASCII without spaces", p)
		}
	}
	for _, d := range []time.Duration{g.Latency, g.Noise, g.Idle, g.Timeout, g.Policy.Base, g.Policy.Cap} {
		if d < 0 || d > maxDuration {
			return fmt.Errorf("duration %s: want 0 to %s", d, maxDuration)
		}
	}
	for i := range g.Demand {
		if err := g.Demand[i].validate(duration); err != nil {
			return fmt.Errorf("demand %d: %w", i+1, err)
		}
	}
	return nil
}

func (d *Demand) validate(duration time.Duration) error {
	if d.To == 0 {
		d.To = duration
	}
	kinds := 0
	for _, set := range []bool{d.Rate != 0 || d.GrowTo != 0, d.Every != 0, d.Units != 0} {
		if set {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return fmt.Errorf("want exactly one of rate (with grow_to or not), every, units")
	case d.From < 0 || d.To < d.From || d.To > maxDuration:
		return fmt.Errorf("from %s to %s: want an interval within the scenario", d.From, d.To)
	case !(d.Rate >= 0 && d.Rate <= maxRate && d.GrowTo >= 0 && d.GrowTo <= maxRate):
		return fmt.Errorf("rate %g, grow_to %g: want 0 to %d a second", d.Rate, d.GrowTo, maxRate)
	case d.Every < 0 || d.Every > 0 && d.Every < time.Millisecond:
		return fmt.Errorf("every %s: want at least 1ms", d.Every)
	case d.Units < 0 || d.Units > maxUnits:
		return fmt.Errorf("units %d: want 1 to %d", d.Units, maxUnits)
	case d.Sequential && d.Units == 0:
		return fmt.Errorf("sequential needs units")
	}
	return nil
}

func (e *Expect) validate(groups []Group) error {
	if e.State != "" && !slices.Contains(states, e.State) {
		return fmt.Errorf("expect: state %q: want one of %s", e.State, strings.Join(states, ", "))
	}
	if e.Cause != "" && !slices.Contains(causes, e.Cause) {
		return fmt.Errorf("expect: cause %q: want one of %s", e.Cause, strings.Join(causes, ", "))
	}
	for _, f := range e.Findings {
		if f.Signature == "" {
			return fmt.Errorf("expect: a finding has no signature")
		}
		if f.Clients != "" && !slices.ContainsFunc(groups, func(g Group) bool { return g.Name == f.Clients }) {
			return fmt.Errorf("expect: finding %s: clients %q is not the name of a group", f.Signature, f.Clients)
		}
	}
	return nil
}

// isText tells whether s may stand in a header field: printable ASCII, no quote,
// which would end a field of an access log.
func isText(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) < 0
}

func isToken(s string) bool { return isText(s) && !strings.Contains(s, " ") }
