package detect_test

import (
	"context"
	"testing"
	"time"

	"stormwatch/capture"
	"stormwatch/detect"
	"stormwatch/sim"
)

// Whoever goes back and plays on must see what was seen the first time.
func TestSeekAndRunOnEqualsAStraightRun(t *testing.T) {
	for _, name := range captures {
		t.Run(name, func(t *testing.T) { seeks(t, load(t, name), detect.Options{}) })
	}
	t.Run("crowd", func(t *testing.T) { seeks(t, play(t, crowd, 3), detect.Options{Shards: 2}) })
	t.Run("spooled", func(t *testing.T) { seeks(t, play(t, crowd, 4), detect.Options{Memory: 1}) })
	t.Run("after a silence", func(t *testing.T) { seeks(t, silent(t), detect.Options{}) })
}

func seeks(t *testing.T, res *sim.Result, o detect.Options) {
	t.Helper()
	ctx := context.Background()
	view := detect.View{Client: res.Clients[0].Addr.String(), Arrivals: true}
	straight := recording(t, res, o)
	start, end := straight.Span()
	const steps = 7
	var want []*detect.Snapshot
	at := func(i int) int64 { return start + (end-start)/steps*int64(i) }
	for i := range steps {
		if err := straight.RunTo(ctx, at(i)); err != nil {
			t.Fatal(err)
		}
		want = append(want, straight.Snapshot(view))
	}
	runAll(t, straight)
	last := straight.Snapshot(view)
	p := recording(t, res, o)
	runAll(t, p)
	same(t, "a straight run without stops", p.Snapshot(view), last)
	for _, i := range []int{4, 5, 1, 6, 0, 3, 2} {
		if err := p.Seek(ctx, at(i)); err != nil {
			t.Fatal(err)
		}
		same(t, "after Seek", p.Snapshot(view), want[i])
		if i%2 == 1 {
			runAll(t, p)
			same(t, "Seek and to the end", p.Snapshot(view), last)
		}
	}
}

// silent is a herd's morning, a quarter of an hour of nothing, and the same again.
func silent(t *testing.T) *sim.Result {
	res := load(t, "lockstep-bare-429")
	out := *res
	out.Rows = append([]sim.Row(nil), res.Rows...)
	for _, r := range res.Rows {
		r.Start += int64(15 * time.Minute)
		r.End += int64(15 * time.Minute)
		out.Rows = append(out.Rows, r)
	}
	return &out
}

// A console that plays at any speed must detect at the same moment as a report.
func TestReplaySpeedDoesNotMatter(t *testing.T) {
	runs := map[string]*sim.Result{"silent": silent(t), "crowd": play(t, crowd, 3)}
	for _, name := range captures {
		runs[name] = load(t, name)
	}
	for name, res := range runs {
		whole := recording(t, res, detect.Options{})
		runAll(t, whole)
		want := whole.Snapshot(detect.View{})
		for _, step := range []time.Duration{170 * time.Millisecond, time.Second, 33 * time.Second} {
			p := recording(t, res, detect.Options{})
			start, end := p.Span()
			for at := start; at < end; at += int64(step) {
				if err := p.RunTo(context.Background(), at); err != nil {
					t.Fatal(err)
				}
			}
			runAll(t, p)
			same(t, name+" in steps of "+step.String(), p.Snapshot(detect.View{}), want)
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	p := recording(t, load(t, "healthy"), detect.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.RunAll(ctx); err == nil {
		t.Error("a cancelled run ended without an error")
	}
	runAll(t, p)
	if n := p.Snapshot(detect.View{}).Totals.Exchanges; n != 487 {
		t.Errorf("%d exchanges after running on, want 487", n)
	}
}

func TestUnsealedRecordingIsRefused(t *testing.T) {
	rec := detect.NewRecording(detect.Options{})
	rec.Inlet(capture.Info{Name: "a"})
	if _, err := detect.NewReplay(rec); err == nil {
		t.Error("a recording that is not sealed was replayed")
	}
}
