package detect_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"stormwatch/detect"
	"stormwatch/policy"
	"stormwatch/rules"
)

// seeds is how many runs a null is measured on.
func seeds(fast, long int) int {
	if os.Getenv("STORMWATCH_QUALITY") == "1" {
		return long
	}
	return fast
}

// upperBound is the greatest rate that k of n leave possible at 95 % (rule of three
// for none; Wilson's score interval otherwise).
func upperBound(k, n int) float64 {
	if k == 0 {
		return 3 / float64(n)
	}
	const z = 1.645
	p, m := float64(k)/float64(n), float64(n)
	return (p + z*z/(2*m) + z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))) / (1 + z*z/m)
}

// oneLayer are policies as a single layer has them, to 24 attempts where they have no
// end of their own: the longer a chain, the more chances to look like two layers.
func oneLayer() []string {
	out := []string{
		"immediate attempts=12", "fixed base=300ms attempts=24", "fixed base=2s attempts=12", "linear base=200ms cap=2s attempts=24",
		"exponential base=50ms cap=2s attempts=24", "exponential base=100ms cap=1s attempts=24", "full-jitter base=100ms cap=1s attempts=24",
		"full-jitter base=500ms cap=8s attempts=16", "equal-jitter base=100ms cap=1s attempts=24", "decorrelated base=100ms cap=2s attempts=24",
		"hint-floor base=500ms cap=4s attempts=12", "hint-exact own=full-jitter base=200ms attempts=12",
		// Bursts that wait out the hint in between are one layer.
		"hint-exact own=immediate longest=1s over=own attempts=12",
	}
	return append(out, policy.Libraries()...)
}

// layerTraffic fails half of its requests for a while. One path is one thing that all
// ask for, the other has an id of its own for each request.
func layerTraffic(p, hint, layers, through string) string {
	return fmt.Sprintf("name: run\nstart: 2026-03-02T03:10:00Z\nduration: 90s\nserver: {limiter: {limit: 500, window: 1s}, hint: %s, faults: [{from: 20s, to: 60s, paths: [/a], do: 503}]}\n%sgroups:\n"+
		"  - {name: app, count: 25, agent: app/1, policy: %s, %spaths: [\"/a/x/{id}\", /a/list, \"/b/{id}\"], demand: [{rate: 0.08}]}", hint, layers, p, through)
}

// One layer is never taken for two, whatever its policy.
func TestLayersNull(t *testing.T) {
	set, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	hits, total := 0, 0
	for i, p := range oneLayer() {
		families := len(oneLayer()) - len(policy.Libraries())
		n := seeds(1, 60)
		if i >= families {
			n = seeds(0, 20)
		}
		for seed := range n {
			for _, hint := range []string{"none", "2s"} {
				if hint != "none" && (seed+i)%3 > 0 {
					continue
				}
				names, err := conclude(layerTraffic(p, hint, "", ""), seed+1, set)
				if err != nil {
					t.Fatal(err)
				}
				total++
				if slices.Contains(names, "layered-retries") {
					hits++
					t.Errorf("%s, hint %s, seed %d: layered", p, hint, seed+1)
				}
			}
		}
	}
	t.Logf("%d of %d runs of one layer, so at most %.4f at 95 %%", hits, total, upperBound(hits, total))
	null(t, "layered-retries")
}

// Who retries three times at once and asks for the same anew, a while later, has one
// layer: once, what others do at a fourth attempt was thought to be as at the first.
func TestQuickRetriesAreOneLayer(t *testing.T) {
	for seed := range 20 {
		s := judged(t, play(t, layerTraffic("urllib3", "none", "", ""), seed+1), detect.Options{})
		if slices.Contains(raised(s), "layered-retries") {
			t.Errorf("seed %d: %+v", seed+1, s.Layers)
		}
	}
}

// What layers there are is told: how many, what they multiply to, and on what that
// rests. The answers are those of the scenario: each layer tries three times.
func TestLayersAreTold(t *testing.T) {
	const (
		mesh    = `{name: mesh, count: %d, policy: full-jitter growth=less-one base=25ms cap=250ms attempts=3, %slatency: 1ms, noise: 500us, idle: 60s}`
		gateway = `{name: gateway, count: 2, policy: full-jitter base=400ms cap=2s attempts=3, latency: 1ms, noise: 500us, idle: 60s}`
	)
	tests := map[string]struct {
		text  string
		proof string
		rows  int
		worst float64
	}{
		"two counters": {
			layerTraffic("openai", "none", "layers: ["+fmt.Sprintf(mesh, 1, "counter: x-envoy-attempt-count, forwarded: true, ")+"]\n", "counter: x-stainless-retry-count, through: [mesh], identity: {key: each}, "),
			"counters", 2, 9,
		},
		"timing": {
			layerTraffic("exponential base=1s attempts=3", "none", "layers: ["+fmt.Sprintf(mesh, 1, "forwarded: true, ")+"]\n", "through: [mesh], "),
			"timing", 2, 9,
		},
		"timing, three layers, four addresses": {
			layerTraffic("exponential base=2s attempts=3", "none", "layers: ["+gateway+", "+fmt.Sprintf(mesh, 4, "")+"]\n", "through: [gateway, mesh], "),
			"timing", 3, 27,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			found, total := 0, seeds(3, 40)
			for seed := range total {
				s := judged(t, play(t, tt.text, seed+1), detect.Options{})
				if !slices.Contains(raised(s), "layered-retries") {
					continue
				}
				found++
				l := s.Layers
				if l.Proof != tt.proof || l.Inferred != (tt.proof == "timing") || len(l.Rows) != tt.rows || l.Worst.V != tt.worst {
					t.Errorf("seed %d: %+v", seed+1, l)
					continue
				}
				last := 0.
				for _, r := range l.Rows {
					if !r.PerRequest.Known || r.PerRequest.V < max(last, 1) || r.Name == "" {
						t.Errorf("seed %d: row %+v after %.1f", seed+1, r, last)
					}
					last = r.PerRequest.V
				}
				// The finding names the layer whose attempts the input shows.
				k := slices.IndexFunc(s.Findings, func(f detect.Finding) bool { return f.Signature == "layered-retries" })
				if r := slices.IndexFunc(l.Rows, func(r detect.Layer) bool { return r.Seen }); r < 0 || s.Findings[k].Layer != l.Rows[r].Name {
					t.Errorf("seed %d: the finding was seen at %q, of %+v", seed+1, s.Findings[k].Layer, l.Rows)
				}
				if l.Multiplier.V != last || last < tt.worst/3 || last > tt.worst || !l.Rows[len(l.Rows)-1].Pressure {
					t.Errorf("seed %d: multiplier %.1f of %+v", seed+1, l.Multiplier.V, l.Rows)
				}
			}
			t.Logf("found in %d of %d", found, total)
			if float64(found) < recall*float64(total) {
				t.Errorf("found in %d of %d runs", found, total)
			}
		})
	}
}

// Counts are proven by single requests, and nothing is said of one layer.
func TestOneLayerHasNoRows(t *testing.T) {
	s := judged(t, play(t, layerTraffic("full-jitter base=200ms attempts=4", "none", "", ""), 3), detect.Options{})
	if len(s.Layers.Rows) > 0 || s.Layers.Multiplier.Known {
		t.Errorf("%+v", s.Layers)
	}
	for _, n := range s.NotJudged {
		if strings.HasPrefix(n.Signature, "layered") {
			t.Errorf("not judged: %s", n.Reason)
		}
	}
}
