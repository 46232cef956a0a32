package detect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stormwatch/capture"
	"stormwatch/detect"
)

// gateway is an address behind which each of some machines asks every ten seconds, is
// refused every other time, and comes back at once; others are beside it, and behave.
func gateway(machines int, who func(x *capture.Exchange, machine int)) given {
	var all []hand
	ask := func(at float64, machine int, path string, status uint16, ip byte) {
		all = append(all, hand{at: at, path: path, status: status, change: func(x *capture.Exchange) {
			if x.Src.IP[15] = ip; ip == 9 {
				who(x, machine)
			}
		}})
	}
	for i := range 12 {
		for m := range machines {
			at, path := 10*float64(i)+.7*float64(m), fmt.Sprintf("/m/%d/%d", m, i)
			if i%2 == 0 {
				ask(at, m, path, 200, 9)
				continue
			}
			ask(at, m, path, 429, 9)
			ask(at+.03, m, path, 200, 9)
		}
		for k := range 8 {
			ask(10*float64(i)+.9*float64(k)+.3, 0, fmt.Sprintf("/o/%d/%d", k, i), 200, byte(20+k))
		}
	}
	slices.SortStableFunc(all, func(a, b hand) int { return compareFloat(a.at, b.at) })
	g := byHand(tap, all...)
	b := g.all[0]
	for i := range b.Exchanges {
		if x := &b.Exchanges[i]; x.Agent != 0 { // the number of a machine so far
			x.Agent = b.Names.InternString(fmt.Sprintf("program-%d/1.0", x.Agent))
		}
	}
	return g
}

func row(s *detect.Snapshot, label string) *detect.Client {
	for i := range s.Clients {
		if s.Clients[i].Label == label {
			return &s.Clients[i]
		}
	}
	return &detect.Client{}
}

// Many agents or credentials that take turns at one address are several clients: it is
// said about how many, none of them is accused of what the others did, and the verdict
// is less sure. One client that changes its credential, or runs a few programs, is one.
func TestSeveralBehindOneAddress(t *testing.T) {
	agent := func(x *capture.Exchange, m int) { x.Agent = capture.Symbol(1 + m) }
	key := func(x *capture.Exchange, m int) { x.Credential = uint64(1000 + m) }
	alone := seen(t, gateway(12, func(*capture.Exchange, int) {}), detect.Options{})
	if !slices.Contains(raised(alone), "immediate-retry") || row(alone, "10.0.0.9").Behind != 0 {
		t.Fatalf("one program: raised %v, about %d clients", raised(alone), row(alone, "10.0.0.9").Behind)
	}
	for name, c := range map[string]struct {
		machines int
		who      func(*capture.Exchange, int)
		several  bool
	}{
		"12 agents": {12, agent, true}, "12 credentials": {12, key, true}, "3 credentials": {3, key, true},
		"3 programs": {3, agent, false}, "2 credentials": {2, key, false},
		"a credential for each five seconds": {12, func(x *capture.Exchange, _ int) { x.Credential = uint64(1000 + (x.Start-dawn)/5e9) }, false},
	} {
		s := seen(t, gateway(c.machines, c.who), detect.Options{})
		about := row(s, "10.0.0.9").Behind
		if !c.several {
			if about != 0 || !slices.Contains(raised(s), "immediate-retry") {
				t.Errorf("%s: about %d clients, raised %v", name, about, raised(s))
			}
			continue
		}
		want, how := c.machines, "about"
		if strings.HasPrefix(name, "12 cred") {
			want, how = 8, "at least" // as many are told apart
		}
		if d := about - want; d < -1 || d > 1 {
			t.Errorf("%s: about %d clients, there are %d", name, about, c.machines)
		}
		if slices.Contains(raised(s), "immediate-retry") || row(s, "10.0.0.9").Signatures != nil {
			t.Errorf("%s: raised %v", name, raised(s))
		}
		if want := fmt.Sprintf("%s %d clients behind 10.0.0.9", how, about); !strings.Contains(s.Sources[0].Note, want) {
			t.Errorf("%s: note %q, want %q", name, s.Sources[0].Note, want)
		}
		if !slices.ContainsFunc(s.NotJudged, func(n detect.NotJudged) bool {
			return n.Signature == "immediate-retry" && strings.Contains(n.Reason, "several clients share")
		}) {
			t.Errorf("%s: it is not said why immediate-retry is not judged: %v", name, s.NotJudged)
		}
	}
}

// What several clients share an address for does not matter where clients are keys.
func TestSharedAddressByKey(t *testing.T) {
	g := gateway(12, func(x *capture.Exchange, m int) { x.Credential = uint64(1000 + m) })
	s := seen(t, g, detect.Options{ClientBy: "key"})
	if !slices.Contains(raised(s), "immediate-retry") || s.Sources[0].Note != "" {
		t.Errorf("raised %v, note %q", raised(s), s.Sources[0].Note)
	}
}
