package sim

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
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
	case len(sc.Layers) > maxLayers:
		return fmt.Errorf("%d layers: want at most %d", len(sc.Layers), maxLayers)
	}
	if err := sc.Server.validate(sc.Duration); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	silent := slices.ContainsFunc(sc.Server.Faults, func(f Fault) bool { return f.Do == "timeout" })
	for i := range sc.Layers {
		l := &sc.Layers[i]
		if err := l.validate(); err != nil {
			return fmt.Errorf("layer %d (%s): %w", i+1, l.Name, err)
		}
		if slices.IndexFunc(sc.Layers, func(o Layer) bool { return o.Name == l.Name }) < i {
			return fmt.Errorf("layer %d: the name %q is taken: give each layer its own", i+1, l.Name)
		}
	}
	for i := range sc.Groups {
		g := &sc.Groups[i]
		if err := g.validate(sc); err != nil {
			return fmt.Errorf("group %d (%s): %w", i+1, g.Name, err)
		}
		if slices.IndexFunc(sc.Groups, func(o Group) bool { return o.Name == g.Name }) < i {
			return fmt.Errorf("group %d: the name %q is taken: give each group its own", i+1, g.Name)
		}
		if sc.Server.Protocol == overGRPC && g.Method != http.MethodPost {
			return fmt.Errorf("group %d (%s): method %s: calls of gRPC are POST", i+1, g.Name, g.Method)
		}
		if silent && g.Timeout == 0 && g.Deadline == 0 {
			return fmt.Errorf("group %d (%s): a fault leaves requests without an answer: give it a timeout", i+1, g.Name)
		}
	}
	return sc.Expect.validate(sc.Groups)
}

func (s *Server) validate(duration time.Duration) error {
	if !s.Address.IsValid() {
		s.Address = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, 1}), 80)
	}
	if !s.Address6.IsValid() {
		s.Address6 = netip.MustParseAddrPort("[2001:db8::1]:80")
	}
	if s.Host == "" {
		s.Host = "api.example.com"
	}
	if s.Refusal == 0 {
		s.Refusal = 500 * time.Microsecond
	}
	switch {
	case !s.Address.Addr().Is4():
		return fmt.Errorf("address %s: want IPv4", s.Address)
	case !s.Address6.Addr().Is6():
		return fmt.Errorf("address6 %s: want IPv6", s.Address6)
	case !isToken(s.Host):
		return fmt.Errorf("host %q: want visible ASCII without spaces", s.Host)
	case s.Protocol != "" && s.Protocol != overHTTP2 && s.Protocol != overGRPC:
		return fmt.Errorf("protocol %q: want h2c or grpc, or leave it out for HTTP/1.1", s.Protocol)
	case s.Refusal < 0 || s.Refusal > time.Minute:
		return fmt.Errorf("refusal %s: want 0 to 1m", s.Refusal)
	case s.Skew < -maxDuration || s.Skew > maxDuration:
		return fmt.Errorf("skew %s: want at most %s either way", s.Skew, maxDuration)
	case (s.Limiter == nil) == (s.Capacity == nil):
		return fmt.Errorf("want either limiter or capacity")
	case s.Limits != nil && s.Limiter == nil:
		return fmt.Errorf("limits need a limiter")
	}
	for i := range s.Faults {
		if err := s.Faults[i].validate(duration); err != nil {
			return fmt.Errorf("fault %d: %w", i+1, err)
		}
	}
	if err := s.Hint.validate(s.Limiter != nil); err != nil {
		return err
	}
	if s.Limits != nil {
		if err := s.Limits.validate(); err != nil {
			return err
		}
	}
	if s.Limiter != nil {
		return s.Limiter.validate()
	}
	return s.Capacity.validate()
}

var (
	limiters = []string{"sliding-log", "fixed-window", "token-bucket", "concurrency"}
	scopes   = []string{"all", "key", "address", "route"}
)

func (l *Limiter) validate() error {
	if l.Kind == "" {
		l.Kind = limiters[0]
	}
	if l.Scope == "" {
		l.Scope = scopes[0]
	}
	if l.Window == 0 {
		l.Window = time.Second
	}
	if l.Service == 0 {
		l.Service = 8 * time.Millisecond
	}
	if l.Refuse == 0 {
		l.Refuse = 429
	}
	if l.Burst == 0 && l.Kind == "token-bucket" {
		l.Burst = l.Limit
	}
	switch {
	case !slices.Contains(limiters, l.Kind):
		return fmt.Errorf("limiter: kind %q: want one of %s", l.Kind, strings.Join(limiters, ", "))
	case !slices.Contains(scopes, l.Scope):
		return fmt.Errorf("limiter: scope %q: want one of %s", l.Scope, strings.Join(scopes, ", "))
	case l.Limit < 1 || l.Limit > maxRate:
		return fmt.Errorf("limiter: limit %d: want 1 to %d", l.Limit, maxRate)
	case l.Window < time.Millisecond || l.Window > maxDuration:
		return fmt.Errorf("limiter: window %s: want 1ms to %s", l.Window, maxDuration)
	case l.Burst < 0 || l.Burst > maxRate || l.Burst > 0 && l.Kind != "token-bucket":
		return fmt.Errorf("limiter: burst %d: want 1 to %d, and only of a token-bucket", l.Burst, maxRate)
	case l.CountRefused && l.Kind == "concurrency":
		return fmt.Errorf("limiter: count_refused: what is refused is not in service, so a concurrency limit cannot count it")
	case l.Service < 0 || l.Service > time.Hour:
		return fmt.Errorf("limiter: service %s: want 0 to 1h", l.Service)
	case !slices.Contains([]int{429, 503, 403, 200}, l.Refuse):
		return fmt.Errorf("limiter: refuse %d: want 429, 503, 403, or 200 for a body that says no", l.Refuse)
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
	case !slices.Contains([]int{429, 503, 200}, c.Refuse):
		return fmt.Errorf("capacity: refuse %d: want 429, 503, or 200 for a body that says no", c.Refuse)
	case c.RejectCost < 0 || c.RejectCost > time.Minute:
		return fmt.Errorf("capacity: reject_cost %s: want 0 to 1m", c.RejectCost)
	}
	return nil
}

func (f *Fault) validate(duration time.Duration) error {
	if f.To == 0 {
		f.To = duration
	}
	if f.Share == 0 {
		f.Share = 1
	}
	status, err := strconv.Atoi(f.Do)
	switch {
	case f.From < 0 || f.To < f.From || f.To > maxDuration:
		return fmt.Errorf("from %s to %s: want an interval within the scenario", f.From, f.To)
	case !(f.Share > 0 && f.Share <= 1):
		return fmt.Errorf("share %g: want more than 0 and up to 1", f.Share)
	case f.Key < 0:
		return fmt.Errorf("key %d: want the ordinal of a credential, from 1", f.Key)
	case f.After < 0 || f.After > time.Hour:
		return fmt.Errorf("after %s: want 0 to 1h", f.After)
	case !slices.Contains([]string{inBody, "timeout", "reset"}, f.Do) && (err != nil || status < 400 || status > 599):
		return fmt.Errorf("do %q: want a status from 400 to 599, body, timeout or reset", f.Do)
	}
	return f.Hint.validate(false)
}

// isText tells whether s may stand in a header field: printable ASCII, no quote,
// which would end a field of an access log.
func isText(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) < 0
}

func isToken(s string) bool { return isText(s) && !strings.Contains(s, " ") }
