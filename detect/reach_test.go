package detect_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"stormwatch/detect"
)

// Three deaf clients among forty patient ones, and a few that are refused and never
// retry: the list is those three, what they would have spared is counted from the
// rows, and nobody who only suffers is on it.
func TestReachOfAFew(t *testing.T) {
	res := play(t, `
name: few
start: 2026-03-02T03:10:00Z
duration: 90s
server: {limiter: {limit: 20, window: 1s}, hint: 5s..8s}
groups:
  - {name: app, count: 40, agent: app/1, policy: hint-floor base=4s cap=20s attempts=3, paths: ["/a/{id}"], demand: [{rate: 0.1}]}
  - {name: once, count: 10, agent: once/1, policy: none, paths: ["/o/{id}"], demand: [{rate: 0.2}]}
  - {name: deaf, count: 3, agent: deaf/1, policy: fixed base=100ms, paths: ["/d/{id}"], demand: [{rate: 0.1}, {from: 30s, to: 80s, rate: 5}]}
`, 1)
	s := judged(t, res, detect.Options{})
	r, ok := detect.Worthwhile(s.Reach)
	if !ok || r.Clients > 3 || r.Of != 53 {
		t.Fatalf("%+v, %v of %+v; %s", r, ok, s.Reach, s.Verdict.What)
	}
	var deaf []string
	for _, c := range res.Clients {
		if res.Scenario.Groups[c.Group].Name == "deaf" {
			deaf = append(deaf, c.Addr.String())
		}
	}
	sum, total := 0.0, s.ClientsOthers.AvoidablePerS.V
	victims := 0
	for i, c := range s.Clients {
		total += c.AvoidablePerS.V
		if i < 3 {
			sum += c.AvoidablePerS.V
			if !slices.Contains(deaf, c.Label) {
				t.Errorf("%s is not of those at fault", c.Label)
			}
		}
		if c.Victim {
			victims++
			if c.AvoidablePerS.V > 0 {
				t.Errorf("%s is a victim and yet to be throttled", c.Label)
			}
		}
	}
	i := slices.IndexFunc(s.Reach, func(r detect.Reach) bool { return r.Clients == 3 })
	if i < 0 || math.Abs(s.Reach[i].Share-sum/total) > 1e-9 {
		t.Errorf("%+v, want %.3f for three", s.Reach, sum/total)
	}
	if s.Victims != victims || victims == 0 {
		t.Errorf("%d victims, %d in the table", s.Victims, victims)
	}
	want := fmt.Sprintf("throttle %d of 53 clients: %.0f %% of the avoidable load", r.Clients, 100*r.Share)
	if !strings.HasSuffix(s.Verdict.Who, want) {
		t.Errorf("who: %s, want %s", s.Verdict.Who, want)
	}
}

// Where everybody is alike no short list helps, and none is advised.
func TestReachOfEverybody(t *testing.T) {
	s := judged(t, load(t, "lockstep-bare-429"), detect.Options{})
	if r, ok := detect.Worthwhile(s.Reach); ok {
		t.Errorf("to throttle %d of %d is advised though all are alike", r.Clients, r.Of)
	}
	if strings.Contains(s.Verdict.Who, "throttle") {
		t.Error(s.Verdict.Who)
	}
	last := 0.0
	for _, r := range s.Reach {
		if r.Share < last || r.Share > 1 {
			t.Errorf("%+v", s.Reach)
		}
		last = r.Share
	}
	if s := judged(t, load(t, "healthy"), detect.Options{}); len(s.Reach) > 0 && s.Reach[len(s.Reach)-1].Share > 1 {
		t.Errorf("%+v", s.Reach)
	}
}
