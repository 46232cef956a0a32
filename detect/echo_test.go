package detect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
)

// write is a write with an id, as one hop saw it.
func write(at float64, path, id string, status uint16, took int64, change ...func(*capture.Exchange)) hand {
	return hand{at: at, path: path, status: status, fields: []string{"x-request-id", id}, change: func(x *capture.Exchange) {
		x.End = x.Start + took
		for _, f := range change {
			f(x)
		}
	}}
}

// twoHops are a gateway and the service behind it: of 40 writes, twice as many as n
// says reached the service twice, half of them as what extra makes of the second.
func twoHops(n int, first uint16, extra func(x *capture.Exchange)) (gateway, service given) {
	var front, back []hand
	for i := range 40 {
		path, id, at := fmt.Sprintf("/pay/%d", i), fmt.Sprintf("id-%d-of-forty", i), float64(i)
		front = append(front, write(at, path, id, 200, 300e6))
		if i >= n {
			back = append(back, write(at+.002, path, id, 200, 50e6))
			continue
		}
		back = append(back, write(at+.002, path, id, first, 50e6), write(at+.150, path, id, 200, 50e6, extra))
	}
	inside := func(all []hand) given {
		g := byHand(capture.Info{Name: "service", Kind: "log", Vantage: "service"}, all...)
		for i := range g.all[0].Exchanges {
			g.all[0].Exchanges[i].Src.IP[15] = 99
		}
		return g
	}
	return byHand(capture.Info{Name: "gateway", Kind: "log", Vantage: "gateway"}, front...), inside(back)
}

func keep(*capture.Exchange) {}

// A write that the hop behind carried out twice was repeated on the way, whoever is
// given first and however many shards there are; one with a key, a read, or one that
// was refused first was not done twice.
func TestWritesRepeatedBetweenHops(t *testing.T) {
	repeated := func(s *detect.Snapshot) (writes float64) {
		for i := range s.Findings {
			if f := &s.Findings[i]; f.Signature == "unsafe-write-retried" {
				k := slices.IndexFunc(f.Evidence, func(e detect.Evidence) bool { return e.Name == "relayed_repeats" || e.Name == "unsafe_repeats" })
				writes = f.Evidence[k].Value
			}
		}
		return writes
	}
	for _, shards := range []int{1, 2, 7} {
		gateway, service := twoHops(5, 200, keep)
		s := together(t, detect.Options{Shards: shards}, gateway, service)
		if n := repeated(s); n != 5 || len(s.Findings) != 1 || !strings.Contains(s.Verdict.Who, "repeated by a proxy") {
			t.Errorf("%d shards: %v writes, want 5, in one finding: %+v; %s", shards, n, s.Findings, s.Verdict.Who)
		}
		gateway, service = twoHops(5, 504, keep)
		if n := repeated(together(t, detect.Options{Shards: shards}, service, gateway)); n != 5 {
			t.Errorf("%d shards, the service first: %v writes, want 5", shards, n)
		}
	}
	for name, c := range map[string]struct {
		n      int
		first  uint16
		change func(*capture.Exchange)
		both   func(*capture.Exchange)
	}{
		"each done once":           {n: 0, first: 200, change: keep},
		"refused, then done":       {n: 5, first: 503, change: keep},
		"sent again with a key":    {n: 5, first: 200, change: keep, both: func(x *capture.Exchange) { x.IdemKey = 7 }},
		"other calls under one id": {n: 5, first: 200, change: func(x *capture.Exchange) { x.Method = 0 }},
		"the second was refused":   {n: 5, first: 200, change: func(x *capture.Exchange) { x.Status, x.Reason = 429, capture.Throttle }},
	} {
		gateway, service := twoHops(c.n, c.first, c.change)
		for _, g := range []given{gateway, service} {
			for i := range g.all[0].Exchanges {
				if c.both != nil {
					c.both(&g.all[0].Exchanges[i])
				}
			}
		}
		if n := repeated(together(t, detect.Options{}, gateway, service)); n != 0 {
			t.Errorf("%s: %v writes, want none", name, n)
		}
	}
}

