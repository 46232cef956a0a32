package sim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

var methods = []string{"GET", "HEAD", "DELETE", "POST", "PUT", "PATCH"}

func (l *Layer) validate() error {
	if l.Count == 0 {
		l.Count = 1
	}
	switch {
	case l.Name == "" || !isToken(l.Name):
		return fmt.Errorf("name %q: want visible ASCII without spaces", l.Name)
	case l.Count < 1 || l.Count > 1000:
		return fmt.Errorf("count %d: want 1 to 1000", l.Count)
	}
	return l.Sender.validate()
}

func (s *Sender) validate() error {
	if s.Latency == 0 {
		s.Latency = 2 * time.Millisecond
	}
	if s.Idle == 0 {
		s.Idle = 5 * time.Second
	}
	if len(s.RetryOn) == 0 {
		s.RetryOn = defaultRetryOn
	}
	for _, d := range []time.Duration{s.Latency, s.Noise, s.Idle, s.Timeout} {
		if d < 0 || d > maxDuration {
			return fmt.Errorf("duration %s: want 0 to %s", d, maxDuration)
		}
	}
	if _, err := readOutcomes(s.RetryOn); err != nil {
		return fmt.Errorf("retry_on: %w", err)
	}
	if s.Reads != nil {
		if err := s.Reads.validate(); err != nil {
			return err
		}
	}
	switch {
	case s.Clock < -maxDuration || s.Clock > maxDuration:
		return fmt.Errorf("clock %s: want at most %s either way", s.Clock, maxDuration)
	case s.Counter != "" && !slices.Contains(counterNames(), s.Counter):
		return fmt.Errorf("counter %q: want one of %s", s.Counter, strings.Join(counterNames(), ", "))
	case !(s.Adaptive >= 0 && s.Adaptive <= 100):
		return fmt.Errorf("adaptive %g: want 0 to 100", s.Adaptive)
	}
	return s.restraints()
}

func (s *Sender) restraints() error {
	if p := s.Pace; p != nil {
		if p.Burst == 0 {
			p.Burst = 1
		}
		if !(p.Rate > 0 && p.Rate <= maxRate) || p.Burst < 1 || p.Burst > maxRate {
			return fmt.Errorf("pace: rate %g, burst %d: want more than 0 and up to %d", p.Rate, p.Burst, maxRate)
		}
	}
	if h := s.Hedge; h != nil {
		if h.Copies == 0 {
			h.Copies = 1
		}
		if h.After < 0 || h.After > time.Hour || h.Copies < 1 || h.Copies > 10 {
			return fmt.Errorf("hedge: after %s, copies %d: want 0 to 1h, 1 to 10", h.After, h.Copies)
		}
	}
	return nil
}

func (g *Group) validate(sc *Scenario) error {
	if g.Method == "" {
		g.Method = http.MethodGet
	}
	if err := g.Sender.validate(); err != nil {
		return err
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
	case g.Deadline < 0 || g.Deadline > maxDuration:
		return fmt.Errorf("deadline %s: want 0 to %s", g.Deadline, maxDuration)
	case g.Overruns && g.Deadline == 0:
		return fmt.Errorf("overruns needs a deadline")
	case !slices.Contains([]string{"", "same", "new"}, g.Idempotency):
		return fmt.Errorf("idempotency %q: want same or new, or leave it out", g.Idempotency)
	case !(g.Repeated >= 0 && g.Repeated <= 1):
		return fmt.Errorf("repeated %g: want 0 to 1", g.Repeated)
	}
	hedges := g.Hedge != nil
	for _, name := range g.Through {
		i := slices.IndexFunc(sc.Layers, func(l Layer) bool { return l.Name == name })
		if i < 0 {
			return fmt.Errorf("through %q: not the name of a layer", name)
		}
		if hedges {
			return fmt.Errorf("hedge: want it where requests leave for the server, in the last layer")
		}
		hedges = sc.Layers[i].Hedge != nil
	}
	if err := g.Identity.validate(len(g.Through) > 0); err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	if err := checkPaths(g.Paths); err != nil {
		return err
	}
	for i := range g.Demand {
		if err := g.Demand[i].validate(sc.Duration); err != nil {
			return fmt.Errorf("demand %d: %w", i+1, err)
		}
	}
	return nil
}

func checkPaths(paths []string) error {
	for _, p := range paths {
		if !strings.HasPrefix(p, "/") || !isToken(p) {
			return fmt.Errorf("path %q: want a slash, then visible ASCII without spaces", p)
		}
	}
	return nil
}

func (i *Identity) validate(layered bool) error {
	if i.Keys == 0 {
		i.Keys = 1
	}
	if i.Header == "" {
		i.Header = "Authorization"
	}
	if _, err := readOutcomes(i.RotateOn); err != nil {
		return fmt.Errorf("rotate_on: %w", err)
	}
	switch {
	case !slices.Contains([]string{"", "each", "one"}, i.Key):
		return fmt.Errorf("key %q: want each or one, or leave it out", i.Key)
	case !isToken(i.Header) || strings.Contains(i.Header, ":"):
		return fmt.Errorf("header %q: want the name of a header", i.Header)
	case i.Keys < 1 || i.Keys > 100:
		return fmt.Errorf("keys %d: want 1 to 100", i.Keys)
	case len(i.RotateOn) > 0 && i.Keys == 1:
		return fmt.Errorf("rotate_on needs keys, at least 2")
	case i.Keys > 1 && i.Key == "":
		return fmt.Errorf("keys needs key, each or one")
	case i.IPv6 && layered:
		return fmt.Errorf("ipv6: layers speak IPv4 to the server")
	}
	return nil
}

func (d *Demand) validate(duration time.Duration) error {
	if d.To == 0 {
		d.To = duration
	}
	if d.Copies == 0 {
		d.Copies = 1
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
	case d.Wave != nil && (d.Rate == 0 || d.Wave.Period < time.Millisecond || !(d.Wave.Depth > 0 && d.Wave.Depth <= 1)):
		return fmt.Errorf("wave: want it beside a rate, with a period and a depth above 0 and up to 1")
	case d.Every < 0 || d.Every > 0 && d.Every < time.Millisecond:
		return fmt.Errorf("every %s: want at least 1ms", d.Every)
	case d.Units < 0 || d.Units > maxUnits:
		return fmt.Errorf("units %d: want 1 to %d", d.Units, maxUnits)
	case d.Sequential && d.Units == 0:
		return fmt.Errorf("sequential needs units")
	case d.Think != 0 && !d.Sequential || d.Think < 0 || d.Think > maxDuration:
		return fmt.Errorf("think %s: want 0 to %s, and only where units are sequential", d.Think, maxDuration)
	case d.Copies < 1 || d.Copies > 1000:
		return fmt.Errorf("copies %d: want 1 to 1000", d.Copies)
	}
	return checkPaths(d.Paths)
}
