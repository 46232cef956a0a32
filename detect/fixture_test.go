package detect_test

import (
	"context"
	"testing"

	"stormwatch/detect"
	"stormwatch/rules"
	"stormwatch/sim"
)

// scenario runs a scenario of the repository and replays it through an engine.
func scenario(t testing.TB, path string, o detect.Options) (*sim.Result, *detect.Replay) {
	t.Helper()
	sc, err := sim.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return replay(t, sc, o)
}

func replay(t testing.TB, sc *sim.Scenario, o detect.Options) (*sim.Result, *detect.Replay) {
	t.Helper()
	if err := sc.Validate(); err != nil {
		t.Fatal(err)
	}
	res := sim.Run(sc)
	return res, recording(t, res, o)
}

func recording(t testing.TB, res *sim.Result, o detect.Options) *detect.Replay {
	t.Helper()
	if o.Rules == nil {
		set, err := rules.Load()
		if err != nil {
			t.Fatal(err)
		}
		o.Rules = set
	}
	o.TempDir = t.TempDir()
	rec := detect.NewRecording(o)
	t.Cleanup(func() {
		if err := rec.Close(); err != nil {
			t.Error(err)
		}
	})
	src := res.Source("sim")
	in := rec.Inlet(src.Info())
	if err := src.Run(context.Background(), in.Take); err != nil {
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

func TestLook(t *testing.T) {
	for _, name := range []string{"healthy", "lockstep-bare-429", "retry-after-ignored", "capacity-growth"} {
		res, p := scenario(t, "../testdata/pcaps/"+name+"/scenario.yaml", detect.Options{})
		var rows []detect.Row
		p.OnRow(func(r *detect.Row) error { rows = append(rows, *r); return nil })
		if err := p.RunAll(context.Background()); err != nil {
			t.Fatal(err)
		}
		s := p.Snapshot(detect.View{Whole: true})
		t.Logf("%s: expect %+v", name, res.Scenario.Expect)
		t.Logf("  verdict %+v", s.Verdict)
		for _, f := range s.Findings {
			t.Logf("  %s %s score %v parts %v %v onset %v det %v end %v cens %v clients %d %v", f.Signature, f.Scope, f.Score, f.Parts, f.Says, (f.Onset-s.Start)/1e6, (f.Detected-s.Start)/1e6, f.Ended, f.OnsetCensored, f.ClientCount, f.Clients)
		}
		t.Logf("  not judged %v", s.NotJudged)
		t.Logf("  totals %+v", s.Totals)
		wrong := 0
		if len(rows) == len(res.Rows) {
			for i := range rows {
				if rows[i].Attempt != int(res.Rows[i].Attempt) {
					wrong++
				}
			}
		}
		t.Logf("  rows %d of %d, attempts wrong %d", len(rows), len(res.Rows), wrong)
	}
}
