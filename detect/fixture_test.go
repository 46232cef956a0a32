package detect_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stormwatch/capture"
	"stormwatch/detect"
	"stormwatch/rules"
	"stormwatch/sim"
)

// captures are the first of the repository's captures, for tests that need a few;
// scenarios lists them all.
var captures = []string{"capacity-growth", "healthy", "lockstep-bare-429", "retry-after-ignored"}

// load runs a scenario of the repository's captures.
func load(t testing.TB, name string) *sim.Result {
	t.Helper()
	sc, err := sim.Load("../testdata/pcaps/" + name + "/scenario.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return sim.Run(sc)
}

// play runs a scenario written in YAML under a seed.
func play(t testing.TB, text string, seed int) *sim.Result {
	t.Helper()
	sc, err := sim.Parse([]byte(text + "\nseed: " + strconv.Itoa(seed) + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return sim.Run(sc)
}

func withRules(t testing.TB, o detect.Options) detect.Options {
	t.Helper()
	if o.Rules == nil {
		set, err := rules.Load()
		if err != nil {
			t.Fatal(err)
		}
		o.Rules = set
	}
	return o
}

// recording replays a run of sim.
func recording(t testing.TB, res *sim.Result, o detect.Options) *detect.Replay {
	t.Helper()
	src := res.Source("sim")
	return sealed(t, o, src.Info(), func(take capture.Sink) error { return src.Run(context.Background(), take) })
}

// sealed records what deliver hands over and stands at the start of its replay.
// No temporary file may be left once the recording is closed.
func sealed(t testing.TB, o detect.Options, info capture.Info, deliver func(capture.Sink) error) *detect.Replay {
	t.Helper()
	o = withRules(t, o)
	o.TempDir = t.TempDir()
	rec := detect.NewRecording(o)
	t.Cleanup(func() {
		if err := rec.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(o.TempDir); err != nil || len(left) > 0 {
			t.Errorf("temporary files left: %v %v", left, err)
		}
	})
	if err := deliver(rec.Inlet(info).Take); err != nil {
		t.Fatal(err)
	}
	if err := rec.Seal(); err != nil {
		t.Fatal(err)
	}
	p, err := detect.NewReplay(rec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// judged replays a run to its end and judges it as a whole.
func judged(t testing.TB, res *sim.Result, o detect.Options) *detect.Snapshot {
	t.Helper()
	p := recording(t, res, o)
	runAll(t, p)
	return p.Snapshot(detect.View{Whole: true})
}

func runAll(t testing.TB, p *detect.Replay) {
	t.Helper()
	if err := p.RunAll(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// cut drops what starts before the given share of the run, as an input does that
// begins within an incident.
func cut(res *sim.Result, share float64) *sim.Result {
	from := res.Scenario.Start.UnixNano() + int64(share*float64(res.Scenario.Duration))
	out := *res
	i, _ := slices.BinarySearchFunc(res.Rows, from, func(r sim.Row, at int64) int { return int(r.Start - at) })
	out.Rows = res.Rows[i:]
	return &out
}

// batches are the batches of a run, copied so that they may be kept.
func batches(t testing.TB, res *sim.Result) []*capture.Batch {
	t.Helper()
	var out []*capture.Batch
	err := res.Source("sim").Run(context.Background(), func(b *capture.Batch) error {
		c := *b
		c.Exchanges, c.Text = slices.Clone(b.Exchanges), slices.Clone(b.Text)
		if b.Health != nil {
			c.Health = b.Health.Clone()
		}
		out = append(out, &c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// raised lists the findings above info, each once, sorted.
func raised(s *detect.Snapshot) []string {
	var out []string
	for i := range s.Findings {
		if s.Findings[i].Severity > detect.Info {
			out = append(out, s.Findings[i].Signature)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// same fails unless two snapshots agree in all but their number of publication.
func same(t testing.TB, what string, got, want *detect.Snapshot) {
	t.Helper()
	g, w := *got, *want
	g.Seq, w.Seq = 0, 0
	if d := cmp.Diff(&w, &g); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, shorten(d))
		return
	}
	if a, b := encoded(t, &g), encoded(t, &w); a != b {
		t.Errorf("%s: the JSON differs though the fields agree", what)
	}
}

func encoded(t testing.TB, s *detect.Snapshot) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func shorten(s string) string {
	const most = 3000
	if len(s) > most {
		return s[:most] + fmt.Sprintf("... (%d bytes more)", len(s)-most)
	}
	return s
}

// crowd is busy enough that its seconds are divided among goroutines: at its
// height some 1,500 requests a second by a few hundred clients of three kinds.
const crowd = `
name: crowd
start: 2026-03-02T03:10:00Z
duration: 40s
server: {limiter: {limit: 250, window: 1s, service: 20ms}, hint: 1s..3s}
groups:
  - {name: herd, count: 150, agent: herd/1, policy: fixed base=1s attempts=8, paths: ["/v1/export/{id}"], demand: [{from: 0s, to: 14s, rate: 0.3}, {from: 16s, to: 16050ms, units: 2}, {from: 20s, to: 30s, rate: 0.7}]}
  - {name: deaf, count: 100, agent: deaf/1, policy: full-jitter base=100ms cap=1s attempts=8, paths: ["/v1/items/{id}", /v1/prices], demand: [{rate: 0.5}, {from: 16s, to: 28s, rate: 2}]}
  - {name: calm, count: 100, agent: calm/1, policy: hint-floor base=500ms attempts=4, paths: ["/v1/stock/{id}"], demand: [{rate: 0.6}]}
`