// One request of a federated query has the same asked of several hosts, under its id:
// that is no repeat. What one of them is asked twice is.
func TestWritesToSeveralHostsUnderOneID(t *testing.T) {
	asked := func(hosts ...string) (gateway, service given) {
		var front, back []hand
		var names []string
		for i := range 40 {
			id, at := fmt.Sprintf("id-%d-of-forty", i), float64(i)
			front = append(front, write(at, "/graphql", id, 200, 300e6))
			for k, host := range hosts {
				back = append(back, write(at+.002+.05*float64(k), "/graphql", id, 200, 40e6))
				names = append(names, host)
			}
		}
		gateway = byHand(capture.Info{Name: "gateway", Kind: "log", Vantage: "gateway"}, front...)
		service = byHand(capture.Info{Name: "services", Kind: "log", Vantage: "service"}, back...)
		b := service.all[0]
		for i := range b.Exchanges {
			b.Exchanges[i].Src.IP[15] = 99
			b.Exchanges[i].Host = b.Names.Intern([]byte(names[i]))
		}
		return gateway, service
	}
	for _, c := range []struct {
		hosts []string
		want  bool
	}{
		{[]string{"users.internal", "orders.internal"}, false},
		{[]string{"users.internal", "orders.internal", "stock.internal"}, false},
		{[]string{"users.internal", "orders.internal", "users.internal"}, true},
		{[]string{"users.internal", "users.internal", "orders.internal"}, true},
		{[]string{"users.internal", "users.internal"}, true},
	} {
		gateway, service := asked(c.hosts...)
		for _, order := range [][]given{{gateway, service}, {service, gateway}} {
			if got := slices.Contains(raised(together(t, detect.Options{}, order...)), "unsafe-write-retried"); got != c.want {
				t.Errorf("%v: raised %v, want %v", c.hosts, got, c.want)
			}
		}
	}
}

// What the gateway's own client sent twice under one id, the service sees twice as well.
func TestWritesRepeatedInFrontOfBoth(t *testing.T) {
	gateway, service := twoHops(5, 200, keep)
	g := gateway.all[0]
	for i := range 5 {
		x := g.Exchanges[i]
		x.Start, x.End, x.Src.Port, x.At.A = x.Start+149e6, x.End+149e6, 3000+x.Src.Port, 1000+uint64(i)
		g.Exchanges = append(g.Exchanges, x)
	}
	s := together(t, detect.Options{}, gateway, service)
	if slices.Contains(raised(s), "unsafe-write-retried") {
		t.Errorf("raised: %+v", s.Findings)
	}
}

// Of the tries that a proxy lists only those count that may have been carried out.
func TestDeclaredTriesOfWrites(t *testing.T) {
	const reached, unreached = capture.Reached, capture.Unreached
	for name, c := range map[string]struct {
		tries []capture.Try
		want  bool
	}{
		"timed out":                       {[]capture.Try{{Status: 504, Took: 60e9, Fresh: true}, {Status: 201, Took: 80e6}}, true},
		"timed out before it connected":   {[]capture.Try{{Status: 504, Took: 60e9, Fresh: true, Reach: unreached}, {Status: 201, Took: 80e6}}, false},
		"broke off after some work":       {[]capture.Try{{Status: 502, Took: 96e6, Fresh: true}, {Status: 201, Took: 80e6}}, true},
		"broke off at once, connected":    {[]capture.Try{{Status: 502, Took: 1e6, Fresh: true, Reach: reached}, {Status: 201, Took: 80e6}}, true},
		"no connection":                   {[]capture.Try{{Status: 502, Took: 0, Fresh: true}, {Status: 201, Took: 80e6}}, false},
		"refused":                         {[]capture.Try{{Status: 503, Took: 9e6, Fresh: true}, {Status: 201, Took: 80e6}}, false},
		"no answer, how long is not told": {[]capture.Try{{Took: -1, Fresh: true}, {Status: 201, Took: 80e6}}, false},
		"redirected inside":               {[]capture.Try{{Status: 504, Took: 60e9, Fresh: true}, {Status: 201, Took: 80e6, Fresh: true}}, false},
	} {
		g := declaring(byHand(tap, hand{at: 0, path: "/a", status: 201}, hand{at: 3, path: "/b", status: 200}), map[int][]capture.Try{0: c.tries}, nil)
		if got := slices.Contains(raised(together(t, detect.Options{}, g)), "unsafe-write-retried"); got != c.want {
			t.Errorf("%s: raised %v, want %v", name, got, c.want)
		}
	}
}
